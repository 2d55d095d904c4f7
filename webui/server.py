"""The HTTP server: cheroot in a thread, started and stopped by the caller.

`webui.http.intake` receives the requests. Leave TLS and public networks to a reverse proxy: an
unfinished handshake would block cheroot's only accepting thread.
"""

import contextlib
import gc
import logging
import threading
from collections.abc import Iterator
from typing import Any

from cheroot.wsgi import Gateway_10, Server

from politeweb.listening import CannotListen, ServerLog, probe
from recordsilo.closing import Closing
from webui.http.intake import SECONDS, InboxConnection, Intake
from webui.http.messages import AWAIT_BODY, WsgiApp
from webui.http.streams import MOST_STREAMED

logger = logging.getLogger("webui")
_server_log = ServerLog(logger)
THREADS = MOST_STREAMED + 4
"""Streamed answers leave four threads to all others."""
MOST_UNFINISHED, MOST_UPLOADS = 256, 32
"""Maximum number of connections that are sending a request or are idle, and of those that are
sending a large body that the application requested."""
_WITHOUT_BODY = (b"204", b"304")


@contextlib.contextmanager
def long_lived() -> Iterator[None]:
    """Exclude all present objects from garbage collection during the block (`gc.freeze`).

    They live as long as the process, and a collection delayed answers by 50 ms now and then
    (90,000 objects, measured on 2026-11-22).
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class _Gateway(Gateway_10):
    """cheroot's gateway over requests that `webui.http.intake` received."""

    def get_environ(self) -> Any:
        """The environ; see `http_values.AWAIT_BODY`."""
        environ: Any = super().get_environ()  # type: ignore[no-untyped-call]  # cheroot is untyped
        inbox = self.req.conn.rfile
        if inbox.is_short:
            environ[AWAIT_BODY] = inbox.ask_for_body
        return environ

    def start_response(self, status: str, headers: Any, exc_info: Any = None) -> Any:
        """Start an answer, or postpone it if the application asked for the body.

        The unread rest of a body is skipped: cheroot 11.1 would read it into memory, and
        treat the rest of a chunked one as the next request.
        """
        inbox = self.req.conn.rfile
        written = super().start_response(status, headers, exc_info)
        if inbox.is_asked_for:
            self.req.sent_headers, self.req.close_connection = True, False
        elif self.req.chunked_read or not inbox.pass_over_body():
            self.req.close_connection = True
        else:
            self.req.rfile.remaining = 0
        return written

    def write(self, chunk: bytes) -> None:
        """Send a piece of the body, if the answer may have one (RFC 9110, section 6.4.1).

        A client takes the body of an answer to HEAD for the beginning of the next answer. Behind
        a proxy that keeps connections, the next answer is somebody else's.
        """
        if self.req.method == b"HEAD" or self.req.status[:3] in _WITHOUT_BODY:
            self.req.ensure_headers_sent()
        else:
            super().write(chunk)


class _Server(Server):
    """cheroot's server; its workers get complete requests, and our log gets its messages.

    Large bodies have their own thread, because writing to a disk may take time.
    """

    ConnectionClass = InboxConnection
    expiration_interval = 0.1  # seconds; stopping takes as long

    def prepare(self) -> None:
        """Listen, and start the threads."""
        super().prepare()
        self._heads = Intake("requests", MOST_UNFINISHED, self.requests)
        self._uploads = Intake("uploads", MOST_UPLOADS, self.requests)

    def process_conn(self, conn: InboxConnection) -> None:
        """Receive the first request of a connection."""
        self._heads.put(conn)

    def put_conn(self, conn: InboxConnection) -> None:
        """Receive the next request, or the body that the application asked for."""
        (self._uploads if conn.rfile.is_asked_for else self._heads).put(conn)

    def stop(self) -> None:
        """Close connections that have not finished sending, and finish the running answers."""
        self._heads.close()
        self._uploads.close()
        super().stop()

    def error_log(self, msg: str = "", level: int = logging.INFO, traceback: bool = False) -> None:
        _server_log.note(msg, level, traceback)


class PageServer(Closing):
    """A running server; leaving the block finishes the running requests and stops it."""

    def __init__(self, app: WsgiApp, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen, and answer requests in threads.

        Args:
            app: The application.
            host: A name or an address; for a name, its first address is used.
            port: 0 for a free port.

        Raises:
            PortTaken: Another program listens there.
            CannotListen: The address is not this machine's, or the port is not permitted.
        """
        probe(host, port)
        self.host = host
        self._server = _Server(
            (host, port), app, numthreads=THREADS, request_queue_size=64, timeout=SECONDS
        )
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
        """The address of the page."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/"

    def close(self) -> None:
        """Stop listening, finish the running requests (5 seconds at most), stop the threads."""
        self._server.stop()
        self._thread.join()
