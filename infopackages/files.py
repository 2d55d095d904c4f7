"""The files of a package, with their sizes and digests, and reading them once."""

import errno
import hashlib
import io
import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import IO, BinaryIO, TypeAlias, cast

CHUNK = 1 << 20
XML = "application/xml"
_SPOOL = 4 << 20
"""Documents up to this size are kept in memory, larger ones in a temporary file."""

Add: TypeAlias = Callable[[str, int, IO[bytes]], object]
"""Adds a file to a package: its path, its size in bytes, its content, which is read once."""


class PackageUnreadable(ValueError):
    """A package, or a file of it, cannot be read or holds what is not allowed; a sentence."""


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A file of a package, with what its descriptions say about it.

    Attributes:
        path: ``/``-separated, below what describes it: a package, or a representation.
        size: In bytes.
        sha512: Lower-case hex; ``""`` until it is known.
        created: When it was made, in ISO 8601; ``""`` for when the package was made.
    """

    path: str
    size: int
    sha512: str
    media_type: str = "application/octet-stream"
    created: str = ""

    def moved(self, old: str, new: str) -> "PackagedFile":
        """Return it with another beginning of its path.

        Raises:
            ValueError: Its path does not begin with ``old``.
        """
        if not self.path.startswith(old):
            raise ValueError(f"{self.path} is not below {old}")
        return replace(self, path=new + self.path[len(old) :])

    def hashed(self, chunks: Iterable[bytes]) -> "PackagedFile":
        """Return it with the size and the SHA-512 of its content, which is read for that."""
        source = DigestedChunks(chunks)
        source.skim()
        return replace(self, size=source.size, sha512=source.hexes["sha512"])


class DigestedChunks(io.RawIOBase):
    """A file to read, from chunks, that computes digests of what was read."""

    def __init__(self, chunks: Iterable[bytes], algorithms: Iterable[str] = ("sha512",)) -> None:
        self._chunks, self._left, self.size = iter(chunks), b"", 0
        self._digests = {one: hashlib.new(one, usedforsecurity=False) for one in algorithms}

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while (size < 0 or len(self._left) < size) and (chunk := next(self._chunks, b"")):
            self._left = self._left + chunk if self._left else chunk
        taken, self._left = (
            (self._left, b"") if size < 0 else (self._left[:size], self._left[size:])
        )
        for digest in self._digests.values():
            digest.update(taken)
        self.size += len(taken)
        return taken

    def finish(self) -> None:
        """Read the chunks to their end, so that whoever checks them there does so."""
        for _ in self._chunks:
            pass

    def skim(self) -> None:
        """Read to the end for the size and the digests alone."""
        while self.read(CHUNK):
            pass

    @property
    def hexes(self) -> dict[str, str]:
        """Algorithm → digest of what was read, in lower-case hex."""
        return {name: digest.hexdigest() for name, digest in self._digests.items()}


def adding_below(add: Add, prefix: str) -> Add:
    """Return what adds files below a directory, whose path ends with a slash, of a package."""

    def add_below(path: str, size: int, source: IO[bytes]) -> None:
        add(f"{prefix}{path}", size, source)

    return add_below


def chunks_of(source: BinaryIO | IO[bytes]) -> Iterator[bytes]:
    """Yield the rest of a file in chunks."""
    while chunk := source.read(CHUNK):
        yield chunk


def add_chunks(add: Add, file: PackagedFile, chunks: Iterable[bytes]) -> PackagedFile:
    """Add a file to a package from chunks, each read once.

    Args:
        file: Without its SHA-512.

    Returns:
        It, with its SHA-512.
    """
    source = DigestedChunks(chunks)
    add(file.path, file.size, cast(IO[bytes], source))
    source.finish()
    return replace(file, sha512=source.hexes["sha512"])


def add_written(add: Add, path: str, write: Callable[[IO[bytes]], object]) -> PackagedFile:
    """Add an XML document that a function writes; a long one is on the disk until it was added."""
    with tempfile.SpooledTemporaryFile(_SPOOL) as file:
        write(file)
        size = file.tell()
        file.seek(0)
        return add_chunks(add, PackagedFile(path, size, "", XML), chunks_of(file))


def open_plain(directory: str, path: str) -> BinaryIO:
    """Open a plain file below a directory, not through symbolic links.

    Raises:
        PackageUnreadable: It is missing, something else, or reached through a link.
    """
    return os.fdopen(_plain_fd(directory, path)[0], "rb")


def read_plain(directory: str, path: str, most: int) -> bytes | None:
    """Return the content of a plain file as `open_plain` opens it; None if it is larger.

    Args:
        most: The largest number of bytes that is read.

    Raises:
        PackageUnreadable: See `open_plain`; or it cannot be read.
    """
    fd, size = _plain_fd(directory, path)
    try:
        chunks = [os.read(fd, min(size, most) + 1)]
        while chunks[-1] and sum(map(len, chunks)) <= most:
            chunks.append(os.read(fd, CHUNK))
    except OSError as error:
        raise PackageUnreadable(f"{path} cannot be read: {error.strerror}") from None
    finally:
        os.close(fd)
    content = b"".join(chunks)
    return content if len(content) <= most else None


def _plain_fd(directory: str, path: str) -> tuple[int, int]:
    """Return the descriptor of a plain file, and its size."""
    place = directory
    *above, _name = names = path.split("/")
    if not {"", ".", ".."}.isdisjoint(names):
        raise PackageUnreadable(f"{path} is no path of a file")
    try:
        for name in above:
            place = f"{place}/{name}"
            if stat.S_ISLNK(os.lstat(place).st_mode):
                raise PackageUnreadable(f"{path} is reached through a symbolic link")
        fd = os.open(
            f"{directory}/{path}", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        )
    except (OSError, ValueError) as error:
        if getattr(error, "errno", 0) == errno.ELOOP:
            raise PackageUnreadable(f"{path} is reached through a symbolic link") from None
        why = getattr(error, "strerror", None) or error
        raise PackageUnreadable(f"{path} cannot be read: {why}") from None
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        os.close(fd)
        raise PackageUnreadable(f"{path} is not a file")
    return fd, found.st_size


class SlicedFile(io.RawIOBase):
    """Reads a part of an open file; several of them do not disturb each other.

    Args:
        fd: Descriptor of the file, which is not closed.
        begin, end: The part, in bytes from the beginning of the file.
        owner: Kept as long as this is, for whoever closes the file.
    """

    def __init__(self, fd: int, begin: int, end: int, owner: object = None) -> None:
        self._fd, self._begin, self._end, self._owner = fd, begin, end, owner
        self._at = begin

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at - self._begin

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: self._begin, os.SEEK_CUR: self._at, os.SEEK_END: self._end}[whence]
        self._at = max(self._begin, base + offset)
        return self.tell()

    def read(self, size: int = -1) -> bytes:
        left = max(0, self._end - self._at)
        content = os.pread(self._fd, left if size < 0 else min(size, left), self._at)
        self._at += len(content)
        return content
