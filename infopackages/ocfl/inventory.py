"""The inventory of an OCFL object: its versions, and where their content is (pure)."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

TYPE = "https://ocfl.io/1.1/spec/#inventory"
INVENTORY = "inventory.json"
_TYPES = (TYPE, "https://ocfl.io/1.0/spec/#inventory")
_LENGTHS = {"sha512": 128, "sha256": 64}
_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False)
_VERSION = re.compile(r"v(0*)([1-9][0-9]{0,8})")


class OcflError(ValueError):
    """A storage root or an object is not as OCFL says, or not supported; the text is a sentence."""


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """A version of an object.

    Attributes:
        created: When, in RFC 3339.
        state: Logical path → digest of the content.
        message: Why it was made.
        user: Name of who made it.
        address: Their URI.
    """

    created: str
    state: Mapping[str, str]
    message: str = ""
    user: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class Inventory:
    """What an object holds.

    Attributes:
        id: Of the object.
        versions: The oldest first.
        manifest: Digest → paths of files below the object with that content.
        algorithm: Of the digests, which are lower-case hex: ``sha512``, or ``sha256``.
        content: Name of the directory for content in each version.
        width: Digits of the names of versions if they are padded (``v0001``); else 0.
    """

    id: str
    versions: tuple[ObjectVersion, ...] = ()
    manifest: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    algorithm: str = "sha512"
    content: str = "content"
    width: int = 0

    def name(self, number: int) -> str:
        """Return the name of a version by its number, which counts from 1."""
        return f"v{number:0{self.width}d}"

    @property
    def head(self) -> str:
        """The name of the newest version."""
        return self.name(len(self.versions))

    @property
    def sidecar(self) -> str:
        """The name of the file with the digest of the inventory."""
        return f"{INVENTORY}.{self.algorithm}"

    def with_version(
        self, version: ObjectVersion, added: Mapping[str, tuple[str, ...]]
    ) -> "Inventory":
        """Return it with one more version.

        Args:
            added: Digest → paths of the content that is new.
        """
        manifest = {**self.manifest, **added}
        return replace(self, versions=(*self.versions, version), manifest=manifest)

    def to_bytes(self) -> bytes:
        """Return its JSON."""
        content = {} if self.content == "content" else {"contentDirectory": self.content}
        value = {
            "id": self.id,
            "type": TYPE,
            "digestAlgorithm": self.algorithm,
            "head": self.head,
            **content,
            "manifest": {digest: list(paths) for digest, paths in self.manifest.items()},
            "versions": {
                self.name(number): _version_json(one) for number, one in enumerate(self.versions, 1)
            },
        }
        # A line for each part: `indent` costs several times as much, for lines of single digests.
        lines = (f' "{key}": {_ENCODER.encode(part)}' for key, part in value.items())
        return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _version_json(version: ObjectVersion) -> dict[str, Any]:
    state: dict[str, list[str]] = {}
    for path, digest in version.state.items():
        state.setdefault(digest, []).append(path)
    return {
        "created": version.created,
        "message": version.message,
        "user": {"name": version.user, "address": version.address},
        "state": state,
    }


# -- reading -----------------------------------------------------------------------------


def parsed(content: bytes) -> Inventory:
    """Read an inventory, which may come from anybody, and check it.

    Every path in it is safe to be joined to a directory.

    Raises:
        OcflError: It is invalid.
    """
    try:
        value = json.loads(content)
        return _inventory(value)
    except OcflError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = str(error) if isinstance(error, json.JSONDecodeError) else "a part has a wrong type"
        raise OcflError(f"its inventory is invalid: {why}") from None


def _inventory(value: dict[str, Any]) -> Inventory:
    _need(value["type"] in _TYPES, "it is of another version of OCFL")
    algorithm = value["digestAlgorithm"]
    _need(algorithm in _LENGTHS, f"the digest algorithm {algorithm!r} is not allowed")
    content = value.get("contentDirectory", "content")
    _need(isinstance(content, str) and "/" not in content, "contentDirectory is not a name")
    check_paths([content])
    _need(isinstance(value["id"], str) and value["id"], "it has no id")
    numbers, width = _numbers(value["versions"], value["head"])
    found = Inventory(value["id"], (), {}, algorithm, content, width)
    manifest = {
        _digest(digest, algorithm): tuple(paths) for digest, paths in value["manifest"].items()
    }
    _need(len(manifest) == len(value["manifest"]), "its manifest has a digest twice")
    paths = [path for some in manifest.values() for path in some]
    _need(all(manifest.values()), "its manifest has a digest without a file")
    check_paths(paths)
    below = tuple(f"{name}/{content}/" for name in numbers)
    _need(all(path.startswith(below) for path in paths), "content is outside its versions")
    versions = tuple(_version(value["versions"][name], manifest, algorithm) for name in numbers)
    return replace(found, versions=versions, manifest=manifest)


def _numbers(versions: dict[str, Any], head: Any) -> tuple[list[str], int]:
    """Return the names of the versions in order, and their width."""
    found = [match for name in versions if (match := _VERSION.fullmatch(name))]
    numbers = sorted(int(match[2]) for match in found)
    _need(len(found) == len(versions), "a version has an invalid name")
    _need(bool(numbers) and numbers == list(range(1, len(numbers) + 1)), "a version is missing")
    width = len(found[0][0]) - 1 if any(match[1] for match in found) else 0
    names = [f"v{number:0{width}d}" for number in numbers]
    _need(set(names) == set(versions), "the names of versions have several widths")
    _need(names[-1] == head, "its head is not the newest version")
    return names, width


def _version(value: dict[str, Any], manifest: Mapping[str, Any], algorithm: str) -> ObjectVersion:
    state = {}
    for digest, paths in value["state"].items():
        known = _digest(digest, algorithm)
        _need(known in manifest, "a version has content that is not in the manifest")
        for path in paths:
            _need(path not in state, "a version has a path twice")
            state[path] = known
    check_paths(state)
    created, user = value["created"], value.get("user") or {}
    moment = datetime.fromisoformat(created)
    _need("T" in created and moment.tzinfo is not None, "a version has an invalid date")
    texts = (value.get("message", ""), user.get("name", ""), user.get("address", ""))
    _need(all(isinstance(text, str) for text in texts), "a version has an invalid description")
    return ObjectVersion(created, state, *texts)


def _digest(text: str, algorithm: str) -> str:
    digest = text.lower()
    _need(bool(re.fullmatch(f"[0-9a-f]{{{_LENGTHS[algorithm]}}}", digest)), "a digest is invalid")
    return digest


def check_paths(paths: Iterable[str]) -> None:
    """Check paths of files: none leads out of its directory, is there twice or is below a file.

    Raises:
        OcflError: One is invalid.
    """
    files: set[str] = set()
    directories: set[str] = set()
    for path in paths:
        parts = path.split("/")
        is_valid = not any(part in ("", ".", "..") for part in parts) and "\0" not in path
        _need(is_valid, f"the path {path!r} is not allowed")
        _need(path not in files, f"the path {path!r} is there twice")
        files.add(path)
        directories.update("/".join(parts[:n]) for n in range(1, len(parts)))
    _need(files.isdisjoint(directories), "a file is also a directory")


def _need(is_so: Any, why: str) -> None:
    if not is_so:
        raise OcflError(f"its inventory is invalid: {why}")
