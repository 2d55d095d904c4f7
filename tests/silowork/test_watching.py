"""One worker for a directory of Silos: what it reads, whose turn it is, and which Silos it has."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import child_work
import pytest
from waiting import wait_until

from recordsilo import Granary, Silo
from recordsilo.disk import stamps
from recordsilo.disk.locks import Locks
from silowork import broker_worker, watching
from silowork.broker import WORKER_LOCK, Broker
from silowork.broker_worker import BrokerWorker
from silowork.due.timetable import Timetable
from silowork.errors import LedgerUnreadable
from silowork.ledger import JobLedger
from silowork.running import MOST_CRASHES, run_job
from silowork.schedules import Schedule, add_schedule, change_schedule, run_now
from silowork.service import Jobs
from silowork.values import Ending, State
from silowork.watching import WatchedSilo, WatchedSilos
from silowork.worker import Worker


@pytest.fixture
def many(tmp_path: Path) -> str:
    """A directory of the Silos a, b and c."""
    granary = Granary(str(tmp_path / "many"))
    for name in "abc":
        granary.get_silo(name).close()
    return str(tmp_path / "many")


def audit(silo_path: str) -> str:
    return JobLedger(silo_path).add("audit", "Audit", {}, "ada").job_id


def locks_of(path: str) -> Locks:
    return Locks(os.path.join(path, ".silo", "locks"))


@contextmanager
def working(path: str, slots: int = 4) -> Iterator[None]:
    """A worker in a thread."""
    worker = Worker(path, slots)
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        yield
    finally:
        worker._ending.ask()
        thread.join()


@pytest.fixture
def in_threads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Let workers run jobs in their threads; the list has the name of the Silo and the id."""
    ran: list[tuple[str, str]] = []

    def run(_worker: Worker, silo: WatchedSilo, job_id: str) -> None:
        ran.append((os.path.basename(silo.path), job_id))
        run_job(silo.path, job_id)

    monkeypatch.setattr(Worker, "_run_process", run)
    monkeypatch.setattr("silowork.worker.warm", lambda _module: None)
    return ran


def test_one_worker_runs_the_jobs_of_all_silos_also_of_new_ones(
    many: str, in_threads: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "SECONDS_BETWEEN_CLOCKS", 0.0)
    made = [(name, audit(os.path.join(many, name))) for name in "ab"]
    with working(many):
        wait_until(lambda: len(in_threads) == 2)
        Silo(os.path.join(many, "new")).close()
        made.append(("new", audit(os.path.join(many, "new"))))
        made.append(("c", audit(os.path.join(many, "c"))))
        ledgers = [(JobLedger(os.path.join(many, name)), job_id) for name, job_id in made]
        wait_until(lambda: all(ledger.job(job_id).is_over for ledger, job_id in ledgers))
    assert sorted(in_threads) == sorted(made)


def test_a_ledger_is_read_again_only_after_it_has_changed(
    many: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    active = JobLedger.active

    def counted(ledger: JobLedger) -> Any:
        read.append(os.path.basename(ledger.silo_path))
        return active(ledger)

    monkeypatch.setattr(JobLedger, "active", counted)
    for name in "ab":
        audit(os.path.join(many, name))
        os.utime(JobLedger(os.path.join(many, name)).path, (1e9, 1e9))
    monkeypatch.setattr(stamps, "SETTLED", 1000.0)
    silos = WatchedSilos(many)
    silos.look()
    silos.look()
    assert read == ["a", "b", "c"]
    audit(os.path.join(many, "a"))
    silos.look()
    silos.look()  # changed a moment ago, so it may have changed again
    assert read == ["a", "b", "c", "a", "a"]
    assert [len(silo.waiting) for silo in silos] == [2, 1, 0]


def test_the_silos_take_turns_however_many_jobs_one_has(many: str) -> None:
    for name in "aaaab":
        JobLedger(os.path.join(many, name)).add("of no lane", "Work", {}, "ada")
    silos = WatchedSilos(many)
    silos.look()
    for slots, expected in ((5, "abaaa"), (1, "b"), (2, "ab")):
        running: set[tuple[str, str]] = set()
        chosen = ""
        while len(running) < slots and (one := silos.next_job(running)):
            running.add((one[0].path, one[1]))
            chosen += os.path.basename(one[0].path)
        assert chosen == expected


def test_a_silo_or_lane_that_another_process_holds_does_not_hold_up_the_others(
    many: str, in_threads: list[tuple[str, str]]
) -> None:
    a, b, c = (os.path.join(many, name) for name in "abc")
    held, busy, free = audit(a), audit(b), audit(c)
    other = JobLedger(b).add("reindex", "Rebuild the index", {}, "ada").job_id
    with locks_of(a).hold_name(WORKER_LOCK), locks_of(b).hold_name("lane-audit"):
        with working(many, slots=1):
            wait_until(lambda: JobLedger(c).job(free).is_over and JobLedger(b).job(other).is_over)
        assert JobLedger(a).job(held).state is State.QUEUED
        assert JobLedger(b).job(busy).state is State.QUEUED
    assert {name for name, _ in in_threads} == {"b", "c"}


def test_the_worker_of_a_directory_counts_as_that_of_its_silos(many: str) -> None:
    jobs = Jobs.of(os.path.join(many, "a"))
    assert jobs.problem().startswith("Jobs wait: no worker is running")
    assert not os.path.exists(os.path.join(many, ".silo"))
    with locks_of(many).hold_name(WORKER_LOCK):
        assert jobs.problem() == ""
    assert jobs.problem().startswith("Jobs wait: no worker is running")


def test_the_lock_of_a_silo_is_held_while_any_of_its_jobs_runs(many: str) -> None:
    silo = WatchedSilo(os.path.join(many, "a"))

    def is_free() -> bool:
        with locks_of(silo.path).hold_name_if_free(WORKER_LOCK) as found:
            return found

    with silo.held() as first:
        with silo.held() as second:
            assert (first, second) == (True, True)
        assert not is_free()
    assert is_free()


def test_schedules_are_read_again_only_when_one_is_due_or_something_has_changed(
    many: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stamps, "SETTLED", 0.0)
    read: list[str] = []
    real = watching.start_due
    monkeypatch.setattr(watching, "start_due", lambda path: read.append(path) or real(path))
    silo = WatchedSilo(os.path.join(many, "a"))

    def looks() -> int:
        """How often the schedules are read in two looks."""
        time.sleep(0.02)  # the time of files has steps
        read.clear()
        silo.start_due()
        silo.start_due()
        return len(read)

    assert looks() == 0
    daily = Timetable(every=timedelta(days=1))
    add_schedule(silo.path, Schedule("daily", "audit", daily, agent="ada"))
    assert looks() == 1
    assert looks() == 0
    job = run_now(silo.path, "daily")
    assert looks() == 1
    silo.ledger.end(job.job_id, Ending(True))
    change_schedule(silo.path, "daily", made="2020-01-01T00:00:00")
    assert looks() == 1
    assert looks() == 0
    monkeypatch.setattr(watching, "LONGEST_PLAN", 0.0)
    silo.ledger.add("audit", "Audit", {}, "ada")
    assert looks() == 2
    assert looks() == 2


def test_a_schedule_that_is_due_is_started_once(many: str) -> None:
    silo = WatchedSilo(os.path.join(many, "a"))
    daily = Timetable(every=timedelta(days=1))
    add_schedule(silo.path, Schedule("daily", "audit", daily, agent="ada"))
    silo.start_due()
    assert silo.ledger.active() == []
    change_schedule(silo.path, "daily", made="2020-01-01T00:00:00")
    for _ in range(3):
        silo.start_due()
    assert [job.agent for job in silo.ledger.active()] == ["schedule:daily"]


@pytest.mark.parametrize("is_forked", [True, False], ids=["forked", "started"])
def test_a_job_whose_process_does_not_end_in_time_waits_again(
    many: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_forked: bool
) -> None:
    slow = tmp_path / "slow"
    slow.write_text(f"#!/bin/sh\ncat\nexit {os.EX_TEMPFAIL}\n")
    slow.chmod(0o700)
    silo = WatchedSilo(f"{many}/a")
    job_id = audit(silo.path)
    silo.ledger.claim(job_id, MOST_CRASHES)
    worker = Worker(silo.path)
    worker._ending.ask()
    with monkeypatch.context() as patch:
        if is_forked:
            patch.setattr("silowork.worker.run_in_child", child_work.end_late)
        else:
            patch.setattr("silowork.worker.WarmChild", Mock(side_effect=OSError("no room")))
            patch.setattr(sys, "executable", str(slow))
        worker._run_process(silo, job_id)
    job = silo.ledger.job(job_id)
    assert (job.state, job.crashes, job.sent) == (State.QUEUED, 0, False)


def test_a_worker_with_a_broker_takes_up_a_silo_whose_ledger_was_refused_for_a_moment(
    many: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit(os.path.join(many, "a"))
    worker, active = BrokerWorker(Broker(many, "redis://127.0.0.1:9/0"), 1), JobLedger.active
    failures = [OSError("the disk refuses it"), LedgerUnreadable("x", "it is locked")]

    def refused(ledger: JobLedger) -> Any:
        if failures:
            raise failures.pop()
        return active(ledger)

    worker._silos.look()
    monkeypatch.setattr(JobLedger, "active", refused)
    assert [len(worker._new_queues()) for _ in range(4)] == [0, 0, 1, 0]


def test_a_worker_with_a_broker_looks_again_after_an_error(
    many: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    worker, looks = BrokerWorker(Broker(many, "redis://127.0.0.1:9/0"), 1), []
    monkeypatch.setattr(broker_worker, "SECONDS_BETWEEN_LOOKS", 0.0)

    def look() -> None:
        looks.append(1)
        if len(looks) == 2:
            worker._ending.ask()
        raise FileNotFoundError("it is gone")

    monkeypatch.setattr(worker._silos, "look", look)
    worker._look()
    assert caplog.messages == ["it is gone; trying again"] * 2


@pytest.mark.parametrize(
    ("code", "is_ending", "crashes", "told"),
    [
        (-9, False, 1, "was killed by signal 9"),
        (3, False, 1, "ended with 3"),
        (-15, True, 0, ""),
        (0, False, 0, ""),
    ],
)
def test_a_process_that_died_is_told_unless_its_worker_is_ending(
    many: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    code: int, is_ending: bool, crashes: int, told: str,
) -> None:  # fmt: skip
    ledger = JobLedger(os.path.join(many, "a"))
    job_id = ledger.add("audit", "Audit", {}, "ada").job_id
    worker, silo = Worker(many), WatchedSilo(ledger.silo_path)

    def run(_silo: WatchedSilo, job_id: str) -> int:
        assert ledger.claim(job_id, 3)
        if is_ending:
            worker._ending.ask()
        return code

    monkeypatch.setattr(worker, "_code_of_process", run)
    monkeypatch.setattr("silowork.worker.SECONDS_AFTER_ERROR", 0.0)
    worker._run_process(silo, job_id)
    job = ledger.job(job_id)
    assert (job.crashes, job.state) == (crashes, State.QUEUED if code else State.RUNNING)
    assert [one for one in caplog.messages if job_id in one] == (
        [f"the process of job {job_id} {told}"] if told else []
    )
