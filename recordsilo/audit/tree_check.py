"""Check the pairtree: every directory in a fixed order, and entries that are not part of a path."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recordsilo.audit.findings import Code, Finding, shown
from recordsilo.audit.reading import DirectoryEntry, UnreadableError, entries
from recordsilo.disk.names import is_own

_SHORTY = re.compile(r"[!#-)+,\-0-9;=@-\[\]^_-{}~]{1,2}", re.ASCII)
"""One or two letters of the cleaned form (Pairtree 0.1, "Identifier string cleaning")."""


@dataclass(frozen=True, slots=True)
class TreeDirectory:
    """A directory of the pairtree.

    Attributes:
        place: The path relative to ``pairtree_root``, which itself is ``""``.
        has_record: Whether it holds a manifest or versions.
        is_empty: Whether it holds nothing.
    """

    place: str
    findings: tuple[Finding, ...]
    has_record: bool
    is_empty: bool


def walk(root: str, after: str = "") -> Iterator[TreeDirectory]:
    """Each directory before those below it, in the order of their names.

    Memory grows with the depth of the tree and the width of a directory.

    Args:
        root: The ``pairtree_root``.
        after: Start after this place, which an earlier walk yielded.
    """
    done = after.split("/") if after else []
    stack = [""]
    while stack:
        place = stack.pop()
        try:
            found = entries(f"{root}/{place}")
        except UnreadableError as error:
            if not _is_before(place, done):
                yield _unlisted(place, str(error))
            continue
        parts = [e.name for e in found if e.kind == "directory" and _is_part(e, place)]
        below = [f"{place}/{name}" if place else name for name in parts]
        stack.extend(reversed([path for path in below if not _is_done_with(path, done)]))
        if not _is_before(place, done):
            yield _seen(place, found)


def look_again(root: str, place: str) -> TreeDirectory:
    """A directory as `walk` would yield it now; without findings if it no longer exists."""
    try:
        return _seen(place, entries(f"{root}/{place}"))
    except UnreadableError as error:
        return _unlisted(place, str(error))


def _unlisted(place: str, reason: str) -> TreeDirectory:
    finding = _at(place, Code.DIRECTORY_UNREADABLE, "a directory", reason)
    return TreeDirectory(place, (finding,), has_record=False, is_empty=False)


def _seen(place: str, found: list[DirectoryEntry]) -> TreeDirectory:
    findings = tuple(finding for entry in found for finding in _stray(place, entry))
    return TreeDirectory(
        place,
        findings,
        has_record=bool(place) and any(is_own(entry.name) for entry in found),
        is_empty=not found,
    )


def _is_before(place: str, done: list[str]) -> bool:
    """Whether a directory was already yielded: it is ``done``, or precedes it."""
    return bool(done) and (place.split("/") if place else []) <= done


def _is_done_with(place: str, done: list[str]) -> bool:
    """Whether everything below a directory was already yielded."""
    parts = place.split("/")
    return parts < done[: len(parts)]


def _is_part(entry: DirectoryEntry, place: str) -> bool:
    return not (place and is_own(entry.name)) and _SHORTY.fullmatch(entry.name) is not None


def _stray(place: str, entry: DirectoryEntry) -> Iterator[Finding]:
    if place and is_own(entry.name):
        return
    path = f"{place}/{entry.name}" if place else entry.name
    if entry.kind == "file":
        yield _at(path, Code.STRAY_FILE, "directories", "a file")
    elif entry.kind != "directory":
        yield _at(path, Code.LINK_IN_PAIRTREE, "a directory", f"a {entry.kind}")
    elif len(entry.name) > 2 and entry.name.isprintable() and entry.name.isascii():
        yield _at(path, Code.STRAY_DIRECTORY, "a name of two letters", shown(entry.name))
    elif not _SHORTY.fullmatch(entry.name):
        expected = "one or two letters of a cleaned identifier"
        yield _at(path, Code.NOT_A_PAIRTREE_NAME, expected, shown(entry.name))


def _at(place: str, code: Code, expected: str, found: str) -> Finding:
    return Finding(code, f"pairtree_root/{place}".rstrip("/"), expected, found)
