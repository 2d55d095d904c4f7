"""Jobs survive killed processes: each is finished by this worker or the next."""

import errno
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest
from examples import family
from ports import free_port
from redis_server import redis_on
from running_processes import descendants_of, is_alive

from oaipmhprovider.sample import sample_repository
from oaipmhprovider.server import ProviderServer
from recordsilo import Silo
from recordsilo.disk.locks import Locks
from recordsilo.errors import IndexProblem
from silocuration.batch.job import create_job, job_report
from silocuration.batch.journal import Doing
from silocuration.batch.specs import rules_job
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import Add, Replace
from silocuration.jobs import begin_change, begin_undo
from silowork.broker import Broker, Sender
from silowork.embedded import EmbeddedWorker
from silowork.ledger import LEDGER
from silowork.running import DISK_FULL, run_job
from silowork.service import Jobs
from silowork.stop import Stop
from silowork.values import Advance, JobAction, State
from silowork.worker import SLOTS

Until = Callable[..., None]
PYTHON = [sys.executable, "-c", "from recordsilo.cli import main; main()"]
pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at /proc")
RULES = RuleSet("Everything is a report", rules=(Add("type", "report"),))
SLOW = replace(RULES, rules=(*RULES.rules, *(Replace("title", str(n), "") for n in range(400))))
"""The same, so slowly that the worker is ended before the job."""


@pytest.fixture
def change(silo_path: str) -> str:
    """A bulk change over every record, planned."""
    with Silo(silo_path, create=False) as silo:
        return create_job(silo, rules_job(RULES), agent="ada")


@pytest.fixture
def slow_change(silo_path: str) -> str:
    """The same, of which much is left when the first records are done."""
    with Silo(silo_path, create=False) as silo:
        return create_job(silo, rules_job(SLOW), agent="ada")


def done_records(silo_path: str, change: str) -> int:
    with Silo(silo_path, create=False) as silo:
        return job_report(silo, change).counts.get(Doing.DONE, 0)


def is_over(jobs: Jobs, job_id: str) -> Callable[[], bool]:
    return lambda: jobs.ledger.job(job_id).is_over


def types_of(silo_path: str) -> set[tuple[tuple[str, ...], int]]:
    """The versions of the records, and how often they say they are reports."""
    found = set()
    with Silo(silo_path, create=False) as silo:
        for record in silo.iteritems():
            with record.get_stream("oai_dc") as stream:
                found.add((tuple(record.versions), stream.read().count(b"report<")))
    return found


@contextmanager
def spoiled(silo_path: str, identifier: str) -> Iterator[None]:
    """A record whose metadata file is not XML for as long as the block lasts."""
    with Silo(silo_path, create=False) as silo:
        path = silo[identifier].to_dirpath("oai_dc", "1")
    with open(path, "rb") as file:
        sound = file.read()
    try:
        with open(path, "wb") as file:
            file.write(b"no XML")
        yield
    finally:
        with open(path, "wb") as file:
            file.write(sound)


class HeldSource:
    """The sample repository, whose records are held back until they may be listed."""

    def __init__(self) -> None:
        self._source = sample_repository(200)
        self.is_asked, self.may_answer = threading.Event(), threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def records(self, *asked: Any) -> Any:
        self.is_asked.set()
        assert self.may_answer.wait(60)
        return self._source.records(*asked)


@pytest.fixture
def held_repository() -> Iterator[tuple[HeldSource, str]]:
    source = HeldSource()
    with ProviderServer(source) as server:
        try:
            yield source, server.base_url
        finally:
            source.may_answer.set()


def processes_of_jobs(worker: int) -> list[int]:
    """The processes of a worker that are not in its session: those of its jobs."""
    found = []
    for pid in descendants_of(worker):
        with suppress(ProcessLookupError):
            if os.getsid(pid) != os.getsid(worker):
                found.append(pid)
    return found


@pytest.mark.long
def test_a_change_killed_in_the_middle_is_finished_by_the_next_worker(
    silo_path: str, jobs: Jobs, worker: EmbeddedWorker, slow_change: str, until: Until
) -> None:
    begin_change(jobs, slow_change, RULES.title, "ada")
    until(lambda: done_records(silo_path, slow_change))
    first = worker.pid
    assert first
    processes = descendants_of(first)
    os.kill(first, signal.SIGKILL)
    assert jobs.ledger.job(slow_change).state is State.RUNNING
    assert done_records(silo_path, slow_change) < 600
    until(is_over(jobs, slow_change))
    assert worker.pid != first
    assert not any(is_alive(pid) for pid in processes)
    job = jobs.ledger.job(slow_change)
    assert (job.state, job.counts) == (State.DONE, {"done": 600, "values changed": 600})
    assert types_of(silo_path) == {(("1", "workingcopy"), 1)}


@pytest.mark.long
def test_ending_the_worker_leaves_no_process_and_the_next_one_goes_on(
    silo_path: str, jobs: Jobs, slow_change: str, until: Until
) -> None:
    with EmbeddedWorker(Broker(silo_path)) as worker:
        begin_change(jobs, slow_change, RULES.title, "ada")
        until(lambda: done_records(silo_path, slow_change))
        assert worker.pid
        processes = [worker.pid, *descendants_of(worker.pid)]
    assert not any(is_alive(pid) for pid in processes)
    assert jobs.ledger.job(slow_change).state is State.QUEUED
    assert jobs.problem().startswith("Jobs wait: no worker")
    with EmbeddedWorker(Broker(silo_path)):
        until(is_over(jobs, slow_change))
    assert jobs.ledger.job(slow_change).state is State.DONE
    assert types_of(silo_path) == {(("1", "workingcopy"), 1)}


@pytest.mark.long
def test_a_harvest_is_paused_resumed_and_finished(
    tmp_path: Any, until: Until, held_repository: tuple[HeldSource, str]
) -> None:
    source, url = held_repository
    path = str(tmp_path / "harvested")
    Silo(path).close()
    jobs = Jobs.of(path)
    arguments = {"prefixes": ["oai_dc"], "url": url}
    with EmbeddedWorker(Broker(path)) as worker:
        job = jobs.begin("harvest", "Harvest", arguments, "ada")
        until(source.is_asked.is_set)
        jobs.act(job.job_id, JobAction.PAUSE)
        until(lambda: jobs.ledger.job(job.job_id).state is State.PAUSED)
        assert worker.pid
        until(lambda: not processes_of_jobs(worker.pid))
        source.may_answer.set()
        jobs.act(job.job_id, JobAction.RESUME)
        until(is_over(jobs, job.job_id))
    job = jobs.ledger.job(job.job_id)
    assert job.state is State.DONE, job.sentence
    assert job.counts["listed"] > 0
    assert "Whole: everything listed is in the Silo." in job.text
    with Silo(path, create=False) as silo:
        assert len(silo) == job.counts["listed"]
        assert {record.state.versions[0].origin.agent for record in silo.iteritems()} == {"ada"}


@pytest.mark.long
def test_jobs_of_one_lane_follow_each_other(
    silo_path: str, jobs: Jobs, worker: EmbeddedWorker, until: Until
) -> None:
    made = [jobs.begin("reindex", "Rebuild the index", {}, "ada").job_id for _ in range(3)]
    until(lambda: all(jobs.ledger.job(one).is_over for one in made))
    spans = sorted((job.begun, job.ended) for job in map(jobs.ledger.job, made))
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))


@pytest.mark.long
def test_without_a_broker_the_worker_finds_jobs_in_the_ledger(
    silo_path: str, jobs: Jobs, change: str, until: Until
) -> None:
    assert not begin_change(jobs, change, RULES.title, "ada").sent
    with EmbeddedWorker(Broker(silo_path)):
        until(is_over(jobs, change))
        later = jobs.begin("reindex", "Rebuild the index", {}, "ada")
        until(is_over(jobs, later.job_id))
    assert jobs.ledger.job(change).counts["done"] == 600
    assert run_job(silo_path, change) is None


@pytest.mark.long
def test_jobs_that_wait_for_their_lane_hold_up_no_other_lane(
    silo_path: str, jobs: Jobs, until: Until
) -> None:
    with Locks(os.path.join(silo_path, ".silo", "locks")).hold_name("lane-index"):
        for _ in range(2 * SLOTS):
            jobs.begin("reindex", "Rebuild the index", {}, "ada")
        audit = jobs.begin("audit", "Audit", {}, "ada")
        with EmbeddedWorker(Broker(silo_path)):
            until(is_over(jobs, audit.job_id))
    assert jobs.ledger.job(audit.job_id).state is State.DONE


def test_a_queue_that_cannot_be_reached_lets_the_job_wait_and_says_so(silo_path: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: every connection is refused
        url = f"redis://:secret@127.0.0.1:{taken.getsockname()[1]}/0"
        jobs = Jobs.of(silo_path, url)
        job = jobs.begin("reindex", "Rebuild the index", {}, "ada")
        assert (job.state, job.sent) == (State.QUEUED, False)
        problem = jobs.problem()
    assert problem.startswith("Jobs wait: the queue redis://127.0.0.1:")
    assert "secret" not in problem
    assert [(one.job_id, one.sent) for one in jobs.ledger.active()] == [(job.job_id, False)]


def test_the_records_passed_over_are_tried_again(silo_path: str, jobs: Jobs, change: str) -> None:
    name = "oai:example.org:7"
    job = begin_change(jobs, change, RULES.title, "ada")
    with spoiled(silo_path, name):
        assert run_job(silo_path, job.job_id) is State.FAILED
    failed = jobs.ledger.job(change)
    assert failed.counts["skipped"] == 1
    assert [one.identifier for _, one in jobs.ledger.problems(change)] == [name]
    assert jobs.act(change, JobAction.RETRY).state is State.QUEUED
    assert run_job(silo_path, change) is State.DONE
    assert jobs.ledger.job(change).counts == {"done": 600, "values changed": 600}
    assert jobs.ledger.problems(change) == []


def _caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "SILO/x/__manifest.json.new"), DISK_FULL),
        (
            _caused(IndexProblem("index.sqlite", "it failed"), OSError(errno.ENOSPC, "no room")),
            DISK_FULL,
        ),
        (OSError(errno.EIO, "Input/output error", "SILO/x/oai_dc"), "x/oai_dc: Input/output error"),
        (OSError("the tunnel is closed"), "the tunnel is closed"),
    ],
)
def test_an_error_of_the_disk_ends_a_job_with_a_sentence(
    silo_path: str, jobs: Jobs, monkeypatch: pytest.MonkeyPatch, error: Exception, sentence: str
) -> None:
    if (place := getattr(error, "filename", None)) is not None:
        monkeypatch.setattr(error, "filename", place.replace("SILO", silo_path))

    def fail(*_: object) -> None:
        raise error

    job = jobs.begin("reindex", "Rebuild the index", {}, "ada")
    monkeypatch.setattr("silowork.running._ending", fail)
    assert run_job(silo_path, job.job_id) is State.FAILED
    said = jobs.ledger.job(job.job_id).sentence
    assert said.removeprefix(f"{os.path.basename(silo_path)}/") == sentence
    monkeypatch.undo()
    jobs.act(job.job_id, JobAction.RETRY)
    assert run_job(silo_path, job.job_id) is State.DONE


def test_an_undo_that_waits_or_runs_is_not_begun_again(jobs: Jobs, change: str) -> None:
    undo = begin_undo(jobs, change, "Undo", "bob")
    assert begin_undo(jobs, change, "Undo", "ada").job_id == undo.job_id
    assert begin_undo(jobs, "another", "Undo", "ada").job_id != undo.job_id
    jobs.act(undo.job_id, JobAction.STOP)
    assert begin_undo(jobs, change, "Undo", "ada").job_id != undo.job_id


@pytest.mark.long
def test_an_undo_takes_back_what_the_change_did(silo_path: str, jobs: Jobs, change: str) -> None:
    begin_change(jobs, change, RULES.title, "ada")
    run_job(silo_path, change)
    undo = begin_undo(jobs, change, "Undo", "bob")
    assert begin_undo(jobs, change, "Undo", "eve").job_id == undo.job_id  # pressed twice
    assert run_job(silo_path, undo.job_id) is State.DONE
    assert jobs.ledger.job(undo.job_id).counts == {"undone": 600}
    assert jobs.ledger.job(undo.job_id).advance.done == 600
    assert types_of(silo_path) == {(("1",), 0)}


@pytest.mark.long
def test_an_audit_that_is_interrupted_goes_on_where_it_was(
    silo_path: str, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    with spoiled(silo_path, "oai:example.org:0"):
        job = jobs.begin("audit", "Audit", {"records": 600}, "ada")
        stopping = Stop()
        advance = jobs.ledger.__class__.advance

        def noted(ledger: Any, job_id: str, how_far: Advance) -> Any:
            if how_far.done > 100:
                stopping.ask()
            return advance(ledger, job_id, how_far)

        monkeypatch.setattr("silowork.work.SECONDS_BETWEEN_NOTES", 0.0)
        monkeypatch.setattr("silowork.ledger.JobLedger.advance", noted)
        assert run_job(silo_path, job.job_id, stopping) is State.QUEUED
        place = jobs.ledger.job(job.job_id).mark["records"]
        assert 100 < place < 600
        monkeypatch.undo()
        assert run_job(silo_path, job.job_id) is State.FAILED
    ended = jobs.ledger.job(job.job_id)
    assert ended.counts["records"] == 600
    assert ended.counts["damage"] == 1
    assert "oai:example.org:0" in {one.identifier for _, one in jobs.ledger.problems(job.job_id)}


def test_what_nobody_foresaw_is_in_the_log_and_the_job_has_failed(
    silo_path: str, jobs: Jobs, caplog: pytest.LogCaptureFixture
) -> None:
    job = jobs.begin("audit", "Audit", {"share": "many"}, "ada")
    assert run_job(silo_path, job.job_id) is State.FAILED
    assert jobs.ledger.job(job.job_id).sentence.startswith("an unexpected error occurred")
    assert "ValueError" in caplog.text


def test_a_harvest_of_a_silo_that_has_no_repository_fails_in_a_sentence(
    silo_path: str, jobs: Jobs
) -> None:
    job = jobs.begin("update", "Update", {}, "ada")
    assert run_job(silo_path, job.job_id) is State.FAILED
    assert "has no repository yet" in jobs.ledger.job(job.job_id).sentence


@contextmanager
def worker_command(silo_path: str, url: str) -> Iterator[None]:
    process = subprocess.Popen(
        [*PYTHON, "worker", silo_path, "--broker", url], stderr=subprocess.DEVNULL
    )
    try:
        yield
        process.terminate()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()


needs_redis = pytest.mark.skipif(
    not shutil.which("redis-server"), reason="redis-server is not installed"
)


@pytest.mark.long
@needs_redis
def test_jobs_go_through_redis_and_wait_while_it_is_away(
    tmp_path: Any, silo_path: str, change: str, until: Until
) -> None:
    port = free_port()
    jobs = Jobs.of(silo_path, f"redis://127.0.0.1:{port}/0")
    assert not begin_change(jobs, change, RULES.title, "ada").sent
    with redis_on(port, tmp_path):
        until(lambda: not jobs.problem())
        with worker_command(silo_path, jobs.broker.url):
            until(is_over(jobs, change))
            other = jobs.begin("reindex", "Rebuild the index", {}, "ada")
            assert other.sent
            until(is_over(jobs, other.job_id))
            Sender(jobs.broker).send(change)  # a message may come twice
            last = jobs.begin("reindex", "Rebuild the index", {}, "ada")
            until(is_over(jobs, last.job_id))
    assert jobs.ledger.job(change).counts["done"] == 600
    assert jobs.ledger.job(change).state is State.DONE


@pytest.mark.long
@needs_redis
def test_silos_that_share_a_broker_leave_each_others_jobs_alone(
    tmp_path: Any, silo_path: str, until: Until
) -> None:
    port = free_port()
    url = f"redis://127.0.0.1:{port}/0"
    Jobs.of(silo_path).ledger.ledger_id()
    copy = str(tmp_path / "copy")
    shutil.copytree(silo_path, copy)  # a Silo and its copy are the hardest to tell apart
    both = [Jobs.of(path, url) for path in (silo_path, copy)]
    with (
        redis_on(port, tmp_path),
        worker_command(silo_path, url),
        worker_command(copy, url),
    ):
        until(lambda: not any(jobs.problem() for jobs in both))
        first = [jobs.begin("reindex", "Rebuild the index", {}, "ada") for jobs in both]
        for jobs, job in zip(both, first, strict=True):
            until(is_over(jobs, job.job_id))  # so both workers take messages now
        for _ in range(4):
            made = [jobs.begin("reindex", "Rebuild the index", {}, "ada") for jobs in both]
            assert all(job.sent for job in made)
            for jobs, job in zip(both, made, strict=True):
                until(is_over(jobs, job.job_id))


@pytest.mark.long
@needs_redis
def test_a_worker_of_a_directory_takes_from_the_queues_of_its_silos_alone(
    tmp_path: Any, silo_path: str, until: Until
) -> None:
    port = free_port()
    url = f"redis://127.0.0.1:{port}/0"
    granary = tmp_path / "many"
    inside, later, outside = (str(granary / "in"), str(granary / "later"), silo_path)
    shutil.copytree(silo_path, inside)
    shutil.copytree(silo_path, later)
    known = {path: Jobs.of(path, url) for path in (inside, later, outside)}
    with redis_on(port, tmp_path):
        until(lambda: not known[inside].problem())
        first = known[inside].begin("reindex", "Rebuild the index", {}, "ada")
        other = known[outside].begin("reindex", "Rebuild the index", {}, "ada")
        with worker_command(str(granary), url):
            until(is_over(known[inside], first.job_id))
            for path in (later, inside):  # `later` had no ledger when the worker started
                job = known[path].begin("reindex", "Rebuild the index", {}, "ada")
                until(is_over(known[path], job.job_id))
                assert known[path].ledger.job(job.job_id).state is State.DONE
        assert other.sent
        assert known[outside].ledger.job(other.job_id).state is State.QUEUED
        with worker_command(outside, url):
            until(is_over(known[outside], other.job_id))


def test_a_queue_is_named_by_its_silo_alone(tmp_path: Any, silo_path: str) -> None:
    name = Broker(silo_path).queue()
    link = str(tmp_path / "link")
    os.symlink(silo_path, link)
    assert Broker(link, "redis://elsewhere/0").queue() == name
    ledger = os.path.join(silo_path, *LEDGER)
    os.rename(ledger, ledger + ".old")  # as a Silo in a directory of that name elsewhere
    assert Broker(silo_path).queue() != name


@pytest.mark.long
def test_a_worker_that_cannot_be_started_is_tried_again(
    silo_path: str, jobs: Jobs, change: str, until: Until, caplog: pytest.LogCaptureFixture
) -> None:
    own = os.path.join(silo_path, ".silo", "queue")
    begin_change(jobs, change, RULES.title, "ada")
    shutil.rmtree(own, ignore_errors=True)
    with open(own, "w"):
        pass  # as where the Silo may not be written: no log can be opened
    with EmbeddedWorker(Broker(silo_path)):
        until(lambda: "no worker can be started, so jobs wait" in caplog.text)
        os.unlink(own)
        until(is_over(jobs, change))
    assert done_records(silo_path, change) == 600


@pytest.mark.parametrize("url", family(["nonsense://host/0", "redis", "os:path://host"], 1))
def test_an_address_that_names_no_queue_is_wrong_input(silo_path: str, url: str) -> None:
    result = subprocess.run(
        [*PYTHON, "worker", silo_path, "--broker", url],
        capture_output=True, text=True, check=False, timeout=90,
    )  # fmt: skip
    assert result.returncode == 2
    assert f"{url!r} is not the address of a broker" in result.stderr
    assert "Traceback" not in result.stderr
