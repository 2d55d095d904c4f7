"""Check that the keys of a manifest do not contradict each other. Pure."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from recordsilo.audit.findings import Code, shown
from recordsilo.audit.manifest_check import PER_VERSION, ManifestFault, StatedVersion, Statement

_KINDS = ("harvest", "import", "clone", "local")
_STATES = ("in work", "ready", "withheld")
_ALTERED = re.compile(r"(?:Added or updated|Deleted|Renamed|Copied) (?:file|directory) ")
"""Lines that the store's own methods wrote into the log of the version that they changed."""
_FIRST_LINE = re.compile("Created new (data package|version)|Version number incremented")


def disagreements(statement: Statement) -> Iterator[ManifestFault]:
    """Contradictions within a manifest.

    A manifest of 2010 is checked only for what the library of 2010 maintained.
    """
    yield from _about_unknown_versions(statement)
    yield from _dates(statement)
    for version in statement.versions:
        if version.name not in _member(statement, "files"):
            yield ManifestFault(Code.NO_FILES, f"the files of version {version.name!r}", "nothing")
        if version.digests is not None:
            yield from _in_version(statement, version)


def _in_version(statement: Statement, version: StatedVersion) -> Iterator[ManifestFault]:
    name = version.name
    if name not in _member(statement, "digests"):
        yield ManifestFault(Code.NO_DIGESTS, f"the digests of version {name!r}", "nothing")
    elif name in _member(statement, "files"):
        yield from _files(version)
    yield from _metadata_files(statement, version)
    yield from _origin(statement, name)
    yield from _altered(statement, name)
    yield from _state(statement, name)


def _member(statement: Statement, key: str) -> dict[str, Any]:
    found: dict[str, Any] = statement.members.get(key, {})
    return found


def _about_unknown_versions(statement: Statement) -> Iterator[ManifestFault]:
    names = {version.name for version in statement.versions}
    for key in PER_VERSION:
        for stray in sorted(_member(statement, key).keys() - names):
            expected = "one of " + ", ".join(sorted(names)) if names else "no version"
            yield ManifestFault(Code.UNKNOWN_VERSION, expected, f"{key} of version {stray!r}")


def _files(version: StatedVersion) -> Iterator[ManifestFault]:
    paths = version.digests or {}
    tops = {path.partition("/")[0] for path in paths}
    where = f"in version {version.name!r}"
    if (listed := set(version.files) - set(version.subdir)) != (tops - set(version.subdir)):
        expected = ", ".join(sorted(listed)) or "none"
        found = ", ".join(sorted(tops - set(version.subdir))) or "none"
        yield ManifestFault(Code.FILES_AND_DIGESTS, f"{shown(expected)} {where}", shown(found))
        return
    directories = {path.partition("/")[0] for path in paths if "/" in path}
    stated = set(version.subdir)
    if not directories <= stated or stated & set(paths) or not stated <= set(version.files):
        expected = ", ".join(sorted(directories)) or "none"
        found = ", ".join(sorted(stated)) or "none"
        yield ManifestFault(Code.SUBDIR_DISAGREES, f"{shown(expected)} {where}", shown(found))


def _metadata_files(statement: Statement, version: StatedVersion) -> Iterator[ManifestFault]:
    paths = version.digests or {}
    for path in _member(statement, "metadata_files").get(version.name, ()):
        if path not in paths:
            yield ManifestFault(
                Code.METADATA_FILES_DISAGREE, f"a file of version {version.name!r}", shown(path)
            )


# -- dates ------------------------------------------------------------------------------


def _dates(statement: Statement) -> Iterator[ManifestFault]:
    dates = _member(statement, "version_dates")
    record_date = statement.members["date"]
    if not is_moment(record_date):
        yield ManifestFault(Code.DATE_UNREADABLE, "the record's date", shown(record_date))
    for version in statement.versions:
        date = dates.get(version.name)
        if not is_moment(date):
            yield ManifestFault(
                Code.DATE_UNREADABLE, f"the date of version {version.name!r}", shown(date)
            )
    current = str(statement.members.get("currentversion"))
    if statement.format and (of_current := dates.get(current, record_date)) != record_date:
        yield ManifestFault(Code.DATE_DISAGREES, shown(of_current), shown(record_date))


def is_moment(text: object) -> bool:
    """Whether a text is a date or a date and time."""
    if not isinstance(text, str):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


# -- origins ----------------------------------------------------------------------------


def _origin(statement: Statement, name: str) -> Iterator[ManifestFault]:
    origin = _member(statement, "origins").get(name)
    if origin is None:
        yield ManifestFault(Code.NO_ORIGIN, f"the origin of version {name!r}", "nothing")
        return
    if origin.get("kind") not in _KINDS:
        expected = f"harvest, import, clone or local for version {name!r}"
        yield ManifestFault(Code.ORIGIN_KIND, expected, shown(origin.get("kind")))
    elif origin["kind"] == "clone" and origin.get("date"):  # 2010 logged no deletions
        yield from _origin_of(statement, name, origin.get("of"))
    made = [origin["date"]] if origin.get("date") else []
    for text in (*made, *origin.get("prefixes", {}).values()):
        if not is_moment(text):
            yield ManifestFault(
                Code.DATE_UNREADABLE, f"a date in the origin of {name!r}", shown(text)
            )


def _altered(statement: Statement, name: str) -> Iterator[ManifestFault]:
    """Changes of a version whose files a harvest noted, by its log.

    The digest beside a changed file is that of the changed content, so only the log tells.
    """
    origin = _member(statement, "origins").get(name) or {}
    if origin.get("kind") not in ("harvest", "import") or not (
        origin.get("prefixes") or origin.get("date")
    ):
        return
    for line in _member(statement, "versionlog").get(name, ()):
        if is_of_alteration(line):
            yield ManifestFault(
                Code.HARVESTED_ALTERED, f"version {name!r} as harvested", shown(line)
            )


def is_of_alteration(line: str) -> bool:
    """Whether a line of a log says that a file of its version was changed."""
    return _ALTERED.match(line) is not None


def _state(statement: Statement, name: str) -> Iterator[ManifestFault]:
    state = _member(statement, "states").get(name)
    if state is not None and not is_state(state):
        expected = f"{', '.join(_STATES)} or nothing for version {name!r}"
        yield ManifestFault(Code.STATE_UNKNOWN, expected, shown(state))


def is_state(state: object) -> bool:
    """Whether it is one of the states that a curator can give a version."""
    return state in _STATES


def _origin_of(statement: Statement, name: str, of: str | None) -> Iterator[ManifestFault]:
    others = {version.name for version in statement.versions} - {
        name
    }  # it may have taken that name
    if of is None or (of not in others and not _may_be_deleted(statement)):
        yield ManifestFault(Code.ORIGIN_OF, f"the version that {name!r} was made of", shown(of))


def _may_be_deleted(statement: Statement) -> bool:
    """Whether some version may have been deleted.

    Each deletion leaves a line in the log of a remaining version. That line is lost only
    if a directory replaces that version.
    """
    logs = _member(statement, "versionlog")
    if any(line.startswith("Deleted version ") for log in logs.values() for line in log):
        return True
    local = [logs.get(version.name) for version in statement.versions if version.kind == "local"]
    return any(log and not _FIRST_LINE.match(log[0]) for log in local)
