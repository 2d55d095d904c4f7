"""Outcomes of Heritrix become lines of our index and logs, each once, whatever is killed."""

import gzip
import json
import os
from base64 import b32encode
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from pathlib import Path

import pytest
from waiting import wait_until

from recordsilo import Silo
from silocrawl.captures import Captures
from silocrawl.cdxj import Segments
from silocrawl.heritrix.indexing import Indexer, index_all, indexing
from silocrawl.heritrix.noted import note
from silocrawl.heritrix.outcomes import Crawled, crawled_in, message_of
from silocrawl.messages import CATALOGUE, INDEX, document_of
from silocrawl.paths import index_directory, log_file, places_file
from silocrawl.targets import CrawlTarget, add_target
from silowork.due.timetable import Timetable
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.values import MessageState
from silowork.stop import Stop

LAUNCH, JOB, WARC = "20261124061100", "theses", "theses-20261124061148-00000.warc.gz"
SITE = "http://site.localhost"
WHEN = datetime(2026, 11, 24, 6, 11, 48, 966_000, tzinfo=UTC)


class Crawl:
    """A job of Heritrix with a launch, whose archive is being written."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.warc = directory / LAUNCH / "warcs" / f"{WARC}.open"
        self.warc.parent.mkdir(parents=True)
        self._count = 0

    def fetched(
        self, path: str, body: bytes = b"a page", mime: str = "text/html", *,
        status: str = "200 OK", location: str = "", kind: str = "response",
    ) -> Crawled:  # fmt: skip
        """Append a record; return the outcome that the log tells."""
        self._count += 1
        begun = WHEN + timedelta(seconds=self._count)
        digest = f"sha1:{b32encode(sha1(body, usedforsecurity=False).digest()).decode()}"
        moved = f"Location: {location}\r\n" if location else ""
        http = f"HTTP/1.1 {status}\r\nContent-Type: {mime}\r\n{moved}\r\n".encode()
        block = http + (body if kind == "response" else b"")
        head = (
            f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {SITE}{path}\r\n"
            f"WARC-Date: {begun:%Y-%m-%dT%H:%M:%S}Z\r\nWARC-Payload-Digest: {digest}\r\n"
            f"WARC-Record-ID: <urn:x:{self._count}>\r\nContent-Length: {len(block)}\r\n"
            "Content-Type: application/http; msgtype=response\r\n\r\n"
        )
        with self.warc.open("ab") as file:
            offset = file.tell()
            file.write(gzip.compress(head.encode() + block + b"\r\n\r\n"))
        return Crawled(
            f"{begun:%Y-%m-%dT%H:%M:%S}.500Z", SITE + path, int(status[:3]), len(body), "L",
            f"{SITE}/", mime, digest, f"{begun:%Y%m%d%H%M%S}966+230", f"{SITE}/",
            ("duplicate:digest",) if kind == "revisit" else (), 3, WARC, offset, JOB, LAUNCH,
        )  # fmt: skip


@pytest.fixture
def job(silo: Silo, queues: SqliteQueues, tmp_path: Path) -> Crawl:
    made = Crawl(tmp_path / "jobs" / JOB)
    note(queues, JOB, directory=str(made.directory))
    return made


def work(silo: Silo, queues: SqliteQueues, *outcomes: Crawled) -> None:
    queues.put(map(message_of, outcomes))
    indexer = Indexer(silo.path, queues)
    while indexer.work_once():
        pass


def index(silo: Silo) -> list[dict[str, str]]:
    lines = Segments(index_directory(silo.path)).find("", is_prefix=True)
    return [json.loads(line.split(" ", 2)[2]) for line in lines]


def log(silo: Silo, name: str = f"{JOB}/20261124T061100Z") -> list[Crawled]:
    path = Path(log_file(silo.path, name))
    lines = path.read_bytes().splitlines() if path.exists() else []
    return [crawled_in(line, JOB, LAUNCH) for line in lines]


def test_what_was_fetched_is_indexed_logged_and_read_from_where_it_is(
    silo: Silo, queues: SqliteQueues, job: Crawl
) -> None:
    page = job.fetched("/a", b"<p>page")
    moved = job.fetched("/old", b"", status="302 Found", location="/a")
    again = job.fetched("/b", b"<p>page", kind="revisit")
    missing = Crawled(
        "2026-11-24T06:12:00.000Z", f"{SITE}/c", -9998, mimetype="unknown", job=JOB, launch=LAUNCH
    )
    name = replace(page, url="dns:site.localhost", status=1, mimetype="text/dns")
    work(silo, queues, page, moved, again, missing, name)
    assert [(one["url"], one["mime"], one.get("redirect")) for one in index(silo)] == [
        (f"{SITE}/a", "text/html", None),
        (f"{SITE}/b", "warc/revisit", None),
        (f"{SITE}/old", "text/html", f"{SITE}/a"),
    ]
    assert log(silo) == [page, moved, again, missing, name]
    captures = Captures(silo.path)
    found = captures.where_it_leads(f"{SITE}/old")
    assert found is not None
    assert captures.begin(found, 99).content == b"<p>page"
    finished = str(job.warc).removesuffix(".open")
    job.warc.rename(finished)
    assert captures.begin(found, 99).content == b"<p>page"
    assert Path(places_file(silo.path)).read_text() == f"{WARC}\t{finished}\t{finished}.open\n"


def test_what_comes_twice_counts_once(silo: Silo, queues: SqliteQueues, job: Crawl) -> None:
    page = job.fetched("/a")
    work(silo, queues, page, replace(page, job="", launch=""))
    work(silo, queues, page)
    assert log(silo) == [page]
    assert len(index(silo)) == 1


class Killed(Exception):
    pass


@pytest.mark.parametrize("at", ["append_lines", "Segments.add", "done"])
@pytest.mark.parametrize("is_before", [True, False])
def test_a_kill_at_any_point_loses_nothing_and_writes_no_line_twice(
    silo: Silo, queues: SqliteQueues, job: Crawl, monkeypatch: pytest.MonkeyPatch, at: str,
    is_before: bool,
) -> None:  # fmt: skip
    first, *rest = [job.fetched(f"/{number}") for number in range(5)]
    work(silo, queues, first)
    queues.put(map(message_of, rest))
    with monkeypatch.context() as patch:
        place = f"{type(queues).__module__}.SqliteQueues.done" if at == "done" else (
            f"silocrawl.heritrix.indexing.{at}"
        )  # fmt: skip
        kill(patch, place, is_before=is_before)
        with pytest.raises(Killed):
            Indexer(silo.path, queues).work_once()
    with Path(log_file(silo.path, f"{JOB}/20261124T061100Z")).open("ab") as file:
        file.write(b"2026-11-24T06:1")
    last = job.fetched("/last")
    work(silo, queues, last)
    assert sorted(log(silo), key=lambda one: one.begun) == [first, *rest, last]
    assert len(index(silo)) == 6
    assert queues.sizes()[INDEX].alive == 0


def kill(patch: pytest.MonkeyPatch, place: str, *, is_before: bool) -> None:
    """Let the process end before or after a call."""
    from pkgutil import resolve_name  # noqa: PLC0415

    real = resolve_name(place.rpartition(".")[0]).__dict__[place.rpartition(".")[2]]

    def killed(*given: object) -> None:
        if not is_before:
            real(*given)
        raise Killed

    patch.setattr(place, killed)


@pytest.mark.long
def test_a_record_that_is_not_on_the_disk_yet_is_waited_for(
    silo: Silo, queues: SqliteQueues, job: Crawl
) -> None:
    page = job.fetched("/a")
    begin = job.warc.read_bytes()
    job.warc.write_bytes(begin[:60])
    now = WHEN.timestamp() + 10
    queues.put([message_of(page)])
    Indexer(silo.path, queues, lambda: now).work_once()
    assert (log(silo), index(silo)) == ([], [])
    assert queues.sizes()[INDEX].later == 1
    job.warc.write_bytes(begin)
    wait_until(lambda: Indexer(silo.path, queues, lambda: now).work_once())
    assert (log(silo), len(index(silo))) == ([page], 1)


@pytest.mark.parametrize("harm", ["cut", "other", "none"])
def test_a_record_that_never_comes_leaves_its_line_of_the_log(
    silo: Silo, queues: SqliteQueues, job: Crawl, harm: str, caplog: pytest.LogCaptureFixture
) -> None:
    page = job.fetched("/a")
    if harm == "cut":
        job.warc.write_bytes(job.warc.read_bytes()[:-9])
    else:
        page = replace(page, url=f"{SITE}/b", offset=0 if harm == "other" else 7_000)
    work(silo, queues, page)
    assert (log(silo), index(silo)) == ([page], [])
    assert "is not indexed" in caplog.text


def test_an_archive_that_is_elsewhere_is_indexed_without_a_length(
    silo: Silo, queues: SqliteQueues, job: Crawl
) -> None:
    page = replace(job.fetched("/a"), warc="far-away.warc.gz")
    work(silo, queues, page)
    (line,) = index(silo)
    assert (line["filename"], line["length"], line["status"]) == (page.warc, "-", "200")


def test_a_document_of_a_watched_target_is_to_be_catalogued(
    silo: Silo, queues: SqliteQueues, job: Crawl
) -> None:
    add_target(
        silo.path,
        CrawlTarget("reports", Timetable(every=timedelta(days=1)), f"{SITE}/", watched="../other"),
    )
    note(queues, JOB, target="reports")
    document = job.fetched("/a.pdf", b"%PDF", "application/pdf")
    work(silo, queues, document, job.fetched("/a"))
    (message,) = queues.peek(CATALOGUE)
    found = document_of(message.body)
    assert (found.url, found.target, found.page) == (f"{SITE}/a.pdf", "reports", f"{SITE}/")
    assert log(silo, "reports/20261124T061100Z")[0] == document


def test_what_says_no_job_has_a_log_too_and_what_is_invalid_is_a_dead_letter(
    silo: Silo, queues: SqliteQueues
) -> None:
    one = Crawled("2026-11-24T06:12:00.000Z", f"{SITE}/c", -2)
    queues.put([replace(message_of(one), body=b"{}", key="x")])
    work(silo, queues, one)
    assert [line.url for line in log(silo, "heritrix")] == [one.url]
    (dead,) = queues.peek(INDEX, MessageState.DEAD)
    assert "no address" in dead.reason


@pytest.fixture
def in_a_thread(silo: Silo) -> Iterator[None]:
    with indexing(silo.path):
        yield


@pytest.mark.long
def test_one_process_at_a_time_does_it(
    silo: Silo, queues: SqliteQueues, job: Crawl, in_a_thread: None
) -> None:
    page = job.fetched("/a")
    queues.put([message_of(page)])
    wait_until(lambda: log(silo) == [page])
    wait_until(lambda: queues.sizes()[INDEX].alive == 0)
    other = message_of(job.fetched("/b"))
    assert os.path.exists(os.path.join(silo.path, ".silo", "locks"))
    assert index_all(silo.path, Stop()) == 0
    queues.put([other])
    wait_until(lambda: len(log(silo)) == 2)
