"""The previous manifest: kept, used for repair, never replaced by a damaged one."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recordsilo import HarvestedRecord, Silo
from recordsilo.audit import Audit, Code
from recordsilo.audit.repair import MendedFinding, SiloRepair
from recordsilo.disk import atomic_file
from recordsilo.errors import ManifestUnreadable
from recordsilo.rdf.records import RDFSilo
from recordsilo.records.manifest_json import is_as_written

Harvest = Callable[..., str]


def manifest_of(record: HarvestedRecord) -> Path:
    return Path(record.path_to_item(), "__manifest.json")


def previous_of(record: HarvestedRecord) -> Path:
    return Path(record.path_to_item(), "__manifest.json.prev")


def flip(path: Path, text: bytes, other: bytes) -> None:
    content = path.read_bytes()
    assert content.count(text) >= 1
    path.write_bytes(content.replace(text, other, 1))


@pytest.fixture
def record(silo: Silo) -> HarvestedRecord:
    record = silo.get_item("r")
    record.put_stream("a.txt", "first")
    return record


# -- kept ---------------------------------------------------------------------------------


def test_a_new_record_has_no_previous_manifest(record: HarvestedRecord) -> None:
    assert not previous_of(record).exists()


def test_each_change_keeps_the_manifest_it_replaces(record: HarvestedRecord) -> None:
    for number in range(3):
        before = manifest_of(record).read_bytes()
        record.put_stream("a.txt", str(number))
        assert previous_of(record).read_bytes() == before
        assert previous_of(record).stat().st_ino != manifest_of(record).stat().st_ino


def test_a_batch_keeps_them_too(silo: Silo, record: HarvestedRecord) -> None:
    before = manifest_of(record).read_bytes()
    with silo.batch(["r"]) as batch:
        batch.edit("r").set_metadata("k", 1)
    assert previous_of(record).read_bytes() == before


def test_it_is_copied_where_there_are_no_hard_links(
    record: HarvestedRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic_file, "link_new", lambda source, path: False)
    for number in range(2):
        before = manifest_of(record).read_bytes()
        record.put_stream("a.txt", str(number))
        assert previous_of(record).read_bytes() == before


def test_deleting_a_record_takes_it_along(silo: Silo, record: HarvestedRecord) -> None:
    record.put_stream("a.txt", "second")
    silo.del_item("r")
    assert not os.path.exists(record.path_to_item())


def test_a_change_that_fails_leaves_a_manifest_that_is_whole(
    record: HarvestedRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    record.put_stream("a.txt", "second")
    before = manifest_of(record).read_bytes()

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(atomic_file, "write_over", fail)
        with pytest.raises(OSError, match="is full"):
            record.put_stream("a.txt", "third")
    assert manifest_of(record).read_bytes() == before
    record.put_stream("a.txt", "third")
    assert previous_of(record).read_bytes() == before


# -- restored -----------------------------------------------------------------------------


@pytest.mark.parametrize("torn", ["cut", "empty", "gone", "flipped"])
def test_what_is_torn_goes_back_one_change_and_says_what_is_lost(
    silo: Silo, record: HarvestedRecord, torn: str
) -> None:
    record.put_stream("kept.txt", "kept", message="the change before")
    record.put_stream("lost.txt", "lost", message="the last one")
    revision, content = record.revision, manifest_of(record).read_bytes()
    match torn:
        case "cut":
            manifest_of(record).write_bytes(content[: len(content) // 2])
        case "empty":
            manifest_of(record).write_bytes(b"")
        case "gone":
            manifest_of(record).unlink()
        case "flipped":
            flip(manifest_of(record), b"the last one", b"the last ore")
    outcomes = list(SiloRepair(silo.path).run())
    (restored,) = [one for one in outcomes if isinstance(one, MendedFinding)]
    assert f"restored as it was at revision {revision - 1};" in restored.done
    assert "is lost" in restored.done
    left = [one for one in outcomes if not isinstance(one, MendedFinding)]
    assert [(one.code, one.path.rpartition("/")[2]) for one in left] == [
        (Code.ADDED_OUTSIDE, "lost.txt")
    ]
    again = silo["r"]
    assert again.revision == revision - 1
    assert again.paths() == ["a.txt", "kept.txt"]
    again.accept("lost.txt", message="it was mine")
    assert again.paths() == ["a.txt", "kept.txt", "lost.txt"]
    assert list(Audit(silo.path).findings()) == []


def test_a_copy_flipped_together_with_the_manifest_is_not_restored(
    silo: Silo, record: HarvestedRecord
) -> None:
    record.put_stream("b.txt", "second")
    for path in (manifest_of(record), previous_of(record)):
        flip(path, b"a.txt", b"A.txt")
    codes = [one.code for one in SiloRepair(silo.path).run() if not isinstance(one, MendedFinding)]
    assert {Code.CHECKSUM_DIFFERS, Code.PREVIOUS_UNREADABLE} <= set(codes)
    with pytest.raises(ManifestUnreadable):
        silo["r"].put_stream("c.txt", "third")


# -- refused ------------------------------------------------------------------------------


def batch(silo: Silo) -> None:
    with silo.batch(["r"]) as found:
        found.edit("r").set_metadata("k", 1)


CHANGES: dict[str, Callable[[Silo], object]] = {
    "put": lambda silo: silo["r"].put_stream("b.txt", "b"),
    "sync": lambda silo: silo["r"].sync(),
    "clone": lambda silo: silo["r"].clone_version("1", "2"),
    "state": lambda silo: silo["r"].set_version_state("1", "ready"),
    "writeable stream": lambda silo: silo["r"].get_stream("a.txt", writeable=True),
    "batch": batch,
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("kind", [Silo, RDFSilo])
def test_a_flipped_manifest_is_read_and_not_written_over(
    silo: Silo, record: HarvestedRecord, name: str, kind: type[Silo]
) -> None:
    flip(manifest_of(record), b"Added or updated", b"Added or ubdated")
    content = manifest_of(record).read_bytes()
    with kind(silo.path) as opened:
        assert "Added or ubdated file a.txt" in opened["r"].versionlog
        with opened["r"].get_stream("a.txt") as stream:
            assert stream.read() == b"first"
        with pytest.raises(ManifestUnreadable, match="its checksum differs"):
            CHANGES[name](opened)
    assert manifest_of(record).read_bytes() == content
    assert [one.code for one in Audit(silo.path).findings()] == [Code.CHECKSUM_DIFFERS]


def test_a_record_that_is_damaged_may_be_deleted(silo: Silo, record: HarvestedRecord) -> None:
    flip(manifest_of(record), b"Added or updated", b"Added or ubdated")
    silo.del_item("r")
    assert "r" not in silo


def test_one_damaged_record_stops_its_batch_and_no_other(
    silo: Silo, record: HarvestedRecord
) -> None:
    flip(manifest_of(record), b"Added or updated", b"Added or ubdated")
    with silo.batch(["r", "s"]) as found:
        with pytest.raises(ManifestUnreadable):
            found.edit("r")
        silo_edit = found.edit("s")
        silo_edit.add_version("1", date="2004-06-24T00:00:00", origin=record.origin())
    assert silo["s"].versions == ["1"]


def test_who_means_a_change_by_hand_takes_the_checksum_out(
    silo: Silo, record: HarvestedRecord
) -> None:
    members = json.loads(manifest_of(record).read_bytes())
    members["metadata"] = {"note": "by hand"}
    del members["checksum"]
    manifest_of(record).write_text(json.dumps(members))
    again = silo["r"]
    again.put_stream("b.txt", "b")
    assert again.metadata == {"note": "by hand"}
    # the copy kept of it has no checksum to show that it is whole, until the next write
    assert [finding.code for finding in Audit(silo.path).findings()] == [Code.PREVIOUS_UNREADABLE]
    again.put_stream("c.txt", "c")
    assert list(Audit(silo.path).findings()) == []


def test_a_record_of_2010_has_no_checksum_to_differ(silo_2010: Silo) -> None:
    record = next(silo_2010.iteritems())
    record.set_version_state(record.currentversion, "ready")
    assert record.version_state() == "ready"


def test_the_checksum_is_that_of_all_before_its_line(record: HarvestedRecord) -> None:
    content = manifest_of(record).read_bytes()
    assert is_as_written(content)
    body = content[: content.rindex(b'"checksum"')]
    assert json.loads(content)["checksum"] == hashlib.sha256(body).hexdigest()
    assert is_as_written(b'{"item_id": "r"}')
    assert is_as_written(b'{"item_id": "r", "metadata": {"checksum": "crc"}}')
    assert not is_as_written(b'{"item_id": "r", "checksum": "crc"}')


def test_no_flipped_bit_can_be_written_over(record: HarvestedRecord) -> None:
    content = manifest_of(record).read_bytes()
    for place in range(len(content)):
        flipped = bytearray(content)
        flipped[place] ^= 1 << place % 8
        try:
            members = json.loads(flipped)
        except ValueError:
            continue
        assert not is_as_written(bytes(flipped)) or "checksum" not in members
