"""A repository that nodes reach by lines of their own: HTTP proxies that note who asked, and when.

The address of the repository exists nowhere else.
"""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from fake_repository import FakeRepository

HOST = "repo.example.org"
URL = f"http://{HOST}/oai"


class Windowed(FakeRepository):
    """A repository whose tokens have the end of their window."""

    def content(self, params: Mapping[str, str]) -> str:
        token, _, until = params.get("resumptionToken", "").partition("~")
        given = {"resumptionToken": token} if token else {}
        given |= {"until": until} if until else {}
        asked = {**params, **given}
        content = super().content(asked)
        if until := asked.get("until", ""):
            return re.sub(r"(\|\d+)(</resumptionToken>)", rf"\1~{until}\2", content)
        return content


class Lines:
    """The lines to a repository.

    Attributes:
        repository: It.
        ports: Of the lines, on loopback.
        asked: The moment of each request, the number of its line, and its arguments.
        seconds: Until an answer.
        most: Requests that were in flight at once.
    """

    def __init__(self, repository: FakeRepository, seconds: float) -> None:
        self.repository, self.seconds = repository, seconds
        self.ports: list[int] = []
        self.asked: list[tuple[float, int, Mapping[str, str]]] = []
        self.lock = Lock()
        self.most = self.in_flight = 0

    @property
    def used(self) -> set[int]:
        """The lines by which lists were requested."""
        return {line for _, line, asked in self.asked if asked["verb"].startswith("List")}


@contextmanager
def lines_to(repository: FakeRepository, count: int, seconds: float) -> Iterator[Lines]:
    """Serve a repository on some lines."""
    found = Lines(repository, seconds)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked = dict(parse_qsl(urlsplit(self.path).query))
            line = found.ports.index(int(self.server.server_address[1]))
            with found.lock:
                found.asked.append((time.monotonic(), line, asked))
                found.in_flight += 1
                found.most = max(found.most, found.in_flight)
                body = repository.fetch(asked).body
            time.sleep(found.seconds)
            with found.lock:
                found.in_flight -= 1
            self.send_response(200)
            self.send_header("Content-Type", "text/xml")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ExitStack() as stack:
        for _ in range(count):
            server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
            server.daemon_threads = True
            found.ports.append(server.server_port)
            Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
            stack.callback(server.shutdown)
        yield found
