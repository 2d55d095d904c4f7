"""Which of two records of one identifier contains the other. Pure.

A record contains another one if its history says that it was once the other. Else it does if
nothing that people or the source made would be lost with the other: each version, with its files,
its status, its message and its log, is in it, and so are the notes. What a harvester notes of its
last visit does not count, nor when a version was first stored here.
"""

from collections.abc import Iterator
from enum import Enum

from recordsilo.errors import HistoryUnreadable
from recordsilo.records.history import DELETED_DATE, DELETED_VERSION, steps_of
from recordsilo.records.manifest import Manifest, Version

_OF_HARVESTS = {"identifier", "firstSeen", "setSpec", DELETED_VERSION, DELETED_DATE}


class Agreement(Enum):
    """How two records of one identifier relate."""

    SAME = "same"
    FIRST = "the first contains the second"
    SECOND = "the second contains the first"
    CONFLICT = "each has what the other lacks"


def agreement_of(
    one: Manifest, other: Manifest, names: tuple[str, str] = ("the first", "the second")
) -> tuple[Agreement, str]:
    """How two records relate, and, if they conflict, why neither contains the other.

    Args:
        names: What the reason calls the Silo of each.
    """
    if one == other:
        return Agreement.SAME, ""
    if _is_earlier(other, one):
        return Agreement.FIRST, ""
    if _is_earlier(one, other):
        return Agreement.SECOND, ""
    first, second = next(_lost(other, one, names[1]), ""), next(_lost(one, other, names[0]), "")
    if not first and not second:
        later = (one.changed, one.revision) >= (other.changed, other.revision)
        return (Agreement.FIRST if later else Agreement.SECOND), ""
    if not first:
        return Agreement.FIRST, ""
    if not second:
        return Agreement.SECOND, ""
    return Agreement.CONFLICT, f"{first}; {second}" if first != second else first


def _is_earlier(lesser: Manifest, greater: Manifest) -> bool:
    """Whether the history of a record says that it was once the other."""
    try:
        return any(
            (step.get("revision"), step.get("changed")) == (lesser.revision, lesser.changed)
            for step in steps_of(greater)
        )
    except HistoryUnreadable:  # the audit reports it
        return False


def _lost(lesser: Manifest, greater: Manifest, name: str) -> Iterator[str]:
    """What of a record would be lost with it, as clauses; `name` is that of its Silo."""
    for version in lesser.versions:
        if not greater.has(version.name):
            yield f"version {version.name} is only in {name}"
            continue
        if why := _difference(version, greater.version(version.name)):
            yield f"version {version.name} has {why}"
    for key in sorted(lesser.metadata.keys() - _OF_HARVESTS):
        if greater.metadata.get(key) != lesser.metadata[key]:
            yield f"the note {key} differs"
    has_more = len(greater.versions) > len(lesser.versions)
    if lesser.current_version != greater.current_version and not has_more:
        yield "the current version differs"


def _difference(version: Version, other: Version) -> str:
    files, others = version.digests or {}, other.digests or {}
    if None in files.values() or None in others.values():
        return "files of 2010, whose digests are not known"
    if any(others.get(path) != digest for path, digest in files.items()):
        return "other files"
    if version.is_curated and len(files) != len(others):
        return "other files"
    if (version.origin.kind, version.origin.of) != (other.origin.kind, other.origin.of):
        return "another origin"
    if version.is_curated and version.origin.message not in ("", other.origin.message):
        return "another message"
    if version.state not in (None, other.state):
        return "another status"
    if version.is_curated and other.log[: len(version.log)] != version.log:
        return "another history"
    return ""
