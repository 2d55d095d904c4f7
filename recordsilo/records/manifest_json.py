"""Read and write ``__manifest.json`` (docs/format-manifest.md, "The manifest"). Pure.

The keys of 2010 keep their names, order and meaning; this format adds its own.
"""

import hashlib
import json
import math
import re
from typing import cast

from recordsilo.disk.digest import Digest
from recordsilo.disk.names import MANIFEST_NAME, is_own
from recordsilo.errors import ManifestUnreadable
from recordsilo.records.manifest import Json, Manifest, Origin, OriginKind, Pending, Version
from recordsilo.records.manifest_plain import (
    DEEPEST,
    HIGHEST,
    KINDS,
    SHA256,
    is_deep,
    is_file_path,
    is_version_name,
    plain_manifest,
    unknown,
)

_text = json.encoder.encode_basestring
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text} is too large")
    return number


_decode = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite).decode
"""Refuses to read numbers that cannot be written back."""
_CLONED = re.compile(r"Version .+ cloned from (?P<of>.+)")


def to_2010(manifest: Manifest) -> dict[str, Json]:
    """The keys of 2010 with their meaning, as a new dict."""
    versions = manifest.versions
    return {
        "item_id": manifest.item_id,
        "date": manifest.date,
        "currentversion": manifest.current_version,
        "versions": [v.name for v in versions],
        "version_dates": {v.name: v.date for v in versions},
        "files": {v.name: list(v.files) for v in versions},
        "subdir": {v.name: list(v.subdir) for v in versions},
        "metadata_files": {v.name: list(v.metadata_files) for v in versions},
        "versionlog": {v.name: list(v.log) for v in versions},
        "metadata": dict(manifest.metadata),
    }


def to_json(manifest: Manifest) -> bytes:
    """The manifest's bytes: one JSON object, one line for each key, UTF-8.

    The last line is ``checksum``, the SHA-256 of all bytes before that line. An audit
    detects damage by it; other readers do not need it.
    """
    return with_checksum(text_of(manifest))


def with_checksum(text: str) -> bytes:
    """The bytes of a manifest.

    Args:
        text: As of `text_of`.
    """
    # A lone surrogate cannot be encoded as UTF-8, so it is written as a JSON escape.
    body = text.encode("utf-8", "backslashreplace")
    return body + b'"checksum": "%s"\n}\n' % hashlib.sha256(body).hexdigest().encode()


def text_of(manifest: Manifest) -> str:
    """The manifest's keys with their values as JSON, one line each, before the checksum.

    Values of a known shape are formatted here, because calling a general encoder for
    each key takes four times as long.
    """
    told = zip(*map(_version_to_json, manifest.versions), strict=True)
    names, dates, files, subdir, metadata_files, log, digests, origins = (
        map(_join, told) if manifest.versions else [""] * 8
    )
    metadata = _encode(dict(manifest.metadata)) if manifest.metadata else "{}"
    extra = [f"{_text(key)}: {_encode(value)},\n" for key, value in manifest.extra.items()]
    text = (
        f'{{\n"item_id": {_text(manifest.item_id)},\n"date": {_text(manifest.date)},\n'
        f'"currentversion": {_text(manifest.current_version)},\n'
        f'"versions": [{names}],\n"version_dates": {{{dates}}},\n'
        f'"files": {{{files}}},\n"subdir": {{{subdir}}},\n'
        f'"metadata_files": {{{metadata_files}}},\n"versionlog": {{{log}}},\n'
        f'"metadata": {metadata},\n{"".join(extra)}"format": {manifest.format},\n'
        f'"revision": {manifest.revision},\n'
        f'"changed": {_text(manifest.changed)},\n'
        f'"digests": {{{digests}}},\n"origins": {{{origins}}},\n'
    )
    if states := {v.name: v.state for v in manifest.versions if v.state is not None}:
        text += f'"states": {_encode(states)},\n'
    if manifest.history:
        text += f'"history": {_encode(manifest.history)},\n'
    if manifest.pending:
        pending = {"renames": manifest.pending.renames, "unlinks": manifest.pending.unlinks}
        text += f'"pending": {_encode(pending)},\n'
    return text


_join = ", ".join


def _version_to_json(version: Version) -> tuple[str, ...]:
    """What each key that has a member for each version says of one, in the order of the keys."""
    name = _text(version.name)
    return (
        name,
        f"{name}: {_text(version.date)}",
        f"{name}: {_list(version.files)}",
        f"{name}: {_list(version.subdir)}",
        f"{name}: {_list(version.metadata_files)}",
        f"{name}: {_list(version.log)}",
        f"{name}: {_digests_to_json(version)}",
        f"{name}: {_origin_to_json(version.origin)}",
    )


def _list(values: tuple[str, ...]) -> str:
    return f"[{_join(map(_text, values))}]" if values else "[]"


def from_json(content: bytes, path: str) -> Manifest:
    """Read a manifest of this format, of 2010, or of a later, compatible format.

    Args:
        path: The file's path, for error messages.

    Raises:
        ManifestUnreadable: Not JSON, not an object, or a key of the wrong shape.
    """
    try:
        members = _members(content)
    except (ValueError, RecursionError) as error:
        reason = "it is empty" if not content.strip() else f"it is not JSON: {error}"
        raise ManifestUnreadable(path, reason) from None
    if not isinstance(members, dict):
        raise ManifestUnreadable(path, "it is not a JSON object")
    if content.count(b"[") + content.count(b"{") > DEEPEST and is_deep(members):
        raise ManifestUnreadable(path, f"it nests deeper than {DEEPEST} levels")
    return plain_manifest(members) or _MemberReader(members, path).manifest()


def _members(content: bytes) -> Json:
    try:
        return _decode(content.decode())
    except ValueError:  # for example a byte order mark, or UTF-16; 2010 accepted both
        return json.loads(content, parse_constant=_no_constant, parse_float=_finite)


def is_as_written(content: bytes) -> bool:
    """Whether a manifest matches its checksum or, without one, has no key twice.

    Manifests of 2010 have no checksum, nor do those edited by hand.

    Args:
        content: The bytes of a readable manifest.
    """
    body, _, rest = content.rpartition(b'"checksum": "')
    if rest == hashlib.sha256(body).hexdigest().encode() + b'"\n}\n':
        return True
    try:
        members = json.loads(content, object_pairs_hook=_each_once)
    except _TwiceError:
        return False
    return "checksum" not in members  # one inside ``metadata`` is not the manifest's own


class _TwiceError(ValueError):
    """An object has a key twice; writing it again would lose one of the values."""


def _each_once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _TwiceError
    return found


def _digests_to_json(version: Version) -> str:
    members = [
        f'{_text(path)}: {{"sha256": "{d.sha256}", "size": {d.size}}}'
        if d
        else f"{_text(path)}: null"
        for path, d in (version.digests or {}).items()
    ]
    return f"{{{_join(members)}}}"


def _origin_to_json(origin: Origin) -> str:
    members = [f'"kind": {_text(origin.kind)}']
    if origin.of:
        members.append(f'"of": {_text(origin.of)}')
    if origin.prefixes:
        prefixes = [f"{_text(one)}: {_text(stamp)}" for one, stamp in origin.prefixes.items()]
        members.append(f'"prefixes": {{{_join(prefixes)}}}')
    if origin.agent:
        members.append(f'"agent": {_text(origin.agent)}')
    if origin.message:
        members.append(f'"message": {_text(origin.message)}')
    if origin.date:
        members.append(f'"date": {_text(origin.date)}')
    return f"{{{_join(members)}}}"


class _MemberReader:
    """Turns the members of a manifest into values, and names a malformed member."""

    def __init__(self, members: dict[str, Json], path: str) -> None:
        self.members, self.path = members, path
        self._by_version: dict[str, dict[str, Json]] = {}

    def manifest(self) -> Manifest:
        members = self.members
        written = self._number("format")
        names = tuple(str(name) for name in self._value("versions", list, []))
        if len(set(names)) != len(names):
            raise self._fault("versions", "names one twice")
        if not all(is_version_name(name) for name in names):
            reason = "names one that leads out of the record, or that no directory can have"
            raise self._fault("versions", reason)
        current = str(members.get("currentversion", ""))
        if names and current not in names:
            raise self._fault("currentversion", f"{current!r} is not among versions")
        return Manifest(
            item_id=self._item_id(),
            date=self._value("date", str, "") or "",
            current_version=current if names else "",
            versions=tuple(self._version(name, written) for name in names),
            metadata=self._value("metadata", dict, {}),
            revision=self._number("revision"),
            format=written,
            pending=self._pending(),
            extra=unknown(members),
            changed=self._value("changed", str, "") or "",
            history=self._value("history", dict, {}),
        )

    def _item_id(self) -> str:
        found = self._value("item_id", str, "")
        if not found:
            raise self._fault("item_id", "is missing")
        return str(found)

    def _number(self, key: str) -> int:
        found = self.members.get(key, 0)
        if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found <= HIGHEST:
            raise self._fault(key, "is not a count below 2 to the power of 63")
        return found

    def _version(self, name: str, written: int) -> Version:
        log = self._names("versionlog", name)
        return Version(
            name=name,
            date=str(self._per_version("version_dates", name, str, "") or ""),
            origin=self._origin(name, log),
            files=self._names("files", name),
            subdir=self._names("subdir", name),
            metadata_files=self._names("metadata_files", name),
            log=log,
            digests=self._digests(name) if written else None,
            state=self._per_version("states", name, str, None),
        )

    def _names(self, key: str, version: str) -> tuple[str, ...]:
        found = self._per_version(key, version, list, []) or []
        if not all(isinstance(item, str) for item in found):
            raise self._fault(key, f"of version {version!r} holds something other than text")
        if key == "files" and not all(map(is_file_path, found)):
            reason = "names one that leads out of it, or that no file can have"
            raise self._fault(key, f"of version {version!r} {reason}")
        return tuple(found)

    def _origin(self, version: str, log: tuple[str, ...]) -> Origin:
        found = self._per_version("origins", version, dict, None)
        if found is None:
            return self._origin_of_2010(log)
        if found.get("kind") not in KINDS:
            raise self._fault("origins", f"of version {version!r} has no known kind")
        prefixes = found.get("prefixes", {})
        if not isinstance(prefixes, dict):
            raise self._fault("origins", f"of version {version!r} has no object as prefixes")
        return Origin(
            kind=cast(OriginKind, found["kind"]),
            of=None if found.get("of") is None else str(found["of"]),
            prefixes={str(k): str(v) for k, v in prefixes.items()},
            agent=str(found.get("agent", "")),
            message=str(found.get("message", "")),
            date=str(found.get("date", "")),
        )

    def _origin_of_2010(self, log: tuple[str, ...]) -> Origin:
        """2010 stored no origins: the log shows a clone, ``metadata`` a harvest."""
        for line in log:
            if match := _CLONED.match(line):
                return Origin("clone", of=match["of"])
        noted = self._value("metadata", dict, {})
        harvested = "firstSeen" in noted or "deleted_at_version" in noted
        return Origin("harvest" if harvested else "local")

    def _digests(self, version: str) -> dict[str, Digest | None]:
        found = self._per_version("digests", version, dict, {}) or {}
        for path in found:
            if not is_file_path(path):
                raise self._fault("digests", f"of version {version!r} names {path!r}, not a file")
        return {path: self._digest(version, path, value) for path, value in found.items()}

    def _digest(self, version: str, path: str, value: Json) -> Digest | None:
        if value is None:
            return None
        match value:
            case {"sha256": str(sha256), "size": int(size)} if (
                SHA256.fullmatch(sha256) and 0 <= size <= HIGHEST
            ):
                return Digest(sha256, int(size))
        raise self._fault("digests", f"of {path!r} in version {version!r} is not a digest")

    def _pending(self) -> Pending:
        match self._value("pending", dict, {}):
            case {"renames": list(renames), "unlinks": list(unlinks)}:
                if all(map(_is_rename, renames)) and all(map(_is_unlink, unlinks)):
                    return Pending(
                        tuple((source, target) for source, target in renames),
                        tuple((path, size, mtime) for path, size, mtime in unlinks),
                    )
            case empty if not empty:
                return Pending()
        raise self._fault("pending", "is not lists of renames and unlinks inside the record")

    def _value(self, key: str, kind: "_Kind", default: Json) -> Json:
        found = self.members.get(key, default)
        if not isinstance(found, kind):
            raise self._fault(key, f"is not {_JSON_NAMES[kind]}")
        return found

    def _per_version(self, key: str, version: str, kind: "_Kind", default: Json) -> Json:
        by_version = self._by_version.get(key)
        if by_version is None:
            by_version = self._by_version[key] = self._value(key, dict, {})
        found = by_version.get(version, default)
        if found is not None and not isinstance(found, kind):
            raise self._fault(key, f"of version {version!r} is not {_JSON_NAMES[kind]}")
        return found

    def _fault(self, key: str, reason: str) -> ManifestUnreadable:
        return ManifestUnreadable(self.path, f"its {key!r} {reason}")


_Kind = type[dict[str, Json]] | type[list[Json]] | type[str]
_JSON_NAMES: dict[type, str] = {dict: "an object", list: "a list", str: "text"}


def _is_rename(entry: Json) -> bool:
    return isinstance(entry, list) and len(entry) == 2 and all(map(_is_inside, entry))


def _is_unlink(entry: Json) -> bool:
    match entry:
        case [path, int(), int()]:
            return _is_inside(path)
    return False


def _is_inside(path: Json) -> bool:
    """Whether a path of the pending list stays below a version's directory of the record."""
    if not isinstance(path, str) or not is_file_path(path):
        return False
    version = path.partition("/")[0]
    return is_own(version) and not version.startswith(MANIFEST_NAME)
