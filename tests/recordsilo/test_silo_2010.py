"""A Silo that the library of 2010 wrote: opened, listed, read, cloned, and then changed."""

import json
import logging
import os
from typing import Any

import pytest

from recordsilo import Silo
from recordsilo.disk.identifier import _import_quietly
from recordsilo.disk.stamps import modified
from recordsilo.errors import DanglingLink, FormatTooNew, RecordNotThen
from recordsilo.silo_then import SiloThen

PREFIX = "oai:eprints.example.org:"
ODD = "http://n2t.info/urn:nbn:se:kb:repos-1 \u4e2d^*?"
FIVE = [ODD, PREFIX + "6", PREFIX + "61", PREFIX + "6102", PREFIX + "gone"]


def members(silo: Silo, identifier: str) -> dict[str, Any]:
    with open(f"{silo[identifier].path_to_item()}/__manifest.json", encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found


def test_five_records_are_listed(silo_2010: Silo) -> None:
    assert list(silo_2010) == FIVE
    assert len(silo_2010) == 5
    assert silo_2010.count(deleted=True) == 1
    assert silo_2010.index_problems() == []


def test_settings_are_those_of_2010(silo_2010: Silo, path_of_2010: str) -> None:
    assert silo_2010.state["identifier_uri_prefix"] == PREFIX
    assert silo_2010.state["base_oai_url"] == "http://eprints.example.org/cgi/oai2"
    assert silo_2010.state["storage_dir"] == path_of_2010


def test_records_are_found_by_their_short_identifiers(silo_2010: Silo) -> None:
    for short in ("6", "61", "6102", "gone"):
        assert short in silo_2010
        assert silo_2010[short].item_id == PREFIX + short


def test_every_file_is_read_but_for_the_link_that_dangles(silo_2010: Silo) -> None:
    read = []
    dangling = []
    for record in silo_2010.iteritems():
        for version in record.versions:
            for path in record.paths(version):
                try:
                    with record.get_stream(path, version) as stream:
                        assert stream.read()
                    read.append((record.item_id, version, path))
                except DanglingLink as error:
                    dangling.append((record.item_id, error.version, error.path))
    assert dangling == [(PREFIX + "6", "delta", "oai_dc")]
    assert (PREFIX + "6102", "workingcopy", "docs/licence.txt") in read
    assert len(read) == 8


def test_views_are_those_of_2010(silo_2010: Silo) -> None:
    record = silo_2010["6102"]
    assert record.versions == ["1", "workingcopy"]
    assert record.files == ["oai_dc"]
    assert record.metadata_files == {"1": ["oai_dc"], "workingcopy": ["oai_dc"]}
    assert record.date == "2004-06-24T00:00:00"
    assert record.set_version_cursor("workingcopy")
    assert record.files == ["foo.txt", "oai_dc", "docs"]
    assert record.paths() == ["foo.txt", "oai_dc", "docs/licence.txt"]
    assert (record.revision, record.exists) == (0, True)


def test_origins_are_told_from_logs_and_metadata(silo_2010: Silo) -> None:
    record = silo_2010["6102"]
    assert record.origin("1").kind == "harvest"
    assert (record.origin("workingcopy").kind, record.origin("workingcopy").of) == ("clone", "1")
    assert record.is_frozen("1")
    assert record.version_is_curated("workingcopy")
    assert silo_2010["61"].origin("2").kind == "harvest"


def test_a_clone_is_a_deep_copy(silo_2010: Silo) -> None:
    record = silo_2010["6102"]
    record.clone_version("workingcopy", "mine")
    record.put_stream("docs/licence.txt", "changed")
    assert record.paths() == ["foo.txt", "oai_dc", "docs/licence.txt"]
    with record.get_stream("docs/licence.txt", "workingcopy") as stream:
        assert stream.read() != b"changed"
    for path in record.paths():
        assert record.stat(path).st_ino != record.stat(path, "workingcopy").st_ino


def test_clone_of_the_dangling_delta_is_refused_and_changes_nothing(silo_2010: Silo) -> None:
    before = members(silo_2010, "6")
    with pytest.raises(DanglingLink, match="symbolic link to"):
        silo_2010["6"].clone_version("delta", "mine")
    assert members(silo_2010, "6") == before


def test_dangling_link_is_mended_by_putting_the_file_again(silo_2010: Silo) -> None:
    record = silo_2010["6"]
    record.put_stream("oai_dc", "<dc/>", "delta")
    with record.get_stream("oai_dc", "delta") as stream:
        assert stream.read() == b"<dc/>"
    assert not os.path.islink(record.to_dirpath("oai_dc", "delta"))
    with record.get_stream("oai_dc", "1") as stream:
        assert b"<dc/>" not in stream.read()


def test_link_of_2010_within_the_silo_is_read(silo_2010: Silo) -> None:
    record = silo_2010["6"]
    place = record.to_dirpath("oai_dc", "delta")
    os.unlink(place)
    os.symlink(record.to_dirpath("oai_dc", "1"), place)
    with record.get_stream("oai_dc", "delta") as stream:
        content = stream.read()
    record.clone_version("delta", "mine")
    assert not os.path.islink(record.to_dirpath("oai_dc", "mine"))
    with record.get_stream("oai_dc", "mine") as stream:
        assert stream.read() == content
    record.put_stream("oai_dc", "<changed/>", "delta")
    with record.get_stream("oai_dc", "1") as stream:
        assert stream.read() == content


def test_link_out_of_the_silo_is_never_followed(silo_2010: Silo) -> None:
    record = silo_2010["6"]
    place = record.to_dirpath("oai_dc", "delta")
    os.unlink(place)
    os.symlink("/etc/passwd", place)
    with pytest.raises(DanglingLink, match="/etc/passwd"):
        record.get_stream("oai_dc", "delta")
    record.del_stream("oai_dc", "delta")
    assert os.path.exists("/etc/passwd")
    assert record.paths("delta") == []


def test_version_that_is_a_link_out_of_the_silo_is_neither_read_nor_written(
    silo_2010: Silo, tmp_path: object
) -> None:
    record = silo_2010["6102"]
    place = record.to_dirpath(version="workingcopy")
    outside = f"{tmp_path}/outside"
    os.rename(place, outside)
    os.symlink(outside, place)
    with pytest.raises(DanglingLink):
        record.get_stream("foo.txt", "workingcopy")
    before = sorted(os.listdir(outside))
    with pytest.raises(Exception, match="in the way"):
        record.put_stream("new.txt", "x", "workingcopy")
    assert sorted(os.listdir(outside)) == before


def test_reading_changes_nothing(silo_2010: Silo) -> None:
    before = {identifier: members(silo_2010, identifier) for identifier in FIVE}
    for record in silo_2010.iteritems():
        repr(record)
    assert {identifier: members(silo_2010, identifier) for identifier in FIVE} == before
    assert "format" not in before[ODD]


def test_first_write_keeps_the_keys_of_2010_and_adds_those_of_now(silo_2010: Silo) -> None:
    before = members(silo_2010, "6102")
    silo_2010["6102"].put_stream("new.txt", "x", "workingcopy")
    after = members(silo_2010, "6102")
    new = {"format", "revision", "changed", "digests", "origins", "history"}
    assert set(before) | new <= set(after) <= set(before) | new | {"pending", "checksum"}
    assert (after["format"], after["revision"]) == (1, 1)
    for key in ("item_id", "versions", "version_dates", "metadata_files", "subdir", "metadata"):
        assert after[key] == before[key]
    assert after["files"] == {
        "1": ["oai_dc"],
        "workingcopy": ["foo.txt", "oai_dc", "docs", "new.txt"],
    }
    assert after["versionlog"]["workingcopy"][:4] == before["versionlog"]["workingcopy"]
    assert set(after["digests"]["workingcopy"]) == {
        "foo.txt", "oai_dc", "docs/licence.txt", "new.txt",
    }  # fmt: skip
    assert all(after["digests"]["workingcopy"].values())
    assert after["origins"]["1"]["kind"] == "harvest"


def test_digest_of_what_dangles_stays_unknown(silo_2010: Silo) -> None:
    record = silo_2010["6"]
    record.create_new_version("2")
    after = members(silo_2010, "6")
    assert after["digests"]["delta"] == {"oai_dc": None}
    assert after["digests"]["1"]["oai_dc"]["size"] == 285


def test_unknown_keys_are_kept(silo_2010: Silo) -> None:
    path = f"{silo_2010['6'].path_to_item()}/__manifest.json"
    found = members(silo_2010, "6") | {"rdffilename": "manifest.rdf", "rdffileformat": "xml"}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(found, file)
    silo_2010["6"].create_new_version("2")
    after = members(silo_2010, "6")
    assert (after["rdffilename"], after["rdffileformat"]) == ("manifest.rdf", "xml")
    assert "rdffilename" not in silo_2010["6"].manifest


@pytest.mark.parametrize("dates", [{}, {"1": ""}, {"1": "in spring"}])
def test_version_without_a_date_is_cloned_without_one(silo: Silo, dates: dict[str, str]) -> None:
    record = silo.get_item("oai:example.org:1")
    record.put_stream("oai_dc", b"<a/>", metadata=True)
    record.sync()
    bare = {"item_id": record.item_id, "versions": ["1"], "currentversion": "1"}
    with open(f"{record.path_to_item()}/__manifest.json", "w", encoding="utf-8") as file:
        json.dump(bare | {"version_dates": dates}, file)
    record = silo.get_item("oai:example.org:1")
    record.clone_version("1", "workingcopy")
    record.create_new_version("2")
    assert record.versions == ["1", "workingcopy", "2"]
    assert members(silo, record.item_id)["version_dates"]["workingcopy"] == dates.get("1", "")


def test_tags_of_2010_are_read_past_and_never_written(silo_2010: Silo) -> None:
    record = silo_2010["6102"]
    assert not [path for path in record.paths() if "=" in path]
    record.clone_version("1", "mine")
    assert os.listdir(record.to_dirpath()) == ["oai_dc"]
    assert len(os.listdir(record.to_dirpath(version="1"))) == 3


def test_record_without_versions_is_shown_and_can_be_given_one(silo_2010: Silo) -> None:
    path = f"{silo_2010['6'].path_to_item()}/__manifest.json"
    broken = {"item_id": PREFIX + "6", "currentversion": "1", "versions": [], "date": "2010-01-01"}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(broken, file)
    record = silo_2010["6"]
    assert record.manifest["versions"] == []
    assert repr(record)
    silo_2010.reindex()
    assert silo_2010.row("6").versions == 0
    record.create_new_version("1")
    assert silo_2010["6"].currentversion == "1"


def test_later_format_is_read_and_not_written(silo_2010: Silo) -> None:
    path = f"{silo_2010['6102'].path_to_item()}/__manifest.json"
    silo_2010["6102"].put_stream("new.txt", "x", "workingcopy")
    found = members(silo_2010, "6102") | {"format": 2, "novelty": {"x": 1}}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(found, file)
    record = silo_2010["6102"]
    assert record.versions == ["1", "workingcopy"]
    with record.get_stream("new.txt", "workingcopy") as stream:
        assert stream.read() == b"x"
    for act in (record.sync, lambda: record.put_stream("y", "z"), lambda: record.del_version("1")):
        with pytest.raises(FormatTooNew, match="in format 2 and this release writes format 1"):
            act()
    assert members(silo_2010, "6102") == found


def test_pairtree_package_reads_what_we_write(silo: Silo) -> None:
    root = logging.getLogger()
    before = (list(root.handlers), root.level)
    client = _import_quietly("pairtree").PairtreeStorageClient
    assert (list(root.handlers), root.level) == before
    identifiers = ["oai:x:6", "oai:x:61", "oai:x:6102", ODD, "info:gulls"]
    for identifier in identifiers:
        silo.get_item(identifier).put_stream("letter.txt", identifier)
    store = client(store_dir=silo.path, uri_base="info:")
    assert sorted(store.list_ids()) == sorted(identifiers)
    for identifier in identifiers:
        found = store.get_object(identifier, create_if_doesnt_exist=False)
        with found.get_bytestream("letter.txt", path="__1", streamable=True) as stream:
            assert stream.read() == identifier.encode()


def test_what_2010_did_not_note_is_said(path_of_2010: str) -> None:
    identifier = "oai:eprints.example.org:6102"
    with SiloThen(path_of_2010, "2012-01-01") as then:
        assert list(then) == []
        assert len(then.unknown) == len(then.index_problems()) == 5
        assert "whether it was there is not noted; it was on 2" in then.told_unsure()
        with pytest.raises(RecordNotThen, match="is there now; whether it was there is not noted"):
            then[identifier]
    with Silo(path_of_2010) as now:
        before = len(now[identifier].paths("workingcopy"))
        written = modified(f"{now[identifier].path_to_item()}/__manifest.json")
        now[identifier].put_stream("new.txt", "x", "workingcopy")
    with SiloThen(path_of_2010, written) as then:
        assert len(then[identifier].paths("workingcopy")) == before
        assert then.told_unsure() == ""
