"""Damage to single keys of a manifest."""

import os
import shutil
from typing import Any

import pytest

from damage.cases import CASES, Box, Break, breaks
from recordsilo.audit import record_check


@breaks("S041")
def item_id_missing(box: Box) -> None:
    box.rewrite(lambda members: members.pop("item_id"))


@breaks("S041")
def item_id_empty(box: Box) -> None:
    box.set(item_id="")


@breaks("S041")
def item_id_a_number(box: Box) -> None:
    box.set(item_id=6102)


@breaks("S042")
def manifest_of_another_record(box: Box) -> None:
    shutil.copy(box.record / "02/__manifest.json", box.manifest)


@breaks("S042")
def record_copied_to_another_place(box: Box) -> None:
    shutil.copytree(box.record / "02", box.record / "03")


@breaks("S043")
def versions_missing(box: Box) -> None:
    box.rewrite(lambda members: members.pop("versions"))


@breaks("S043")
def versions_an_object(box: Box) -> None:
    box.set(versions={"1": 1})


@breaks("S043")
def version_twice(box: Box) -> None:
    box.set(versions=["1", "workingcopy", "empty", "1"])


@breaks("S043")
def version_null(box: Box) -> None:
    box.set(versions=["1", "workingcopy", "empty", None])


@breaks("S044")
def version_leads_out(box: Box) -> None:
    box.set(versions=["1", "workingcopy", "empty", "../../.."])


@breaks("S044")
def version_without_a_name(box: Box) -> None:
    box.set(versions=["1", "workingcopy", "empty", ""])


def rename_version(box: Box, new: str) -> None:
    os.rename(box.record / "__empty", box.record / f"__{new}")

    def change(members: dict[str, Any]) -> None:
        members["versions"][-1] = new
        for value in members.values():
            if isinstance(value, dict) and "empty" in value:
                value[new] = value.pop("empty")

    box.rewrite(change)


@breaks("S045")
def version_with_a_control_character(box: Box) -> None:
    rename_version(box, "empty\tversion")


@breaks("S045")
def version_named_like_the_manifest(box: Box) -> None:
    rename_version(box, "manifest.json.old")


@breaks("S046")
def currentversion_missing(box: Box) -> None:
    box.rewrite(lambda members: members.pop("currentversion"))


@breaks("S046")
def currentversion_unknown(box: Box) -> None:
    box.set(currentversion="2")


@breaks("S047")
def date_missing(box: Box) -> None:
    box.rewrite(lambda members: members.pop("date"))


@breaks("S047")
def date_a_number(box: Box) -> None:
    box.set(date=2004)


SHAPES = {
    "S048": ("version_dates", 20040624),
    "S049": ("files", "oai_dc"),
    "S050": ("subdir", {"docs": True}),
    "S051": ("metadata_files", [1]),
    "S052": ("versionlog", "Created new data package"),
    "S056": ("digests", {"oai_dc": {"sha256": "0" * 64}}),
    "S057": ("origins", "harvest"),
}


def wrong_for_a_version(key: str, value: object) -> Break:
    return lambda box: box.rewrite(lambda members: members[key].update({"1": value}))


def wrong_as_a_whole(key: str, value: object) -> Break:
    return lambda box: box.set(**{key: value})


for _number, (_key, _value) in SHAPES.items():
    CASES[f"{_number}-{_key}-of-a-version"] = wrong_for_a_version(_key, _value)
    CASES[f"{_number}-{_key}-a-list"] = wrong_as_a_whole(_key, [])
    CASES[f"{_number}-{_key}-null"] = wrong_as_a_whole(_key, None)
CASES["S047-changed-a-number"] = wrong_as_a_whole("changed", 7)
CASES["S053-metadata-a-list"] = wrong_as_a_whole("metadata", ["a"])
CASES["S053-metadata-null"] = wrong_as_a_whole("metadata", None)
CASES["S054-format-a-text"] = wrong_as_a_whole("format", "1")
CASES["S054-format-true"] = wrong_as_a_whole("format", True)
CASES["S054-format-below-zero"] = wrong_as_a_whole("format", -1)
CASES["S055-revision-a-text"] = wrong_as_a_whole("revision", "7")
CASES["S055-revision-none-yet"] = wrong_as_a_whole("revision", 0)
CASES["S055-revision-a-fraction"] = wrong_as_a_whole("revision", 7.5)


def digest(box: Box, **changes: object) -> None:
    box.rewrite(lambda members: members["digests"]["1"]["oai_dc"].update(changes))


@breaks("S056")
def digest_in_capitals(box: Box) -> None:
    digest(box, sha256="A" * 64)


@breaks("S056")
def digest_too_short(box: Box) -> None:
    digest(box, sha256="0" * 63)


@breaks("S056")
def digest_of_a_size_below_zero(box: Box) -> None:
    digest(box, size=-1)


@breaks("S056")
def digest_of_a_size_true(box: Box) -> None:
    digest(box, size=True)


def origin(box: Box, version: str, **changes: object) -> None:
    box.rewrite(lambda members: members["origins"][version].update(changes))


@breaks("S057")
def origin_with_a_list_of_prefixes(box: Box) -> None:
    origin(box, "1", prefixes=["oai_dc"])


@breaks("S057")
def origin_with_a_number_as_agent(box: Box) -> None:
    origin(box, "1", agent=4711)


def pending(box: Box, renames: object = (), unlinks: object = ()) -> None:
    box.set(pending={"renames": renames, "unlinks": unlinks})


@breaks("S058")
def pending_a_list(box: Box) -> None:
    box.set(pending=["__1/oai_dc"])


@breaks("S058")
def pending_without_unlinks(box: Box) -> None:
    box.set(pending={"renames": []})


@breaks("S058")
def pending_rename_of_three(box: Box) -> None:
    pending(box, renames=[["__1/a", "__1/b", "__1/c"]])


@breaks("S058")
def pending_unlink_without_a_time(box: Box) -> None:
    pending(box, unlinks=[["__1/oai_dc", 17]])


@breaks("S059")
def pending_rename_leads_out(box: Box) -> None:
    pending(box, renames=[["__1/../../../x", "__1/oai_dc"]])


@breaks("S059")
def pending_unlink_leads_out(box: Box) -> None:
    pending(box, unlinks=[["/etc/passwd", 1, 1]])


@breaks("S059")
def pending_unlink_of_the_manifest(box: Box) -> None:
    pending(box, unlinks=[["__manifest.json", -1, -1]])


@breaks("S059")
def pending_unlink_of_a_nested_record(box: Box) -> None:
    pending(box, unlinks=[["02", -1, -1]])


@breaks("S060")
def digest_of_a_path_that_leads_out(box: Box) -> None:
    box.rewrite(lambda members: members["digests"]["1"].update({"../../../x": None}))


@breaks("S060")
def file_that_leads_out(box: Box) -> None:
    box.rewrite(lambda members: members["files"]["1"].append(".."))


@breaks("S061")
def file_with_a_control_character(box: Box) -> None:
    (box.record / "__1/a\nb").write_bytes(b"")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    def change(members: dict[str, Any]) -> None:
        members["files"]["1"].append("a\nb")
        members["digests"]["1"]["a\nb"] = {"sha256": empty, "size": 0}

    box.rewrite(change)


@breaks("S062")
def refused_by_the_store_alone(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    real = record_check.from_json

    def refuse(content: bytes, path: str) -> Any:
        if box.identifier.encode() + b'"' in content:
            raise record_check.ManifestUnreadable(path, "of its own reasons")
        return real(content, path)

    monkeypatch.setattr(record_check, "from_json", refuse)
