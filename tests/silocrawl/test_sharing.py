"""Crawls by several processes with one Redis: each address once, at one pace, whoever is killed."""

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from crawl_records import put_record
from site_of_traps import PDF, Reply, Site, page, pdf, served
from test_running import NOW, target
from waiting import wait_until

from crawlmatch.outcomes import LinkOutcome
from recordsilo import Silo
from recordsilo.cli import ExitCode
from recordsilo.disk.locks import Locks
from silocrawl.captures import Captures
from silocrawl.commands.importing import import_command
from silocrawl.commands.queues import inject_command, launch
from silocrawl.commands.running import run
from silocrawl.errors import TargetNotFound
from silocrawl.launching import inject, launched
from silocrawl.messages import CATALOGUE, CRAWL, RENDER
from silocrawl.outcomes import match_own_logs
from silocrawl.scope import Scope, ScopeKind
from silocrawl.sharing import (
    BrokerRefused,
    broker_of,
    open_crawl_queues,
    open_own_queues,
    tell_targets,
    told_target,
    use_broker,
)
from silocrawl.targets import Limits, add_target, load_target, remove_target
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.values import Message, MessageState

INTERVAL = 0.1


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Silo]:
    """The Silo of another machine, without records and targets."""
    with Silo(str(tmp_path / "other"), "info:") as made:
        yield made


def started(silo: Silo, broker: str, *options: str) -> "subprocess.Popen[bytes]":
    main = "from recordsilo.cli import main; main()"
    command = [sys.executable, "-c", main, "crawl", "run", silo.path, "--broker", broker]
    return subprocess.Popen([*command, "--private", "--interval", str(INTERVAL), "-q", *options])


def lines(*silos: Silo) -> Counter[str]:
    """How often each address has a line in the logs of some Silos."""
    paths = [path for one in silos for path in Path(one.path, "crawling", "logs").glob("*.log")]
    return Counter(line.split()[3] for one in paths for line in one.read_text().splitlines())


def filled(site: Site, silo: Silo, papers: int) -> None:
    """A record with links to papers, each behind a redirect."""
    for one in range(papers):
        site.pages[f"/id/{one}"] = Reply(302, b"", {"Location": f"/paper/{one}"})
        site.pages[f"/paper/{one}"] = page(f'<a href="/{one}.pdf">pdf</a>')
        site.pages[f"/{one}.pdf"] = pdf(PDF + str(one).encode())
    put_record(silo, "7", *(f"{site.url}/id/{one}" for one in range(papers)))
    target(silo)


def launch_all(silo: Silo) -> None:
    assert CliRunner().invoke(launch, [silo.path, "-q"]).exit_code == 0


@contextmanager
def running(silo: Silo, broker: str, *options: str) -> Iterator["subprocess.Popen[bytes]"]:
    process = started(silo, broker, *options)
    try:
        yield process
        process.terminate()
        process.wait(60)
    finally:
        process.kill()
        process.wait()


def outcomes_together(silo: Silo, other: Silo) -> Counter[str]:
    """Bring what another machine has into a Silo as the documentation says; what came of links."""
    there = Path(other.path, "crawling")
    if warcs := [str(one) for one in there.glob("warcs/*.warc.gz")]:
        done = CliRunner().invoke(import_command, [silo.path, "-q", *warcs])
        assert done.exit_code in {ExitCode.OK, ExitCode.LOSSES}  # a kill cuts a file short
    logs = Path(silo.path, "crawling", "logs")
    logs.mkdir(exist_ok=True)
    for path in there.glob("logs/*.log"):
        shutil.copy(path, logs)
    kept = match_own_logs(silo)
    assert kept is not None
    return Counter({one.value: count for one, count in kept.receipt.outcomes.items() if count})


@pytest.mark.long
def test_each_address_is_fetched_once(silo: Silo, other: Silo, site: Site, broker: str) -> None:
    filled(site, silo, 20)
    use_broker(silo.path, broker)
    with running(other, broker, "--node", "n1"):
        wait_until(lambda: broker_of(other.path))
        with running(silo, broker, "--until-idle") as head:
            assert head.wait(120) == 0
        wait_until(lambda: not alive(silo))
    assert site.asked.pop("/robots.txt") <= 2  # by each machine
    assert set(site.asked.values()) == {1}
    assert len(site.asked) == 60
    assert lines(silo, other) == Counter(f"{site.url}{one}" for one in site.asked)
    moments = [moment for moment, path in site.moments if path != "/robots.txt"]
    assert moments[-1] - moments[0] > 0.9 * INTERVAL * 59
    assert outcomes_together(silo, other) == {LinkOutcome.FULLTEXT: 20}
    captures = Captures(silo.path)
    assert all(captures.of(f"{site.url}/{one}.pdf") for one in range(20))


@pytest.mark.long
def test_two_machines_keep_one_pace_for_each_host(silo: Silo, other: Silo, broker: str) -> None:
    interval = 3  # seconds: more than a request comes late on a busy machine
    with ExitStack() as stack:
        sites = [stack.enter_context(served(Site())) for _ in range(3)]
        use_broker(silo.path, broker)
        queues = stack.enter_context(open_crawl_queues(silo.path))

        def more() -> None:
            for one in sites:
                one.pages[f"/{len(one.pages)}"] = page("a page")
            inject(queues, [f"{one.url}{[*one.pages][-1]}" for one in sites], force=False)

        def both() -> bool:
            more()
            return bool(lines(silo) and lines(other))

        for one in (silo, other):
            stack.enter_context(running(one, broker, "--interval", str(interval)))
        wait_until(both, between=1.0)
        for _ in range(5):
            more()
        wait_until(lambda: not alive(silo))
        for one in sites:
            moments = sorted(moment for moment, path in one.moments if path != "/robots.txt")
            assert len(moments) == len(one.pages) - 1
            assert moments[-1] - moments[0] > 0.95 * interval * (len(moments) - 1)
            assert min(after - before for before, after in pairwise(moments)) > 0.4 * interval
    assert set(lines(silo, other).values()) == {1}


@pytest.mark.long
def test_what_a_killed_machine_had_taken_is_fetched_by_another(
    silo: Silo, other: Silo, site: Site, broker: str
) -> None:
    filled(site, silo, 10)
    use_broker(silo.path, broker)
    launch_all(silo)
    node = started(other, broker, "--node", "n1")
    try:
        wait_until(lambda: site.asked.total() > 5)
    finally:
        node.kill()
        node.wait()
    with running(silo, broker, "--until-idle") as head:
        assert head.wait(120) == 0
    assert site.asked.pop("/robots.txt") == 2
    assert len(site.asked) == 30
    assert set(lines(silo, other)) == {f"{site.url}{one}" for one in site.asked}
    assert set(lines(silo).values()) == {1}
    assert outcomes_together(silo, other) == {LinkOutcome.FULLTEXT: 10}


@pytest.mark.long
def test_a_machine_that_was_there_before_obeys_scope_and_limits(
    silo: Silo, other: Silo, site: Site, broker: str
) -> None:
    ends = "".join(f'<a href="/a/{one}">{one}</a>' for one in ("x", "y", "z", "ignored"))
    site.pages["/a/"] = page(ends + '<a href="/b">outside</a>')
    site.pages |= {f"/a/{one}": page(f'<a href="/a/{one}{one}">next</a>') for one in "xyz"}
    use_broker(silo.path, broker)
    with running(other, broker):
        wait_until(lambda: broker_of(other.path))
        scope = Scope(ScopeKind.PATH, ignore=("*ignored",))
        target(silo, f"{site.url}/a/", scope=scope, limits=Limits(hops=1))
        launch_all(silo)
        wait_until(lambda: not alive(silo))
    assert set(site.asked) == {"/robots.txt", "/a/", "/a/x", "/a/y", "/a/z"}
    assert not lines(silo)
    assert lines(other) == Counter(
        f"{site.url}/a/{one}" for one in ("", "x", "y", "z", "xx", "yy", "zz")
    )


@pytest.mark.long
def test_pages_are_rendered_by_any_machine_with_a_browser(
    silo: Silo, other: Silo, site: Site, broker: str, browser: str
) -> None:
    site.pages["/paper"] = page('<script>document.write("<a href=/a.pdf>pdf</a>")</script>')
    site.pages["/a.pdf"] = pdf()
    put_record(silo, "7", f"{site.url}/paper")
    target(silo, is_rendered=True)
    use_broker(silo.path, broker)
    launch_all(silo)
    with running(other, broker, "--no-sandbox"):
        wait_until(lambda: not alive(silo))
    assert site.asked["/a.pdf"] == 1
    assert Captures(other.path).of(f"urn:fullPage:{site.url}/paper")
    with open_own_queues(other.path) as own:
        assert CATALOGUE not in own.sizes()  # it has no records
    assert outcomes_together(silo, other) == {LinkOutcome.FULLTEXT: 1}


def alive(silo: Silo) -> int:
    """How many addresses nobody has fetched.

    Sizes are read one after the other, so one that goes from the browser to the crawler meanwhile
    is in neither: they are read twice.
    """
    with open_crawl_queues(silo.path) as queues:
        looks = [queues.sizes() for _ in range(2)]
    return max(sum(one[name].alive for name in (CRAWL, RENDER) if name in one) for one in looks)


def test_a_target_that_is_gone_is_not_known_elsewhere(silo: Silo, other: Silo, broker: str) -> None:
    target(silo, "http://a.example/")
    for one in (silo, other):
        use_broker(one.path, broker)
    with open_crawl_queues(silo.path) as queues:
        tell_targets(silo.path, queues)
        remove_target(silo.path, "t")
        tell_targets(other.path, queues)
        assert told_target(other.path, queues, "t").name == "t"
        tell_targets(silo.path, queues)
        for one in (silo, other):
            with pytest.raises(TargetNotFound):
                told_target(one.path, queues, "t")


def test_a_running_crawl_keeps_its_queues(silo: Silo, broker: str) -> None:
    locks = Locks(os.path.join(silo.path, ".silo", "locks"))
    with locks.hold_name("crawl"), pytest.raises(BrokerRefused, match="is running"):
        use_broker(silo.path, broker)
    assert broker_of(silo.path) == ""


def test_the_redis_of_another_crawl_is_refused(silo: Silo, other: Silo, broker: str) -> None:
    target(silo, "http://a.example/")
    use_broker(silo.path, broker)
    add_target(other.path, load_target(silo.path, "t"))
    with pytest.raises(BrokerRefused, match="belongs to another crawl"):
        use_broker(other.path, broker)
    assert broker_of(other.path) == ""
    done = CliRunner().invoke(run, [other.path, "--broker", broker, "--until-idle"])
    assert done.exit_code == ExitCode.USAGE
    assert "redis://HOST/1" in done.output


def test_a_redis_that_does_not_answer_is_named_without_its_password(silo: Silo) -> None:
    url = "redis://:secret@127.0.0.1:1/0"
    done = CliRunner().invoke(run, [silo.path, "--broker", url, "--until-idle"])
    assert done.exit_code != 0
    assert "redis://127.0.0.1:1/0 cannot be reached" in done.output
    assert "secret" not in done.output
    assert broker_of(silo.path) == ""


def test_launches_are_known_where_the_queues_go(
    silo: Silo, queues: SqliteQueues, broker: str
) -> None:
    target(silo, "http://a.example/")
    CliRunner().invoke(launch, [silo.path])
    with pytest.raises(BrokerRefused, match="addresses wait in"):
        use_broker(silo.path, broker)
    queues.done(queues.take("uris-to-crawl"))
    use_broker(silo.path, broker)
    assert Path(silo.path, "crawling", "broker").stat().st_mode & 0o77 == 0
    with open_crawl_queues(silo.path) as now:
        assert launched(now, "t").due == NOW
    done = CliRunner().invoke(inject_command, [silo.path, "http://a.example/b"])
    assert "1 put into uris-to-crawl" in done.output
    assert queues.sizes()["uris-to-crawl"].alive == 0


def test_another_machine_knows_the_targets(silo: Silo, other: Silo, broker: str) -> None:
    target(silo, "http://a.example/", scope=Scope(ScopeKind.ROOT, ignore=("*x*",)))
    for one in (silo, other):
        use_broker(one.path, broker)
    with open_crawl_queues(silo.path) as queues:
        tell_targets(silo.path, queues)
    with open_crawl_queues(other.path) as queues:
        assert told_target(other.path, queues, "t") == load_target(silo.path, "t")


def test_documents_stay_in_the_file_of_their_machine(silo: Silo, other: Silo, broker: str) -> None:
    for one in (silo, other):
        use_broker(one.path, broker)
    with open_crawl_queues(silo.path) as queues, open_crawl_queues(other.path) as others:
        queues.put([Message(CRAWL, b"address", "a")])
        taken = others.take(CRAWL)
        others.done(taken, [Message(CATALOGUE, b"document"), Message(RENDER, b"page", "p")])
        assert queues.done_keys(CRAWL, ["a"]) == {"a"}
        assert {name for name, size in queues.sizes().items() if size.alive} == {RENDER}
        assert {name for name, size in others.sizes().items() if size.alive} == {RENDER, CATALOGUE}
        (document,) = others.take(CATALOGUE)
        assert others.renew([document]) == others.held([document]) == [document]
        others.failed([document], "damaged", None)
        (dead,) = others.peek(CATALOGUE, MessageState.DEAD)
        assert (dead.body, dead.reason) == (b"document", "damaged")
        assert (queues.revive(CATALOGUE), others.revive(CATALOGUE)) == (0, 1)
        others.done(others.take(CATALOGUE), [Message(RENDER, b"another")])
        assert [one.body for one in queues.peek(RENDER)] == [b"page", b"another"]
