"""Check the Silo's own files, beside the records."""

import json
import os
import re
import time
from collections.abc import Iterator
from typing import Any

from recordsilo.audit.findings import Code, Finding, shown
from recordsilo.audit.reading import UnreadableError, entries, kind_of, look, read_whole

ROOT = "pairtree_root"
VERSION_FILE = "pairtree_version0_1"
VERSION_TEXT = (
    b"This directory conforms to Pairtree Version 0.1. Updated spec: "
    b"http://www.cdlib.org/inside/diglib/pairtree/pairtreespec.html"
)
PREFIX_FILE = "pairtree_prefix"
STATE_FILE = "persisted_state.json"
HARVESTER_STATE_FILE = "oaipmh_harvester.json"
REMOVALS_FILE = "curation/removed.jsonl"
_STAGED_STATE = re.compile(r"(?:pairtree_|persisted_state|oaipmh_harvester).*\.\d+-[0-9a-f]+\.tmp")
_OLD_ENOUGH = 60.0
"""Seconds after which a staged state file is a leftover; normally it exists for milliseconds."""


def check_silo_files(silo: str) -> Iterator[Finding]:
    """Faults in the files beside the records."""
    try:
        yield from _silo_files(silo)
    except UnreadableError as error:
        yield Finding(Code.DIRECTORY_UNREADABLE, ".", "a directory", str(error))


def _silo_files(silo: str) -> Iterator[Finding]:
    yield from _version_file(silo)
    root = look(f"{silo}/{ROOT}")
    if root is None or kind_of(root.st_mode) != "directory":
        found = "nothing" if root is None else f"a {kind_of(root.st_mode)}"
        yield Finding(Code.NO_ROOT, ROOT, "a directory", found)
    state, findings = _state(silo, STATE_FILE, Code.STATE_UNREADABLE)
    yield from findings
    if state is None and not findings:
        yield Finding(Code.NO_STATE, STATE_FILE, "a JSON object", "nothing")
    yield from _prefix(silo, state)
    yield from _state(silo, HARVESTER_STATE_FILE, Code.HARVESTER_STATE_UNREADABLE)[1]
    yield from _removals(silo)
    for entry in entries(silo):
        if _STAGED_STATE.fullmatch(entry.name) and _is_old(f"{silo}/{entry.name}"):
            yield Finding(Code.STATE_LEFT_OVER, entry.name, "nothing", f"a {entry.kind}")


def uri_base_of(silo: str) -> str | None:
    """The uri_base in persisted_state.json, if any."""
    found = (_state(silo, STATE_FILE, Code.STATE_UNREADABLE)[0] or {}).get("uri_base")
    return found if isinstance(found, str) else None


def _version_file(silo: str) -> Iterator[Finding]:
    content, reason = _read(f"{silo}/{VERSION_FILE}")
    if content is None and not reason:
        yield Finding(Code.NO_VERSION_FILE, VERSION_FILE, "a file", "nothing")
    elif content is None or content.strip() != VERSION_TEXT:
        found = reason or shown(content)
        yield Finding(Code.OTHER_VERSION_FILE, VERSION_FILE, shown(VERSION_TEXT), found)


def _prefix(silo: str, state: dict[str, Any] | None) -> Iterator[Finding]:
    content, reason = _read(f"{silo}/{PREFIX_FILE}")
    if content is None and not reason:
        yield Finding(Code.NO_PREFIX, PREFIX_FILE, "a file", "nothing")
        return
    base = (state or {}).get("uri_base")
    if reason or (isinstance(base, str) and (content or b"").strip() != base.strip().encode()):
        yield Finding(Code.OTHER_PREFIX, PREFIX_FILE, shown(base), reason or shown(content))


def _state(silo: str, name: str, code: Code) -> tuple[dict[str, Any] | None, list[Finding]]:
    content, reason = _read(f"{silo}/{name}")
    if content is None and not reason:
        return None, []
    try:
        found = json.loads(content or b"")
    except (ValueError, RecursionError) as error:
        return None, [Finding(code, name, "a JSON object", reason or str(error))]
    if not isinstance(found, dict):
        return None, [Finding(code, name, "a JSON object", shown(found))]
    return found, []


def _removals(silo: str) -> Iterator[Finding]:
    """Check the file of removals line by line (docs/format.md, "A Silo")."""
    content, reason = _read(f"{silo}/{REMOVALS_FILE}")
    if reason:
        yield Finding(Code.REMOVALS_UNREADABLE, REMOVALS_FILE, "a file", reason)
    if not content:
        return
    *lines, unfinished = content.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not _is_removal(line):
            found = f"line {number}: {shown(line)}"
            yield Finding(Code.REMOVALS_UNREADABLE, REMOVALS_FILE, "a removal", found)
    if unfinished:
        found = shown(unfinished)
        yield Finding(Code.REMOVALS_UNFINISHED, REMOVALS_FILE, "a line end", found)


def _is_removal(line: bytes) -> bool:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return False
    match found:
        case {"identifier": str(identifier), "removed": bool()}:
            return bool(identifier)
    return False


def _read(path: str) -> tuple[bytes | None, str]:
    """A file's bytes, or why it cannot be read; neither if there is no file."""
    try:
        return read_whole(path), ""
    except UnreadableError as error:
        return None, str(error)


def _is_old(path: str) -> bool:
    found = look(path)
    return found is not None and time.time() - found.st_mtime > _OLD_ENOUGH


def is_silo(path: str) -> bool:
    """Whether a directory is a Silo, or was one before it was damaged."""
    return any(os.path.lexists(f"{path}/{name}") for name in (VERSION_FILE, ROOT))
