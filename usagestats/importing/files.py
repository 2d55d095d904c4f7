"""What is new in a file of log lines: what was imported before is recognised by its content.

A plain file is recognised by the bytes before each mark. A compressed one is decompressed.
"""

import contextlib
import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import BinaryIO

from silosteps.errors import InputUnreadable
from silosteps.inputs import InputStream, open_input
from silosteps.lines import MAX_LINE, Block, read_all
from usagestats.store.ledger import HINT, Mark, UsageLedger, hint_of

TAIL = MAX_LINE
"""Bytes before a mark that its digest is of."""
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Earlier:
    """A block that was imported before: where in the file it ends, and its mark."""

    end: int
    hint: bytes
    mark: Mark


@dataclass(frozen=True, slots=True)
class FilePart:
    """How far a file was imported.

    Attributes:
        base: Where the bytes begin that the next mark is of: 0, or where another file that was
            imported before ends within this one.
        head: The first bytes from `base`, at most `HINT`.
        tail: The last bytes before the end of what was imported, from `base`, at most `TAIL`.
        length: Bytes from `base` that were imported.
        lines: Lines from `base` that were imported.
        known: Lines of the file that were imported before.
        reader: The `Reader.spec` for what follows; ``""`` at the beginning of a file.
        earlier: What is read again, and replaced when it is read.
    """

    base: int = 0
    head: bytes = b""
    tail: bytes = b""
    length: int = 0
    lines: int = 0
    known: int = 0
    reader: str = ""
    earlier: tuple[Earlier, ...] = ()

    @property
    def offset(self) -> int:
        """Return where in the file the new lines begin."""
        return self.base + self.length

    @property
    def within(self) -> bool:
        """Whether that is within a line, of which the beginning was imported as a whole."""
        return bool(self.tail) and not self.tail.endswith(b"\n")

    def after(self, block: Block, lines: int, reader: str) -> "FilePart":
        """Return the part with more bytes.

        Args:
            block: The bytes.
            lines: How many lines they are.
            reader: For what follows.
        """
        head = self.head + block.data[: HINT - len(self.head)]
        tail = (self.tail + block.tail[-TAIL:])[-TAIL:]
        length, lines = self.length + block.end - block.start, self.lines + lines
        return replace(self, head=head, tail=tail, length=length, lines=lines, reader=reader)

    def replaced(self) -> tuple["FilePart", list[Earlier]]:
        """Return the part without what was now read again, and that."""
        done = [one for one in self.earlier if one.end <= self.offset]
        rest = tuple(one for one in self.earlier if one.end > self.offset)
        return replace(self, earlier=rest), done

    def mark(self) -> tuple[bytes, Mark]:
        """Return the hint and the mark of what was imported."""
        return hint_of(self.head), Mark(self.length, _digest(self.tail), self.lines, self.reader)


def _digest(tail: bytes) -> bytes:
    return hashlib.sha256(tail).digest()


Reopen = Callable[[int], AbstractContextManager[InputStream]]
"""Opens a file's content at an offset."""


@contextmanager
def opened(
    name: str, ledger: UsageLedger, *, again: bool = False
) -> Iterator[tuple[InputStream, FilePart, bool]]:
    """Open a file at its first byte that was not imported.

    Args:
        name: The file; ``-`` is standard input.
        ledger: Knows what was imported.
        again: Whether to read everything, also what was imported.

    Yields:
        The content from there, what was imported, and whether the file may grow.

    Raises:
        InputUnreadable, PackageMissing: As `open_input`.
    """
    if os.path.isfile(name):
        with open_input(name) as stream:
            compressed = stream.compressed
        reopen = _reopener(name, compressed=compressed)
        part = _imported(reopen, ledger, seekable=not compressed, again=again)
        with reopen(part.offset) as stream:
            yield stream, part, not compressed
        return
    with open_input(name) as stream:
        head = read_all(stream, HINT)
        if not ledger.marks(head):
            yield InputStream(name, _Again(head, stream), compressed=True), FilePart(), False  # type: ignore[arg-type]
            return
        # It has no name, and is gone when it is closed.
        with tempfile.TemporaryFile() as spool:
            spool.write(head)
            shutil.copyfileobj(stream, spool, _CHUNK)
            reopen = _spooled(name, spool)
            part = _imported(reopen, ledger, seekable=True, again=again)
            with reopen(part.offset) as rest:
                yield rest, part, False


class _Again(io.RawIOBase):
    """A stream whose first bytes were read already."""

    def __init__(self, head: bytes, stream: InputStream) -> None:
        self._head, self._stream = head, stream

    def read(self, size: int = -1) -> bytes | None:
        if self._head:
            data, self._head = self._head[:size], self._head[size:]
            return data
        return self._stream.read(size)


def _reopener(name: str, *, compressed: bool) -> Reopen:
    @contextmanager
    def reopen(offset: int) -> Iterator[InputStream]:
        if compressed:
            with open_input(name) as stream:
                while offset > 0 and (data := stream.read(min(offset, _CHUNK))):
                    offset -= len(data)
                yield stream
            return
        with contextlib.ExitStack() as open_files:
            try:
                raw = open_files.enter_context(open(name, "rb"))
                raw.seek(offset)
            except OSError as error:
                raise InputUnreadable(name, error.strerror or str(error)) from error
            yield InputStream(name, raw, compressed=False)

    return reopen


def _spooled(name: str, spool: BinaryIO) -> Reopen:
    @contextmanager
    def reopen(offset: int) -> Iterator[InputStream]:
        spool.seek(offset)
        yield InputStream(name, spool, compressed=True)

    return reopen


def _imported(reopen: Reopen, ledger: UsageLedger, *, seekable: bool, again: bool) -> FilePart:
    """Return how far a file was imported, also if it is several imported files in a row.

    To read it `again`, return its beginning, with all blocks that were imported before.
    """
    part, earlier = FilePart(), list[Earlier]()
    while True:
        with reopen(part.offset) as stream:
            head = read_all(stream, HINT)
        look = _fitting_by_seeking if seekable else _fitting_by_reading
        fitting = iter(look(reopen, part.offset, ledger.marks(head)))
        found = next(fitting, None)
        if found is None:
            return FilePart(earlier=tuple(earlier)) if again else part
        mark, tail = found
        if again:
            earlier += [
                Earlier(part.offset + one.length, hint_of(head[: one.length]), one)
                for one in (mark, *(one for one, _ in fitting))
            ]
        known = part.known + mark.lines
        part = FilePart(
            part.offset, head[: mark.length], tail, mark.length, mark.lines, known, mark.reader
        )


Fitting = tuple[Mark, bytes]
"""A mark that fits a file, and the bytes before it."""


def _fitting_by_seeking(reopen: Reopen, base: int, marks: list[Mark]) -> Iterator[Fitting]:
    """Yield the marks that fit, the longest first."""
    for mark in marks:
        size = min(mark.length, TAIL)
        with reopen(base + mark.length - size) as stream:
            tail = read_all(stream, size)
        if len(tail) == size and _digest(tail) == mark.digest:
            yield mark, tail


def _fitting_by_reading(reopen: Reopen, base: int, marks: list[Mark]) -> list[Fitting]:
    fitting, at, tail = list[Fitting](), 0, b""
    if not marks:
        return fitting
    with reopen(base) as stream:
        for mark in reversed(marks):
            while at < mark.length and (data := stream.read(min(mark.length - at, _CHUNK))):
                at += len(data)
                tail = (tail + data)[-TAIL:]
            if at < mark.length:
                break
            if _digest(tail) == mark.digest:
                fitting.insert(0, (mark, tail))
    return fitting
