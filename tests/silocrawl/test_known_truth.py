"""Crawls of generated sites, of whose links all outcomes are known."""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from crawl_records import put_record
from examples import examples
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from site_of_traps import Reply, Site, busy, packed, page, pdf, served

from crawlmatch.outcomes import LinkOutcome
from recordsilo import Silo
from silocrawl.outcomes import match_own_logs
from silocrawl.paths import queues_file
from silocrawl.running import CrawlSettings, CrawlWorker
from silocrawl.targets import CrawlTarget, add_target
from silowork.due.timetable import Timetable
from silowork.queues.sqlite import SqliteQueues
from silowork.stop import Stop

pytestmark = pytest.mark.long

NOW = datetime.now(UTC).replace(microsecond=0)
QUICK = CrawlSettings(8, 0.0, is_private=True, pauses=(0.01,))
ROBOTS = b"User-agent: *\nDisallow: /closed/"
Make = Callable[[Site, str], str]
"""Adds what is needed to a site, at paths that begin with a text; returns the link."""


def redirect(place: str) -> Reply:
    return Reply(302, b"", {"Location": place})


def answering(reply: Callable[[], object], place: str = "") -> Make:
    def make(site: Site, name: str) -> str:
        site.pages[place + name] = reply()  # type: ignore[assignment]
        return site.url + place + name

    return make


def over_redirects(then: Make, hops: int = 3) -> Make:
    def make(site: Site, name: str) -> str:
        for hop in range(hops):
            site.pages[f"{name}/hop{hop}"] = redirect(f"{name}/hop{hop + 1}")
        site.pages[f"{name}/hop{hops}"] = redirect(then(site, f"{name}/end"))
        return f"{site.url}{name}/hop0"

    return make


def landing(head: str = "", body: str = "", **headers: str) -> Make:
    """A page that leads to a document at its path and ``/file``, or ``/file.pdf``."""

    def make(site: Site, name: str) -> str:
        for end in ("", ".pdf"):
            site.pages[f"{name}/file{end}"] = pdf(f"%PDF-1.4 {name}{end} ".encode() * 9)
        said = {key: value.format(name) for key, value in headers.items()}
        site.pages[name] = page(body.format(name), head.format(name), **said)
        return site.url + name

    return make


def loop(site: Site, name: str) -> str:
    site.pages |= {f"{name}/a": redirect(f"{name}/b"), f"{name}/b": redirect(f"{name}/a")}
    return f"{site.url}{name}/a"


def link_and_page(site: Site, name: str) -> str:
    """A page whose document another link of the record leads to as well."""
    return landing(body='<a href="/shared.pdf">')(site, name)


KINDS: tuple[tuple[Make, LinkOutcome], ...] = (
    (answering(pdf), LinkOutcome.FULLTEXT),
    (answering(lambda: packed(pdf())), LinkOutcome.FULLTEXT),
    (answering(lambda: busy(1, "0", pdf())), LinkOutcome.FULLTEXT),
    (over_redirects(answering(pdf)), LinkOutcome.FULLTEXT),
    (landing(body='<a href="{}/file.pdf">'), LinkOutcome.FULLTEXT),
    (landing(body='<a href="{}/gone.pdf">'), LinkOutcome.LANDING),
    (landing('<meta name="citation_pdf_url" content="{}/file">'), LinkOutcome.FULLTEXT),
    (landing('<link rel="item" href="{}/file">'), LinkOutcome.FULLTEXT),
    (landing(Link='<{}/file>; rel="item"'), LinkOutcome.FULLTEXT),
    (over_redirects(landing(Link='<{}/file>; rel="item"'), 1), LinkOutcome.FULLTEXT),
    (link_and_page, LinkOutcome.FULLTEXT),
    (over_redirects(link_and_page, 2), LinkOutcome.FULLTEXT),
    (landing(), LinkOutcome.LANDING),
    (over_redirects(landing(body='<a href="/elsewhere">'), 2), LinkOutcome.LANDING),
    (answering(lambda: Reply(404)), LinkOutcome.CLIENT_ERROR),
    (answering(lambda: Reply(410)), LinkOutcome.CLIENT_ERROR),
    (over_redirects(answering(lambda: Reply(404)), 1), LinkOutcome.CLIENT_ERROR),
    (answering(lambda: Reply(500)), LinkOutcome.SERVER_ERROR),
    (answering(lambda: busy(99, "0", Reply())), LinkOutcome.RATE_LIMITED),
    (answering(lambda: Reply(200, b"", {"Content-Type": "text/html"})), LinkOutcome.EMPTY),
    (answering(lambda: Reply(200, b"x" * 2_000, {"Content-Type": "image/png"})),
     LinkOutcome.WRONG_TYPE),
    (answering(pdf, "/closed"), LinkOutcome.ROBOTS),
    (lambda _site, name: f"http://gone.invalid{name}", LinkOutcome.UNREACHABLE),
    (lambda _site, name: f"http://localhost:1{name}", LinkOutcome.UNREACHABLE),
    (loop, LinkOutcome.LOOP),
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("silocrawl.running.SECONDS_BETWEEN_BATCHES", 0.05)
        yield


@settings(
    max_examples=examples(10, least=2), deadline=None, phases=[Phase.explicit, Phase.generate]
)
@example(list(range(len(KINDS))), 3)
@given(st.lists(st.integers(0, len(KINDS) - 1), min_size=5, max_size=40), st.integers(1, 7))
def test_every_link_of_a_generated_site_has_its_outcome(chosen: list[int], each: int) -> None:
    with tempfile.TemporaryDirectory() as place, served(Site()) as site:
        site.pages |= {"/robots.txt": Reply(200, ROBOTS), "/shared.pdf": pdf(b"%PDF shared")}
        made = [KINDS[kind][0](site, f"/x{number}") for number, kind in enumerate(chosen)]
        truth = {url: KINDS[kind][1] for url, kind in zip(made, chosen, strict=True)}
        truth[f"{site.url}/shared.pdf"] = LinkOutcome.FULLTEXT
        links = list(truth)
        with Silo(place, "info:", identifier_uri_prefix="oai:example.org:") as silo:
            for begin in range(0, len(links), each):
                put_record(silo, str(begin), *links[begin : begin + each])
            found, counts, rows = crawled(silo)
        assert found == truth
        assert +Counter(counts) == Counter(truth.values())
        assert sum(counts.values()) == rows == len(truth)


def crawled(silo: Silo) -> tuple[dict[str, str], dict[LinkOutcome, int], int]:
    """Crawl the links of all records; return the outcome of each, their counts, and the rows."""
    add_target(silo.path, CrawlTarget("t", Timetable(once=NOW), made=NOW))
    path = Path(queues_file(silo.path))
    path.parent.mkdir(parents=True, exist_ok=True)
    with SqliteQueues(str(path)) as queues:
        CrawlWorker(silo, queues, QUICK).run(Stop(), until_idle=True)
    kept = match_own_logs(silo)
    assert kept is not None
    rows = kept.rows("SELECT initial_url, outcome FROM crawl_result WHERE initial_url IS NOT NULL")
    found = {row["initial_url"]: row["outcome"] for row in rows}
    return found, dict(kept.receipt.outcomes), kept.receipt.seed_rows
