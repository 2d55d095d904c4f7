"""Read what a manifest states from its raw JSON, key by key. Pure.

Independent of `recordsilo.records.manifest_json` on purpose, to find faults that the store's
own reader overlooks or tolerates (docs/format-manifest.md, "The manifest").
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from recordsilo.audit.findings import Code, shown

KNOWN_FORMAT = 1
_DEEPEST = 64
_LONGEST = 255
"""The longest name that file systems accept, in bytes."""
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_LAST_LINE = re.compile(rb'"checksum": "([0-9a-f]{64})"\n}\n', re.ASCII)
_LAST_LINE_SIZE = len(b'"checksum": ""\n}\n') + 64
_KINDS = ("harvest", "import", "clone", "local")
PER_VERSION = (
    "version_dates", "files", "subdir", "metadata_files", "versionlog", "digests", "origins",
    "states",
)  # fmt: skip

Json = Any


@dataclass(frozen=True, slots=True)
class ManifestFault:
    """A finding about the manifest itself."""

    code: Code
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class StatedVersion:
    """A version as stated.

    Attributes:
        digests: Path → (SHA-256, size), or None if unknown; None instead of a mapping if
            the manifest is of 2010.
        kind: ``harvest``, ``import``, ``clone`` or ``local``; empty if it is not stated.
    """

    name: str
    files: tuple[str, ...]
    subdir: tuple[str, ...]
    digests: Mapping[str, tuple[str, int] | None] | None
    kind: str

    @property
    def is_curated(self) -> bool:
        """Whether people made it; a version without a stated kind counts as harvested."""
        return self.kind in {"clone", "local"}

    @property
    def directories(self) -> frozenset[str]:
        """The expected directories: those of files, and the listed ones."""
        parents = {
            path[:end]
            for path in self.digests or ()
            for end, letter in enumerate(path)
            if letter == "/"
        }
        return frozenset(parents | set(self.subdir))


@dataclass(frozen=True, slots=True)
class Statement:
    """The statements of a manifest that concern the disk.

    Attributes:
        members: The raw keys.
        renames: (from, to), relative to the record.
        unlinks: (path, size, mtime in ns); -1 for directories.
    """

    item_id: str
    format: int
    revision: int
    versions: tuple[StatedVersion, ...]
    renames: tuple[tuple[str, str], ...] = ()
    unlinks: tuple[tuple[str, int, int], ...] = ()
    members: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a manifest; without a statement, the check cannot continue."""

    statement: Statement | None
    faults: tuple[ManifestFault, ...]


def read_statement(content: bytes) -> Reading:
    """Read a manifest's bytes; every malformed key is a fault."""
    try:
        members = _parsed(content)
    except _KeyTwiceError as error:
        return _unreadable(Code.KEY_TWICE, "each key once", str(error))
    except (ValueError, RecursionError) as error:
        if not content.strip():
            return _unreadable(Code.MANIFEST_EMPTY, "a JSON object", f"{len(content)} bytes")
        return _unreadable(Code.MANIFEST_NOT_JSON, "a JSON object in UTF-8", str(error))
    if not isinstance(members, dict):
        return _unreadable(Code.MANIFEST_NOT_AN_OBJECT, "a JSON object", shown(members))
    brackets = content.count(b"{") + content.count(b"[")  # in any encoding of JSON, and in texts
    if brackets > _DEEPEST and _depth(members) > _DEEPEST:
        return _unreadable(Code.TOO_DEEP, f"{_DEEPEST} levels at most", "more")
    seal = tuple(_seal_faults(content, members))
    shape = tuple(_shape_faults(members))
    if _is_newer(members):
        found = str(members["format"])
        newer = ManifestFault(Code.FORMAT_TOO_NEW, f"at most {KNOWN_FORMAT}", found)
        broken = seal if _LAST_LINE.fullmatch(content[-_LAST_LINE_SIZE:]) else ()
        return Reading(None if shape else _statement(members), (newer, *broken))
    if any(fault.code.severity.value == "damage" for fault in shape):
        return Reading(None, (*seal, *shape))
    return Reading(_statement(members), (*seal, *shape))


class _KeyTwiceError(ValueError):
    """An object has a key twice."""


def _parsed(content: bytes) -> Json:
    return _DECODER.decode(content.decode(json.detect_encoding(content), "surrogatepass"))


def _no_twice(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _KeyTwiceError(shown(next(key for key in found if keys.count(key) > 1)))
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    if float(text) in {float("inf"), float("-inf")}:
        raise ValueError(f"the number {text} is too large")
    return float(text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_no_twice, parse_constant=_no_constant, parse_float=_finite
)


def _depth(value: Json) -> int:
    """The depth to which lists and objects are nested."""
    level, depth = [value], 0
    while level := [one for one in level if isinstance(one, dict | list)]:
        depth += 1
        level = [x for one in level for x in (one.values() if isinstance(one, dict) else one)]
    return depth


def _unreadable(code: Code, expected: str, found: str) -> Reading:
    return Reading(None, (ManifestFault(code, expected, found),))


def _is_newer(members: dict[str, Json]) -> bool:
    return _is_count(members.get("format")) and members["format"] > KNOWN_FORMAT


def _seal_faults(content: bytes, members: dict[str, Json]) -> Iterator[ManifestFault]:
    """Compare the manifest with its own checksum; manifests of 2010 have none."""
    if "checksum" not in members:
        if members.get("format", 0) != 0:
            yield ManifestFault(Code.NO_CHECKSUM, "a last key 'checksum'", "none")
        return
    body, end = content[:-_LAST_LINE_SIZE], content[-_LAST_LINE_SIZE:]
    last_line = _LAST_LINE.fullmatch(end)
    stated = shown(members["checksum"]) if last_line is None else last_line[1].decode()
    computed = hashlib.sha256(body).hexdigest()
    if stated != computed:
        yield ManifestFault(Code.CHECKSUM_DIFFERS, f"sha256 {stated}", f"sha256 {computed}")


def sealed_body(content: bytes) -> bytes | None:
    """What the checksum of a manifest covers; None if it has none at its end, or another."""
    body, last_line = content[:-_LAST_LINE_SIZE], _LAST_LINE.fullmatch(content[-_LAST_LINE_SIZE:])
    is_sealed = last_line and last_line[1] == hashlib.sha256(body).hexdigest().encode()
    return body if is_sealed else None


# -- shapes -----------------------------------------------------------------------------


def _shape_faults(members: dict[str, Json]) -> Iterator[ManifestFault]:
    yield from _identity_faults(members)
    yield from _version_faults(members)
    for key, (code, kind, fits) in _SHAPES.items():
        yield from _per_version_faults(members, key, code, kind, fits)
    yield from _path_faults(members)
    yield from _pending_faults(members)


def _identity_faults(members: dict[str, Json]) -> Iterator[ManifestFault]:
    item_id = members.get("item_id")
    if not (isinstance(item_id, str) and item_id):
        yield ManifestFault(Code.ITEM_ID, "an identifier", _of(members, "item_id"))
    if not isinstance(members.get("date"), str):
        yield ManifestFault(Code.DATE, "a date", _of(members, "date"))
    if not isinstance(members.get("changed", ""), str):
        yield ManifestFault(Code.DATE, "a date", _of(members, "changed"))
    if not is_history(members.get("history", {}), members.get("revision", 0)):
        yield ManifestFault(Code.HISTORY, "an object with steps", _of(members, "history"))
    if not isinstance(members.get("metadata", {}), dict):
        yield ManifestFault(Code.METADATA, "an object", _of(members, "metadata"))
    written = members.get("format", 0)
    if not _is_count(written):
        yield ManifestFault(Code.FORMAT, "a number", _of(members, "format"))
    revision = members.get("revision", 0)
    if not _is_count(revision) or (written == KNOWN_FORMAT and revision == 0):
        yield ManifestFault(Code.REVISION, "a count, from 1 on", _of(members, "revision"))


def is_history(found: Json, revision: Json) -> bool:
    """Whether earlier states can be read; those of another revision are not used."""
    if not isinstance(found, dict):
        return False
    if not found or found.get("revision") != revision:
        return True
    steps = found.get("steps", [])
    return isinstance(steps, list) and all(
        isinstance(one, dict) and isinstance(one.get("at"), str) for one in steps
    )


def _version_faults(members: dict[str, Json]) -> Iterator[ManifestFault]:
    versions = members.get("versions")
    names = _names_of(members)
    if not isinstance(versions, list) or len(set(names)) != len(versions):
        yield ManifestFault(Code.VERSIONS, "a list of different names", _of(members, "versions"))
        return
    for name in names:
        if has_version_name(name):
            continue
        if not name or "/" in name or "\0" in name:
            yield ManifestFault(Code.VERSION_LEADS_OUT, "a name", shown(name))
        elif _is_impossible(f"__{name}", "strict"):
            yield ManifestFault(Code.VERSION_IMPOSSIBLE, "a directory's name", shown(name))
        else:
            yield ManifestFault(Code.VERSION_NAME, "a name as in silo help format", shown(name))
    if names and str(members.get("currentversion")) not in names:
        expected = "one of " + ", ".join(names)
        yield ManifestFault(Code.CURRENTVERSION, expected, _of(members, "currentversion"))


def _per_version_faults(
    members: dict[str, Json], key: str, code: Code, kind: str, fits: Callable[[Json], bool]
) -> Iterator[ManifestFault]:
    found = members.get(key, {})
    if not isinstance(found, dict):
        yield ManifestFault(code, "an object", _of(members, key))
        return
    for version, value in found.items():
        if not fits(value):
            yield ManifestFault(code, f"{kind} for version {version!r}", shown(value))


def _path_faults(members: dict[str, Json]) -> Iterator[ManifestFault]:
    for version in _names_of(members):
        listed = (_listed(members, "files", version), _listed(members, "digests", version))
        named = (path for paths in listed for path in paths if isinstance(path, str))
        for path in dict.fromkeys(named):
            if has_file_name(path):
                continue
            if _leads_out(path):
                yield ManifestFault(
                    Code.FILE_LEADS_OUT, f"a path within version {version!r}", shown(path)
                )
            elif any(_is_impossible(name, "surrogateescape") for name in path.split("/")):
                yield ManifestFault(
                    Code.FILE_IMPOSSIBLE, f"a path in version {version!r}", shown(path)
                )
            else:
                yield ManifestFault(Code.FILE_NAME, "a name as in silo help format", shown(path))


def _listed(members: dict[str, Json], key: str, version: str) -> tuple[Json, ...]:
    found = members.get(key)
    listed = found.get(version) if isinstance(found, dict) else None
    return tuple(listed) if isinstance(listed, list | dict) else ()


def _pending_faults(members: dict[str, Json]) -> Iterator[ManifestFault]:
    found = members.get("pending", {})
    if found == {}:
        return
    if not _is_pending(found):
        expected = "lists of [from, to] and of [path, size, mtime]"
        yield ManifestFault(Code.PENDING, expected, shown(found))
        return
    paths = [path for rename in found["renames"] for path in rename]
    for path in (*paths, *(path for path, _, _ in found["unlinks"])):
        if _leads_out(path) or not _is_own_directory(path.partition("/")[0]):
            yield ManifestFault(Code.PENDING_LEADS_OUT, "a path below a version", shown(path))


def _is_pending(found: Json) -> bool:
    return (
        isinstance(found, dict)
        and isinstance(found.get("renames"), list)
        and isinstance(found.get("unlinks"), list)
        and all(_is_names(entry) and len(entry) == 2 for entry in found["renames"])
        and all(map(_is_unlink, found["unlinks"]))
    )


def _is_unlink(entry: Json) -> bool:
    match entry:
        case [str(), int(), int()]:
            return True
    return False


def _is_own_directory(name: str) -> bool:
    return name.startswith("__") and len(name) > 2 and not name.startswith("__manifest.json")


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


def _is_names(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_date(value: Json) -> bool:
    return value is None or isinstance(value, str)


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_digests(value: Json) -> bool:
    return isinstance(value, dict) and all(map(_is_digest, value.values()))


def _is_digest(value: Json) -> bool:
    match value:
        case None:
            return True
        case {"sha256": str(sha256), "size": size} if _is_count(size):
            return _SHA256.fullmatch(sha256) is not None
    return False


def _is_origin(value: Json) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("prefixes", {}), dict):
        return False
    texts = [value.get(key, "") for key in ("agent", "message", "date", "of")]
    return all(isinstance(text, str) for text in (*texts, *value.get("prefixes", {}).values()))


_SHAPES: dict[str, tuple[Code, str, Callable[[Json], bool]]] = {
    "version_dates": (Code.VERSION_DATES, "a date", _is_date),
    "files": (Code.FILES, "a list of names", _is_names),
    "subdir": (Code.SUBDIR, "a list of names", _is_names),
    "metadata_files": (Code.METADATA_FILES, "a list of paths", _is_names),
    "versionlog": (Code.VERSIONLOG, "a list of texts", _is_names),
    "digests": (Code.DIGESTS, "digests by path", _is_digests),
    "origins": (Code.ORIGINS, "an origin", _is_origin),
    "states": (Code.STATES, "a text", _is_text),
}


@lru_cache(maxsize=4096)  # most records have versions and files of the same names
def has_version_name(name: str) -> bool:
    """Whether a version can have the name: no rule about names finds a fault."""
    return not (
        name.startswith("manifest.json")
        or "/" in name
        or _leads_out(name)
        or _is_impossible(f"__{name}", "strict")
        or _is_refused(name)
    )


@lru_cache(maxsize=4096)
def has_file_name(path: str) -> bool:
    """Whether a file of a version can have the path: no rule about paths finds a fault."""
    return not _leads_out(path) and not any(
        _is_impossible(name, "surrogateescape") or _is_refused(name) for name in path.split("/")
    )


def _leads_out(path: str) -> bool:
    return "\0" in path or bool({"", ".", ".."} & set(path.split("/")))


def _is_impossible(name: str, errors: str) -> bool:
    """Whether no file or directory can have the name; bytes that are not text are allowed."""
    try:
        return len(name.encode("utf-8", errors)) > _LONGEST
    except UnicodeEncodeError:
        return True


def _is_refused(name: str) -> bool:
    """Whether a name is invalid: control characters, lone surrogates, more than 250 bytes."""
    if name.isascii() and name.isprintable():
        return len(name) > 250 or name in {".", ".."}
    try:
        octets = name.encode()
    except UnicodeEncodeError:
        return True
    return len(octets) > 250 or name in {".", ".."} or any(c < " " or c == "\x7f" for c in name)


def _of(members: dict[str, Json], key: str) -> str:
    return shown(members[key]) if key in members else f"no {key!r}"


def _names_of(members: dict[str, Json]) -> list[str]:
    """The versions' names; 2010 stored some as numbers."""
    found = members.get("versions")
    listed = found if isinstance(found, list) else []
    return [str(n) for n in listed if isinstance(n, str) or _is_count(n)]


def _statement(members: dict[str, Json]) -> Statement:
    pending = members.get("pending") or {"renames": [], "unlinks": []}
    written = members.get("format", 0)
    return Statement(
        item_id=members["item_id"],
        format=written,
        revision=members.get("revision", 0),
        versions=tuple(_stated_version(members, name, written) for name in _names_of(members)),
        renames=tuple((source, target) for source, target in pending["renames"]),
        unlinks=tuple((path, size, mtime) for path, size, mtime in pending["unlinks"]),
        members=members,
    )


def _stated_version(members: dict[str, Json], name: str, written: int) -> StatedVersion:
    digests = members.get("digests", {}).get(name, {})
    known = {path: d and (d["sha256"], d["size"]) for path, d in digests.items()}
    kind = members.get("origins", {}).get(name, {}).get("kind", "")
    return StatedVersion(
        name=name,
        files=_listed(members, "files", name),
        subdir=_listed(members, "subdir", name),
        digests=known if written else None,
        kind=kind if kind in _KINDS else "",
    )
