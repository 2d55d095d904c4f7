"""Where a record lies on disk, and how it is read there; takes no lock and changes nothing."""

import contextlib
import errno
import io
import os
import stat
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from recordsilo.disk.atomic_file import CHUNK
from recordsilo.disk.names import (
    DELETED_MANIFEST,
    MANIFEST_NAME,
    STAGED_MANIFEST,
    is_own,
    is_staged,
    is_tag,
    version_dirname,
)
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
    "its checksum differs, or it names a key twice: it is not what was written, so the record "
    "can be read but not changed until `silo repair` or a backup restores it"
)
_ABSENT = (FileNotFoundError, NotADirectoryError)
_DAMAGE = {
    errno.EACCES, errno.EBADMSG, errno.EIO, errno.EISDIR, errno.ELOOP, errno.ENXIO, errno.EPERM,
    errno.EUCLEAN,
}  # fmt: skip
"""What opening or reading a file says when it is the file's fault, and not that of this process."""


class RecordPlace:
    """Where a record lies, and how its files are read there."""

    __slots__ = ("dirpath", "identifier", "root")

    def __init__(self, identifier: str, dirpath: str, root: str) -> None:
        self.identifier, self.dirpath, self.root = identifier, dirpath, root

    def exists(self) -> bool:
        """Whether there is such a record, readable or not."""
        return os.path.exists(f"{self.dirpath}/{MANIFEST_NAME}")

    def read_manifest(self, *, to_change: bool = False) -> Manifest | None:
        """The record's manifest; None where there is no such record.

        Args:
            to_change: Whether another is to take its place, which would hide that it is
                not what was written; to read, it is as good as it can be had.

        Raises:
            ManifestUnreadable: It is damaged, is another record's, or is missing
                beside versions; or its checksum differs, and it is to be changed.
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
            raise ManifestUnreadable(path, f"it is that of {manifest.item_id!r}")
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
        """Versions without a manifest are damage, unless a writer was or is at work there."""
        if not os.access(self.dirpath, os.F_OK):  # so it is for nearly every record that is new
            return False
        versions = ""
        for _ in range(3):  # a listing is no snapshot: what was seen once may be a rename half seen
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
        raise ManifestUnreadable(path, f"it is missing, though {versions} is there")

    def _is_being_created(self, names: list[str]) -> bool:
        """Whether the staged manifest is the record's first, or torn, as power cuts leave those."""
        if STAGED_MANIFEST not in names:
            return False
        try:
            staged = self.read_staged()
        except ManifestUnreadable:
            return True
        return staged is not None and staged.revision <= 1

    def read_staged(self) -> Manifest | None:
        """The manifest of a change under way, or of one that broke off, or None.

        Raises:
            ManifestUnreadable: It was not written whole.
        """
        path = f"{self.dirpath}/{STAGED_MANIFEST}"
        content = self._read_whole(path)
        return None if content is None else from_json(content, path)

    def walk(self, version: str) -> Iterator[str]:
        """Paths of the files in a version's directory, tags and staged names left out."""
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
            manifest: Of the record.
            version: Its name.
            path: Of the file within the version.

        Raises:
            FileNotInVersion: Not listed, or gone from the disk.
            DanglingLink: A symbolic link that leads nowhere within the Silo.
            FileUnreadable: The disk refuses to open it; or, later, to give its bytes.
        """
        listed = manifest.version(version)
        if path not in (listed.digests or ()):
            raise FileNotInVersion(self.identifier, version, path)
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
        """A refusal to open or read a file, as the error of the store that it is, if it is one."""
        if error.errno not in _DAMAGE:
            return error
        return FileUnreadable(self.identifier, version, path, error)

    def content(self, manifest: Manifest, version: str, path: str) -> bytes:
        """A file of a version, whole: what `open` would find, and raising what it raises.

        Args:
            manifest: Of the record.
            version: Its name.
            path: Of the file within the version.
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
        return io.BufferedReader(_File(self._real_path(place, version, path), as_ours))

    def _real_path(self, place: str, version: str, path: str) -> str:
        """Where links lead: 2010 made delta clones of them; only within the Silo."""
        real = os.path.realpath(place)
        inside = os.path.realpath(self.root) + "/"
        if os.path.lexists(place) and not (real.startswith(inside) and os.path.isfile(real)):
            target = os.readlink(place) if os.path.islink(place) else real
            raise DanglingLink(self.identifier, version, path, target)
        return real

    def path_on_disk(self, manifest: Manifest, version: str, path: str = "") -> str:
        """Where a version, or a file in it, lies now: the absolute path.

        Args:
            manifest: Of the record.
            version: Its name.
            path: Of a file or directory in it; by default the version's directory.
        """
        relative = version_dirname(version) + ("/" + path if path else "")
        places = [f"{self.dirpath}/{place}" for place in located(manifest, relative)]
        return next((place for place in places if os.path.lexists(place)), places[-1])


_AsOurs = Callable[[OSError], Exception]
_Opener = Callable[[str, int], int]


class _File(io.FileIO):
    """A file of a version, open: what the disk refuses to give is an error of the store."""

    def __init__(self, path: str, as_ours: _AsOurs, opener: _Opener | None = None) -> None:
        super().__init__(path, "rb", opener=opener)
        self._told = as_ours

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Read into a buffer."""
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise self._told(error) from error

    def readall(self) -> bytes:
        """Read what is left."""
        try:
            return super().readall()
        except OSError as error:
            raise self._told(error) from error


def _without_following(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW)


def _content_of(path: str, flags: int = 0) -> bytes:
    """A file's content, with fewer calls than a file object makes to say the same."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags)
    try:
        content = os.read(fd, io.DEFAULT_BUFFER_SIZE)
        parts = [content]
        while content:
            content = os.read(fd, CHUNK)
            parts.append(content)
    finally:
        os.close(fd)
    return b"".join(parts)
