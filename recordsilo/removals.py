"""Records that were deleted here for good, which later harvests skip.

``curation/removed.jsonl`` has one JSON object per line, appended; the last line about an
identifier counts. A last line without a line end was not written completely and is
ignored.
"""

import json
import os

from recordsilo.disk.atomic_file import append_line
from recordsilo.errors import StateUnreadable
from recordsilo.records.manifest import now_text


def _path(silo: str) -> str:
    return os.path.join(silo, "curation", "removed.jsonl")


def read_removed(silo: str) -> frozenset[str]:
    """The identifiers that were removed and not restored since.

    Raises:
        StateUnreadable: A complete line is malformed.
    """
    removed: set[str] = set()
    try:
        with open(_path(silo), "rb") as file:
            *lines, _unfinished = file.read().split(b"\n")
    except FileNotFoundError:
        return frozenset()
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            action = removed.add if entry["removed"] else removed.discard
            action(entry["identifier"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise StateUnreadable(_path(silo), f"line {number}: {error}") from None
    return frozenset(removed)


def note_removed(silo: str, identifier: str, agent: str, message: str) -> None:
    """Record a removal, durably.

    Args:
        silo: The Silo's directory.
        identifier: The record's full identifier.
        agent: Who removed it.
        message: Why.
    """
    _note(silo, identifier, agent, message, removed=True)


def note_restored(silo: str, identifier: str, agent: str) -> None:
    """Record that a removal was undone, durably.

    Args:
        silo: The Silo's directory.
        identifier: The record's full identifier.
        agent: Who restored it.
    """
    _note(silo, identifier, agent, "", removed=False)


def _note(silo: str, identifier: str, agent: str, message: str, *, removed: bool) -> None:
    entry = {
        "identifier": identifier,
        "removed": removed,
        "date": now_text(),
        "agent": agent,
        "message": message,
    }
    line = json.dumps(entry, ensure_ascii=False).encode("utf-8", "backslashreplace")
    append_line(_path(silo), line)
