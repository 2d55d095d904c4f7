"""A mail server and the server of a webhook, which keep what they get."""

import json
import socketserver
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest


class _Mails(socketserver.StreamRequestHandler):
    """A mail server, which keeps the mails that it gets."""

    def handle(self) -> None:
        self.wfile.write(b"220 stub\r\n")
        while line := self.rfile.readline():
            word = line.strip().upper()
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                mail = b""
                while (line := self.rfile.readline()) != b".\r\n":
                    mail += line
                self.server.got.append(mail.decode())  # type: ignore[attr-defined]
            if word.startswith(b"AUTH"):
                self.server.logins.append(word)  # type: ignore[attr-defined]
                self.wfile.write(b"235 welcome\r\n")
                continue
            if word.startswith(b"EHLO"):
                self.wfile.write(b"250-stub\r\n250 AUTH PLAIN\r\n")
                continue
            self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 ok\r\n")


class _Hook(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        statuses = self.server.statuses  # type: ignore[attr-defined]
        status = statuses.pop(0) if statuses else 200
        if status == 200:
            self.server.got.append(body)  # type: ignore[attr-defined]
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def _serving(server: Any) -> Iterator[Any]:
    server.got = []
    server.statuses = []
    server.logins = []
    with server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def mails() -> Iterator[Any]:
    with _serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Mails)) as server:
        yield server


@pytest.fixture
def hook() -> Iterator[Any]:
    with _serving(ThreadingHTTPServer(("127.0.0.1", 0), _Hook)) as server:
        yield server
