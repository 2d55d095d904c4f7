"""Answers that are sent piece by piece: files in blocks, tables, zips, events.

The reader decides how long such an answer holds a thread of the server, so `placed` limits
how many there are at the same time, in all and for each client.
"""

import io
import os
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import BinaryIO

from recordsilo import cells as table_cells
from recordsilo.cells import guarded, joined
from webui.http.errors import ServerBusy
from webui.http.messages import Response, Streamed

CSV = "text/csv; charset=utf-8; header=present"
JSON_LINES = "application/jsonl; charset=utf-8"
BLOCK = 256 * 1024
SMALL = 128 * 1024
"""Maximum bytes of an answer that is sent at once; the send buffer of a connection has room."""
MOST_STREAMED = 6
"""Maximum number of streamed answers at a time; `webui.server` has more threads than that."""
MOST_OF_ONE = 4
"""Maximum number of them for one client, so that no client takes all places."""


class _Places:
    """The places of streamed answers, and who occupies them."""

    def __init__(self) -> None:
        self._lock, self._taken = threading.Lock(), Counter[str]()

    def take(self, client: str) -> None:
        """Occupy a place.

        Raises:
            ServerBusy: All places are occupied, or this client has `MOST_OF_ONE`.
        """
        with self._lock:
            if self._taken[client] >= MOST_OF_ONE:
                raise ServerBusy(
                    "{n} downloads to your address are running. Try again when one of them has "
                    "ended.",
                    RETRY,
                    n=MOST_OF_ONE,
                )
            if self._taken.total() >= MOST_STREAMED:
                raise ServerBusy(
                    "Too many downloads are running. Try again when one of them has ended.", RETRY
                )
            self._taken[client] += 1

    def give_back(self, client: str) -> None:
        """Give back one of a client's places."""
        with self._lock:
            self._taken[client] -= 1
            if not self._taken[client]:
                del self._taken[client]


RETRY = {"Retry-After": "10"}
_places = _Places()


class _Placed:
    """A body that occupies one of the places until it is closed."""

    def __init__(self, client: str, beginning: bytes, body: Streamed) -> None:
        self._client = client
        self._beginning, self._body, self._is_open = beginning, body, True

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        block, self._beginning = self._beginning, b""
        return block or next(self._body)

    def close(self) -> None:
        """Close the body and give the place back; may be called twice."""
        self._body.close()
        if self._is_open:
            self._is_open = False
            _places.give_back(self._client)


def placed(response: Response, client: str) -> Response:
    """Return an answer whose body occupies one of the places; a small one is read at once.

    Args:
        client: The address to which it is sent.

    Raises:
        ServerBusy: All places are occupied, or the client has too many; the body is closed.
        BrokeOff, OSError: The beginning cannot be read; the body is closed.
    """
    body = response.body
    if isinstance(body, bytes):
        return response
    blocks: list[bytes] = []
    try:
        while not response.is_live and sum(map(len, blocks)) <= SMALL:
            block = next(body, None)
            if block is None:
                body.close()
                return replace(response, body=b"".join(blocks), content_length=None)
            blocks.append(block)
        _places.take(client)
    except BaseException:
        body.close()
        raise
    return replace(response, body=_Placed(client, b"".join(blocks), body))


class BrokeOff(OSError):
    """Writing failed; the answer is cut off, so that the client sees that it is incomplete."""


class Piped:
    """The output of a function, sent while it is written; writing waits for the reader.

    Args:
        write: Writes to a file that cannot seek; runs in its own thread, which begins when
            the first block is asked for, and ends when the client disconnects.
    """

    def __init__(self, write: Callable[[BinaryIO], object]) -> None:
        reading, writing = os.pipe()
        self._file = io.BufferedReader(io.FileIO(reading), BLOCK)
        self._out = os.fdopen(writing, "wb", BLOCK)
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(write, self._out), daemon=True)

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
        if self._thread.ident is None:
            self._thread.start()
        if block := self._file.read1(BLOCK):
            return block
        self._thread.join()
        if self._failed is not None:
            raise BrokeOff("the download broke off") from self._failed
        raise StopIteration

    def close(self) -> None:
        """Stop writing, or never begin; may be called twice."""
        self._file.close()
        if self._thread.ident is None:
            self._out.close()


def csv_line(cells: Iterable[str]) -> str:
    """Return cells as a line of CSV, as RFC 4180 ends it."""
    return table_cells.csv_line(cells, "\r\n")


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
