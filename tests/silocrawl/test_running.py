"""Crawls of a site with traps: what is fetched, archived, indexed and logged."""

import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from crawl_records import put_record
from site_of_traps import PDF, Reply, Site, busy, endless, hang_up, packed, page, pdf, tagged
from waiting import wait_until
from warcio.archiveiterator import ArchiveIterator

from crawlmatch.kept import Crawl as Kept
from crawlmatch.kept import crawl_named
from crawlmatch.outcomes import LinkOutcome
from politeweb.pace import Pace
from politeweb.settings import HttpSettings
from recordsilo import Silo
from recordsilo.cli import ExitCode
from recordsilo.disk.locks import Locks
from silocrawl.answers import Answers
from silocrawl.cdxj import Segments, key_of
from silocrawl.checks import check_launched
from silocrawl.commands.queues import launch
from silocrawl.commands.running import run
from silocrawl.frontier import Frontier, HeldMessage
from silocrawl.launching import inject, launch_due, launch_name, launch_now, launched
from silocrawl.messages import CHECK, CRAWL, LAUNCH_FORM, RENDER, CrawlAddress, message_of
from silocrawl.outcomes import match_own_logs, matching
from silocrawl.paths import answers_file, index_directory, log_file
from silocrawl.running import CrawlRunning, CrawlSettings, CrawlWorker
from silocrawl.scope import Scope, ScopeKind
from silocrawl.targets import CrawlTarget, Limits, add_target, load_target, remove_target
from silowork.due.timetable import Timetable
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.values import Message, MessageState, Queued
from silowork.stop import Stop

QUICK = CrawlSettings(8, 0.0, is_private=True, pauses=(0.05, 0.05, 0.05))
NOW = datetime.now(UTC).replace(microsecond=0)
Crawl = Callable[..., dict[str, list[str]]]


@pytest.fixture
def crawl(silo: Silo, queues: SqliteQueues, site: Site, monkeypatch: pytest.MonkeyPatch) -> Crawl:
    """Crawl what is due; returns the lines of the log by path, each split into its fields."""

    monkeypatch.setattr("silocrawl.running.SECONDS_BETWEEN_BATCHES", 0.05)

    def run(settings: CrawlSettings = QUICK) -> dict[str, list[str]]:
        CrawlWorker(silo, queues, settings).run(Stop(), until_idle=True)
        found = {}
        for path in sorted(Path(silo.path, "crawling", "logs").glob("*.log")):
            for line in path.read_text().splitlines():
                fields = line.split(None, 12)
                found[fields[3].removeprefix(site.url)] = fields
        return found

    return run


def target(silo: Silo, url: str = "", **more: Any) -> None:
    add_target(silo.path, CrawlTarget("t", Timetable(once=NOW), url, made=NOW, **more))


def captures(silo: Silo, url: str) -> list[dict[str, str]]:
    lines = Segments(index_directory(silo.path)).find(key_of(url))
    return [json.loads(line.split(" ", 2)[2]) for line in lines]


def record_at(silo: Silo, capture: dict[str, str]) -> tuple[str, bytes]:
    """The type and the body of an archived record."""
    with open(Path(silo.path, "crawling", "warcs", capture["filename"]), "rb") as file:
        file.seek(int(capture["offset"]))
        content = file.read(int(capture["length"]))
    record = next(iter(ArchiveIterator(io.BytesIO(content), check_digests="raise")))
    return record.rec_type, record.content_stream().read()


def test_a_records_link_leads_over_a_redirect_to_its_document(
    silo: Silo, site: Site, crawl: Crawl
) -> None:
    meta = '<meta name="citation_pdf_url" content="/download/7"><link rel=stylesheet href="s.css">'
    site.pages |= {
        "/id/7": Reply(302, b"", {"Location": "/paper/7?a=1"}),
        "/paper/7": page('<a href="/other">other</a><a href="/a.pdf">pdf</a><img src=i.png>', meta),
        "/download/7": pdf(**{"Content-Disposition": "attachment"}),
        "/a.pdf": packed(pdf(b"%PDF other")),
        "/paper/s.css": Reply(200, b"p{}", {"Content-Type": "text/css"}),
        "/other": page("never fetched"),
    }
    put_record(silo, "7", f"{site.url}/id/7")
    target(silo)
    log = crawl()
    paths = {path: (one[1], one[4]) for path, one in log.items()}
    assert paths == {
        "/id/7": ("302", "-"),
        "/paper/7?a=1": ("200", "R"),
        "/download/7": ("200", "RL"),
        "/a.pdf": ("200", "RL"),
        "/paper/s.css": ("200", "RE"),
        "/paper/i.png": ("404", "RE"),
    }
    assert {one[10] for one in log.values()} == {f"{site.url}/id/7"}
    (one,) = captures(silo, f"{site.url}/download/7")
    assert (one["mime"], one["status"]) == ("application/pdf", "200")
    assert record_at(silo, one) == ("response", PDF)
    assert record_at(silo, captures(silo, f"{site.url}/a.pdf")[0])[1] == b"%PDF other"
    assert captures(silo, f"{site.url}/id/7")[0]["redirect"] == f"{site.url}/paper/7?a=1"


def test_a_redirect_to_a_page_that_is_fetched_anyway_has_its_outcome(
    silo: Silo, site: Site, crawl: Crawl
) -> None:
    site.pages |= {
        "/doi/7": Reply(302, b"", {"Location": "/paper/7"}),
        "/paper/7": page('<a href="/7.pdf">pdf</a>'),
        "/7.pdf": pdf(),
    }
    put_record(silo, "7", f"{site.url}/paper/7", f"{site.url}/doi/7")
    target(silo)
    assert len(crawl()) == 3
    kept = match_own_logs(silo)
    assert kept is not None
    assert +Counter(kept.receipt.outcomes) == {LinkOutcome.FULLTEXT: 2}


def test_a_page_has_the_document_that_the_record_links_to_as_well(
    silo: Silo, site: Site, crawl: Crawl
) -> None:
    site.pages |= {"/7/": page('<a href="1/paper.pdf">pdf</a>'), "/7/1/paper.pdf": pdf()}
    put_record(silo, "7", f"{site.url}/7/1/paper.pdf", f"{site.url}/7/")
    target(silo)
    assert len(crawl()) == 2
    kept = match_own_logs(silo)
    assert kept is not None
    assert +Counter(kept.receipt.outcomes) == {LinkOutcome.FULLTEXT: 2}


@pytest.mark.long
def test_what_is_unchanged_is_a_revisit(
    silo: Silo, queues: SqliteQueues, site: Site, crawl: Crawl
) -> None:
    site.pages |= {"/same.pdf": pdf(), "/tagged.pdf": tagged(pdf(b"%PDF tagged"), '"1"')}
    put_record(silo, "7", f"{site.url}/same.pdf", f"{site.url}/tagged.pdf")
    target(silo)
    crawl()
    time.sleep(1.1)  # captures are told apart by the second
    launch_now(silo, queues, load_target(silo.path, "t"))
    log = crawl()
    assert [log[path][1::10] for path in ("/same.pdf", "/tagged.pdf")] == [
        ["200", "duplicate:digest"], ["304", "duplicate:server-not-modified"],
    ]  # fmt: skip
    for path in ("/same.pdf", "/tagged.pdf"):
        first, second = captures(silo, site.url + path)
        assert (first["mime"], second["mime"]) == ("application/pdf", "warc/revisit")
        assert first["digest"] == second["digest"]
        assert record_at(silo, second)[0] == "revisit"


def test_a_host_is_left_alone_where_robots_txt_says_so(
    silo: Silo, site: Site, crawl: Crawl
) -> None:
    rules = b"User-agent: *\nDisallow: /closed\nAllow: /closed/open\nCrawl-delay: 1"
    site.pages |= {
        "/robots.txt": Reply(200, rules), "/closed/a": page(""), "/closed/open": page(""),
        "/b": page(""),
    }  # fmt: skip
    put_record(silo, "7", *(f"{site.url}{path}" for path in ("/closed/a", "/closed/open", "/b")))
    target(silo)
    log = crawl()
    assert {path: one[1] for path, one in log.items()} == {
        "/closed/a": "-9998", "/closed/open": "200", "/b": "200",
    }  # fmt: skip
    assert site.asked["/closed/a"] == 0
    assert site.asked["/robots.txt"] == 1
    *_, (first, _), (second, _) = site.moments
    assert second - first > 0.9


def test_addresses_that_are_not_asked_for_do_not_wait_for_their_host(
    silo: Silo, site: Site, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserved, whole = [], Frontier._reserve

    def reserve(frontier: Frontier, host: str) -> None:
        reserved.append(host)
        whole(frontier, host)

    monkeypatch.setattr(Frontier, "_reserve", reserve)
    site.pages["/robots.txt"] = Reply(200, b"User-agent: *\nDisallow: /closed/")
    links = [f"{site.url}/closed/{number}" for number in range(50)]
    gone = [f"http://no-such-host.invalid/{number}" for number in range(50)]
    put_record(silo, "7", *links, *gone)
    target(silo)
    assert len(crawl(replace(QUICK, pauses=()))) == 100
    assert len(reserved) < 10


def test_a_host_without_an_answer_for_robots_txt_is_not_crawled(
    silo: Silo, site: Site, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("politeweb.robots.SECONDS_UNTIL_ASKED_AGAIN", 0.0)
    site.pages["/robots.txt"] = Reply(503)
    put_record(silo, "7", f"{site.url}/a")
    target(silo)
    assert crawl()["/a"][1] == "-61"
    assert site.asked["/a"] == 0


def test_a_robots_txt_without_end_is_read_up_to_its_limit(
    silo: Silo, site: Site, crawl: Crawl
) -> None:
    pieces = []

    def write(handler: BaseHTTPRequestHandler) -> None:
        for number in range(2_000):
            handler.wfile.write(b"Disallow: /closed\n" * 3_000)
            pieces.append(number)

    site.pages |= {"/robots.txt": Reply(200, write), "/a": page("")}
    put_record(silo, "7", f"{site.url}/a")
    target(silo)
    assert crawl()["/a"][1] == "200"
    assert len(pieces) < 1_000  # what the sockets hold beyond half a megabyte


def test_a_robots_txt_that_was_cut_forbids_everything(
    silo: Silo, site: Site, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("politeweb.robots.SECONDS_UNTIL_ASKED_AGAIN", 0.0)
    site.pages |= {"/robots.txt": hang_up(), "/a": page("")}
    put_record(silo, "7", f"{site.url}/a")
    target(silo)
    assert crawl()["/a"][1] == "-61"


def test_hosts_that_are_busy_are_asked_again_and_dead_ones_are_outcomes(
    silo: Silo, site: Site, crawl: Crawl
) -> None:
    site.pages |= {
        "/busy": busy(2, "0", page("")), "/always": busy(99, "0", page("")), "/cut": hang_up(),
    }  # fmt: skip
    links = [f"{site.url}/{one}" for one in ("busy", "always", "cut")]
    put_record(silo, "7", *links, "http://no-such-host.invalid/", "http://localhost:1/")
    target(silo)
    log = crawl()
    status = {path: one[1] for path, one in log.items()}
    assert status == {
        "/busy": "200", "/always": "429", "/cut": "200",
        "http://no-such-host.invalid/": "-1", "http://localhost:1/": "-2",
    }  # fmt: skip
    assert site.asked["/busy"] == 3
    assert site.asked["/cut"] == 4
    assert "midFetchTrunc" in log["/cut"][11]


def test_bodies_and_seeds_have_limits(silo: Silo, site: Site, crawl: Crawl) -> None:
    site.pages["/endless.pdf"] = endless()
    for number in range(9):
        site.pages[f"/site/{number}"] = page(f'<a href="{number + 1}">next</a>')
    put_record(silo, "7", f"{site.url}/endless.pdf")
    target(silo)
    path = Scope(ScopeKind.PATH)
    add_target(silo.path, CrawlTarget("few", Timetable(once=NOW), f"{site.url}/site/0", scope=path,
                                 limits=Limits(pages=3), made=NOW))  # fmt: skip
    http = HttpSettings(max_response=1_000_000)
    log = crawl(replace(QUICK, http=http))
    assert log["/endless.pdf"][2] == "1000000"
    assert "lenTrunc" in log["/endless.pdf"][11]
    assert [log[f"/site/{number}"][1] for number in range(4)] == ["200", "200", "200", "-5000"]
    assert log["/site/3"][11] == "pageLimit"
    assert site.asked["/site/4"] == 0


def test_the_begin_of_a_page_that_is_too_large_is_read(
    silo: Silo, site: Site, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("silocrawl.fetching.MOST_BYTES", 1_000)
    large = page('<a href="/a.pdf">first</a>' + "x" * 2_000 + '<a href="/b.pdf">later</a>')
    site.pages |= {"/large": large, "/packed": packed(large), "/a.pdf": pdf()}
    put_record(silo, "7", f"{site.url}/large", f"{site.url}/packed")
    target(silo)
    assert set(crawl()) == {"/large", "/packed", "/a.pdf"}


def test_traps_end(silo: Silo, site: Site, crawl: Crawl) -> None:
    def more(_headers: dict[str, str]) -> Reply:
        again = f'<a href="?sid={len(site.moments)}">again</a>'
        return page(f'<a href="deeper/deeper/">on</a>{again}')

    for depth in range(30):
        site.pages["/t/" + "deeper/deeper/" * depth] = more
    loop = Reply(302, b"", {"Location": "/loop"})
    site.pages |= {"/loop": loop}
    put_record(silo, "7", f"{site.url}/loop")
    target(silo)
    add_target(silo.path, CrawlTarget("deep", Timetable(once=NOW), f"{site.url}/t/",
                                 scope=Scope(ScopeKind.PATH), made=NOW))  # fmt: skip
    crawl()
    assert site.asked["/loop"] == 1
    assert sum(site.asked.values()) < 12


def test_private_addresses_are_refused(silo: Silo, site: Site, crawl: Crawl) -> None:
    put_record(silo, "7", f"{site.url}/a")
    target(silo)
    log = crawl(replace(QUICK, is_private=False))
    assert log["/a"][1] == "-5000"
    assert not site.asked


def test_a_capture_that_the_index_lost_is_fetched_once_more(
    silo: Silo, queues: SqliteQueues, site: Site, crawl: Crawl
) -> None:
    site.pages["/a"] = page("")
    put_record(silo, "7", f"{site.url}/a", f"{site.url}/closed")
    site.pages["/robots.txt"] = Reply(200, b"User-agent: *\nDisallow: /closed")
    target(silo)
    crawl()
    for path in ("/a", "/closed"):  # a capture, and an outcome without one
        put_check(queues, site.url + path)
    crawl()
    assert (queues.sizes()[CHECK].done, site.asked["/a"]) == (2, 1)
    put_check(queues, f"{site.url}/a", "again")
    shutil.rmtree(index_directory(silo.path))
    crawl()
    assert len(captures(silo, f"{site.url}/a")) == 1
    assert site.asked["/a"] == 2
    assert queues.sizes()[CHECK].later == 3  # those of the launch, and a last one


def put_check(queues: SqliteQueues, url: str, key: str = "now") -> None:
    """Put a check of an address of the last launch, as if it had not been done."""
    due = launched(queues, "t").due
    assert due is not None
    one = CrawlAddress(url, url, f"t/{due:{LAUNCH_FORM}}")
    queues.put([message_of(one, CHECK, key=f"{key} {url}")])


def test_an_address_that_waits_for_its_host_is_not_launched_again(
    silo: Silo, queues: SqliteQueues
) -> None:
    put_record(silo, "7", "http://a.example/1")
    target(silo)
    launch_due(silo, queues, NOW)
    put_check(queues, "http://a.example/1")
    place = answers_file(silo.path)
    with Answers(place) as answers:
        segments = Segments(index_directory(silo.path))
        assert check_launched(queues, segments, answers) == 0
        assert (queues.sizes()[CHECK].later, queues.sizes()[CRAWL].waiting) == (2, 1)
        put_check(queues, "http://a.example/1", "again")
        assert check_launched(queues, segments, answers, NOW + timedelta(days=31)) == 0
    (dead,) = queues.peek(CHECK, MessageState.DEAD)
    assert dead.reason == "it was not fetched in 30 days"


def test_what_the_end_of_a_run_cuts_short_is_fetched_by_the_next(
    silo: Silo, queues: SqliteQueues, site: Site, crawl: Crawl
) -> None:
    begun, whole = threading.Event(), threading.Event()

    def slowly(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(PDF[:9])
        begun.set()
        whole.wait(20)
        handler.wfile.write(PDF[9:])

    site.pages["/slow.pdf"] = Reply(
        200, slowly, {"Content-Type": "application/pdf", "Content-Length": str(len(PDF))}
    )
    put_record(silo, "7", f"{site.url}/slow.pdf")
    target(silo)
    stop = Stop()
    asking = threading.Thread(target=lambda: (begun.wait(20), stop.ask()))
    asking.start()
    summary = CrawlWorker(silo, queues, QUICK).run(stop)
    asking.join()
    whole.set()
    assert summary.fetched == 0
    assert captures(silo, f"{site.url}/slow.pdf") == []
    assert crawl()["/slow.pdf"][2] == str(len(PDF))
    assert record_at(silo, captures(silo, f"{site.url}/slow.pdf")[0]) == ("response", PDF)


def test_one_process_crawls_and_what_cannot_be_read_is_a_dead_letter(
    silo: Silo, queues: SqliteQueues, crawl: Crawl
) -> None:
    queues.put([Message(CRAWL, b"nonsense")])
    crawl()
    assert queues.sizes()[CRAWL].dead == 1
    locks = Locks(str(Path(silo.path, ".silo", "locks")))
    with locks.hold_name_if_free("crawl") as is_free:
        assert is_free
        with pytest.raises(CrawlRunning, match="running already"):
            crawl()


def test_hosts_without_an_answer_are_in_the_archive(silo: Silo, site: Site, crawl: Crawl) -> None:
    unknown, gone = "http://no-such-host.invalid/", f"{site.url}/gone"
    site.pages["/gone"] = Reply(302, b"", {"Location": "http://localhost:1/x"})
    put_record(silo, "7", unknown, gone)
    target(silo)
    log = crawl()
    for url, status, via, path in (
        (unknown, "-1", "", ""),
        ("http://localhost:1/x", "-2", gone, "R"),
    ):
        place = json.loads(log[url][12])
        capture = {"filename": place["warcFilename"], "offset": place["warcFileOffset"]}
        kind, content = record_at(silo, {**capture, "length": "-1"})
        said = dict(line.split(": ", 1) for line in content.decode().splitlines())
        assert (kind, said["fetchStatus"]) == ("metadata", status)
        assert said["fetchFailure"] == log[url][11].replace("_", " ")
        assert (said.get("via", ""), said.get("hopsFromSeed", "")) == (via, path)
        assert captures(silo, url) == []


@pytest.mark.long
def test_logins_in_links_are_in_no_log_and_their_links_have_outcomes(
    silo: Silo, queues: SqliteQueues, site: Site, crawl: Crawl
) -> None:
    secret = site.url.replace("://", "://user:secret@")
    site.pages |= {
        "/a": Reply(302, b"", {"Location": f"{secret}/b"}),
        "/b": page(f'<a href="{secret}/c.pdf">c</a>'),
        "/c.pdf": pdf(),
    }
    put_record(silo, "7", f"{secret}/a")
    target(silo)
    assert set(crawl()) == {"/a", "/b", "/c.pdf"}
    receipt = match_own_logs(silo).receipt  # type: ignore[union-attr]
    assert receipt.outcomes[LinkOutcome.FULLTEXT] == 1
    queues.close()
    written = [path for path in Path(silo.path, "crawling").rglob("*") if path.is_file()]
    for path in (one for one in written if one.suffix != ".gz"):  # those have what was received
        assert b"secret" not in path.read_bytes(), path


def test_slow_hosts_do_not_hold_up_the_others(
    silo: Silo, site: Site, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("silocrawl.crew.SECONDS_UNTIL_SLOW", 0.2)
    whole = threading.Event()

    def slowly(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(PDF[:9])
        whole.wait(60)
        handler.wfile.write(PDF[9:])

    def last(_headers: dict[str, str]) -> Reply:
        whole.set()
        return page("")

    site.pages |= {"/slow.pdf": Reply(200, slowly), "/last": last}
    slow = f"{site.url.replace('localhost', '127.0.0.1')}/slow.pdf"
    put_record(silo, "7", slow, f"{site.url}/last")
    target(silo)
    log = crawl(replace(QUICK, threads=1))
    assert {url: one[2] for url, one in log.items()} == {
        slow: str(len(PDF)), "/last": str(len(page("").body)),  # type: ignore[arg-type]
    }  # fmt: skip


@pytest.mark.long
def test_a_target_that_cannot_be_read_does_not_hold_up_the_others(
    silo: Silo, queues: SqliteQueues, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    site.pages["/a.pdf"] = pdf()
    put_record(silo, "7", f"{site.url}/a.pdf")
    target(silo)
    queues.close()
    Path(silo.path, "crawling", "targets", "bad.toml").write_text("scope = 7")
    given = [silo.path, "--until-idle", "--private", "--interval", "0"]
    done = CliRunner().invoke(run, given, standalone_mode=False)
    assert done.return_value == ExitCode.LOSSES
    assert "silo: not crawled: the target crawling/targets/bad.toml is invalid: " in done.output
    assert site.asked["/a.pdf"] == 1
    assert crawl_named(silo.path, "own").receipt.outcomes[LinkOutcome.FULLTEXT] == 1
    caplog.clear()
    launched_anew = CliRunner().invoke(launch, [silo.path], standalone_mode=False)
    assert launched_anew.return_value == ExitCode.LOSSES
    assert (launched_anew.stderr.count("is invalid"), caplog.text) == (1, "")


@pytest.mark.long
def test_a_run_says_how_many_addresses_are_not_public(
    silo: Silo, queues: SqliteQueues, site: Site
) -> None:
    site.pages["/a.pdf"] = pdf()
    put_record(silo, "7", f"{site.url}/a.pdf", f"{site.url}/b.pdf")
    target(silo)
    given = [silo.path, "--until-idle", "--interval", "0"]
    done = CliRunner().invoke(run, given, standalone_mode=False)
    assert not site.asked
    assert "silo: 2 addresses are not public; give --private to fetch them\n" in done.stderr
    launch_now(silo, queues, load_target(silo.path, "t"), NOW + timedelta(seconds=1))
    done = CliRunner().invoke(run, [*given, "--private"], standalone_mode=False)
    assert site.asked["/a.pdf"] == 1
    assert "not public" not in done.stderr


@pytest.mark.long
def test_a_run_that_is_interrupted_says_what_it_leaves(
    silo: Silo, queues: SqliteQueues, site: Site
) -> None:
    def interrupting(_headers: dict[str, str]) -> Reply:
        os.kill(os.getpid(), signal.SIGINT)
        return page("")

    site.pages |= dict.fromkeys(("/a", "/b", "/c"), interrupting)
    inject(queues, [f"{site.url}{path}" for path in site.pages], force=False)
    given = [silo.path, "--private", "--interval", "1"]
    done = CliRunner().invoke(run, given, standalone_mode=False)
    assert done.return_value == ExitCode.INTERRUPTED
    left = queues.sizes()[CRAWL].alive
    assert left >= 2
    assert f"{left} addresses wait; run the same command to continue\n" in done.stderr


def test_what_a_removed_target_launched_is_fetched_and_told_once(
    silo: Silo, queues: SqliteQueues, site: Site, crawl: Crawl, caplog: pytest.LogCaptureFixture
) -> None:
    site.pages |= dict.fromkeys(("/a", "/b"), page('<a href="/7.pdf">never followed</a>'))
    put_record(silo, "7", f"{site.url}/a", f"{site.url}/b")
    target(silo)
    launch_due(silo, queues)
    remove_target(silo.path, "t")
    assert sorted(crawl()) == ["/a", "/b"]
    (told,) = [one.getMessage() for one in caplog.records if one.name == "silocrawl"]
    assert told in {
        f"the target t was removed; what waits of it, as {site.url}{path}, is fetched,"
        " but no links of it are followed"
        for path in ("/a", "/b")
    }


@pytest.mark.long
def test_an_address_that_we_refused_keeps_the_outcome_that_it_had(
    silo: Silo, queues: SqliteQueues, site: Site, crawl: Crawl
) -> None:
    site.pages["/robots.txt"] = Reply(200, b"User-agent: *\nDisallow: /a\n")
    put_record(silo, "7", f"{site.url}/a")
    put_record(silo, "8", f"{site.url}/b")
    target(silo)
    crawl()
    time.sleep(1.1)  # lines of a log are told apart by the second
    launch_now(silo, queues, load_target(silo.path, "t"), NOW + timedelta(seconds=1))
    log = crawl(replace(QUICK, is_private=False))
    assert {one[1] for one in log.values()} == {"-5000"}
    kept = match_own_logs(silo)
    assert kept is not None
    assert +Counter(kept.receipt.outcomes) == {LinkOutcome.ROBOTS: 1, LinkOutcome.CLIENT_ERROR: 1}


def test_what_is_injected_is_fetched(
    silo: Silo, queues: SqliteQueues, site: Site, crawl: Crawl
) -> None:
    site.pages["/a"] = page('<a href="/b.pdf">not followed: it has no target</a>')
    inject(queues, [f"{site.url}/a"], force=False)
    assert list(crawl()) == ["/a"]


def test_for_an_address_that_is_not_fetched_nothing_is_asked(
    queues: SqliteQueues, site: Site, crawl: Crawl
) -> None:
    path = "/a" * 21
    inject(queues, [f"{site.url}{path}"], force=False)
    assert crawl()[path][1] == "-5000"
    assert site.asked == Counter()


def held(url: str, number: int = 1) -> HeldMessage:
    return HeldMessage.of(Queued(CRAWL, str(number), "", b"", 1), CrawlAddress(url))


def test_thousands_of_hosts_do_not_need_as_many_open_files(
    silo: Silo, queues: SqliteQueues
) -> None:
    worker = CrawlWorker(silo, queues, replace(QUICK, interval=0.01))
    os.makedirs(os.path.join(silo.path, ".silo"), exist_ok=True)
    for number in range(200):
        worker._turns_of(held(f"http://h{number}.example/")).reserve()
    folder = "/proc/self/fd"
    names = [os.path.realpath(os.path.join(folder, one)) for one in os.listdir(folder)]
    assert sum(name.endswith("hosts.sqlite") for name in names) <= 65


def test_an_error_of_ours_ends_no_thread(silo: Silo, queues: SqliteQueues) -> None:
    def broken(*_: object) -> None:
        raise ValueError

    worker = CrawlWorker(silo, queues, QUICK)
    robots = SimpleNamespace(delay=broken)
    fetch = lambda *_: SimpleNamespace(hold=0.0, is_asked=True)  # noqa: E731
    worker._fetcher = SimpleNamespace(fetch=fetch, robots=robots)  # type: ignore[assignment]
    found = worker._fetched(held("http://a.example/"))
    assert "unexpected" in found.reason  # type: ignore[union-attr]


def test_addresses_of_a_quick_host_beyond_those_held_come_back_soon(
    silo: Silo, queues: SqliteQueues, site: Site, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("silocrawl.running.MOST_HELD", {CRAWL: 30, RENDER: 30})
    monkeypatch.setattr("silocrawl.running.MOST_OF_A_HOST", 10)
    waits, whole = [], queues.give_back

    def give_back(messages: list[Queued], wait: float = 0.0) -> None:
        waits.append(wait)
        whole(messages, wait)

    monkeypatch.setattr(queues, "give_back", give_back)
    inject(queues, [f"{site.url}/{number}" for number in range(50)], force=False)
    assert len(crawl()) == 50
    assert 0 < max(waits) <= 1.0


def test_addresses_that_are_given_back_come_again_when_their_host_needs_them() -> None:
    now = [0.0]
    frontier = Frontier(lambda _held: Pace(2.0, monotonic=lambda: now[0]), lambda: now[0])
    for number in range(100):
        frontier.add(held(f"http://a.example/{number}", number))
    frontier.add(held("http://b.example/", 100))
    (one, ten), (two, next_ten), *_, (last, _) = frontier.surplus(20)
    assert (len(ten), ten[0].address.url) == (10, "http://a.example/20")
    assert (one, two, last, next_ten[0].message.number) == (20.0, 40.0, 160.0, "30")
    assert (len(frontier), frontier.surplus(20)) == (21, [])
    for number in range(200, 400):
        frontier.add(held(f"http://a.example/{number}", number))
    assert frontier.surplus(20)[0][0] == 180.0
    assert frontier.surplus(1)[-1][0] <= 600.0


def test_what_a_killed_process_had_taken_is_not_waited_for(
    silo: Silo, queues: SqliteQueues, site: Site, crawl: Crawl
) -> None:
    site.pages["/a"] = page("")
    inject(queues, [f"{site.url}/a"], force=False)
    (taken,) = queues.take(CRAWL)
    assert (taken.tries, list(crawl())) == (1, ["/a"])


@pytest.mark.long
@pytest.mark.parametrize("kills", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_a_crawl_that_is_killed_again_and_again_has_every_outcome(
    silo: Silo, site: Site, kills: int
) -> None:
    number = 30 * kills // 10
    for one in range(number):
        site.pages[f"/id/{one}"] = Reply(302, b"", {"Location": f"/paper/{one}"})
        site.pages[f"/paper/{one}"] = page(f'<a href="/{one}.pdf">pdf</a>')
        site.pages[f"/{one}.pdf"] = pdf(PDF + str(one).encode())
    put_record(silo, "7", *(f"{site.url}/id/{one}" for one in range(number)))
    target(silo)
    main = "from recordsilo.cli import main; main()"
    command = [sys.executable, "-c", main, "crawl", "run", silo.path, "--until-idle"]
    command += ["--private", "--interval", "0.02", "-q"]
    for _ in range(kills):
        asked = site.asked.total() + random.randint(1, 12)
        process = subprocess.Popen(command)
        end = time.monotonic() + 20
        while site.asked.total() < asked and process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        process.kill()
        process.wait()
    assert subprocess.run(command, check=False, timeout=280).returncode == 0
    (log,) = Path(silo.path, "crawling", "logs").glob("*.log")
    paths = [line.split()[3].removeprefix(site.url) for line in log.read_text().splitlines()]
    wanted = {path for path in site.pages if path != "/robots.txt"}
    assert set(paths) == wanted
    for path in wanted:
        found = captures(silo, site.url + path)
        assert found, path
        assert record_at(silo, found[0])[0] == "response"
    receipt = crawl_named(silo.path, "own").receipt
    assert receipt.outcomes[LinkOutcome.FULLTEXT] == number


def test_a_turn_that_no_thread_was_free_to_use_is_over() -> None:
    now = [0.0]
    pace = Pace(1.0, monotonic=lambda: now[0])  # of both, as processes share it
    late, other = (Frontier(lambda _held: pace, lambda: now[0]) for _ in range(2))
    late.add(held("http://a.example/"))
    now[0] = 5.0
    other.add(held("http://a.example/b"))
    assert isinstance(other.next(), HeldMessage)
    now[0] = 5.1
    assert late.next() == pytest.approx(0.9)
    now[0] = 6.1
    assert isinstance(late.next(), HeldMessage)


def test_a_line_that_a_killed_process_left_is_cut(silo: Silo, site: Site, crawl: Crawl) -> None:
    site.pages["/"] = page("a page")
    target(silo, f"{site.url}/")
    log = Path(log_file(silo.path, launch_name("t", NOW)))
    log.parent.mkdir(parents=True)
    log.write_text("2026-11-24T12:00:00.000Z   200")
    assert set(crawl()) == {"/"}
    assert len(log.read_text().splitlines()) == 1


@pytest.mark.long
def test_outcomes_are_brought_up_to_date_while_a_run_goes_on(
    silo: Silo, queues: SqliteQueues, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("silocrawl.outcomes.SECONDS_BETWEEN_LOOKS", 0.05)
    monkeypatch.setattr("silocrawl.outcomes.SECONDS_OF_QUIET", 0.2)
    site.pages["/a.pdf"] = pdf(PDF)
    put_record(silo, "7", f"{site.url}/a.pdf")
    target(silo)
    matched, stop = list[Kept](), Stop()
    worker = CrawlWorker(silo, queues, QUICK)
    with matching(silo.path, matched.append):
        thread = threading.Thread(target=worker.run, args=(stop,))
        thread.start()
        wait_until(lambda: matched)
        stop.ask()
        thread.join()
    assert matched[0].receipt.outcomes[LinkOutcome.FULLTEXT] == 1
    assert crawl_named(silo.path, "own").matched == matched[-1].matched
