"""Damage to the versions' files, and to what a curator says of versions."""

import os
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest

from damage.cases import Box, breaks
from damage.pairtree import refuse


@breaks("S082")
def version_missing(box: Box) -> None:
    shutil.rmtree(box.record / "__1")


@breaks("S083")
def empty_version_missing(box: Box) -> None:
    (box.record / "__empty").rmdir()


@breaks("S084")
def version_is_a_link(box: Box) -> None:
    (box.record / "__1").rename(box.silo / "elsewhere")
    (box.record / "__1").symlink_to(box.silo / "elsewhere")


@breaks("S084")
def version_is_a_file(box: Box) -> None:
    shutil.rmtree(box.record / "__1")
    (box.record / "__1").write_text("")


@breaks("S085")
def harvested_file_missing(box: Box) -> None:
    (box.record / "__1/oai_dc").unlink()


@breaks("S085")
def curated_file_missing(box: Box) -> None:
    (box.record / "__workingcopy/notes.txt").unlink()


@breaks("S085")
def directory_missing_with_its_file(box: Box) -> None:
    shutil.rmtree(box.record / "__workingcopy/docs")


@breaks("S085")
def file_of_the_nested_record_missing(box: Box) -> None:
    (box.record / "02/__1/oai_dc").unlink()


@breaks("S086")
def harvested_file_cut_off(box: Box) -> None:
    os.truncate(box.record / "__1/oai_dc", 5)


@breaks("S086")
def harvested_file_empty(box: Box) -> None:
    os.truncate(box.record / "__1/oai_dc", 0)


@breaks("S087")
def harvested_file_changed(box: Box) -> None:
    path = box.record / "__1/oai_dc"
    path.write_bytes(path.read_bytes().upper())


@breaks("S087")
def harvested_file_longer(box: Box) -> None:
    path = box.record / "__1/oai_dc"
    path.write_bytes(path.read_bytes() + b"\n")


@breaks("S087")
def harvested_file_of_zeros(box: Box) -> None:
    path = box.record / "__1/oai_dc"
    path.write_bytes(b"\0" * len(path.read_bytes()))


@breaks("S088")
def curated_file_edited(box: Box) -> None:
    (box.record / "__workingcopy/notes.txt").write_text("as edited!")


@breaks("S088")
def curated_file_shortened(box: Box) -> None:
    (box.record / "__workingcopy/docs/licence.txt").write_text("")


@breaks("S089")
def file_refused(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, "open", box.record / "__1/oai_dc")


@breaks("S090")
def directory_in_the_place_of_a_file(box: Box) -> None:
    (box.record / "__1/oai_dc").unlink()
    (box.record / "__1/oai_dc").mkdir()


@breaks("S091")
def pipe_in_the_place_of_a_file(box: Box) -> None:
    (box.record / "__1/oai_dc").unlink()
    os.mkfifo(box.record / "__1/oai_dc")


@breaks("S091")
def pipe_in_a_version(box: Box) -> None:
    os.mkfifo(box.record / "__workingcopy/docs/pipe")


@breaks("S091")
def socket_in_a_version(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(box.record / "__1")  # the name of a socket has at most 107 bytes
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")


@breaks("S092")
def link_that_dangles(box: Box) -> None:
    (box.record / "__1/oai_dc").unlink()
    (box.record / "__1/oai_dc").symlink_to("nowhere")


@breaks("S092")
def link_to_itself(box: Box) -> None:
    (box.record / "__workingcopy/notes.txt").unlink()
    (box.record / "__workingcopy/notes.txt").symlink_to("notes.txt")


@breaks("S093")
def link_out_of_the_silo(box: Box) -> None:
    path = box.record / "__1/oai_dc"
    path.rename(box.silo.parent / "oai_dc")
    path.symlink_to(box.silo.parent / "oai_dc")


@breaks("S093")
def directory_linked_out_of_the_silo(box: Box) -> None:
    path = box.record / "__workingcopy/docs"
    path.rename(box.silo.parent / "docs")
    path.symlink_to(box.silo.parent / "docs")


@breaks("S096")
def file_in_a_harvested_version(box: Box) -> None:
    (box.record / "__1/.DS_Store").write_text("")


@breaks("S096")
def file_in_a_harvested_version_that_is_no_text(box: Box) -> None:
    Path(os.fsdecode(os.fsencode(box.record / "__1") + b"/\xff")).write_text("")


@breaks("S097")
def file_in_a_curated_version(box: Box) -> None:
    (box.record / "__workingcopy/docs/notes.txt~").write_text("")


@breaks("S097")
def link_in_a_curated_version(box: Box) -> None:
    (box.record / "__workingcopy/link").symlink_to("notes.txt")


@breaks("S098")
def directory_in_a_version(box: Box) -> None:
    (box.record / "__workingcopy/drafts").mkdir()


@breaks("S099")
def empty_directory_of_a_version_missing(box: Box) -> None:
    def change(members: dict[str, Any]) -> None:
        members["files"]["workingcopy"].append("drafts")
        members["subdir"]["workingcopy"].append("drafts")

    box.rewrite(change)


@breaks("S100")
def states_not_an_object(box: Box) -> None:
    box.set(states=["ready"])


@breaks("S100")
def state_that_is_no_text(box: Box) -> None:
    box.set(states={"workingcopy": None})


@breaks("S106")
def history_not_an_object(box: Box) -> None:
    box.set(history=[])


@breaks("S106")
def history_with_a_step_without_a_time(box: Box) -> None:
    def change(members: dict[str, Any]) -> None:
        members["history"] = {"revision": members["revision"], "steps": [{"current": "1"}]}

    box.rewrite(change)


@breaks("S101")
def state_that_is_none(box: Box) -> None:
    box.set(states={"workingcopy": "finished"})


@breaks("S063")
def state_of_an_unknown_version(box: Box) -> None:
    box.set(states={"2": "ready"})
