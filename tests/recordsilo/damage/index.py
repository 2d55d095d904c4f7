"""An index that is not in step with the records."""

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator

from damage.cases import Box, breaks_index
from recordsilo.index.packing import Packer, Unpacker, numbers_in, pack_numbers
from recordsilo.index.schema import TEXT_COLUMNS


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


def in_row(box: Box, change: str) -> None:
    """Change the row of the record as no writer does."""
    own = "SELECT id FROM record WHERE identifier = :identifier"
    in_index(box, f"UPDATE entry SET {change} WHERE id = ({own})")


@breaks_index("S113")
def flags_of_a_row_changed(box: Box) -> None:
    in_row(box, "flags = flags + 16")


@breaks_index("S113")
def seconds_of_a_row_changed(box: Box) -> None:
    in_row(box, "seconds = seconds + 1")


@breaks_index("S114")
def title_of_a_row_changed(box: Box) -> None:
    in_row(box, "title = 'Another'")


@breaks_index("S114")
def facets_of_a_row_lost(box: Box) -> None:
    with contextlib.closing(sqlite3.connect(box.silo / ".silo/index.sqlite")) as connection:
        sets = connection.execute("SELECT id FROM facet_value WHERE field = 'set'")
        kept = {number for (number,) in sets}
        sql = "SELECT facets FROM record WHERE identifier = ?"
        (facets,) = connection.execute(sql, (box.identifier,)).fetchone()
        left = pack_numbers([number for number in numbers_in(facets) if number in kept])
        assert left != facets
        sql = "UPDATE entry SET facets = ? WHERE facets = ?"
        assert connection.execute(sql, (left, facets)).rowcount == 1
        connection.commit()


@breaks_index("S114")
def facet_that_means_nothing(box: Box) -> None:
    in_row(box, "facets_large = x'efbfbd'")


Texts = tuple[int, str, tuple[str, ...]]


@contextlib.contextmanager
def words_without_a_record(box: Box) -> Iterator[tuple[sqlite3.Connection, Texts]]:
    """The index without the words of a record: its row id, its title and its texts."""
    with contextlib.closing(sqlite3.connect(box.silo / ".silo/index.sqlite")) as connection:
        sql = "SELECT id, packed, title, identifier FROM record WHERE identifier = ?"
        number, *packed = connection.execute(sql, (box.identifier,)).fetchone()
        texts = Unpacker(connection).texts(*packed)
        connection.execute(
            f"INSERT INTO text (text, rowid, {', '.join(TEXT_COLUMNS)}) "
            "VALUES ('delete', ?, ?, ?, ?, ?, ?, ?)",
            (number, *texts),
        )
        yield connection, (number, packed[1], texts)
        connection.commit()


def write_words(connection: sqlite3.Connection, number: int, texts: tuple[str, ...]) -> None:
    connection.execute(
        f"INSERT INTO text (rowid, {', '.join(TEXT_COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (number, *texts),
    )


@breaks_index("S114")
def text_of_a_record_changed(box: Box) -> None:
    with words_without_a_record(box) as (connection, (number, title, texts)):
        other = ("Another", *texts[1:])
        packed = Packer().pack(connection, other, title, box.identifier)
        connection.execute("UPDATE entry SET packed = ? WHERE id = ?", (packed, number))
        write_words(connection, number, other)
        connection.execute("INSERT INTO recent (recent) VALUES ('delete-all')")
        read = Unpacker(connection).texts
        rows = connection.execute("SELECT id, packed, title, identifier FROM record").fetchall()
        connection.executemany(
            "INSERT INTO recent (rowid, words) VALUES (?, ?)",
            [(number, " ".join(read(*one))) for number, *one in rows],
        )


@breaks_index("S110")
def texts_of_a_record_lost(box: Box) -> None:
    in_row(box, "packed = x''")


@breaks_index("S110")
def order_of_changes_lost(box: Box) -> None:
    with contextlib.closing(sqlite3.connect(box.silo / ".silo/index.sqlite")) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        rooted = "(SELECT rootpage FROM sqlite_schema WHERE name = 'record_versions')"
        connection.execute(
            f"UPDATE sqlite_schema SET rootpage = {rooted} WHERE name = 'record_change'"
        )
        connection.commit()


@breaks_index("S115")
def words_of_a_record_lost(box: Box) -> None:
    with words_without_a_record(box):
        pass


@breaks_index("S115")
def words_of_another_text(box: Box) -> None:
    with words_without_a_record(box) as (connection, (number, _title, texts)):
        write_words(connection, number, ("Another title", *texts[1:]))


@breaks_index("S115")
def recent_words_of_another_text(box: Box) -> None:
    in_index(box, "INSERT INTO recent (recent) VALUES ('delete-all')")


@breaks_index("S115")
def number_of_records_miscounted(box: Box) -> None:
    in_index(box, "UPDATE about SET value = value + 1 WHERE key = 'records'")


@breaks_index("S115")
def words_of_no_record(box: Box) -> None:
    in_index(box, "INSERT INTO text (rowid, title) VALUES (7777, '')")
