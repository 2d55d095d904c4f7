"""Damage to a manifest as a file: missing, torn, not JSON, of another release."""

import os
import shutil

import pytest

from damage.cases import Box, breaks
from damage.pairtree import refuse


@breaks("S030")
def manifest_missing(box: Box) -> None:
    box.manifest.unlink()


@breaks("S030")
def manifest_missing_beside_that_of_a_later_change(box: Box) -> None:
    box.manifest.rename(box.record / "__manifest.json.new")


@breaks("S031")
def manifest_is_a_directory(box: Box) -> None:
    box.manifest.unlink()
    box.manifest.mkdir()


@breaks("S031")
def manifest_is_a_link(box: Box) -> None:
    box.manifest.rename(box.silo / "elsewhere.json")
    box.manifest.symlink_to(box.silo / "elsewhere.json")


@breaks("S031")
def manifest_is_a_pipe(box: Box) -> None:
    box.manifest.unlink()
    os.mkfifo(box.manifest)


@breaks("S032")
def manifest_refused(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, "open", box.manifest)


@breaks("S033")
def manifest_empty(box: Box) -> None:
    box.manifest.write_bytes(b"")


@breaks("S033")
def manifest_of_spaces(box: Box) -> None:
    box.manifest.write_bytes(b" \n" * 9)


@breaks("S034")
def manifest_torn(box: Box) -> None:
    box.manifest.write_bytes(box.manifest.read_bytes()[:-100])


@breaks("S034")
def manifest_of_zeros(box: Box) -> None:
    box.manifest.write_bytes(b"\0" * 4096)


@breaks("S034")
def manifest_not_utf8(box: Box) -> None:
    box.manifest.write_bytes(box.manifest.read_bytes().replace(b"said so", b"said \xff\xff"))


@breaks("S034")
def manifest_with_what_json_has_not(box: Box) -> None:
    box.set(metadata={"weight": float("nan")})


@breaks("S034")
def manifest_nested_without_end(box: Box) -> None:
    box.manifest.write_bytes(b"[" * 100_000)


@breaks("S035")
def manifest_is_a_list(box: Box) -> None:
    box.manifest.write_bytes(b"[]")


@breaks("S036")
def key_twice(box: Box) -> None:
    content = box.manifest.read_bytes()
    box.manifest.write_bytes(content.replace(b'"date"', b'"date": "2001-01-01",\n"date"', 1))


@breaks("S036")
def key_twice_within(box: Box) -> None:
    box.manifest.write_bytes(box.manifest.read_bytes().replace(b"uketd_dc", b"oai_dc"))


@breaks("S037")
def manifest_with_another_word(box: Box) -> None:
    box.manifest.write_bytes(box.manifest.read_bytes().replace(b"said so", b"said no"))


@breaks("S037")
def manifest_with_another_checksum(box: Box) -> None:
    content = box.manifest.read_bytes()
    box.manifest.write_bytes(content[:-10] + b"zzzzz" + content[-5:])


@breaks("S037")
def checksum_not_in_the_last_line(box: Box) -> None:
    members = box.members
    box.manifest.write_text(repr(members).replace("'", '"').replace("None", "null"))


@breaks("S038")
def checksum_missing(box: Box) -> None:
    lines = box.manifest.read_bytes().splitlines(keepends=True)
    box.manifest.write_bytes(b"".join(lines[:-2])[:-2] + b"\n}\n")


@breaks("S039")
def format_of_a_later_release(box: Box) -> None:
    box.set(format=2)


@breaks("S039")
def format_of_a_later_release_with_other_shapes(box: Box) -> None:
    box.set(format=3, digests=["in another file"])


@breaks("S040")
def previous_manifest_torn(box: Box) -> None:
    (box.record / "__manifest.json.prev").write_bytes(box.manifest.read_bytes()[:50])


@breaks("S040")
def previous_manifest_of_another_record(box: Box) -> None:
    other = box.record / "02/__manifest.json"
    shutil.copy(other, box.record / "__manifest.json.prev")
