"""A small HTTP server of a WSGI application, for this machine only.

The web page has a server of its own (`webui.server`), for any number of people.
"""

import logging
import socket
import threading
from typing import Any, Self

from cheroot import wsgi

from politeweb.closing import Closing
from politeweb.listening import ServerLog, probe

LOOPBACK = "127.0.0.1"
_THREADS = 4
_SECONDS_TO_STOP = 5
_LARGEST_REQUEST = 128 * 1024

_server_log = ServerLog(logging.getLogger(__name__))


class _QuietServer(wsgi.Server):
    """Cheroot, with its messages sent to this module's logger instead of stderr."""

    expiration_interval = 0.1  # seconds; stopping takes as long

    def error_log(self, msg: str = "", level: int = logging.INFO, traceback: bool = False) -> None:
        _server_log.note(msg, level, traceback)

    @staticmethod
    def bind_socket(socket_: socket.socket, bind_addr: tuple[str, int]) -> socket.socket:
        """Bind, or close the socket; Cheroot 11.1.2 leaves it open if the port is in use."""
        try:
            socket_.bind(bind_addr)
        except OSError:
            socket_.close()
            raise
        return socket_


class LoopbackServer(Closing):
    """Listens on 127.0.0.1 from construction on, and serves in its own threads until `close`.

    Usable as a context manager. Connections are kept alive; requests of more than 128 KiB are
    refused.

    Args:
        app: A WSGI application; see `start`.
        port: 0 chooses a free port.

    Raises:
        CannotListen: Another program listens there, or the port is not permitted.

    Attributes:
        port: Where it listens.
    """

    def __init__(self, app: Any, port: int = 0) -> None:
        probe(LOOPBACK, port)
        self._server: Any = _QuietServer((LOOPBACK, port), app, numthreads=_THREADS)
        self._server.shutdown_timeout = _SECONDS_TO_STOP
        self._server.max_request_header_size = _LARGEST_REQUEST
        self._server.max_request_body_size = _LARGEST_REQUEST
        self._server.server_name = "silo"  # sent as Server; the default names a version
        self._server.prepare()
        self.port: int = self._server.bind_addr[1]
        self._thread = threading.Thread(target=self._server.serve, name=self.url, daemon=True)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{LOOPBACK}:{self.port}/"

    def start(self) -> Self:
        """Answer requests, also those that came since it listens."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop serving and free the port; responses under way are finished first."""
        self._server.stop()
        if self._thread.ident is not None:
            self._thread.join()
