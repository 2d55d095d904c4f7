"""A gatherer of usage statistics on loopback that fails in every way."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

Answer = Callable[["Handler"], None]


class Gatherer(ThreadingHTTPServer):
    """Answers each request by the next plan, then with 200.

    Attributes:
        received: Pairs of each request that arrived, in order.
        acknowledged: Those that were answered with a status of success, completely.
    """

    def __init__(self, plans: list[str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.plans = plans
        self.received: list[dict[str, str]] = []
        self.acknowledged: list[dict[str, str]] = []
        self.lock, self.is_over = threading.Lock(), threading.Event()
        self.times: list[float] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/counter/"

    def how_often(self) -> Counter[tuple[tuple[str, str], ...]]:
        """How often each use was acknowledged."""
        return Counter(tuple(sorted(one.items())) for one in self.acknowledged)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that are gone."""


class Handler(BaseHTTPRequestHandler):
    server: Gatherer

    def do_GET(self) -> None:
        pairs = dict(parse_qsl(urlsplit(self.path).query, strict_parsing=True))
        with self.server.lock:
            self.server.received.append(pairs)
            self.server.times.append(time.monotonic())
            plan = self.server.plans.pop(0) if self.server.plans else "200"
        status, _, more = plan.partition(" ")
        if status == "silent":
            self.server.is_over.wait(60)
        if status in {"silent", "close"}:
            self.close_connection = True
            return
        if status == "half":
            self.wfile.write(b"HTTP/1.1 20")
            self.close_connection = True
            return
        self.send_response(int(status))
        if more:
            name, _, value = more.partition("=")
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()
        if status.startswith("2"):
            with self.server.lock:
                self.server.acknowledged.append(pairs)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def gatherer(*plans: str) -> Iterator[Gatherer]:
    with Gatherer(list(plans)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.is_over.set()
            server.shutdown()
            thread.join()
