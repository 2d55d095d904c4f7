"""A Heritrix of one job, on loopback without TLS: its state moves when it is asked to."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl

PERMITTED = {
    "": ("build", "launch"),
    "NASCENT": ("launch", "teardown"),
    "PREPARING": ("checkpoint", "terminate", "teardown"),
    "RUNNING": ("pause", "checkpoint", "terminate", "teardown"),
    "EMPTY": ("pause", "checkpoint", "terminate", "teardown"),
    "PAUSING": ("unpause", "checkpoint", "terminate", "teardown"),
    "PAUSED": ("unpause", "checkpoint", "terminate", "teardown"),
    "FINISHED": ("teardown",),
}
"""As 3.13.0 tells of it; "" is unbuilt."""
MOVES = {
    "build": ["NASCENT"],
    "launch": ["PREPARING", "RUNNING"],
    "pause": ["PAUSING", "PAUSED"],
    "unpause": ["RUNNING"],
    "terminate": ["STOPPING", "FINISHED"],
    "teardown": [""],
}
Answer = tuple[int, bytes] | None


def job_xml(state: str, log: str = "", checkpoints: tuple[str, ...] = (), **more: str) -> bytes:
    """What is said of the job ``site``."""
    actions = "".join(f"<value>{one}</value>" for one in PERMITTED.get(state, ()))
    listed = "".join(f"<value>{one}</value>" for one in checkpoints)
    told = "".join(f"<{name}>{text}</{name}>" for name, text in more.items())
    controller = f"<crawlControllerState>{state}</crawlControllerState>" if state else ""
    return (
        "<?xml version=\"1.0\" standalone='yes'?>\n"
        f"<job><shortName>site</shortName>{controller}<availableActions>{actions}"
        f"</availableActions><jobLogTail><value>{log}</value></jobLogTail>"
        f"<checkpointFiles>{listed}</checkpointFiles>{told}</job>"
    ).encode()


@dataclass
class FakeHeritrix:
    """What it is, and what it was asked.

    Attributes:
        states: The present state, and those that come, each with the next question.
        checkpoints: Names of complete ones.
        answer: Asked first: (method, path, form) → an answer instead of the own one, or None.
        posted: The forms.
        files: By path below the job's directory.
    """

    url: str = ""
    states: list[str] = field(default_factory=lambda: [""])
    log: str = "INFO Job instantiated"
    checkpoints: list[str] = field(default_factory=list)
    answer: Callable[[str, str, dict[str, str]], Answer] = lambda *_: None
    posted: list[dict[str, str]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)

    def answered(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        form = dict(parse_qsl(body.decode(errors="replace"))) if method == "POST" else {}
        if method == "POST":
            self.posted.append(form)
        if (found := self.answer(method, path, form)) is not None:
            return found
        if path == "/engine":
            told = (
                "<heritrixVersion>3.13.0</heritrixVersion><jobs><value><shortName>site</shortName>"
            )
            return 200, f"<engine>{told}</value></jobs></engine>".encode()
        if not path.startswith("/engine/job/site"):
            return 404, b"<h1>Page not found</h1>"
        if "/jobdir/" in path:
            return self._file(method, path.partition("/jobdir/")[2], body)
        if method == "POST":
            if form["action"] in PERMITTED.get(self.states[0], ()):
                self.states = [self.states[0], *MOVES.get(form["action"], [])]
            return 303, b""
        if len(self.states) > 1:
            self.states.pop(0)
        return 200, job_xml(self.states[0], self.log, tuple(self.checkpoints))

    def _file(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        if method == "PUT":
            self.files[path] = body
            return 201, b""
        names = self.checkpoints if path == "checkpoints/" else ["valid"]
        if path.startswith("checkpoints/"):
            return 200, "".join(f"<a href='x'>{one}/</a>" for one in ["..", *names]).encode()
        return (200, self.files[path]) if path in self.files else (404, b"")


@contextmanager
def fake_heritrix() -> Iterator[FakeHeritrix]:
    """Run one while the block lasts."""
    fake = FakeHeritrix()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _do(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, content = fake.answered(self.command, self.path, body)
            if status == 0:
                self.close_connection = True
                self.wfile.write(content)
                return
            with suppress(BrokenPipeError, ConnectionResetError):  # the client waits no longer
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        do_GET = do_POST = do_PUT = _do  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    fake.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
