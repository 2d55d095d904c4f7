"""The index: lists match the records, also after kills; a damaged index is rebuilt."""

import errno
import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recordsilo import Origin, Row, Silo
from recordsilo.audit.check import Audit
from recordsilo.disk import atomic_file
from recordsilo.errors import IndexProblem, ManifestUnreadable, RecordNotFound, SiloNotWritable
from recordsilo.index import Entry, ManifestStamp, SqliteIndex, database
from recordsilo.index.catalogue import Catalogue
from recordsilo.index.projection import Text, project_row
from recordsilo.records.manifest import Manifest, Version
from recordsilo.records.place import RecordPlace
from recordsilo.selection import Selection

Harvest = Callable[..., str]

identifiers = st.text(st.sampled_from("abAB:_é中🜚z0~"), min_size=1, max_size=4)
sets = st.lists(st.sampled_from(["a", "a:b", "a:b:c", "ab", "b", "a;"]), max_size=2).map(tuple)


@st.composite
def rows(draw: st.DrawFn) -> Row:
    return Row(
        identifier=draw(identifiers),
        datestamp="2004-06-24T00:00:00",
        title=draw(st.sampled_from(["", "Möwen"])),
        sets=tuple(dict.fromkeys(draw(sets))),
        deleted=draw(st.booleans()),
        curated=draw(st.booleans()),
        upstream_newer=draw(st.booleans()),
        current_version="1",
        versions=1,
        revision=draw(st.integers(0, 9)),
    )


def as_entry(row: Row) -> tuple[Entry, ManifestStamp]:
    return Entry(row, Text(row.title), 0, {"set": row.sets}, False), ManifestStamp(0, 0, 0)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A Silo whose index may hold rows without records."""
    monkeypatch.setattr(Catalogue, "_catch_up", lambda _self, _rows: False)
    with Silo(str(tmp_path / "silo")) as silo:
        yield silo


def in_set(row: Row, spec: str) -> bool:
    return any(found == spec or found.startswith(spec + ":") for found in row.sets)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(rows(), max_size=12, unique_by=lambda row: row.identifier),
    st.sampled_from([None, "a", "a:b", "ab", "b", "x"]),
    st.tuples(*[st.none() | st.booleans()] * 3),
    st.integers(1, 5),
    st.sampled_from(["after", "before", "from_identifier", None]),
    identifiers,
    st.sampled_from([0, 1, 4]),
)
def test_pages_are_those_of_a_filtered_and_sorted_list(
    monkeypatch: pytest.MonkeyPatch,
    empty: Silo,
    listed: list[Row],
    spec: str | None,
    flags: tuple[bool | None, bool | None, bool | None],
    limit: int,
    bound: str | None,
    point: str,
    further: int,
) -> None:
    monkeypatch.setattr("recordsilo.index.query._FURTHER", further)
    with empty._catalogue._index.reading() as connection:
        before = connection.execute("SELECT identifier FROM record").fetchall()
    empty._catalogue._index.settle([], gone=[one for (one,) in before])
    empty._catalogue._index.settle(map(as_entry, listed))
    names = ("deleted", "curated", "upstream_newer")
    filters: dict[str, Any] = {"set_spec": spec, **dict(zip(names, flags, strict=True))}
    wanted = sorted(
        (
            row
            for row in listed
            if (spec is None or in_set(row, spec))
            and all(filters[name] in (None, getattr(row, name)) for name in names)
        ),
        key=lambda row: row.identifier,
    )
    inside = {
        "after": lambda i: i > point,
        "before": lambda i: i < point,
        "from_identifier": lambda i: i >= point,
        None: lambda i: True,
    }[bound]
    part = [row for row in wanted if inside(row.identifier)]
    expected = part[-limit:] if bound == "before" else part[:limit]
    found = empty.page(limit=limit, **({bound: point} if bound else {}), **filters)
    assert list(found.rows) == expected
    assert found.total == len(wanted) == empty.count(**filters)
    if expected:
        first, last = wanted.index(expected[0]), wanted.index(expected[-1])
        assert (found.has_previous, found.has_next) == (first > 0, last < len(wanted) - 1)
    else:
        assert found.has_previous == any(r.identifier <= point for r in wanted if bound != "before")
        assert found.has_next == any(r.identifier >= point for r in wanted if bound == "before")
    near = [row for row in wanted if row.identifier < point][-limit:]
    near += [row for row in wanted if row.identifier > point][:limit]
    assert list(empty.neighbours(point, limit=limit, **filters)) == near
    assert len(empty) == len(listed)
    assert empty.set_counts() == {
        one: sum(one in row.sets for row in listed)
        for one in sorted({one for row in listed for one in row.sets})
    }


def test_a_set_holds_those_below_it_and_not_those_that_begin_like_it(
    silo: Silo, harvest: Harvest
) -> None:
    for identifier, spec in (("1", "a"), ("2", "a:b"), ("3", "ab"), ("4", "a:b:c"), ("5", "a;")):
        harvest(silo, identifier, sets=(spec,))
    assert [row.identifier for row in silo.page(set_spec="a").rows] == ["1", "2", "4"]
    assert [row.identifier for row in silo.page(set_spec="a:b").rows] == ["2", "4"]


def test_row_shows_what_a_list_needs(silo: Silo, harvest: Harvest) -> None:
    harvest(silo, "h", sets=("b", "a"), title="Möwen &amp; Meer")
    row = silo.row("h")
    assert row == Row(
        "h", "2004-06-24T00:00:00", "Möwen & Meer", ("b", "a"), False, False, False, "1", 1, 1
    )
    record = silo["h"]
    record.clone_version("1", "wc")
    record.put_stream("oai_dc", "<dc><title>Curated</title></dc>")
    row = silo.row("h")
    assert (row.title, row.curated, row.upstream_newer, row.versions) == ("Curated", True, False, 2)
    harvest(silo, "h", version="2", date="2009-01-01T00:00:00", move_cursor=False)
    row = silo.row("h")
    assert (row.title, row.upstream_newer, row.current_version) == ("Curated", True, "wc")
    assert row.datestamp == "2009-01-01T00:00:00"


def test_rows_are_looked_up_together_in_the_order_given(
    silo: Silo, harvest: Harvest, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        harvest(silo, name, title=name.upper())
    asked = []
    index, ask = silo._catalogue._index, silo._catalogue._index.rows
    monkeypatch.setattr(index, "rows", lambda names: asked.append(names) or ask(names))
    found = silo.rows(["c", "a", "c"])
    assert [(name, row.title) for name, row in found.items()] == [("c", "C"), ("a", "A")]
    assert len(asked) == 1
    assert list(silo.rows(["none", "b"])) == ["b"]
    silo.del_item("b")
    assert [row.title for row in Selection(identifiers=("a", "c")).rows(silo)] == ["A", "C"]
    assert silo.rows(["b"]) == silo.rows([]) == {}


def test_deleted_record_shows_its_last_title_and_date(silo: Silo, harvest: Harvest) -> None:
    harvest(silo, "h", title="Last known")
    with silo.batch(["h"]) as batch:
        edit = batch.edit("h")
        edit.add_version("2", date="2010-01-01", origin=Origin("harvest"))
        edit.set_metadata("deleted_at_version", "2")
        edit.set_metadata("deleted_at_date", "2011-01-01T00:00:00")
    row = silo.row("h")
    assert (row.deleted, row.title, row.datestamp) == (True, "Last known", "2011-01-01T00:00:00")
    assert silo.count(deleted=True) == 1


@pytest.mark.parametrize("found", [None, 7, "a", {"a": 1}, ["a", 7, "a"], []])
def test_sets_in_any_shape_do_not_break_a_row(found: object) -> None:
    manifest = Manifest(
        "a", "", "1", (Version("1", "", Origin("local")),), metadata={"setSpec": found}
    )
    assert project_row(manifest, "").sets in ((), ("a",))


def test_list_goes_on_where_it_was_while_records_come_and_go(silo: Silo, harvest: Harvest) -> None:
    for number in range(10):
        harvest(silo, f"r{number}")
    first = silo.page(limit=4)
    silo.del_item("r3")
    harvest(silo, "r35")
    second = silo.page(limit=4, after=first.rows[-1].identifier)
    assert [row.identifier for row in second.rows] == ["r35", "r4", "r5", "r6"]


# -- in step ----------------------------------------------------------------------------


def test_record_whose_writer_died_before_or_after_its_commit_is_settled(
    silo: Silo, harvest: Harvest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*arguments: object) -> None:
        raise SystemExit

    harvest(silo, "a")
    with monkeypatch.context() as patch:
        patch.setattr(SqliteIndex, "settle", lambda *arguments, **keywords: None)
        harvest(silo, "b")
        silo["a"].create_new_version("2")
        silo.get_item("c").sync()
        silo.del_item("c")
    with monkeypatch.context() as patch:
        patch.setattr("recordsilo.silo.commit", die)
        with pytest.raises(SystemExit):
            harvest(silo, "never")
    with Silo(silo.path) as other:
        assert list(other) == ["a", "b"]
        assert other.row("a").versions == 2
        assert other._catalogue._index.unsettled() == []


def test_record_that_is_being_written_is_listed_as_it_was(silo: Silo, harvest: Harvest) -> None:
    harvest(silo, "a")
    with silo.batch(["a", "b"]) as batch:
        batch.edit("a").set_metadata("x", 1)
        done = []
        thread = threading.Thread(target=lambda: done.append(list(silo)))
        thread.start()
        thread.join(10)
        assert done == [["a"]]


def test_row_of_a_record_that_was_just_made_comes_from_its_manifest(
    silo: Silo, harvest: Harvest
) -> None:
    harvest(silo, "a", title="Just made")
    with silo._catalogue._index.writing() as connection:
        connection.execute("DELETE FROM entry")
    assert silo.row("a").title == "Just made"
    with pytest.raises(RecordNotFound):
        silo.row("b")


# -- made anew --------------------------------------------------------------------------


@pytest.fixture
def three(silo: Silo, harvest: Harvest) -> Silo:
    for identifier in ("a", "b", "c"):
        harvest(silo, identifier)
    return silo


def test_deleted_silo_directory_is_made_again(three: Silo) -> None:
    for path in Path(three.path, ".silo").rglob("*"):
        if path.is_file():
            path.unlink()
    assert list(three) == ["a", "b", "c"]
    three.close()
    atomic_file.remove_tree(f"{three.path}/.silo")
    with Silo(three.path) as again:
        assert list(again) == ["a", "b", "c"]
        again.get_item("d").sync()
        assert len(again) == 4


def test_silo_directory_may_be_deleted_while_it_is_open(three: Silo) -> None:
    three.staging.directory()
    atomic_file.remove_tree(f"{three.path}/.silo")
    three.get_item("d").put_stream("f", "x")
    assert list(three) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("keep", [0, 20, 100])
def test_index_whose_file_is_damaged_is_made_anew_with_a_warning(
    three: Silo, caplog: pytest.LogCaptureFixture, keep: int
) -> None:
    three.close()
    path = Path(three.path, ".silo/index.sqlite")
    content = path.read_bytes()
    path.write_bytes(content[:keep] + b"\xff" * (len(content) - keep))
    with Silo(three.path) as again:
        assert list(again) == ["a", "b", "c"]
    assert any("damaged" in record.getMessage() for record in caplog.records)


def test_index_damaged_inside_is_made_anew_when_it_is_asked_and_when_it_is_written(
    three: Silo, caplog: pytest.LogCaptureFixture
) -> None:
    for act in (list, lambda silo: silo["a"].clone_version("1", "wc")):
        three.close()
        with sqlite3.connect(f"{three.path}/.silo/index.sqlite") as connection:
            connection.execute("DROP TABLE entry")
        connection.close()
        with Silo(three.path) as again:
            act(again)
            assert list(again) == ["a", "b", "c"]
            assert again.reindex() == 3
    assert any("rebuil" in r.getMessage() for r in caplog.records)


def test_index_damaged_inside_is_made_anew_by_reindex(three: Silo) -> None:
    with three._catalogue._index.writing() as connection:
        connection.execute("DROP TABLE problem")
    assert three.reindex() == 3


@pytest.mark.parametrize(
    "change",
    ["packed = x'00'", "packed = 7", "versions = 'many'", "facets = 'text'", "facets = x'e1'",
     "facets = x'efbfbd'", "seconds = 'then'"],
)  # fmt: skip
def test_index_with_a_value_of_another_form_is_made_anew(three: Silo, change: str) -> None:
    with three._catalogue._index.writing() as connection:
        connection.execute(f"UPDATE entry SET {change} WHERE name LIKE '%b'")
    assert [row.identifier for row in three.page().rows] == ["a", "b", "c"]
    assert sorted(three.described(["a", "b"])) == ["a", "b"]
    assert three.search("", facets=["type"]).total == 3


def test_index_of_another_schema_is_made_anew(three: Silo) -> None:
    three.close()
    with sqlite3.connect(f"{three.path}/.silo/index.sqlite") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with Silo(three.path) as again:
        assert list(again) == ["a", "b", "c"]


def test_index_replaced_under_an_open_silo_is_noticed(three: Silo) -> None:
    with Silo(three.path) as other:
        other._catalogue._index._set_aside()
        other.get_item("d").sync()
        assert list(other) == ["a", "b", "c", "d"]
        assert list(three) == ["a", "b", "c", "d"]


def test_busy_index_is_a_sentence_and_no_reason_to_throw_it_away(
    three: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = sqlite3.OperationalError("database is locked")
    busy.sqlite_errorname = "SQLITE_BUSY"

    def fail(*arguments: object, **keywords: object) -> None:
        raise busy

    monkeypatch.setattr("recordsilo.index.database.query.page", fail)
    with pytest.raises(IndexProblem, match="database is locked"):
        list(three)
    assert os.path.exists(f"{three.path}/.silo/index.sqlite")


def test_fault_of_the_program_is_not_taken_for_damage(
    three: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "recordsilo.index.database.query.page", lambda c, *a, **k: c.execute("SELECT ?")
    )
    with pytest.raises(sqlite3.ProgrammingError):
        three.page()


def test_index_that_cannot_be_opened_for_lack_of_descriptors_is_kept(
    three: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    three.close()
    limit = sqlite3.OperationalError("unable to open database file")
    limit.sqlite_errorname = "SQLITE_CANTOPEN"

    def fail(*arguments: object, **keywords: object) -> None:
        raise limit

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", fail)
        with pytest.raises(IndexProblem, match="try again later"):
            len(three)
        assert os.path.exists(f"{three.path}/.silo/index.sqlite")
        three.get_item("d").sync()
    assert list(three) == ["a", "b", "c", "d"]


def test_directory_in_the_place_of_the_index_is_no_hindrance(three: Silo) -> None:
    three.close()
    path = Path(three.path, ".silo", "index.sqlite")
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.mkdir()
    assert list(three) == ["a", "b", "c"]


def test_index_never_stops_a_write(
    three: Silo, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*arguments: object, **keywords: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr("recordsilo.index.rows.RowWriter.write", fail)
        three["a"].clone_version("1", "wc")
        three.get_item("d").put_stream("f", "x")
    assert "disk I/O error" in caplog.text
    assert list(three) == ["a", "b", "c", "d"]


def test_silo_that_cannot_be_written_is_listed_from_memory(
    three: Silo, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    three.close()
    atomic_file.remove_tree(f"{three.path}/.silo")

    def refuse(path: str, *_: str) -> int:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(atomic_file, "make_parents", refuse)
    monkeypatch.setattr(atomic_file, "make_within", refuse)
    monkeypatch.setattr(atomic_file, "open_lock_file", refuse)
    monkeypatch.setattr(database, "_is_writable", lambda directory: False)
    with Silo(three.path) as silo:
        assert list(silo) == ["a", "b", "c"]
        assert len(silo) == 3
        assert silo.row("b").title == "A harvested title"
        assert silo.reindex() == 3
        with silo["a"].get_stream("oai_dc") as stream:
            assert stream.read()
        assert not os.path.exists(f"{three.path}/.silo")
        with pytest.raises(SiloNotWritable):
            silo["a"].put_stream("f", "x")
    assert caplog.text == ""


# -- reindex ----------------------------------------------------------------------------


def test_reindex_drops_what_is_gone_and_finds_what_is_new(three: Silo) -> None:
    atomic_file.remove_tree(three["b"].path_to_item())
    place = three["c"].path_to_item()
    path = Path(place, "__manifest.json")
    path.write_text(path.read_text().replace('"A"', '"B"').replace("2004-06-24", "2003-03-03"))
    done: list[int] = []
    assert three.reindex(done.append) == 2
    assert list(three) == ["a", "c"]
    assert three.row("c").datestamp.startswith("2003-03-03")
    assert done[-1] == 2


def test_reindex_reports_what_it_cannot_read_and_goes_on(three: Silo) -> None:
    place = three["b"].path_to_item()
    Path(place, "__manifest.json").write_bytes(b"{")
    assert three.reindex() == 3
    ((path, sentence),) = three.index_problems()
    assert path == place
    assert "cannot be read" in sentence
    assert list(three) == ["a", "b", "c"]
    with pytest.raises(ManifestUnreadable):
        three["b"]


def test_manifest_at_the_wrong_place_is_reported(three: Silo, tmp_path: Path) -> None:
    root = Path(three.path, "pairtree_root")
    manifest = Path(three["a"].path_to_item(), "__manifest.json").read_bytes()
    for wrong in ("x/yz", "^z", "b2", "."):
        (root / wrong).mkdir(parents=True, exist_ok=True)
        (root / wrong / "__manifest.json").write_bytes(manifest)
    undecodable = os.fsencode(root) + b"/\xff"
    os.mkdir(undecodable)
    with open(undecodable + b"/__manifest.json", "wb") as file:
        file.write(manifest)
    assert three.reindex() == 4
    assert len(three.index_problems()) == 5
    assert [one.identifier for one in three.unread()] == ["b2"]
    assert list(three) == ["a", "b", "b2", "c"]


def test_directory_that_cannot_be_listed_is_reported(
    three: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.scandir

    def refuse(path: str, code: int = 13) -> Any:
        if path.endswith("pairtree_root/b"):
            raise OSError(code, os.strerror(code), path)
        return real(path)

    with monkeypatch.context() as patch:
        patch.setattr("recordsilo.disk.walk.os.scandir", refuse)
        assert three.reindex() == 2
        ((path, sentence),) = three.index_problems()
        assert path.endswith("pairtree_root/b")
        assert sentence.endswith("Permission denied")
        patch.setattr("recordsilo.disk.walk.os.scandir", lambda path: refuse(path, 24))
        with pytest.raises(OSError, match="Too many open files"):
            three.reindex()


def test_loop_of_links_is_not_followed(three: Silo) -> None:
    os.symlink(".", f"{three.path}/pairtree_root/xx")
    assert three.reindex() == 3
    assert three.index_problems() == []


def test_one_rebuild_serves_all_who_wait_for_it(
    three: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    three._catalogue._index._set_aside()
    runs = []
    real = Catalogue._rebuild

    def counted(self: Catalogue, progress: object) -> int:
        runs.append(1)
        return real(self, None)

    monkeypatch.setattr(Catalogue, "_rebuild", counted)
    threads = [threading.Thread(target=lambda: len(three)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert runs == [1]


def test_records_written_while_reindexing_are_in_the_index(three: Silo, harvest: Harvest) -> None:
    def write(done: int) -> None:
        if "z" not in three:
            harvest(three, "z")
            harvest(three, "0")
            three.del_item("a")

    three.reindex(write)
    assert list(three) == ["0", "b", "c", "z"]


def test_reading_a_record_needs_no_index(three: Silo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SqliteIndex, "_open", None)
    assert "a" in three
    with three["a"].get_stream("oai_dc") as stream:
        assert stream.read()
    assert three.resolve("a") == "a"


def test_batch_in_which_records_were_only_looked_at_changes_nothing(three: Silo) -> None:
    before = three["a"].revision
    with three.batch(["a", "new"]) as batch:
        batch.edit("a")
        batch.edit("new")
    assert three["a"].revision == before
    assert list(three) == ["a", "b", "c"]


def test_renaming_the_current_version_keeps_the_record_in_lists_and_searches(
    silo: Silo, harvest: Harvest
) -> None:
    harvest(silo, "h", title="Harvested")
    record = silo["h"]
    record.clone_version("1", "wc")
    record.put_stream("oai_dc", "<dc><title>Curated gulls</title></dc>")
    record.rename_version("wc", "final")
    row = silo.row("h")
    assert (row.title, row.current_version) == ("Curated gulls", "final")
    assert [one.identifier for one in silo.search("gulls").rows] == ["h"]
    assert not list(Audit(silo.path).findings())


def test_a_file_that_cannot_be_read_at_a_commit_is_read_again_by_the_next_reader(
    silo: Silo, harvest: Harvest, monkeypatch: pytest.MonkeyPatch
) -> None:
    harvest(silo, "h", title="Gulls")

    def no_more_files(*_arguments: object) -> bytes:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(RecordPlace, "content", no_more_files)
        silo["h"].set_version_state("1", "ready")
    assert silo.row("h").title == "Gulls"
    assert [one.identifier for one in silo.search("gulls").rows] == ["h"]
    assert not list(Audit(silo.path).findings())
