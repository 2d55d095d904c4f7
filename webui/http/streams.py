"""Answers that are generated while they are sent: files in blocks, CSV and JSON lines."""

import csv
import io
import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from typing import BinaryIO

from recordsilo.cells import guarded, joined
from webui.http.errors import Busy

CSV = "text/csv; charset=utf-8; header=present"
JSON_LINES = "application/jsonl; charset=utf-8"
BLOCK = 256 * 1024
MOST_PIPED = 4
"""Maximum number of `Piped` at a time. A slow reader holds a thread of the server (it has 8), and
`webui.job_events` holds 3; so one stays for everybody else."""
_piped = threading.BoundedSemaphore(MOST_PIPED)


class FileBody:
    """An open file, sent block by block; the server closes it."""

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


class BrokeOff(OSError):
    """Writing failed; the answer is cut off, so that the client sees that it is incomplete."""


class Piped:
    """The output of a function, sent while it is written; writing waits for the reader.

    Args:
        write: Writes to a file that cannot seek; runs in its own thread, which ends when
            the client disconnects.

    Raises (when created):
        Busy: There are `MOST_PIPED`.
    """

    def __init__(self, write: Callable[[BinaryIO], object]) -> None:
        if not _piped.acquire(blocking=False):
            raise Busy("Too many zips are being downloaded. Try again when one of them has ended.")
        self._is_open = True
        reading, writing = os.pipe()
        self._file = io.BufferedReader(io.FileIO(reading), BLOCK)
        self._failed: BaseException | None = None
        self._thread = threading.Thread(
            target=self._run, args=(write, os.fdopen(writing, "wb", BLOCK)), daemon=True
        )
        self._thread.start()

    def _run(self, write: Callable[[BinaryIO], object], file: BinaryIO) -> None:
        try:
            with file:
                write(file)
        except BrokenPipeError:  # the client disconnected
            with suppress(OSError):
                file.close()
        except BaseException as error:  # noqa: BLE001  # raised again in the reader
            self._failed = error

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if block := self._file.read1(BLOCK):
            return block
        self._thread.join()
        if self._failed is not None:
            raise BrokeOff("the download broke off") from self._failed
        raise StopIteration

    def close(self) -> None:
        """Stop writing; may be called twice."""
        self._file.close()
        if self._is_open:
            self._is_open = False
            _piped.release()


def csv_line(cells: Iterable[str]) -> str:
    """Return cells as a line of CSV."""
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue()


def csv_cell(value: object) -> str:
    """Return a value as a cell that no spreadsheet interprets as a formula."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return guarded(joined(value) if isinstance(value, tuple) else str(value))


def encoded(lines: Iterable[str]) -> Generator[bytes, None, None]:
    """Encode lines into blocks of a reasonable size."""
    block, size = [], 0
    for line in lines:
        block.append(line)
        size += len(line)
        if size >= 64 * 1024:
            yield "".join(block).encode("utf-8", "replace")
            block, size = [], 0
    yield "".join(block).encode("utf-8", "replace")
