"""Answers that are made while they are sent: files in blocks, CSV and JSON lines."""

import csv
import io
from collections.abc import Generator, Iterable, Iterator
from typing import BinaryIO

from recordsilo.cells import guarded, joined

CSV = "text/csv; charset=utf-8; header=present"
JSON_LINES = "application/jsonl; charset=utf-8"
BLOCK = 256 * 1024


class FileBody:
    """An open file, sent block by block; whoever sends it closes it."""

    def __init__(self, beginning: bytes, file: BinaryIO) -> None:
        self._beginning, self._file = beginning, file

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        block, self._beginning = self._beginning or self._file.read(BLOCK), b""
        if not block:
            raise StopIteration
        return block

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def csv_line(cells: Iterable[str]) -> str:
    """Cells as a line of CSV."""
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue()


def csv_cell(value: object) -> str:
    """A value as a cell that no spreadsheet takes for a formula."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return guarded(joined(value) if isinstance(value, tuple) else str(value))


def encoded(lines: Iterable[str]) -> Generator[bytes, None, None]:
    """Lines in blocks that are worth sending."""
    block, size = [], 0
    for line in lines:
        block.append(line)
        size += len(line)
        if size >= 64 * 1024:
            yield "".join(block).encode("utf-8", "replace")
            block, size = [], 0
    yield "".join(block).encode("utf-8", "replace")
