"""What is carried besides the records: the other files of a Silo, whole or in part."""

import json
import os
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from recordsilo.disk.atomic_file import copy_over, make_parents, replace_file
from recordsilo.disk.database_log import read_only_uri
from recordsilo.disk.json_lines import read_lines
from recordsilo.disk.names import COPYING
from recordsilo.disk.regular_file import open_regular
from recordsilo.errors import VERSION_FILE, StateUnreadable
from recordsilo.records.manifest import now_text
from recordsilo.removals import read_removed, removals_file
from recordsilo.repository import STATE_FILE
from recordsilo.silo import CREATED_FILE
from recordsilo.state import STATE_FILE as SETTINGS

_OWN = {
    "pairtree_root", "pairtree_prefix", VERSION_FILE, SETTINGS, ".silo", "lost+found", COPYING,
}  # fmt: skip
"""What `new_silo` writes, what is rebuilt, and what no command reads."""
_EDITING = ("curation/rules", "curation/searches")
"""What people have written for records that are chosen by conditions."""
_LINES = ("curation/removed.jsonl", "curation/distinct.jsonl")
_TOLD = "curation/removed-told.json"  # a mark in the list of removals, which is made anew
_OF_REPOSITORY = ("lastidentified", "identify", "formats", "sets")
"""What a Silo knows of its repository without how far it was harvested."""
Told = Callable[[str], None]


def carry_all(source: str, target: str, told: Told) -> None:
    """Copy all other files of a Silo; those that are there with size and time are kept.

    Databases are copied as one snapshot each, while others write to them.

    Args:
        source: The Silo's directory.
        target: The new one.
        told: Called with a sentence for each entry that is not copied.
    """
    for path, found in _files(source, told):
        _copy_file(source, target, path, found)


def carry_some(sources: Sequence[str], target: str, told: Told, *, responses: bool) -> list[str]:
    """Carry what concerns no single record: rules, saved searches, decisions about values.

    Removals are carried, too, but not of records that are in the new Silo.

    Args:
        sources: The Silos' directories; of files that differ, that of the first is carried.
        told: See `carry_all`.
        responses: Whether ``harvests/`` is carried, too.

    Returns:
        What was not carried, as paths, sorted.
    """
    areas = (*_EDITING, *(("harvests",) if responses else ()))
    left: set[str] = set()
    for source in sources:
        for path, found in _files(source, told):
            area = next((one for one in areas if path.startswith(f"{one}/")), None)
            place = f"{target}/{path}"
            if path in (*_LINES, _TOLD, STATE_FILE):
                continue
            if area is None:
                left.add("/".join(path.split("/")[: 2 if path.startswith("curation/") else 1]))
            elif not os.path.exists(place) or _is_same(f"{source}/{path}", place):
                _copy_file(source, target, path, found)
            else:
                told(f"{source}/{path} differs from that of another Silo, which was carried")
    for path in _LINES:
        _carry_lines([f"{source}/{path}" for source in sources], f"{target}/{path}")
    _carry_repository(sources, target)
    return sorted(left)


def carry_removals(source: str, target: str) -> frozenset[str]:
    """Carry the list of removals as it is now, after the records; returns what was removed."""
    path = os.path.relpath(removals_file(source), source)
    try:
        found = os.stat(removals_file(source))
    except FileNotFoundError:
        return frozenset()
    _copy_file(source, target, path, found)
    return read_removed(target)


def settings_of(sources: Sequence[str]) -> dict[str, Any]:
    """The settings that all of some Silos have in common; ``uri_base`` is that of the first."""
    all_of = [_json_of(f"{source}/{SETTINGS}") for source in sources]
    first = all_of[0]
    return {
        key: value
        for key, value in first.items()
        if key == "uri_base" or all(one.get(key) == value for one in all_of)
    }


def created_of(sources: Sequence[str]) -> str:
    """When the oldest of some Silos was made; empty if that is not known of one."""
    found = []
    for source in sources:
        try:
            with open_regular(f"{source}/{CREATED_FILE}") as file:
                found.append(file.read(100).decode().strip())
        except (OSError, ValueError):
            return ""
    return min(found)


def note_kept(target: str, identifiers: Iterable[str], agent: str) -> None:
    """Note of records that one Silo has and another one removed that they are not removed."""
    noted = {"removed": False, "date": now_text(), "agent": agent, "message": "merge"}
    lines = [{"identifier": one, **noted} for one in identifiers]
    if lines:
        path = removals_file(target)
        known = list(read_lines(path, lambda entry: entry))
        _write_lines(path, [*known, *lines])


# -- files -------------------------------------------------------------------------------


def _files(source: str, told: Told, below: str = "") -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(f"{source}/{below}") as entries:
        listed = sorted(entries, key=lambda one: one.name)
    for entry in listed:
        path = below + entry.name
        if path in _OWN or entry.name.endswith((".tmp", "-wal", "-shm", "-journal")):
            continue
        found = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode):
            yield from _files(source, told, f"{path}/")
        elif stat.S_ISREG(found.st_mode):
            yield path, found
        else:
            told(f"{source}/{path} is a link or no file, and was not copied")


def _copy_file(source: str, target: str, path: str, found: os.stat_result) -> None:
    source, place = f"{source}/{path}", f"{target}/{path}"
    if source.endswith(".sqlite") and _is_database(source):
        _copy_database(source, place, stat.S_IMODE(found.st_mode), target)
        return
    try:
        there = os.stat(place)
        if (there.st_size, there.st_mtime_ns) == (found.st_size, found.st_mtime_ns):
            return
    except FileNotFoundError:
        pass
    copy_over(source, place, stat.S_IMODE(found.st_mode), found.st_mtime_ns)


def _is_database(path: str) -> bool:
    with open_regular(path) as file:
        return file.read(16) == b"SQLite format 3\0"


def _copy_database(source: str, place: str, mode: int, target: str) -> None:
    with tempfile.TemporaryDirectory(prefix="copy-", dir=f"{target}/.silo") as directory:
        staged = f"{directory}/snapshot"
        with (
            closing(sqlite3.connect(read_only_uri(source), uri=True)) as original,
            closing(sqlite3.connect(staged)) as copy,
        ):
            original.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE").fetchone()
        copy_over(staged, place, mode, os.stat(source).st_mtime_ns, like=os.path.dirname(source))


def _is_same(one: str, other: str) -> bool:
    with open_regular(one) as first, open_regular(other) as second:
        while True:
            parts = first.read(1 << 20), second.read(1 << 20)
            if parts[0] != parts[1]:
                return False
            if not parts[0]:
                return True


def _carry_lines(paths: Sequence[str], place: str) -> None:
    """Join lists of JSON lines, of which the last about something counts, by their dates."""
    found: list[dict[str, Any]] = []
    for path in paths:
        found += [one for one in read_lines(path, dict) if one not in found[-1:]]
    if found:
        _write_lines(place, sorted(found, key=lambda one: str(one.get("date", ""))))


def _write_lines(place: str, entries: Sequence[Mapping[str, Any]]) -> None:
    make_parents(place)
    text = "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in entries)
    replace_file(place, text.encode("utf-8", "backslashreplace"))


def _carry_repository(sources: Sequence[str], target: str) -> None:
    states = [_json_of(f"{source}/{STATE_FILE}") for source in sources]
    kept: dict[str, Any] = {}
    for state in states:
        for key in _OF_REPOSITORY:
            value = state.get(key)
            if isinstance(value, dict) and isinstance(kept.get(key), dict) and key != "identify":
                kept[key] = {**value, **kept[key]}
            elif value is not None:
                kept.setdefault(key, value)
    if len({_address(one) for one in states}) > 1:
        for key in ("identify", "lastidentified"):
            kept.pop(key, None)
    if kept:
        text = json.dumps(kept, ensure_ascii=False, indent=1)
        replace_file(f"{target}/{STATE_FILE}", text.encode("utf-8", "backslashreplace"))


def _address(state: Mapping[str, Any]) -> str:
    """The address of a repository; empty if it is not known."""
    identify = state.get("identify")
    return str(identify.get("baseURL") or "") if isinstance(identify, dict) else ""


def _json_of(path: str) -> dict[str, Any]:
    try:
        with open_regular(path) as file:
            found = json.load(file)
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError) as error:
        raise StateUnreadable(path, str(error)) from None
    return found if isinstance(found, dict) else {}
