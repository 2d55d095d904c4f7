"""RecordEdit: what a harvester may do, and the edges of building a record's next state."""

import os
from collections.abc import Callable, Iterator

import pytest

from recordsilo import Origin, RecordEdit, Silo, Version
from recordsilo.errors import (
    FileInTheWay,
    FileNotInVersion,
    PathNameError,
    VersionExists,
    VersionFrozen,
    VersionNameError,
    VersionNotFound,
)

Harvest = Callable[..., str]


@pytest.fixture
def edit(silo: Silo, harvest: Harvest) -> Iterator[RecordEdit]:
    """An edit of a record whose version 1 is frozen, since it has a clone."""
    harvest(silo, "h")
    silo["h"].clone_version("1", "wc")
    with silo.batch(["h"]) as batch:
        yield batch.edit("h")


def test_edit_of_a_new_record_begins_with_nothing(silo: Silo) -> None:
    with silo.batch(["new"]) as batch:
        edit = batch.edit("new")
        assert not edit.exists
        assert not edit.changed
        assert edit.manifest.versions == ()
        assert edit.before is None
        assert edit.identifier == "new"


def test_an_edit_that_is_sealed_twice_keeps_its_time(
    edit: RecordEdit, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter(["2026-01-01T00:00:00.999999", "2026-01-01T00:00:01.000000"])
    monkeypatch.setattr("recordsilo.records.edit.now_text", lambda: next(times))
    edit.set_state("wc", "ready")
    edit.seal()
    edit.log("wc", "What 2010 left was read")
    edit.seal()
    assert edit.manifest.changed == "2026-01-01T00:00:00.999999"


def test_harvester_adds_a_prefix_to_a_frozen_version(silo: Silo, harvest: Harvest) -> None:
    harvest(silo, "h")
    silo["h"].clone_version("1", "wc")
    with silo.batch(["h"]) as batch:
        edit = batch.edit("h")
        edit.put("1", "uketd_dc", b"<x/>", metadata=True, allow_frozen=True)
        origin = edit.manifest.version("1").origin
        edit.set_origin("1", Origin("harvest", prefixes={**origin.prefixes, "uketd_dc": "2005"}))
    record = silo["h"]
    assert record.paths("1") == ["oai_dc", "uketd_dc"]
    assert record.origin("1").prefixes == {"oai_dc": "2004-06-24T00:00:00", "uketd_dc": "2005"}
    assert record.currentversion == "wc"
    assert record.paths("wc") == ["oai_dc"]


def test_harvester_never_replaces_in_a_frozen_version(edit: RecordEdit) -> None:
    with pytest.raises(VersionFrozen):
        edit.put("1", "oai_dc", b"<changed/>", allow_frozen=True)
    with pytest.raises(VersionFrozen):
        edit.put("1", "new", b"x")
    assert edit.read("1", "oai_dc") != b"<changed/>"
    assert not edit.changed


def test_edit_reads_a_file_once_until_it_is_changed(edit: RecordEdit) -> None:
    before = edit.read("wc", "oai_dc")
    assert edit.read("wc", "oai_dc") is before
    edit.put("wc", "oai_dc", b"<changed/>")
    assert edit.read("wc", "oai_dc") == b"<changed/>"
    assert edit.read("1", "oai_dc") == before
    edit.delete("wc", "oai_dc")
    with pytest.raises(FileNotInVersion):
        edit.read("wc", "oai_dc")


def test_edit_reads_what_it_put(edit: RecordEdit) -> None:
    edit.put("wc", "f", b"1")
    assert edit.read("wc", "f") == b"1"
    edit.put("wc", "f", b"2")
    assert edit.read("wc", "f") == b"2"
    edit.rename("wc", "f", "g")
    assert edit.read("wc", "g") == b"2"
    with pytest.raises(FileNotInVersion):
        edit.read("wc", "f")
    edit.add_version("v", date="2010-01-01", origin=Origin("local"))
    edit.put("v", "d/f", b"3")
    assert edit.read("v", "d/f") == b"3"


def staged_in(silo: Silo) -> list[str]:
    return os.listdir(silo.staging.directory())


def test_what_a_page_puts_into_new_versions_is_not_staged(silo: Silo) -> None:
    with silo.batch(["h"]) as batch:
        edit = batch.edit("h")
        edit.add_version("1", date="2010-01-01", origin=Origin("harvest"))
        edit.put("1", "oai_dc", b"<dc/>", metadata=True)
        edit.put("1", "d/e/f", b"deep")
        assert not staged_in(silo)
        assert edit.read("1", "d/e/f") == b"deep"
    record = silo["h"]
    assert record.paths() == ["oai_dc", "d/e/f"]
    with record.get_stream("d/e/f") as stream:
        assert stream.read() == b"deep"
    assert record.isdir("d")


def test_new_version_grows_in_staging_as_soon_as_a_file_of_it_lies_there(silo: Silo) -> None:
    record = silo.get_item("h")
    record.put_stream("first", "1")
    with silo.batch(["h"]) as batch:
        edit = batch.edit("h")
        edit.add_version("2", date="2010-01-01", origin=Origin("local"))
        edit.put("2", "a", b"held")
        edit.put("2", "d/b", b"held too")
        edit.put("2", "c", b"held and deleted")
        edit.delete("2", "c")
        edit.copy("1", "first", "2")
        edit.put("2", "a", b"staged over it")
        with edit.open("2", "d/b") as file:
            assert file.read() == b"held too"
    found = {}
    for path in silo["h"].paths("2"):
        with silo["h"].get_stream(path, "2") as stream:
            found[path] = stream.read()
    assert found == {"a": b"staged over it", "d/b": b"held too", "first": b"1"}
    assert sorted(os.listdir(f"{silo['h'].path_to_item()}/__2")) == ["a", "d", "first"]


def test_directory_emptied_in_a_new_version_is_there(silo: Silo) -> None:
    with silo.batch(["h"]) as batch:
        edit = batch.edit("h")
        edit.add_version("1", date="2010-01-01", origin=Origin("local"))
        edit.put("1", "d/f", b"x")
        edit.delete("1", "d/f")
    assert silo["h"].isdir("d")
    assert os.listdir(f"{silo['h'].path_to_item()}/__1") == ["d"]


def test_page_takes_the_place_of_a_directory_that_no_manifest_lists(silo: Silo) -> None:
    record = silo.get_item("h")
    record.put_stream("f", "1")
    os.makedirs(f"{record.path_to_item()}/__2/stray")
    with silo.batch(["h"]) as batch:
        edit = batch.edit("h")
        edit.add_version("2", date="2010-01-01", origin=Origin("local"))
        edit.put("2", "g", b"2")
    assert os.listdir(f"{record.path_to_item()}/__2") == ["g"]


def put_delete_and_put_again(edit: RecordEdit) -> None:
    edit.put("wc", "f", b"1")
    edit.delete("wc", "f")
    edit.put("wc", "f", b"2")
    edit.delete("wc", "oai_dc")
    edit.put("wc", "oai_dc", b"new")
    edit.put("wc", "gone", b"3")
    edit.delete("wc", "gone")


def test_what_was_done_in_one_edit_is_there_after_it(silo: Silo, harvest: Harvest) -> None:
    harvest(silo, "h")
    silo["h"].clone_version("1", "wc")
    with silo.batch(["h"]) as batch:
        put_delete_and_put_again(batch.edit("h"))
    record = silo["h"]
    assert record.paths("wc") == ["f", "oai_dc"]
    for path, content in (("f", b"2"), ("oai_dc", b"new")):
        with record.get_stream(path, "wc") as stream:
            assert stream.read() == content


def test_version_deleted_and_made_again_in_one_edit_is_the_new_one(silo: Silo) -> None:
    record = silo.get_item("a")
    record.put_stream("old", "x")
    record.create_new_version("2")
    with silo.batch(["a"]) as batch:
        edit = batch.edit("a")
        edit.put("1", "late", b"x")
        edit.remove_version("1")
        edit.add_version("1", date="2010-01-01", origin=Origin("local"))
        edit.put("1", "new", b"y")
    again = silo["a"]
    assert (again.versions, again.paths("1")) == (["2", "1"], ["new"])
    with again.get_stream("new", "1") as stream:
        assert stream.read() == b"y"
    with pytest.raises(FileNotInVersion):
        again.get_stream("late", "1")


def test_version_made_and_deleted_in_one_edit_leaves_nothing(
    silo: Silo, tree: Callable[[str], list[str]]
) -> None:
    silo.get_item("a").put_stream("f", "x")
    before = tree(f"{silo.path}/pairtree_root")
    with silo.batch(["a"]) as batch:
        edit = batch.edit("a")
        edit.add_version("2", date="2010-01-01", origin=Origin("local"))
        edit.put("2", "g", b"y")
        edit.remove_version("2")
        assert not edit.changed
    assert tree(f"{silo.path}/pairtree_root") == before
    assert silo["a"].revision == 1


def test_edit_refuses_what_no_record_can_have(edit: RecordEdit) -> None:
    local = Origin("local")
    with pytest.raises(VersionExists):
        edit.add_version("wc", date="2010-01-01", origin=local)
    with pytest.raises(VersionNameError):
        edit.add_version("a/b", date="2010-01-01", origin=local)
    with pytest.raises(PathNameError):
        edit.put("wc", "../x", b"")
    with pytest.raises(FileInTheWay):
        edit.put("wc", "oai_dc/x", b"")
    with pytest.raises(VersionNotFound):
        edit.put("nope", "x", b"")
    with pytest.raises(VersionNotFound):
        edit.move_cursor("nope")
    assert not edit.changed


def test_metadata_set_to_what_it_is_changes_nothing(silo: Silo, harvest: Harvest) -> None:
    harvest(silo, "h", sets=("a", "b"))
    revision = silo["h"].revision
    with silo.batch(["h"]) as batch:
        edit = batch.edit("h")
        edit.set_metadata("setSpec", ("a", "b"))
        edit.del_metadata("nope")
        assert not edit.changed
    assert silo["h"].revision == revision
    with silo.batch(["h"]) as batch:
        batch.edit("h").del_metadata("setSpec")
    assert "setSpec" not in silo["h"].metadata


def test_cursor_moves_to_a_new_version_unless_told_not_to(edit: RecordEdit) -> None:
    edit.add_version("2", date="2010-01-01", origin=Origin("harvest"), move_cursor=False)
    assert edit.manifest.current_version == "wc"
    edit.add_version("3", date="2011-01-01", origin=Origin("harvest"))
    assert (edit.manifest.current_version, edit.manifest.date) == ("3", "2011-01-01T00:00:00")
    edit.log("3", "noted")
    assert edit.manifest.version("3").log == ("noted",)
    assert isinstance(edit.manifest.current, Version)
