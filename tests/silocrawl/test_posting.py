"""The index in an OutbackCDX, against a server that does what its protocol says."""

import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from recordsilo import Silo
from recordsilo.cli import silo_command
from silocrawl.cdxj import MOST_SEGMENTS, Segments, line_of
from silocrawl.crawl_log import CrawlOutcome
from silocrawl.posting import Poster, PostFailed, posting
from silowork.queues.sqlite import SqliteQueues

SHA1 = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"


class OutbackCdx:
    """A collection: a bad line refuses the whole request, unless such lines are to be skipped.

    Attributes:
        lines: What is stored, in order; a line that is posted again is there again.
        requests: How many lines each request had.
        is_down: Whether it answers 503.
        knows_skip: Whether it knows ``badLines=skip``, as newer ones do.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.requests: list[int] = []
        self.is_down, self.knows_skip, self.url = False, True, ""

    def take(self, path: str, body: str) -> tuple[int, str]:
        if self.is_down:
            return 503, "closed"
        assert path.partition("?")[0] == "/coll"
        given = body.splitlines()
        self.requests.append(len(given))
        bad = [one for one in given if not _is_good(one)]
        if bad and not (self.knows_skip and "badLines=skip" in path):
            return 400, f"At line: {bad[0]}\njava.lang.IllegalArgumentException"
        good = [one for one in given if _is_good(one)]
        self.lines += good
        return 200, f"Added {len(good)} records\n"

    @property
    def urls(self) -> list[str]:
        return [one.split(" ")[2].removeprefix("http://e.org/") for one in self.lines]


def _is_good(line: str) -> bool:
    fields = line.split(" ")
    return len(fields) == 11 and re.fullmatch("[0-9]{14}", fields[1]) is not None


@pytest.fixture
def server() -> Iterator[OutbackCdx]:
    collection = OutbackCdx()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            status, said = collection.take(self.path, self.rfile.read(length).decode())
            self.send_response(status)
            self.end_headers()
            self.wfile.write(said.encode())

        def log_message(self, *_: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    collection.url = f"http://127.0.0.1:{http.server_address[1]}/coll"
    yield collection
    http.shutdown()
    http.server_close()


@pytest.fixture
def index(tmp_path: Path) -> Segments:
    return Segments(str(tmp_path / "index"))


@pytest.fixture
def poster(server: OutbackCdx, index: Segments, queues: SqliteQueues) -> Poster:
    return Poster(f"{server.url}/", index, queues)


def line(name: str, digest: str = f"sha1:{SHA1}", time: str = "20260102030405") -> str:
    url = f"http://e.org/{name}"
    return line_of(CrawlOutcome(time, url, 200, "text/html", digest, warc_filename="a.warc.gz",
                           warc_offset=7, redirect="http://e.org/ä b"), 9)  # fmt: skip


def test_lines_have_eleven_fields_and_only_digests_that_come_back(
    poster: Poster, server: OutbackCdx, index: Segments
) -> None:
    index.add([line("a"), line("b", "sha256:00"), line("c", "00" * 20)])
    assert poster.post() == 3
    assert server.lines[0] == (
        f"org,e)/a 20260102030405 http://e.org/a text/html 200 {SHA1}"
        " http://e.org/%C3%A4%20b - 9 7 a.warc.gz"
    )
    assert [one.split(" ")[5] for one in server.lines[1:]] == ["-", "A" * 32]


def test_each_line_is_posted_once_also_when_files_are_merged(
    poster: Poster, server: OutbackCdx, index: Segments
) -> None:
    names = [f"{number:03}" for number in range(3 * MOST_SEGMENTS)]
    for name in names:
        index.add([line(name)])
        poster.post()
    assert server.urls == names
    assert poster.post() == 0


def test_what_a_server_that_was_down_has_not_is_posted_later(
    poster: Poster, server: OutbackCdx, index: Segments, queues: SqliteQueues
) -> None:
    index.add([line("a")])
    poster.post()
    server.is_down = True
    for number in range(MOST_SEGMENTS):
        index.add([line(f"b{number:02}")])
    with pytest.raises(PostFailed, match="it answers 503: closed"):
        poster.post()
    server.is_down = False
    Poster(server.url, index, queues).post()  # another process
    assert set(server.urls) == {"a", *(f"b{number:02}" for number in range(MOST_SEGMENTS))}


def test_an_index_that_was_made_anew_is_posted_anew(
    poster: Poster, server: OutbackCdx, index: Segments
) -> None:
    for name in "abc":
        index.add([line(name)])
    poster.post()
    for path in Path(index.directory).iterdir():
        path.unlink()
    index.add([line("d")])
    poster.post()
    assert server.urls == ["a", "b", "c", "d"]


@pytest.mark.parametrize("knows_skip", [True, False])
def test_bad_lines_are_left_out_and_told(
    poster: Poster,
    server: OutbackCdx,
    index: Segments,
    caplog: pytest.LogCaptureFixture,
    *,
    knows_skip: bool,
) -> None:
    server.knows_skip = knows_skip
    index.add([line("a"), line("b", time="2026"), line("c"), line("d")])
    poster.post()
    assert (sorted(server.urls), poster.skipped) == (["a", "c", "d"], 1)
    assert "At line: org,e)/b 2026 http://e.org/b" in caplog.text
    assert "1 lines were refused" in caplog.text
    assert poster.post() == 0


def test_lines_go_in_batches(
    poster: Poster, server: OutbackCdx, index: Segments, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("silocrawl.posting.LINES_TOGETHER", 2)
    index.add([line(name) for name in "abcde"])
    poster.post()
    assert server.requests == [2, 2, 1]
    index.add([line("f")])
    with pytest.raises(PostFailed, match="too long"):
        poster.post(until=time.monotonic() - 1)


def test_a_crawl_goes_on_without_its_server(
    server: OutbackCdx, index: Segments, queues: SqliteQueues, caplog: pytest.LogCaptureFixture
) -> None:
    with posting(Poster("http://127.0.0.1:9/coll", index, queues)):
        index.add([line("a")])
    assert "the index is not posted now, but later: it cannot be reached" in caplog.text
    with posting(Poster(server.url, index, queues)):
        pass
    assert server.urls == ["a"]


@pytest.mark.long
def test_a_run_posts_what_there_is(silo: Silo, server: OutbackCdx) -> None:
    Segments(str(Path(silo.path, "crawling", "index"))).add([line("a")])
    run = ["crawl", "run", silo.path, "--until-idle", "-q", "--outbackcdx"]
    assert CliRunner().invoke(silo_command, [*run, server.url]).exit_code == 0
    assert server.urls == ["a"]
    for wrong in ("ftp://a/b", "http://127.0.0.1:8080/", "coll", "http://a/coll?x=1"):
        done = CliRunner().invoke(silo_command, [*run, wrong])
        assert done.exit_code == 2
        assert "it is an address such as http://127.0.0.1:8080/coll" in done.output
