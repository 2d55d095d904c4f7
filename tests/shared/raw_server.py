"""A server on loopback that answers with bytes, of HTTP or not, as a function says."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile

Answer = Callable[[bytes], Iterable[bytes]]
"""Head of a request → pieces of what is sent; the last may be `KEEP`, else the connection ends."""
KEEP = b"keep it open"
"""The connection stays open for another request; this is not sent."""


class RawServer:
    """Answers each connection in a thread of its own.

    Args:
        answer: See `Answer`.
        tls: For https.
        at_once: Whether to answer before anything was asked.

    Attributes:
        heads: The heads of requests, in the order in which they came.
        connections: How many connections there were.
    """

    def __init__(
        self, answer: Answer, tls: ssl.SSLContext | None = None, *, at_once: bool = False
    ) -> None:
        self._answer, self.tls, self._at_once = answer, tls, at_once
        self.heads: list[bytes] = []
        self.connections = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        self.port = self._socket.getsockname()[1]
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}/"

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                self.connections += 1
                self._open.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError):
            if self.tls is not None:
                connection = self.tls.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as said:
                if self._at_once:
                    self._answered(connection, b"")
                    return
                while head := b"".join(takewhile(bool, iter(said.readline, b"\r\n"))):
                    self.heads.append(head + b"\r\n")
                    if not self._answered(connection, head):
                        return

    def _answered(self, connection: socket.socket, head: bytes) -> bool:
        for piece in self._answer(head):
            if piece is KEEP:
                return True
            connection.sendall(piece)
        return False

    def close(self) -> None:
        """End all connections."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._thread.join()


@contextmanager
def raw_server(
    answer: Answer, tls: ssl.SSLContext | None = None, *, at_once: bool = False
) -> Iterator[RawServer]:
    """Run a server while the block lasts; see `RawServer`."""
    server = RawServer(answer, tls, at_once=at_once)
    try:
        yield server
    finally:
        server.close()
