"""Clients that send slowly, much or nothing do not block others, and no request is lost."""

import contextlib
import hashlib
import os
import re
import select
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from examples import family

from recordsilo import Silo
from webui import server
from webui.app import create_app
from webui.http import intake
from webui.http.intake import read_head
from webui.server import THREADS, PageServer
from webui.site import SiteSettings

HOST = "Host: localhost\r\n"
PUT = "PUT /records/oai+example,org+1/versions/workingcopy/files/{} HTTP/1.1\r\n" + HOST
MANY = 200


@contextlib.contextmanager
def connections(port: int, count: int = 1) -> Iterator[list[socket.socket]]:
    with contextlib.ExitStack() as opened:
        yield [
            opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            for _ in range(count)
        ]


def received(connection: socket.socket) -> bytes:
    """All that comes until the server closes."""
    blocks = []
    with contextlib.suppress(ConnectionResetError):
        while block := connection.recv(65536):
            blocks.append(block)
    return b"".join(blocks)


def statuses(answers: bytes) -> list[int]:
    return [int(one) for one in re.findall(rb"HTTP/1\.1 (\d{3}) ", answers)]


@contextlib.contextmanager
def dripping(held: list[socket.socket], byte: bytes) -> Iterator[None]:
    """A byte from each of them, again and again."""
    is_over = threading.Event()

    def drip() -> None:
        while not is_over.wait(0.1):
            for connection in held:
                with contextlib.suppress(OSError):
                    connection.sendall(byte)

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def nobody_waits(client: Any) -> None:
    """Others are answered; a thread that waited for a client would do so for `intake.SECONDS`."""
    for _ in range(5):
        assert client.get("/robots.txt").status == 200


# -- slow clients ---------------------------------------------------------------------------

HEAD = b"GET /search HTTP/1.1\r\nHost: localhost\r\nX: "
SMALL_BODY = b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000\r\n\r\n"
LARGE_BODY = (PUT.format("a.bin") + "Content-Length: 1000000\r\n\r\n").encode()


@pytest.mark.parametrize(
    ("begin", "byte"),
    family([(HEAD, b"x"), (SMALL_BODY, b"x"), (b"", b""), (LARGE_BODY, b"x")], 1),
    ids=["heads", "bodies", "silent", "uploads"],
)
@pytest.mark.long
def test_two_hundred_slow_clients_hold_up_nobody(
    client: Any, working_copy: str, begin: bytes, byte: bytes
) -> None:
    assert client.get("/search").status == 200
    with connections(client.port, MANY) as held:
        for connection in held:
            connection.sendall(begin)
        with dripping(held, byte):
            nobody_waits(client)
            assert select.select(held, [], [], 0)[0] == []  # those who are slow have their time


def test_who_asks_for_much_and_reads_nothing_holds_up_nobody(client: Any) -> None:
    asked = f"GET /static/page.css HTTP/1.1\r\n{HOST}\r\n".encode() * 60
    last = f"GET /robots.txt HTTP/1.1\r\n{HOST}Connection: close\r\n\r\n".encode()
    with contextlib.ExitStack() as opened:
        held = [opened.enter_context(socket.socket()) for _ in range(10)]
        for connection in held:
            connection.settimeout(20)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            connection.connect(("127.0.0.1", client.port))
            connection.sendall(asked)
        time.sleep(0.5)
        nobody_waits(client)
        held[0].sendall(last)  # a thread that waited for it would have ended it
        assert statuses(received(held[0])) == [200] * 61


@pytest.mark.long
def test_head_and_body_have_a_deadline_however_steadily_they_come(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = 0.0
    monkeypatch.setattr(intake, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + later))
    monkeypatch.setattr(intake, "SLOWEST", 5000)  # of a body of 50,000 bytes
    for begin, seconds in ((HEAD, 30), (SMALL_BODY, 40)):
        with connections(client.port) as [connection]:
            connection.sendall(begin)
            with dripping([connection], b"x"):
                assert select.select([connection], [], [], 0.5)[0] == []
                later += seconds - 15
                assert select.select([connection], [], [], 1.0)[0] == []
                later += 16
                answer = received(connection)
            assert statuses(answer) == [408]
            assert answer.endswith(b"The request took too long to arrive; send it again.\n")
    with connections(client.port) as [connection]:
        assert select.select([connection], [], [], 0.5)[0] == []
        later += 31
        assert received(connection) == b""


def test_the_oldest_unfinished_requests_make_room_for_new_ones(
    monkeypatch: pytest.MonkeyPatch, silo: Silo
) -> None:
    monkeypatch.setattr(server, "MOST_UNFINISHED", 5)
    with PageServer(create_app(silo)) as page, contextlib.ExitStack() as opened:
        held = []
        for _ in range(8):
            held += opened.enter_context(connections(page.port))
            held[-1].sendall(HEAD)
            time.sleep(0.1)
        for connection in held[:3]:
            assert statuses(received(connection)) == [503]
        held[-1].sendall(b"\r\nConnection: close\r\n\r\n")
        assert statuses(received(held[-1])) == [200]


def test_more_requests_than_threads_can_answer_are_told_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(intake, "MOST_QUEUED", 2)
    goes_on, taken = threading.Event(), threading.Semaphore(0)

    def slow(_environ: object, start_response: Callable[..., Any]) -> list[bytes]:
        taken.release()
        goes_on.wait(20)
        start_response("200 OK", [("Content-Length", "0")])
        return []

    with PageServer(slow) as page, connections(page.port, THREADS + 3) as held:
        for place, connection in enumerate(held):
            connection.sendall(f"GET / HTTP/1.1\r\n{HOST}Connection: close\r\n\r\n".encode())
            assert place >= THREADS or taken.acquire(timeout=15)
        (refused,), _, _ = select.select(held, [], [], 15)
        assert statuses(received(refused)) == [503]
        goes_on.set()
        others = [connection for connection in held if connection is not refused]
        assert [statuses(received(connection)) for connection in others] == [[200]] * (THREADS + 2)


# -- heads ----------------------------------------------------------------------------------


def test_a_head_of_any_size_takes_little_memory_and_is_told_the_limit(client: Any) -> None:
    client.get("/robots.txt")
    tracemalloc.start()
    try:
        with connections(client.port) as [connection]:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
            with contextlib.suppress(OSError):
                for _ in range(400):
                    connection.sendall(b"x" * 100_000)
            answer = received(connection)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
    # A client that does not listen while it sends may be cut off before it reads the answer.
    assert statuses(answer) in ([431], [])


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ("X: " + "x" * 64_000 + "\r\n", 200),
        ("X: " + "x" * 70_000 + "\r\n", 431),
        ("X: y\r\n" * 98, 200),
        ("X: y\r\n" * 99, 431),
        (" a continued first line\r\n", 400),
    ],
)
def test_the_size_and_number_of_headers_are_bounded(client: Any, fields: str, status: int) -> None:
    head = f"GET /robots.txt HTTP/1.1\r\n{fields}{HOST}Connection: close\r\n\r\n"
    with connections(client.port) as [connection]:
        connection.sendall(head.encode())
        answer = received(connection)
    assert statuses(answer) == [status]
    if status == 431:
        assert re.search(rb"\r\n\r\n(The head of a request takes 64 KiB|A request has 100 headers)"
                         rb" at most\.\n$", answer)  # fmt: skip


@pytest.mark.parametrize("version", ["1.-1", "1.+1", "01.1", "1.", "1.x"])
def test_a_version_of_http_is_a_digit_a_dot_and_a_digit(client: Any, version: str) -> None:
    with connections(client.port) as [connection]:
        connection.sendall(f"GET /robots.txt HTTP/{version}\r\n{HOST}\r\n".encode())
        assert statuses(received(connection)) == [400]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("", (0, False)),
        ("Content-Length: 12\r\n", (12, False)),
        ("Content-Length: 12\r\ncontent-length: 12\r\n", (12, False)),
        ("Content-Length: 12\r\ncontent-length: 13\r\n", (0, False)),
        ("Content-Length: 5_0\r\n", (0, False)),
        ("Content-Length: -5\r\n", (0, False)),
        ("Content-Length: many\r\n", (0, False)),
        ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", (0, False)),
        ("Content-Length: 5\r\nExpect: 100-continue\r\n", (5, True)),
        (" continued\r\n", (0, False)),
        ("no colon\r\n", (0, False)),
    ],
)
def test_the_length_of_a_body_is_read_as_cheroot_reads_it(
    fields: str, expected: tuple[int, bool]
) -> None:
    assert read_head(f"POST / HTTP/1.1\r\n{fields}\r\n".encode()) == expected


@pytest.mark.parametrize(
    "lengths", [["5_0"], ["+5"], ["-5"], [""], ["5, 5"], ["5", "6"], ["5\r\n 6"], ["9" * 5000]]
)
def test_a_length_that_is_not_one_number_is_refused(client: Any, lengths: list[str]) -> None:
    fields = "".join(f"Content-Length: {length}\r\n" for length in lengths)
    with connections(client.port) as [connection]:
        connection.sendall(f"POST /nothing HTTP/1.1\r\n{HOST}{fields}\r\nhello".encode())
        assert statuses(received(connection)) == [400]


def test_a_client_of_http_1_0_is_sent_no_interim_answer() -> None:
    head = b"POST / HTTP/1.0\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
    assert read_head(head) == (5, False)


# -- what goes on as before -----------------------------------------------------------------


def test_pipelined_requests_are_answered_in_order(client: Any) -> None:
    form = b"name=nobody&password=wrong"
    requests = (
        f"GET /robots.txt HTTP/1.1\r\n{HOST}\r\n",
        f"POST /nothing HTTP/1.1\r\n{HOST}Content-Length: {len(form)}\r\n\r\n{form.decode()}",
        f"GET /nothing/at/all/there HTTP/1.1\r\n{HOST}\r\n",
        f"HEAD /search HTTP/1.1\r\n{HOST}\r\n",
        f"GET /robots.txt HTTP/1.1\r\n{HOST}Connection: close\r\n\r\n",
    )
    everything = "".join(requests).encode()
    for size in (len(everything), 7):
        with connections(client.port) as [connection]:
            for at in range(0, len(everything), size):
                connection.sendall(everything[at : at + size])
            found = statuses(received(connection))
        assert found == [200, found[1], 404, 200, 200]
        assert 400 <= found[1] < 500


def test_who_ends_their_side_after_the_request_is_answered(client: Any) -> None:
    with connections(client.port) as [connection]:
        connection.sendall(f"GET /robots.txt HTTP/1.1\r\n{HOST}\r\n".encode())
        connection.shutdown(socket.SHUT_WR)
        assert statuses(received(connection)) == [200]


def test_a_body_that_breaks_off_changes_nothing(client: Any, silo: Silo, working_copy: str) -> None:
    for length in (1000, 1_000_000):
        with connections(client.port) as [connection]:
            head = PUT.format("a.bin") + f"Content-Length: {length}\r\n\r\nsome"
            connection.sendall(head.encode())
            connection.shutdown(socket.SHUT_WR)
            answer = received(connection)
        assert statuses(answer) in ([400], [100, 400])
    assert "a.bin" not in silo[working_copy].paths("workingcopy")


def test_a_large_upload_takes_disk_and_little_memory(
    client: Any, silo: Silo, working_copy: str
) -> None:
    block, count = os.urandom(1024 * 1024), 48
    digest = hashlib.sha256()
    head = PUT.format("large.bin") + f"Content-Length: {len(block) * count}\r\n"
    client.get("/robots.txt")
    tracemalloc.start()
    try:
        with connections(client.port) as [connection]:
            connection.sendall((head + "Connection: close\r\n\r\n").encode())
            for _ in range(count):
                connection.sendall(block)
                digest.update(block)
            assert statuses(received(connection)) == [201]
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()
    with silo[working_copy].get_stream("large.bin", version="workingcopy") as stored:
        assert hashlib.file_digest(stored, "sha256").digest() == digest.digest()
    assert os.listdir(os.path.join(silo.path, ".silo", "uploads")) == []


def test_uploads_under_way_hold_up_nobody_and_arrive(
    client: Any, silo: Silo, working_copy: str
) -> None:
    body = os.urandom(300_000)
    with connections(client.port, 12) as held:
        for number, connection in enumerate(held):
            head = PUT.format(f"{number}.bin") + f"Content-Length: {len(body)}\r\n"
            connection.sendall((head + "Connection: close\r\n\r\n").encode() + body[:200_000])
        nobody_waits(client)
        for connection in held:
            connection.sendall(body[200_000:])
        assert [statuses(received(one)) for one in held] == [[201]] * len(held)
    paths = silo[working_copy].paths("workingcopy")
    assert {f"{number}.bin" for number in range(12)} <= set(paths)


def test_a_body_is_asked_for_once_and_only_when_it_is_wanted(
    client: Any, working_copy: str, silo: Silo
) -> None:
    def ask(head: str, body: bytes) -> list[int]:
        with connections(client.port) as [connection]:
            head += f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\nConnection: close\r\n"
            connection.sendall((head + "\r\n").encode())
            first = connection.recv(65536)
            if statuses(first) == [100]:
                connection.sendall(body)
            return statuses(first + received(connection))

    assert ask(PUT.format("small.bin"), b"x" * 1000) == [100, 201]
    assert ask(PUT.format("large.bin"), b"x" * 100_000) == [100, 201]
    assert ask(f"PUT /records/nothing/files/x HTTP/1.1\r\n{HOST}", b"x" * 100_000) == [404]


def test_nothing_large_is_received_from_who_may_not_send_it(silo: Silo) -> None:
    with PageServer(create_app(silo, SiteSettings(sign_in=True))) as page:
        for path in (PUT.format("a.bin"), f"POST /bulk/sheet HTTP/1.1\r\n{HOST}"):
            with connections(page.port) as [connection]:
                length = "Content-Length: 1000000000\r\n"
                connection.sendall(f"{path}{length}Accept: application/json\r\n\r\n".encode())
                assert statuses(connection.recv(65536)) == [401]
        assert not os.path.exists(os.path.join(silo.path, ".silo", "uploads"))


def test_no_room_for_an_upload_is_told(
    client: Any, working_copy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full:
        def __init__(self, **_unused: object) -> None: ...

        def write(self, block: bytes) -> int:
            if len(block) > 1000:
                raise OSError(28, "No space left on device")
            return len(block)

        def seek(self, *_unused: object) -> int:
            return 0

        def close(self) -> None: ...

    monkeypatch.setattr(intake.tempfile, "TemporaryFile", Full)
    with connections(client.port) as [connection]:
        head = PUT.format("a.bin") + "Content-Length: 100000\r\n\r\n"
        connection.sendall(head.encode())
        time.sleep(0.3)
        with contextlib.suppress(OSError):
            connection.sendall(b"x" * 50_000)
        answer = received(connection)
    assert statuses(answer) == [507]
    assert b"no room" in answer
    assert client.get("/robots.txt").status == 200
