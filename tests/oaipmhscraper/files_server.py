"""A server of files on loopback: what each path answers is a function of the request."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PDF = b"%PDF-1.4\n" + b"content " * 200


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; without a length of its own the connection's end is the content's."""

    body: bytes | Iterable[bytes] = PDF
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = -1  # None: not told


Answer = Callable[[dict[str, str]], Reply]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append((self.path, headers))
        answer = self.server.answers.get(self.path)
        reply = answer(headers) if answer else Reply(b"nothing here", 404)
        self.send_response(reply.status)
        pieces = [reply.body] if isinstance(reply.body, bytes) else reply.body
        length = reply.length
        if length == -1 and isinstance(reply.body, bytes):
            length = len(reply.body)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if length is None or length < 0:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        try:
            for piece in pieces:
                self.wfile.write(piece)
        except OSError:
            self.close_connection = True
        if length != sum(map(len, pieces)) if isinstance(reply.body, bytes) else True:
            self.close_connection = True

    def log_message(self, *args: object) -> None:
        pass


class FilesServer(ThreadingHTTPServer):
    """`answers`: path → function from the request's headers to a `Reply`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: dict[str, Answer] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def serve(self, path: str, *args: object, **more: object) -> str:
        """Answer a path always in the same way; return its URL."""
        self.answers[path] = lambda _headers: Reply(*args, **more)
        return self.url + path

    @property
    def paths(self) -> list[str]:
        """The paths asked for, but for robots.txt."""
        return [path for path, _ in self.requests if path != "/robots.txt"]


@contextmanager
def files_server() -> Iterator[FilesServer]:
    with FilesServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
