"""Damage to the Silo's own files."""

import os
import shutil

from damage.cases import Box, breaks


@breaks("S001")
def version_file_missing(box: Box) -> None:
    (box.silo / "pairtree_version0_1").unlink()


@breaks("S002")
def version_file_of_another_kind(box: Box) -> None:
    (box.silo / "pairtree_version0_1").write_text("This directory conforms to Pairtree 0.2")


@breaks("S002")
def version_file_with_a_flipped_bit(box: Box) -> None:
    path = box.silo / "pairtree_version0_1"
    path.write_bytes(path.read_bytes().replace(b"Pairtree", b"Pairtreg"))


@breaks("S003")
def prefix_missing(box: Box) -> None:
    (box.silo / "pairtree_prefix").unlink()


@breaks("S004")
def prefix_of_another_silo(box: Box) -> None:
    (box.silo / "pairtree_prefix").write_text("http://example.net/oai")


@breaks("S005")
def root_missing(box: Box) -> None:
    shutil.rmtree(box.silo / "pairtree_root")


@breaks("S005")
def root_is_a_file(box: Box) -> None:
    shutil.rmtree(box.silo / "pairtree_root")
    (box.silo / "pairtree_root").write_text("")


@breaks("S006")
def state_torn(box: Box) -> None:
    (box.silo / "persisted_state.json").write_text('{"uri_base": "http')


@breaks("S006")
def state_is_a_list(box: Box) -> None:
    (box.silo / "persisted_state.json").write_text("[]")


@breaks("S006")
def state_is_a_directory(box: Box) -> None:
    (box.silo / "persisted_state.json").unlink()
    (box.silo / "persisted_state.json").mkdir()


@breaks("S007")
def state_missing(box: Box) -> None:
    (box.silo / "persisted_state.json").unlink()


@breaks("S008")
def harvester_state_empty(box: Box) -> None:
    (box.silo / "oaipmh_harvester.json").write_text("")


def removals(box: Box, text: str) -> None:
    (box.silo / "curation").mkdir()
    (box.silo / "curation/removed.jsonl").write_text(text)


@breaks("S009")
def removal_not_json(box: Box) -> None:
    removals(box, '{"identifier": "a", "removed": true}\nremoved b\n')


@breaks("S009")
def removal_of_nothing(box: Box) -> None:
    removals(box, '{"identifier": "", "removed": true}\n')


@breaks("S009")
def removal_without_a_decision(box: Box) -> None:
    removals(box, '{"identifier": "a", "removed": "yes"}\n')


@breaks("S010")
def removal_not_written_whole(box: Box) -> None:
    removals(box, '{"identifier": "a", "removed": true}\n{"identif')


@breaks("S011")
def state_left_over(box: Box) -> None:
    path = box.silo / "persisted_state.json.4711-00ff00ff.tmp"
    path.write_text("{")
    os.utime(path, (0, 0))
