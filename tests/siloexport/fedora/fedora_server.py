"""The simulated Fedora on loopback: requests from sockets, answers to them."""

import hashlib
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from fedora_simulator import Simulator
from fedora_values import (
    Answer,
    Body,
    Request,
)

SMALL = 1 << 20


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "_Server"

    def _serve(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if not (path == "/rest" or path.startswith("/rest/")):
            self._send(Answer(404), path)
            return
        request = Request(
            self.command, path.removeprefix("/rest").strip("/"), self.headers, self._body()
        )
        given = self.server.simulator.answer(request)
        if given.status < 0:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self._send(given, path)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815 - as http.server has it

    def _body(self) -> Body:
        left = int(self.headers.get("Content-Length") or 0)
        digest, size = hashlib.sha512(), left
        small = b""
        file: BinaryIO | None = None
        if left > SMALL:
            file = tempfile.TemporaryFile(dir=self.server.directory)  # noqa: SIM115 - closed at the end
            self.server.files.append(file)
        while left and (chunk := self.rfile.read(min(left, SMALL))):
            left -= len(chunk)
            digest.update(chunk)
            if file is None:
                small += chunk
            else:
                file.write(chunk)
        return Body(digest.hexdigest(), size - left, small, file)

    def _send(self, given: Answer, _path: str) -> None:
        lines = [f"HTTP/1.1 {given.status} x"]
        if self.server.simulator.sends_date:
            lines.append(f"Date: {formatdate(self.server.simulator.now(), usegmt=True)}")
        lines += [f"{name}: {value}" for name, value in given.headers.items()]
        has_body = given.status not in {204, 304}
        if has_body:
            lines.append(f"Content-Length: {len(given.body)}")
        body = given.body if has_body and self.command != "HEAD" else b""
        self.wfile.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body)

    def log_message(self, *_arguments: object) -> None:
        """Quiet."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, simulator: Simulator, directory: str | None) -> None:
        self.simulator, self.directory = simulator, directory
        self.files: list[BinaryIO] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, *_arguments: object) -> None:
        """A client that is gone is no matter."""


@contextmanager
def serving(simulator: Simulator, directory: str | None = None) -> Iterator[str]:
    """Serve a simulator on loopback; yields the address of its root."""
    server = _Server(simulator, directory)
    simulator.base = f"http://127.0.0.1:{server.server_port}/rest"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield simulator.base
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        for file in server.files:
            file.close()
