"""A crawl that fetches nothing for a while says what it waits for."""

import pytest
from site_of_traps import Site, busy, page

from recordsilo import Silo
from silocrawl.launching import inject
from silocrawl.running import CrawlSettings, CrawlWorker
from silocrawl.silence import SECONDS, Silence, waiting_said
from silowork.queues.sqlite import SqliteQueues
from silowork.stop import Stop


def test_hosts_are_told_after_a_while_and_when_they_are_others() -> None:
    clock, told = [0.0], list[str]()
    silence = Silence(told.append, lambda: clock[0])
    for seconds, fetched, hosts in (
        (SECONDS - 1, 0, ["a.example"]),  # too early
        (2, 0, ["b.example", "a.example"]),
        (SECONDS, 0, ["a.example", "b.example"]),  # the same
        (SECONDS, 1, ["c.example"]),  # something was fetched
        (SECONDS, 1, ["c.example"]),
        (SECONDS, 1, []),
    ):
        clock[0] += seconds
        silence.look(fetched, lambda some=hosts: some)  # type: ignore[misc]
    assert told == ["waiting for a.example, b.example", "waiting for c.example"]


def test_many_hosts_are_counted() -> None:
    said = waiting_said(f"{number}.example" for number in range(1200))
    assert said == "waiting for 0.example, 1.example, 10.example and 1,197 more"


@pytest.mark.timeout(60)
def test_an_address_that_never_resolves_is_tried_once(silo: Silo, queues: SqliteQueues) -> None:
    inject(queues, ["http://gone.invalid/a"], force=False)
    settings = CrawlSettings(2, 0.0, pauses=(3600.0,))
    done = CrawlWorker(silo, queues, settings).run(Stop(), until_idle=True)
    assert (done.fetched, done.answered) == (1, 0)


@pytest.mark.long
def test_a_run_says_which_host_is_tried_again(
    silo: Silo, queues: SqliteQueues, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("silocrawl.running.SECONDS_BETWEEN_BATCHES", 0.05)
    monkeypatch.setattr("silocrawl.silence.SECONDS", 0.1)
    site.pages["/a"] = busy(1, "1", page(""))
    inject(queues, [f"{site.url}/a"], force=False)
    told: list[str] = []
    settings = CrawlSettings(2, 0.0, is_private=True, pauses=(0.05,))
    done = CrawlWorker(silo, queues, settings).run(Stop(), until_idle=True, waits=told.append)
    assert done.answered == 1
    assert told == [f"waiting for {site.url.removeprefix('http://')}"]
