"""Damage to the pairtree: what is in it and may not be, or is not a record."""

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from damage.cases import Box, breaks
from recordsilo.audit import reading


@breaks("S020")
def file_among_the_shorties(box: Box) -> None:
    (box.record.parent / "README").write_text("")


@breaks("S020")
def file_with_a_short_name_in_the_root(box: Box) -> None:
    (box.silo / "pairtree_root/oi").write_text("")


@breaks("S021")
def directory_with_a_long_name(box: Box) -> None:
    (box.record.parent / "6102/oai_dc").mkdir(parents=True)


@breaks("S021")
def version_directory_in_the_root(box: Box) -> None:
    (box.silo / "pairtree_root/__1").mkdir()


@breaks("S022")
def directory_that_is_no_text(box: Box) -> None:
    os.mkdir(os.fsencode(box.record.parent) + b"/\xff\xfe")


@breaks("S022")
def directory_that_cleaning_never_gives(box: Box) -> None:
    (box.record.parent / "a*").mkdir()


@breaks("S023")
def link_to_a_directory(box: Box) -> None:
    (box.record.parent / "zz").symlink_to(box.record)


@breaks("S023")
def pipe_in_the_pairtree(box: Box) -> None:
    os.mkfifo(box.record.parent / "zz")


@breaks("S024")
def empty_directories(box: Box) -> None:
    (box.record.parent / "zz/zz/z").mkdir(parents=True)


def refuse(monkeypatch: pytest.MonkeyPatch, name: str, path: Path) -> None:
    """Let the medium refuse one path (as root, no mode does)."""
    real = getattr(os, name)

    def refusing(where: Any, *rest: Any, **more: Any) -> Any:
        if isinstance(where, str) and os.path.normpath(where) == str(path):
            raise OSError(errno.EIO, os.strerror(errno.EIO), where)
        return real(where, *rest, **more)

    monkeypatch.setattr(reading.os, name, refusing)


@breaks("S025")
def directory_of_the_pairtree_refused(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, "scandir", box.record.parent)


@breaks("S025")
def directory_in_a_version_refused(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, "scandir", box.record / "__workingcopy/docs")


@breaks("S026")
def record_with_a_short_part_amid_its_path(box: Box) -> None:
    shutil.copytree(box.record, box.silo / "pairtree_root/a/bc")


@breaks("S026")
def record_at_half_an_escape(box: Box) -> None:
    shutil.copytree(box.record / "__1", box.silo / "pairtree_root/a^/zz/__1")


@breaks("S027")
def copy_of_a_manifest(box: Box) -> None:
    shutil.copy(box.manifest, box.record / "__manifest.json~")


@breaks("S027")
def link_named_like_a_version(box: Box) -> None:
    (box.record / "__3").symlink_to("__1")
