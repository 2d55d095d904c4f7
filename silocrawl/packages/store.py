"""The stores of packages: a directory, a bucket of S3, or a directory of another machine.

A file is there as a whole or not at all: it is staged and renamed, or an upload that completes.
It is read back and compared with its source, and hashed while that is done, so that what is known
of a file is known of what arrived. One with the same content is not sent again.

A store is not trusted: names have no ``..``, no link is followed, and what is no regular file is
refused.
"""

import errno
import hashlib
import io
import os
import re
import shutil
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from threading import Lock
from typing import BinaryIO

from filestores.errors import ObjectDiffers, StoreFailed
from filestores.object_store import ObjectStore
from filestores.schemes import check_address, scheme_of
from politeweb.errors import RequestRefused, shortened
from recordsilo.disk.atomic_file import flush_fd
from recordsilo.disk.full_disk import is_full_disk
from recordsilo.disk.regular_file import open_regular
from silocrawl.packages.values import PackagingError, StoredFile, Told

_PIECE = 128 << 10
"""Bytes that are copied, compared and hashed at a time: they stay in the processor's memory."""
_PART = r"(?!\.{1,2}(?:/|$))[A-Za-z0-9_.%+=,~!-]{1,250}"
_NAME = re.compile(f"{_PART}(?:/{_PART})*")
_LONGEST = 900
_STAGED = ".staged"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
Refused = Callable[[str], None]
"""Gets a sentence on a file of a store that is refused."""


class StoreRefused(PackagingError):
    """A store does not do its part, or may not be asked for something; names the file."""


class NotInStore(StoreRefused):
    """A file is not there."""


class StoredDiffers(StoreRefused):
    """A file is there, and has another content."""


def check_name(name: str) -> str:
    """Return the name of a file in a store: parts of letters, digits and ``_.%+=,~!-``.

    Raises:
        StoreRefused: It leads elsewhere, or has other characters.
    """
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise StoreRefused(
            f"{shortened(name)!r} cannot name a file in a store: each part of a name has letters,"
            " digits and _.%+=,~!-, and is not . or .."
        )
    return name


def check_store(address: str) -> str:
    """Return the address of a store that need not be there yet.

    Raises:
        StoreRefused: It is none; says which there are.
    """
    if not scheme_of(address):
        return address
    with _told(address):
        return check_address(address, or_machine=True)


def open_store(address: str, *, is_new: bool = False) -> "FileStore":
    """Open a store.

    Args:
        address: A directory, ``s3://bucket/prefix`` or ``sftp://user@host:port/path``.
        is_new: Whether the directory is made if only its last name is missing.

    Raises:
        StoreRefused: Not a valid address, no such directory, or no answer; says what to do.
    """
    if scheme_of(address):
        with _told(address):
            return _Remote(check_store(address))
    path = os.path.abspath(address)
    if is_new and not os.path.isdir(path):
        with _told(path):
            os.mkdir(path)
    if not os.path.isdir(path):
        raise StoreRefused(f"the store {path} is not there; correct the address, or create it")
    return _Directory(path)


def copied_hash(source: BinaryIO, found: BinaryIO, told: Told) -> StoredFile | None:
    """Compare two files from their positions on; return what both contain, or None."""
    digest, size = hashlib.sha512(), 0
    while piece := source.read(_PIECE):
        if found.read(len(piece)) != piece:
            return None
        digest.update(piece)
        size += len(piece)
        told(len(piece))
    return None if found.read(1) else StoredFile(size, digest.hexdigest())


class FileStore(ABC):
    """Where packages go: a directory, or an object store.

    Names are those of `layout`. A file is there as a whole or not at all.

    Raises (every method):
        StoreRefused: The store does not answer, or refuses; it names the file.
    """

    threads = 1
    """How many may use it at a time."""

    def __init__(self, address: str) -> None:
        self._address = address

    @property
    def address(self) -> str:
        """Its path or URL."""
        return self._address

    def place(self, name: str) -> str:
        """Where a file is: its path or URL."""
        return f"{self._address}/{check_name(name)}"

    def put_file(self, path: str, name: str, told: Told = lambda _: None) -> StoredFile:
        """Copy a file, unless it is there already; return what is there, as it was read back.

        Raises:
            StoredDiffers: Another content is there, and stays.
            StoreRefused: The store does not do its part.
            OSError: The file cannot be read.
        """
        with open_regular(path) as source:
            is_there = self.size(name) is not None
            if not is_there:
                self._send(path, name)
            return self._compared(source, name, told, is_ours=not is_there)

    def put(self, name: str, content: bytes, *, replaces: bool = False) -> None:
        """Write a small file; see `put_file`.

        Args:
            name: Of the file.
            content: All of it.
            replaces: Whether it may be there with another content.
        """
        is_ours = replaces or self.size(name) is None
        if is_ours:
            self._write(content, name)
        self._compared(io.BytesIO(content), name, lambda _: None, is_ours=is_ours)

    def read(self, name: str, most: int = 64 << 20) -> bytes | None:
        """Read a small file; None if there is none.

        Raises:
            StoreRefused: It is longer than it may be, or the store does not do its part.
        """
        try:
            with self.open(name) as file, _told(self.place(name)):
                found = file.read(most + 1)
        except NotInStore:
            return None
        if len(found) > most:
            raise StoreRefused(f"{self.place(name)} is longer than {most:,} bytes; it was not read")
        return found

    def stored(self, name: str, told: Told = lambda _: None) -> StoredFile | None:
        """Read a file as it is in the store; return what it contains, or None if there is none."""
        digest, size = hashlib.sha512(), 0
        try:
            with self.open(name) as file, _told(self.place(name)):
                while piece := file.read(_PIECE):
                    digest.update(piece)
                    size += len(piece)
                    told(len(piece))
        except NotInStore:
            return None
        return StoredFile(size, digest.hexdigest())

    @abstractmethod
    def size(self, name: str) -> int | None:
        """The bytes of a file; None if there is none."""

    @abstractmethod
    def open(self, name: str) -> BinaryIO:
        """Open a file to read it; it can seek. What fails later is an `OSError` or `StoreFailed`.

        Raises:
            NotInStore: There is none.
        """

    @abstractmethod
    def names(self, under: str, refused: Refused | None = None) -> list[str]:
        """The names of all files in a directory and below it, sorted; none if there is none.

        Args:
            under: The directory.
            refused: Gets a sentence on each file that is refused, in place of the error.

        Raises:
            StoreRefused: Something there is no regular file, or has a name that none may have.
        """

    @abstractmethod
    def remove(self, name: str) -> None:
        """Delete a file, which need not be there."""

    @abstractmethod
    def _send(self, path: str, name: str) -> None: ...

    @abstractmethod
    def _write(self, content: bytes, name: str) -> None: ...

    def _compared(self, source: BinaryIO, name: str, told: Told, *, is_ours: bool) -> StoredFile:
        with self.open(name) as file, _told(self.place(name)):
            found = copied_hash(source, file, told)
        if found is not None:
            return found
        if is_ours:  # sent just now
            self.remove(name)
            raise StoredDiffers(
                f"{self.place(name)} arrived with another content than its source, and was deleted"
            )
        raise StoredDiffers(
            f"{self.place(name)} is there with another content than it should have; it stays"
        )


class _Directory(FileStore):
    threads = 2

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._making = Lock()

    def size(self, name: str) -> int | None:
        with suppress(NotInStore), self.open(name) as file:
            return os.fstat(file.fileno()).st_size
        return None

    def open(self, name: str) -> BinaryIO:
        place = self.place(name)
        with _told(place), self._parent(name) as (parent, last):
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            fd = os.open(last, flags, dir_fd=parent)
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                os.close(fd)
                raise StoreRefused(f"{place} is not a regular file")
            return open(fd, "rb")

    def names(self, under: str, refused: Refused | None = None) -> list[str]:
        found: list[str] = []
        with suppress(NotInStore), self._directory(under) as fd:
            for above, directories, files, at in os.fwalk(".", dir_fd=fd, onerror=_raise):
                inside = f"{under}/{above[2:]}/" if above[2:] else f"{under}/"
                for one in (*directories, *files):
                    with _passed_over(refused):
                        name = _listed(self._address, inside + one)
                        mode = os.stat(one, dir_fd=at, follow_symlinks=False).st_mode
                        if stat.S_ISREG(mode):
                            found.append(name)
                        elif not stat.S_ISDIR(mode):
                            raise StoreRefused(f"{self.place(name)} is not a regular file")
        return sorted(found)

    def remove(self, name: str) -> None:
        with suppress(NotInStore), _told(self.place(name)), self._parent(name) as (fd, last):
            os.unlink(last, dir_fd=fd)
            flush_fd(fd)

    def _send(self, path: str, name: str) -> None:
        with open_regular(path) as source, self._staging(name) as target:
            shutil.copyfileobj(source, target, _PIECE)

    def _write(self, content: bytes, name: str) -> None:
        with self._staging(name) as target:
            target.write(content)

    @contextmanager
    def _staging(self, name: str) -> Iterator[BinaryIO]:
        """A file that gets its name when it is complete, and on the medium.

        What a killed process left for the same name is written over.
        """
        place = self.place(name)
        with (
            _told(place),
            self._parent(_staged(name), is_new=True) as (source, first),
            self._parent(name, is_new=True) as (target, last),
        ):
            # Not blocking: a pipe without a reader, by others, is refused at once.
            flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with open(os.open(first, flags, 0o644, dir_fd=source), "wb") as file:
                if not _is_ours(file, first, source):
                    raise StoreRefused(f"another process is writing {place}, or its staged file")
                try:
                    file.truncate()
                    yield file
                    file.flush()
                    flush_fd(file.fileno())
                    os.rename(first, last, src_dir_fd=source, dst_dir_fd=target)
                except BaseException:
                    os.unlink(first, dir_fd=source)
                    raise
            flush_fd(target)

    @contextmanager
    def _parent(self, name: str, *, is_new: bool = False) -> Iterator[tuple[int, str]]:
        """The directory of a file, and its name in it."""
        above, _, last = name.rpartition("/")
        with self._directory(above, is_new=is_new) as fd:
            yield fd, last

    @contextmanager
    def _directory(self, name: str, *, is_new: bool = False) -> Iterator[int]:
        """A directory of the store, reached without links."""
        with _told(f"{self._address}/{name}"):
            fd = os.open(self._address, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                for part in check_name(name).split("/") if name else ():
                    if is_new:
                        with self._making, suppress(FileExistsError):
                            os.mkdir(part, dir_fd=fd)
                            flush_fd(fd)
                    below = os.open(part, _DIRECTORY, dir_fd=fd)
                    os.close(fd)
                    fd = below
                yield fd
            finally:
                os.close(fd)


class _Remote(FileStore):
    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._files = ObjectStore(address)
        self._is_machine = scheme_of(address) == "sftp"

    def size(self, name: str) -> int | None:
        with _told(place := self.place(name)):
            return self._files.size(place)

    def open(self, name: str) -> BinaryIO:
        with _told(place := self.place(name)):
            return self._files.open(place)

    def names(self, under: str, refused: Refused | None = None) -> list[str]:
        with _told(place := self.place(under)):
            listed = self._files.names(place)
        found: list[str] = []
        for name in listed:
            with _passed_over(refused):
                found.append(_listed(self._address, f"{under}/{name}"))
        return found

    def remove(self, name: str) -> None:
        with _told(place := self.place(name)):
            self._files.delete(place)

    def _send(self, path: str, name: str) -> None:
        with self._staging(name) as place:
            self._files.put(path, place)

    def _write(self, content: bytes, name: str) -> None:
        with self._staging(name) as place:
            self._files.put_bytes(content, place)

    @contextmanager
    def _staging(self, name: str) -> Iterator[str]:
        """Where a file is sent to; on another machine it is renamed when it is complete."""
        with _told(place := self.place(name)):
            if self._is_machine:
                yield (staged := f"{self._address}/{_staged(name)}")
                self._files.move(staged, place)
            else:
                yield place


def _staged(name: str) -> str:
    return f"{_STAGED}/{hashlib.sha256(name.encode()).hexdigest()}"


@contextmanager
def _passed_over(refused: Refused | None) -> Iterator[None]:
    """Tell of a file that is refused, if there is somebody to be told."""
    try:
        yield
    except StoreRefused as error:
        if refused is None:
            raise
        refused(str(error))


def _listed(address: str, name: str) -> str:
    try:
        return check_name(name)
    except StoreRefused:
        raise StoreRefused(
            f"in {address} there is {shortened(name)!r}, which is not a valid name"
        ) from None


def _raise(error: OSError) -> None:
    raise error


def _is_ours(file: BinaryIO, name: str, directory: int) -> bool:
    """Lock a staged file; False if another process writes it, or has given it its name.

    So is one that is no regular file, or has another name beside this one, which by others may be
    that of any file.
    """
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        return False
    try:
        flock(file, LOCK_EX | LOCK_NB)
        return os.path.samestat(os.fstat(file.fileno()), os.stat(name, dir_fd=directory))
    except (BlockingIOError, FileNotFoundError):
        return False


@contextmanager
def _told(place: str) -> Iterator[None]:
    """What fails in a store, as sentences."""
    try:
        yield
    except ObjectDiffers as error:
        raise NotInStore(str(error)) from error
    except (StoreFailed, RequestRefused) as error:
        raise StoreRefused(str(error)) from error
    except FileNotFoundError as error:
        raise NotInStore(f"{place} is not there") from error
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR}:
            why = "is a symbolic link or behind one, or behind a file; a store has none"
            raise StoreRefused(f"{place} {why}") from error
        if is_full_disk(error):
            raise StoreRefused(
                f"the disk of {place} is full; make room, and run the command again"
            ) from error
        raise StoreRefused(f"{place}: {error.strerror or error}") from error
