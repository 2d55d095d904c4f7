"""The HTTP server: cheroot in a thread, started and stopped by whoever holds it.

TLS and the open network belong to a reverse proxy: a handshake that never ends would
hold cheroot's one accepting thread.
"""

import contextlib
import errno
import gc
import logging
import socket
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from cheroot.wsgi import Gateway_10, Server

from webui.app import WsgiApp

logger = logging.getLogger("webui")
DRAINED = 16 * 1024 * 1024
"""Bytes of a refused body still taken, so that the client gets to read the refusal."""


class PortTaken(Exception):
    """Another program listens there."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        super().__init__(f"port {port} of {host} is taken by another program; name another --port")


class CannotListen(Exception):
    """The address cannot be listened at."""


@contextlib.contextmanager
def long_lived() -> Iterator[None]:
    """Keep what is loaded now out of the search for garbage, as long as the block lasts.

    It stays as long as the process does, and going through it held an answer up for 50 ms
    now and then (90,000 objects, seen on 2026-11-22).
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class _Gateway(Gateway_10):
    """cheroot's gateway, which never reads an unwanted body into memory.

    cheroot 11.1 reads what a handler left of a body with one ``read(remaining)``, and of
    a chunked body nothing, so that its rest is taken for the next request.
    """

    def start_response(self, status: str, headers: Any, exc_info: Any = None) -> Any:
        if self.req.chunked_read or not _drained(self.req.rfile):
            self.req.close_connection = True
        return super().start_response(status, headers, exc_info)


def _drained(body: Any) -> bool:
    """Take the rest of a body block by block; False where it is too much for that."""
    left = getattr(body, "remaining", 0)
    if left > DRAINED or left < 0:
        return False
    with contextlib.suppress(OSError):
        while getattr(body, "remaining", 0) > 0 and body.read(64 * 1024):
            pass
    return getattr(body, "remaining", 0) == 0


def probe(host: str, port: int) -> None:
    """Try the address first: cheroot folds every reason into one text.

    Raises:
        PortTaken, CannotListen: See `PageServer`.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(host, port) from None
        reason = error.strerror or str(error)
        raise CannotListen(f"cannot listen on {host}, port {port}: {reason}") from None


class _Server(Server):
    """cheroot's server; its log goes to ours, not to standard error."""

    def error_log(self, msg: str = "", level: int = logging.INFO, traceback: bool = False) -> None:
        logger.log(level, msg, exc_info=traceback)


class PageServer:
    """A running server; leaving the block stops it after the requests it is answering."""

    def __init__(self, app: WsgiApp, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen, and answer in threads.

        Args:
            app: The application.
            host: A name or an address; a name is taken by its first address.
            port: 0 takes a free one.

        Raises:
            PortTaken: Another program listens there.
            CannotListen: The address is not this machine's, or the port not ours to take.
        """
        probe(host, port)
        self.host = host
        self._server = _Server((host, port), app, numthreads=8, request_queue_size=64, timeout=30)
        self._server.gateway = _Gateway
        self._server.server_name = "silo"  # sent as Server; the default names a version
        try:
            self._server.prepare()
        except OSError as error:
            raise CannotListen(f"cannot listen on {host}, port {port}: {error}") from None
        self.port: int = self._server.bind_addr[1]
        self._thread = threading.Thread(target=self._server.serve, name="webui", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where the page is."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/"

    def close(self) -> None:
        """Stop listening, finish the running requests (5 seconds at most), stop the threads."""
        self._server.stop()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
