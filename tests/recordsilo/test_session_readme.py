"""The session of the library's README of 2010, step by step, in Python 3."""

import ast
import logging
from pathlib import Path

import pytest

from recordsilo import HarvestedRecord, Silo
from recordsilo.records.manifest import date_text

KEYS_OF_2010 = {
    "item_id", "date", "currentversion", "versions", "version_dates", "files", "subdir",
    "metadata_files", "versionlog", "metadata",
}  # fmt: skip


def read(record: HarvestedRecord, name: str, version: str | None = None) -> bytes:
    with record.get_stream(name, version) as stream:
        return stream.read()


def test_versions_and_metadata_as_in_the_readme(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    storage = str(tmp_path / "store")
    pictures = {name: bytes([n]) * 3000 for n, name in enumerate(["plate1.tif", "plate2.tif"])}
    with Silo(storage) as s:
        assert Path(storage).is_dir()
        p = s.get_item("doi://10.5555/gulls")
        assert (p.versions, p.currentversion) == (["1"], "1")

        p.put_stream("mods.xml", "<mods>ein Möwenatlas</mods>", True)
        assert p.metadata_files == {"1": ["mods.xml"]}
        p.put_stream("notes.txt", "counted from the pier")
        for name, content in pictures.items():
            (tmp_path / name).write_bytes(content)
            with open(tmp_path / name, "rb") as file:
                p.put_stream(name, file)
        assert p.files == ["mods.xml", "notes.txt", "plate1.tif", "plate2.tif"]
        assert read(p, "mods.xml") == "<mods>ein Möwenatlas</mods>".encode()
        assert read(p, "plate2.tif") == pictures["plate2.tif"]

        assert p.increment_version() == "2"
        assert (p.versions, p.currentversion, p.files) == (["1", "2"], "2", [])
        p.put_stream("draft.txt", "a")
        p.put_stream("other.txt", "b")
        p.del_stream("draft.txt")
        assert p.files == ["other.txt"]

        assert p.clone_version("1", "temp") == "temp"
        assert p.currentversion == "temp"
        p.put_stream("mods.xml", "<mods>changed</mods>")
        assert p.metadata_files["temp"] == ["mods.xml"]
        assert read(p, "mods.xml", "1") == "<mods>ein Möwenatlas</mods>".encode()
        assert p.version_date("temp") == p.version_date("1")

        assert p.clone_version_delta("temp", "temp2") == "temp2"
        assert p.files == ["mods.xml", "notes.txt", "plate1.tif", "plate2.tif"]
        assert p.stat("plate1.tif").st_ino == p.stat("plate1.tif", "temp").st_ino
        p.del_version("temp2")

        assert p.rename_version("temp", "3") == "3"
        assert (p.versions, p.currentversion) == (["1", "2", "3"], "3")
        assert p.version_date("3") == p.version_date("1")

        shown = ast.literal_eval(repr(p))
        assert set(shown) == KEYS_OF_2010
        assert shown["files"]["3"] == ["mods.xml", "notes.txt", "plate1.tif", "plate2.tif"]
        assert shown["metadata_files"] == {"1": ["mods.xml"], "2": [], "3": ["mods.xml"]}
        assert set(shown["version_dates"]) == {"1", "2", "3"}

        p.del_version("2")
        assert p.versions == ["1", "3"]
        with caplog.at_level(logging.ERROR, "RecordSilo"):
            assert p.set_version_cursor("2") is False
        assert [(r.name, r.levelname, r.getMessage()) for r in caplog.records] == [
            ("RecordSilo", "ERROR", "Version 2 does not exist")
        ]
        assert p.currentversion == "3"

        assert p.increment_version(date=None, clone_previous_version=True) == "4"
        assert p.files == ["mods.xml", "notes.txt", "plate1.tif", "plate2.tif"]
        assert p.date == p.version_date("4") > p.version_date("1")
        p.set_version_cursor("1")
        assert p.date == p.version_date("1")
        p.set_version_cursor("4")
        assert p.increment_version_delta(date=None, clone_previous_version=True) == "5"
        assert p.stat("plate1.tif").st_ino == p.stat("plate1.tif", "4").st_ino

        q = s.get_item("7")
        assert q.metadata == {}
        q.metadata["name"] = "Herring gull"
        q.metadata["seen"] = ["pier", "harbour"]
        q.metadata["where"] = {"lat": 54.3, "lon": 10.1}
        q.sync()
        again = s.get_item("7")
        assert ast.literal_eval(repr(again.metadata)) == {
            "name": "Herring gull",
            "seen": ["pier", "harbour"],
            "where": {"lat": 54.3, "lon": 10.1},
        }
        q.metadata["x"] = "not kept"
        q.metadata["seen"].append("not kept either")
        q.revert()
        assert q.metadata == again.metadata

        q.metadata["kept"] = "with the next write"
        q.put_stream("a", "b")
        assert s.get_item("7").metadata["kept"] == "with the next write"


def test_incremented_number_is_that_after_the_cursor_or_the_next_free_one(silo: Silo) -> None:
    p = silo.get_item("a")
    for _ in range(3):
        p.increment_version()
    assert p.versions == ["1", "2", "3", "4"]
    p.set_version_cursor("2")
    assert p.increment_version() == "5"
    p.del_version("3")
    p.set_version_cursor("2")
    assert p.increment_version() == "3"


def test_incremented_name_that_is_no_number_gets_new(silo: Silo) -> None:
    p = silo.get_item("a", startversion="draft")
    assert p.increment_version() == "draft_new"
    p.set_version_cursor("draft")
    assert p.increment_version() == "draft_new_new"


def test_incremented_version_has_the_date_given(silo: Silo) -> None:
    p = silo.get_item("a", date="2004-06-24")
    p.increment_version("2009-01-02T00:00:00")
    assert p.manifest["version_dates"] == {
        "1": date_text("2004-06-24"),
        "2": "2009-01-02T00:00:00",
    }
