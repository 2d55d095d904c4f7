"""HTTP heads and compressed bodies of repositories and other servers."""

from collections.abc import Hashable, Iterable
from datetime import UTC, datetime
from gzip import compress
from zlib import compress as deflate

from fuzzing.target import Target

from oaipmhclient.transport.http_rules import BaseURL, Verdict, judge, unpack_page, with_query
from politeweb.addresses import without_credentials
from politeweb.answers import Answer, retry_after
from politeweb.codings import CodingBroken
from politeweb.errors import RequestRefused, ResponseTooLarge

_NOW = datetime(2026, 11, 22, tzinfo=UTC)
_LIMIT = 100_000


class Answers(Target):
    promise = (
        "Any head and body are judged; a delay is a number of seconds or none; a body unpacks "
        "to its limit at most, or is named broken or too large."
    )
    words = (
        b"Retry-After: ", b"Mon, 01 Jan 2030 00:00:00 GMT", b"99999999999999999999", b"-1",
        b" +99999999999999", b"Content-Encoding: ", b"gzip", b"x-gzip", b"deflate", b"br", b", ",
        b"identity", b"Location: ", b"http://", b"https://[", b"]", b"@", b":99999", b"//", b"%",
        b"<OAI-PMH", b"</OAI-PMH>", b"<html", b"\n\n", b"503", b"404", b"\xc2\xa0", b"\xe2\x80\x8b",
        b"\xff\xfe", b"\xd9\xa3", b"?", b"#",
    )  # fmt: skip

    def seeds(self) -> Iterable[bytes]:
        body = (
            b"<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'>" + b"x" * 500 + b"</OAI-PMH>"
        )
        packed = {b"gzip": compress(body, mtime=0), b"deflate": deflate(body), b"": body,
                  b"gzip, gzip": compress(compress(body, mtime=0), mtime=0),
                  b"x-gzip": compress(bytes(2 * _LIMIT), mtime=0)}  # fmt: skip
        return [
            b"503\nMon, 01 Jan 2030 00:00:00 GMT\nhttp://a.example/oai?x=y\n" + coding + b"\n" + raw
            for coding, raw in packed.items()
        ] + [b"200\n120\nhttps://u:p@a.example:8080/oai\n\n" + body[:80]]

    def check(self, data: bytes) -> Hashable:
        """The input: status, Retry-After, Location and Content-Encoding, a line each; the body."""
        head = (*data.split(b"\n", 4), b"", b"", b"", b"")
        code, after, url, coding = (one.decode("latin-1") for one in head[:4])
        raw = head[4]
        delay = retry_after(after, _NOW)
        assert delay is None or delay >= 0
        body, met = _unpacked(raw, coding, url)
        status = int(code) if code.isascii() and code.isdigit() and len(code) < 4 else 200
        headers = {"retry-after": after, "content-encoding": coding, "location": url}
        answer = Answer(body, url, status, headers, raw, _NOW)
        verdicts = [judge(answer, has_answered=known) for known in (True, False)]
        assert all(reason for verdict, reason in verdicts if verdict is not Verdict.TAKE)
        without_credentials(url)
        return delay is None, met, _url(url), *(verdict for verdict, _ in verdicts)


def _unpacked(raw: bytes, coding: str, url: str) -> tuple[bytes, str]:
    try:
        body = unpack_page(raw, coding, _LIMIT, url)
    except ResponseTooLarge:
        return b"", "too large"
    except CodingBroken as broken:
        body, met = broken.got, "broken"
    else:
        met = "whole"
    assert len(body) <= max(_LIMIT, len(raw))
    return body, met


def _url(text: str) -> str:
    try:
        base = BaseURL.parse(text)
    except RequestRefused:
        return "refused"
    with_query(base.url, {"verb": "Identify"})
    return "read"
