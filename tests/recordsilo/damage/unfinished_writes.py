"""What writes that broke off left behind."""

import shutil

from damage.cases import Box, breaks
from damage.manifest_keys import pending


@breaks("S074")
def staged_manifest_torn(box: Box) -> None:
    (box.record / "__manifest.json.new").write_bytes(b"{")


def stage_a_change(box: Box) -> None:
    """What a writer leaves that is killed right before its commit."""
    (box.record / "__2").mkdir()
    (box.record / "__2/oai_dc").write_text("new")
    (box.record / "__workingcopy/.silo-1-2.tmp").write_text("new")
    members, content = box.members, box.manifest.read_bytes()
    members["revision"] += 1
    members["versions"].append("2")
    members["pending"] = {
        "renames": [["__workingcopy/.silo-1-2.tmp", "__workingcopy/notes.txt"]],
        "unlinks": [],
    }
    box.set(**members)
    box.manifest.rename(box.record / "__manifest.json.new")
    box.manifest.write_bytes(content)


@breaks("S074")
def change_staged(box: Box) -> None:
    stage_a_change(box)


@breaks("S075")
def first_change_staged(box: Box) -> None:
    box.set(revision=1)
    box.manifest.rename(box.record / "__manifest.json.new")


@breaks("S075")
def first_change_staged_torn(box: Box) -> None:
    box.manifest.unlink()
    (box.record / "__manifest.json.new").write_bytes(b"{")


@breaks("S076")
def deletion_unfinished(box: Box) -> None:
    box.manifest.rename(box.record / "__manifest.json.deleted")


@breaks("S077")
def deletion_mark_beside_a_record(box: Box) -> None:
    shutil.copy(box.manifest, box.record / "__manifest.json.deleted")


@breaks("S078")
def rename_of_a_file_to_be_done(box: Box) -> None:
    notes = box.record / "__workingcopy/notes.txt"
    notes.rename(box.record / "__workingcopy/.silo-1-2.tmp")
    notes.write_text("the old ones, to be replaced")
    pending(box, renames=[["__workingcopy/.silo-1-2.tmp", "__workingcopy/notes.txt"]])


@breaks("S078")
def rename_of_a_version_to_be_done(box: Box) -> None:
    (box.record / "__workingcopy").rename(box.record / "__draft")
    pending(box, renames=[["__draft", "__workingcopy"]])


@breaks("S078")
def unlink_of_a_file_to_be_done(box: Box) -> None:
    path = box.record / "__workingcopy/old.txt"
    path.write_text("old")
    pending(box, unlinks=[["__workingcopy/old.txt", 3, path.stat().st_mtime_ns]])


@breaks("S078")
def removal_of_a_version_to_be_done(box: Box) -> None:
    shutil.copytree(box.record / "__1", box.record / "__old")
    pending(box, unlinks=[["__old", -1, -1]])


@breaks("S079")
def staged_file(box: Box) -> None:
    (box.record / "__1/.silo-4711-0.tmp").write_text("half")


@breaks("S080")
def staged_version(box: Box) -> None:
    (box.record / "__.silo-4711-0.tmp").mkdir()


@breaks("S081")
def orphan_version(box: Box) -> None:
    shutil.copytree(box.record / "__1", box.record / "__2")
