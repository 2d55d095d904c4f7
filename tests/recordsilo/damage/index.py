"""An index that is not in step with the records."""

import contextlib
import shutil
import sqlite3

from damage.cases import Box, breaks_index
from recordsilo.index import words


@breaks_index("S110")
def index_is_no_database(box: Box) -> None:
    (box.silo / ".silo/index.sqlite").write_text("not a database at all, " * 100)


@breaks_index("S111")
def record_copied_in_by_hand(box: Box) -> None:
    other = box.record.parent / "99"
    shutil.copytree(box.record / "02", other)
    place = type(box)(box.silo, "oai:example.org:99")
    assert place.record == other
    place.set(item_id="oai:example.org:99")


@breaks_index("S112")
def record_removed_by_hand(box: Box) -> None:
    shutil.rmtree(box.record / "02")


@breaks_index("S113")
def record_changed_by_hand(box: Box) -> None:
    box.set(metadata={"setSpec": ["c"]})


def in_index(box: Box, statement: str) -> None:
    """Change the index as no writer does."""
    with contextlib.closing(sqlite3.connect(box.silo / ".silo/index.sqlite")) as connection:
        changed = connection.execute(statement, {"identifier": box.identifier})
        assert changed.rowcount == 1
        connection.commit()


@breaks_index("S113")
def flags_of_a_row_changed(box: Box) -> None:
    in_index(box, "UPDATE record SET flags = flags + 16 WHERE identifier = :identifier")


@breaks_index("S113")
def seconds_of_a_row_changed(box: Box) -> None:
    in_index(box, "UPDATE record SET seconds = seconds + 1 WHERE identifier = :identifier")


@breaks_index("S113")
def set_of_a_record_lost(box: Box) -> None:
    in_index(
        box,
        "DELETE FROM record_set WHERE id = (SELECT id FROM record WHERE identifier = :identifier) "
        "AND value = (SELECT id FROM facet_value WHERE field = 'set' AND value = 'a')",
    )


@breaks_index("S114")
def title_of_a_row_changed(box: Box) -> None:
    in_index(box, "UPDATE record SET title = 'Another' WHERE identifier = :identifier")


@breaks_index("S114")
def facets_of_a_row_lost(box: Box) -> None:
    in_index(box, "UPDATE record SET facets = x'' WHERE identifier = :identifier")


@breaks_index("S114")
def facet_that_means_nothing(box: Box) -> None:
    in_index(box, "UPDATE record SET facets_large = x'ffffff7f' WHERE identifier = :identifier")


@breaks_index("S114")
def text_of_a_record_changed(box: Box) -> None:
    in_index(
        box,
        "UPDATE text SET title = 'Another' "
        "WHERE rowid = (SELECT id FROM record WHERE identifier = :identifier)",
    )
    with contextlib.closing(sqlite3.connect(box.silo / ".silo/index.sqlite")) as connection:
        connection.execute("INSERT INTO recent (recent) VALUES ('delete-all')")
        connection.execute(
            f"INSERT INTO recent (rowid, words) SELECT rowid, {words.ALL_TEXT} FROM text"
        )
        connection.commit()


@breaks_index("S114")
def text_of_a_record_lost(box: Box) -> None:
    in_index(
        box,
        "DELETE FROM text WHERE rowid = (SELECT id FROM record WHERE identifier = :identifier)",
    )


@breaks_index("S110")
def order_of_titles_lost(box: Box) -> None:
    with contextlib.closing(sqlite3.connect(box.silo / ".silo/index.sqlite")) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        rooted = "(SELECT rootpage FROM sqlite_schema WHERE name = 'record_change')"
        connection.execute(
            f"UPDATE sqlite_schema SET rootpage = {rooted} WHERE name = 'record_title'"
        )
        connection.commit()


@breaks_index("S115")
def words_of_another_text(box: Box) -> None:
    """The full text is made of other texts than it holds now."""
    with contextlib.closing(sqlite3.connect(box.silo / ".silo/index.sqlite")) as connection:
        kept = connection.execute("SELECT id, c0 FROM text_content").fetchall()
        connection.execute("UPDATE text_content SET c0 = 'Another title'")
        connection.execute("INSERT INTO text (text) VALUES ('rebuild')")
        connection.executemany("UPDATE text_content SET c0 = ?2 WHERE id = ?1", kept)
        connection.commit()


@breaks_index("S115")
def recent_words_of_another_text(box: Box) -> None:
    in_index(box, "INSERT INTO recent (recent) VALUES ('delete-all')")


@breaks_index("S115")
def number_of_records_miscounted(box: Box) -> None:
    in_index(box, "UPDATE about SET value = value + 1 WHERE key = 'records'")


@breaks_index("S115")
def set_of_no_record(box: Box) -> None:
    in_index(box, "INSERT INTO record_set SELECT id, 7777 FROM facet_value LIMIT 1")
