"""A real Heritrix fetches for a Silo: jobs of targets, fed and resumed, in our index and logs."""

import json
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import real_heritrix
from crawl_records import put_record
from real_heritrix import RealHeritrix
from site_of_traps import Reply, Site, page, pdf, served
from waiting import wait_until

from recordsilo import Silo
from silocrawl.captures import Captures
from silocrawl.cdxj import Segments
from silocrawl.heritrix.feeding import feed_once
from silocrawl.heritrix.indexing import index_all
from silocrawl.heritrix.jobs import JobPlan
from silocrawl.heritrix.making import make_job, resume_job
from silocrawl.heritrix.outcomes import Crawled, crawled_in
from silocrawl.heritrix.states import HeritrixAction, HeritrixState
from silocrawl.heritrix.tailing import JobAfar, JobHere, Tail
from silocrawl.launching import inject, launch_now
from silocrawl.outcomes import match_own_logs
from silocrawl.paths import index_directory, log_file
from silocrawl.scope import Scope, ScopeKind
from silocrawl.targets import CrawlTarget, add_target
from silowork.due.timetable import Timetable
from silowork.queues.sqlite import SqliteQueues
from silowork.stop import Stop

pytestmark = pytest.mark.long
PAGES, CONTACT = 40, "http://127.0.0.1/crawler"
DAILY = Timetable(every=timedelta(days=1))


@pytest.fixture(scope="module", params=[real_heritrix.NEW, real_heritrix.OLD])
def real(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealHeritrix]:
    work = tmp_path_factory.mktemp("heritrix") / "work"
    with real_heritrix.running(request.param, work) as found:
        yield found


@pytest.fixture
def theses() -> Iterator[Site]:
    """Pages below a path, one that is redirected to, a document; and what is outside."""
    site = Site()
    links = [*(f"/theses/{number}" for number in range(PAGES)), "/theses/old", "/theses/7.pdf",
             "/theses/secret", "/other"]  # fmt: skip
    for link in links:
        site.pages[link] = lambda _headers: (time.sleep(0.03), page("x"))[1]
    site.pages["/theses/"] = page("".join(f'<a href="{link}">x</a>' for link in links))
    site.pages["/theses/old"] = Reply(302, b"", {"Location": "/theses/3"})
    site.pages["/theses/7.pdf"] = pdf()
    with served(site) as found:
        yield found


def read_all(silo: Silo, tail: Tail) -> None:
    while tail.read_once():
        pass
    index_all(silo.path, Stop())


def indexed(silo: Silo) -> list[str]:
    lines = Segments(index_directory(silo.path)).find("", is_prefix=True)
    return [json.loads(line.split(" ", 2)[2])["url"] for line in lines]


def logged(silo: Silo) -> list[Crawled]:
    logs = sorted(Path(log_file(silo.path, "x")).parent.glob("*.log"))
    return [crawled_in(line, "", "") for log in logs for line in log.read_bytes().splitlines()]


def test_a_job_of_a_target_fetches_what_belongs_to_it(
    silo: Silo, queues: SqliteQueues, real: RealHeritrix, theses: Site
) -> None:
    scope = Scope(ScopeKind.PATH, ignore=("*/secret",))
    target = CrawlTarget("theses", DAILY, f"{theses.url}/theses/", scope=scope)
    add_target(silo.path, target)
    plan = JobPlan("theses", target, CONTACT, interval=0.0, delays={"other.localhost": 9.0})
    assert make_job(real.client, queues, plan).state is HeritrixState.NASCENT
    real.client.launch("theses")
    tail = Tail(queues, "theses", JobAfar(real.client, "theses"))
    while real.client.job("theses").state is not HeritrixState.FINISHED:
        read_all(silo, tail)
    real.client.act("theses", HeritrixAction.TEARDOWN)
    read_all(silo, tail)
    below = [f"/theses/{number}" for number in range(PAGES)]
    below += ["/theses/", "/theses/7.pdf", "/theses/old", "/robots.txt"]
    assert set(below) <= set(theses.asked) <= {*below, "/favicon.ico", "/"}
    mine = [url.removeprefix(theses.url) for url in indexed(silo)]
    assert sorted(set(mine)) == sorted(mine)
    assert set(mine) == set(theses.asked)
    (theirs,) = (real.jobs / "theses").glob("2*/logs/crawl.log")
    assert len(logged(silo)) == len(theirs.read_bytes().splitlines())
    captures = Captures(silo.path)
    found = captures.where_it_leads(f"{theses.url}/theses/old")
    assert found is not None
    assert found.url == f"{theses.url}/theses/3"
    assert b"<title>t</title>" in captures.begin(found, 10_000).content
    assert tail.refused == 0


def test_a_fed_job_is_killed_and_goes_on_and_nothing_is_lost_or_twice(
    silo: Silo, queues: SqliteQueues, real: RealHeritrix, theses: Site
) -> None:
    for number in range(PAGES):
        put_record(silo, str(number), f"{theses.url}/theses/{number}")
    put_record(silo, "pdf", f"{theses.url}/theses/7.pdf")
    target = CrawlTarget("links", DAILY)
    add_target(silo.path, target)
    plan = JobPlan("fed", target, CONTACT, seeds=PAGES + 1, interval=0.0)
    make_job(real.client, queues, plan)
    directory = str(real.jobs / "fed")

    def feed() -> int:
        return feed_once(
            silo.path, queues, "fed",
            lambda name, content: real.client.write("fed", f"action/{name}", content),
        )  # fmt: skip

    real.client.launch("fed")
    tail = Tail(queues, "fed", JobHere(directory))
    launch_now(silo, queues, target)
    assert feed() == PAGES + 1
    wait_until(lambda: theses.asked["/theses/3"])
    real.client.checkpoint("fed")
    read_all(silo, tail)
    wait_until(lambda: theses.asked["/theses/20"])
    read_all(silo, tail)
    real.kill()
    real.start()
    done = resume_job(real.client, "fed")
    assert (done.is_new, done.checkpoint[:7]) == (True, "cp00001")
    assert not resume_job(real.client, "fed").is_new
    inject(queues, [f"{theses.url}/other?a=1&b=2"], force=False)
    inject(queues, [f"{theses.url}/theses/0"], force=True)
    again = theses.asked["/theses/0"]
    assert feed() == 2
    tail = Tail(queues, "fed", JobAfar(real.client, "fed"))
    wait_until(lambda: theses.asked["/theses/0"] > again and theses.asked["/other?a=1&b=2"])
    wait_until(lambda: all(theses.asked[f"/theses/{one}"] for one in range(PAGES)))
    wait_until(lambda: real.client.job("fed").state is HeritrixState.EMPTY)
    read_all(silo, tail)
    real.client.act("fed", HeritrixAction.TERMINATE)
    real.client.act("fed", HeritrixAction.TEARDOWN)
    read_all(silo, tail)
    wanted = {f"{theses.url}/theses/{number}" for number in range(PAGES)}
    wanted |= {f"{theses.url}/theses/7.pdf", f"{theses.url}/other?a=1&b=2"}
    assert wanted <= set(indexed(silo))
    fetched = [(one.url, one.begun) for one in logged(silo) if one.begun]
    assert len(set(fetched)) == len(fetched)
    assert wanted <= {url for url, _ in fetched}
    captures = Captures(silo.path)
    for url in wanted:
        for one in captures.of(url):
            assert captures.begin(one, 10_000).content
    kept = match_own_logs(silo)
    assert kept is not None
    counts = {str(one): number for one, number in kept.receipt.outcomes.items() if number}
    assert counts == {"fulltext": 1, "landing-only": PAGES}
