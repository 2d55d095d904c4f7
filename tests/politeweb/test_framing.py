"""Where a response begins and ends, whatever a server says: in crawls and in harvests alike."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import requests
from raw_server import KEEP, raw_server

from politeweb.exchange import Exchanges, FailureKind
from politeweb.failures import BROKEN, reason_of
from politeweb.response_head import ResponseHead
from politeweb.sessions import PlainSession, bounded
from politeweb.settings import HttpSettings

OK = b"HTTP/1.1 200 OK\r\n"
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
SETTINGS = HttpSettings(total_timeout=20)


@dataclass
class Got:
    """What came: status, body and fields, or why not."""

    status: int = 0
    body: bytes = b""
    location: str = ""
    reason: str = ""


Ask = Callable[[str], Got]


@pytest.fixture(params=["crawl", "harvest"])
def ask(request: pytest.FixtureRequest) -> Iterator[Ask]:
    """Sends requests over connections that are kept."""
    if request.param == "crawl":
        with Exchanges(SETTINGS) as exchanges:
            yield lambda url: crawled(exchanges, url)
    else:
        with bounded(PlainSession(), 20) as session:
            yield lambda url: harvested(session, url)


def crawled(exchanges: Exchanges, url: str) -> Got:
    incoming = exchanges.open(url)
    body = b"".join(incoming.pieces())
    if incoming.head is None:
        assert incoming.failure is not None
        if "malformed" in incoming.reason:
            assert incoming.failure.kind is FailureKind.MALFORMED
        return Got(reason=incoming.reason)
    return Got(incoming.head.status, body, incoming.head.get("location"), incoming.reason)


def harvested(session: requests.Session, url: str) -> Got:
    try:
        response = session.get(url, stream=True, allow_redirects=False, timeout=20)
        got = Got(response.status_code, location=response.headers.get("location", ""))
    except BROKEN as error:
        return Got(reason=reason_of(error, SETTINGS))
    try:
        while piece := response.raw.read1(65_536, decode_content=False):
            got.body += piece
    except BROKEN as error:
        got.reason = reason_of(error, SETTINGS)
    return got


def answered(ask: Ask, said: bytes) -> Got:
    """The response to one request; the server keeps the connection open."""
    with raw_server(lambda _head: [said, KEEP]) as server:
        return ask(server.url)


# --------------------------------------------------------------------------- interim responses


@pytest.mark.parametrize("pause", [0.0, 0.2])
@pytest.mark.parametrize("interim", [HINTS, b"HTTP/1.1 102 Processing\r\n\r\n" + HINTS])
def test_an_interim_response_is_no_response(ask: Ask, interim: bytes, pause: float) -> None:
    def pieces(head: bytes) -> Iterator[bytes]:
        path = head.split()[1]
        final = OK + b"Content-Length: %d\r\n\r\n" % len(path) + path
        if pause:
            yield interim
            time.sleep(pause)
            yield final
        else:
            yield interim + final
        yield KEEP

    with raw_server(pieces) as server:
        found = [ask(server.url + name) for name in ("first", "second")]
        assert [(one.status, one.body) for one in found] == [(200, b"/first"), (200, b"/second")]
        assert server.connections == 1


def test_another_protocol_ends_the_connection(ask: Ask) -> None:
    with raw_server(lambda _head: [b"HTTP/1.1 101 Switching Protocols\r\n\r\n", KEEP]) as server:
        assert [ask(server.url).status for _ in range(2)] == [101, 101]
        assert server.connections == 2


def test_interim_responses_have_an_end(ask: Ask) -> None:
    reason = answered(ask, b"HTTP/1.1 100 Continue\r\n\r\n" * 1000).reason
    assert reason == "the response is malformed: more than 100 interim responses precede it"


# --------------------------------------------------------------------------- heads


def test_a_field_that_looks_like_a_status_line_begins_no_head(ask: Ask) -> None:
    said = (
        b"HTTP/1.1 302 Found\r\nLocation: /there\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab"
    )
    got = answered(ask, said)
    assert (got.status, got.location, got.body) == (302, "/there", b"ab")


def test_of_two_locations_the_first_holds(ask: Ask) -> None:
    said = b"HTTP/1.1 302 Found\r\nLocation: /a\r\nlocation: /b\r\nContent-Length: 0\r\n\r\n"
    assert answered(ask, said).location == "/a"


def test_a_cr_within_a_field_ends_no_field(ask: Ask) -> None:
    said = b"X: 1\rLocation: /no\rContent-Length: 1\r\nContent-Length: 3\r\n\r\r\n\r\nabc"
    got = answered(ask, OK + said)
    assert (got.location, got.body) == ("", b"abc")
    head = ResponseHead(200, OK + b"X: 1\rY: 2\r\n\rZ: 3\r\n\r\n")
    assert head.fields == [(b"X", b"1 Y: 2 Z: 3")]


def test_lists_are_joined_and_other_fields_are_not() -> None:
    fields = b"ETag: 1\r\nLink: a\r\nContent-Type: b\r\nLINK: c\r\netag: 2\r\ncontent-type: d\r\n"
    head = ResponseHead(200, OK + fields + b"\r\n")
    found = [head.get(name) for name in ("etag", "link", "content-type")]
    assert found == ["1", "a, c", "b"]
    assert len(head.fields) == 6, "all of them are kept as they were received"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "its first line is no status line of HTTP/1"),
        (b"HTTP/2 200\r\n\r\n", "its first line is no status line of HTTP/1"),
        (b"HTTP/1.1 +200 OK\r\n\r\n", "its first line is no status line of HTTP/1"),
        (b"HTTP/1.1 200 " + b"a" * 70_000, "its first line is longer than 65,536 bytes"),
        (OK + b"X: " + b"a" * 70_000, "a header is longer than 65,536 bytes"),
        (OK + b"X: 1\r\n" * 200, "it has more than 100 headers"),
        (OK + (b"X: " + b"a" * 65_000 + b"\r\n") * 99, "its head is longer than 524,288 bytes"),
        (
            OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "it announces several lengths of its content",
        ),
        *(
            (
                OK + b"Content-Length: " + length + b"\r\n\r\nabcde",
                "its Content-Length is no number",
            )
            for length in (b"0_5", b"+5", b"-5", b"0x5", b"\xb2", b"9" * 5000)
        ),
    ],
)
def test_what_is_malformed_is_told_in_words(ask: Ask, said: bytes, words: str) -> None:
    assert answered(ask, said).reason == f"the response is malformed: {words}"


# --------------------------------------------------------------------------- bodies


@pytest.mark.parametrize("status", [204, 304])
@pytest.mark.parametrize("field", [b"Transfer-Encoding: chunked", b"Content-Length: 5"])
def test_what_has_no_body_is_not_waited_for(ask: Ask, status: int, field: bytes) -> None:
    said = b"HTTP/1.1 %d Nothing\r\n%b\r\n\r\n" % (status, field)
    with raw_server(lambda _head: [said, KEEP]) as server:
        for _ in range(2):
            assert ask(server.url) == Got(status)
        assert server.connections == 1


@pytest.mark.parametrize(
    "coding", [b"chunked", b"gzip, chunked", b"gzip\r\nTransfer-Encoding: Chunked"]
)
def test_chunks_are_joined_if_they_are_the_last_coding(ask: Ask, coding: bytes) -> None:
    said = (
        OK
        + b"Transfer-Encoding: "
        + coding
        + b"\r\n\r\n3 ;x=y\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\n"
    )
    assert answered(ask, said) == Got(200, b"abc0123456789")


@pytest.mark.parametrize("size", [b"0_5", b"-5", b"+5", b"0x5", b"", b"1" * 5000])
def test_the_size_of_a_chunk_has_hexadecimal_digits_alone(ask: Ask, size: bytes) -> None:
    said = OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n" + size + b"\r\nabcde\r\n0\r\n\r\n"
    got = answered(ask, said)
    words = "the response is malformed: the size of a chunk is no hexadecimal number"
    assert (got.body, got.reason) == (b"ab", words)


def test_a_head_of_just_the_limits_is_read(ask: Ask) -> None:
    most = OK + b"X: 1\r\n" * 99 + b"Content-Length: 1\r\n\r\na"
    assert answered(ask, most) == Got(200, b"a")
    line = b"X: " + b"a" * (65_536 - 5) + b"\r\n"
    assert answered(ask, OK + line + b"Content-Length: 1\r\n\r\na") == Got(200, b"a")


@pytest.mark.parametrize(
    ("field", "is_kept"),
    [
        (b"Content-Length: 2", True),
        (b"Transfer-Encoding: chunked", True),
        (b"Content-Length: 2\r\nConnection: close", False),
        (b"X: neither length nor chunks", False),
    ],
)
def test_a_connection_is_kept_only_if_the_end_of_the_body_is_known(
    ask: Ask, field: bytes, *, is_kept: bool
) -> None:
    body = b"2\r\nab\r\n0\r\n\r\n" if b"chunked" in field else b"ab"
    answer = [OK + field + b"\r\n\r\n" + body, *([KEEP] if is_kept else [])]
    with raw_server(lambda _head: answer) as server:
        assert [ask(server.url) for _ in range(2)] == [Got(200, b"ab")] * 2
        assert server.connections == (1 if is_kept else 2)
