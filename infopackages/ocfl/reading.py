"""Read a storage root and its objects, which may come from anybody; nothing is written."""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from infopackages.files import PackageUnreadable, chunks_of, open_plain, read_plain
from infopackages.ocfl.inventory import INVENTORY, Inventory, OcflError, parsed
from infopackages.ocfl.layouts import StorageLayout, layout_from

ROOT = "0=ocfl_1.1"
ROOT_TEXT = b"ocfl_1.1\n"
_OLD_ROOT = "0=ocfl_1.0"
_OLD_ROOT_TEXT = b"ocfl_1.0\n"
OBJECT = "0=ocfl_object_1.1"
OBJECT_TEXT = b"ocfl_object_1.1\n"
LAYOUT = "ocfl_layout.json"
EXTENSIONS = "extensions"
_DECLARED = ((OBJECT, OBJECT_TEXT), ("0=ocfl_object_1.0", b"ocfl_object_1.0\n"))
_VERSION = re.compile(r"v[0-9]{1,9}")
_LARGEST = 256 << 20
"""The largest inventory that is read."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object of a storage root.

    Attributes:
        path: Its directory.
        digest: SHA-512 of its inventory.
    """

    path: str
    inventory: Inventory
    digest: str

    def open(self, digest: str) -> BinaryIO:
        """Open the content with a digest of the manifest.

        Raises:
            OcflError: It is missing, or not a plain file in the object.
        """
        return _open(self.path, self.inventory.manifest[digest][0])

    def read(self, digest: str, most: int) -> bytes:
        """Return the content with a digest of the manifest, which is checked.

        Raises:
            OcflError: It is missing, larger than ``most`` or has another digest.
        """
        content = _content(self.path, self.inventory.manifest[digest][0], most)
        if content is None or self.digest_of(content) != digest:
            raise OcflError(f"{self.inventory.manifest[digest][0]} is not as the inventory says")
        return content

    def digest_of(self, content: bytes) -> str:
        """Return the digest of some content, as the inventory would have it."""
        return hashlib.new(self.inventory.algorithm, content).hexdigest()

    def is_sound(self, digest: str, path: str) -> bool:
        """Whether a content file has its digest; reads it whole."""
        found = hashlib.new(self.inventory.algorithm)
        try:
            with _open(self.path, path) as file:
                for chunk in chunks_of(file):
                    found.update(chunk)
        except OcflError:
            return False
        return found.hexdigest() == digest

    def problems(self) -> Iterator[str]:
        """Yield what is missing, damaged or not in the inventory; reads all content."""
        known = {
            path: digest for digest, paths in self.inventory.manifest.items() for path in paths
        }
        for path, digest in known.items():
            if not self.is_sound(digest, path):
                yield f"{path} is missing or damaged"
        for path in files_below(self.path):
            top, _, below = path.partition("/")
            is_own = not below or top in ("logs", EXTENSIONS)
            if path not in known and not is_own and below.partition(".")[0] != "inventory":
                yield f"{path} is not in the inventory"


def read_object(path: str) -> StoredObject:
    """Read the inventory of an object.

    Raises:
        OcflError: It is not an object, or not as its digest says; then it says where the
            inventory can be had again.
    """
    if not any(_content(path, name, 64) == text for name, text in _DECLARED):
        raise OcflError("it is not an OCFL object of version 1.0 or 1.1")
    try:
        inventory, content = _inventory_in(path)
    except OcflError as error:
        raise OcflError(f"{error}; {_whence(path)}") from None
    return StoredObject(path, inventory, hashlib.sha512(content).hexdigest())


def _inventory_in(path: str, below: str = "") -> tuple[Inventory, bytes]:
    """Read the inventory of an object, or the copy in the directory of a version."""
    content = _content(path, below + INVENTORY, _LARGEST)
    if content is None:
        raise OcflError("it has no inventory that can be read")
    inventory = parsed(content)
    digest = hashlib.new(inventory.algorithm, content).hexdigest()
    said = _content(path, below + inventory.sidecar, 1024) or b""
    if said.decode("utf-8", "replace").split() != [digest, INVENTORY]:
        raise OcflError(f"its inventory is not the one of which {inventory.sidecar} has the digest")
    return inventory, content


def _whence(path: str) -> str:
    """What to do about an inventory that is damaged: each version has a copy, as it was then."""
    numbers = {int(one[1:]): one for one in os.listdir(path) if _VERSION.fullmatch(one)}
    newest = numbers[max(numbers)] if numbers else ""
    try:
        inventory, _ = _inventory_in(path, f"{newest}/")
    except OcflError:
        return "bring it and its digest back from a backup"
    return f"{newest} has a sound copy: copy {INVENTORY} and {inventory.sidecar} out of it"


def check_root(root: str, *, and_1_0: bool = False) -> None:
    """Check that a directory is a storage root.

    Args:
        and_1_0: Whether one of OCFL 1.0, such as that of Fedora 6.0, will do, too.

    Raises:
        OcflError: It is not a storage root of OCFL 1.1.
    """
    if _content(root, ROOT, 64) == ROOT_TEXT:
        return
    if not (and_1_0 and _content(root, _OLD_ROOT, 64) == _OLD_ROOT_TEXT):
        versions = "1.1 or 1.0" if and_1_0 else "1.1"
        raise OcflError(f"it is not a storage root of OCFL {versions}")


def read_layout(root: str) -> StorageLayout | None:
    """Return the layout that a storage root declares; None if it declares none.

    Raises:
        OcflError: It is not a storage root of OCFL 1.1, or its layout is not supported.
    """
    check_root(root)
    declared = _json(root, LAYOUT)
    if declared is None:
        return None
    name = declared.get("extension") if isinstance(declared, dict) else None
    if not isinstance(name, str) or "/" in name:
        raise OcflError(f"{LAYOUT} is invalid")
    return layout_from(name, _json(root, f"{EXTENSIONS}/{name}/config.json"))


def object_paths(root: str) -> Iterator[str]:
    """Yield the directories of all objects below a storage root, sorted; links are not followed.

    One that has only an inventory is yielded, too, so that an object without its declaration is
    told. Other files, such as the ``.DS_Store`` of macOS, do not hide what is below.

    Raises:
        OcflError: A directory cannot be read.
    """

    def broken(error: OSError) -> None:
        raise OcflError(f"{error.filename} cannot be read: {error.strerror}")

    for below, directories, names in os.walk(root, onerror=broken):
        directories.sort()
        if below == root:
            directories[:] = [name for name in directories if name != EXTENSIONS]
        elif any(name == INVENTORY or name.startswith("0=ocfl_object_") for name in names):
            directories.clear()
            yield below


def files_below(directory: str) -> Iterator[str]:
    """Yield the path of every file below a directory, relative to it."""
    yield from (path for path, _size in sizes_below(directory))


def sizes_below(directory: str) -> Iterator[tuple[str, int]]:
    """Yield the path of every file below a directory, relative to it, and its size.

    What is in a directory that cannot be read is left out; links are not followed.
    """
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            with os.scandir(f"{directory}/{below}") as entries:
                found = list(entries)
        except OSError:
            continue
        for one in found:
            if one.is_dir(follow_symlinks=False):
                waiting.append(f"{below}{one.name}/")
            else:
                yield below + one.name, one.stat(follow_symlinks=False).st_size


def _open(directory: str, path: str) -> BinaryIO:
    try:
        return open_plain(directory, path)
    except PackageUnreadable as error:
        raise OcflError(str(error)) from None


def _content(directory: str, name: str, most: int) -> bytes | None:
    """Return a file's content; None if there is no such file or it is larger."""
    try:
        return read_plain(directory, name, most)
    except PackageUnreadable:
        return None


def _json(root: str, name: str) -> Any:
    content = _content(root, name, 1 << 20)
    try:
        return None if content is None else json.loads(content)
    except (ValueError, RecursionError):
        raise OcflError(f"{name} is invalid") from None
