"""The whole way of a record's link, on the pages of the sample: fetched, indexed, matched, seen."""

import json
import os
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import real_pywb
import requests
from click.testing import CliRunner
from crawl_records import put_record
from landing_pages import DOI, KINDS, TITLE, with_type
from ports import free_port
from site_of_traps import Reply, Site, page

from crawlmatch.kept import crawl_named
from crawlmatch.outcomes import LinkOutcome
from oaipmhprovider.sample import sample_repository
from oaipmhprovider.sample.pages import Trap
from recordsilo import Silo
from recordsilo.cli import silo_command
from silocrawl.addresses import PICTURE
from silocrawl.cdxj import Segments, key_of
from silocrawl.paths import index_directory
from silocrawl.proposals import Documents, ProposalState, Reason
from silocrawl.rendering import PROGRAMS
from silocrawl.replay import replaying
from silocrawl.running import CrawlSettings
from silocrawl.sample import show_pages
from webui import demo
from webui.cli import demo as demo_command

pytestmark = pytest.mark.long

TRUTH = {
    Trap.NOT_FOUND: LinkOutcome.CLIENT_ERROR,
    Trap.FORBIDDEN: LinkOutcome.ROBOTS,
    Trap.GONE_HOST: LinkOutcome.UNREACHABLE,
    Trap.LOGIN: LinkOutcome.LANDING,
    Trap.BROKEN: LinkOutcome.SERVER_ERROR,
    Trap.LOOP: LinkOutcome.LOOP,
}
"""Of the links to pages; every other link leads to a document, right or wrong."""

DOCUMENTS = {
    Trap.MOVED: Reason.TITLE_ONLY,  # a bare list of files, which names no DOI
    Trap.LICENCE_ONLY: Reason.LICENCE,
    Trap.COVER_ONLY: Reason.COVER_SHEET,
    Trap.WRONG_PAPER: Reason.OTHER_PAPER,
    Trap.TWICE: Reason.SEVERAL_DOCUMENTS,
    Trap.SCAN: Reason.NO_TEXT,
}
"""Of the works whose document is not to be attached, though there is one."""


@dataclass(frozen=True)
class Crawled:
    """A Silo after the demo, what that printed, and its links with their outcomes."""

    path: str
    said: str
    links: dict[str, str]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    path = str(tmp_path_factory.mktemp("demo") / "d")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "SAMPLE_PORT", free_port())
        result = CliRunner().invoke(demo_command, ["--crawl", "--no-serve", path])
    assert result.exit_code == 0, result.output
    rows = silo("crawl", "dump", f"{path}/crawls/own/crawl_result.sqlite")
    links = {row["initial_url"]: row["outcome"] for row in map(json.loads, rows.splitlines())}
    return Crawled(path, result.output, links)


def silo(*arguments: str) -> str:
    result = CliRunner().invoke(silo_command, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_every_link_has_the_outcome_that_its_page_was_made_for(crawled: Crawled) -> None:
    special = {f"/{one.value}/": outcome for one, outcome in TRUTH.items()}
    calendar = [url for url in crawled.links if "/events/" in url]
    for url, outcome in crawled.links.items():
        path = "/" + url.split("/", 3)[3]
        usual = LinkOutcome.LANDING if url in calendar else LinkOutcome.FULLTEXT
        assert outcome == special.pop(path, usual), url
    assert not special
    receipt = crawl_named(crawled.path, "own").receipt
    assert sum(receipt.outcomes.values()) == receipt.seed_rows == len(crawled.links)
    assert "each with one outcome" in crawled.said


def test_every_document_comes_to_its_record_or_not_as_it_was_made_for(crawled: Crawled) -> None:
    works = sample_repository(demo.SIZE_WITH_PAGES)
    expected = {}
    for number in range(3000, 3000 + demo.SIZE_WITH_PAGES):
        work = works.work(number)
        trap = next((one for one in Trap if one.value == number), None)
        if work is not None and trap not in TRUTH:
            usual = Reason.RIGHT if work.doi else Reason.TITLE_ONLY
            expected[f"oai:eprints.example.org:{number}"] = DOCUMENTS.get(trap, usual)
    with Documents(crawled.path, "read") as documents:
        found = documents.listed(None, "", 0, 1_000)
    assert {one.record: one.reason for one in found} == expected
    attached = {one.record for one in found if one.state is ProposalState.ATTACHED}
    assert attached == {name for name, reason in expected.items() if reason is Reason.RIGHT}
    assert set(silo("ls", crawled.path, "--search", "has_file:true", "-n", "0").split()) >= attached


def test_the_calendar_without_end_is_left(crawled: Crawled) -> None:
    (log,) = Path(crawled.path, "crawling", "logs").glob("events-*.log")
    statuses = [line.split()[1] for line in log.read_text().splitlines()]
    assert set(statuses) == {"200", "-5000"}
    assert 20 <= statuses.count("200") < 40


def test_the_commands_after_the_demo_work_as_they_are_printed(crawled: Crawled) -> None:
    assert "good" in silo("crawl", "status", crawled.path)
    told = silo("crawl", "explain", crawled.path, "3002", "--no-lines")
    assert "application/pdf" in told
    assert "fulltext" in silo("crawl", "report", crawled.path)


def test_a_second_demo_fetches_nothing_again(
    crawled: Crawled, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = CliRunner().invoke(demo_command, ["--crawl", "--no-serve", crawled.path])
    assert result.exit_code == 0, result.output
    assert "0 addresses" in result.output
    logs = Path(crawled.path, "crawling", "logs").glob("*Z.log")  # of launches
    assert len(list(logs)) == 2
    assert "A browser showed" not in result.output


def test_a_browser_shows_two_pages_where_there_is_one(
    crawled: Crawled, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_there = any(map(shutil.which, PROGRAMS))
    assert ("A browser showed pages of 3003 and 3031" in crawled.said) == is_there
    lines = Segments(index_directory(crawled.path)).find(PICTURE.lower(), is_prefix=True)
    assert len(list(lines)) == 2 * is_there
    monkeypatch.setattr("silocrawl.rendering.PROGRAMS", ("no-such-browser",))
    assert not show_pages(crawled.path, ["http://localhost:1/"])


def test_every_document_is_replayed_by_pywb(crawled: Crawled) -> None:
    pywb = real_pywb.installed("wayback")
    index = Segments(index_directory(crawled.path))
    port, seen = free_port(), 0
    with replaying(crawled.path, pywb, port):
        for url in crawled.links:
            captures = [json.loads(one.split(" ", 2)[2]) for one in index.find(key_of(url))]
            if not captures or captures[0]["mime"] != "application/pdf":
                continue
            found = requests.get(f"http://127.0.0.1:{port}/own/2026id_/{url}", timeout=30)
            assert found.content.startswith(b"%PDF"), url
            seen += 1
    assert seen


def test_the_links_of_records_that_still_have_no_document_are_asked_again(
    crawled: Crawled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "silocrawl.commands.running.CrawlSettings", partial(CrawlSettings, pauses=())
    )
    search = ("--search", "has_file:false", "--frequency", "monthly")
    assert "due now" in silo("crawl", "target", "add", crawled.path, *search)
    silo("crawl", "run", crawled.path, "--until-idle")  # not --private: the site is gone anyway
    (log,) = Path(crawled.path, "crawling", "logs").glob("has-file-false-*.log")
    asked = {line.split()[3] for line in log.read_text().splitlines()}
    listed = silo("ls", crawled.path, "--search", "has_file:false", "-n", "0").splitlines()
    without = {one.split("\t")[0].rpartition(":")[2] for one in listed}
    assert len(asked) >= len(without) > 0
    assert all(any(number in url for number in without) for url in asked)


SCRIPT = """<main>wait</main><script>
fetch('/api' + location.pathname).then(answer => answer.text())
  .then(html => document.querySelector('main').innerHTML = html)</script>"""
BEHIND_SCRIPTS = {
    "7": (with_type(KINDS["right"].content), Reason.RIGHT, LinkOutcome.FULLTEXT),
    "8": (with_type(KINDS["citing"].content), Reason.OTHER_PAPER, LinkOutcome.FULLTEXT),
    "9": (Reply(404), None, LinkOutcome.LANDING),
}
"""What is behind the link that the script of a record's page makes, and what becomes of it."""


def test_what_only_a_browser_finds_comes_to_its_record_and_is_replayed(
    tmp_path: Path, site: Site, browser: str, program: str
) -> None:
    path, url = str(tmp_path / "silo"), site.url
    with Silo(path, "info:", identifier_uri_prefix="oai:example.org:") as made:
        for number, (document, _, _) in BEHIND_SCRIPTS.items():
            html = f'<a href="/files/{number}.pdf">Full text</a>'
            site.pages |= {
                f"/id/{number}": Reply(302, b"", {"Location": f"/paper/{number}"}),
                f"/paper/{number}": page(SCRIPT),
                f"/api/paper/{number}": Reply(200, html.encode(), {"Content-Type": "text/plain"}),
                f"/files/{number}.pdf": document,
            }
            put_record(made, number, f"{url}/id/{number}", f"doi:{DOI}", title=TITLE)
    silo("crawl", "target", "add", path, "--all", "--render")
    sandbox = [] if os.geteuid() else ["--no-sandbox"]
    silo("crawl", "run", path, "--until-idle", "--private", "--interval", "0", *sandbox)
    assert set(site.asked.values()) == {1}
    with Documents(path, "read") as documents:
        found = {one.record[-1]: one.reason for one in documents.listed(None, "", 0, 1_000)}
    assert found == {name: why for name, (_, why, _) in BEHIND_SCRIPTS.items() if why}
    assert silo("ls", path, "--search", "has_file:true", "-n", "0").split()[:1] == [
        "oai:example.org:7"
    ]
    rows = silo("crawl", "dump", f"{path}/crawls/own/crawl_result.sqlite").splitlines()
    outcomes = {row["initial_url"]: row["outcome"] for row in map(json.loads, rows)}
    assert outcomes == {
        f"{url}/id/{name}": outcome for name, (_, _, outcome) in BEHIND_SCRIPTS.items()
    }
    port = free_port()
    with replaying(path, program, port):
        place = f"http://127.0.0.1:{port}/own"
        for address, begin in (
            (f"{url}/paper/7", b"<!doctype html>"), (f"{url}/api/paper/7", b"<a href="),
            (f"{url}/files/7.pdf", b"%PDF"), (f"urn:fullPage:{url}/paper/7", b"\x89PNG"),
        ):  # fmt: skip
            seen = requests.get(f"{place}/2026id_/{address}", timeout=30)
            assert (seen.status_code, seen.content[: len(begin)]) == (200, begin), address
