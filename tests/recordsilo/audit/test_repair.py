"""Damage is repaired if no guess is needed, else left; no stored data is destroyed."""

import contextlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recordsilo import Origin, Silo
from recordsilo.audit import Audit, Code
from recordsilo.audit.repair import MendedFinding, SiloRepair
from recordsilo.disk.identifier import ppath

Box = Any
Snapshot = Callable[[Path], dict[str, tuple[int, bytes]]]


def repair(box: Box, **options: Any) -> tuple[list[str], list[str]]:
    """The numbers of what was mended and of what is left."""
    outcomes = list(SiloRepair(str(box.silo), **options).run())
    mended = [one.finding.code.number for one in outcomes if isinstance(one, MendedFinding)]
    left = [one.code.number for one in outcomes if not isinstance(one, MendedFinding)]
    return mended, left


def check(box: Box) -> list[str]:
    return [finding.code.number for finding in Audit(str(box.silo)).findings()]


def lost_and_found(box: Box) -> dict[str, bytes]:
    """Path below the one moment of the repair → content."""
    (moment,) = (box.silo / "lost+found").iterdir()
    return {
        str(path.relative_to(moment)): path.read_bytes()
        for path in moment.rglob("*")
        if path.is_file()
    }


def test_a_whole_silo_is_left_as_it_is(box: Box, snapshot: Snapshot) -> None:
    before = snapshot(box.silo)
    assert repair(box) == ([], [])
    assert snapshot(box.silo) == before


def test_an_orphan_version_is_moved_to_lost_and_found(box: Box) -> None:
    (box.record / "__2/docs").mkdir(parents=True)
    (box.record / "__2/docs/a.txt").write_text("kept")
    assert repair(box) == (["S081"], [])
    name = f"pairtree_root/{ppath(box.identifier)}/__2/docs/a.txt"
    assert lost_and_found(box) == {name: b"kept"}
    assert check(box) == []


def test_what_was_staged_is_moved_to_lost_and_found(box: Box) -> None:
    (box.record / "__1/.silo-1-2.tmp").write_text("half")
    (box.record / "__.silo-1-3.tmp").mkdir()
    (box.record / "__.silo-1-3.tmp/oai_dc").write_text("whole")
    (box.silo / "persisted_state.json.1-aa.tmp").write_text("{")
    os.utime(box.silo / "persisted_state.json.1-aa.tmp", (0, 0))
    assert sorted(repair(box)[0]) == ["S011", "S079", "S080"]
    assert sorted(lost_and_found(box).values()) == [b"half", b"whole", b"{"]
    assert check(box) == []


def test_a_change_that_was_not_committed_is_swept_whole(box: Box) -> None:
    content = box.manifest.read_bytes()
    with Silo(str(box.silo), create=False) as silo:
        silo[box.identifier].clone_version("1", "later")
    box.manifest.rename(box.record / "__manifest.json.new")
    box.manifest.write_bytes(content)
    box.drop_index()
    assert repair(box) == (["S074"], [])
    assert {path.rpartition("/")[2] for path in lost_and_found(box)} == {
        "__manifest.json.new", "oai_dc", "uketd_dc",
    }  # fmt: skip
    assert not (box.record / "__later").exists()
    assert check(box) == []


def test_a_creation_that_was_not_committed_is_swept_with_its_directories(box: Box) -> None:
    with Silo(str(box.silo), create=False) as silo:
        silo.get_item("new:record").put_stream("a.txt", "a")
    box.drop_index()
    place = box.silo / "pairtree_root" / ppath("new:record")
    (place / "__manifest.json").rename(place / "__manifest.json.new")
    members = json.loads((place / "__manifest.json.new").read_bytes())
    assert members["revision"] == 1
    assert repair(box) == (["S075"], [])
    assert not (box.silo / "pairtree_root/ne").exists()
    assert b"a" in lost_and_found(box).values()
    assert check(box) == []


def test_a_deletion_is_finished(box: Box) -> None:
    box.manifest.rename(box.record / "__manifest.json.deleted")
    mended, left = repair(box)
    assert (mended, left) == (["S076", "S112"], [])
    assert not (box.record / "__1").exists()
    assert not (box.silo / "lost+found").exists()
    with Silo(str(box.silo), create=False) as silo:
        assert silo.keys() == ["oai:example.org:1202"]
    assert check(box) == []


def test_pending_renames_and_unlinks_are_carried_out(box: Box) -> None:
    notes = box.record / "__workingcopy/notes.txt"
    notes.rename(box.record / "__workingcopy/.silo-1-2.tmp")
    old = box.record / "__workingcopy/old.txt"
    old.write_text("old")
    box.set(
        pending={
            "renames": [["__workingcopy/.silo-1-2.tmp", "__workingcopy/notes.txt"]],
            "unlinks": [["__workingcopy/old.txt", 3, old.stat().st_mtime_ns]],
        }
    )
    assert repair(box) == (["S078"], [])
    assert notes.read_text() == "as curated"
    assert not old.exists()
    assert check(box) == []


def test_empty_directories_are_removed(box: Box) -> None:
    (box.record.parent / "zz/zz/z").mkdir(parents=True)
    (box.record.parent / "zz/yy").mkdir()
    assert repair(box) == (["S024", "S024"], [])
    assert not (box.record.parent / "zz").exists()


def test_files_by_which_a_silo_is_known_are_written_again(box: Box) -> None:
    (box.silo / "pairtree_version0_1").unlink()
    (box.silo / "pairtree_prefix").unlink()
    assert repair(box) == (["S001", "S003"], [])
    assert (box.silo / "pairtree_prefix").read_text() == "http://example.org/oai"
    assert check(box) == []


def test_a_prefix_nobody_knows_is_not_written(box: Box) -> None:
    (box.silo / "pairtree_prefix").unlink()
    (box.silo / "persisted_state.json").unlink()
    assert repair(box) == ([], ["S007", "S003"])


def test_an_index_out_of_step_is_made_anew(box: Box) -> None:
    shutil.rmtree(box.record / "02")
    box.set(metadata={"setSpec": ["c"]})
    assert sorted(repair(box)[0]) == ["S112", "S113"]
    assert check(box) == []
    with Silo(str(box.silo), create=False) as silo:
        assert silo.set_counts() == {"c": 1}


@pytest.mark.parametrize("column", ["flags", "title"])
def test_rows_that_are_wrong_though_their_manifests_are_known_are_made_anew(
    box: Box, column: str
) -> None:
    with contextlib.closing(sqlite3.connect(box.silo / ".silo/index.sqlite")) as connection:
        connection.execute(f"UPDATE entry SET {column} = 77")
        connection.commit()
    assert set(repair(box)[0]) == {{"flags": "S113", "title": "S114"}[column]}
    assert check(box) == []


def test_a_damaged_index_is_made_anew(box: Box) -> None:
    (box.silo / ".silo/index.sqlite").write_text("not a database at all, " * 100)
    assert repair(box) == (["S110"], [])
    assert check(box) == []


def test_an_empty_directory_in_a_version_that_none_lists_is_removed(box: Box) -> None:
    (box.record / "__workingcopy/new/deep").mkdir(parents=True)
    assert "S098" in repair(box, dry_run=True)[0]
    assert (box.record / "__workingcopy/new/deep").is_dir()
    mended, left = repair(box)
    assert (set(mended), left) == ({"S098"}, [])
    assert not (box.record / "__workingcopy/new").exists()
    assert check(box) == []


def test_a_torn_manifest_is_restored_from_its_previous_copy_and_kept(box: Box) -> None:
    previous, revision = box.record / "__manifest.json.prev", box.members["revision"]
    kept = box.manifest.read_bytes()
    with Silo(str(box.silo), create=False) as silo, silo.editing(box.identifier) as edit:
        edit.put("workingcopy", "notes.txt", b"written last")
        edit.derive_version(
            "1", "later", date="2004-06-24", origin=Origin("clone", of="1"), log="cloned"
        )
    torn = box.manifest.read_bytes()[:-200]
    box.manifest.write_bytes(torn)
    outcomes = list(SiloRepair(str(box.silo)).run())
    (restored,) = [one for one in outcomes if isinstance(one, MendedFinding)]
    assert restored.finding.code is Code.MANIFEST_NOT_JSON
    assert f"revision {revision};" in restored.done
    left = {one.code for one in outcomes if not isinstance(one, MendedFinding)}
    assert left == {Code.EDITED_OUTSIDE, Code.ORPHAN_VERSION}
    assert box.manifest.read_bytes() == previous.read_bytes() == kept
    assert torn in lost_and_found(box).values()
    assert (box.record / "__later/oai_dc").exists()
    with Silo(str(box.silo), create=False) as silo:
        assert silo[box.identifier].versions == ["1", "workingcopy", "empty"]
        assert len(silo) == 2


def test_a_missing_manifest_is_restored_from_its_previous_copy(box: Box) -> None:
    box.manifest.replace(box.record / "__manifest.json.prev")
    assert repair(box)[0] == ["S030"]
    assert check(box) == []


def test_a_torn_manifest_without_a_copy_is_left(box: Box, snapshot: Snapshot) -> None:
    box.manifest.write_bytes(b"{")
    (box.record / "__manifest.json.prev").unlink()
    before = snapshot(box.silo)
    assert repair(box) == ([], ["S034"])
    assert snapshot(box.silo) == before


def test_a_copy_that_is_damaged_itself_is_not_restored(box: Box) -> None:
    content = box.manifest.read_bytes()
    flipped = content.replace(b"said so", b"said no")
    (box.record / "__manifest.json.prev").write_bytes(flipped)
    box.manifest.write_bytes(b"")
    mended, left = repair(box)
    assert mended == []
    assert sorted(left) == ["S033", "S040"]


def test_what_would_need_a_guess_is_left(box: Box, snapshot: Snapshot) -> None:
    box.drop_index()
    (box.record / "__1/oai_dc").unlink()
    (box.record / "__workingcopy/notes.txt").write_text("edited, and longer than before")
    (box.record / "__workingcopy/added.txt").write_text("added")
    (box.record.parent / "stray.txt").write_text("stray")
    before = snapshot(box.silo)
    mended, left = repair(box)
    assert mended == []
    assert sorted(left) == ["S020", "S085", "S088", "S097"]
    assert snapshot(box.silo) == before


def test_a_dry_run_says_the_same_and_changes_nothing(box: Box, snapshot: Snapshot) -> None:
    box.manifest.rename(box.record / "__manifest.json.prev")
    (box.record / "02/__1/.silo-1-2.tmp").write_text("half")
    (box.record / "02/__9").mkdir()
    (box.record.parent / "zz/zz").mkdir(parents=True)
    (box.record.parent / "stray.txt").write_text("stray")
    (box.silo / "pairtree_prefix").unlink()
    before = snapshot(box.silo)
    said = repair(box, dry_run=True)
    assert snapshot(box.silo) == before
    assert sorted(said[0]) == ["S003", "S024", "S030", "S079", "S081"]
    assert said[1] == ["S020"]
    assert repair(box) == said
    assert check(box) == ["S020"]


def test_a_repair_twice_keeps_both_moments(box: Box) -> None:
    for _ in range(2):
        (box.record / "__2").mkdir()
        assert repair(box) == (["S081"], [])
    assert len(list((box.silo / "lost+found").iterdir())) == 2


def test_records_of_2010_are_left_as_they_are(box_2010: Box, snapshot: Snapshot) -> None:
    before = snapshot(box_2010.silo)
    assert repair(box_2010) == ([], [])
    assert snapshot(box_2010.silo) == before
