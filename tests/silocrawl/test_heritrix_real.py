"""The client and real Heritrix programs: both versions answer alike."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import real_heritrix
from certificates import self_signed
from click.testing import CliRunner
from real_heritrix import RealHeritrix
from site_of_traps import Site, page, served
from waiting import wait_until

from recordsilo.cli import silo_command
from silocrawl.heritrix import questions
from silocrawl.heritrix.client import LATEST, Heritrix
from silocrawl.heritrix.connection import served_certificate
from silocrawl.heritrix.errors import (
    ActionRefused,
    AnswerInvalid,
    FileNotThere,
    HeritrixJobNotFound,
    LoginRefused,
    ScriptFailed,
)
from silocrawl.heritrix.questions import KILL_THREADS as KILL
from silocrawl.heritrix.removing import remove_job
from silocrawl.heritrix.states import HeritrixAction, HeritrixState

pytestmark = pytest.mark.long
PAGES = 120


@pytest.fixture(scope="module", params=[real_heritrix.NEW, real_heritrix.OLD])
def real(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealHeritrix]:
    work = tmp_path_factory.mktemp("heritrix") / "work"
    with real_heritrix.running(request.param, work) as found:
        yield found


@pytest.fixture(scope="module")
def pages() -> Iterator[Site]:
    """A page with links to many others, each of which takes a moment."""
    site = Site()
    for number in range(PAGES):
        site.pages[f"/{number}"] = lambda _headers: (time.sleep(0.05), page("x"))[1]
    site.pages["/"] = page("".join(f'<a href="/{number}">x</a>' for number in range(PAGES)))
    with served(site) as found:
        yield found


def until(is_so: Callable[[], object]) -> None:
    wait_until(is_so, between=0.2)


def made(real: RealHeritrix, site: Site, name: str) -> Heritrix:
    real.make_job(name, [site.url + "/"], {"crawlController.maxToeThreads": "1"})
    return real.client


def test_a_job_lives_through_all_its_states(real: RealHeritrix, pages: Site) -> None:
    client = made(real, pages, "life")
    assert client.engine().version in real_heritrix.PACKED
    assert ("life", "Unbuilt") in client.engine().jobs
    for action in (HeritrixAction.TERMINATE, HeritrixAction.TEARDOWN):
        assert not client.act("life", action).is_new
    with pytest.raises(ActionRefused, match="is UNBUILT, and permits no pause"):
        client.act("life", HeritrixAction.PAUSE)
    assert client.act("life", HeritrixAction.BUILD).job.state is HeritrixState.NASCENT
    assert not client.act("life", HeritrixAction.BUILD).is_new
    with pytest.raises(ActionRefused, match="no checkpoint latest; those it has: none"):
        client.launch("life", LATEST)
    assert client.launch("life").job.state is HeritrixState.RUNNING
    assert not client.launch("life").is_new
    with pytest.raises(ActionRefused, match="terminate it first"):
        client.act("life", HeritrixAction.TEARDOWN)
    until(lambda: client.job("life").downloaded > 2)
    first = client.checkpoint("life")
    assert (first.is_new, first.job.state) == (True, HeritrixState.RUNNING)
    assert client.act("life", HeritrixAction.PAUSE).job.state is HeritrixState.PAUSED
    assert not client.act("life", HeritrixAction.PAUSE).is_new
    second, again = client.checkpoint("life"), client.checkpoint("life")
    assert second.checkpoint > first.checkpoint
    assert (again.is_new, again.checkpoint) == (False, second.checkpoint)
    job = client.act("life", HeritrixAction.UNPAUSE).job
    assert job.known > PAGES > job.downloaded
    assert job.bytes > 0
    assert client.act("life", HeritrixAction.TERMINATE).job.description == "Finished: ABORTED"
    with pytest.raises(ActionRefused, match="is FINISHED, and permits no launch; tear it down"):
        client.launch("life")
    assert client.act("life", HeritrixAction.TEARDOWN).job.state is HeritrixState.UNBUILT
    client.act("life", HeritrixAction.BUILD)
    assert client.job("life").checkpoints == (second.checkpoint, first.checkpoint)
    client.act("life", HeritrixAction.TEARDOWN)


def test_a_killed_one_goes_on_from_its_last_checkpoint(real: RealHeritrix, pages: Site) -> None:
    client = made(real, pages, "killed")
    client.launch("killed")
    until(lambda: client.job("killed").downloaded > 3)
    done = client.checkpoint("killed")
    until(lambda: client.job("killed").downloaded > done.job.downloaded + 3)
    real.kill()
    real.start()
    assert client.job("killed").state is HeritrixState.UNBUILT
    launched = client.launch("killed", LATEST)
    assert (launched.is_new, launched.checkpoint) == (True, done.checkpoint)
    assert launched.job.downloaded >= done.job.downloaded - 1
    real.wait_for("killed", HeritrixState.FINISHED)
    logs = sorted((real.jobs / "killed").glob("2*/logs/crawl.log*"))
    assert len(logs) >= 3
    lines = b"".join(one.read_bytes() for one in logs).splitlines()
    fetched = [line.split()[3].decode() for line in lines if line.split()[1] == b"200"]
    assert {f"{pages.url}/{number}" for number in range(PAGES)} <= set(fetched)
    client.act("killed", HeritrixAction.TEARDOWN)


def test_a_job_that_cannot_be_built_or_launched_says_why(real: RealHeritrix) -> None:
    client = real.client
    assert client.create("broken").is_new
    assert not client.create("broken").is_new
    with pytest.raises(ActionRefused, match=r"permits no launch; its log says: .* WARNING Field"):
        client.launch("broken")
    client.act("broken", HeritrixAction.TEARDOWN)
    client.write("broken", "crawler-beans.cxml", b"<beans")
    with pytest.raises(ActionRefused, match=r"was not built; its log says: .* SEVERE .* invalid"):
        client.act("broken", HeritrixAction.BUILD)


def test_files_of_a_job_are_read_and_put(real: RealHeritrix, pages: Site) -> None:
    client = made(real, pages, "files")
    client.launch("files")

    def has_lines() -> bool:
        with suppress(AnswerInvalid):  # of 3.13.0, now and then while a log grows
            return client.read("files", "latest/logs/crawl.log").count(b"\n") > 3
        return False

    until(has_lines)
    client.act("files", HeritrixAction.PAUSE)
    log = client.read("files", "latest/logs/crawl.log")
    assert client.read("files", "latest/logs/crawl.log", 10, 20) == log[10:30]
    assert client.read("files", "latest/logs/crawl.log", 10) == log[10:]
    assert client.read("files", "latest/logs/crawl.log", len(log)) == b""
    assert {"crawler-beans.cxml", "latest", "action"} <= set(client.names("files"))
    client.write("files", "action/more.seeds", f"{pages.url}/more\n".encode())
    client.act("files", HeritrixAction.UNPAUSE)
    until(lambda: pages.asked["/more"])
    for path in ("nope", "latest", "latest/nope"):
        with pytest.raises(FileNotThere):
            client.read("files", path)
    with pytest.raises(FileNotThere):
        client.write("files", "nope/x.seeds", b"")
    with pytest.raises(FileNotThere):
        client.names("files", "nope")
    for ask in (client.job, client.names, lambda name: client.read(name, "x")):
        with pytest.raises(HeritrixJobNotFound):
            ask("nope")
    client.act("files", HeritrixAction.TERMINATE)
    client.act("files", HeritrixAction.TEARDOWN)


def test_scripts_print_or_fail(real: RealHeritrix, pages: Site) -> None:
    client = made(real, pages, "script")
    with pytest.raises(ActionRefused, match="not built"):
        client.script("script", "rawOut.println 1")
    client.act("script", HeritrixAction.BUILD)
    assert client.script("script", "rawOut.println 'é < &'") == "é < &\n"
    with pytest.raises(ScriptFailed, match="RuntimeException: bo<o"):
        client.script("script", "throw new RuntimeException('bo<o')")
    client.act("script", HeritrixAction.TEARDOWN)


def test_each_question_is_answered(real: RealHeritrix, pages: Site) -> None:
    client = made(real, pages, "asked")

    def asked(question: str, **arguments: object) -> list[dict[str, Any]]:
        return questions.ask(client, "asked", question, **arguments)

    most, host = questions.MOST_SEARCHED, pages.url.removeprefix("http://")
    client.act("asked", HeritrixAction.BUILD)
    with pytest.raises(ActionRefused, match="not at work"):
        asked(questions.PENDING, most=1)
    client.launch("asked")
    until(lambda: client.job("asked").downloaded > 4)
    client.act("asked", HeritrixAction.PAUSE)
    surt = f"http://({host.replace(':', ',:')})/"
    assert asked(questions.SURT_SCOPE) == [{"decision": "ACCEPT", "surt": surt}]
    rules = {one["rule"]: one["settings"] for one in asked(questions.DECIDE_RULES)}
    assert rules["TooManyHopsDecideRule"]["maxHops"] == "20"
    assert asked(questions.METADATA)[0]["operatorContactUrl"] == "http://127.0.0.1/"
    waiting = asked(questions.PENDING, most=most)
    assert len(waiting) == client.job("asked").queued
    assert {one["via"] for one in waiting} == {pages.url + "/"}
    assert asked(questions.PENDING, most=2) == waiting[:2]
    of_host = {"urls": questions.addresses_of(host)}
    assert asked(questions.PENDING_FROM, most=2, **of_host) == waiting[:2]
    assert asked(questions.PENDING_FROM, most=9, urls=questions.addresses_of("a.example")) == []
    (seed,) = asked(questions.URL_STATUS, url=pages.url + "/", most=most)
    assert (seed["scope"], seed["known"], seed["waits"]) == ("ACCEPT", True, False)
    assert seed["history"][0]["status"] == "200"
    (last,) = asked(questions.URL_STATUS, url=waiting[-1]["url"], most=most)
    assert (last["known"], last["waits"], last["history"]) == (True, True, [])
    (cut,) = asked(questions.URL_STATUS, url=waiting[-1]["url"], most=1)
    assert (cut["waits"], cut["searched"]) == (False, False)
    (never,) = asked(questions.URL_STATUS, url="http://a.example/é'\"\\${1}\ud800", most=most)
    assert (never["scope"], never["known"], never["queued"]) == ("REJECT", False, 0)
    with pytest.raises(ScriptFailed, match="URIException"):
        asked(questions.URL_STATUS, url="'); rawOut.println('{}'", most=most)
    client.act("asked", HeritrixAction.UNPAUSE)
    assert asked(questions.KILL_THREADS, seconds=100) == []
    client.act("asked", HeritrixAction.TERMINATE)
    client.act("asked", HeritrixAction.TEARDOWN)


def test_threads_that_hang_are_killed_and_the_job_ends(real: RealHeritrix) -> None:
    hung, site = threading.Event(), Site()
    site.pages["/"] = lambda _headers: (hung.wait(60), page("x"))[1]
    with served(site) as found:
        client = made(real, found, "hung")
        client.launch("hung")
        until(lambda: site.asked["/"])
        killed: list[dict[str, Any]] = []
        until(lambda: killed.extend(questions.ask(client, "hung", KILL, seconds=1)) or killed)
        assert killed[0]["url"] == found.url + "/"
        real.wait_for("hung", HeritrixState.FINISHED)
        hung.set()
    client.act("hung", HeritrixAction.TEARDOWN)


def test_a_removed_job_is_forgotten_with_its_files(
    real: RealHeritrix, pages: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = made(real, pages, "gone")
    client.launch("gone")
    client.act("gone", HeritrixAction.TERMINATE)
    with pytest.raises(ActionRefused, match="is FINISHED; tear it down first"):
        remove_job(client, "gone", str(real.jobs))
    client.act("gone", HeritrixAction.TEARDOWN)
    remove_job(client, "gone", str(real.jobs), with_archives=True)
    assert not (real.jobs / "gone").exists()
    assert "gone" not in dict(client.engine().jobs)


def test_commands_ask_a_real_one(
    real: RealHeritrix, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HERITRIX_URL", real.url)
    monkeypatch.setenv("HERITRIX_PASSWORD", real.password)

    def run(*words: str) -> str:
        found = CliRunner().invoke(silo_command, ["crawl", "heritrix", *words])
        assert found.exit_code == 0, found.output
        return found.stdout

    (tmp_path / "heritrix.pem").write_text(run("trust"))
    pinned = ("-u", real.user, "--certificate", str(tmp_path / "heritrix.pem"))
    assert "not pinned" not in run("status", *pinned)
    assert "commands" not in run("list-jobs", *pinned)
    real.make_job("commands", ["http://127.0.0.1:1/"])
    assert run("build", "commands", *pinned) == "commands is NASCENT\n"
    assert run("job-cxml", "commands", *pinned).startswith("<?xml")
    assert run("teardown", "commands", *pinned) == "commands is UNBUILT\n"


def test_only_the_pinned_certificate_and_the_right_login_are_accepted(
    real: RealHeritrix, tmp_path: Path
) -> None:
    certificate = served_certificate(real.url)
    assert Heritrix(real.url, "silo", "silo", certificate=certificate).engine().version
    (tmp_path / "other").mkdir()
    other = self_signed(tmp_path / "other").read_text()
    with pytest.raises(LoginRefused, match="another certificate than the one given"):
        Heritrix(real.url, "silo", "silo", certificate=other).engine()
    with pytest.raises(LoginRefused, match="does not accept the login of silo"):
        Heritrix(real.url, "silo", "wrong").engine()
