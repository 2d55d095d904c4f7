"""Write an OCFL object with one more version, as a whole, and put it into its place.

The new object is made beside the storage hierarchy. What it has in common with the old one are
hard links. Then both are exchanged, so that a kill leaves either.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from infopackages.ocfl.inventory import INVENTORY, Inventory, ObjectVersion
from infopackages.ocfl.reading import (
    EXTENSIONS,
    OBJECT,
    OBJECT_TEXT,
    StoredObject,
    sizes_below,
)
from recordsilo.disk.atomic_file import (
    Barrier,
    StrictBarrier,
    duplicate,
    exchange,
    flush_directory,
    make_directories,
    move,
    remove_tree,
    write_new,
    write_over,
)
from siloexport.plan import digest_of

Open = Callable[[], AbstractContextManager[Iterable[bytes]]]
"""Opens content, which is read once in chunks."""
_OLD, _ABOVE = "-old", "-above"


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file of a new version.

    Attributes:
        digest: SHA-512, in lower-case hex.
        source: All of it; or what opens it, which is called only to write it.
    """

    digest: str
    source: bytes | Open


class ContentChanged(Exception):
    """Content was read that has another digest than the one that it should have."""


def token_of(path: str, inventory: str = "") -> str:
    """Return a digest of an object's inventory, and of the paths and sizes of its files.

    Args:
        inventory: SHA-512 of the inventory, if it was just read.
    """
    if not inventory:
        with open(f"{path}/{INVENTORY}", "rb") as file:
            inventory = hashlib.file_digest(file, "sha512").hexdigest()
    return _token(inventory, sizes_below(path))


def _token(inventory: str, sizes: Iterable[tuple[str, int]]) -> str:
    return digest_of([inventory, sorted(sizes)])


def write_object(
    staged: str,
    before: StoredObject | Inventory,
    version: ObjectVersion,
    contents: Mapping[str, NewFile],
    barrier: Barrier,
    *,
    mends: bool,
) -> tuple[Inventory, str]:
    """Write an object with one more version into an empty directory.

    Args:
        staged: The directory, on the file system of the object before.
        before: For a new object, an inventory without versions.
        version: The new one; its state is taken from the contents.
        contents: Logical path → content, of the new version.
        barrier: Makes it durable, when it is flushed.
        mends: Whether content that the new version has, too, is compared and replaced.

    Returns:
        Its inventory, and its `token_of`.

    Raises:
        ContentChanged, OSError: It cannot be written.
    """
    made = _NewObject(staged, barrier)
    made.write(OBJECT, OBJECT_TEXT)
    inventory = before if isinstance(before, Inventory) else before.inventory
    known = dict(inventory.manifest)
    by_digest = {one.digest: one for one in contents.values()}
    if isinstance(before, StoredObject):
        for path, digest in _kept(before):
            source = by_digest.get(digest) if mends else None
            if source is not None and not before.is_sound(digest, path):
                made.write_content(path, source)
            else:
                made.link(before.path, path)
    name = inventory.name(len(inventory.versions) + 1)
    added: dict[str, tuple[str, ...]] = {}
    for path, content in contents.items():
        if content.digest not in known and content.digest not in added:
            place = f"{name}/{inventory.content}/{path}"
            made.write_content(place, content)
            added[content.digest] = (place,)
    state = {path: content.digest for path, content in contents.items()}
    described = ObjectVersion(
        version.created, state, version.message, version.user, version.address
    )
    inventory = inventory.with_version(described, added)
    return inventory, made.write_inventory(inventory)


class _NewObject:
    """An object that is written: its directory, and the size of each file in it."""

    def __init__(self, path: str, barrier: Barrier) -> None:
        self._path, self._barrier = path, barrier
        self._sizes: dict[str, int] = {}
        self._directories = {""}

    def write(self, path: str, content: bytes) -> None:
        self._make_directory(path)
        write_over(f"{self._path}/{path}", content, self._barrier)
        self._sizes[path] = len(content)

    def write_content(self, path: str, content: NewFile) -> None:
        """Write the content of a version, and compare its digest if it is read only now."""
        if isinstance(content.source, bytes):
            self.write(path, content.source)
            return
        self._make_directory(path)
        found = hashlib.sha512()

        def digested(chunks: Iterable[bytes]) -> Iterator[bytes]:
            for chunk in chunks:
                found.update(chunk)
                yield chunk
            if found.hexdigest() != content.digest:
                raise ContentChanged

        with content.source() as chunks:
            written = write_new(f"{self._path}/{path}", digested(chunks), self._barrier)
        self._sizes[path] = written.size

    def link(self, other: str, path: str) -> None:
        """Take a file over from another object; what others removed there stays missing."""
        self._make_directory(path)
        try:
            size = os.lstat(f"{other}/{path}").st_size
        except (FileNotFoundError, NotADirectoryError):
            return
        duplicate(f"{other}/{path}", f"{self._path}/{path}")
        self._sizes[path] = size

    def write_inventory(self, inventory: Inventory) -> str:
        """Write the inventories, which come last, and return the token of the object."""
        content = inventory.to_bytes()
        digest = hashlib.new(inventory.algorithm, content).hexdigest()
        sidecar = f"{digest} {INVENTORY}\n".encode()
        for below in (f"{inventory.head}/", ""):
            self.write(f"{below}{INVENTORY}", content)
            self.write(f"{below}{inventory.sidecar}", sidecar)
        if inventory.algorithm != "sha512":
            digest = hashlib.sha512(content).hexdigest()
        return _token(digest, self._sizes.items())

    def _make_directory(self, path: str) -> None:
        """Make the directories above a path that are missing."""
        directory = path.rpartition("/")[0]
        if directory in self._directories:
            return
        self._make_directory(directory)
        os.mkdir(f"{self._path}/{directory}")
        self._barrier.directory_changed(f"{self._path}/{directory}")
        self._directories.add(directory)


def _kept(before: StoredObject) -> Iterator[tuple[str, str]]:
    """Yield path and digest of each content file, then the inventories of earlier versions."""
    inventory = before.inventory
    for digest, paths in inventory.manifest.items():
        yield from ((path, digest) for path in paths)
    for number in range(1, len(inventory.versions) + 1):
        for name in (INVENTORY, inventory.sidecar):
            if os.path.lexists(f"{before.path}/{inventory.name(number)}/{name}"):
                yield f"{inventory.name(number)}/{name}", ""


# -- places ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The directories between a storage root and its objects; none is ever left empty.

    Attributes:
        root: The storage root.
        lock: A file that is locked while directories are renamed.
        begun: The staged paths from which something may be left; threads share it.
    """

    root: str
    lock: str
    begun: set[str] = field(default_factory=set, compare=False)

    @property
    def staging(self) -> str:
        """The directory for what is not yet, or no longer, in the root."""
        return f"{self.root}/{EXTENSIONS}/silo-export"

    def sweep(self) -> None:
        """Remove what a killed export left, except what `finish` needs."""
        with contextlib.suppress(FileNotFoundError):
            names = set(os.listdir(self.staging))
            for name in names:
                staged = name.removesuffix(_OLD)
                if not {staged, staged + _OLD} <= names:
                    remove_tree(f"{self.staging}/{name}")
            self.tidy()

    def tidy(self) -> None:
        """Remove the directory for staging if it is empty."""
        with contextlib.suppress(OSError):
            os.rmdir(self.staging)

    def begin(self, name: str) -> str:
        """Make a new directory for staging, and return its path.

        Args:
            name: That no other process or thread uses.
        """
        path = f"{self.staging}/{name}"
        self.begun.add(path)
        make_directories(path, self.root, StrictBarrier())
        return path

    def end(self, staged: str) -> None:
        """Remove what is left of a path from `begin`."""
        if staged in self.begun:
            for end in ("", _OLD, _ABOVE):
                remove_tree(staged + end)
            self.begun.discard(staged)
        if not self.begun:
            self.tidy()

    def put(self, staged: str, place: str, barrier: Barrier, *, replaces: bool) -> None:
        """Put a staged object into its place; the one before is staged then.

        Raises:
            FileExistsError: There is one, and it is not to be replaced.
        """
        with self._locked():
            if not os.path.lexists(place):
                self._put_new(staged, place, barrier)
                self.begun.discard(staged)
            elif not replaces:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), place)
            elif not exchange(staged, place, barrier):
                os.rename(place, staged + _OLD)
                try:
                    move(staged, place, barrier)
                except BaseException:
                    os.rename(staged + _OLD, place)
                    raise

    def finish(self, staged: str, place: str) -> None:
        """Finish an exchange by two renames that was killed between them."""
        if os.path.lexists(staged + _OLD):
            if os.path.lexists(staged) and not os.path.lexists(place):
                os.rename(staged, place)
                flush_directory(os.path.dirname(place))
            remove_tree(staged + _OLD)

    def _put_new(self, staged: str, place: str, barrier: Barrier) -> None:
        """Rename a new object into its place with the directories that are missing above it."""
        above, (*names, name) = self.root, place.removeprefix(f"{self.root}/").split("/")
        while names and os.path.isdir(f"{above}/{names[0]}"):
            above = f"{above}/{names.pop(0)}"
        source = staged
        if names:
            source = f"{staged}{_ABOVE}"
            inner, below = source, above
            os.mkdir(inner)
            for between in names[1:]:
                inner = f"{inner}/{between}"
                os.mkdir(inner)
            os.rename(staged, f"{inner}/{name}")
            for one in names:
                below = f"{below}/{one}"
                barrier.directory_changed(below)
        move(source, f"{above}/{[*names, name][0]}", barrier)

    def take(self, place: str, staged: str) -> None:
        """Take an object out, with the directories above it that have nothing else."""
        with self._locked():
            top = place
            while os.path.dirname(top) != self.root and len(os.listdir(os.path.dirname(top))) == 1:
                top = os.path.dirname(top)
            os.rename(top, staged)
            flush_directory(os.path.dirname(top))

    def set_aside(self, place: str, aside: str) -> None:
        """Move what is at a place to a new path below the root."""
        make_directories(os.path.dirname(aside), self.root, StrictBarrier())
        with self._locked():
            os.rename(place, aside)
            for directory in (os.path.dirname(aside), os.path.dirname(place)):
                flush_directory(directory)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        fd = os.open(self.lock, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)
