"""The heads of records in a WARC file at many places, found while the file is read once.

What is to be looked for is kept in files when it is much, so that memory does not grow with it.
"""

import hashlib
import os
import tempfile
import zlib
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import BinaryIO

from silocrawl.packages.values import StoredFile

_PIECE, _WINDOW, _MOST_HEAD = 128 << 10, 32 << 10, 64 << 10
_FIRST = 2 << 10
_IN_MEMORY = 1 << 20
_GZIP = zlib.MAX_WBITS + 16


class WantedHeads:
    """Places in WARC files, each with what its record should have, as a number.

    Close it: it is a context manager.
    """

    def __init__(self) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="silo-verify-")
        self._rows: dict[str, array[int]] = defaultdict(lambda: array("q"))
        self._count = 0

    def add(self, warc: str, offset: int, kind: int, wanted: int) -> None:
        """Add a place; its WARC file has a valid name.

        Args:
            warc: Name of the file.
            offset: In it; 0 or more.
            kind: 0 or 1.
            wanted: Of 64 bits.
        """
        self._rows[warc].extend((offset * 2 + kind, wanted))
        self._count += 1
        if self._count >= _IN_MEMORY:
            self._spill()

    def _spill(self) -> None:
        for warc, rows in self._rows.items():
            with open(os.path.join(self._directory.name, warc), "ab") as file:
                rows.tofile(file)
        self._rows.clear()
        self._count = 0

    def of(self, warc: str) -> list[tuple[int, int, int]]:
        """The places in a file: offset, kind, what is wanted; sorted, each once."""
        rows = array("q", self._rows.get(warc, ()))
        path = os.path.join(self._directory.name, warc)
        if os.path.exists(path):
            with open(path, "rb") as file:
                rows.fromfile(file, os.path.getsize(path) // rows.itemsize)
        both = sorted({(rows[at], rows[at + 1]) for at in range(0, len(rows), 2)})
        return [(place >> 1, place & 1, wanted) for place, wanted in both]

    def __enter__(self) -> "WantedHeads":
        return self

    def __exit__(self, *_exception: object) -> None:
        self._directory.cleanup()


class HeadReader:
    """Reads a file once, from its beginning to its end: its digest, and heads on the way."""

    def __init__(self, file: BinaryIO, told: Callable[[int], object] = lambda _: None) -> None:
        self._file, self._told = file, told
        self._digest, self._base, self._block = hashlib.sha512(), 0, b""

    def head_at(self, offset: int) -> dict[str, str]:
        """The fields of the record that begins at a place, which is not before the last one.

        Returns:
            Names in lower case; empty if no record begins there.
        """
        while self._base + len(self._block) < offset + _WINDOW and self._read_on(offset):
            pass
        begin = offset - self._base
        return fields_of(self._block[begin : begin + _WINDOW])

    def finish(self) -> StoredFile:
        """Read to the end; return what the file contains."""
        while self._read_on(self._base + len(self._block)):
            pass
        return StoredFile(self._base + len(self._block), self._digest.hexdigest())

    def _read_on(self, needed: int) -> bool:
        piece = self._file.read(_PIECE)
        self._digest.update(piece)
        self._told(len(piece))
        left = max(0, min(needed - self._base, len(self._block)))
        self._base, self._block = self._base + left, self._block[left:] + piece
        return bool(piece)


def fields_of(block: bytes) -> dict[str, str]:
    """Return the fields of the record with which a block begins; empty if none does (pure)."""
    head = _unpacked(block) if block.startswith(b"\x1f\x8b") else block
    head, end, _ = head.partition(b"\r\n\r\n")
    if not end or not head.startswith(b"WARC/"):
        return {}
    found: dict[str, str] = {}
    for line in head.decode("utf-8", "surrogateescape").split("\r\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            found[name.strip().lower()] = value.strip()
    return found


def _unpacked(block: bytes) -> bytes:
    unpacker, found, most = zlib.decompressobj(_GZIP), b"", _FIRST
    try:
        while b"\r\n\r\n" not in found and len(found) < _MOST_HEAD and block:
            found += unpacker.decompress(block, most)
            block, most = unpacker.unconsumed_tail, _MOST_HEAD
    except zlib.error:
        return b""
    return found


def iterate(
    reader: HeadReader, places: list[tuple[int, int, int]]
) -> Iterator[tuple[int, int, int, dict[str, str]]]:
    """Yield the sorted places with the fields of their records, each record read once."""
    at, fields = -1, dict[str, str]()
    for offset, kind, wanted in places:
        if offset != at:
            at, fields = offset, reader.head_at(offset)
        yield offset, kind, wanted, fields
