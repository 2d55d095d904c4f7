"""Whatever a server answers, an address has an outcome, and the archive stays whole."""

import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from raw_server import raw_server
from warcio.archiveiterator import ArchiveIterator

from politeweb.exchange import Exchanges
from politeweb.settings import HttpSettings
from politeweb.warc.writing import WarcFiles
from silocrawl.answers import Answers
from silocrawl.fetching import Fetched, Fetcher
from silocrawl.messages import CrawlAddress
from silocrawl.scope import Scope, ScopeKind
from silocrawl.targets import CrawlTarget
from silowork.due.timetable import Timetable

NOTHING_THERE = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
WHEN = datetime(2026, 12, 1, tzinfo=UTC)
NAMES = ("Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Location",
         "Link", "ETag", "Last-Modified", "Retry-After", "Content-Location", "X")  # fmt: skip
VALUES = (
    "text/html", "text/html; charset=utf-7", "application/pdf", "text/xml", "gzip", "br", "zstd",
    "deflate", "chunked", "0", "7", "-1", "99999999999", "1e9", "/", "http://[::1", "//", "ftp://a",
    "http://127.0.0.1:1/", "data:,x", '</a>; rel="item"', "<", '"', "Wed, 21 Oct 2099 07:28:00 GMT",
    "Thu, 32 Foo", "",
)  # fmt: skip
BODIES = (
    b"", b"%PDF-1.4", b"\x1f\x8b\x08\x00", b"\x1f\x8b" + bytes(30), b"5\r\nhello\r\n0\r\n\r\n",
    b"zz\r\n",
    b"<a href='/b.pdf'>", b"<a href='http://[x'>", b"<base href='x:y'><a href=q>", b"<!--" * 9,
    b"<?xml version='1.0'?><urlset><url><loc>/c</loc></url></urlset>", b"<a href=\xff\xfe\x00>",
    b"<meta http-equiv=refresh content='0;url=/loop'>",
)  # fmt: skip


@dataclass
class Bench:
    """A fetcher, and a server that answers what it is told to."""

    fetcher: Fetcher
    archive: WarcFiles
    place: Path
    url: str = ""
    pieces: list[bytes] = field(default_factory=list)
    is_silent: bool = False


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    place = tmp_path_factory.mktemp("any")
    http = HttpSettings(max_response=10_000, total_timeout=0.3)
    with ExitStack() as stack:
        archive = WarcFiles(str(place), "any", {"isPartOf": "crawl"})
        stack.callback(archive.close)
        exchanges, brief = (stack.enter_context(Exchanges(http)) for _ in range(2))
        answers = stack.enter_context(Answers(str(place / "answers.sqlite")))
        made = Bench(Fetcher(exchanges, archive, answers, brief, ()), archive, place)

        def answer(head: bytes) -> Iterator[bytes]:
            if b"/robots.txt" in head:
                yield NOTHING_THERE
                return
            yield from made.pieces
            if made.is_silent:
                stopped.wait(1.0)

        stopped = threading.Event()
        server = stack.enter_context(raw_server(answer))
        made.url = server.url
        yield made
        stopped.set()


numbers = itertools.count()
headers = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES)), max_size=6)
statuses = st.sampled_from(
    [200] * 12 + [100, 101, 199, 204, 206, 301, 302, 304, 404, 429, 503, 999]
)
versions = st.sampled_from(["HTTP/1.1"] * 9 + ["HTTP/1.0", "HTTP/9.9", "ICY"])
odd = st.sampled_from(
    [b""] * 9 + [b"no colon\r\n", b": empty\r\n", b"X: \xff\x00\r\n", b"X: a\r\n b\r\n"]
)
bodies = st.one_of(st.sampled_from(BODIES), st.binary(max_size=300))


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    """What a server sends: mostly nearly HTTP."""
    if draw(st.integers(0, 9)) == 9:
        return draw(st.binary(max_size=200))
    said = "".join(f"{name}: {value}\r\n" for name, value in draw(headers))
    first = f"{draw(versions)} {draw(statuses)} x\r\n"
    return (first + said).encode() + draw(odd) + b"\r\n" + draw(bodies)


@settings(max_examples=examples(300), deadline=None)
@given(answer=answers(), cuts=st.lists(st.integers(0, 400), max_size=3), is_silent=st.booleans(),
       kind=st.sampled_from(ScopeKind))  # fmt: skip
def test_any_answer_of_a_server_gives_an_outcome(
    bench: Bench, answer: bytes, cuts: list[int], is_silent: bool, kind: ScopeKind
) -> None:
    places = [0, *sorted(min(cut, len(answer)) for cut in cuts), len(answer)]
    bench.pieces = [answer[a:b] for a, b in itertools.pairwise(places) if b > a]
    bench.is_silent = is_silent and next(numbers) % 8 == 0  # each costs the limit of time
    url = f"{bench.url}sitemap/{next(numbers)}"
    target = CrawlTarget("t", Timetable(once=WHEN), url, scope=Scope(kind))
    check(bench.fetcher.fetch(CrawlAddress(url, url, "t/20261201000000"), target, 1), url)


def check(found: Fetched, url: str) -> None:
    """An outcome has a line of the log, and one of the index if it is an answer."""
    assert found.outcome is not None
    assert found.outcome.url == url
    fields = found.log.split(None, 12)
    assert len(fields) == 13
    json.loads(fields[12])
    if found.outcome.status_code > 0:
        assert json.loads(found.index.split(" ", 2)[2])["url"] == url
    for hop in found.hops:
        assert hop.url.startswith(("http://", "https://"))


def test_the_archive_of_all_these_answers_can_be_read(bench: Bench) -> None:
    bench.pieces, bench.is_silent = [b"HTTP/1.1 200 OK\r\n\r\nbody"], False  # also if run alone
    url = f"{bench.url}page/{next(numbers)}"
    target = CrawlTarget("t", Timetable(once=WHEN), url, scope=Scope(ScopeKind.PAGE))
    check(bench.fetcher.fetch(CrawlAddress(url, url, "t/20261201000000"), target, 1), url)
    bench.archive.flush()
    count = 0
    for path in bench.place.glob("*.warc.gz*"):
        with open(path, "rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.content_stream().read()
                count += 1
    assert count
