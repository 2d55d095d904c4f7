"""A fast reader for manifests of exactly the form that this release writes. Pure.

Nearly all are. All others are left to the reader in `manifest_json`, which also reads
manifests of 2010 and of later formats, and names a malformed key. Where this reader
returns a manifest, that one returns the same.
"""

import re
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from recordsilo.disk.digest import Digest
from recordsilo.records.manifest import Json, Manifest, Origin, Version

KNOWN_KEYS = frozenset(
    {
        "item_id", "date", "currentversion", "versions", "version_dates", "files", "subdir",
        "metadata_files", "versionlog", "metadata", "format", "revision", "changed", "digests",
        "origins", "states", "history", "pending", "checksum",
    }
)  # fmt: skip
SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
KINDS = ("harvest", "import", "clone", "local")

_by_version = itemgetter(
    "version_dates", "files", "subdir", "metadata_files", "versionlog", "digests", "origins"
)
_NO_FILE = frozenset({"", ".", ".."})
_LONGEST = 255
"""The longest file name that the file systems of Linux and macOS accept, in bytes."""
HIGHEST = (1 << 63) - 1
"""The largest count: what SQLite and other tools can store as an integer."""
DEEPEST = 64
"""How deeply the JSON of a record's metadata may be nested."""


class _Doubt(Exception):
    """The manifest differs from the form written here."""


def plain_manifest(members: dict[str, Json]) -> Manifest | None:
    """The manifest, if all its members are as `manifest_json.to_json` writes them; else None."""
    if "pending" in members:
        return None
    try:
        return _manifest(members)
    except (_Doubt, KeyError, TypeError):
        return None


def is_version_name(name: str) -> bool:
    """Whether a version can have the name: its directory is inside the record's and possible."""
    if not name or "/" in name or "\0" in name:
        return False
    return (name.isascii() and len(name) <= _LONGEST - 2) or _fits(f"__{name}", "strict")


def is_file_path(path: str) -> bool:
    """Whether a path stays within its version's directory, and a file can have it."""
    if "\0" in path:
        return False
    is_short = len(path) <= _LONGEST and path.isascii()
    if "/" not in path:  # as nearly all are
        return path not in _NO_FILE and (is_short or _fits(path, "surrogateescape"))
    parts = path.split("/")
    return _NO_FILE.isdisjoint(parts) and (
        is_short or all(_fits(part, "surrogateescape") for part in parts)
    )


def _fits(name: str, errors: str) -> bool:
    """Whether a file system accepts the name; undecodable bytes are encoded by PEP 383."""
    try:
        return len(name.encode("utf-8", errors)) <= _LONGEST
    except UnicodeEncodeError:
        return False


def is_deep(value: Json) -> bool:
    """Whether lists and objects nest deeper than `DEEPEST`."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return any(isinstance(one, dict | list) for one in level)


def unknown(members: dict[str, Json]) -> dict[str, Json]:
    """The members that this format does not define."""
    if members.keys() <= KNOWN_KEYS:
        return {}
    return {key: value for key, value in members.items() if key not in KNOWN_KEYS}


def _manifest(members: dict[str, Json]) -> Manifest:
    by_version = [_object(member) for member in _by_version(members)]
    states = _object(members.get("states", {}))
    names = _texts(members["versions"])
    current = members["currentversion"]
    if current not in names or len(set(names)) != len(names):
        raise _Doubt
    identifier, written = _text(members["item_id"]), _count(members["format"])
    if not identifier or not written or not all(map(is_version_name, names)):
        raise _Doubt
    versions = [_version(v, [of[v] for of in by_version], states.get(v)) for v in names]
    return Manifest(
        identifier,
        _text(members["date"]),
        current,
        tuple(versions),
        _object(members["metadata"]),
        _count(members["revision"]),
        written,
        extra=unknown(members),
        changed=_text(members.get("changed", "")),
        history=_object(members.get("history", {})),
    )


def _version(name: str, members: Sequence[Json], state: Json) -> Version:
    """A version from its values in the members, in the order of `_by_version`."""
    date, files, subdir, metadata_files, log, digests, origin = members
    tops = _texts(files)
    if not (all(map(is_file_path, tops)) and all(map(is_file_path, _object(digests)))):
        raise _Doubt
    return Version(
        name,
        _text(date),
        _origin(_object(origin)),
        tops,
        _texts(subdir),
        _texts(metadata_files),
        _texts(log),
        {path: _digest(value) for path, value in digests.items()},
        None if state is None else _text(state),
    )


def _origin(members: dict[str, Json]) -> Origin:
    kind, of = members["kind"], members.get("of")
    if kind not in KINDS:
        raise _Doubt
    prefixes = _object(members.get("prefixes", {}))
    "".join(prefixes.values())  # raises TypeError if one is not text
    return Origin(
        kind,
        None if of is None else _text(of),
        prefixes,
        _text(members.get("agent", "")),
        _text(members.get("message", "")),
        _text(members.get("date", "")),
    )


def _digest(value: Json) -> Digest | None:
    if value is None:
        return None
    sha256, size = _object(value)["sha256"], value["size"]
    if not SHA256.fullmatch(sha256):
        raise _Doubt
    return Digest(sha256, _count(size))


def _text(value: Json) -> str:
    if type(value) is not str:
        raise _Doubt
    return value


def _texts(value: Json) -> tuple[str, ...]:
    if type(value) is not list:
        raise _Doubt
    "".join(value)  # raises TypeError if one is not text
    return tuple(value)


def _object(value: Json) -> dict[str, Any]:
    if type(value) is not dict:
        raise _Doubt
    return value


def _count(value: Json) -> int:
    if type(value) is not int or not 0 <= value <= HIGHEST:
        raise _Doubt
    return value
