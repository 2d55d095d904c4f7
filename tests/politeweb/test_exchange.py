"""One exchange: whatever a server does, and whatever it does not, is a value within limits."""

import gzip
import socket
import ssl
import subprocess
import sys
import threading
import time
import zlib
from base64 import b32encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from hashlib import sha1
from pathlib import Path
from typing import Any

import pytest
from certificates import self_signed
from hypothesis import given
from hypothesis import strategies as st
from ports import free_port
from raw_server import KEEP, Answer, RawServer, raw_server
from waiting import wait_until

from politeweb.codings import CodingBroken
from politeweb.errors import RequestRefused, ResponseTooLarge
from politeweb.exchange import Exchanges, FailureKind, Known, Taken, _Target
from politeweb.settings import HttpSettings

OK = b"HTTP/1.1 200 OK\r\n"
Serve = Callable[[Answer], RawServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start servers that end with the test."""
    with ExitStack() as servers:
        yield lambda answer: servers.enter_context(raw_server(answer))


def says(*pieces: bytes) -> Answer:
    """Every request is answered alike."""
    return lambda _head: pieces


def take(url: str, headers: dict[str, str] | None = None, **settings: Any) -> Taken:
    with Exchanges(HttpSettings(**settings)) as exchanges:
        return exchanges.take(url, headers or {})


def body_of(taken: Taken) -> bytes:
    with taken:
        return b"".join(taken.body.pieces())


# --------------------------------------------------------------------------- answers


@pytest.mark.parametrize("status", [200, 204, 301, 304, 404, 429, 503, 999])
def test_every_status_is_an_answer(serve: Serve, status: int) -> None:
    body = b"" if status in {204, 304} else b"what it says"
    head = b"HTTP/1.1 %d Whatever\r\nLocation: /elsewhere\r\n" % status
    head += b"Content-Length: %d\r\n\r\n" % len(body)
    server = serve(says(head, body))
    taken = take(server.url)
    assert taken.head is not None
    assert (taken.head.status, taken.head.raw, taken.failure) == (status, head, None)
    assert taken.head.get("location") == "/elsewhere"
    assert (body_of(taken), taken.truncated, len(server.heads)) == (body, "", 1)


def test_a_head_is_kept_as_it_was_received(serve: Serve) -> None:
    head = (
        OK + b"sErVeR:  x\r\nX-Name: caf\xe9\r\nLink: <a>;\r\n\trel=item\r\n"
        b"Link: <b>\r\nContent-Length: 0\r\n\r\n"
    )
    taken = take(serve(says(head)).url)
    assert taken.head is not None
    assert taken.head.raw == head
    assert taken.head.fields[:3] == [
        (b"sErVeR", b"x"),
        (b"X-Name", b"caf\xe9"),
        (b"Link", b"<a>; rel=item"),
    ]
    assert taken.head.get("LINK") == "<a>; rel=item, <b>"
    assert taken.head.get("none") == ""


def test_the_last_head_is_the_answer(serve: Serve) -> None:
    early = b"HTTP/1.1 100 Continue\r\nX: 1\r\n\r\n"
    head = OK + b"Content-Length: 2\r\n\r\n"
    taken = take(serve(says(early, early, head, b"ab")).url)
    assert taken.head is not None
    assert (taken.head.raw, body_of(taken)) == (head, b"ab")


def test_what_was_asked_is_what_was_sent_but_for_secrets(serve: Serve) -> None:
    server = serve(says(OK + b"Content-Length: 0\r\n\r\n"))
    url = server.url.replace("//", "//user:word@") + "b%2fä b|?q=ü%20&x=[1]%#part"
    with Exchanges(HttpSettings(contact="me@x.example")) as exchanges:
        known = Known('"e"', "yesterday")
        taken = exchanges.take(url, {"Accept": "*/*"}, known=known, secrets={"Authorization": "S"})
    assert taken.url == server.url + "b%2F%C3%A4%20b%7C?q=%C3%BC%20&x=%5B1%5D%25"
    (sent,) = server.heads
    assert sent.count(b"Authorization: S\r\n") == 1
    assert sent.replace(b"Authorization: S\r\n", b"") == taken.asked
    assert b'If-None-Match: "e"\r\nIf-Modified-Since: yesterday\r\n' in taken.asked
    assert b"Accept: */*\r\n" in taken.asked
    assert b"From: me@x.example\r\n" in taken.asked


@given(st.from_regex(r"\A(https?)://[a-z0-9.-]{1,9}(:[0-9]{1,5})?/[!-~]{0,9}\Z"))
def test_an_address_is_split_alike_whether_it_is_usual_or_not(url: str) -> None:
    def split(one: str) -> tuple[str, str, str] | str:
        try:
            target = _Target.of(one)
        except RequestRefused:
            return "refused"
        return target.url, target.host, target.path

    assert split(url) == split(f"{url}#"), "the usual form has no fragment"


@pytest.mark.parametrize(
    ("url", "host", "port", "requested"),
    [
        ("http://h.example/a", "h.example", 80, "http://h.example/a"),
        ("http://h.example:80/a", "h.example", 80, "http://h.example/a"),
        ("https://h.example:443/a", "h.example", 443, "https://h.example/a"),
        ("https://h.example/a", "h.example", 443, "https://h.example/a"),
        ("https://h.example:80/a", "h.example:80", 80, "https://h.example:80/a"),
        ("http://H.Example:8080", "h.example:8080", 8080, "http://h.example:8080/"),
        ("http://u:p@[::1]/a b?c#d", "[::1]", 80, "http://[::1]/a%20b?c"),
        ("http://h.example/%7e%2f%zz", "h.example", 80, "http://h.example/%7E%2F%25zz"),
    ],
)
def test_the_usual_port_is_not_in_the_host(url: str, host: str, port: int, requested: str) -> None:
    target = _Target.of(url)
    assert (target.host, target.port, target.url) == (host, port, requested)


def test_a_body_is_sent_with_its_length(serve: Serve) -> None:
    server = serve(says(OK + b"Content-Length: 0\r\n\r\n", KEEP))
    with Exchanges() as exchanges:
        empty = exchanges.take(server.url, method="POST")
        full = exchanges.open(server.url, method="POST", body=b"abc")
        full.close()
    assert b"\r\nContent-Length: 0\r\n" in empty.asked
    assert b"\r\nContent-Length: 3\r\n" in full.asked
    assert server.heads[0] == empty.asked


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        (b"Content-Length: 2\r\nContent-Length: 2\r\n", b"ab"),
        (b"Content-Length:\r\n", b"abc"),
        (b"no field\r\nContent-Length: 2\r\n", b"ab"),
        (b"Transfer-Encoding: CHUNKED \r\nContent-Length: 2\r\n", b""),
        (b"Transfer-Encoding: chunked, gzip\r\nContent-Length: 2\r\n", b"abc"),
        (b"Transfer-Encoding: identity\r\nContent-Length: 2\r\n", b"ab"),
    ],
)
def test_a_body_ends_where_its_head_says(serve: Serve, fields: bytes, body: bytes) -> None:
    sent = b"0\r\n\r\n" if b"CHUNKED" in fields else b"abc"
    taken = take(serve(says(OK + fields + b"\r\n" + sent)).url)
    assert (body_of(taken), taken.truncated) == (body, "")


def test_a_head_with_two_lengths_is_malformed(serve: Serve) -> None:
    said = OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc"
    failure = take(serve(says(said)).url).failure
    assert failure is not None
    assert failure.kind is FailureKind.MALFORMED


def test_a_head_alone_can_be_asked_for(serve: Serve) -> None:
    server = serve(says(OK + b"Content-Length: 70\r\n\r\n"))
    with Exchanges() as exchanges:
        taken = exchanges.take(server.url, method="HEAD")
    assert (taken.body.length, taken.truncated) == (0, "")
    assert server.heads[0].startswith(b"HEAD / HTTP/1.1\r\n")


def test_an_exchange_says_where_and_how_long(serve: Serve) -> None:
    def slow(_head: bytes) -> Iterator[bytes]:
        time.sleep(0.05)
        yield OK + b"Content-Length: 2\r\n\r\na"
        time.sleep(0.05)
        yield b"b"

    taken = take(serve(slow).url)
    assert taken.made.address == "127.0.0.1"
    assert 0 < taken.made.resolving + taken.made.connecting < taken.until_head
    assert taken.until_head >= 0.05
    assert taken.seconds >= 0.1  # whoever is slow may read the head after the body was sent
    assert taken.until_head < taken.seconds
    assert taken.began.tzinfo is not None


def test_a_body_is_counted_and_digested(serve: Serve) -> None:
    body = b"x" * 3_000_000
    taken = take(serve(says(OK + b"\r\n", body)).url)
    assert taken.body.length == len(body)
    assert taken.body.digest == b32encode(sha1(body).digest()).decode()
    assert [*taken.body.pieces()] == [*taken.body.pieces()], "it can be read again"
    assert body_of(taken) == body


# --------------------------------------------------------------------------- connections


def test_connections_are_used_again_and_say_so(serve: Serve) -> None:
    server = serve(says(OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", KEEP))
    with Exchanges() as exchanges:
        first, second = exchanges.take(server.url), exchanges.take(server.url)
    assert (body_of(first), body_of(second), server.connections) == (b"ab", b"ab", 1)
    assert first.made.connecting > 0
    assert (second.made.address, second.made.connecting) == ("127.0.0.1", 0)


def test_a_connection_that_was_closed_meanwhile_is_made_again(serve: Serve) -> None:
    requests: list[bytes] = []

    def closes_before_every_second(head: bytes) -> Iterator[bytes]:
        requests.append(head)
        if len(requests) != 2:
            yield OK + b"Content-Length: 1\r\n\r\na"
            yield KEEP

    server = serve(closes_before_every_second)
    with Exchanges() as exchanges:
        both = [body_of(exchanges.take(server.url)) for _ in range(2)]
    assert (both, len(requests), server.connections) == ([b"a", b"a"], 3, 2)


def test_a_new_connection_that_is_closed_is_not_made_again(serve: Serve) -> None:
    server = serve(says())
    assert take(server.url).failure is not None
    assert len(server.heads) == 1


def test_more_bytes_than_were_announced_are_no_answer_to_the_next_request(serve: Serve) -> None:
    lying = OK + b"Content-Length: 2\r\n\r\nabHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
    server = serve(says(lying, KEEP))
    with Exchanges() as exchanges:
        for _ in range(2):
            assert body_of(exchanges.take(server.url)) == b"ab"
    assert len(server.heads) == 2


def test_threads_share_connections(serve: Serve) -> None:
    server = serve(lambda head: (OK + b"Content-Length: 3\r\n\r\n", head.split()[1][1:4], KEEP))
    with Exchanges() as exchanges, ThreadPoolExecutor(8) as threads:
        urls = [f"{server.url}{number}" for number in range(100, 200)]
        found = [body_of(one) for one in threads.map(exchanges.take, urls)]
    assert found == [str(number).encode() for number in range(100, 200)]


def test_a_waiting_exchange_can_be_aborted(serve: Serve) -> None:
    asked = threading.Event()

    def never(_head: bytes) -> Iterator[bytes]:
        asked.set()
        time.sleep(60)
        yield b""

    server = serve(never)
    with Exchanges() as exchanges, ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(exchanges.take, server.url)
        assert asked.wait(30)
        wait_until(lambda: exchanges.abort() or waiting.done())
        failure = waiting.result().failure
    assert failure is not None
    assert failure.kind is FailureKind.DISCONNECT


# --------------------------------------------------------------------------- no answer


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (b"", FailureKind.DISCONNECT),
        (b"HTTP/1.1 200 O", FailureKind.DISCONNECT),
        (OK, FailureKind.DISCONNECT),
        (OK + b"Content-Length: 5\r\nContent-Ty", FailureKind.DISCONNECT),
        (b"SSH-2.0-OpenSSH_9.2\r\n", FailureKind.MALFORMED),
        (b"<html>\r\n\r\n", FailureKind.MALFORMED),
        (OK + b"X: 1\r\n" * 200 + b"\r\n", FailureKind.MALFORMED),
        (OK + b"X: " + b"a" * 70_000 + b"\r\n\r\n", FailureKind.MALFORMED),
        (b"HTTP/1.1 200 " + b"a" * 70_000 + b"\r\n\r\n", FailureKind.MALFORMED),
    ],
)
def test_what_is_no_whole_head_is_no_answer(serve: Serve, said: bytes, kind: FailureKind) -> None:
    taken = take(serve(says(said)).url)
    assert taken.failure is not None
    assert (taken.head, taken.failure.kind, taken.body.length) == (None, kind, 0)
    assert taken.failure.reason


def test_hosts_that_cannot_be_reached_are_values(monkeypatch: pytest.MonkeyPatch) -> None:
    failure = take(f"http://127.0.0.1:{free_port()}/").failure
    assert failure is not None
    assert failure.kind is FailureKind.NO_CONNECTION
    assert failure.reason == "the connection was refused"

    def unknown(*_args: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    failure = take("http://nowhere.example/").failure
    assert failure is not None
    assert (failure.kind, failure.reason) == (FailureKind.UNKNOWN_HOST, "the host name is unknown")


def test_a_connection_that_is_not_made_in_time_is_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_args: object) -> None:
        raise TimeoutError("timed out")

    monkeypatch.setattr("politeweb.connections.create_connection", late)
    failure = take("http://127.0.0.1/", connect_timeout=3).failure
    assert failure is not None
    assert (failure.kind, failure.reason) == (FailureKind.TIME, "no connection in 3 s")


def test_a_host_that_speaks_no_tls_is_a_value() -> None:
    with raw_server(says(b"HTTP/1.1 400 no TLS\r\n\r\n"), at_once=True) as server:
        failure = take(server.url.replace("http:", "https:")).failure
    assert failure is not None
    assert failure.kind is FailureKind.TLS


@pytest.mark.parametrize("is_trusted", [True, False])
def test_a_certificate_must_be_trusted(tmp_path: Path, *, is_trusted: bool) -> None:
    certificate = self_signed(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with raw_server(says(OK + b"Content-Length: 2\r\n\r\nab"), context) as server:
        taken = take(server.url, ca_file=str(certificate) if is_trusted else None)
    if is_trusted:
        assert (body_of(taken), taken.failure) == (b"ab", None)
        assert taken.made.securing > 0
    else:
        assert taken.failure is not None
        assert taken.failure.kind is FailureKind.TLS
        assert server.heads == []


def test_a_proxy_that_does_not_answer_is_a_value() -> None:
    failure = take("http://repo.example/", proxy=f"http://127.0.0.1:{free_port()}").failure
    assert failure is not None
    assert failure.kind is FailureKind.PROXY


def test_a_proxy_that_asks_for_more_is_an_answer_or_a_value(serve: Serve) -> None:
    proxy = serve(says(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n"))
    plain, secure = (take(f"{one}://repo.example/", proxy=proxy.url) for one in ("http", "https"))
    assert plain.head is not None
    assert plain.head.status == 407
    assert secure.failure is not None
    assert proxy.heads[1].startswith(b"CONNECT repo.example:443 HTTP/1.")


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("ftp://h/", {}),
        ("http://", {}),
        ("http://[1/", {}),
        ("http://h/", {"X": "€"}),
        ("http://h/", {"X": "a\r\nY: b"}),
        ("http://h/", {"X": "a\nb"}),
    ],
)
def test_what_cannot_be_asked_is_refused(url: str, headers: dict[str, str]) -> None:
    with pytest.raises(RequestRefused):
        take(url, headers)


def test_a_file_of_certificates_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestRefused, match="does not exist"):
        Exchanges(HttpSettings(ca_file=str(tmp_path / "none")))


# --------------------------------------------------------------------------- addresses


def test_an_address_is_checked_before_anybody_connects_to_it(serve: Serve) -> None:
    server = serve(says(OK + b"Content-Length: 0\r\n\r\n"))
    seen: list[tuple[str, int, str]] = []

    def never(*place: Any) -> bool:
        seen.append(place)
        return False

    with Exchanges(is_allowed=never) as exchanges:
        failure = exchanges.take(server.url).failure
    assert failure is not None
    assert failure.kind is FailureKind.PRIVATE
    assert seen == [("127.0.0.1", server.port, "127.0.0.1")]
    time.sleep(0.05)
    assert server.connections == 0


def test_a_name_is_resolved_once_and_only_what_was_checked_is_connected_to(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(says(OK + b"Content-Length: 0\r\n\r\n"))
    answers = [["127.0.0.1"], ["169.254.169.254"]]
    connected: list[str] = []
    real = socket.create_connection

    resolve = socket.getaddrinfo

    def rebind(host: str, port: int, *rest: Any) -> list[Any]:
        if host != "rebinding.example":
            return resolve(host, port, *rest)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in answers.pop(0)]

    def connect(place: tuple[str, int], *_rest: object) -> socket.socket:
        connected.append(place[0])
        return real(place)

    monkeypatch.setattr(socket, "getaddrinfo", rebind)
    monkeypatch.setattr("politeweb.connections.create_connection", connect)
    with Exchanges(is_allowed=lambda _host, _port, address: address == "127.0.0.1") as exchanges:
        url = f"http://rebinding.example:{server.port}/"
        assert exchanges.take(url).failure is None
        failure = exchanges.take(url).failure
    assert failure is not None
    assert failure.kind is FailureKind.PRIVATE
    assert connected == ["127.0.0.1"]


def test_of_several_addresses_the_allowed_ones_are_tried_in_turn(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(says(OK + b"Content-Length: 0\r\n\r\n"))
    tried: list[str] = []
    real = socket.socket.connect
    places = ["10.0.0.1", "127.0.0.2", "127.0.0.1"]

    def connect(self: socket.socket, place: tuple[str, int]) -> None:
        tried.append(place[0])
        if place[0] == "127.0.0.2":
            raise ConnectionRefusedError
        real(self, place)

    resolve = socket.getaddrinfo

    def of_two(host: str, port: int, *rest: Any) -> list[Any]:
        if host != "two.example":
            return resolve(host, port, *rest)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in places]

    monkeypatch.setattr(socket, "getaddrinfo", of_two)
    monkeypatch.setattr(socket.socket, "connect", connect)
    with Exchanges(is_allowed=lambda _host, _port, address: address[:3] == "127") as exchanges:
        taken = exchanges.take(f"http://two.example:{server.port}/")
    assert taken.failure is None
    assert taken.made.address == "127.0.0.1"
    assert tried == ["127.0.0.2", "127.0.0.1"]


def test_a_proxy_connects_itself(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = serve(says(OK + b"Content-Length: 2\r\n\r\nab"))
    address = proxy.url.replace("//", "//user:word@")
    with Exchanges(HttpSettings(proxy=address), is_allowed=lambda *_: False) as exchanges:
        taken = exchanges.take("http://repo.example/a?b")
    assert (body_of(taken), taken.made.address) == (b"ab", "")
    assert proxy.heads[0].startswith(b"GET http://repo.example/a?b HTTP/1.1\r\n")
    assert b"roxy-" in proxy.heads[0].replace(b"Proxy-", b"proxy-")
    assert b"word" not in taken.asked
    monkeypatch.setenv("http_proxy", proxy.url)
    monkeypatch.setenv("no_proxy", "else.example")
    assert body_of(take("http://repo.example/")) == b"ab"


# --------------------------------------------------------------------------- limits


def endless(begin: bytes, piece: bytes, seconds: float = 0.0) -> Answer:
    """What begins and never ends."""

    def pieces(_head: bytes) -> Iterator[bytes]:
        yield begin
        while True:
            yield piece
            time.sleep(seconds)

    return pieces


CHUNK = b"10000\r\n" + b"c" * 0x10000 + b"\r\n"


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (OK + b"Content-Length: 10000000000\r\n\r\n", b"c" * 65_536),
        (OK + b"\r\n", b"c" * 65_536),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", CHUNK),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nffffffffff\r\n", b"c" * 65_536),
    ],
)
def test_a_body_over_the_limit_is_cut_at_it(serve: Serve, head: bytes, piece: bytes) -> None:
    taken = take(serve(endless(head, piece)).url, max_response=100_000)
    assert (taken.truncated, body_of(taken)) == ("length", b"c" * 100_000)
    assert taken.head is not None
    assert taken.head.raw == head[: head.index(b"\r\n\r\n") + 4]


@pytest.mark.long
def test_a_body_that_drips_is_cut_at_the_limit_of_time(serve: Serve) -> None:
    server = serve(endless(OK + b"Content-Length: 1000\r\n\r\nbegin", b".", 0.02))
    taken = take(server.url, total_timeout=1.5)
    assert taken.truncated == "time"
    assert body_of(taken).startswith(b"begin.")
    assert 1 < taken.seconds < 30


@pytest.mark.long
def test_a_head_that_drips_is_no_answer_after_the_limit_of_time(serve: Serve) -> None:
    server = serve(endless(OK + b"X: ", b".", 0.02))
    failure = take(server.url, total_timeout=1.5).failure
    assert failure is not None
    assert failure.kind is FailureKind.TIME


@pytest.mark.parametrize("begin", [b"Content-Length: 100000\r\n\r\nbegin", b"X: "])
def test_what_comes_too_slowly_is_cut(
    serve: Serve, begin: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("politeweb.connections.SECONDS_OF_RATE", 0.2)
    taken = take(serve(endless(OK + begin, b".", 0.02)).url, least_rate=10_000.0)
    assert taken.seconds < 30
    if taken.failure is not None:
        assert taken.failure.kind is FailureKind.TIME
        assert taken.failure.reason == "the response came too slowly"
    else:
        assert taken.truncated == "time"
        assert body_of(taken).startswith(b"begin.")


def test_waiting_for_an_answer_is_not_slow(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("politeweb.connections.SECONDS_OF_RATE", 0.1)

    def late(_head: bytes) -> Iterator[bytes]:
        time.sleep(0.4)
        yield OK + b"Content-Length: 5\r\n\r\nhello"

    taken = take(serve(late).url, least_rate=10_000.0)
    assert (taken.truncated, body_of(taken)) == ("", b"hello")


@pytest.mark.long
def test_a_server_that_keeps_silent_is_left_after_the_limit_of_time(serve: Serve) -> None:
    silent = serve(endless(b"", b"", 60))
    stuck = serve(endless(OK + b"Content-Length: 9\r\n\r\nbegin", b"", 60))
    failure = take(silent.url, read_timeout=1).failure
    assert failure is not None
    assert failure.kind is FailureKind.TIME
    for limit in ("read_timeout", "total_timeout"):
        taken = take(stuck.url, **{limit: 1.0})
        assert (taken.truncated, body_of(taken)) == ("time", b"begin")


@pytest.mark.parametrize(
    "framed",
    [
        b"Content-Length: 100\r\n\r\nbegin",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nbegin\r\n5\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nbegin\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nbegin\r\nno number\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nbegin\r\n" + b"1" * 70_000,
    ],
)
def test_a_body_whose_end_is_missing_says_so(serve: Serve, framed: bytes) -> None:
    taken = take(serve(says(OK + framed)).url)
    assert (taken.truncated, body_of(taken)) == ("disconnect", b"begin")


def test_pieces_can_be_taken_and_left(serve: Serve) -> None:
    server = serve(endless(OK + b"\r\n", b"c" * 65_536))
    with Exchanges() as exchanges:
        incoming = exchanges.open(server.url)
        taken = next(incoming.pieces())
        incoming.close()
        assert set(taken) == {ord("c")}
        assert [*incoming.pieces()] == []


MEMORY = """
import resource, sys
from politeweb.exchange import Exchanges
from politeweb.settings import HttpSettings
from politeweb.warc.pairs import exchange_records

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

url, size, directory = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with Exchanges(HttpSettings(max_response=size)) as exchanges:
    exchanges.take(url + "small").close()
    before = peak()
    with exchanges.take(url, directory=directory) as taken:
        assert (taken.body.length, taken.truncated) == (size, "length"), taken
        packed = sum(len(piece) for record in exchange_records(taken, {}) for piece in record)
    assert packed
    print(peak() - before)
"""


@pytest.mark.parametrize(
    "size", [pytest.param(40 << 20, id="40 MB"), pytest.param(10**10, marks=pytest.mark.slow)]
)
def test_memory_does_not_grow_with_a_body(serve: Serve, size: int) -> None:
    block = bytes(range(256)) * 256
    server = serve(
        lambda head: (
            [OK + b"\r\nsmall"]
            if b"small" in head
            else endless(OK + b"Content-Length: 99999999999\r\n\r\n", block)(head)
        )
    )
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, server.url, str(size), "/var/tmp"],
        stdout=subprocess.PIPE, check=True, timeout=3600,
    )  # fmt: skip
    assert int(done.stdout) < 24, "megabytes"


# --------------------------------------------------------------------------- content codings


def packed_as(coding: str, content: bytes) -> bytes:
    if coding == "gzip":
        return gzip.compress(content, mtime=0)
    if coding == "gzip in members":
        return gzip.compress(content[:7], mtime=0) + gzip.compress(content[7:])
    if coding == "deflate":
        return zlib.compress(content)
    bare = zlib.compressobj(wbits=-15)
    return bare.compress(content) + bare.flush()


@pytest.mark.parametrize("coding", ["gzip", "gzip in members", "deflate", "bare deflate"])
def test_a_coded_body_is_kept_as_sent_and_can_be_decoded(serve: Serve, coding: str) -> None:
    content = b"what it says " * 20_000
    raw = packed_as(coding, content)
    name = coding.split()[-1 if coding.startswith("bare") else 0].encode()
    head = OK + b"Content-Encoding: %b\r\n\r\n" % name
    with take(serve(says(head, *(raw[at : at + 7] for at in range(0, len(raw), 7)))).url) as taken:
        assert b"".join(taken.body.pieces()) == raw
        assert b"".join(taken.content(len(content))) == content
        with pytest.raises(ResponseTooLarge):
            list(taken.content(len(content) - 1))


@pytest.mark.parametrize(
    "body", [b"", b"x", b"no gzip", gzip.compress(b"no gzip", mtime=0) + b"rest"]
)
def test_what_is_called_gzip_and_is_not_is_taken_as_it_is(serve: Serve, body: bytes) -> None:
    with take(serve(says(OK + b"Content-Encoding: gzip\r\n\r\n", body)).url) as taken:
        assert b"".join(taken.content(100)) == (b"no gzip" if len(body) > 7 else body)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        (b"gzip", gzip.compress(b"x" * 1000, mtime=0)[:-9]),
        (b"gzip", gzip.compress(b"x" * 1000, mtime=0)[:15] + b"damaged" * 9),
        (b"br", b"x"),
        (b"gzip, gzip, gzip, gzip", b"x"),
    ],
)
def test_what_cannot_be_decoded_is_an_error(serve: Serve, coding: bytes, body: bytes) -> None:
    with (
        take(serve(says(OK + b"Content-Encoding: %b\r\n\r\n" % coding, body)).url) as taken,
        pytest.raises(CodingBroken),
    ):
        list(taken.content(10_000))


def test_a_bomb_is_decoded_in_small_pieces_up_to_the_limit(serve: Serve) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(30)) + packer.flush()
    with take(serve(says(OK + b"Content-Encoding: gzip\r\n\r\n", bomb)).url) as taken:
        assert taken.body.length == len(bomb) < 50_000
        sizes: list[int] = []
        with pytest.raises(ResponseTooLarge):
            sizes.extend(map(len, taken.content(10 << 20)))
        assert sum(sizes) <= 10 << 20
        assert max(sizes) <= 1 << 20
