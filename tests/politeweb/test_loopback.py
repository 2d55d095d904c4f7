"""A small server on this machine: who reaches it, what it refuses, and how it ends."""

import http.client
import socket
import threading
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from politeweb import loopback
from politeweb.listening import CannotListen, PortTaken, probe
from politeweb.loopback import LOOPBACK, LoopbackServer

Started = Callable[[str, list[tuple[str, str]]], Any]


def echo(environ: dict[str, Any], start_response: Started) -> Iterable[bytes]:
    """Answer with the path and the body of the request."""
    body = environ["wsgi.input"].read()
    answer = environ["PATH_INFO"].encode() + b" " + body
    start_response("200 OK", [("Content-Length", str(len(answer)))])
    return [answer]


def asked(port: int, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes, str | None]:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
    try:
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.getheader("Server")
    finally:
        connection.close()


def test_requests_that_came_before_the_start_are_answered_too() -> None:
    server = LoopbackServer(echo)
    early = socket.create_connection((LOOPBACK, server.port), timeout=60)
    early.sendall(b"GET /early HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    with early, server.start(), early.makefile("rb") as said:
        assert server.url == f"http://127.0.0.1:{server.port}/"
        assert said.read().endswith(b"\r\n\r\n/early ")
        assert asked(server.port, "/later", b"body") == (200, b"/later body", "silo")


def test_a_connection_is_kept_for_the_next_request() -> None:
    with LoopbackServer(echo).start() as server:
        connection = http.client.HTTPConnection(LOOPBACK, server.port, timeout=60)
        connection.connect()
        first = connection.sock.getsockname()
        for path in ("/a", "/b"):
            connection.request("GET", path)
            assert connection.getresponse().read() == path.encode() + b" "
            assert connection.sock.getsockname() == first
        connection.close()


def test_requests_of_more_than_128_kib_are_refused_before_they_are_sent() -> None:
    most = 128 * 1024
    with LoopbackServer(echo).start() as server:
        assert asked(server.port, "/", b"x" * most) == (200, b"/ " + b"x" * most, "silo")
        connection = http.client.HTTPConnection(LOOPBACK, server.port, timeout=60)
        connection.putrequest("POST", "/")
        connection.putheader("Content-Length", str(most + 1))
        connection.endheaders()
        assert connection.getresponse().status == 413
        connection.close()


def test_a_port_that_another_program_has_is_named() -> None:
    with LoopbackServer(echo) as server:
        port = server.port
        with pytest.raises(PortTaken, match=f"port {port} of 127.0.0.1 is taken by another") as it:
            LoopbackServer(echo, port)
    assert (it.value.host, it.value.port) == (LOOPBACK, port)


def test_an_answer_under_way_is_finished_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback, "_SECONDS_TO_STOP", 60)
    begun, may_end = threading.Event(), threading.Event()

    def slow(_environ: dict[str, Any], start_response: Started) -> Iterable[bytes]:
        begun.set()
        may_end.wait(60)
        start_response("200 OK", [("Content-Length", "4")])
        return [b"done"]

    server = LoopbackServer(slow).start()
    found: list[bytes] = []
    asking = threading.Thread(target=lambda: found.append(asked(server.port, "/")[1]))
    asking.start()
    begun.wait(60)
    may_end.set()
    server.close()
    asking.join(60)
    assert found == [b"done"]


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("192.0.2.1", "cannot listen on 192.0.2.1, port 0: Cannot assign requested address"),
        ("no host", "cannot listen on no host, port 0: "),
    ],
)
def test_where_nobody_can_listen_is_told_in_a_sentence(host: str, words: str) -> None:
    with pytest.raises(CannotListen, match=words) as refused:
        probe(host, 0)
    assert not isinstance(refused.value, PortTaken)
