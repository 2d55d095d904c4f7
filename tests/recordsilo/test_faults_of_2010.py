"""Faults of RecordSilo 0.4.16 that are fixed; one test for each."""

import json
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from recordsilo import Granary, HarvestedRecord, Silo
from recordsilo.errors import (
    DirectoryNotEmpty,
    FileNotInVersion,
    IdentifierError,
    LastVersion,
    ManifestUnreadable,
    NotASilo,
    PathNameError,
    RecordNotFound,
    SiloNotFound,
    SiloSettingConflict,
    SourceFailed,
    VersionExists,
    VersionNotFound,
)


@pytest.fixture
def record(silo: Silo) -> HarvestedRecord:
    made = silo.get_item("a")
    made.put_stream("f", "content")
    return made


def read(record: HarvestedRecord, name: str, version: str | None = None) -> bytes:
    with record.get_stream(name, version) as stream:
        return stream.read()


# -- Silo -------------------------------------------------------------------------------


def test_silo_is_made_only_where_its_parent_exists(tmp_path: Path) -> None:
    with pytest.raises(SiloNotFound, match=f"there is no directory {tmp_path}/no$"):
        Silo(str(tmp_path / "no" / "silo"))
    assert not (tmp_path / "no").exists()


def test_directory_with_something_else_in_it_is_no_silo(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("x")
    with pytest.raises(NotASilo, match="pairtree_version0_1"):
        Silo(str(tmp_path))
    assert os.listdir(tmp_path) == ["letter.txt"]


def test_file_is_no_silo(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotASilo):
        Silo(str(tmp_path / "file"))


def test_opening_without_creating_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(SiloNotFound, match="there is no Silo at"):
        Silo(str(tmp_path / "none"), create=False)
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotASilo):
        Silo(str(tmp_path / "empty"), create=False)
    assert os.listdir(tmp_path) == ["empty"]
    assert os.listdir(tmp_path / "empty") == []


@pytest.mark.parametrize(
    "left",
    [
        [],
        ["pairtree_root"],
        ["pairtree_root", "pairtree_prefix.123-abc0.tmp"],
        ["pairtree_root", "pairtree_prefix", "persisted_state.json.1-f.tmp"],
        ["pairtree_root", "pairtree_prefix", "persisted_state.json", "pairtree_version0_1.1-a.tmp"],
    ],
)
def test_creation_that_was_killed_can_be_taken_up_again(tmp_path: Path, left: list[str]) -> None:
    path = tmp_path / "silo"
    path.mkdir()
    for name in left:
        if name == "pairtree_root":
            (path / name).mkdir()
        else:
            (path / name).write_text("{}")
    with Silo(str(path)) as silo:
        silo.get_item("a").sync()
        assert list(silo) == ["a"]


def test_none_given_again_overrides_nothing(tmp_path: Path) -> None:
    with Silo(str(tmp_path / "s"), "http://x/", base_oai_url="http://x/oai"):
        pass
    with Silo(str(tmp_path / "s"), None, base_oai_url=None, identifier_uri_prefix=None) as silo:
        assert silo.state["uri_base"] == "http://x/"
        assert silo.state["base_oai_url"] == "http://x/oai"


def test_other_value_given_again_is_a_conflict_unless_set_through_state(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with Silo(path, "http://x/", base_oai_url="http://x/oai"):
        pass
    for arguments in ({"uri_base": "http://y/"}, {"base_oai_url": "http://y/oai"}):
        with pytest.raises(SiloSettingConflict, match="http://y/") as caught:
            Silo(path, **arguments)
        assert caught.value.key in arguments
    with Silo(path, "http://x/") as silo:
        silo.state["base_oai_url"] = "http://y/oai"
        silo.state.sync()
    with Silo(path, base_oai_url="http://y/oai") as silo:
        assert silo.state["base_oai_url"] == "http://y/oai"


def test_setting_given_later_is_remembered(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with Silo(path):
        pass
    with Silo(path, identifier_uri_prefix="oai:x:"):
        pass
    with Silo(path) as silo:
        assert silo.state["identifier_uri_prefix"] == "oai:x:"


def test_moved_silo_knows_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Silo(str(tmp_path / "old")) as silo:
        silo.get_item("a").put_stream("f", "x")
        silo["a"].clone_version_delta("1", "d")
    shutil.move(tmp_path / "old", tmp_path / "new")
    monkeypatch.chdir(tmp_path)
    with Silo("new") as silo:
        assert silo.state["storage_dir"] == "new"
        assert silo.path == str(tmp_path / "new")
        assert read(silo["a"], "f") == b"x"


def test_hashing_type_works_after_opening_again(tmp_path: Path) -> None:
    with Silo(str(tmp_path / "s"), hashing_type="md5"):
        pass
    with Silo(str(tmp_path / "s")) as silo:
        assert silo.get_item("a").put_stream("f", "abc") == {
            "checksum": "900150983cd24fb0d6963f7d28e17f72",
            "type": "md5",
        }


def test_parts_of_an_identifier_are_no_records(silo: Silo) -> None:
    silo.get_item("abcdef").sync()
    assert not silo.exists("abcd")
    assert "ab" not in silo
    with pytest.raises(RecordNotFound):
        silo["abcd"]


def test_absent_record_is_an_exception(silo: Silo) -> None:
    with pytest.raises(RecordNotFound, match="has no record 'nope'"):
        silo["nope"]
    with pytest.raises(KeyError):
        silo["nope"]
    with pytest.raises(RecordNotFound):
        silo.del_item("nope")
    assert silo.get("nope") is None


def test_membership_asks_the_disk_once_and_not_the_list(
    silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    silo.get_item("a").sync()
    monkeypatch.setattr(Silo, "__iter__", None)
    assert "a" in silo
    assert "b" not in silo
    assert None not in silo
    with pytest.raises(IdentifierError, match="write '7'"):
        _ = 7 in silo
    assert "" not in silo


def test_items_are_pairs_and_iteritems_are_records(silo: Silo) -> None:
    for identifier in ("b", "a"):
        silo.get_item(identifier).sync()
    assert [(i, r.item_id) for i, r in silo.items()] == [("a", "a"), ("b", "b")]
    assert [r.item_id for r in silo.iteritems()] == ["a", "b"]
    assert silo.keys() == list(silo.list_items()) == ["a", "b"]
    assert silo.has_key("a")


def test_empty_silo_is_true(silo: Silo) -> None:
    assert silo
    assert len(silo) == 0


def test_deleted_record_leaves_nothing_not_even_short_names(
    silo: Silo, record: HarvestedRecord, tree: Callable[[str], list[str]]
) -> None:
    record.put_stream("x", "short")
    record.put_stream("dd/yy", "short")
    silo.del_item("a")
    assert "a" not in silo
    assert tree(f"{silo.path}/pairtree_root") == []
    silo.get_item("a").put_stream("new", "x")
    assert silo["a"].paths() == ["new"]


def test_get_item_writes_nothing(silo: Silo, tree: Callable[[str], list[str]]) -> None:
    before = tree(silo.path)
    made = silo.get_item("a")
    assert (made.versions, made.files, made.exists) == (["1"], [], False)
    assert "a" not in silo
    assert tree(silo.path) == before


# -- manifests --------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"  ", b"{", b"[]", b"null", b'{"item_id": "b"}'])
def test_damaged_manifest_is_an_error_and_stays_as_it_is(
    silo: Silo, record: HarvestedRecord, content: bytes
) -> None:
    for number in range(10):
        record.create_new_version(f"v{number}")
    path = f"{record.path_to_item()}/__manifest.json"
    with open(path, "wb") as file:
        file.write(content)
    for act in (
        lambda: silo["a"],
        lambda: silo.get_item("a"),
        lambda: record.put_stream("g", "y"),
        record.sync,
        record.revert,
        lambda: silo.del_item("a"),
    ):
        with pytest.raises(ManifestUnreadable, match=r"it is left as it is|that of 'b'") as caught:
            act()
        assert caught.value.path == path
    with open(path, "rb") as file:
        assert file.read() == content
    assert len(os.listdir(record.path_to_item())) == 13


def test_missing_manifest_beside_versions_is_an_error(silo: Silo, record: HarvestedRecord) -> None:
    os.unlink(f"{record.path_to_item()}/__manifest.json")
    for act in (
        lambda: silo.get_item("a"),
        lambda: silo["a"],
        lambda: "a" in silo,
        lambda: record.put_stream("g", "y"),
    ):
        with pytest.raises(ManifestUnreadable, match="missing, although __1 exists"):
            act()
    assert os.listdir(f"{record.path_to_item()}/__1") == ["f"]


def test_missing_manifest_beside_a_broken_off_change_is_an_error_too(
    silo: Silo, record: HarvestedRecord
) -> None:
    record.put_stream("g", "y")
    place = record.path_to_item()
    os.rename(f"{place}/__manifest.json", f"{place}/__manifest.json.new")
    with pytest.raises(ManifestUnreadable, match="missing"):
        silo.get_item("a").put_stream("h", "z")
    assert sorted(os.listdir(f"{place}/__1")) == ["f", "g"]


def test_manifest_that_is_a_link_to_nowhere_is_an_error(
    silo: Silo, record: HarvestedRecord
) -> None:
    path = f"{record.path_to_item()}/__manifest.json"
    os.unlink(path)
    os.symlink("nowhere", path)
    with pytest.raises(ManifestUnreadable, match="leads nowhere"):
        silo["a"]
    with pytest.raises(ManifestUnreadable):
        silo.get_item("a").put_stream("g", "x")
    assert silo.reindex() == len(silo.unread()) == 1
    assert len(silo.index_problems()) == 1
    assert os.listdir(record.to_dirpath()) == ["f"]


def test_manifest_that_is_a_directory_is_an_error_that_reindexing_reports(
    silo: Silo, record: HarvestedRecord
) -> None:
    path = f"{record.path_to_item()}/__manifest.json"
    os.unlink(path)
    os.mkdir(path)
    with pytest.raises(ManifestUnreadable, match="directory"):
        silo["a"]
    assert silo.reindex() == len(silo.unread()) == 1
    assert [where for where, _ in silo.index_problems()] == [record.path_to_item()]


# -- HarvestedRecord --------------------------------------------------------------------


def test_views_cannot_be_assigned_to(record: HarvestedRecord) -> None:
    for name in ("files", "versions", "currentversion", "date", "versionlog", "manifest"):
        with pytest.raises(AttributeError):
            setattr(record, name, "x")
    with pytest.raises(TypeError):
        record["files"] = {}  # type: ignore[index]


def test_assigned_metadata_is_stored(silo: Silo, record: HarvestedRecord) -> None:
    record.metadata["old"] = 1
    record.sync()
    record.metadata = {"new": [2]}
    record.sync()
    assert silo["a"].metadata == {"new": [2]}


def test_names_of_one_letter_are_listed_cloned_and_deleted(
    silo: Silo, record: HarvestedRecord
) -> None:
    record.put_stream("x", "1")
    record.put_stream("yy", "2")
    assert record.files == record.list_parts() == ["f", "x", "yy"]
    record.clone_version("1", "wc")
    assert record.files == ["f", "x", "yy"]
    record.del_stream("x")
    assert silo["a"].files == ["f", "yy"]
    assert sorted(os.listdir(record.to_dirpath())) == ["f", "yy"]


def test_record_is_a_mapping_of_the_manifest(record: HarvestedRecord) -> None:
    assert len(record) == 1
    assert "files" in record
    assert "a" not in record
    assert set(record) == set(record.keys()) == set(record.manifest)
    assert record["files"] == {"1": ["f"]}
    assert dict(record.items()) == record.manifest
    assert record.has_key("versions")
    assert len(record.values()) == len(record.keys())


def test_write_to_an_unknown_version_is_refused(record: HarvestedRecord) -> None:
    with pytest.raises(VersionNotFound, match="has no version '7'; it has 1"):
        record.put_stream("g", "x", "7")
    with pytest.raises(VersionNotFound):
        record.get_stream("f", "7")
    assert record.files == ["f"]


def test_source_that_fails_keeps_the_old_content(silo: Silo, record: HarvestedRecord) -> None:
    class Broken:
        def __init__(self) -> None:
            self.left = [b"some of it"]

        def read(self, size: int = -1) -> bytes:
            if self.left:
                return self.left.pop()
            raise OSError("the disk of the source")

    with pytest.raises(SourceFailed, match="the disk of the source"):
        record.put_stream("f", Broken())
    with pytest.raises(SourceFailed, match="surrogate"):
        record.put_stream("f", "half a pair: \ud800")
    with pytest.raises(SourceFailed, match="neither text, bytes nor an open file"):
        record.put_stream("f", 7)
    assert read(silo["a"], "f") == b"content"
    assert os.listdir(record.to_dirpath()) == ["f"]
    assert os.listdir(silo.staging.directory()) == []


@pytest.mark.parametrize("path", ["../../escape", "/tmp/escape", "../__1/f"])
def test_paths_out_of_the_version_are_refused(record: HarvestedRecord, path: str) -> None:
    with pytest.raises(PathNameError):
        record.put_stream(path, "x")
    with pytest.raises(FileNotInVersion):
        record.get_stream(path)
    with pytest.raises(PathNameError):
        record.to_dirpath(path)
    with pytest.raises(FileNotInVersion):
        record.del_stream(path)


def test_file_can_be_put_into_sub_directories(record: HarvestedRecord) -> None:
    record.put_stream("docs/en/licence.txt", "x")
    assert record.files == ["f", "docs"]
    assert record.paths() == ["f", "docs/en/licence.txt"]
    assert record.manifest["subdir"] == {"1": ["docs"]}
    assert record.isdir("docs")
    assert record.isdir("docs/en")
    assert not record.isdir("f")
    assert record.isfile("docs/en/licence.txt")
    assert record.list_parts("docs") == ["en"]
    assert set(record.list_parts("docs/en", detailed=True)) == {"licence.txt"}


def test_list_of_an_absent_directory_is_an_error(record: HarvestedRecord) -> None:
    with pytest.raises(FileNotInVersion):
        record.list_parts("nope")
    with pytest.raises(FileNotInVersion):
        record.stat("nope")


def test_deleted_file_leaves_metadata_files_too(record: HarvestedRecord) -> None:
    record.put_stream("m", "<x/>", True)
    record.del_stream("m")
    assert record.metadata_files == {"1": []}


def test_absent_file_cannot_be_deleted(record: HarvestedRecord) -> None:
    with pytest.raises(FileNotInVersion, match="has no file 'nope'"):
        record.del_stream("nope")


def test_directory_is_deleted_only_when_empty(record: HarvestedRecord) -> None:
    record.put_stream("docs/x/a", "x")
    with pytest.raises(DirectoryNotEmpty):
        record.del_stream("docs")
    record.del_stream("docs/x/a")
    assert record.files == ["f", "docs"]
    record.del_stream("docs")
    assert record.files == ["f"]
    assert os.listdir(record.to_dirpath()) == ["f"]
    record.put_stream("docs", "a file now")
    assert read(record, "docs") == b"a file now"


def test_deleting_from_several_versions_is_all_or_nothing(record: HarvestedRecord) -> None:
    record.clone_version("1", "wc")
    record.put_stream("g", "x")
    with pytest.raises(FileNotInVersion):
        record.del_stream("g", ["wc", "1"])
    assert record.files == ["f", "g"]
    record.del_stream("f", ["wc", "1"])
    assert (record.files, record.paths("1")) == (["g"], [])


def test_incrementing_onto_an_existing_version_takes_the_next(record: HarvestedRecord) -> None:
    record.increment_version()
    record.put_stream("two", "x")
    record.set_version_cursor("1")
    assert record.increment_version() == "3"
    assert record.paths("2") == ["two"]


def test_clone_onto_itself_or_another_is_refused(record: HarvestedRecord) -> None:
    record.create_new_version("2")
    for name in ("1", "2"):
        with pytest.raises(VersionExists):
            record.clone_version("1", name)
    assert read(record, "f", "1") == b"content"
    assert record.paths("2") == []


def test_clone_of_nothing_is_refused(record: HarvestedRecord) -> None:
    with pytest.raises(VersionNotFound):
        record.clone_version("7", "x")
    assert record.versions == ["1"]


def test_clone_takes_directories_and_leaves_out_what_it_is_told(record: HarvestedRecord) -> None:
    record.put_stream("docs/a", "1")
    record.put_stream("docs/b", "2")
    record.put_stream("big/c", "3")
    record.put_stream("gone/d", "4")
    record.del_stream("gone/d")
    record.clone_version("1", "wc", exclude_filenames=["docs/a", "big", "f"])
    assert record.paths() == ["docs/b"]
    assert record.files == ["docs", "gone"]
    assert os.path.isdir(record.to_dirpath("gone"))


def test_write_to_a_delta_clone_never_reaches_the_original(record: HarvestedRecord) -> None:
    record.clone_version_delta("1", "delta")
    record.put_stream("f", "changed")
    assert read(record, "f", "1") == b"content"
    with record.get_stream("f", "1", writeable=True) as stream:
        stream.write(b" and more")
    assert read(record, "f", "delta") == b"changed"
    assert read(record, "f", "1") == b"content and more"


def test_delta_clones_are_hard_links_and_never_symbolic_ones(record: HarvestedRecord) -> None:
    record.put_stream("notes.xml", "x")
    record.clone_version_delta("1", "d1", copy_extensions=["xml"])
    record.set_version_cursor("1")
    record.increment_version_delta(clone_previous_version=True, copy_filenames=["f"])
    assert record.stat("f", "d1").st_ino == record.stat("f", "1").st_ino
    assert record.stat("notes.xml", "d1").st_ino != record.stat("notes.xml", "1").st_ino
    assert record.stat("f", "2").st_ino != record.stat("f", "1").st_ino
    for version in record.versions:
        for path in record.paths(version):
            assert not os.path.islink(record.to_dirpath(path, version))


def test_copying_between_versions_names_what_is_missing(record: HarvestedRecord) -> None:
    record.create_new_version("2")
    with pytest.raises(FileNotInVersion):
        record.copy_file_between_versions("nope", "1", "2")
    with pytest.raises(VersionNotFound):
        record.copy_file_between_versions("f", "1", "7")
    record.copy_file_between_versions("f", "1", "2")
    assert read(record, "f", "2") == b"content"
    assert any("Copied file f" in line for line in record.version_log("2"))


def test_renamed_version_keeps_its_place_and_its_files(silo: Silo, record: HarvestedRecord) -> None:
    record.clone_version("1", "temp")
    record.create_new_version("last")
    assert record.rename_version("temp", "second") == "second"
    again = silo["a"]
    assert again.versions == ["1", "second", "last"]
    assert again.currentversion == "second"
    assert read(again, "f") == b"content"
    assert sorted(n for n in os.listdir(record.path_to_item())) == [
        "__1", "__last", "__manifest.json", "__manifest.json.prev", "__second",
    ]  # fmt: skip
    with pytest.raises(VersionExists):
        record.rename_version("1", "second")
    with pytest.raises(VersionNotFound):
        record.rename_version("temp", "x")


def test_clones_of_a_renamed_version_follow_it(record: HarvestedRecord) -> None:
    record.clone_version("1", "child")
    record.rename_version("1", "first")
    assert record.origin("child").of == "first"


def test_created_version_that_exists_is_an_exception(record: HarvestedRecord) -> None:
    with pytest.raises(VersionExists):
        record.create_new_version("1")
    record.create_new_version("2", date="2010-01-01")
    assert (record.currentversion, record.date) == ("2", "2010-01-01T00:00:00")


def test_last_version_is_not_deleted(record: HarvestedRecord) -> None:
    with pytest.raises(LastVersion, match="delete the record instead"):
        record.del_version("1")
    record.create_new_version("2")
    with pytest.raises(LastVersion):
        record.del_versions(["1", "2"])
    assert record.versions == ["1", "2"]


def test_deleted_version_moves_the_cursor_to_the_last_one(record: HarvestedRecord) -> None:
    for name in ("2", "3", "4"):
        record.create_new_version(name)
    record.del_version("2")
    assert record.currentversion == "4"
    assert record.del_versions(["4", "1"]) == [None, None]
    assert (record.versions, record.currentversion) == (["3"], "3")
    assert sorted(os.listdir(record.path_to_item())) == [
        "__3", "__manifest.json", "__manifest.json.prev",
    ]  # fmt: skip
    with pytest.raises(VersionNotFound):
        record.del_version("2")


def test_date_of_a_version_can_be_set_again(silo: Silo, record: HarvestedRecord) -> None:
    for date in ("2001-01-01T00:00:00", "2000-01-01T00:00:00"):
        assert record.set_version_date("1", date) is True
        assert (record.date, silo["a"].date) == (date, date)
    assert os.listdir(record.to_dirpath()) == ["f"]
    with pytest.raises(ValueError, match="someday"):
        record.set_version_date("1", "someday")


def test_directory_becomes_a_version(tmp_path: Path, record: HarvestedRecord) -> None:
    source = tmp_path / "source"
    (source / "docs").mkdir(parents=True)
    (source / "docs" / "a").write_text("x")
    (source / "b").write_text("y")
    assert record.move_directory_as_new_version(str(source), 2, date="2010-01-01") == "2"  # type: ignore[arg-type]
    assert record.versions == ["1", "2"]
    assert record.paths() == ["b", "docs/a"]
    assert record.versionlog == ["Directory contents"]
    assert not source.exists()


def test_directory_that_is_missing_or_odd_makes_no_version(
    silo: Silo, tmp_path: Path, record: HarvestedRecord
) -> None:
    with pytest.raises(FileNotFoundError):
        record.move_directory_as_new_version(str(tmp_path / "none"))
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "link").symlink_to("/etc/passwd")
    with pytest.raises(SourceFailed, match="plain files"):
        record.move_directory_as_new_version(str(tmp_path / "odd"))
    with pytest.raises(PathNameError, match="Silo's own"):
        record.move_directory_as_new_version(record.to_dirpath(), "2")
    (tmp_path / "new").mkdir()
    with pytest.raises(VersionExists):
        record.move_directory_as_new_version(str(tmp_path / "new"), "1")
    assert record.versions == ["1"]
    assert read(record, "f") == b"content"
    assert os.listdir(silo.staging.directory()) == []


def test_directory_takes_the_place_of_a_version_by_force(
    tmp_path: Path, record: HarvestedRecord
) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "g").write_text("new")
    assert record.move_directory_as_new_version(str(tmp_path / "source"), "1", force=True) == "1"
    assert (record.versions, record.paths(), read(record, "g")) == (["1"], ["g"], b"new")
    assert sorted(os.listdir(record.path_to_item())) == [
        "__1", "__manifest.json", "__manifest.json.prev",
    ]  # fmt: skip
    assert os.listdir(record.to_dirpath()) == ["g"]


def test_disk_usage_is_counted(record: HarvestedRecord) -> None:
    record.clone_version("1", "wc")
    record.put_stream("g/h", b"x" * 1000)
    assert record.disk_usage("1") == 7
    assert record.disk_usage() == 7 + 7 + 1000


def test_two_handles_keep_both_their_changes(silo: Silo, record: HarvestedRecord) -> None:
    other = silo["a"]
    record.put_stream("g", "1")
    record.metadata["record"] = 1
    other.put_stream("h", "2")
    other.clone_version("1", "wc")
    record.sync()
    again = silo["a"]
    assert again.paths("1") == ["f", "g", "h"]
    assert again.versions == ["1", "wc"]
    assert again.metadata == {"record": 1}


def test_metadata_that_is_no_json_is_refused_and_changes_nothing(
    silo: Silo, record: HarvestedRecord
) -> None:
    for value in ({1, 2}, b"x", float("nan")):
        record.metadata["key"] = value
        with pytest.raises((TypeError, ValueError)):
            record.put_stream("g", "x")
    assert silo["a"].files == ["f"]
    assert silo["a"].metadata == {}


def test_metadata_keeps_the_order_in_which_it_was_set(silo: Silo, record: HarvestedRecord) -> None:
    keys = [f"k{number * 7919 % 31}" for number in range(31)]
    for key in keys:
        record.metadata[key] = 1
    record.sync()
    assert list(silo["a"].metadata) == keys


def test_text_beyond_unicode_is_kept_and_the_manifest_stays_utf8(
    silo: Silo, record: HarvestedRecord
) -> None:
    record.metadata["odd"] = "\udcff"
    record.metadata["setSpec"] = ["\udcff"]
    record.sync(message="\udc80")
    assert silo["a"].metadata["odd"] == "\udcff"
    with open(f"{record.path_to_item()}/__manifest.json", encoding="utf-8") as file:
        assert json.load(file)["metadata"]["odd"] == "\udcff"
    assert silo.row("a").sets == ("?",)
    assert silo.reindex() == 1


def test_importing_and_using_the_store_adds_no_log_handler(silo: Silo) -> None:
    silo.get_item("a").sync()
    assert logging.getLogger("RecordSilo").handlers == []
    assert logging.getLogger("PersistentState").handlers == []


# -- Granary ----------------------------------------------------------------------------


def test_granary_lists_what_is_there_now(tmp_path: Path) -> None:
    granary = Granary(str(tmp_path / "g"))
    granary.get_silo("one").close()
    assert granary.silos == ["one"]
    granary.delete_silo("one")
    assert granary.silos == []
