"""A simulated server on loopback: one function from a request to an answer."""

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

LOST = -1
"""The status of an answer that is lost: the connection is closed instead."""


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


Respond = Callable[[Request], Answer]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "_Server"

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(
            self.command, unquote(parts.path), parse_qs(parts.query), self.headers, body
        )
        with self.server.lock:
            given = self.server.respond(request)
        if given.status == LOST:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response_only(given.status)
        for name, value in given.headers.items():
            self.send_header(name, value)
        if given.status != 204:
            self.send_header("Content-Length", str(len(given.body)))
        self.end_headers()
        if given.status != 204 and self.command != "HEAD":
            self.wfile.write(given.body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815 - as http.server has it

    def log_message(self, *_arguments: object) -> None:
        """Quiet."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, respond: Respond, port: int) -> None:
        self.respond, self.lock = respond, threading.Lock()
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, *_arguments: object) -> None:
        """A client that is gone is no matter."""


@contextmanager
def serving(respond: Respond, port: int = 0) -> Iterator[str]:
    """Serve on loopback; yields the address."""
    server = _Server(respond, port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
