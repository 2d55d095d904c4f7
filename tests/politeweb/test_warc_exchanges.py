"""The records of an exchange: as received, within memory, and readable by others."""

import gzip
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from raw_server import Answer, raw_server
from warcio.archiveiterator import ArchiveIterator

from politeweb.answers import Answer as HttpAnswer
from politeweb.errors import WarcUnreadable
from politeweb.exchange import Exchanges
from politeweb.settings import HttpSettings
from politeweb.warc.pairs import (
    Revisit,
    exchange_records,
    packed_metadata,
    packed_pair,
    resource_record,
)
from politeweb.warc.reading import Recorded, read_exchange_at, read_exchanges
from politeweb.warc.writing import WarcFiles

SERIES = "20261124T120000.000000Z"
OK = b"HTTP/1.1 200 Fine by me\r\n"
CHUNKED = b"5\r\nhello\r\n3\r\n...\r\n0\r\n\r\n"


def recorded(
    directory: Path, answer: Answer, revisit: Revisit | None = None, **settings: Any
) -> list[tuple[Any, bytes, bytes]]:
    """Each record with its HTTP head and body, after one exchange was recorded."""
    files = WarcFiles(str(directory), SERIES, {"operator": "x"})
    with (
        raw_server(answer) as server,
        Exchanges(HttpSettings(**settings)) as exchanges,
        exchanges.take(server.url + "a?b", secrets={"Authorization": "secret"}) as taken,
    ):
        name, place = files.append(
            chain(*reversed(exchange_records(taken, {"WARC-Refers-To-Date": "x"}, revisit)))
        )
    files.close()
    with open(directory / name, "rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            record.raw_stream.read()
        file.seek(place)
        found = []
        for record in ArchiveIterator(file, no_record_parse=True):
            head, _, body = record.raw_stream.read().partition(b"\r\n\r\n")
            found.append((record.rec_headers.get_header, head, body))
    assert b"secret" not in b"".join(head for _, head, _ in found)
    return found


@pytest.mark.parametrize("is_unmodified", [False, True])
def test_a_body_that_is_known_is_not_recorded_again(tmp_path: Path, is_unmodified: bool) -> None:
    earlier = Revisit("http://a.example/", "2026-01-01T00:00:00Z", "A" * 32, is_unmodified)
    body = b"" if is_unmodified else b"hello"
    start = b"HTTP/1.1 304 Not Modified\r\n" if is_unmodified else OK
    length = b"" if is_unmodified else b"Content-Length: 5\r\n"
    _, (revisit, answered, nothing) = recorded(
        tmp_path, lambda _: [start + length + b"Set-Cookie: id=1\r\n\r\n" + body], earlier
    )
    assert revisit("WARC-Type") == "revisit"
    assert revisit("Content-Type") == "application/http; msgtype=response"
    assert revisit("WARC-Payload-Digest") == "sha1:" + "A" * 32
    assert revisit("WARC-Refers-To-Target-URI") == "http://a.example/"
    assert revisit("WARC-Refers-To-Date") == "2026-01-01T00:00:00Z"
    profile = "server-not-modified" if is_unmodified else "identical-payload-digest"
    assert revisit("WARC-Profile").endswith(f"/{profile}")
    assert (answered, nothing) == ((start + length)[:-2], b"")


def test_an_exchange_is_a_request_and_a_response(tmp_path: Path) -> None:
    head = OK + b"X-Odd:  caf\xe9\r\nContent-Length: 5\r\nSet-Cookie: id=1;\r\n more=2\r\n\r\n"
    (request, asked, nothing), (response, answered, body) = recorded(
        tmp_path, lambda _: [head, b"hello"]
    )
    assert (request("WARC-Type"), response("WARC-Type")) == ("request", "response")
    assert request("WARC-Concurrent-To") == response("WARC-Record-ID")
    assert asked.startswith(b"GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:")
    assert (nothing, body) == (b"", b"hello")
    assert answered == OK + b"X-Odd:  caf\xe9\r\nContent-Length: 5"
    assert response("WARC-IP-Address") == "127.0.0.1"
    assert response("WARC-Target-URI").endswith("/a?b")
    assert response("WARC-Truncated") is None
    assert response("WARC-Refers-To-Date") == "x"


@pytest.mark.parametrize(
    ("said", "kept", "body"),
    [
        (
            OK + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKED,
            [b"X-Archive-Orig-Transfer-Encoding: chunked", b"Content-Length: 8"],
            b"hello...",
        ),
        (b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n", [b"ETag: x", b"Content-Length: 0"], b""),
        (b"HTTP/1.0 404 No\r\n\r\nnothing here", [b"Content-Length: 12"], b"nothing here"),
        (
            OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"hello", mtime=0),
            [b"Content-Encoding: gzip", b"Content-Length: 25"],
            gzip.compress(b"hello", mtime=0),
        ),
    ],
)
def test_a_body_is_as_sent_without_its_transfer_coding(
    tmp_path: Path, said: bytes, kept: list[bytes], body: bytes
) -> None:
    _, (_, head, content) = recorded(tmp_path, lambda _: [said])
    assert (head.split(b"\r\n")[1:], content) == (kept, body)


def test_a_head_of_any_length_that_is_received_can_be_read(tmp_path: Path) -> None:
    fields = (b"Transfer-Encoding: " + b"a" * 5_000 + b"\r\n") * 97
    recorded(tmp_path, lambda _: [OK + b"X: 1\r\n\r \r\n" + fields + b"\r\nhello"])
    (path,) = tmp_path.iterdir()
    found = [one for one in read_exchanges(str(path), lambda _: True) if isinstance(one, Recorded)]
    assert [one.answer.body for one in found] == [b"hello"]
    assert len(found[0].answer.headers["x-archive-orig-transfer-encoding"]) > 97 * 5_000


@pytest.mark.parametrize(
    ("said", "settings", "why"),
    [
        (b"Content-Length: 99\r\n\r\nhello", {}, "disconnect"),
        (b"Content-Length: 99\r\n\r\nhello" + b"." * 94, {"max_response": 5}, "length"),
    ],
)
def test_a_truncated_body_says_why(
    tmp_path: Path, said: bytes, settings: dict[str, Any], why: str
) -> None:
    _, (field, head, body) = recorded(tmp_path, lambda _: [OK + said], **settings)
    assert (field("WARC-Truncated"), body) == (why, b"hello")
    assert head == OK + b"X-Archive-Orig-Content-Length: 99\r\nContent-Length: 5"


def test_what_was_recorded_is_read_by_our_own_reader(tmp_path: Path) -> None:
    body = b"what it says " * 200_000
    recorded(tmp_path, lambda _: [OK + b"\r\n", body])
    (path,) = tmp_path.iterdir()
    found = [one for one in read_exchanges(str(path), lambda _: True) if isinstance(one, Recorded)]
    assert [(one.answer.status, one.answer.body) for one in found] == [(200, body)]


def test_pieces_that_fail_leave_a_file_as_it_was(tmp_path: Path) -> None:
    def failing() -> Iterator[bytes]:
        yield b"x" * 100_000
        raise LookupError

    files = WarcFiles(str(tmp_path), SERIES, {})
    files.append([])
    (path,) = tmp_path.iterdir()
    before = path.read_bytes()
    with pytest.raises(LookupError):
        files.append(failing())
    assert path.read_bytes() == before
    name, place = files.append(b"")
    assert (name, place) == (path.name, len(before))
    with pytest.raises(WarcUnreadable, match="no response"):
        read_exchange_at(str(path), place)
    files.close()


def test_a_form_that_was_sent_is_in_the_request(tmp_path: Path) -> None:
    files = WarcFiles(str(tmp_path), SERIES, {})
    heads: list[bytes] = []

    def answer(head: bytes) -> list[bytes]:
        heads.append(head)
        return [OK + b"Connection: close\r\n\r\nthanks"]

    with (
        raw_server(answer) as server,
        Exchanges(HttpSettings()) as exchanges,
        exchanges.take(server.url, method="POST", body=b"q=1&r=2") as taken,
    ):
        name, _ = files.append(chain(*exchange_records(taken, {})))
    files.close()
    assert heads[0].startswith(b"POST / HTTP/1.1\r\n")
    with open(tmp_path / name, "rb") as file:
        found = {one.rec_type: one.content_stream().read()
                 for one in ArchiveIterator(file, check_digests="raise")}  # fmt: skip
    assert (found["request"], found["response"]) == (b"q=1&r=2", b"thanks")


def test_a_resource_is_content_without_a_server(tmp_path: Path) -> None:
    moment = datetime(2026, 12, 1, 2, tzinfo=UTC)
    files = WarcFiles(str(tmp_path), SERIES, {})
    name, place = files.append(resource_record("urn:x:y", "image/png", b"PNG", moment))
    files.close()
    with open(tmp_path / name, "rb") as file:
        file.seek(place)
        (one,) = [
            (record.rec_type, record.rec_headers, record.raw_stream.read())
            for record in ArchiveIterator(file, check_digests="raise")
        ]
    kind, said, content = one
    assert (kind, content) == ("resource", b"PNG")
    assert said.get_header("WARC-Target-URI") == "urn:x:y"
    assert said.get_header("WARC-Date").startswith("2026-12-01T02:00:00")
    assert said.get_header("Content-Type") == "image/png"


def test_both_records_of_an_exchange_have_its_date_and_fields(tmp_path: Path) -> None:
    request, response = recorded(tmp_path, lambda _head: [OK + b"Content-Length: 1\r\n\r\nx"])
    for name in ("WARC-Date", "WARC-Target-URI", "WARC-Refers-To-Date"):
        assert response[0](name) == request[0](name) is not None
    assert response[0]("WARC-Concurrent-To") == request[0]("WARC-Record-ID")
    assert request[0]("WARC-Concurrent-To") == response[0]("WARC-Record-ID")


def test_a_request_that_had_no_answer_is_recorded_with_what_happened(tmp_path: Path) -> None:
    began = datetime(2026, 11, 21, 21, 13, 31, tzinfo=UTC)
    said = {"outcome": "no answer", "reason": "unknown\r\n host"}
    record = packed_metadata("http://h.example/", began, said, {"Silo-Seed": "1"})
    (tmp_path / "a.warc.gz").write_bytes(record)
    with open(tmp_path / "a.warc.gz", "rb") as file:
        [found] = [
            (one.rec_type, one.rec_headers.get_header, one.raw_stream.read())
            for one in ArchiveIterator(file, check_digests="raise")
        ]
    kind, field, content = found
    assert kind == "metadata"
    assert content == b"outcome: no answer\r\nreason: unknown host\r\n"
    assert field("WARC-Target-URI") == "http://h.example/"
    assert field("WARC-Date") == "2026-11-21T21:13:31.000000Z"
    assert field("Silo-Seed") == "1"


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("http://h.example", b"GET / HTTP/1.1\r\nHost: h.example\r\n"),
        ("http://h.example:81/a?b=c", b"GET /a?b=c HTTP/1.1\r\nHost: h.example:81\r\n"),
        ("http://h.example/?x", b"GET /?x HTTP/1.1\r\n"),
    ],
)
def test_the_request_of_an_answer_is_recorded_as_it_was_sent(
    tmp_path: Path, url: str, line: bytes
) -> None:
    record = packed_pair(HttpAnswer(b"x", url), {}, HttpSettings(contact="me@x.example"))
    plain = gzip.decompress(record)
    assert line in plain
    assert b"From: me@x.example\r\n" in plain


def test_a_head_that_begins_with_a_folded_line_can_be_read(tmp_path: Path) -> None:
    answer = OK + b" folded\r\nX: one\r\n\ttwo\r\nContent-Length: 1\r\n\r\nx"
    [_, (_, head, body)] = recorded(tmp_path, lambda _head: [answer])
    assert b"X: one\r\n\ttwo\r\n" in head + b"\r\n"
    assert body == b"x"
