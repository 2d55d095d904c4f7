"""The commands that let a Heritrix fetch for a Silo, against a fake one."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from fake_heritrix import FakeHeritrix, fake_heritrix
from test_heritrix_jobs import PROFILE
from test_heritrix_tailing import line
from waiting import wait_until

from recordsilo import Silo
from recordsilo.cli import silo_command
from recordsilo.disk.locks import Locks
from silocrawl.heritrix.noted import Noted, noted
from silocrawl.launching import inject
from silocrawl.paths import log_file
from silocrawl.targets import CrawlTarget, add_target
from silowork.due.timetable import Timetable
from silowork.queues.sqlite import SqliteQueues

Run = Callable[..., Result]
CONTACT = ("--contact", "https://example.org/crawler")


@pytest.fixture
def fake() -> Iterator[FakeHeritrix]:
    with fake_heritrix() as made:
        made.files["crawler-beans.cxml"] = PROFILE
        yield made


@pytest.fixture
def run(fake: FakeHeritrix, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setenv("HERITRIX_URL", fake.url)
    monkeypatch.setenv("HERITRIX_PASSWORD", "secret")
    monkeypatch.setenv("HOME", str(tmp_path))
    return lambda *words: CliRunner().invoke(silo_command, ["crawl", "heritrix", *words])


@pytest.fixture
def target(silo: Silo) -> CrawlTarget:
    made = CrawlTarget("theses", Timetable(every=timedelta(days=1)), "http://a.example/theses/")
    add_target(silo.path, made)
    return made


def test_a_job_is_made_once(
    silo: Silo, queues: SqliteQueues, fake: FakeHeritrix, run: Run, target: CrawlTarget
) -> None:
    told = run("create", silo.path, "site", "theses", *CONTACT, "--delay", "a.example=7")
    assert told.exit_code == 0
    assert told.stdout == "site is NASCENT; begin with silo crawl heritrix launch site\n"
    assert f"silo crawl target pause {silo.path} theses" in told.stderr
    made = fake.files["crawler-beans.cxml"]
    assert b"http://a.example/theses/" in made
    assert b"operatorContactUrl=https://example.org/crawler" in made
    assert noted(queues, "site") == Noted("theses")
    again = run("create", silo.path, "site", "theses", *CONTACT)
    assert again.exit_code == 2
    assert "there is a job site already, with a configuration of its own" in again.output
    assert fake.files["crawler-beans.cxml"] == made


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("theses", "--contact", "me"), "the contact is an address such as"),
        (("theses", *CONTACT, "--delay", "a.example"), "'a.example' is not such as"),
        (("theses", *CONTACT, "--delay", "A B=1"), "'A B' is not a valid name of a host"),
        (("nothing", *CONTACT), "there is no target 'nothing'"),
    ],
)
def test_a_wrong_wish_is_refused_before_anything_is_made(
    silo: Silo, fake: FakeHeritrix, run: Run, target: CrawlTarget, words: tuple[str, ...], said: str
) -> None:
    told = run("create", silo.path, "site", *words)
    assert told.exit_code == 2
    assert said in told.output
    assert fake.files["crawler-beans.cxml"] == PROFILE


def test_addresses_are_given_to_a_job_that_runs(
    silo: Silo, queues: SqliteQueues, fake: FakeHeritrix, run: Run
) -> None:
    inject(queues, ["http://a.example/x"], force=True)
    told = run("feed", silo.path, "site")
    assert told.exit_code == 2
    assert "the job site is UNBUILT; launch it first" in told.output
    fake.states = ["RUNNING"]
    told = run("feed", silo.path, "site")
    assert (told.exit_code, told.stdout) == (0, "1 address given to site\n")
    (name,) = (one for one in fake.files if one.startswith("action/"))
    assert name.endswith(".force")
    assert fake.files[name] == b"F+ http://a.example/x - -\n"
    with Locks(f"{silo.path}/.silo/locks").hold_name("crawl"):
        told = run("feed", silo.path, "site")
    assert "a crawl of" in told.output
    assert "is running already" in told.output


def test_a_log_on_the_disk_is_taken_in_without_a_heritrix(
    silo: Silo, queues: SqliteQueues, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HERITRIX_PASSWORD")
    logs = tmp_path / "jobs" / "site" / "20261124061100" / "logs"
    told = run("tail", silo.path, "site", "--jobs", str(tmp_path / "jobs"))
    assert told.exit_code == 2
    assert "no job 'site'" in told.output
    logs.mkdir(parents=True)
    (logs / "crawl.log").write_bytes(line(1) + b"nothing\n" + line(2))
    told = run("tail", silo.path, "site", "--jobs", str(tmp_path / "jobs"))
    assert "3 lines read, 3 of them new outcomes" in told.stdout
    assert "1 line is none of a crawl log: silo crawl queue dead" in told.output
    log = Path(log_file(silo.path, "site/20261124T061100Z"))
    assert len(log.read_bytes().splitlines()) == 2
    told = run("tail", silo.path, "site", "--jobs", str(tmp_path / "jobs"), "-q")
    assert (told.exit_code, told.output) == (0, "")
    assert noted(queues, "site").directory == str(tmp_path / "jobs" / "site")
    assert run("tail", silo.path, "../x", "--jobs", str(tmp_path)).exit_code == 2


def test_a_log_is_followed_until_its_job_has_ended(silo: Silo, run: Run, tmp_path: Path) -> None:
    launch = "20261124061100"
    job = tmp_path / "jobs" / "site"
    log = job / launch / "logs" / "crawl.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(line(1))

    def end() -> None:
        wait_until(lambda: bool(Path(log_file(silo.path, "site/20261124T061100Z")).exists()))
        log.write_bytes(line(1) + line(2))
        report = job / launch / "reports" / "crawl-report.txt"
        report.parent.mkdir()
        report.write_text("crawl name: site\ncrawl status: Ended by operator\nduration: 1m\n")
        (job / "job.log").write_text(f"2026-11-24T06:12:00Z INFO FINISHED {launch}\n")

    with ThreadPoolExecutor() as other:
        ended = other.submit(end)
        told = run("tail", silo.path, "site", "--jobs", str(tmp_path / "jobs"), "--follow")
        ended.result()
    assert told.exit_code == 0
    assert (
        "2 lines read, 2 of them new outcomes\nthe job site has ended: Ended by operator\n"
        in told.stdout
    )


def test_what_cannot_go_on_says_why(silo: Silo, fake: FakeHeritrix, run: Run) -> None:
    told = run("resume", silo.path, "site")
    assert told.exit_code == 2
    assert "has no checkpoint latest; those it has: none" in told.output
    fake.states = ["FINISHED"]
    told = run("resume", silo.path, "site")
    assert "tear it down first" in told.output
