"""What a record was earlier: each write notes what it replaced, and `as_of` goes back. Pure.

``history`` of a manifest has a *step* for each write that changed more than the datestamps under
which the source listed the same content again. A step says what was different before, so that a
new record needs none, and one that is harvested again a short one (docs/format-manifest.md).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile
from typing import cast

from recordsilo.disk.digest import Digest
from recordsilo.errors import HistoryUnreadable
from recordsilo.records.manifest import SETTLED, Json, Manifest, Origin, OriginKind, Version
from recordsilo.records.signatures import signed_in, state_told

DELETED_VERSION, DELETED_DATE = "deleted_at_version", "deleted_at_date"
NOTED_KEYS = (
    "identifier", "firstSeen", "setSpec", DELETED_VERSION, DELETED_DATE, SETTLED, "duplicate_of",
)  # fmt: skip
"""The keys of a record's metadata whose earlier values are noted; others may grow without end."""
_FIELDS = ("files", "subdir", "metadata_files")


@dataclass(frozen=True, slots=True)
class Then:
    """A record as it was.

    Attributes:
        manifest: None if it did not exist. Of its ``metadata``, only `NOTED_KEYS`, if the record
            was changed since.
        unsure: Why it may have been different, as a clause; empty if it was exactly so.
    """

    manifest: Manifest | None
    unsure: str = ""


# -- noting ------------------------------------------------------------------------------


def history_after(
    before: Manifest, after: Manifest, sealed: tuple[int, str], agent: str, written: str = ""
) -> dict[str, Json]:
    """The history that a write leaves behind.

    Args:
        before: The manifest that is replaced.
        after: The new one.
        sealed: Its revision and its time.
        agent: Who writes, if neither a log nor an origin says so.
        written: When the file of ``before`` was written, if it does not say so itself.
    """
    revision, moment = sealed
    history = dict(before.history)
    if history.get("revision") != before.revision:  # there is none, or another release wrote since
        key = "created" if _is_as_made(before) else "since"
        history = {key: before.changed or written or moment}
    if step := _step(before, after):
        told = {"at": moment, "by": _who(before, after) or agent}
        steps = list(history.get("steps", []))
        if steps and is_of_notes(step) and is_of_notes(steps[-1]):
            steps.pop()  # programs may note something every night
        history["steps"] = [*steps, {**told, **step}]
    return {**history, "revision": revision}


def is_of_notes(step: Mapping[str, Json]) -> bool:
    """Whether a step says only that packages or people noted something, which is not kept."""
    return step.keys() <= {"at", "by", "revision", "changed", "notes"}


def _is_as_made(manifest: Manifest) -> bool:
    """Whether a record is as its first write left it; one of 2010 has versions without a date."""
    dated = all(version.origin.date for version in manifest.versions)
    return manifest.revision == 1 and bool(manifest.changed) and not manifest.history and dated


def _step(before: Manifest, after: Manifest) -> dict[str, Json]:
    were = {version.name: version for version in before.versions}
    now = {version.name: version for version in after.versions}
    added = [name for name in now if name not in were]
    gone = {name: _removed(version) for name, version in were.items() if name not in now}
    order = [name for name in now if name in were] != list(were)
    changed = {
        name: told
        for name, version in were.items()
        if name in now and version is not now[name] and (told := _changed(version, now[name]))
    }
    is_noted = before.metadata is not after.metadata  # most writes leave all of it as it was
    noted = {
        key: [before.metadata[key]] if key in before.metadata else []
        for key in (NOTED_KEYS if is_noted else ())
        if (key in before.metadata, before.metadata.get(key))
        != (key in after.metadata, after.metadata.get(key))
    }
    step = {
        "current": before.current_version if before.current_version != after.current_version else 0,
        "date": before.date if before.date != after.date else 0,
        "added": added,
        "removed": gone,
        "order": list(were) if order else 0,
        "versions": changed,
        "metadata": noted,
    }
    kept = {key: value for key, value in step.items() if value}
    if is_noted and any(
        before.metadata.get(key) != after.metadata.get(key)
        for key in before.metadata.keys() | after.metadata.keys()
        if key not in NOTED_KEYS
    ):
        kept["notes"] = True
    return kept and {"revision": before.revision, "changed": before.changed, **kept}


def _changed(before: Version, after: Version) -> dict[str, Json]:
    old, new = before.digests or {}, after.digests or {}
    added = [path for path in new if path not in old]
    told: dict[str, Json] = {
        "digests": {p: _digest(d) for p, d in old.items() if p not in new or new[p] != d},
        "new": added,
    }
    told = {key: value for key, value in told.items() if value}
    without = _names_without(after, added)
    for name in _FIELDS:
        if getattr(before, name) != without[name]:
            told[name] = list(getattr(before, name))
    if before.state != after.state:
        told["state"] = before.state
    if before.date != after.date:
        told["date"] = before.date
    if before.origin.prefixes.keys() != after.origin.prefixes.keys():
        told["prefixes"] = dict(before.origin.prefixes)
    if before.origin != replace(after.origin, prefixes=before.origin.prefixes):
        told["origin"] = _origin(before.origin)
    if before.log != after.log:
        is_longer = after.log[: len(before.log)] == before.log
        told["log"] = len(before.log) if is_longer else list(before.log)
    return told


def _names_without(version: Version, paths: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The names that a version lists, without files that it does not have yet."""
    rest = {path.split("/")[0] for path in version.paths if path not in paths}
    gone = {path.split("/")[0] for path in paths} - rest
    return {
        "files": tuple(name for name in version.files if name not in gone),
        "subdir": tuple(name for name in version.subdir if name not in gone),
        "metadata_files": tuple(name for name in version.metadata_files if name not in paths),
    }


def _removed(version: Version) -> dict[str, Json]:
    return {
        "date": version.date,
        "origin": _origin(version.origin),
        **{name: list(getattr(version, name)) for name in _FIELDS},
        "log": list(version.log),
        "digests": {path: _digest(found) for path, found in (version.digests or {}).items()},
        "state": version.state,
    }


def _digest(digest: Digest | None) -> list[Json] | None:
    return None if digest is None else [digest.sha256, digest.size]


def _origin(origin: Origin) -> dict[str, Json]:
    told = {
        "kind": origin.kind, "of": origin.of, "prefixes": dict(origin.prefixes),
        "agent": origin.agent, "message": origin.message, "date": origin.date,
    }  # fmt: skip
    return {key: value for key, value in told.items() if value}


def _who(before: Manifest, after: Manifest) -> str:
    """Who made a change, as the new lines of the logs or the origin of a new version say."""
    for version in after.versions:
        known = before.version(version.name).log if before.has(version.name) else ()
        for line in version.log[len(known) :]:
            if signed := signed_in(line):
                return signed.agent
    return next(
        (v.origin.agent for v in after.versions if not before.has(v.name) and v.origin.agent), ""
    )


# -- going back --------------------------------------------------------------------------


def steps_of(manifest: Manifest) -> list[Mapping[str, Json]]:
    """The steps of a record that its last write vouches for, the oldest first.

    Raises:
        HistoryUnreadable: They are malformed.
    """
    if manifest.history.get("revision") != manifest.revision:
        return []
    steps = manifest.history.get("steps", [])
    if not isinstance(steps, list) or not all(
        isinstance(one, dict) and isinstance(one.get("at"), str) for one in steps
    ):
        raise HistoryUnreadable(manifest.item_id)
    return steps


def known_since(manifest: Manifest) -> tuple[str, bool]:
    """Since when each change of a record is noted, in the 2010 form, and whether that is all of it.

    Returns:
        The time, and whether the record was made then; a time of ``""`` is unknown: only the
        record as it is now is known.
    """
    if _is_as_made(manifest):
        return manifest.changed, True
    history = manifest.history
    if history.get("revision") != manifest.revision:
        return manifest.changed, False
    return str(history.get("created") or history.get("since") or ""), "created" in history


def as_of(manifest: Manifest, moment: str, written: str = "") -> Then:
    """The record as it was at a moment, with every change until then and none after it.

    Args:
        manifest: As it is now.
        moment: In the 2010 form; changes at this time count as made.
        written: When the file was written, for manifests of 2010 and of early releases, which do
            not say so.

    Raises:
        HistoryUnreadable: Its history is malformed.
    """
    moment = full(moment)
    if full(manifest.changed or written) <= moment:
        return Then(manifest)
    since, is_all = known_since(manifest)
    since = full(since or written)
    if is_all and moment < since:
        return Then(None)
    try:
        earlier = _without_later(manifest, moment)
        _check(earlier)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise HistoryUnreadable(manifest.item_id) from error
    return _only_noted(earlier) if moment >= since else _inferred(earlier, moment, since)


def full(date: str) -> str:
    """A date in the 2010 form with six decimals, so that such texts sort by time."""
    try:
        return datetime.fromisoformat(date).replace(tzinfo=None).isoformat(timespec="microseconds")
    except ValueError:
        return ""


def _only_noted(manifest: Manifest) -> Then:
    noted = {key: value for key, value in manifest.metadata.items() if key in NOTED_KEYS}
    return Then(replace(manifest, metadata=noted))


def _without_later(manifest: Manifest, moment: str) -> Manifest:
    """The manifest without the steps after a moment, and without later datestamps."""
    steps = steps_of(manifest)
    later = list(takewhile(lambda one: full(one["at"]) > moment, reversed(steps)))
    kept = steps[: len(steps) - len(later)]
    last = kept[-1]["at"] if kept else known_since(manifest)[0]
    found = replace(manifest, changed=min(last, moment) if last else last)
    for step in later:
        found = _before(found, step)
    history = {**manifest.history, "steps": kept, "revision": found.revision}
    versions = tuple(_listed_by(version, moment) for version in found.versions)
    return replace(found, versions=versions, history=history)


def _check(manifest: Manifest) -> None:
    """Check what steps gave back: they may be mangled, and a path must stay in its version.

    Raises:
        TypeError, ValueError: A value has a wrong type, or a path leads elsewhere.
    """
    texts: list[object] = [manifest.date, manifest.current_version]
    for one in manifest.versions:
        paths = [*one.files, *one.subdir, *one.metadata_files, *(one.digests or ())]
        origin = one.origin
        texts += [one.name, one.date, one.state or "", *one.log, *paths, origin.agent]
        texts += [origin.kind, origin.of or "", origin.message, origin.date]
        texts += origin.prefixes.values()
        if any(path.startswith("/") or ".." in path.split("/") for path in (one.name, *paths)):
            raise ValueError
    if not all(isinstance(text, str) for text in texts):
        raise TypeError


def _listed_by(version: Version, moment: str) -> Version:
    """A version without datestamps after a moment, under which it was listed only later."""
    prefixes = version.origin.prefixes
    if all(full(stamp) <= moment for stamp in prefixes.values()):
        return version
    kept = {p: version.date if full(d) > moment else d for p, d in prefixes.items()}
    return replace(version, origin=replace(version.origin, prefixes=kept))


def _before(manifest: Manifest, step: Mapping[str, Json]) -> Manifest:
    added, changed = set(step.get("added", ())), step.get("versions", {})
    versions = {
        version.name: _version_before(version, changed.get(version.name, {}))
        for version in manifest.versions
        if version.name not in added
    }
    versions |= {name: _restored(name, told) for name, told in step.get("removed", {}).items()}
    names = step.get("order") or list(versions)
    metadata = dict(manifest.metadata)
    for key, value in step.get("metadata", {}).items():
        metadata.pop(key, None)
        if value:
            metadata[key] = value[0]
    return replace(
        manifest,
        date=step.get("date") or manifest.date,
        current_version=step.get("current") or manifest.current_version,
        versions=tuple(versions[name] for name in names),
        metadata=metadata,
        revision=int(step["revision"]),
        changed=str(step["changed"]),
    )


def _version_before(version: Version, told: Mapping[str, Json]) -> Version:
    if not told:
        return version
    new, log = set(told.get("new", ())), told.get("log", len(version.log))
    digests = {path: found for path, found in (version.digests or {}).items() if path not in new}
    digests |= {path: _read_digest(found) for path, found in told.get("digests", {}).items()}
    names = _names_without(version, new)
    names |= {name: tuple(told[name]) for name in _FIELDS if name in told}
    origin = _read_origin(told["origin"]) if "origin" in told else version.origin
    if "prefixes" in told:
        origin = replace(origin, prefixes=dict(told["prefixes"]))
    return replace(
        version,
        files=names["files"],
        subdir=names["subdir"],
        metadata_files=names["metadata_files"],
        digests=digests,
        state=told.get("state", version.state),
        date=told.get("date", version.date),
        origin=origin,
        log=version.log[:log] if isinstance(log, int) else tuple(log),
    )


def _restored(name: str, told: Mapping[str, Json]) -> Version:
    files, subdir, metadata_files = (tuple(told[one]) for one in _FIELDS)
    digests = {path: _read_digest(found) for path, found in told["digests"].items()}
    return Version(
        name, told["date"], _read_origin(told["origin"]), files, subdir, metadata_files,
        tuple(told["log"]), digests, told.get("state"),
    )  # fmt: skip


def _read_digest(found: Sequence[Json] | None) -> Digest | None:
    return None if found is None else Digest(str(found[0]), int(found[1]))


def _read_origin(found: Mapping[str, Json]) -> Origin:
    return Origin(
        cast(OriginKind, found["kind"]),
        found.get("of"),
        dict(found.get("prefixes", {})),
        found.get("agent", ""),
        found.get("message", ""),
        found.get("date", ""),
    )


# -- what earlier releases did not note ---------------------------------------------------


def _inferred(manifest: Manifest, moment: str, since: str) -> Then:
    """The record before its changes were noted, as far as versions and logs say it."""
    first = manifest.versions[0] if manifest.versions else None
    if first is None:
        return Then(manifest, "it had no version")
    there = [v for v in manifest.versions if v.origin.date and full(v.origin.date) <= moment]
    if not there:
        is_first = first.origin.kind == "harvest" and bool(first.origin.date)
        if is_first:
            return Then(None)
        return Then(None, f"whether it was there is not noted; it was on {since[:19]}")
    curated = [version for version in there if version.is_curated]
    is_unchanged = len(there) == len(manifest.versions)
    current = manifest.current if is_unchanged else (curated or there)[-1]
    metadata = {
        key: value
        for key, value in manifest.metadata.items()
        if key in NOTED_KEYS and key not in (DELETED_VERSION, DELETED_DATE)
    }
    if current.origin.kind == "harvest" and not current.paths:
        metadata |= {DELETED_VERSION: current.name, DELETED_DATE: current.date}
    versions = tuple(_listed_by(_in_state(version, moment), moment) for version in there)
    found = replace(
        manifest,
        date=current.date,
        current_version=current.name,
        versions=versions,
        metadata=metadata,
        changed=max(full(version.origin.date) for version in there),
        history={},
    )
    why = f"changes before {since[:19]} are not all noted; this is what its versions and logs say"
    return Then(found, why)


def _in_state(version: Version, moment: str) -> Version:
    """A version with the state that its log tells for a moment."""
    told = _told(version.log, moment)
    first = "in work" if version.origin.kind == "clone" else None
    return replace(version, state=told[-1] if told else first)


def _told(log: Iterable[str], moment: str) -> list[str | None]:
    found = ((signed_in(line), state_told(line)) for line in log)
    return [state[0] for signed, state in found if signed and state and full(signed.at) <= moment]
