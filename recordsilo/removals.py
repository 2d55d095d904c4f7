"""Records that were deleted here for good, which later harvests skip.

``curation/removed.jsonl`` has one JSON object per line, appended; the last line about an
identifier counts. Packages that keep something about records contribute an `OnRemoval`;
``curation/removed-told.json`` has how many bytes of those lines each of them has dealt with, so
that a kill between a removal and what follows from it loses nothing.
"""

import json
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from recordsilo.contributions import ContributionBroken, contribution, points
from recordsilo.disk.atomic_file import append_lines, replace_file
from recordsilo.disk.identifier import ppath
from recordsilo.disk.json_lines import read_lines
from recordsilo.disk.locks import Locks
from recordsilo.disk.regular_file import regular_fd
from recordsilo.errors import StateUnreadable
from recordsilo.records.manifest import now_text

logger = logging.getLogger("RecordSilo")
GROUP = "recordsilo.removals"


@dataclass(frozen=True, slots=True)
class OnRemoval:
    """What a package does after records were removed for good.

    Attributes:
        name: The entry point's name.
        run: Takes the Silo's directory and the full identifiers of records that are gone. It
            may be called again for the same ones. If it raises an exception, that is logged,
            and it is called again after the next removal or by the next command.
    """

    name: str
    run: Callable[[str, Sequence[str]], None]


def removals_file(silo: str) -> str:
    """The file that says what was removed."""
    return os.path.join(silo, "curation", "removed.jsonl")


def removed_at(silo: str) -> dict[str, str]:
    """The identifiers that were removed and not restored since, each with the second; UTC.

    Raises:
        StateUnreadable: A complete line is malformed.
    """
    found: dict[str, str] = {}
    for identifier, is_removed, date in read_lines(removals_file(silo), _dated_removal):
        if is_removed:
            found[identifier] = date
        else:
            found.pop(identifier, None)
    return found


def _dated_removal(entry: Any) -> tuple[str, bool, str]:
    return *_removal(entry), datetime.fromisoformat(entry["date"]).isoformat(timespec="seconds")


def read_removed(silo: str) -> frozenset[str]:
    """The identifiers that were removed and not restored since.

    Raises:
        StateUnreadable: A complete line is malformed.

    Cost: a call of the system, if the file is as it was when this process read it.
    """
    path = removals_file(silo)
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return frozenset()
    return _read_removed(path, (found.st_ino, found.st_size, found.st_mtime_ns))


@lru_cache(maxsize=8)
def _read_removed(path: str, _stamp: tuple[int, int, int]) -> frozenset[str]:
    removed: set[str] = set()
    for identifier, is_removed in read_lines(path, _removal):
        (removed.add if is_removed else removed.discard)(identifier)
    return frozenset(removed)


def _removal(entry: Any) -> tuple[str, bool]:
    if not isinstance(entry["identifier"], str):
        raise TypeError("its identifier is not a text")
    return entry["identifier"], bool(entry["removed"])


@dataclass(frozen=True, slots=True)
class Removal:
    """A record that was deleted for good.

    Attributes:
        at: When, in the 2010 form.
        agent: Who did it.
        message: Why.
        since: When the record was made here; empty if that is not known.
        title: Its title; early releases did not note it.
        until: When it was allowed to come back; empty if it was not.
    """

    identifier: str
    at: str
    agent: str = ""
    message: str = ""
    since: str = ""
    title: str = ""
    until: str = ""

    def __str__(self) -> str:
        """In words, as for a list of what happened."""
        by = f" by {self.agent}" if self.agent else ""
        return f"removed here{by}" + (f": {self.message}" if self.message else "")


def removals_of(silo: str) -> list[Removal]:
    """All removals, also those that were undone, in the order in which they were made.

    Raises:
        StateUnreadable: A complete line is malformed.
    """
    found: list[Removal] = []
    last: dict[str, int] = {}
    for is_removed, one in read_lines(removals_file(silo), _whole_removal):
        if is_removed:
            last[one.identifier] = len(found)
            found.append(one)
        elif (number := last.pop(one.identifier, None)) is not None:
            found[number] = replace(found[number], until=one.at)
    return found


def _whole_removal(entry: Any) -> tuple[bool, Removal]:
    identifier, is_removed, _ = _dated_removal(entry)
    told = [str(entry.get(key) or "") for key in ("date", "agent", "message", "since", "title")]
    return is_removed, Removal(identifier, *told)


def note_removed(
    silo: str, identifier: str, agent: str, message: str, *, since: str = "", title: str = ""
) -> None:
    """Record a removal, durably.

    Args:
        since: See `Removal`.
        title: See `Removal`.
    """
    more = {name: value for name, value in (("since", since), ("title", title)) if value}
    _note(silo, identifier, agent, message, removed=True, **more)


def note_restored(silo: str, identifier: str, agent: str) -> None:
    """Record that a removal was undone, durably."""
    _note(silo, identifier, agent, "", removed=False)


def _note(
    silo: str, identifier: str, agent: str, message: str, *, removed: bool, **more: str
) -> None:
    entry = {
        "identifier": identifier,
        "removed": removed,
        "date": now_text(),
        "agent": agent,
        "message": message,
        **more,
    }
    line = json.dumps(entry, ensure_ascii=False).encode("utf-8", "backslashreplace")
    append_lines(removals_file(silo), [line], silo)


# -- what follows from a removal ---------------------------------------------------------


def _told_path(silo: str) -> str:
    return os.path.join(silo, "curation", "removed-told.json")


def is_behind(silo: str) -> bool:
    """Whether a package has not dealt with a removal yet, in a Silo that can be written.

    Cost: two calls of the system, if nothing was ever removed; else a small file more.
    """
    noted = noted_bytes(silo)
    if not noted or not os.access(os.path.dirname(removals_file(silo)), os.W_OK):
        return False
    told = _told(silo)
    return any(told.get(name, 0) != noted for name in points(GROUP))


def catch_up(silo: str, locks: Locks) -> None:
    """Let packages deal with the removals since the last time; failures are logged.

    If another process is doing that, this does nothing.

    Args:
        locks: Its locks; the caller holds none of a record.
    """
    with locks.hold_name_if_free("removals") as free:
        if not free:
            return
        for name in points(GROUP):
            told, noted = _told(silo), noted_bytes(silo)
            if told.get(name, 0) != noted and _run(silo, name, told.get(name, 0)):
                replace_file(_told_path(silo), json.dumps({**told, name: noted}).encode())


def _run(silo: str, name: str, since: int) -> bool:
    """Call a package's `OnRemoval` for what was noted since; returns whether it succeeded."""
    try:
        if gone := _gone_since(silo, since):
            contribution(GROUP, name, OnRemoval).run(silo, gone)
    except (ContributionBroken, StateUnreadable) as error:
        logger.warning("%s", error)
        return False
    except Exception as error:  # noqa: BLE001 - the code of any package runs here
        why = ContributionBroken(points(GROUP)[name], error)
        logger.warning("%s; it is done again after the next removal, or by the next command", why)
        return False
    return True


def noted_bytes(silo: str) -> int:
    """Return the size of what was noted; it grows with each removal."""
    try:
        return os.path.getsize(removals_file(silo))
    except FileNotFoundError:
        return 0


def _told(silo: str) -> dict[str, int]:
    try:
        with open(_told_path(silo), encoding="utf-8", opener=regular_fd) as file:
            found = json.load(file)
    except (FileNotFoundError, ValueError):  # then packages are told all again
        return {}
    return found if isinstance(found, dict) else {}


def _gone_since(silo: str, since: int) -> tuple[str, ...]:
    """Identifiers noted behind an offset that are still removed, and not on disk."""
    removed = read_removed(silo)
    with open(removals_file(silo), "rb", opener=regular_fd) as file:
        file.seek(since if since <= noted_bytes(silo) else 0)
        lines = [line for line in file if line.endswith(b"\n")]
    noted = dict.fromkeys(str(json.loads(line)["identifier"]) for line in lines)
    root = os.path.join(silo, "pairtree_root")
    return tuple(
        one
        for one in noted
        if one in removed and not os.path.exists(f"{root}/{ppath(one)}/__manifest.json")
    )
