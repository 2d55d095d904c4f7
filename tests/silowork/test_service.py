"""What people do to jobs: start, go on, pause, stop, retry and dismiss, and who is told of it."""

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner

from recordsilo.disk.locks import Locks
from silowork import service
from silowork.broker import WORKER_LOCK
from silowork.commands import jobs as command
from silowork.errors import JobRefused, NoSuchJob, QueueUnreachable
from silowork.ledger import JobLedger
from silowork.service import Jobs
from silowork.values import (
    Advance,
    Ending,
    Job,
    JobAction,
    Problem,
    State,
    Wish,
)
from silowork.work import Kind, Work

BROKER = "redis://me:secret@127.0.0.1:1/0"


@pytest.fixture
def silo_path(empty_silo: str) -> str:
    return empty_silo


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The Silos whose workers were woken."""
    found: list[str] = []
    monkeypatch.setattr(service, "wake", found.append)
    return found


@pytest.fixture
def jobs(silo_path: str, told: list[str]) -> Jobs:
    return Jobs.of(silo_path)


def run(jobs: Jobs, job_id: str, ending: Ending | None = None) -> None:
    """Run a job, to its end if one is given."""
    assert jobs.ledger.claim(job_id, 3)
    if ending is not None:
        jobs.ledger.end(job_id, ending)


def audit(jobs: Jobs, job_id: str = "") -> Job:
    return jobs.begin("audit", "Audit", {"share": 1.0}, "ada", job_id)


# --------------------------------------------------------------------------- start


def test_a_job_that_is_started_waits_and_a_worker_is_told(jobs: Jobs, told: list[str]) -> None:
    job = audit(jobs)
    assert (job.state, job.title, job.arguments) == (State.QUEUED, "Audit", {"share": 1.0})
    assert told == [jobs.ledger.silo_path]


def test_a_job_of_an_unknown_kind_is_not_stored(jobs: Jobs, told: list[str]) -> None:
    for start in (jobs.begin, jobs.go_on):
        with pytest.raises(JobRefused, match="no kind of job 'dance'"):
            start("dance", "Dance", {}, "ada", "x")
    assert jobs.ledger.jobs() == []
    assert told == []


def test_a_job_is_started_once_and_gone_on_with_often(jobs: Jobs, told: list[str]) -> None:
    audit(jobs, "x")
    run(jobs, "x", Ending(True))
    assert audit(jobs, "x").state is State.DONE
    assert len(told) == 1, "nobody is told of a job that is over"
    again = jobs.go_on("audit", "Other title", {}, "bob", "x")
    assert (again.state, again.title) == (State.QUEUED, "Audit")
    assert len(told) == 2
    run(jobs, "x")
    assert jobs.go_on("audit", "Audit", {}, "bob", "x").state is State.RUNNING
    jobs.act("x", JobAction.PAUSE)
    assert jobs.ledger.interrupt("x") is State.PAUSED
    assert jobs.go_on("audit", "Audit", {}, "bob", "x").state is State.QUEUED
    assert jobs.go_on("audit", "Audit", {}, "bob", "y").state is State.QUEUED


def test_without_a_worker_a_job_runs_in_this_process(
    silo_path: str, monkeypatch: pytest.MonkeyPatch, told: list[str]
) -> None:
    ran: list[tuple[str, str]] = []
    ended = threading.Event()

    def run_here(*job: str) -> None:
        ran.append((job[0], job[1]))
        ended.set()

    monkeypatch.setattr(service, "run_here", run_here)
    jobs = Jobs.of(silo_path, by_worker=False)
    job = audit(jobs)
    assert ended.wait(60)
    assert ran == [(silo_path, job.job_id)]
    assert told == []
    assert jobs.problem() == ""


class Sent:
    """What is sent through a broker, which may be away."""

    is_away = False
    ids: list[str]

    def __init__(self, _broker: object) -> None: ...

    def send(self, job_id: str) -> None:
        self.reach()
        self.ids.append(job_id)

    def reach(self) -> None:
        if self.is_away:
            raise QueueUnreachable("redis://127.0.0.1:1/0", "refused")


def test_a_job_is_sent_to_the_broker_once_and_waits_while_that_is_away(
    silo_path: str, monkeypatch: pytest.MonkeyPatch, told: list[str]
) -> None:
    monkeypatch.setattr(service, "Sender", Sent)
    monkeypatch.setattr(Sent, "ids", [], raising=False)
    monkeypatch.setattr(Sent, "is_away", True)
    jobs = Jobs.of(silo_path, BROKER)
    assert not audit(jobs, "x").sent
    assert jobs.problem().startswith("Jobs wait: the queue redis://127.0.0.1:1/0 cannot be reached")
    monkeypatch.setattr(Sent, "is_away", False)
    assert jobs.problem() == ""
    for _ in range(2):
        assert audit(jobs, "x").sent
    assert Sent.ids == ["x"]
    assert told == []
    jobs.act("x", JobAction.PAUSE)
    jobs.act("x", JobAction.RESUME)
    assert Sent.ids == ["x", "x"], "the worker may have dropped the first notice"


# --------------------------------------------------------------------------- act


def made(jobs: Jobs, state: State) -> str:
    """Make a job in a state."""
    job_id = audit(jobs).job_id
    if state is State.PAUSED:
        jobs.ledger.ask(job_id, Wish.PAUSE)
    elif state is State.STOPPED:
        jobs.ledger.ask(job_id, Wish.STOP)
    elif state is not State.QUEUED:
        ends = {State.DONE: Ending(True), State.FAILED: Ending(False), State.RUNNING: None}
        run(jobs, job_id, ends[state])
    assert jobs.ledger.job(job_id).state is state
    return job_id


PAUSE, RESUME, STOP, RETRY, DISMISS = JobAction
ALLOWED = {
    State.QUEUED: {PAUSE: State.PAUSED, STOP: State.STOPPED},
    State.RUNNING: {PAUSE: State.RUNNING, STOP: State.RUNNING},
    State.PAUSED: {RESUME: State.QUEUED, STOP: State.STOPPED},
    State.DONE: {},
    State.FAILED: {RETRY: State.QUEUED, DISMISS: State.FAILED},
    State.STOPPED: {RETRY: State.QUEUED},
}


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("action", list(JobAction))
def test_a_state_allows_some_actions_and_names_the_others(
    jobs: Jobs, told: list[str], state: State, action: JobAction
) -> None:
    job_id = made(jobs, state)
    told.clear()
    then: Mapping[JobAction, State] = ALLOWED[state]
    assert set(jobs.ledger.job(job_id).actions) == set(then)
    if action in then:
        after = jobs.act(job_id, action)
        assert after.state is then[action]
        assert bool(told) == (after.state is State.QUEUED)
    else:
        with pytest.raises(JobRefused, match=f"is {state} and cannot be {action[:4]}"):
            jobs.act(job_id, action)
        assert jobs.ledger.job(job_id).state is state
        assert told == []


def test_a_running_job_is_asked_once(jobs: Jobs) -> None:
    job_id = made(jobs, State.RUNNING)
    assert jobs.act(job_id, PAUSE).wish is Wish.PAUSE
    with pytest.raises(JobRefused, match="is running and cannot be stopped"):
        jobs.act(job_id, STOP)
    assert jobs.ledger.interrupt(job_id) is State.PAUSED


def test_a_failure_that_was_dismissed_can_be_retried_but_not_dismissed_again(jobs: Jobs) -> None:
    job_id = made(jobs, State.FAILED)
    dismissed = jobs.act(job_id, DISMISS)
    assert dismissed.is_dismissed
    assert dismissed.actions == (RETRY,)
    again = jobs.act(job_id, RETRY)
    assert (again.state, again.is_dismissed) == (State.QUEUED, False)
    assert not jobs.ledger.dismiss(made(jobs, State.DONE))


def test_a_retry_renews_the_work_and_forgets_what_failed(
    jobs: Jobs, contribute: Callable[[str, str, Any], None]
) -> None:
    renewed: list[tuple[str, Mapping[str, Any]]] = []

    def work(_work: Work) -> Ending:
        raise AssertionError("it ran")

    kind = Kind("toy", "Toy", work, renew=lambda *of: renewed.append(of))
    contribute("recordsilo.jobs", "toy", kind)
    job = jobs.begin("toy", "A toy", {"size": 3}, "ada")
    failure = Ending(False, sentence="it broke", problems=[Problem("a:1", "is gone")])
    run(jobs, job.job_id, failure)
    after = jobs.act(job.job_id, RETRY)
    assert renewed == [(jobs.ledger.silo_path, {"size": 3})]
    assert (after.problems, after.sentence) == (0, "")
    assert jobs.ledger.problems(job.job_id) == []
    jobs.act(job.job_id, STOP)
    jobs.act(job.job_id, RETRY)
    assert len(renewed) == 2


def test_nothing_is_done_to_a_job_that_is_not_there(jobs: Jobs) -> None:
    for action in JobAction:
        with pytest.raises(NoSuchJob, match="there is no job 'x'"):
            jobs.act("x", action)


# --------------------------------------------------------------------------- who works


@contextmanager
def working(path: str) -> Iterator[None]:
    """Hold the lock of a worker of a Silo, or of a directory of Silos."""
    with Locks.of_silo(path).hold_name(WORKER_LOCK):
        yield


def test_jobs_wait_only_where_no_worker_is(jobs: Jobs, silo_path: str) -> None:
    assert jobs.problem(is_waiting=False) == ""
    assert jobs.problem() == (
        "Jobs wait: no worker is running. Start one with `silo serve` or `silo worker`."
    )
    for path in (silo_path, os.path.dirname(silo_path)):
        with suppress(FileExistsError):
            os.mkdir(os.path.join(path, ".silo"))
        with working(path):
            assert jobs.problem() == "", path
    assert jobs.problem() != "", "the lock of a worker that has ended is free"


# --------------------------------------------------------------------------- the command


def said(silo_path: str, *arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(command, [silo_path, *arguments], standalone_mode=False)
    found = result.return_value if isinstance(result.return_value, int) else result.exit_code
    assert found == code, result.output
    return result.stdout


def test_jobs_are_listed_the_newest_first_with_what_they_did(jobs: Jobs, silo_path: str) -> None:
    assert said(silo_path) == ""
    first, second = audit(jobs, "20261121T222100Z-a"), audit(jobs, "20261121T222200Z-b")
    run(jobs, first.job_id, Ending(True, counts={"records": 1234}))
    run(jobs, second.job_id)
    jobs.ledger.advance(second.job_id, Advance(7, 9))
    newest, oldest = said(silo_path).splitlines()
    assert newest.startswith(second.job_id)
    assert newest.endswith("running          7  Audit")
    assert oldest.endswith("done         1,234  Audit")
    lines = [json.loads(line) for line in said(silo_path, "--json").splitlines()]
    assert [line["job"] for line in lines] == [second.job_id, first.job_id]
    assert lines[0]["progress"] == {"done": 7, "total": 9, "step": ""}


def test_a_job_is_shown_with_what_it_did_not_do(jobs: Jobs, silo_path: str) -> None:
    job = audit(jobs)
    problems = [Problem("a:1", "is gone"), Problem("", "the disk is full")]
    run(jobs, job.job_id, Ending(False, "the receipt", sentence="it broke", problems=problems))
    shown = said(silo_path, job.job_id, code=1).splitlines()
    assert shown[1:] == ["it broke", "the receipt", "a:1: is gone", "the disk is full"]
    found = json.loads(said(silo_path, job.job_id, "--json", code=1))
    assert (found["state"], found["problems"], found["actions"]) == (
        "failed", 2, ["retry", "dismiss"],
    )  # fmt: skip
    assert found["failed"] == [
        {"identifier": "a:1", "reason": "is gone"},
        {"identifier": "", "reason": "the disk is full"},
    ]


def test_a_command_acts_on_a_job_and_says_what_it_is_then(jobs: Jobs, silo_path: str) -> None:
    job = audit(jobs)
    assert "  paused  " in said(silo_path, job.job_id, "--do", "pause")
    assert "  queued  " in said(silo_path, job.job_id, "--do", "resume")
    result = CliRunner().invoke(command, [silo_path, job.job_id])
    assert "Jobs wait: no worker is running." in result.stderr
    for arguments, words in (
        ([job.job_id, "--do", "retry"], "is queued and cannot be retried"),
        (["gone"], "there is no job 'gone'"),
        (["--do", "stop"], "--do needs a JOB"),
        ([job.job_id, "--do", "dance"], "'dance' is not one of"),
        (["--broker", "http://x"], "is not the address of a broker"),
    ):
        result = CliRunner().invoke(command, [silo_path, *arguments])
        assert result.exit_code not in {0, 1} or "silo:" in result.stderr
        assert words in result.stderr


# --------------------------------------------------------------------------- values


def test_a_share_is_known_where_the_total_is() -> None:
    assert Advance(3, 12).share == 0.25
    assert Advance(13, 12).share == 1.0
    assert (Advance(3).share, Advance(0, 0).share) == (None, None)


def test_only_a_whole_ending_without_a_sentence_is_done() -> None:
    assert Ending(True).state is State.DONE
    assert Ending(False).state is State.FAILED
    assert Ending(True, sentence="the disk is full").state is State.FAILED


@pytest.mark.parametrize("state", list(State))
def test_a_job_is_written_as_json_with_all_that_people_may_see(state: State) -> None:
    job = replace(Job("x", "audit", "Audit", {"share": 1.0}, "ada", "2026"), state=state)
    found = json.loads(json.dumps(job.to_json()))
    assert (found["state"], found["asked"]) == (state.value, "")
    assert found["actions"] == [action.value for action in job.actions]
    assert job.is_over == (state in {State.DONE, State.FAILED, State.STOPPED})
    assert not found.keys() & {"mark", "revision", "sent", "crashes"}


def test_progress_of_a_job_that_does_not_run_is_not_stored(silo_path: str) -> None:
    ledger = JobLedger(silo_path)
    ledger.add("audit", "Audit", {}, "ada", "x")
    assert ledger.advance("x", Advance(3, 9)) is Wish.NONE
    assert ledger.job("x").advance == Advance()
    ledger.claim("x", 3)
    ledger.ask("x", Wish.STOP)
    assert ledger.advance("x", Advance(3, 9)) is Wish.STOP
    ledger.keep("x", {"place": 1}, [Problem("a:1", "is gone")])
    assert ledger.interrupt("x") is State.STOPPED
    ledger.keep("x", {"place": 2}, ())
    assert ledger.job("x").mark == {"place": 1}
    ledger.end("x", Ending(True))
    assert ledger.job("x").state is State.STOPPED


def test_jobs_of_somebody_leave_out_what_a_wrong_clock_made(silo_path: str) -> None:
    ledger = JobLedger(silo_path)
    for name, agent in (("a", "ada"), ("b", "bob"), ("c", "ada"), ("d", "ada")):
        ledger.add("audit", "Audit", {}, agent, name)
    until = ledger.job("c").made
    assert [job.job_id for job in ledger.jobs_of("ada", 9, until)] == ["d", "c", "a"]
    ledger.claim("d", 3)
    ledger.end("d", Ending(True))
    assert [job.job_id for job in ledger.jobs_of("ada", 9, until)] == ["c", "a"]
    assert [job.job_id for job in ledger.jobs_of("ada", 1, until)] == ["c"]
