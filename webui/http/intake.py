"""Receive requests, so that no worker thread waits for a client.

cheroot hands a connection to a worker thread, which then reads the request at the
client's pace: eight slow clients block a server of eight threads. Here one thread watches
every connection that has not finished sending, receives the data, and passes a
connection on when its request is complete. Heads, and the number of unfinished requests,
are limited; head and body as a whole have a deadline.

A body over `SMALL` is not received until the application asks for it, so nobody can fill
the disk without permission: the application gets the head alone, with a function under
`http_values.AWAIT_BODY` in the environ. It either refuses, or calls that function, and is called
again when the body is complete.

Source: RFC 9112, sections 2.2, 6 and 9.3; RFC 6585, section 5; RFC 9110, section 10.1.1.
"""

import contextlib
import io
import logging
import re
import selectors
import socket
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from http import HTTPStatus
from typing import IO, Any

from cheroot.makefile import MakeFile
from cheroot.server import HeaderReader, HTTPConnection, HTTPRequest
from cheroot.workers.threadpool import ThreadPool

logger = logging.getLogger("webui")

LARGEST_HEAD = 64 * 1024
MOST_HEADERS = 100
MOST_QUEUED = 256
"""Maximum number of requests that wait for a worker."""
SMALL = 64 * 1024
"""Maximum bytes of a body that is received without asking the application."""
DRAINED = 16 * 1024 * 1024
"""Bytes of a refused body that are still read, so that the client can read the answer."""
SECONDS = 30
"""Seconds for a head, for a pause within a body, and for an idle connection."""
SLOWEST = 32 * 1024
"""Minimum average rate of a body in bytes per second."""
SECONDS_TO_DRAIN = 5.0
SEND_BUFFER = 512 * 1024
"""Size of the send buffer in bytes, for clients that do not read their answers.

It is larger than any public answer, so these occupy no thread; the next request of a
connection waits until the buffer has room."""
_TICK = 0.5
_BLOCK = 64 * 1024
_VERSION = re.compile(rb"HTTP/[0-9]\.[0-9]")
_HEAD_END = re.compile(rb"\n\r?\n")
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class IntakeRefused(Exception):
    """A request that is refused before it is complete."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        self.status, self.sentence = status, sentence
        super().__init__(sentence)

    def answer(self) -> bytes:
        """The whole response."""
        body = f"{self.sentence}\n".encode()
        lines = (
            f"HTTP/1.1 {int(self.status)} {self.status.phrase}",
            "Content-Type: text/plain; charset=utf-8",
            f"Content-Length: {len(body)}",
            "X-Content-Type-Options: nosniff",
            "Connection: close",
        )
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class _Headers(dict[bytes, bytes]):
    """Headers with at most one length, of digits: cheroot accepts ``5_0``, and the last of two.

    Source: RFC 9110, section 8.6; RFC 9112, section 6.3.
    """

    def __setitem__(self, name: bytes, value: bytes) -> None:
        is_length = name == b"Content-Length"
        if is_length and not (value.isdigit() and self.get(name, value) == value):
            raise ValueError("Malformed Content-Length Header.")
        super().__setitem__(name, value)


class _HeaderReader(HeaderReader):
    """cheroot's reader, but a continued first line does not raise UnboundLocalError."""

    def __call__(self, rfile: Any, hdict: Any = None) -> Any:
        try:
            headers = super().__call__(rfile, _Headers())
        except UnboundLocalError:
            raise ValueError("Illegal header line.") from None
        if hdict is not None:
            hdict.update(headers)
        return headers


class _WorkerHeaderReader(_HeaderReader):
    """Ignores ``Expect``: `Intake` has answered it before a worker reads the head."""

    def _allow_header(self, key_name: bytes) -> bool:
        return key_name != b"Expect"


def read_head(head: bytes) -> tuple[int, bool]:
    """Return the length of the body that follows a head, and whether the client waits for a 100.

    The rules are those of cheroot, which reads the head again. After a head that cannot be
    read, or that announces a chunked body, no body is awaited: both are refused.
    """
    request_line, _, fields = head.removeprefix(b"\r\n").partition(b"\n")
    try:
        headers = _HeaderReader()(io.BytesIO(fields))
        length = int(headers.get(b"Content-Length", 0))
    except ValueError:
        return 0, False
    if b"Transfer-Encoding" in headers:
        return 0, False
    expects = headers.get(b"Expect", b"").lower() == b"100-continue"
    return length, expects and request_line.rstrip().endswith(b"HTTP/1.1")


class Inbox:
    """Received data of a connection that has not been read; reading it never waits.

    `Intake` fills it; then a worker reads it, and finds an early end if the body is not
    complete. Never both at the same time.
    """

    def __init__(self) -> None:
        self._head = bytearray()
        self._file: IO[bytes] = io.BytesIO()
        self._size = self._skipped = 0
        self._ended = self._is_asked_for = self._expects = False
        self._needed: int | None = None
        self._whole_by = 0.0
        self.closed = False

    # ------------------------------------------------------------------ while it is filled

    @property
    def is_ready(self) -> bool:
        """Whether a worker can handle it."""
        if self._ended:
            return True
        if self._needed is None:
            return False
        is_large = self._needed - len(self._head) > SMALL and not self._is_asked_for
        return is_large or self._size >= self._needed

    @property
    def is_empty(self) -> bool:
        """Whether no byte of a request has arrived."""
        return self._size == 0

    @property
    def is_asked_for(self) -> bool:
        """Whether the application asked for the body and it is not complete."""
        return self._is_asked_for and self.is_short

    def add(self, block: bytes, now: float) -> None:
        """Add received data; empty data means that the connection ended.

        Raises:
            IntakeRefused: The head is too long, or there is no room for the body.
        """
        self._ended = not block
        if self._skipped:
            skipped = min(self._skipped, len(block))
            self._skipped -= skipped
            block = block[skipped:]
        if not block:
            return
        if self._size == 0:
            self._whole_by = now + SECONDS
        try:
            self._file.write(block)
        except OSError as error:
            logger.warning("a body cannot be kept while it is received: %s", error)
            raise IntakeRefused(
                HTTPStatus.INSUFFICIENT_STORAGE,
                "There is no room for this body on the server's disk; nothing was stored.",
            ) from None
        self._size += len(block)
        if self._needed is None:
            self._look_for_end(block)

    def _look_for_end(self, block: bytes) -> None:
        begin = max(0, len(self._head) - 3)
        self._head += block
        found = _HEAD_END.search(self._head, begin)
        if (found.end() if found else len(self._head)) > LARGEST_HEAD:
            raise IntakeRefused(
                HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
                f"The head of a request takes {LARGEST_HEAD // 1024} KiB at most.",
            )
        if found is None:
            return
        del self._head[found.end() :]
        if self._head.removeprefix(b"\r\n").count(b"\n") > MOST_HEADERS + 2:
            raise IntakeRefused(
                HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
                f"A request has {MOST_HEADERS} headers at most.",
            )
        length, self._expects = read_head(bytes(self._head))
        self._needed = len(self._head) + length
        self._whole_by += min(length, 1 << 62) / SLOWEST  # longer ones do not fit a float

    def deadline(self, now: float) -> float:
        """When the connection is closed, unless more data arrives."""
        is_at_rest = self.is_empty and not self._skipped
        return now + SECONDS if is_at_rest else min(now + SECONDS, self._whole_by)

    def takes_continue(self) -> bool:
        """Whether to send 100 Continue; True at most once."""
        wanted = self._expects and self._needed is not None and not self.is_ready
        self._expects = self._expects and not wanted
        return wanted

    # ------------------------------------------------------------------ while it is read

    @property
    def is_short(self) -> bool:
        """Whether a part of the request has not arrived."""
        return self._needed is not None and self._size < self._needed and not self._ended

    def open(self) -> None:
        """Start reading at the beginning of the request."""
        self._file.seek(0)

    def read(self, size: int | None = -1) -> bytes:
        """Read as from a file; also ``b""`` if the body has not been received."""
        return self._file.read(-1 if size is None else size)

    def readline(self, size: int | None = -1) -> bytes:
        """See `read`."""
        return self._file.readline(-1 if size is None else size)

    def ask_for_body(self, directory: str) -> None:
        """Receive the body into an unnamed file, then handle the request again.

        Raises:
            OSError: The file cannot be created.
        """
        file = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115  # closed with the inbox
        self._file.seek(0)
        file.write(self._file.read())
        self._file.close()
        self._file, self._is_asked_for = file, True

    def pass_over_body(self) -> bool:
        """Skip the rest of the request; False if too much of it has not arrived."""
        missing = (self._needed or 0) - self._size
        if self.is_short and (self._expects or missing > DRAINED):
            return False
        self._skipped = max(0, missing) if not self._ended else 0
        return True

    def following(self, now: float) -> "Inbox":
        """The data that the connection sends next: the requested body, or the next request.

        Raises:
            IntakeRefused: See `add`; for data that has already arrived.
        """
        if self.is_asked_for:
            self._file.seek(0, io.SEEK_END)
            return self
        self._file.seek(self._needed or 0)
        rest = self._file.read()
        self.close()
        following = Inbox()
        following._skipped = self._skipped
        following._whole_by = now + SECONDS + self._skipped / SLOWEST
        if rest:
            following.add(rest, now)
        return following

    def close(self) -> None:
        """Discard the data."""
        self.closed = True
        self._file.close()


class WorkerRequest(HTTPRequest):
    """cheroot's request, without handling of ``Expect``."""

    header_reader = _WorkerHeaderReader()

    def read_request_line(self) -> bool:
        """Also refuse ``HTTP/1.-1``, which cheroot accepts and CherryPy fails on.

        Source: RFC 9112, section 2.3, "HTTP Version".
        """
        if not super().read_request_line():  # type: ignore[no-untyped-call]  # cheroot is untyped
            return False
        if _VERSION.fullmatch(self.request_protocol):
            return True
        self.simple_response("400 Bad Request", "Malformed Request-Line: bad version")
        return False


class InboxConnection(HTTPConnection):
    """cheroot's connection over an `Inbox`.

    Attributes:
        is_refused: No further answer is sent; data that still arrives is discarded.
    """

    RequestHandlerClass = WorkerRequest

    def __init__(self, server: Any, sock: socket.socket, makefile: Any = MakeFile) -> None:
        def file(sock: socket.socket, mode: str, size: int) -> Any:
            return Inbox() if "r" in mode else makefile(sock, mode, size)

        super().__init__(server, sock, file)
        self.is_refused = False
        self.taken = 0
        self.deadline = 0.0

    def close(self) -> None:
        """Close it; if the client is still sending, only after it had time to read the answer."""
        if self.rfile.is_short and not self.is_refused:
            self.is_refused = True
            with contextlib.suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)
            self.server.put_conn(self)
        else:
            self.end()

    def end(self) -> None:
        """Close the socket at once."""
        with contextlib.suppress(OSError):
            super().close()
        self.socket.close()


class Intake:
    """A thread that receives requests; a connection belongs to it or to a worker.

    Args:
        name: Of the thread.
        most: Maximum number of connections; one more closes the oldest.
            There is no limit per address: readers behind one proxy share one.
        workers: Handle the connections whose requests are complete.
    """

    def __init__(self, name: str, most: int, workers: ThreadPool) -> None:
        self._most, self._workers = most, workers
        self._arrived: deque[InboxConnection] = deque()
        self._here: dict[InboxConnection, None] = {}
        self._is_ending = False
        self._wakes, self._wake = socket.socketpair()
        self._wakes.setblocking(False)
        self._wake.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._wakes, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def put(self, connection: InboxConnection) -> None:
        """Receive the connection's next request; may be called from any thread."""
        self._arrived.append(connection)
        if self._is_ending:
            self._end_arrived()
        else:
            with contextlib.suppress(OSError):  # full: it will wake up anyway
                self._wake.send(b"\0")

    def close(self) -> None:
        """Close every connection that has not finished sending, and end the thread."""
        self._is_ending = True
        with contextlib.suppress(OSError):
            self._wake.send(b"\0")
        self._thread.join()
        for connection in self._here:
            connection.end()
        self._end_arrived()
        self._selector.close()
        self._wakes.close()
        self._wake.close()

    def _end_arrived(self) -> None:
        with contextlib.suppress(IndexError):
            while True:
                self._arrived.popleft().end()

    # ------------------------------------------------------------------ in its thread

    def _run(self) -> None:
        last_look = 0.0
        while not self._is_ending:
            for key, _events in self._selector.select(_TICK):
                if key.data is None:
                    with contextlib.suppress(OSError):
                        self._wakes.recv(4096)
                elif key.data in self._here:
                    self._guarded(self._receive, key.data)
            while self._arrived:
                self._guarded(self._begin, self._arrived.popleft())
            now = time.monotonic()
            if now - last_look >= _TICK:
                last_look = now
                for connection in [one for one in self._here if one.deadline < now]:
                    self._guarded(self._give_up, connection)

    def _guarded(
        self, step: Callable[[InboxConnection], None], connection: InboxConnection
    ) -> None:
        """Handle errors of one connection, so that they do not affect the others."""
        try:
            step(connection)
        except IntakeRefused as refusal:
            self._refuse(connection, refusal)
        except OSError:  # the client went away
            self._end(connection)
        except Exception:  # the thread's boundary: reported here
            logger.exception("a request could not be received")
            self._end(connection)

    def _begin(self, connection: InboxConnection) -> None:
        now = time.monotonic()
        connection.socket.settimeout(0)
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self._selector.register(connection.socket, selectors.EVENT_READ, connection)
        self._here[connection] = None
        while len(self._here) > self._most:
            self._crowd_out(next(iter(self._here)))
        if connection.is_refused:
            connection.deadline = now + SECONDS_TO_DRAIN
            return
        connection.rfile = connection.rfile.following(now)
        self._go_on(connection, now)

    def _receive(self, connection: InboxConnection) -> None:
        if connection.rfile.is_ready and not connection.is_refused:  # earlier answers were read
            self._go_on(connection, time.monotonic())
            return
        try:
            block = connection.socket.recv(_BLOCK)
        except (BlockingIOError, InterruptedError):
            return
        if connection.is_refused:
            connection.taken += len(block)
            if not block or connection.taken > DRAINED:
                self._end(connection)
            return
        now = time.monotonic()
        connection.rfile.add(block, now)
        if not block and connection.rfile.is_empty:
            self._end(connection)
        else:
            self._go_on(connection, now)

    def _go_on(self, connection: InboxConnection, now: float) -> None:
        inbox = connection.rfile
        if inbox.takes_continue() and connection.socket.send(_CONTINUE) != len(_CONTINUE):
            self._end(connection)
        elif inbox.is_ready and self._workers.qsize >= MOST_QUEUED:
            self._crowd_out(connection)
        elif inbox.is_ready and not _is_writable(connection.socket):
            connection.deadline = now + SECONDS
            self._selector.modify(connection.socket, selectors.EVENT_WRITE, connection)
        elif inbox.is_ready:
            self._forget(connection)
            inbox.open()
            connection.socket.settimeout(SECONDS)
            self._workers.put(connection)
        else:
            connection.deadline = inbox.deadline(now)

    def _give_up(self, connection: InboxConnection) -> None:
        if connection.is_refused or connection.rfile.is_empty:
            self._end(connection)
        else:
            raise IntakeRefused(
                HTTPStatus.REQUEST_TIMEOUT, "The request took too long to arrive; send it again."
            )

    def _crowd_out(self, connection: InboxConnection) -> None:
        """Close a connection now, to make room for others."""
        if not connection.is_refused and not connection.rfile.is_empty:
            busy = IntakeRefused(
                HTTPStatus.SERVICE_UNAVAILABLE, "Too many requests arrive; try again."
            )
            with contextlib.suppress(OSError):
                connection.socket.send(busy.answer())
        self._end(connection)

    def _refuse(self, connection: InboxConnection, refusal: IntakeRefused) -> None:
        """Answer, and give the client time to read the answer although it is still sending."""
        connection.is_refused = True
        connection.deadline = time.monotonic() + SECONDS_TO_DRAIN
        self._selector.modify(connection.socket, selectors.EVENT_READ, connection)
        with contextlib.suppress(OSError):
            connection.socket.send(refusal.answer())
            connection.socket.shutdown(socket.SHUT_WR)

    def _forget(self, connection: InboxConnection) -> None:
        if connection in self._here:
            del self._here[connection]
            self._selector.unregister(connection.socket)

    def _end(self, connection: InboxConnection) -> None:
        self._forget(connection)
        connection.end()


def _is_writable(sock: socket.socket) -> bool:
    """Whether the send buffer has room for an answer."""
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_WRITE)
        return bool(selector.select(0))
