"""The ledger of jobs: transitions between states, and what is stored."""

import os
import sqlite3
from typing import Any

import pytest

from recordsilo.errors import VERSION_FILE
from silowork.errors import LedgerUnreadable, NoSuchJob
from silowork.ledger import KEPT_PROBLEMS, JobLedger
from silowork.values import Advance, Ending, Job, JobAction, Problem, State, Wish


@pytest.fixture
def ledger(tmp_path: Any) -> JobLedger:
    (tmp_path / VERSION_FILE).touch()
    return JobLedger(str(tmp_path))


def running(ledger: JobLedger) -> Job:
    job = ledger.add("audit", "Audit", {}, "ada")
    claimed = ledger.claim(job.job_id, 3)
    assert claimed
    return claimed


def test_a_silo_without_jobs_has_none_and_gets_no_file_by_looking(ledger: JobLedger) -> None:
    assert ledger.jobs() == []
    assert ledger.active() == []
    with pytest.raises(NoSuchJob):
        ledger.job("20261121T222100Z-abcdef")
    assert not os.path.exists(ledger.path)


def test_a_job_waits_runs_and_ends(ledger: JobLedger) -> None:
    job = ledger.add("audit", "Audit", {"share": 0.5}, "ada")
    assert (job.state, job.agent, job.arguments) == (State.QUEUED, "ada", {"share": 0.5})
    assert ledger.claim(job.job_id, 3).state is State.RUNNING
    ledger.advance(job.job_id, Advance(3, 10, "reading"))
    assert ledger.job(job.job_id).advance.share == 0.3
    ledger.end(job.job_id, Ending(True, "all well", {"n": 1}, {"records": 10}))
    ended = ledger.job(job.job_id)
    assert (ended.state, ended.text, ended.report) == (State.DONE, "all well", {"n": 1})
    assert ended.actions == ()
    assert ledger.claim(job.job_id, 3) is None


def test_the_pace_of_a_job_is_that_since_it_was_resumed(ledger: JobLedger) -> None:
    job = running(ledger)
    assert (job.since, job.done_before) == ("", 0)
    for done in (3, 5):
        ledger.advance(job.job_id, Advance(done, 10))
    first = ledger.job(job.job_id)
    assert (first.done_before, first.since >= first.begun) == (3, True)
    ledger.ask(job.job_id, Wish.PAUSE)
    assert ledger.interrupt(job.job_id) is State.PAUSED
    ledger.requeue(job.job_id, (State.PAUSED,))
    resumed = ledger.claim(job.job_id, 3)
    assert resumed
    assert (resumed.begun, resumed.since, resumed.done_before) == (first.begun, "", 0)
    ledger.advance(job.job_id, Advance(6, 10))
    again = ledger.job(job.job_id)
    assert (again.done_before, again.since > first.since) == (6, True)


def test_a_job_with_a_failed_record_is_never_done(ledger: JobLedger) -> None:
    job = running(ledger)
    ledger.end(job.job_id, Ending(False, problems=[Problem("a:1", "is gone")]))
    ended = ledger.job(job.job_id)
    assert (ended.state, ended.problems) == (State.FAILED, 1)
    assert ended.actions == (JobAction.RETRY, JobAction.DISMISS)
    assert ledger.problems(job.job_id) == [(1, Problem("a:1", "is gone"))]
    assert Ending(True, sentence="the disk is full").state is State.FAILED


def test_a_waiting_job_pauses_at_once_and_a_running_one_is_asked(ledger: JobLedger) -> None:
    job = ledger.add("audit", "Audit", {}, "ada")
    assert ledger.ask(job.job_id, Wish.PAUSE)
    assert ledger.job(job.job_id).state is State.PAUSED
    assert ledger.requeue(job.job_id, (State.PAUSED,))
    ledger.claim(job.job_id, 3)
    assert ledger.ask(job.job_id, Wish.PAUSE)
    asked = ledger.job(job.job_id)
    assert (asked.state, asked.wish, asked.actions) == (State.RUNNING, Wish.PAUSE, ())
    assert ledger.interrupt(job.job_id) is State.PAUSED
    assert ledger.ask(job.job_id, Wish.STOP)
    assert ledger.job(job.job_id).state is State.STOPPED
    assert not ledger.ask(job.job_id, Wish.STOP)


def test_a_job_interrupted_without_a_wish_waits_for_the_next_worker(ledger: JobLedger) -> None:
    job = running(ledger)
    ledger.note_sent(job.job_id)
    assert ledger.interrupt(job.job_id) is State.QUEUED
    assert [(one.job_id, one.sent) for one in ledger.active()] == [(job.job_id, False)]


def test_a_job_asked_to_end_while_its_process_was_killed_ends_at_the_next_claim(
    ledger: JobLedger,
) -> None:
    job = running(ledger)
    ledger.ask(job.job_id, Wish.STOP)
    assert ledger.claim(job.job_id, 3) is None
    assert ledger.job(job.job_id).state is State.STOPPED


def test_a_job_whose_process_ends_again_and_again_is_given_up(ledger: JobLedger) -> None:
    job = running(ledger)
    for crashes in (1, 2, 3):
        assert ledger.claim(job.job_id, 3).crashes == crashes
    assert ledger.claim(job.job_id, 3) is None
    given_up = ledger.job(job.job_id)
    assert given_up.state is State.FAILED
    assert "died 4 times" in given_up.sentence
    assert ledger.requeue(job.job_id, (State.FAILED,))
    assert ledger.claim(job.job_id, 3).crashes == 0


def test_more_problems_than_are_kept_are_counted(ledger: JobLedger) -> None:
    job = running(ledger)
    ledger.keep(job.job_id, {"place": "oa"}, [Problem("a:0", "x")])
    assert ledger.job(job.job_id).mark == {"place": "oa"}
    many = (Problem(f"a:{n}", "x") for n in range(1, KEPT_PROBLEMS + 5))
    ledger.keep(job.job_id, {}, many)
    assert ledger.job(job.job_id).problems == KEPT_PROBLEMS + 5
    ledger.end(job.job_id, Ending(False, problems=None))
    assert ledger.job(job.job_id).problems == KEPT_PROBLEMS + 5
    page = ledger.problems(job.job_id, limit=2, after=KEPT_PROBLEMS - 1)
    assert [number for number, _ in page] == [KEPT_PROBLEMS]


def test_jobs_are_listed_the_newest_first_by_pages(ledger: JobLedger) -> None:
    ids = [f"20261121T22210{n}Z-abcdef" for n in range(5)]
    for job_id in ids:
        ledger.add("audit", job_id, {}, "ada", job_id)
    assert [job.job_id for job in ledger.jobs(limit=2)] == ids[:2:-1]
    assert [job.job_id for job in ledger.jobs(limit=2, before=ids[3])] == [ids[2], ids[1]]


def test_the_same_id_is_begun_once(ledger: JobLedger) -> None:
    first = ledger.add("change", "Types", {"job": "x"}, "ada", "x")
    ledger.claim("x", 3)
    assert ledger.add("change", "Other", {}, "bob", "x").title == first.title
    assert ledger.job("x").state is State.RUNNING


def test_a_damaged_ledger_is_a_sentence_and_is_not_written_over(ledger: JobLedger) -> None:
    os.makedirs(os.path.dirname(ledger.path))
    with open(ledger.path, "wb") as file:
        file.write(b"not a database, but long enough to be looked at " * 50)
    for use in (ledger.jobs, lambda: ledger.add("audit", "Audit", {}, "ada")):
        with pytest.raises(LedgerUnreadable, match=r"ledger\.sqlite cannot be used"):
            use()
    with open(ledger.path, "rb") as file:
        assert file.read(5) == b"not a"


@pytest.mark.parametrize(
    "change",
    [
        "wish = 'gone'", "state = 'gone'", "arguments = '{'", "arguments = '[1]'", "mark = '7'",
        "done = 'x'", "total = 'x'", "crashes = 'many'", "title = x'ff00ff'",
        "title = CAST(x'ff00ff' AS TEXT)", "id = '../../x'", "id = '--help'", "id = ''",
        "id = 'a' || char(0)",
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_read_is_a_failed_job_and_stops_no_other(
    ledger: JobLedger, change: str
) -> None:
    ledger.add("audit", "Audit", {}, "ada", "a")
    other = ledger.add("audit", "Audit", {}, "ada", "b")
    with sqlite3.connect(ledger.path) as connection:
        connection.execute(f"UPDATE job SET {change} WHERE id = 'a'")  # of this test
    connection.close()
    assert ledger.active() == [other]
    (broken,) = [job for job in ledger.jobs() if job != other]
    assert broken.state is State.FAILED
    assert "cannot be read" in broken.sentence
    broken.to_json()
    if broken.job_id:
        assert ledger.claim(broken.job_id, 3) is None


def test_a_job_whose_process_never_begins_it_is_given_up(ledger: JobLedger) -> None:
    job = ledger.add("audit", "Audit", {}, "ada")
    for crashes in (1, 2, 3):
        ledger.note_crash(job.job_id, 3)
        assert ledger.job(job.job_id).crashes == crashes
    assert ledger.claim(job.job_id, 3).crashes == 3
    ledger.note_crash(job.job_id, 3)
    given_up = ledger.job(job.job_id)
    assert (given_up.state, given_up.sent) == (State.FAILED, False)
    assert "died 4 times" in given_up.sentence
    ledger.note_crash(job.job_id, 3)
    assert ledger.job(job.job_id) == given_up
