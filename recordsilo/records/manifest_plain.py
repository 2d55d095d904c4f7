"""Manifests of the very shape that this release writes, read in half the time. Pure.

Nearly all are. Whatever differs in any point is left to the reader in `manifest_json`,
which takes what is sound in the manifests of 2010 and of later formats, and names
the key that is not; where this one gives a manifest, that one gives the same.
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
        "metadata_files", "versionlog", "metadata", "format", "revision", "digests", "origins",
        "states", "pending", "checksum",
    }
)  # fmt: skip
SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
KINDS = ("harvest", "clone", "local")

_by_version = itemgetter(
    "version_dates", "files", "subdir", "metadata_files", "versionlog", "digests", "origins"
)
_NO_FILE = frozenset({"", ".", ".."})
_LONGEST = 255
"""Bytes of a name that the file systems of Linux and macOS take."""
HIGHEST = (1 << 63) - 1
"""Of a count: what SQLite, and the tools of others, take as a number."""
DEEPEST = 64
"""How deep the JSON of a record's metadata nests."""


class _Doubt(Exception):
    """Something is not as it is written here."""


def plain_manifest(members: dict[str, Json]) -> Manifest | None:
    """The manifest, if all its members are as `manifest_json.to_json` writes them; else None."""
    if "pending" in members:
        return None
    try:
        return _manifest(members)
    except (_Doubt, KeyError, TypeError):
        return None


def is_version_name(name: str) -> bool:
    """Whether a version may have the name: its directory is in the record's, and can be made."""
    if not name or "/" in name or "\0" in name:
        return False
    return (name.isascii() and len(name) <= _LONGEST - 2) or _fits(f"__{name}", "strict")


def is_file_path(path: str) -> bool:
    """Whether a path stays within its version's directory, and can be a file's."""
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
    """Whether a file system takes the name; bytes that are no text are as PEP 383 has them."""
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
    """The members that this format has no meaning for."""
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
    )


def _version(name: str, members: Sequence[Json], state: Json) -> Version:
    """A version from what the members in the order of `_by_version` say of it."""
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
    "".join(prefixes.values())  # a TypeError, where one of them is no text
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
    "".join(value)  # a TypeError, where one of them is no text
    return tuple(value)


def _object(value: Json) -> dict[str, Any]:
    if type(value) is not dict:
        raise _Doubt
    return value


def _count(value: Json) -> int:
    if type(value) is not int or not 0 <= value <= HIGHEST:
        raise _Doubt
    return value
