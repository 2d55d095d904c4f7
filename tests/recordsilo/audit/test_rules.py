"""Each rule: a Silo damaged in one way yields the code of that rule and no other.

One directory for each case, named by its code, made by a function of that name.
"""

import contextlib
import errno
import json
import os
import shutil
import socket
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recordsilo import Silo
from recordsilo.audit import Audit, Code, Severity, reading, record_check
from recordsilo.audit.findings import table
from recordsilo.index import words

Box = Any  # conftest.Box, which --import-mode=importlib keeps from being imported
Break = Callable[..., object]
CASES: dict[str, Break] = {}
DOCS = Path(__file__).parents[3] / "docs"
BY_NUMBER = {code.number: code for code in Code}


def breaks(number: str) -> Callable[[Break], Break]:
    def register(function: Break) -> Break:
        CASES[f"{number}-{function.__name__.replace('_', '-')}"] = function
        return function

    return register


def codes_of(silo: Path) -> list[str]:
    return sorted(finding.code.number for finding in Audit(str(silo)).findings())


# -- the Silo's own files -----------------------------------------------------------------


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


# -- the pairtree -------------------------------------------------------------------------


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


# -- the manifest, as a file --------------------------------------------------------------


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


# -- the manifest, key by key -------------------------------------------------------------


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


# -- the manifest, key against key --------------------------------------------------------


@breaks("S063")
def log_of_a_version_that_is_none(box: Box) -> None:
    box.rewrite(lambda members: members["versionlog"].update({"9": []}))


@breaks("S063")
def digests_of_a_version_that_is_none(box: Box) -> None:
    box.rewrite(lambda members: members["digests"].update({"9": {}}))


@breaks("S064")
def files_of_a_version_missing(box: Box) -> None:
    box.rewrite(lambda members: members["files"].pop("1"))


@breaks("S065")
def digests_of_a_version_missing(box: Box) -> None:
    box.rewrite(lambda members: members["digests"].pop("empty"))


@breaks("S066")
def file_without_a_digest(box: Box) -> None:
    box.rewrite(lambda members: members["files"]["empty"].append("oai_dc"))


@breaks("S066")
def digest_without_a_file(box: Box) -> None:
    box.rewrite(lambda members: members["files"]["1"].remove("oai_dc"))


@breaks("S067")
def directory_not_in_subdir(box: Box) -> None:
    box.rewrite(lambda members: members["subdir"]["workingcopy"].clear())


@breaks("S067")
def directory_not_in_files(box: Box) -> None:
    box.rewrite(lambda members: members["files"]["workingcopy"].remove("docs"))


@breaks("S068")
def metadata_that_is_no_file(box: Box) -> None:
    box.rewrite(lambda members: members["metadata_files"]["1"].append("mods"))


@breaks("S069")
def date_of_a_version_not_a_date(box: Box) -> None:
    box.rewrite(lambda members: members["version_dates"].update({"1": "in summer"}))


@breaks("S069")
def date_of_a_version_missing(box: Box) -> None:
    box.rewrite(lambda members: members["version_dates"].pop("1"))


@breaks("S069")
def date_of_a_prefix_not_a_date(box: Box) -> None:
    origin(box, "1", prefixes={"oai_dc": "2004-13-24T00:00:00"})


@breaks("S069")
def date_of_an_origin_not_a_date(box: Box) -> None:
    origin(box, "workingcopy", date="yesterday")


@breaks("S070")
def date_of_the_record_another(box: Box) -> None:
    box.set(date="1999-01-01T00:00:00")


@breaks("S071")
def origin_of_a_version_missing(box: Box) -> None:
    box.rewrite(lambda members: members["origins"].pop("1"))


@breaks("S072")
def origin_of_an_unknown_kind(box: Box) -> None:
    origin(box, "1", kind="found")


@breaks("S072")
def origin_of_no_kind(box: Box) -> None:
    box.rewrite(lambda members: members["origins"]["1"].pop("kind"))


@breaks("S073")
def clone_of_no_version(box: Box) -> None:
    origin(box, "workingcopy", of="7")


@breaks("S073")
def clone_of_itself(box: Box) -> None:
    origin(box, "workingcopy", of="workingcopy")


@breaks("S073")
def clone_without_an_original(box: Box) -> None:
    box.rewrite(lambda members: members["origins"]["workingcopy"].pop("of"))


def rename_in(members: dict[str, Any], old: str, new: str) -> None:
    """Give a version another name, wherever the manifest has it."""
    members["versions"] = [new if name == old else name for name in members["versions"]]
    members["currentversion"] = members["currentversion"].replace(old, new)
    for key, found in members.items():
        if isinstance(found, dict) and key != "metadata":
            members[key] = {new if name == old else name: one for name, one in found.items()}


@breaks("S102")
def version_longer_than_a_directory_may_be(box: Box) -> None:
    box.rewrite(lambda members: rename_in(members, "workingcopy", "x" * 254))


@breaks("S102")
def version_of_half_a_character(box: Box) -> None:
    box.rewrite(lambda members: rename_in(members, "workingcopy", "\udc80"))


def rename_file_in(members: dict[str, Any], new: str) -> None:
    members["files"]["workingcopy"] = [new]
    members["metadata_files"]["workingcopy"] = [new]
    members["subdir"]["workingcopy"] = []
    members["digests"]["workingcopy"] = {new: None}


@breaks("S103")
def file_longer_than_a_name_may_be(box: Box) -> None:
    box.rewrite(lambda members: rename_file_in(members, "é" * 128))


@breaks("S103")
def file_of_half_a_character(box: Box) -> None:
    box.rewrite(lambda members: rename_file_in(members, "\ud800"))


@breaks("S104")
def nested_too_deep(box: Box) -> None:
    deep: list[Any] = []
    for _ in range(70):
        deep = [deep]
    box.set(metadata={"deep": deep})


@breaks("S055")
def revision_beyond_what_a_database_counts(box: Box) -> None:
    box.set(revision=1 << 63)


@breaks("S054")
def format_beyond_what_a_database_counts(box: Box) -> None:
    box.set(format=1 << 64)


@breaks("S056")
def size_beyond_what_a_database_counts(box: Box) -> None:
    digest = {"sha256": "0" * 64, "size": 1 << 63}
    box.rewrite(lambda members: members["digests"]["workingcopy"].update(oai_dc=digest))


@breaks("S034")
def number_that_is_infinite(box: Box) -> None:
    content = box.manifest.read_bytes()
    box.manifest.write_bytes(content.replace(b'"revision"', b'"large": 1e999,\n"revision"'))


# -- what broken-off writes left ----------------------------------------------------------


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


# -- the versions' files ------------------------------------------------------------------


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


# -- what 2010 left -----------------------------------------------------------------------

OF_2010: dict[str, Break] = {}


def breaks_2010(number: str) -> Callable[[Break], Break]:
    def register(function: Break) -> Break:
        OF_2010[f"{number}-{function.__name__.replace('_', '-')}"] = function
        return function

    return register


@breaks_2010("S094")
def delta_clone_of_a_silo_that_was_moved(box: Box) -> None:
    (box.record / "__delta/oai_dc").unlink()
    (box.record / "__delta/oai_dc").symlink_to("/srv/old-silo/pairtree_root/oai_dc")


@breaks_2010("S095")
def delta_clone_of_a_silo_that_was_copied(box: Box) -> None:
    (box.silo.parent / "oai_dc").write_text("the original's")
    (box.record / "__delta/oai_dc").unlink()
    (box.record / "__delta/oai_dc").symlink_to(box.silo.parent / "oai_dc")


@breaks_2010("S085")
def file_missing_in_2010(box: Box) -> None:
    (box.record.parent / "61/__2/oai_dc").unlink()


@breaks_2010("S034")
def manifest_torn_in_2010(box: Box) -> None:
    box.manifest.write_bytes(box.manifest.read_bytes()[:300])


@breaks_2010("S064")
def files_of_a_version_missing_in_2010(box: Box) -> None:
    manifest = box.record.parent / "go/ne/__manifest.json"
    members = json.loads(manifest.read_text())
    del members["files"]["1"]
    manifest.write_text(json.dumps(members))


# -- what a curator says of versions --------------------------------------------------------


@breaks("S100")
def states_not_an_object(box: Box) -> None:
    box.set(states=["ready"])


@breaks("S100")
def state_that_is_no_text(box: Box) -> None:
    box.set(states={"workingcopy": None})


@breaks("S101")
def state_that_is_none(box: Box) -> None:
    box.set(states={"workingcopy": "finished"})


@breaks("S063")
def state_of_an_unknown_version(box: Box) -> None:
    box.set(states={"2": "ready"})


# -- the index ----------------------------------------------------------------------------

OF_INDEX: dict[str, Break] = {}


def breaks_index(number: str) -> Callable[[Break], Break]:
    def register(function: Break) -> Break:
        OF_INDEX[f"{number}-{function.__name__.replace('_', '-')}"] = function
        return function

    return register


@breaks_index("S110")
def index_is_no_database(box: Box) -> None:
    (box.silo / ".silo/index.sqlite").write_text("not a database at all, " * 100)


@breaks_index("S111")
def record_copied_in_by_hand(box: Box) -> None:
    other = box.record.parent / "99"
    shutil.copytree(box.record / "02", other)
    place = type(box)(box.silo, "oai:example.org:99")
    assert place.record == other
    place.set(item_id="oai:example.org:99")


@breaks_index("S112")
def record_removed_by_hand(box: Box) -> None:
    shutil.rmtree(box.record / "02")


@breaks_index("S113")
def record_changed_by_hand(box: Box) -> None:
    box.set(metadata={"setSpec": ["c"]})


def in_index(box: Box, statement: str) -> None:
    """Change the index as no writer does."""
    with contextlib.closing(sqlite3.connect(box.silo / ".silo/index.sqlite")) as connection:
        changed = connection.execute(statement, {"identifier": box.identifier})
        assert changed.rowcount == 1
        connection.commit()


@breaks_index("S113")
def flags_of_a_row_changed(box: Box) -> None:
    in_index(box, "UPDATE record SET flags = flags + 16 WHERE identifier = :identifier")


@breaks_index("S113")
def seconds_of_a_row_changed(box: Box) -> None:
    in_index(box, "UPDATE record SET seconds = seconds + 1 WHERE identifier = :identifier")


@breaks_index("S113")
def set_of_a_record_lost(box: Box) -> None:
    in_index(box, "DELETE FROM record_set WHERE identifier = :identifier AND set_spec = 'a'")


@breaks_index("S114")
def title_of_a_row_changed(box: Box) -> None:
    in_index(box, "UPDATE record SET title = 'Another' WHERE identifier = :identifier")


@breaks_index("S114")
def facets_of_a_row_lost(box: Box) -> None:
    in_index(box, "UPDATE record SET facets = x'' WHERE identifier = :identifier")


@breaks_index("S114")
def facet_that_means_nothing(box: Box) -> None:
    in_index(box, "UPDATE record SET facets_large = x'ffffff7f' WHERE identifier = :identifier")


@breaks_index("S114")
def text_of_a_record_changed(box: Box) -> None:
    in_index(
        box,
        "UPDATE text SET title = 'Another' "
        "WHERE rowid = (SELECT id FROM record WHERE identifier = :identifier)",
    )
    with contextlib.closing(sqlite3.connect(box.silo / ".silo/index.sqlite")) as connection:
        connection.execute("INSERT INTO recent (recent) VALUES ('delete-all')")
        connection.execute(
            f"INSERT INTO recent (rowid, words) SELECT rowid, {words.ALL_TEXT} FROM text"
        )
        connection.commit()


@breaks_index("S114")
def text_of_a_record_lost(box: Box) -> None:
    in_index(
        box,
        "DELETE FROM text WHERE rowid = (SELECT id FROM record WHERE identifier = :identifier)",
    )


@breaks_index("S110")
def order_of_titles_lost(box: Box) -> None:
    with contextlib.closing(sqlite3.connect(box.silo / ".silo/index.sqlite")) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        rooted = "(SELECT rootpage FROM sqlite_schema WHERE name = 'record_change')"
        connection.execute(
            f"UPDATE sqlite_schema SET rootpage = {rooted} WHERE name = 'record_title'"
        )
        connection.commit()


@breaks_index("S115")
def words_of_another_text(box: Box) -> None:
    """The full text is made of other texts than it holds now."""
    with contextlib.closing(sqlite3.connect(box.silo / ".silo/index.sqlite")) as connection:
        kept = connection.execute("SELECT id, c0 FROM text_content").fetchall()
        connection.execute("UPDATE text_content SET c0 = 'Another title'")
        connection.execute("INSERT INTO text (text) VALUES ('rebuild')")
        connection.executemany("UPDATE text_content SET c0 = ?2 WHERE id = ?1", kept)
        connection.commit()


@breaks_index("S115")
def recent_words_of_another_text(box: Box) -> None:
    in_index(box, "INSERT INTO recent (recent) VALUES ('delete-all')")


@breaks_index("S115")
def number_of_records_miscounted(box: Box) -> None:
    in_index(box, "UPDATE about SET value = value + 1 WHERE key = 'records'")


@breaks_index("S115")
def set_of_no_record(box: Box) -> None:
    in_index(box, "INSERT INTO record_set VALUES ('z', 'nobody')")


# -- the tests ----------------------------------------------------------------------------


def apply(case: Break, box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = case.__code__.co_varnames[: case.__code__.co_argcount]
    case(box, monkeypatch) if "monkeypatch" in wanted else case(box)


def assert_only(case: str, silo: Path) -> None:
    findings = list(Audit(str(silo)).findings())
    assert {finding.code.number for finding in findings} == {case[:4]}, findings
    for finding in findings:
        told = finding.as_json()
        assert all(told[key] for key in ("expected", "found", "what_to_do")), told
        assert told["path"].isprintable()


@pytest.mark.parametrize("case", CASES)
def test_a_silo_broken_in_one_way_has_the_code_of_that_and_no_other(
    case: str, box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = type(box)(box.silo.rename(box.silo.with_name(case)))
    named.drop_index()
    apply(CASES[case], named, monkeypatch)
    assert_only(case, named.silo)


@pytest.mark.parametrize("case", OF_2010)
def test_a_silo_of_2010_broken_in_one_way_has_the_code_of_that(case: str, box_2010: Box) -> None:
    OF_2010[case](box_2010)
    assert_only(case, box_2010.silo)


@pytest.mark.parametrize("case", OF_INDEX)
def test_an_index_out_of_step_has_the_code_of_that(case: str, box: Box) -> None:
    OF_INDEX[case](box)
    assert_only(case, box.silo)


@pytest.mark.parametrize("case", OF_INDEX)
def test_an_index_that_had_seen_these_manifests_has_it_too(case: str, box: Box) -> None:
    with Silo(str(box.silo)) as silo:
        silo.reindex()  # the copied manifests have other stamps
    OF_INDEX[case](box)
    assert_only(case, box.silo)


def test_an_index_of_a_silo_of_2010_is_as_its_records_are(box_2010: Box) -> None:
    with Silo(str(box_2010.silo)) as silo:
        assert silo.reindex() == 5
    assert [
        one for one in Audit(str(box_2010.silo)).findings() if one.path.startswith(".silo")
    ] == []


def test_descriptions_in_the_index_are_compared_for_the_records_that_are_drawn(box: Box) -> None:
    facets_of_a_row_lost(box)
    told = set()
    for seed in range(12):
        found = list(Audit(str(box.silo), share=0.4, seed=str(seed)).findings())
        told.add(tuple(one.code.number for one in found))
    assert told == {(), ("S114",)}


def test_a_bitmap_of_frequent_words_is_compared_with_the_full_text(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "BLOCK", 8)
    box.drop_index()
    with Silo(str(box.silo)) as silo:
        for number in range(20):
            silo.get_item(f"more:{number}").put_stream("oai_dc", "<dc><title>gulls</title></dc>",
                                                       None, True)  # fmt: skip
        silo.reindex()
    assert list(Audit(str(box.silo)).findings()) == []
    with contextlib.closing(sqlite3.connect(box.silo / ".silo/index.sqlite")) as connection:
        assert connection.execute("SELECT count(*) FROM frequent").fetchone()[0]
        connection.execute("UPDATE frequent SET bits = x'00'")
        connection.commit()
    assert {one.code.number for one in Audit(str(box.silo)).findings()} == {"S115"}


def test_a_record_whose_files_were_edited_is_not_told_of_twice(box: Box) -> None:
    (box.record / "__workingcopy/oai_dc").write_text("<dc><title>edited</title></dc>")
    assert [one.code.number for one in Audit(str(box.silo)).findings()] == ["S088"]


def test_every_code_has_a_case() -> None:
    cases = Counter(name[:4] for name in (*CASES, *OF_2010, *OF_INDEX))
    contributed = {"S120"}  # a check of another package that fails: test_contributed.py
    assert {code.number for code in Code} == set(cases) | contributed


def test_there_are_more_than_sixty_cases_of_damage() -> None:
    names = (*CASES, *OF_2010, *OF_INDEX)
    damage = [name for name in names if BY_NUMBER[name[:4]].severity is Severity.DAMAGE]
    assert len(damage) >= 60
    assert len(names) - len(damage) >= 30


def test_numbers_are_unique_and_in_order() -> None:
    numbers = [code.number for code in Code]
    assert numbers == sorted(set(numbers))


def test_the_documentation_has_the_table_of_codes() -> None:
    assert table() in (DOCS / "audit.md").read_text(encoding="utf-8")


# -- what is as it should be --------------------------------------------------------------

GOOD: dict[str, Break] = {}


def good(function: Break) -> Break:
    GOOD[function.__name__.replace("_", "-")] = function
    return function


@good
def as_built(box: Box) -> None:
    pass


@good
def without_its_index(box: Box) -> None:
    box.drop_index()


@good
def with_files_of_somebody_beside_the_records(box: Box) -> None:
    (box.silo / "README").write_text("")
    (box.silo / "lost+found/2026-01-01").mkdir(parents=True)


@good
def without_a_copy_of_the_previous_manifest(box: Box) -> None:
    (box.record / "__manifest.json.prev").unlink()


@good
def with_a_copy_that_is_the_manifest_itself(box: Box) -> None:
    (box.record / "__manifest.json.prev").unlink()
    os.link(box.manifest, box.record / "__manifest.json.prev")


@good
def with_a_state_file_being_written(box: Box) -> None:
    (box.silo / "persisted_state.json.4711-00ff00ff.tmp").write_text("{")


@good
def with_a_link_within_the_silo(box: Box) -> None:
    (box.record / "__workingcopy/oai_dc").unlink()
    (box.record / "__workingcopy/oai_dc").symlink_to("../__1/oai_dc")


@good
def with_tags_of_2010_in_a_version(box: Box) -> None:
    (box.record / "__1/3=2004-06-24T00+00+00").write_text("2004-06-24T00:00:00")


@good
def with_what_was_pending_done(box: Box) -> None:
    box.drop_index()
    pending(
        box,
        renames=[["__workingcopy/.silo-1-2.tmp", "__workingcopy/notes.txt"], ["__a", "__1"]],
        unlinks=[["__workingcopy/oai_dc", 1, 1], ["__1", -1, -1], ["__gone", -1, -1]],
    )


@good
def with_versions_numbered_as_2010_did(box: Box) -> None:
    box.set(versions=[1, "workingcopy", "empty"])


@good
def with_every_change_made(box: Box) -> None:
    with Silo(str(box.silo)) as silo:
        record = silo[box.identifier]
        record.clone_version("workingcopy", "a")
        record.clone_version_delta("a", "b")
        record.rename_version("a", "c")
        record.del_version("c")
        record.put_stream("deep/er/file", b"x", "b")
        record.rename_stream("deep/er/file", "flat", "b")
        record.del_stream("docs/licence.txt", "b")
        record.increment_version(clone_previous_version=True)
        silo.get_item("x").sync()
        silo.del_item("x", remember=True)


@pytest.mark.parametrize("case", GOOD)
def test_what_is_as_it_should_be_has_no_finding(case: str, box: Box) -> None:
    GOOD[case](box)
    assert codes_of(box.silo) == []


def test_an_empty_silo_has_no_finding(tmp_path: Path) -> None:
    Silo(str(tmp_path / "silo")).close()
    assert codes_of(tmp_path / "silo") == []


def test_the_silo_of_2010_has_no_finding(box_2010: Box) -> None:
    assert codes_of(box_2010.silo) == []


def test_the_silo_of_2010_has_no_finding_once_it_is_written(box_2010: Box) -> None:
    with Silo(str(box_2010.silo), create=False) as silo:
        for record in list(silo.iteritems()):
            record.metadata["seen"] = True
            record.sync()
    assert codes_of(box_2010.silo) == []


def test_an_rdf_manifest_of_2010_that_was_listed_and_never_written_is_no_finding(
    box_2010: Box,
) -> None:
    members = box_2010.members
    members["rdffilename"] = "manifest.rdf"
    members["files"]["1"].append("manifest.rdf")
    box_2010.manifest.write_text(json.dumps(members))
    assert codes_of(box_2010.silo) == []
    with Silo(str(box_2010.silo), create=False) as silo:
        silo[box_2010.identifier].sync(message="written anew")
        silo[box_2010.identifier].create_new_version("new")
    assert codes_of(box_2010.silo) == []
