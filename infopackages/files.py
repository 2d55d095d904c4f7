"""The files of a package, with their sizes and digests, and reading them once."""

import hashlib
import io
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import IO, BinaryIO, TypeAlias, cast

CHUNK = 1 << 20
XML = "application/xml"
_SPOOL = 4 << 20
"""Documents and lists up to this size are kept in memory, larger ones in a temporary file."""

Add: TypeAlias = Callable[[str, int, IO[bytes]], object]
"""Adds a file to a package: its path, its size in bytes, its content, which is read once."""


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
        while source.read(CHUNK):
            pass
        return replace(self, size=source.size, sha512=source.hexes["sha512"])


class FileList:
    """A list of files that is only appended to, and may be read again; long ones are on the disk.

    Close it: it is a context manager.
    """

    def __init__(self) -> None:
        self._lines = tempfile.SpooledTemporaryFile(_SPOOL)  # noqa: SIM115 - closed by `close`
        self.count = self.size = 0

    def append(self, file: PackagedFile) -> None:
        """Add a file at the end."""
        self._lines.seek(0, io.SEEK_END)
        self._lines.write(json.dumps(list(asdict(file).values())).encode() + b"\n")
        self.count, self.size = self.count + 1, self.size + file.size

    def __iter__(self) -> Iterator[PackagedFile]:
        at = 0
        while True:
            self._lines.seek(at)  # others may iterate at the same time
            lines = self._lines.readlines(CHUNK)
            if not lines:
                return
            at = self._lines.tell()
            for line in lines:
                yield PackagedFile(*json.loads(line))

    def close(self) -> None:
        """Remove the temporary file."""
        self._lines.close()

    def __enter__(self) -> "FileList":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


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

    @property
    def hexes(self) -> dict[str, str]:
        """Algorithm → digest of what was read, in lower-case hex."""
        return {name: digest.hexdigest() for name, digest in self._digests.items()}


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
