"""What happened to a record since a moment, and why: for lists of changes. Pure."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import chain

from recordsilo.records.history import (
    DELETED_VERSION,
    as_of,
    full,
    is_of_notes,
    known_since,
    steps_of,
)
from recordsilo.records.manifest import Json, Manifest, Version
from recordsilo.records.signatures import signed_in, state_told

_HARVESTED, _IMPORTED, _DELETED = "harvested", "imported", "deleted at the source"
RELISTED = "listed again by the source, with the same content"
_NOT_NOTED = "changed; an earlier release did not note how"


class ChangeKind(StrEnum):
    """What became of a record since a moment."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    """From the Silo, or at the source."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a record since a moment.

    Attributes:
        reason: What happened, as phrases in the order of time, separated by semicolons.
        at: When it was changed last, in the 2010 form.
    """

    kind: ChangeKind
    reason: str
    at: str

    def as_json(self) -> dict[str, str]:
        """The members that every JSON list of changes has."""
        return {"change": str(self.kind), "reason": self.reason, "changed": self.at[:19]}


def change_since(manifest: Manifest, since: str, written: str = "") -> Change:
    """What became of a record that was changed at a moment or later.

    Args:
        manifest: As it is now.
        since: In the 2010 form; what was changed in that instant is among the changes.
        written: See `recordsilo.records.history.as_of`.

    Raises:
        HistoryUnreadable: Its history is malformed.
    """
    since = full(since)
    earlier = as_of(manifest, _just_before(since), written)
    before = earlier.manifest
    reason = "; ".join(dict.fromkeys(_reasons(manifest, since))) or RELISTED
    kind = ChangeKind.CHANGED
    if _is_deleted(manifest) and not (before is not None and _is_deleted(before)):
        kind = ChangeKind.REMOVED
    elif before is None and not earlier.unsure:
        kind = ChangeKind.ADDED
    return Change(kind, reason, full(manifest.changed or written))


def _just_before(moment: str) -> str:
    with suppress(OverflowError):
        return (datetime.fromisoformat(moment) - timedelta(microseconds=1)).isoformat()
    return moment


def _is_deleted(manifest: Manifest) -> bool:
    return DELETED_VERSION in manifest.metadata and not manifest.current.is_curated


def _reasons(manifest: Manifest, since: str) -> Iterator[str]:
    known, is_all = known_since(manifest)
    if not is_all and (full(known) > since or not known):
        yield from _inferred(manifest, since, full(known) or "9")
    elif is_all and full(known) >= since:
        later = {name for step in steps_of(manifest) for name in step.get("added", ())}
        yield from (_origin_of(one) for one in manifest.versions if one.name not in later)
    states = {version.name: version.state for version in manifest.versions}
    found: list[list[str]] = []
    for step in reversed(steps_of(manifest)):
        if full(step["at"]) >= since:
            found.append(list(_of_step(manifest, step, states)))
        changed = step.get("versions", {}).items()
        states |= {name: told["state"] for name, told in changed if "state" in told}
    yield from chain.from_iterable(reversed(found))


def _of_step(
    manifest: Manifest, step: Mapping[str, Json], states: Mapping[str, str | None]
) -> Iterator[str]:
    """What a step did.

    Args:
        states: Of the versions after it.
    """
    by = f" by {step['by']}" if step.get("by") else ""
    added = [name for name in step.get("added", ()) if manifest.has(name)]
    said = [_origin_of(manifest.version(name)) for name in added]
    for name, told in step.get("versions", {}).items():
        if "state" in told:
            said.append(f"state set to {states.get(name) or 'none'}{by}")
        if not told.keys().isdisjoint(_CONTENT):
            said.append(_HARVESTED if "prefixes" in told else _filed(manifest, name, by))
    if not said:
        noted = step.get("metadata", {})
        if DELETED_VERSION in noted:
            said.append(_HARVESTED if noted[DELETED_VERSION] else _DELETED)
        elif is_of_notes(step):
            said.append(f"notes changed{by}")
        elif list(noted) == ["setSpec"]:
            said.append("in other sets at the source")
        else:
            said.append(f"curated{by}")
    yield from said


_CONTENT = ("digests", "new", "date", "origin", "prefixes")


def _filed(manifest: Manifest, name: str, by: str) -> str:
    """What it means that files of a version were changed or added."""
    if not manifest.has(name) or manifest.version(name).is_curated:
        return f"curated{by}"
    return f"files added{by}"


def _origin_of(version: Version) -> str:
    """How a version came to be."""
    kind, by = version.origin.kind, version.origin.agent
    if kind == "harvest":
        return _HARVESTED if version.paths else _DELETED
    if kind == "import":
        return _IMPORTED
    return f"curated by {by}" if by else "curated"


def _inferred(manifest: Manifest, since: str, until: str) -> Iterator[str]:
    """What versions and logs say of the time in which not everything was noted."""
    found = [(full(one.origin.date), _origin_of(one)) for one in manifest.versions]
    for version in manifest.versions:
        for line in version.log:
            if signed := signed_in(line):
                state = state_told(line)
                what = f"state set to {state[0] or 'none'}" if state else "curated"
                found.append((full(signed.at), f"{what} by {signed.agent}"))
    told = [what for at, what in sorted(found) if since <= at <= until]
    yield from told or [_NOT_NOTED]
