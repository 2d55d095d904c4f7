"""Write an OCFL object with one more version, as a whole, and put it into its place.

The new object is made beside the storage hierarchy. What it has in common with the old one are
hard links. Then both are exchanged, so that a kill leaves either.
"""

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

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
    duplicate,
    exchange,
    flush_directory,
    make_directories,
    move,
    remove_tree,
    write_new,
)
from siloexport.plan import digest_of

Open = Callable[[], AbstractContextManager[Iterable[bytes]]]
"""Opens content, which is read once in chunks."""
_OLD = "-old"


@dataclass(frozen=True, slots=True)
class Content:
    """A file of a new version.

    Attributes:
        digest: SHA-512, in lower-case hex.
        open: Opens it; not called if the object has such content already.
    """

    digest: str
    open: Open


class ContentChanged(Exception):
    """Content was read that has another digest than the one that it should have."""


def token_of(path: str) -> str:
    """Return a digest of an object's inventory, and of the paths and sizes of its files."""
    with open(f"{path}/{INVENTORY}", "rb") as file:
        inventory = hashlib.file_digest(file, "sha512").hexdigest()
    return digest_of([inventory, sorted(sizes_below(path))])


def write_object(
    staged: str,
    before: StoredObject | Inventory,
    version: ObjectVersion,
    contents: Mapping[str, Content],
    barrier: Barrier,
    *,
    mends: bool,
) -> Inventory:
    """Write an object with one more version to a new path.

    Args:
        staged: New path, on the file system of the object before.
        before: For a new object, an inventory without versions.
        version: The new one; its state is taken from the contents.
        contents: Logical path → content, of the new version.
        barrier: Makes it durable, when it is flushed.
        mends: Whether content that the new version has, too, is compared and replaced.

    Raises:
        ContentChanged, OSError: It cannot be written.
    """
    os.mkdir(staged)
    barrier.directory_changed(staged)
    write_new(f"{staged}/{OBJECT}", [OBJECT_TEXT], barrier)
    inventory = before if isinstance(before, Inventory) else before.inventory
    known = dict(inventory.manifest)
    by_digest = {one.digest: one for one in contents.values()}
    if isinstance(before, StoredObject):
        for path, digest in _kept(before):
            source = by_digest.get(digest) if mends else None
            make_directories(os.path.dirname(f"{staged}/{path}"), staged, barrier)
            if source is not None and not before.is_sound(digest, path):
                _write(f"{staged}/{path}", source, barrier)
            elif os.path.lexists(f"{before.path}/{path}"):  # what others removed stays missing
                duplicate(f"{before.path}/{path}", f"{staged}/{path}")
    name = inventory.name(len(inventory.versions) + 1)
    added: dict[str, tuple[str, ...]] = {}
    for path, content in contents.items():
        if content.digest not in known and content.digest not in added:
            place = f"{name}/{inventory.content}/{path}"
            make_directories(os.path.dirname(f"{staged}/{place}"), staged, barrier)
            _write(f"{staged}/{place}", content, barrier)
            added[content.digest] = (place,)
    state = {path: content.digest for path, content in contents.items()}
    made = ObjectVersion(version.created, state, version.message, version.user, version.address)
    inventory = inventory.with_version(made, added)
    _write_inventory(staged, inventory, barrier)
    return inventory


def _kept(before: StoredObject) -> Iterator[tuple[str, str]]:
    """Yield path and digest of each content file, then the inventories of earlier versions."""
    inventory = before.inventory
    for digest, paths in inventory.manifest.items():
        yield from ((path, digest) for path in paths)
    for number in range(1, len(inventory.versions) + 1):
        for name in (INVENTORY, inventory.sidecar):
            if os.path.lexists(f"{before.path}/{inventory.name(number)}/{name}"):
                yield f"{inventory.name(number)}/{name}", ""


def _write(path: str, content: Content, barrier: Barrier) -> None:
    found = hashlib.sha512()

    def digested(chunks: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            found.update(chunk)
            yield chunk
        if found.hexdigest() != content.digest:
            raise ContentChanged

    with content.open() as chunks:
        write_new(path, digested(chunks), barrier)


def _write_inventory(staged: str, inventory: Inventory, barrier: Barrier) -> None:
    content = inventory.to_bytes()
    digest = hashlib.new(inventory.algorithm, content).hexdigest()
    directory = f"{staged}/{inventory.head}"
    make_directories(directory, staged, barrier)
    for below in (directory, staged):
        write_new(f"{below}/{INVENTORY}", [content], barrier)
        sidecar = f"{digest} {INVENTORY}\n".encode()
        write_new(f"{below}/{inventory.sidecar}", [sidecar], barrier)


# -- places ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The directories between a storage root and its objects; none is ever left empty.

    Attributes:
        root: The storage root.
        lock: A file that is locked while directories are renamed.
    """

    root: str
    lock: str

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

    def put(self, staged: str, place: str, barrier: Barrier) -> None:
        """Put a staged object into its place; the one before is staged then."""
        with self._locked():
            if not os.path.lexists(place):
                self._put_new(staged, place, barrier)
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
        above = os.path.dirname(place)
        while not os.path.isdir(above):
            above = os.path.dirname(above)
        first, _, rest = os.path.relpath(place, above).partition("/")
        source = staged
        if rest:
            source = f"{staged}-above"
            inner = f"{source}/{rest}"
            os.makedirs(os.path.dirname(inner))
            os.rename(staged, inner)
            below = os.path.dirname(place)
            while below != above:
                barrier.directory_changed(below)
                below = os.path.dirname(below)
        move(source, f"{above}/{first}", barrier)

    def take(self, place: str, staged: str) -> None:
        """Take an object out, with the directories above it that have nothing else."""
        with self._locked():
            top = place
            while os.path.dirname(top) != self.root and len(os.listdir(os.path.dirname(top))) == 1:
                top = os.path.dirname(top)
            os.rename(top, staged)
            flush_directory(os.path.dirname(top))

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with open(self.lock, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
