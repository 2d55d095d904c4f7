"""Find and read a record on disk, without locks and without changing anything."""

import contextlib
import errno
import io
import os
import stat
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from recordsilo.disk.atomic_file import CHUNK
from recordsilo.disk.identifier import ppath
from recordsilo.disk.names import (
    DELETED_MANIFEST,
    MANIFEST_NAME,
    STAGED_MANIFEST,
    is_own,
    is_staged,
    is_tag,
    version_dirname,
)
from recordsilo.disk.regular_file import regular_fd
from recordsilo.errors import (
    DanglingLink,
    FileNotInVersion,
    FileUnreadable,
    ManifestUnreadable,
)
from recordsilo.records.manifest import FORMAT, Manifest, located, with_listing
from recordsilo.records.manifest_json import from_json, is_as_written

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_NOT_AS_WRITTEN = (
    "its checksum differs, or it has a key twice: it was changed after it was written. The "
    "record can be read but not changed until `silo repair` or a backup restores it"
)
_ABSENT = (FileNotFoundError, NotADirectoryError)
_DAMAGE = {
    errno.EACCES, errno.EBADMSG, errno.EINVAL, errno.EIO, errno.EISDIR, errno.ELOOP, errno.ENXIO,
    errno.EPERM, errno.EUCLEAN,
}  # fmt: skip
"""Errors of opening or reading that concern the file, not this process."""


class RecordPlace:
    """A record's place on disk; reads its manifest and files.

    Args:
        dirpath: The record's directory, absolute.
        root: The Silo's ``pairtree_root``.
    """

    __slots__ = ("dirpath", "identifier", "root")

    def __init__(self, identifier: str, dirpath: str, root: str) -> None:
        self.identifier, self.dirpath, self.root = identifier, dirpath, root

    @classmethod
    def below(cls, root: str, identifier: str) -> "RecordPlace":
        """The place of an identifier below a ``pairtree_root``."""
        return cls(identifier, f"{root}/{ppath(identifier)}", root)

    @classmethod
    def in_silo(cls, silo_path: str, identifier: str) -> "RecordPlace":
        """The place of an identifier in the Silo of a directory."""
        return cls.below(f"{silo_path}/pairtree_root", identifier)

    @property
    def key(self) -> tuple[str, ...]:
        """The Silo, the identifier and the moment, by which records are compared."""
        return self.root, self.identifier

    def exists(self) -> bool:
        """Whether there is such a record, readable or not."""
        return os.path.exists(f"{self.dirpath}/{MANIFEST_NAME}")

    def is_vacant(self) -> bool:
        """Whether there is nothing there, neither a record nor remains of one.

        False also if that cannot be known, or if there is only the way to a nested record.
        """
        try:
            os.stat(self.dirpath)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return False

    def read_manifest(self, *, to_change: bool = False) -> Manifest | None:
        """The record's manifest; None if there is no such record.

        Args:
            to_change: Whether the manifest will be replaced. Then a wrong checksum is an
                error, because replacing the manifest would hide the damage.

        Raises:
            ManifestUnreadable: It is damaged, belongs to another record, or is missing
                although there are versions; or its checksum differs, with ``to_change``.
        """
        path = f"{self.dirpath}/{MANIFEST_NAME}"
        for _ in range(100):
            if (content := self._read_whole(path)) is not None:
                break
            if not self._was_created_meanwhile(path):
                return None
        else:
            raise ManifestUnreadable(path, "it is a link that leads nowhere")
        manifest = from_json(content, path)
        if manifest.item_id != self.identifier:
            raise ManifestUnreadable(path, f"it is the manifest of {manifest.item_id!r}")
        if to_change and manifest.format <= FORMAT and not is_as_written(content):
            raise ManifestUnreadable(path, _NOT_AS_WRITTEN)
        if manifest.format == 0 and any(version.digests is None for version in manifest.versions):
            manifest = with_listing(manifest, self.walk)
        return manifest

    @staticmethod
    def _read_whole(path: str) -> bytes | None:
        try:
            return _content_of(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno not in _DAMAGE:
                raise
            raise ManifestUnreadable(path, error.strerror or str(error)) from error

    def _was_created_meanwhile(self, path: str) -> bool:
        """Versions without a manifest are damage, unless a writer is creating the record."""
        if not os.access(self.dirpath, os.F_OK):  # the usual case for a new record
            return False
        versions = ""
        for _ in range(3):  # a listing is not atomic and may miss a rename
            try:
                names = os.listdir(self.dirpath)
            except (FileNotFoundError, NotADirectoryError):
                return False
            if MANIFEST_NAME in names:
                return True
            own = {name for name in names if is_own(name)}
            versions = ", ".join(sorted(own - {STAGED_MANIFEST, DELETED_MANIFEST}))
            if not versions or DELETED_MANIFEST in names or self._is_being_created(names):
                return False
        raise ManifestUnreadable(path, f"it is missing, although {versions} exists")

    def _is_being_created(self, names: list[str]) -> bool:
        """Whether the staged manifest is the record's first, or incomplete after a power cut."""
        if STAGED_MANIFEST not in names:
            return False
        try:
            staged = self.read_staged()
        except ManifestUnreadable:
            return True
        return staged is not None and staged.revision <= 1

    def read_staged(self) -> Manifest | None:
        """The manifest of a change that is running or was interrupted, or None.

        Raises:
            ManifestUnreadable: It was not written completely.
        """
        path = f"{self.dirpath}/{STAGED_MANIFEST}"
        if not os.access(path, os.F_OK):  # as nearly always; it takes half the time of an error
            return None
        content = self._read_whole(path)
        return None if content is None else from_json(content, path)

    def walk(self, version: str) -> Iterator[str]:
        """Paths of the files in a version's directory, without tags and staged names."""
        base = f"{self.dirpath}/{version_dirname(version)}"
        stack = [""]
        while stack:
            below = stack.pop()
            with contextlib.suppress(*_ABSENT), os.scandir(base + "/" + below) as entries:
                for entry in sorted(entries, key=lambda e: e.name):
                    path = below + entry.name
                    if entry.is_dir(follow_symlinks=False):
                        stack.append(path + "/")
                    elif not is_tag(path) and not is_staged(entry.name):
                        yield path

    def open(self, manifest: Manifest, version: str, path: str) -> BinaryIO:
        """Open a file of a version for reading.

        Args:
            path: The file's path within the version.

        Raises:
            FileNotInVersion: The file is not listed, or missing on disk.
            DanglingLink: It is a symbolic link without a target inside the Silo.
            FileUnreadable: The file cannot be opened or, later, read.
        """
        listed = manifest.version(version)
        if path not in (listed.digests or ()):
            raise FileNotInVersion(self.identifier, version, path, has=listed.paths)
        as_ours = partial(self._unreadable, version, path)
        for place in located(manifest, f"{version_dirname(version)}/{path}"):
            try:
                return self._open_inside(f"{self.dirpath}/{place}", version, path, as_ours)
            except DanglingLink:
                raise
            except (*_ABSENT, IsADirectoryError):
                continue
            except OSError as error:
                raise as_ours(error) from error
        raise FileNotInVersion(
            self.identifier,
            version,
            path,
            f"version {version!r} of record {self.identifier} lists a file {path!r} "
            f"that is missing in {self.dirpath}; restore it from a backup, or delete it",
        )

    def _unreadable(self, version: str, path: str, error: OSError) -> Exception:
        """Translate an error of opening or reading a file into one of the store, if possible."""
        if error.errno not in _DAMAGE:
            return error
        return FileUnreadable(self.identifier, version, path, error)

    def content(self, manifest: Manifest, version: str, path: str) -> bytes:
        """The content of a file of a version; raises the errors of `open`.

        Args:
            path: The file's path within the version.
        """
        listed = manifest.version(version).digests or ()
        if path in listed and "/" not in path and not manifest.pending:  # nearly all: fewer calls
            directory = f"{self.dirpath}/{version_dirname(version)}"
            with contextlib.suppress(OSError):
                if not stat.S_ISLNK(os.lstat(directory).st_mode):
                    return _content_of(f"{directory}/{path}", os.O_NOFOLLOW)
        with self.open(manifest, version, path) as file:
            return file.read()

    def _open_inside(self, place: str, version: str, path: str, as_ours: "_AsOurs") -> BinaryIO:
        directory = os.lstat(place.rpartition("/")[0])
        if "/" not in path and not stat.S_ISLNK(directory.st_mode):
            try:
                return io.BufferedReader(_File(place, as_ours, _without_following))
            except (*_ABSENT, IsADirectoryError):
                raise
            except OSError:
                if not os.path.islink(place):
                    raise
        real = self._real_path(place, version, path)
        return io.BufferedReader(_File(real, as_ours, regular_fd))

    def _real_path(self, place: str, version: str, path: str) -> str:
        """The path with links resolved, which 2010 used for delta clones; only inside the Silo."""
        real = os.path.realpath(place)
        inside = os.path.realpath(self.root) + "/"
        if os.path.lexists(place) and not (real.startswith(inside) and os.path.isfile(real)):
            target = os.readlink(place) if os.path.islink(place) else real
            raise DanglingLink(self.identifier, version, path, target)
        return real

    def path_on_disk(self, manifest: Manifest, version: str, path: str = "") -> str:
        """The current absolute path of a version, or of a file in it.

        Args:
            path: A file or directory in it; by default the version's directory.
        """
        relative = version_dirname(version) + ("/" + path if path else "")
        places = [f"{self.dirpath}/{place}" for place in located(manifest, relative)]
        return next((place for place in places if os.path.lexists(place)), places[-1])


_AsOurs = Callable[[OSError], Exception]
_Opener = Callable[[str, int], int]


class _File(io.FileIO):
    """An open file of a version; read errors are raised as errors of the store."""

    def __init__(self, path: str, as_ours: _AsOurs, opener: _Opener) -> None:
        super().__init__(path, "rb", opener=opener)
        self._told = as_ours

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Read into a buffer."""
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise self._told(error) from error

    def readall(self) -> bytes:
        """Read the rest of the file."""
        try:
            return super().readall()
        except OSError as error:
            raise self._told(error) from error


def _without_following(path: str, flags: int) -> int:
    return regular_fd(path, flags | os.O_NOFOLLOW)


def _content_of(path: str, flags: int = 0) -> bytes:
    """A file's content, read with fewer system calls than a file object needs."""
    fd = regular_fd(path, flags)
    try:
        content = os.read(fd, io.DEFAULT_BUFFER_SIZE)
        parts = [content]
        while content:
            content = os.read(fd, CHUNK)
            parts.append(content)
    finally:
        os.close(fd)
    return b"".join(parts)
