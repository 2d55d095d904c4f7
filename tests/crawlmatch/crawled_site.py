"""A site on loopback with every kind of link, and the expected outcome of each."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from crawlmatch.uris import heritrix_form

PDF_BODY = b"%PDF-1.4\n" + b"words " * 400
PAGE = b"<html><head><title>A page</title></head><body>%s</body></html>"
ETAGGED = "/same.pdf"


def page(*links: str) -> bytes:
    return PAGE % b"".join(f'<a href="{link}">link</a> '.encode() for link in links)


@dataclass(slots=True)
class Site:
    """The pages: path → status, media type, body, Location."""

    root: str = ""
    answers: dict[str, tuple[int, str, bytes, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    outcomes: dict[str, str] = field(default_factory=dict)
    finals: dict[str, str] = field(default_factory=dict)

    def put(self, path: str, status: int = 200, mime: str = "text/html", body: bytes = b"",
            to: str = "") -> None:  # fmt: skip
        self.answers[path] = (status, mime, body, to)

    def pdf(self, path: str) -> None:
        self.put(path, 200, "application/pdf", PDF_BODY + path.encode())

    def redirect(self, path: str, to: str, status: int = 302) -> None:
        self.put(path, status, "text/html", b"<html>moved</html>", to)

    def seed(self, path: str, outcome: str, final: str | None = None) -> None:
        """Ask for an address; final: the path where it ends, by default its own."""
        self.outcomes[path] = outcome
        self.finals[path] = path if final is None else final

    def build(self, closed: int) -> None:
        """All there is; ``closed`` is a port where nobody listens."""
        self.put("/robots.txt", 200, "text/plain", b"User-agent: *\nDisallow: /private/\n")
        self.pdf("/direct.pdf")
        self.seed("/direct.pdf", "fulltext")
        self.redirect("/one", "/one.pdf")
        self.pdf("/one.pdf")
        self.seed("/one", "fulltext", "/one.pdf")
        self.redirect("/r1", "/r2", 301)
        self.redirect("/r2", f"{self.root}/r3", 307)
        self.redirect("/r3", "r3.pdf")
        self.pdf("/r3.pdf")
        self.seed("/r1", "fulltext", "/r3.pdf")
        self.put("/item/1", body=page("/item/1/paper.pdf", "/style.css"))
        self.pdf("/item/1/paper.pdf")
        self.put("/style.css", 200, "text/css", b"body { color: black }")
        self.seed("/item/1", "fulltext", "/item/1/paper.pdf")
        self.put("/item/2", body=page("/item/2/gone.pdf"))
        self.seed("/item/2", "landing-only")
        self.put("/item/3", body=page("/private/paper.pdf"))
        self.seed("/item/3", "landing-only")
        self.pdf("/private/paper.pdf")
        self.seed("/private/paper.pdf", "robots")
        self.redirect("/loop/a", "/loop/b")
        self.redirect("/loop/b", "/loop/a")
        self.seed("/loop/a", "redirect-loop")
        self.redirect("/article", "/article?cookieSet=1")
        self.put("/article?cookieSet=1", body=page())
        self.seed("/article", "cookie-wall", "/article?cookieSet=1")
        self.redirect("/doi/1", "/crawlprevention/governor?content=1")
        self.put("/crawlprevention/governor?content=1", body=page())
        self.seed("/doi/1", "robot-defence", "/crawlprevention/governor?content=1")
        self.redirect("/to-seen", "/direct.pdf")
        self.seed("/to-seen", "fulltext", "/direct.pdf")
        self.seed("/missing.pdf", "http-4xx")
        self.put("/broken.pdf", 500, "text/html", b"oh")
        self.seed("/broken.pdf", "http-5xx")
        self.put("/slow-down.pdf", 429, "text/html", b"slowly")
        self.seed("/slow-down.pdf", "rate-limited")
        self.put("/empty.pdf", 200, "application/pdf", b"")
        self.seed("/empty.pdf", "empty")
        self.put("/picture.png", 200, "image/png", b"\x89PNG\r\n\x1a\n" + bytes(3000))
        self.seed("/picture.png", "wrong-type")
        self.put("/tiny.bin", 200, "application/octet-stream", b"tiny")
        self.seed("/tiny.bin", "empty")
        self.pdf("/a%20b%5B1%5D.pdf")
        self.seed("/x/../a b[1].pdf#page=2", "fulltext", "/a%20b%5B1%5D.pdf")
        self.pdf("/gr%C3%B6%C3%9Fe.pdf")
        self.seed("/größe.pdf", "fulltext", "/gr%C3%B6%C3%9Fe.pdf")
        self.pdf(ETAGGED)
        self.seed(ETAGGED, "fulltext")
        dead = f"http://127.0.0.1:{closed}/dead.pdf"
        self.seed(dead, "unreachable")

    def address(self, path: str) -> str:
        return path if "://" in path else self.root + path

    @property
    def seeds(self) -> list[str]:
        """The addresses that are asked for."""
        return [self.address(path) for path in self.outcomes]

    @property
    def crawler_seeds(self) -> list[str]:
        """The same as a crawler takes them, which reads no blank in an address."""
        return [heritrix_form(one) for one in self.seeds]


@contextmanager
def serving(closed: int) -> Iterator[Site]:
    """The site, on a port of its own."""
    site = Site()

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        served: ClassVar[Site] = site

        def do_GET(self) -> None:
            site.asked.append(self.path)
            absent = (404, "text/html", b"<html>no such page</html>", "")
            status, mime, body, to = site.answers.get(self.path, absent)
            is_same = self.path == ETAGGED and self.headers.get("If-None-Match") == '"same"'
            self.send_response(304 if is_same else status)
            if not is_same:
                self.send_header("Content-Type", mime)
            self.send_header("Content-Length", "0" if is_same else str(len(body)))
            if to:
                self.send_header("Location", to)
            if self.path == ETAGGED:
                self.send_header("ETag", '"same"')
            self.end_headers()
            if not is_same:
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    site.root = f"http://127.0.0.1:{server.server_address[1]}"
    site.build(closed)
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
