"""A site with landing pages, documents, and the traps that crawlers meet.

It is served under the name ``localhost``: indexes have other keys for addresses of numbers.
"""

import gzip
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PDF = b"%PDF-1.4\n" + b"a document of some length\n" * 50
HTML = "text/html; charset=utf-8"


@dataclass
class Reply:
    """An answer: its status, headers and body; a body that is a function writes it itself."""

    status: int = 200
    body: bytes | Callable[[BaseHTTPRequestHandler], None] = b""
    headers: dict[str, str] = field(default_factory=dict)


def page(body: str, head: str = "", **headers: str) -> Reply:
    """An HTML page."""
    text = f"<!doctype html><html><head><title>t</title>{head}</head><body>{body}</body></html>"
    return Reply(200, text.encode(), {"Content-Type": HTML, **headers})


def pdf(content: bytes = PDF, **headers: str) -> Reply:
    """A document."""
    return Reply(200, content, {"Content-Type": "application/pdf", **headers})


class Site:
    """The pages of a site, by path and query.

    Attributes:
        pages: Path → answer, or a function of the request's headers that returns one.
        asked: How often each path was requested.
        moments: When requests came, and of which paths.
    """

    def __init__(self) -> None:
        self.pages: dict[str, Reply | Callable[[dict[str, str]], Reply]] = {
            "/robots.txt": Reply(404)
        }
        self.asked: Counter[str] = Counter()
        self.moments: list[tuple[float, str]] = []
        self.url = ""

    def answer(self, path: str, headers: dict[str, str]) -> Reply:
        """Answer a request."""
        self.moments.append((time.monotonic(), path))
        self.asked[path] += 1
        found = self.pages.get(path, self.pages.get(path.partition("?")[0], Reply(404)))
        return found(headers) if callable(found) else found


def tagged(reply: Reply, tag: str) -> Callable[[dict[str, str]], Reply]:
    """An answer with an ETag, and 304 for who has it."""
    reply.headers["ETag"] = tag

    def answer(headers: dict[str, str]) -> Reply:
        return Reply(304, b"", {"ETag": tag}) if headers.get("if-none-match") == tag else reply

    return answer


def busy(times: int, after: str, then: Reply) -> Callable[[dict[str, str]], Reply]:
    """429 some times, then an answer."""
    left = [times]

    def answer(_headers: dict[str, str]) -> Reply:
        left[0] -= 1
        return then if left[0] < 0 else Reply(429, b"", {"Retry-After": after})

    return answer


def packed(reply: Reply) -> Reply:
    """The same under gzip."""
    assert isinstance(reply.body, bytes)
    headers = {**reply.headers, "Content-Encoding": "gzip"}
    return Reply(reply.status, gzip.compress(reply.body), headers)


def endless(piece: bytes = b"x" * 65_536) -> Reply:
    """A body without end."""

    def write(handler: BaseHTTPRequestHandler) -> None:
        while True:
            handler.wfile.write(piece)

    return Reply(200, write, {"Content-Type": "application/pdf"})


def hang_up() -> Reply:
    """A connection that is closed in the middle of the body."""

    def write(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"half")
        handler.close_connection = True

    return Reply(200, write, {"Content-Type": "application/pdf", "Content-Length": "1000"})


@contextmanager
def served(site: Site) -> Iterator[Site]:
    """Serve a site on a free port of loopback."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            reply = site.answer(self.path, {k.lower(): v for k, v in self.headers.items()})
            self.send_response(reply.status)
            headers = dict(reply.headers)
            if isinstance(reply.body, bytes):
                headers.setdefault("Content-Length", str(len(reply.body)))
            elif "Content-Length" not in headers:
                headers["Connection"] = "close"
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if isinstance(reply.body, bytes):
                self.wfile.write(reply.body)
                return
            try:
                reply.body(self)
            except OSError:
                self.close_connection = True

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    site.url = f"http://localhost:{server.server_address[1]}"
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
