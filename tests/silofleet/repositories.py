"""Repositories on several hosts of loopback, which keep a log of when each was asked."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from fake_repository import FakeRepository


class Repositories:
    """Repositories, several on each host.

    Attributes:
        urls: Their base URLs.
        asked: Host → moments of its requests.
    """

    def __init__(self, hosts: int, each: int, records: int) -> None:
        self.urls: list[str] = []
        self.asked: dict[str, list[float]] = defaultdict(list)
        self.by_path: dict[tuple[str, str], FakeRepository] = {}
        self.hosts, self.each, self.records = hosts, each, records
        self.lock = Lock()

    def repository(self, number: int) -> FakeRepository:
        found = FakeRepository(page_size=10)
        for one in range(self.records):
            found.add(f"oai:r{number}:{one}", "2010-01-01", f"Title {one} of {number}")
        return found


@contextmanager
def repositories(hosts: int, each: int, records: int) -> Iterator[Repositories]:
    """Serve repositories on 127.0.0.2 and the addresses after it."""
    found = Repositories(hosts, each, records)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            host = f"{self.server.server_address[0]}:{self.server.server_address[1]}"
            with found.lock:
                found.asked[host].append(time.monotonic())
            repository = found.by_path[host, parts.path]
            time.sleep(0.005)
            body = repository.fetch(dict(parse_qsl(parts.query))).body
            self.send_response(200)
            self.send_header("Content-Type", "text/xml")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ExitStack() as stack:
        for host in range(hosts):
            address = f"127.0.0.{host + 2}"
            server = stack.enter_context(ThreadingHTTPServer((address, 0), Handler))
            server.daemon_threads = True
            Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
            stack.callback(server.shutdown)
            place = f"{address}:{server.server_port}"
            for one in range(each):
                number = host * each + one
                found.by_path[place, f"/{number}/oai"] = found.repository(number)
                found.urls.append(f"http://{place}/{number}/oai")
        yield found
