"""The pages of our own crawls: targets, their launches and outcomes, and how the crawls are."""

import gzip
import hashlib
import html
import os
import re
import struct
import subprocess
import sys
import threading
import zlib
from base64 import b32encode
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from crawlmatch.crawls import match_into_silo
from crawlmatch.matching import MatchRequest
from crawlmatch.outcomes import OWN
from oaipmhprovider.sample.pdf import pdf_of
from politeweb.file_pace import FilePace
from politeweb.warc.pairs import resource_record
from recordsilo import Silo
from recordsilo.extras import PackageMissing
from recordsilo.index import SearchFilters
from recordsilo.selection import Selection
from silocrawl.addresses import PICTURE
from silocrawl.answers import Answers
from silocrawl.cdxj import Segments
from silocrawl.cdxj import line_of as index_line
from silocrawl.comparisons import Comparison, keep
from silocrawl.crawl_log import CrawlOutcome, line_of
from silocrawl.history import MOST_READ, failures_in
from silocrawl.launching import inject, launch_now
from silocrawl.messages import CRAWL
from silocrawl.paths import (
    answers_file,
    archives_directory,
    comparison_directory,
    index_directory,
    log_file,
    queues_file,
    replay_file,
)
from silocrawl.proposals import Documents, Proposal, ProposalState, Reason
from silocrawl.record_panel import MOST_PICTURES, replay_address
from silocrawl.scope import Scope, ScopeKind
from silocrawl.screenshots import MOST_BYTES
from silocrawl.targets import (
    CrawlTarget,
    Limits,
    add_target,
    change_target,
    load_target,
    target_names,
)
from silocrawl.wishes import timetable_wished
from silowork.queues.sqlite import SqliteQueues
from tests.webui.test_browser import WCAG, fits, is_accessible
from webui.contributed import offered_for_search
from webui.crawling import proposals as proposals_page
from webui.crawling.targets import DONE
from webui.people.roles import Role, User

from .conftest import SET

PLAIN, LINK = "oai:example.org:1", "https://example.org/1/?a=1&b=2"
MADE = datetime(2026, 3, 1, 2, 30, tzinfo=UTC)
MONTHLY = timetable_wished("monthly", "2026-03-01T02:30", "", "Europe/London")
ALL = CrawlTarget("links", MONTHLY, agent="a.curator", made=MADE)
PAGE = CrawlTarget("reports", MONTHLY, "https://example.org/r/", title="Réports <b>", made=MADE)
LAUNCH = "links/20260301T023000Z"


@pytest.fixture
def targets(silo: Silo) -> Silo:
    """A target of all links, one of an address, and one that cannot be read."""
    for one in (ALL, PAGE):
        add_target(silo.path, one)
    Path(silo.path, "crawling", "targets", "broken.toml").write_text("limits = 3")
    return silo


def write_log(silo: Silo, *lines: tuple[str, int, str], launch: str = LAUNCH) -> Path:
    """A crawl log with an address, a status and annotations on each line."""
    path = Path(log_file(silo.path, launch))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for url, status, notes in lines:
            one = CrawlOutcome("20260301023100", url, status, annotations=(notes,) if notes else ())
            file.write(line_of(one, MADE, 1.0))
    return path


# --------------------------------------------------------------------------- targets


def test_without_targets_the_page_says_how_to_begin(client: Any) -> None:
    page = client.get("/crawling/targets").text
    assert "No targets yet" in page
    assert 'href="/crawling/add"' in page
    assert client.json("/crawling/targets") == {"targets": [], "problems": [], "next": None}


def test_an_address_becomes_a_target(client: Any, silo: Silo) -> None:
    form = client.get("/crawling/add").text
    assert '<option value="monthly" selected>Every month</option>' in form
    sent = {"url": "https://example.org/reports/", "title": "Reports of the library",
            "frequency": "quarterly", "start": "2026-12-31T02:30", "end": "2027-12-31T00:00",
            "zone": "Europe/London", "scope": "path", "plus_one": "yes", "render": "yes",
            "pages": "20k", "bytes": "2G", "hours": "48", "hops": "5",
            "ignore": "*/calendar/*\r\n\r\n*.mp4"}  # fmt: skip
    answer = client.post("/crawling/targets", sent, accept="text/html")
    assert (answer.status, answer.headers["Location"]) == (
        303, "/crawling/targets/reports-of-the-library?done=add",
    )  # fmt: skip
    made = load_target(silo.path, "reports-of-the-library")
    assert (made.url, made.title, made.agent) == (sent["url"], sent["title"], "a.curator")
    assert made.scope == Scope(ScopeKind.PATH, plus_one=True, ignore=("*/calendar/*", "*.mp4"))
    assert made.is_rendered
    assert made.limits == Limits(20_000, 2 * 10**9, 48 * 3600, 5)
    assert (made.when.months, made.when.days) == ((3, 6, 9, 12), (31,))
    assert made.when.end == datetime(2027, 12, 31, tzinfo=UTC)
    page = client.get(answer.headers["Location"]).text
    for said in ("Target added.", "Every three months", "What is below its directory",
                 "At most 20,000 addresses, 2 GB and 2 days in a launch, "):  # fmt: skip
        assert said in page
    again = client.post("/crawling/targets", sent)
    assert (again.status, again.json["name"]) == (201, "reports-of-the-library-2")


def test_the_current_search_becomes_a_target_that_follows_it(client: Any, silo: Silo) -> None:
    results = client.get("/search?q=keeping&curated=false").text
    assert 'href="/crawling/add/records?q=keeping&amp;curated=false">Crawl their links' in results
    form = client.get("/crawling/add/records?q=keeping&curated=false")
    assert "1 record found" in form.text
    assert '<input type="hidden" name="search" value="q=keeping&amp;curated=false">' in form.text
    client.post("/crawling/targets", {"search": "q=keeping&curated=false"})
    (name,) = target_names(silo.path)
    made = load_target(silo.path, name)
    assert made.select == Selection("keeping", SearchFilters({"curated": False}))
    assert client.json("/crawling/add/records")["said"] == "All 60 records of this Silo"
    assert client.post("/crawling/targets", {"search": ""}).json == {"name": "links"}
    of_set = client.post("/crawling/targets", {"search": f"set={SET}"}).json
    assert of_set == {"name": "set-status-published-read"}  # not by its hexadecimal setSpec


@pytest.mark.parametrize(
    ("sent", "field", "said"),
    [
        ({"url": ""}, "url", "Give the address of a target"),
        ({"url": "ftp://example.org/"}, "url", "is not an address of http or https"),
        ({"url": "https://user:secret@example.org/"}, "url", "without a login"),
        ({"url": "http://[::1"}, "url", "cannot be fetched"),
        ({"title": "x" * 501}, "title", "at most 500"),
        ({"frequency": "hourly"}, "frequency", "Choose how often"),
        ({"start": "soon"}, "start", "is not a date"),
        ({"end": "31/12/2027"}, "end", "is not a date"),
        ({"zone": "Mars/Olympus"}, "zone", "is not the name of a time zone"),
        ({"scope": "everything"}, "scope", "The scope is one of page"),
        ({"pages": "many"}, "pages", "is not a number"),
        ({"hops": "0"}, "hops", "is at least 1"),
        ({"hours": "0"}, "hours", "is at least 1"),
        ({"ignore": "x" * 2084}, "ignore", "a pattern has 1 to 2,083"),
        ({"ignore": "x\n" * 101}, "ignore", "ignores at most 100"),
    ],
)
def test_a_mistake_is_told_beside_its_field_and_stores_nothing(
    client: Any, silo: Silo, sent: dict[str, str], field: str, said: str
) -> None:
    from_form = {"Referer": f"http://127.0.0.1:{client.port}/crawling/add"}
    given = {"url": "https://example.org/", "title": "Kept as typed", "hops": "7", **sent}
    answer = client.post("/crawling/targets", given, accept="text/html", headers=from_form)
    assert answer.status == 400
    assert said.lower() in answer.text.lower()
    assert f'id="{field}-fault"' in answer.text
    assert 'name="hops" value="7"' in answer.text or field == "hops"
    assert target_names(silo.path) == []


def test_a_search_that_cannot_be_is_no_target(client: Any, silo: Silo) -> None:
    for search in ("nonsense=1", "since=yesterday", "saved=none"):
        assert client.post("/crawling/targets", {"search": search}).status in {400, 404}
    assert target_names(silo.path) == []


def test_the_list_has_each_target_and_names_what_cannot_be_read(client: Any, targets: Silo) -> None:
    found = client.json("/crawling/targets")
    assert [one["name"] for one in found["targets"]] == ["links", "reports"]
    assert found["problems"] == [
        "The target crawling/targets/broken.toml is invalid: limits is not a table."
    ]
    change_target(targets.path, "reports", watched="../reports-silo")
    assert "../reports-silo" in client.get("/crawling/targets/reports").text
    page = client.get("/crawling/targets").text
    assert ">Réports &lt;b&gt;</a>" in page
    assert "due now" in page
    assert "3 targets" in page


def test_long_lists_of_targets_have_pages(
    client: Any, targets: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webui.crawling.targets.LISTED", 2)
    first = client.json("/crawling/targets")
    assert ([one["name"] for one in first["targets"]], len(first["problems"])) == (["links"], 1)
    assert first["next"] == "/crawling/targets?start=2"
    second = client.get(first["next"]).text
    assert 'rel="prev" href="/crawling/targets"' in second
    assert "/crawling/targets/reports" in second
    assert client.get("/crawling/targets?start=x").status == 400


def test_a_target_is_changed_where_it_was_changed_in_the_form(client: Any, targets: Silo) -> None:
    url = "/crawling/targets/links"
    done = client.post(f"{url}/change", {"title": "All", "scope": "page", "bytes": "5M"})
    assert done.json == {"name": "links", "done": "change"}
    one = load_target(targets.path, "links")
    assert (one.title, one.scope.kind, one.limits.bytes) == ("All", ScopeKind.PAGE, 5_000_000)
    assert (one.when, one.made, one.agent, one.limits.hops) == (MONTHLY, MADE, ALL.agent, 20)

    assert client.post(f"{url}/pause", {}).status == 200
    client.post(f"{url}/change", {"frequency": "annual"})
    when = load_target(targets.path, "links").when
    assert (when.is_paused, when.days, when.months, when.zone) == (True, (1,), (3,), MONTHLY.zone)
    assert "paused" in client.get(url).text
    client.post(f"{url}/resume", {})
    assert not load_target(targets.path, "links").when.is_paused
    assert client.post(f"{url}/change", {"frequency": "never"}).status == 400
    assert client.post(f"{url}/explode", {}).status == 404
    assert client.post("/crawling/targets/none/pause", {}).status == 404
    assert client.post(f"{url}/remove", {}).status == 200
    assert client.get(url).status == 404
    log = client.get("/activity/log.csv").text
    assert [f"{one} crawl target" in log for one in ("pause", "change", "resume", "remove")] == [
        True, True, True, True,
    ]  # fmt: skip


def test_a_timetable_that_no_frequency_is_stays_as_it_is(client: Any, targets: Silo) -> None:
    before = replace(MONTHLY, days=(), weekdays=(0, 3))
    change_target(targets.path, "links", when=before)
    page = client.get("/crawling/targets/links").text
    assert '<option value="same" selected>Every Monday, Every Thursday at 02:30' in page
    client.post("/crawling/targets/links/change", {"title": "x", "frequency": "same"})
    assert load_target(targets.path, "links").when == before


def test_a_target_that_cannot_be_read_is_told_in_a_sentence(client: Any, targets: Silo) -> None:
    answer = client.get("/crawling/targets/broken")
    assert (answer.status, "is invalid" in answer.text) == (400, True)
    for name in ("none", "..", "%2e%2e%2fx", "a%00b"):
        assert client.get(f"/crawling/targets/{name}").status == 404


# --------------------------------------------------------------------------- what became of it


@pytest.fixture
def crawled(targets: Silo) -> Silo:
    """A launch of all links: one that was found, some failures; matched as the crawl `own`."""
    log = write_log(
        targets,
        (LINK, 404, ""),
        ("https://b.example/", -9998, "robots.txt"),
        ("https://c.example/a", -5000, "pageLimit"),
        ("https://d.example/", -1, "no address for d.example"),
        ("https://e.example/", 200, ""),
        ("https://f.example/", 200, "midFetchTrunc"),
        ("https://g.example/Truncated", 301, ""),
        ("https://h.example/", 200, "notRendered"),
    )
    seeds = ((LINK, PLAIN), ("https://doi.org/10.1234/abc.5", PLAIN), (PAGE.url, ""))
    match_into_silo(targets.path, OWN, MatchRequest([str(log)], seed_rows=seeds))
    with Answers(answers_file(targets.path)) as answers:
        answers.keep([], [(LAUNCH, LINK, 100), (LAUNCH, "https://x/", 23)], [])
    return targets


def test_outcomes_lead_to_the_records_that_have_them(client: Any, crawled: Silo) -> None:
    found = client.json("/crawling/targets/links")
    assert {one["outcome"]: one["records"] for one in found["outcomes"]} == {
        "http-4xx": 1, "not-attempted": 1,
    }  # fmt: skip
    for one in found["outcomes"]:
        assert len(client.json(one["url"])["records"]) == one["records"]
    assert found["launches"] == [{"due": "2026-03-01T02:30:00Z", "pages": 2, "bytes": 123}]
    page = client.get("/crawling/targets/links").text
    assert "/failures?launch=20260301T023000Z" in page
    fetched_later = "Nothing to do; the crawl fetches it when its target is due"
    assert fetched_later in page
    assert fetched_later in client.get(f"/crawls/{OWN}").text
    (of_page,) = client.json("/crawling/targets/reports")["outcomes"]
    assert (of_page["outcome"], of_page["url"]) == ("not-attempted", "")


def test_outcomes_of_listed_records_and_of_a_search_for_an_outcome(
    client: Any, crawled: Silo
) -> None:
    add_target(crawled.path, CrawlTarget("one", MONTHLY, select=Selection(identifiers=(PLAIN,))))
    retried = SearchFilters(values={"link_outcome": ("http-4xx",)})
    add_target(crawled.path, CrawlTarget("again", MONTHLY, select=Selection("", retried)))
    for name, outcomes in (("one", ["http-4xx", "not-attempted"]), ("again", ["http-4xx"])):
        found = client.json(f"/crawling/targets/{name}")
        assert sorted(one["outcome"] for one in found["outcomes"]) == outcomes
        assert found["records"] == 1


def test_full_texts_say_what_became_of_the_documents(
    client: Any, targets: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "The document was attached, rejected, or waits under “Proposed documents”"
    match_into_silo(
        targets.path, OWN, MatchRequest([_fetched(targets)], seed_rows=((LINK, PLAIN),))
    )
    assert said in client.get("/crawling/targets/links").text
    numbers = {ProposalState.ATTACHED: 21, ProposalState.PROPOSED: 1}
    monkeypatch.setattr("webui.crawling.targets.document_counts", lambda _path: numbers)
    page = client.get("/crawling/targets/links").text
    assert said not in page
    assert "In this Silo, 21 documents are attached, 1 waits under “Proposed documents”" in page


def _fetched(silo: Silo) -> str:
    """A log in which the link led to a document."""
    fields = "200 5143 {} - - application/pdf #000 20260301023000000+1 sha1:{} - {{}}"
    line = fields.format(LINK, "A" * 32)
    log = Path(silo.path).parent / "fetched.log"
    log.write_text(f"2026-03-01T02:30:00.000Z {line}\n")
    return str(log)


def test_seeds_have_their_outcomes_page_by_page(
    client: Any, crawled: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = client.json("/crawling/targets/links/seeds")["rows"]
    assert [LINK, PLAIN, "Page not found"] in rows
    assert client.json("/crawling/targets/reports/seeds")["rows"] == [[PAGE.url, "", ""]]
    monkeypatch.setattr("webui.crawling.lists.RECORDS", 7)
    names = (
        "oai:example.org:101",
        "gone",
        PLAIN,
        *(f"oai:example.org:{n}" for n in range(110, 120)),
    )
    add_target(crawled.path, CrawlTarget("some", MONTHLY, select=Selection(identifiers=names)))
    for name, pages in (("links", 9), ("some", 2)):
        url, found, seen = f"/crawling/targets/{name}/seeds", [], 0
        while url:
            page = client.json(url)
            found += page["rows"]
            url, seen = page["next"], seen + 1
        assert (seen, next(row for row in found if row[1] == PLAIN)) == (
            pages,
            [LINK, PLAIN, "Page not found"],
        )
    assert client.get("/crawling/targets/some/seeds?after=x").status == 400
    assert client.get("/crawling/targets/links/seeds?after=x").status == 400


def test_failures_and_what_was_skipped_are_in_one_list_with_reasons(
    client: Any, crawled: Silo
) -> None:
    url = "/crawling/targets/links/failures?launch=20260301T023000Z"
    rows = client.json(url)["rows"]
    assert [(row[0], row[1]) for row in rows] == [
        (LINK, "Not Found (404)"),
        ("https://b.example/", "excluded by robots.txt (-9998)"),
        ("https://c.example/a", "the limit of addresses was reached (-5000)"),
        ("https://d.example/", "unknown host (-1): no address for d.example"),
        ("https://f.example/", "only its beginning was kept: the body broke off"),
        ("https://h.example/", "no browser could show it; its HTML was kept"),
    ]
    assert client.get(url).text.count("<tr>") == 7
    assert client.json("/crawling/targets/links/failures?launch=20270101T000000Z")["rows"] == []
    for wrong in ("", "?launch=x", "?launch=../../x", "?launch=20260301T023000Z&from=-1"):
        assert client.get(f"/crawling/targets/links/failures{wrong}").status == 400


def test_failures_are_read_piece_by_piece(silo: Silo, monkeypatch: pytest.MonkeyPatch) -> None:
    urls = [f"https://a.example/{number}" for number in range(25)]
    path = write_log(silo, *((url, 404 if n % 2 else 200, "") for n, url in enumerate(urls)))
    with path.open("a") as file:
        file.write("2026-03-01T02:31:00.000Z   404          - https://being.written/")
    for most_read, pages in ((MOST_READ, range(3, 5)), (400, range(5, 30))):
        monkeypatch.setattr("silocrawl.history.MOST_READ", most_read)
        found, place, seen = [], 0, 0
        while place is not None:
            page = failures_in(silo.path, LAUNCH, place, 5)
            found += [one.url for one in page.failures]
            place, seen = page.following, seen + 1
        assert (found, seen in pages) == (urls[1::2], True)
    middle = failures_in(silo.path, LAUNCH, 7, 1).failures  # no place where a line begins
    assert [one.url for one in middle] == [urls[1]]


def test_lines_that_are_no_lines_of_a_log_are_left_out(client: Any, targets: Silo) -> None:
    path = write_log(targets, ("https://a.example/", 404, "</td><script>"))
    path.write_bytes(b"\xff\xfe\n\n" + b"x" * 40 + b"\n" + path.read_bytes() + b"2026 404\n")
    url = "/crawling/targets/links/failures?launch=20260301T023000Z"
    assert [row[0] for row in client.json(url)["rows"]] == ["https://a.example/"]
    assert "<script>&" not in client.get(url).text


# --------------------------------------------------------------------------- how the crawls are


@pytest.fixture
def queued(targets: Silo) -> Silo:
    """Launched links, three failed messages of which one is not JSON, and a host that rests."""
    os.makedirs(os.path.join(targets.path, ".silo"), exist_ok=True)
    FilePace(os.path.join(targets.path, ".silo"), "slow.example", 1.0).hold(600)
    with SqliteQueues(queues_file(targets.path)) as queues:
        inject(queues, [f"http://a.example/{name}" for name in "ab"], force=False)
        queues.failed(queues.take(CRAWL, 2), "the disk <b> refused", None)
        launch_now(targets, queues, ALL)
    return targets


def test_status_says_what_the_command_says(client: Any, queued: Silo) -> None:
    found = client.json("/crawling/status")
    told = found["conditions"]["messages"]
    assert told.pop("advice").startswith("see silo crawl queue dead DIR uris-to-crawl")
    assert told == {"state": "alert", "said": "2 of uris-to-crawl failed too often", "figures": {}}
    assert found["conditions"]["targets"]["state"] == "alert"
    assert found["overdue"] == ["reports"]
    assert found["queues"][CRAWL]["dead"] == 2
    assert [one["host"] for one in found["resting"]] == ["slow.example"]
    page = client.get("/crawling/status").text
    assert '<a href="/crawling/dead/uris-to-crawl">2</a>' in page
    assert '<span class="badge deleted">alert</span>' in page
    assert queued.path not in page


def test_without_a_launch_all_is_well(client: Any, silo: Silo) -> None:
    found = client.json("/crawling/status")
    assert {one["state"] for name, one in found["conditions"].items() if name != "disk"} == {"good"}
    assert client.json("/crawling/dead/uris-to-crawl") == {"letters": [], "next": None}
    assert client.post("/crawling/dead/uris-to-crawl", {}).json["revived"] == 0
    assert not os.path.exists(queues_file(silo.path))


def test_failed_messages_are_tried_again_one_or_all(
    client: Any, queued: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "/crawling/dead/uris-to-crawl"
    monkeypatch.setattr("webui.crawling.status.LISTED", 1)
    first = client.json(url)
    second = client.json(first["next"])
    letters = first["letters"] + second["letters"]
    assert [one["url"] for one in letters] == ["http://a.example/a", "http://a.example/b"]
    assert second["next"] is None
    page = client.get(url).text
    assert "the disk &lt;b&gt; refused" in page
    assert 'aria-label="Retry http://a.example/a"' in page
    answer = client.post(url, {"number": letters[0]["number"]}, accept="text/html")
    assert "1 message is tried again." in client.get(answer.headers["Location"]).text
    assert client.post(url, {"number": letters[0]["number"]}).json["revived"] == 0
    assert client.post(url, {}).json == {"queue": CRAWL, "revived": 1}
    for wrong in ("-1", "²", "x", "9" * 30):
        assert client.post(url, {"number": wrong}).status == 400
    for wrong in ("x", "1-", "nan-1", "1e999-9", "1-9e9", "1-%C2%B2"):
        assert client.get(f"{url}?after={wrong}").status == 400
    assert client.get("/crawling/dead/jobs").status == 404


def test_metrics_have_the_same_figures(client: Any, queued: Silo) -> None:
    answer = client.get("/crawling/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    for line in ('silo_crawl_state{what="messages"} 2', "silo_crawl_launches_overdue 1",
                 'silo_crawl_messages{queue="uris-to-crawl",state="dead"} 2',
                 "silo_crawl_hosts_resting 1", "silo_crawl_targets 2"):  # fmt: skip
        assert line in lines


def test_a_file_of_queues_that_is_damaged_is_told(client: Any, queued: Silo) -> None:
    Path(queues_file(queued.path)).write_bytes(b"no database" * 999)
    for path in ("targets", "targets/links", "dead/uris-to-crawl"):
        answer = client.get(f"/crawling/{path}")
        assert (answer.status, queued.path in answer.text) == (500, False)
    assert "Traceback" not in answer.text
    found = client.json("/crawling/status")["conditions"]["queue"]
    assert (found["state"], "cannot be used" in found["said"]) == ("alert", True)
    assert queued.path not in client.get("/crawling/status").text
    assert 'silo_crawl_state{what="queue"} 2' in client.get("/crawling/metrics").text


# --------------------------------------------------------------------------- of a record


def test_the_page_of_a_record_has_its_captures(client: Any, silo: Silo) -> None:
    record = "/records/oai+example,org+1"
    assert "Captures" not in client.get(record).text
    again = CrawlOutcome(
        "20260401023000", LINK, 200, "text/html", "sha1:A", annotations=("duplicate:digest",)
    )
    Segments(index_directory(silo.path)).add([
        index_line(CrawlOutcome("20260301023000", LINK, 200, "text/html", "sha1:A"), 9),
        index_line(again, 9),
        index_line(CrawlOutcome("20260501023000", LINK, 302, redirect="https://b.example/"), 9),
        index_line(CrawlOutcome("20260301023001", f"{PICTURE}{LINK}", 200, "image/png"), 9),
        index_line(
            CrawlOutcome("20260301023001", "https://example.org/other", 200, "text/html"), 9),
    ])  # fmt: skip
    page = client.get(record).text
    panel = page[page.index('id="panel-captures"') :]
    for said in ("1 May 2026, 02:30 UTC", "302 to https://b.example/", "unchanged", "screenshot",
                 "silo crawl replay"):  # fmt: skip
        assert said in panel, said
    assert panel.count(">screenshot<") == 1
    shown = f"{PICTURE}https://b.example/"
    Segments(index_directory(silo.path)).add([
        index_line(CrawlOutcome("20260501023001", "https://b.example/", 200, "text/html"), 9),
        index_line(CrawlOutcome("20260501023001", shown, 200, "image/png"), 9),
    ])  # fmt: skip
    page = client.get(record).text
    panel = page[page.index('id="panel-captures"') :]
    assert panel.count(">screenshot<") == 2, "of the page that the link leads to"
    Path(replay_file(silo.path)).write_text('address = "https://wayback.example/own"\n')
    page = client.get(record).text
    for seen in ("20260301023000/https://example.org/1/", "20260301023001mp_/urn:fullPage:https"):
        assert f"https://wayback.example/own/{seen}" in page


# --------------------------------------------------------------------------- screenshots


def screenshot_png(width: int, height: int) -> bytes:
    """A PNG as a browser makes it: red on its first 400 rows, white below."""
    made = BytesIO()
    image = Image.new("RGB", (width, height), "white")
    image.paste((200, 0, 0), (0, 0, width, min(height, 400)))
    image.save(made, "PNG")
    return made.getvalue()


Kept = Callable[..., str]


@pytest.fixture
def keep_screenshot(silo: Silo) -> Kept:
    """Archive a screenshot as a crawl does; gives its address on the page."""

    def keep(
        content: bytes, moment: str = "20260301023001", page: str = LINK, mime: str = "image/png"
    ) -> str:
        path = Path(archives_directory(silo.path), f"{moment}.warc.gz")
        path.parent.mkdir(parents=True, exist_ok=True)
        begun = datetime.strptime(moment, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        url = f"{PICTURE}{page}"
        path.write_bytes(b"".join(resource_record(url, mime, content, begun)))
        shown = CrawlOutcome(moment, url, 200, mime, warc_filename=path.name, warc_offset=0)
        Segments(index_directory(silo.path)).add([index_line(shown, -1)])
        return f"/crawling/screenshot.png?{urlencode({'url': page, 'at': moment})}"

    return keep


def test_the_captures_of_a_record_show_their_screenshots(
    client: Any, silo: Silo, keep_screenshot: Kept
) -> None:
    for month in range(1, 7):
        keep_screenshot(screenshot_png(1280, 3000), f"20260{month}01023001")
    page = client.get("/records/oai+example,org+1").text
    panel = page[page.index('id="panel-captures"') :].partition("</section>")[0]
    pictures = re.findall(r'<img src="([^"]+)" alt="([^"]+)"', panel)
    assert len(pictures) == MOST_PICTURES
    first = {html.unescape(one) for one in pictures[0]}
    whole = f"/crawling/screenshot.png?{urlencode({'url': LINK, 'at': '20260601023001'})}"
    assert first == {
        f"{whole}&small=yes", f"{LINK} on 1 Jun 2026, 02:30 UTC, as a browser showed it.",
    }  # fmt: skip
    assert f'<a href="{html.escape(whole)}"><img' in panel
    said = client.ask("GET", "/records/oai+example,org+1", headers={"Accept-Language": "de"})
    assert "wie ein Browser es zeigte." in said.text


def test_a_screenshot_is_sent_whole_and_small(
    client: Any, silo: Silo, keep_screenshot: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = screenshot_png(1280, 3000)
    url = keep_screenshot(whole)
    for answer in (client.get(url), client.get(f"{url}&small=yes")):
        assert (answer.status, answer.headers["Content-Type"]) == (200, "image/png")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert client.get(url).body == whole
    small = client.get(f"{url}&small=yes").body
    shown = Image.open(BytesIO(small)).convert("RGB")
    assert shown.size == (480, 360)
    assert shown.getpixel((5, 5)) == (200, 0, 0)
    assert shown.getpixel((5, 350)) == (255, 255, 255)
    monkeypatch.setattr("webui.crawling.screenshots.top_of", None)
    assert client.get(f"{url}&small=yes").body == small, "it is kept"


def test_without_pillow_a_small_screenshot_is_the_whole_one(
    client: Any, keep_screenshot: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = PackageMissing("small pictures", "pillow", "render")
    monkeypatch.setattr("silocrawl.screenshots.lacking", lambda *_: missing)
    whole = screenshot_png(1280, 900)
    url = keep_screenshot(whole)
    assert client.get(f"{url}&small=yes").body == whole

    monkeypatch.undo()
    assert len(client.get(f"{url}&small=yes").body) < len(whole), "it was not kept"


def test_a_small_screenshot_is_made_again_after_its_process_was_killed(
    client: Any, keep_screenshot: Kept, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    url = f"{keep_screenshot(screenshot_png(1280, 900))}&small=yes"
    killed = tmp_path / "killed.py"
    killed.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ntime.sleep(60)\n")
    for child in (killed, slow):
        with monkeypatch.context() as patch:
            patch.setattr("silocrawl.limited_child.__file__", str(child))
            patch.setattr("silocrawl.limited_process.SECONDS", 0.2 if child is slow else 60.0)
            assert client.get(url).status == 404
    assert client.get(url).status == 200


def test_a_screenshot_that_cannot_be_read_is_tried_once(
    client: Any, keep_screenshot: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = bytearray(screenshot_png(640, 480))
    damaged[60:90] = b"x" * 30
    url = f"{keep_screenshot(bytes(damaged))}&small=yes"
    assert client.get(url).status == 404
    monkeypatch.setattr("webui.crawling.screenshots.top_of", None)
    assert client.get(url).status == 404


def huge_png() -> bytes:
    """A PNG of 10^10 pixels in some bytes."""
    small = screenshot_png(8, 8)
    head = small[:16] + struct.pack(">II", 100_000, 100_000) + small[24:29]
    return head + struct.pack(">I", zlib.crc32(head[12:29])) + small[33:]


@pytest.mark.parametrize("part", ["", "&small=yes"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<script>alert(1)</script>",
        b"GIF89a" + b"\0" * 99,
        screenshot_png(640, 480)[:-9],
        b"\x89PNG\r\n\x1a\n<script>alert(1)</script>IEND\xaeB`\x82",
        huge_png(),
        screenshot_png(8, 8)[:-12] + b"\0" * MOST_BYTES + b"IEND\xaeB`\x82",
    ],
    ids=["empty", "script", "gif", "cut", "odd", "many pixels", "many bytes"],
)
def test_what_is_no_screenshot_is_not_sent(
    client: Any, keep_screenshot: Kept, content: bytes, part: str
) -> None:
    answer = client.get(keep_screenshot(content) + part)
    assert (answer.status, b"alert(1)" in answer.body) == (404, False)


def test_a_damaged_screenshot_has_no_small_one(client: Any, keep_screenshot: Kept) -> None:
    whole = bytearray(screenshot_png(640, 480))
    whole[60:90] = b"x" * 30
    assert client.get(f"{keep_screenshot(bytes(whole))}&small=yes").status == 404


def test_only_screenshots_of_the_index_are_sent(
    client: Any, silo: Silo, keep_screenshot: Kept
) -> None:
    url = keep_screenshot(screenshot_png(8, 8))
    for asked in ("", "?url=&at=", "?url=%00&at=1", f"?url={'x' * 5000}&at=20260301023001",
                  "?url=http%3A%2F%2F%5B&at=20260301023001", "?at=20260301023001&url=x",
                  f"?url={quote(LINK, safe='')}&at=20260301023002"):  # fmt: skip
        assert client.get(f"/crawling/screenshot.png{asked}").status in {400, 404}, asked
    archive = Path(archives_directory(silo.path), "20260301023001.warc.gz")
    archive.write_bytes(b"".join(resource_record("urn:other", "image/png", b"x", MADE)))
    assert client.get(url).status == 404
    archive.unlink()
    for make in (lambda: None, archive.mkdir, lambda: os.mkfifo(archive)):
        make()
        answer = client.get(url)
        assert (answer.status, silo.path in answer.text) == (404, False)
        if archive.is_dir():
            archive.rmdir()


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.parametrize(("scheme", "width"), [("light", 320), ("dark", 1280)])
def test_screenshots_are_seen_by_everybody(
    open_page: Callable[..., Page], keep_screenshot: Kept, scheme: str, width: int
) -> None:
    for month in range(1, 4):
        keep_screenshot(screenshot_png(1280, 3000), f"20260{month}01023001")
    page = open_page("/", color_scheme=scheme, viewport={"width": width, "height": 800})
    page.goto("/records/oai+example,org+1")
    pictures = page.locator(".shots img")
    pictures.first.scroll_into_view_if_needed()
    expect(pictures.first).to_have_js_property("naturalWidth", 480)
    shapes = pictures.evaluate_all("all => all.map(i => [i.clientWidth, i.clientHeight])")
    assert {round(wide / high, 1) for wide, high in shapes} == {1.3}
    fits(page, "record")
    is_accessible(page, "record", WCAG)


@pytest.mark.parametrize(
    "said", ["", "address = 3", 'address = "javascript:alert(1)//"', 'address = "https://"', "]["]
)
def test_an_address_of_replay_that_is_none_is_left_out(silo: Silo, said: str) -> None:
    Path(replay_file(silo.path)).parent.mkdir(parents=True)
    Path(replay_file(silo.path)).write_text(said)
    assert replay_address(silo.path) == ""


def test_only_who_may_add_a_target_is_offered_it(silo: Silo) -> None:
    labels = {
        role: [one.label for one in offered_for_search(User("x", role))]
        for role in (Role.VIEWER, Role.CURATOR)
    }
    assert labels == {Role.VIEWER: [], Role.CURATOR: ["Crawl their links", "Reconcile"]}


# --------------------------------------------------------------------------- proposed documents


def archived(silo: Silo, url: str, kind: str, body: bytes) -> str:
    """Archive an answer, and index it; returns the digest of its body."""
    directory = Path(archives_directory(silo.path))
    directory.mkdir(parents=True, exist_ok=True)
    digest = b32encode(hashlib.sha1(body).digest()).decode()
    content = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode() + body
    head = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:{digest}>\r\n"
        f"WARC-Date: 2026-03-01T02:30:00Z\r\nWARC-Target-URI: {url}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(content)}\r\n"
    )
    with (directory / "made.warc.gz").open("ab") as file:
        place = file.tell()
        file.write(gzip.compress(head.encode() + b"\r\n" + content + b"\r\n\r\n"))
    one = CrawlOutcome("20260301023000", url, 200, kind, f"sha1:{digest}",
                  warc_filename="made.warc.gz", warc_offset=place)  # fmt: skip
    Segments(index_directory(silo.path)).add([index_line(one, 99)])
    return digest


@pytest.fixture
def proposed(silo: Silo) -> Silo:
    """A PDF and a text for a record, and the page that links to them, in the archive."""
    landing = "https://example.org/landing/"
    page = b"<html><head><title>\n On keeping &lt;b&gt; </title></head></html>"
    archived(silo, landing, "text/html", page)
    with Documents(silo.path) as documents:
        for url, kind, body in (
            ("https://example.org/paper.pdf", "application/pdf", pdf_of("On keeping")),
            ("https://example.org/paper.ps", "application/postscript", b"%!PS"),
        ):
            digest = archived(silo, url, kind, body)
            documents.keep(Proposal(
                PLAIN, url, digest, "20260301023000", kind, Reason.SEVERAL_DOIS, seed=LINK,
                landing=landing, score=71.4, doi="10.1234/abc.5 10.1/x",
            ))  # fmt: skip
    return silo


def test_a_document_is_shown_beside_its_record_with_the_reason(client: Any, proposed: Silo) -> None:
    page = client.get("/crawling/proposals").text
    for said in ("2 wait for a decision", "On the keeping of records", "On keeping &lt;b&gt;",
                 "https://example.org/landing/", "https://example.org/paper.pdf", "71 of 100",
                 "10.1234/abc.5 10.1/x", "and others.",
                 'src="/crawling/proposals/1/first-page.png"'):  # fmt: skip
        assert said in page
    assert client.json("/crawling/proposals")["proposal"]["number"] == 1
    second = client.get("/crawling/proposals?after=1").text
    assert "It is not a PDF" in second
    assert "first-page.png" not in second
    last = client.get("/crawling/proposals?after=2").text
    assert "No more after this one" in last
    assert 'href="/crawling/proposals">First page' in last
    assert client.get("/crawling/proposals?after=x").status == 400


def test_documents_are_attached_and_rejected_by_buttons(client: Any, proposed: Silo) -> None:
    url = "/crawling/proposals"
    assert client.post(f"{url}/1/burn", {}).status == 404
    answer = client.post(f"{url}/1/attach", {}, accept="text/html")
    assert (answer.status, answer.headers["Location"]) == (303, f"{url}?after=1&done=attach")
    assert "Document attached." in client.get(answer.headers["Location"]).text
    (note,) = proposed[PLAIN].metadata["crawled_files"]
    assert note["accepted_by"] == "a.curator"
    assert client.post(f"{url}/1/reject", {}).status == 409
    assert client.post(f"{url}/2/reject", {}).json["state"] == "rejected"
    assert "No documents wait for a decision" in client.get(url).text
    for wrong in ("0", "3", "x", "9" * 30):
        assert client.post(f"{url}/{wrong}/attach", {}).status == 404
    assert "attach document" in client.get("/activity/log.csv").text
    home = client.get("/").text
    assert 'attached a proposed document to <a href="/records/oai+example,org+1"' in home
    assert "rejected a document proposed for" in home


def test_proposed_documents_are_on_the_home_page(client: Any, proposed: Silo) -> None:
    home = client.get("/").text
    assert '<a href="/crawling/proposals"' in home
    assert "2 proposed documents" in home
    waiting = {one["kind"]: one["number"] for one in client.json("/")["waiting"]}
    assert waiting["documents"] == 2
    for action in ("1/attach", "2/reject"):
        client.post(f"/crawling/proposals/{action}", {})
    assert "documents" not in {one["kind"] for one in client.json("/")["waiting"]}


@pytest.mark.parametrize("action", ["attach", "reject"])
def test_a_decision_about_a_document_is_undone(client: Any, proposed: Silo, action: str) -> None:
    url = "/crawling/proposals"
    answer = client.post(f"{url}/1/{action}", {"round": "9-0-0"}, accept="text/html")
    page = client.get(answer.headers["Location"]).text
    assert page.count(f'action="{url}/1/undo"') == 2  # of the last decision, and in the list
    assert "Decided last" in page
    answer = client.post(f"{url}/1/undo", {"round": "9-1-0"}, accept="text/html")
    assert answer.headers["Location"] == f"{url}?after=0&done=undo&round=9-0-0"
    page = client.get(answer.headers["Location"]).text
    assert "Decision undone." in page
    assert "2 left" in page
    assert "Decided last" not in page
    assert client.json(url)["proposal"]["number"] == 1
    assert not proposed[PLAIN].metadata.get("crawled_files")
    assert client.post(f"{url}/1/attach", {}).json["state"] == "attached"
    assert len(proposed[PLAIN].metadata["crawled_files"]) == 1


def test_documents_are_gone_through_as_a_queue(client: Any, proposed: Silo) -> None:
    url = "/crawling/proposals"
    page = client.get(url).text
    assert "2 left" in page
    assert 'data-key="s">Attach' in page
    answer = client.post(f"{url}/1/reject", {"round": "9-0-0"}, accept="text/html")
    assert answer.headers["Location"] == f"{url}?after=1&done=reject&round=9-1-0"
    page = client.get(answer.headers["Location"]).text
    assert "1 left" in page
    assert f'href="{url}?after=2&amp;round=9-1-1">Skip' in page
    ended = client.get(f"{url}?after=2&round=9-1-1").text
    assert "1 done in" in ended
    assert "1 skipped" in ended
    assert client.get(f"{url}?after=77&done=attach").status == 200


def test_the_first_page_is_a_picture_if_there_is_one(client: Any, proposed: Silo) -> None:
    answer = client.get("/crawling/proposals/1/first-page.png")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "image/png")
    assert answer.body.startswith(b"\x89PNG")
    assert client.get("/crawling/proposals/2/first-page.png").status == 404
    Path(archives_directory(proposed.path), "made.warc.gz").unlink()
    assert client.get("/crawling/proposals/1/first-page.png").status == 409
    assert client.post("/crawling/proposals/1/attach", {}).status == 409
    assert client.get("/crawling/proposals").status == 200


def test_few_first_pages_are_drawn_at_a_time(
    client: Any, proposed: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposals_page, "_PATIENCE", 0.01)
    drawing, goes_on, codes = threading.Semaphore(0), threading.Event(), list[int]()

    def slow(*_: object) -> bytes:
        drawing.release()
        assert goes_on.wait(60)
        return b"\x89PNG"

    monkeypatch.setattr(proposals_page, "first_page", slow)
    picture = "/crawling/proposals/1/first-page.png"
    two = [threading.Thread(target=lambda: codes.append(client.get(picture).status)) for _ in "12"]
    for one in two:
        one.start()
    for _ in two:
        assert drawing.acquire(timeout=60)
    answer = client.get(picture)
    assert (answer.status, "Retry-After" in answer.headers) == (503, True)
    goes_on.set()
    for one in two:
        one.join()
    assert codes == [200, 200]
    assert client.get(picture).status == 200


def test_without_proposals_the_page_says_so(client: Any, silo: Silo) -> None:
    assert "No documents wait for a decision" in client.get("/crawling/proposals").text
    assert client.json("/crawling/proposals") == {"proposal": None, "waiting": 0, "next": None}


def test_what_people_do_is_in_the_activity_log_in_words(
    client: Any, queued: Silo, proposed: Silo
) -> None:
    client.post("/crawling/targets", {"url": "https://example.org/new/"})
    for path in (*(f"targets/reports/{action}" for action in DONE if action != "add"),
                 "proposals/1/attach", "proposals/2/reject", "dead/uris-to-crawl"):  # fmt: skip
        assert client.post(f"/crawling/{path}", {}).status == 200, path
    said = [one["action"] for one in client.json("/activity")["entries"]]
    assert said[-2:] == ["Crawl target changed", "Crawl target added"]
    assert {"Proposed document attached", "Crawl messages retried"} <= set(said)
    assert all(one[0].isupper() for one in said)
    assert [
        one["action"] for one in client.json("/activity?action=attach+document")["entries"]
    ] == ["Proposed document attached"]


# --------------------------------------------------------------------------- compared pages


WHOLE = Comparison(LINK, "20260301023000", "2026-03-02T02:30:00+00:00", 0.0, 0.031, ())
PARTLY = replace(
    WHOLE, url="https://b.example/<b>", tiles=0.25, failed=("https://b.example/a?b&c",)
)
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def compared(silo: Silo) -> Silo:
    """Two pages that were compared; of one the archive shows nothing."""
    keep(silo.path, WHOLE, PNG + b"then", PNG + b"now")
    keep(silo.path, PARTLY, PNG + b"then", b"")
    return silo


def test_pages_that_miss_most_are_listed_first(
    client: Any, compared: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "/crawling/comparisons"
    found = client.json(url)
    assert [one["name"] for one in found["comparisons"]] == [PARTLY.name, WHOLE.name]
    assert found["next"] is None
    page = client.get(url).text
    for said in ("https://b.example/&lt;b&gt;", "different (25% differs)", "1 missing",
                 "1 Mar 2026, 02:30 UTC", "the same", "nearly the same (3.1% differs)",
                 f'href="{url}/{PARTLY.name}"'):  # fmt: skip
        assert said in page
    monkeypatch.setattr("webui.crawling.comparisons.LISTED", 1)
    following = client.json(url)["next"]
    assert [one["url"] for one in client.json(following)["comparisons"]] == [LINK]
    assert client.get(f"{url}?start=x").status == 400


def test_where_nothing_was_compared_the_page_says_what_to_do_first(client: Any) -> None:
    page = client.get("/crawling/comparisons").text
    assert "No compared pages yet" in page
    assert "silo crawl compare DIR" in page
    assert '<a class="button filled" href="/crawling/targets">Crawl targets</a>' in page


def test_both_pictures_and_what_is_missing_are_on_the_page(client: Any, compared: Silo) -> None:
    url = "/crawling/comparisons"
    page = client.get(f"{url}/{PARTLY.name}").text
    assert re.findall('<img[^>]* src="([^"]*)"', page) == [f"{url}/{PARTLY.name}/crawled.png"]
    assert "There is no picture." in page
    assert 'href="https://b.example/a?b&amp;c"' in page
    whole = client.get(f"{url}/{WHOLE.name}").text
    assert "Missing only in the archive" not in whole
    assert whole.count("<img") == 2
    assert client.json(f"{url}/{WHOLE.name}")["tiles"] == 0.0


def test_only_the_pictures_of_a_comparison_are_sent_and_none_runs(
    client: Any, compared: Silo
) -> None:
    url = f"/crawling/comparisons/{WHOLE.name}"
    answer = client.get(f"{url}/archived.png")
    assert (answer.headers["Content-Type"], answer.body) == ("image/png", PNG + b"now")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    for wrong in (f"{WHOLE.name}/comparison.json", f"{WHOLE.name}/..%2Farchived.png",
                  f"{PARTLY.name}/archived.png", "0" * 32, "x/crawled.png"):  # fmt: skip
        assert client.get(f"/crawling/comparisons/{wrong}").status == 404, wrong


def test_a_damaged_comparison_is_told(client: Any, compared: Silo) -> None:
    path = Path(comparison_directory(compared.path, WHOLE.name), "comparison.json")
    for damaged in ("{", "[]", '{"url": 3}'):
        path.write_text(damaged)
        one, every = (client.get(f"/crawling/comparisons{end}") for end in (f"/{WHOLE.name}", ""))
        assert (one.status, every.status) == (500, 200)
        assert compared.path not in one.text + every.text
        assert "compare the page again" in one.text
        assert "1 comparison cannot be read; compare the page again." in every.text
        listed = client.json("/crawling/comparisons")
        assert [found["name"] for found in listed["comparisons"]] == [PARTLY.name]
        assert listed["damaged"] == [WHOLE.name]


def test_a_picture_in_the_captures_leads_to_its_comparison(client: Any, compared: Silo) -> None:
    for moment in ("20260301023000", "20260201023000"):
        shown = CrawlOutcome(moment, f"{PICTURE}{LINK}", 200, "image/png")
        Segments(index_directory(compared.path)).add([index_line(shown, 9)])
    page = client.get("/records/oai+example,org+1").text
    assert page.count(f'href="/crawling/comparisons/{WHOLE.name}"') == 1


# --------------------------------------------------------------------------- in a browser


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.parametrize(("scheme", "width"), [("light", 320), ("dark", 1280)])
def test_every_page_is_for_everybody(
    open_page: Callable[..., Page],
    crawled: Silo,
    queued: Silo,
    proposed: Silo,
    compared: Silo,
    scheme: str,
    width: int,
) -> None:
    page = open_page("/", color_scheme=scheme, viewport={"width": width, "height": 800})
    launch = "launch=20260301T023000Z"
    for path in ("targets", "targets/links", f"targets/links/failures?{launch}", "proposals",
                 "targets/links/seeds", "add", "add/records?q=x", "status", "dead/uris-to-crawl",
                 "comparisons", f"comparisons/{PARTLY.name}"):  # fmt: skip
        page.goto(f"/crawling/{path}")
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        fits(page, path)
        is_accessible(page, path, WCAG)


@pytest.mark.browser
@pytest.mark.parametrize(("width", "columns"), [(320, 1), (1280, 2)])
def test_facts_are_below_their_names_where_there_is_little_room(
    open_page: Callable[..., Page], targets: Silo, width: int, columns: int
) -> None:
    page = open_page("/crawling/targets/reports", viewport={"width": width, "height": 800})
    tracks = page.evaluate(
        "getComputedStyle(document.querySelector('dl.facts')).gridTemplateColumns"
    )
    assert len(tracks.split()) == columns


@pytest.mark.long
def test_the_pages_are_loaded_without_the_packages_of_the_extra() -> None:
    program = (
        "import sys; import webui.crawling.contribution, silocrawl.record_panel; "
        "print(*{'duckdb', 'ada_url', 'surt', 'pypdfium2', 'playwright'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_no_link_leaves_a_silo_that_is_mounted(
    client: Any,
    stage: Any,
    mount_at: Any,
    crawled: Silo,
    queued: Silo,
    proposed: Silo,
    compared: Silo,
) -> None:
    mount_at("/silos/first", stage.app)
    for path in ("targets", "targets/links", "targets/links/seeds", "add", "proposals", "status",
                 "dead/uris-to-crawl", "comparisons", f"comparisons/{PARTLY.name}"):  # fmt: skip
        page = client.get(f"/silos/first/crawling/{path}")
        assert page.status == 200, path
        for url in re.findall(r'(?:href|action|src)="(/[^"]*)"', page.text):
            assert url.startswith("/silos/first/"), (path, url)
