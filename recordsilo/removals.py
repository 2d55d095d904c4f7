"""Records that were deleted here for good, which later harvests skip.

``curation/removed.jsonl`` has one JSON object per line, appended; the last line about an
identifier counts.
"""

import json
import os
from typing import Any

from recordsilo.disk.atomic_file import append_lines
from recordsilo.disk.json_lines import read_lines
from recordsilo.records.manifest import now_text


def _path(silo: str) -> str:
    return os.path.join(silo, "curation", "removed.jsonl")


def read_removed(silo: str) -> frozenset[str]:
    """The identifiers that were removed and not restored since.

    Raises:
        StateUnreadable: A complete line is malformed.
    """
    removed: set[str] = set()
    for identifier, is_removed in read_lines(_path(silo), _removal):
        (removed.add if is_removed else removed.discard)(identifier)
    return frozenset(removed)


def _removal(entry: Any) -> tuple[str, bool]:
    if not isinstance(entry["identifier"], str):
        raise TypeError("its identifier is not a text")
    return entry["identifier"], bool(entry["removed"])


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
    append_lines(_path(silo), [line])
