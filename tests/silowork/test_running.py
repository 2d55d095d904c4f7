"""One run of a job: its result, its errors in a sentence, and where the next run continues."""

import errno
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from recordsilo.disk.locks import Locks
from recordsilo.errors import VersionNotFound
from silowork import running
from silowork.errors import Interrupted, JobRefused, NoSuchJob
from silowork.kinds import (
    begun_by_form,
    done_in_all,
    kind_names,
    kind_of,
    own_names,
    read_request,
    steps_after,
)
from silowork.ledger import JobLedger
from silowork.running import DISK_FULL, MOST_CRASHES, UNFORESEEN, run_here, run_job
from silowork.stop import Stop
from silowork.values import Advance, Ending, Job, Problem, State, Wish
from silowork.work import SECONDS_BETWEEN_NOTES, Asked, Kind, Work

Contribute = Callable[[str, str, Any], None]
Toy = Callable[..., Job]


class ToyError(Exception):
    """An error that the toy foresees."""


@pytest.fixture
def silo_path(empty_silo: str) -> str:
    return empty_silo


@pytest.fixture
def ledger(silo_path: str) -> JobLedger:
    return JobLedger(silo_path)


@pytest.fixture
def toy(contribute: Contribute, ledger: JobLedger) -> Toy:
    """Add a job of the kind ``toy``, which does what a function says; keywords are those of `Kind`.

    Steps are functions that are done after it.
    """

    def make(work: Callable[[Work], Ending], *steps: Any, **more: Any) -> Job:
        contribute("recordsilo.jobs", "toy", Kind("toy", "Toy", work, **more))
        for number, step in enumerate(steps):
            contribute("recordsilo.jobs", f"toy.step{number}", step)
        return ledger.add("toy", "A toy", {"size": 3}, "ada")

    return make


def raising(error: BaseException) -> Callable[[Work], Ending]:
    def work(_work: Work) -> Ending:
        raise error

    return work


# --------------------------------------------------------------------------- results


def test_a_job_gets_its_arguments_and_its_result_is_stored(ledger: JobLedger, toy: Toy) -> None:
    def work(one: Work) -> Ending:
        assert (one.arguments, one.agent, one.silo_path) == ({"size": 3}, "ada", ledger.silo_path)
        return Ending(True, "all well", {"n": 1}, {"records": 3})

    job = toy(work)
    assert run_job(ledger.silo_path, job.job_id) is State.DONE
    found = ledger.job(job.job_id)
    assert (found.text, found.report, found.counts) == ("all well", {"n": 1}, {"records": 3})
    assert found.begun
    assert found.ended >= found.begun


def test_a_job_that_is_over_or_paused_is_not_run(ledger: JobLedger, toy: Toy) -> None:
    job = toy(raising(AssertionError("it ran")))
    ledger.ask(job.job_id, Wish.PAUSE)
    assert run_job(ledger.silo_path, job.job_id) is None
    ledger.ask(job.job_id, Wish.STOP)
    assert run_job(ledger.silo_path, job.job_id) is None
    assert ledger.job(job.job_id).state is State.STOPPED
    with pytest.raises(NoSuchJob):
        run_job(ledger.silo_path, "20261121T222100Z-abcdef")


def test_a_job_that_another_process_runs_is_left_to_it(
    ledger: JobLedger, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "SECONDS_FOR_LAST_RUN", 0.0)
    job = toy(raising(AssertionError("it ran")))
    with Locks.of_silo(ledger.silo_path).hold_name(f"run-{job.job_id}"):
        assert run_job(ledger.silo_path, job.job_id) is None
    assert ledger.job(job.job_id).state is State.QUEUED


# --------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ToyError("the toy is broken"), "the toy is broken"),
        (JobRefused("there is no form"), "there is no form"),
        (VersionNotFound("a:1", "7", ["1"]), "record a:1 has no version '7'; it has 1"),
        (FileNotFoundError(errno.ENOENT, "No such file", "/x/y"), "/x/y: No such file"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error"),
        (OSError("odd"), "odd"),
        (OSError(errno.ENOSPC, "No space left on device", "/x"), DISK_FULL),
        (ValueError("secret detail"), UNFORESEEN),
    ],
)
def test_an_error_is_a_sentence_of_the_job(
    ledger: JobLedger, toy: Toy, error: Exception, sentence: str
) -> None:
    job = toy(raising(error), foreseen=(ToyError,))
    assert run_job(ledger.silo_path, job.job_id) is State.FAILED
    assert ledger.job(job.job_id).sentence == sentence
    assert ledger.problems(job.job_id) == [(1, Problem("", sentence))]


def test_only_what_nobody_foresaw_is_in_the_log(
    ledger: JobLedger, toy: Toy, caplog: pytest.LogCaptureFixture
) -> None:
    job = toy(raising(ToyError("broken")), foreseen=(ToyError,))
    run_job(ledger.silo_path, job.job_id)
    assert caplog.records == []
    other = ledger.add("gone", "Of no package", {}, "ada")
    run_job(ledger.silo_path, other.job_id)
    assert ledger.job(other.job_id).sentence.startswith("there is no kind of job 'gone'")
    assert caplog.records == []


def test_what_nobody_foresaw_is_in_the_log_with_its_place(
    ledger: JobLedger, toy: Toy, caplog: pytest.LogCaptureFixture
) -> None:
    job = toy(raising(ValueError("secret detail")))
    run_job(ledger.silo_path, job.job_id)
    assert job.job_id in caplog.text
    assert "secret detail" in caplog.text


def test_people_do_not_learn_where_the_silo_is(ledger: JobLedger, toy: Toy) -> None:
    place = os.path.join(ledger.silo_path, "x", "y")
    job = toy(raising(PermissionError(errno.EACCES, "Permission denied", place)))
    run_job(ledger.silo_path, job.job_id)
    assert ledger.job(job.job_id).sentence == "myrepo/x/y: Permission denied"


# --------------------------------------------------------------------------- interruptions


@pytest.mark.parametrize("how", [Interrupted("asked"), KeyboardInterrupt()], ids=["flag", "signal"])
def test_a_job_that_ends_when_asked_waits_for_its_next_run(
    ledger: JobLedger, toy: Toy, how: BaseException
) -> None:
    def work(one: Work) -> Ending:
        if one.mark:
            return Ending(True, one.mark["place"])
        one.keep({"place": "half"}, [Problem("a:1", "is gone")])
        raise how

    job = toy(work)
    assert run_job(ledger.silo_path, job.job_id) is State.QUEUED
    assert ledger.job(job.job_id).mark == {"place": "half"}
    assert run_job(ledger.silo_path, job.job_id) is State.DONE
    assert ledger.job(job.job_id).text == "half"


def test_only_work_that_can_be_interrupted_by_a_signal_is(ledger: JobLedger, toy: Toy) -> None:
    stop = Stop()
    stop.ask()

    def work(one: Work) -> Ending:
        one.end_if_asked()
        raise AssertionError("it went on")

    job = toy(work)
    assert run_job(ledger.silo_path, job.job_id, stop) is State.QUEUED
    by_signal = toy(raising(AssertionError("it began")), by_signal=True)
    assert run_job(ledger.silo_path, by_signal.job_id, stop) is State.QUEUED


def test_a_job_of_this_process_is_paused_by_the_page(
    ledger: JobLedger, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "SECONDS_BETWEEN_LOOKS", 0.01)
    begun = threading.Event()

    def work(one: Work) -> Ending:
        begun.set()
        assert one.stop.wait(60)
        raise Interrupted("asked")

    job = toy(work)
    found: list[State | None] = []
    thread = threading.Thread(target=lambda: found.append(run_here(ledger.silo_path, job.job_id)))
    thread.start()
    assert begun.wait(60)
    ledger.ask(job.job_id, Wish.PAUSE)
    thread.join(60)
    assert found == [State.PAUSED]


def test_a_job_that_died_too_often_is_not_run_again(ledger: JobLedger, toy: Toy) -> None:
    job = toy(raising(AssertionError("it ran")))
    for _ in range(MOST_CRASHES + 1):
        ledger.claim(job.job_id, 99)  # a process that dies at once
    assert run_job(ledger.silo_path, job.job_id) is None
    assert "died 4 times" in ledger.job(job.job_id).sentence


# --------------------------------------------------------------------------- steps of others


def added(number: int) -> Callable[[Work, Ending], Ending]:
    def step(work: Work, ending: Ending) -> Ending:
        work.advanced(number, step=f"step {number}")
        return Ending(ending.whole, f"{ending.text}{number}", counts=ending.counts, problems=None)

    return step


def test_steps_are_done_after_the_work_in_order_and_its_progress_is_shown_again(
    ledger: JobLedger, toy: Toy
) -> None:
    def work(one: Work) -> Ending:
        one.advanced(3, 3, "toys")
        return Ending(True, "done", problems=[Problem("a:1", "is gone")])

    job = toy(work, added(1), added(2))
    assert run_job(ledger.silo_path, job.job_id) is State.DONE
    found = ledger.job(job.job_id)
    assert found.text == "done12"
    assert found.advance == Advance(3, 3, "toys")
    assert [one for _, one in ledger.problems(job.job_id)] == [Problem("a:1", "is gone")]
    assert len(steps_after("toy")) == 2
    assert steps_after("to") == []


def test_work_that_was_done_is_not_done_again_when_a_step_was_interrupted(
    ledger: JobLedger, toy: Toy
) -> None:
    calls: list[str] = []

    def work(_one: Work) -> Ending:
        calls.append("work")
        return Ending(True, "done", {"n": 1}, {"records": 7})

    def step(_one: Work, ending: Ending) -> Ending:
        calls.append("step")
        if calls.count("step") == 1:
            raise Interrupted("asked")
        return ending

    job = toy(work, step)
    assert run_job(ledger.silo_path, job.job_id) is State.QUEUED
    assert run_job(ledger.silo_path, job.job_id) is State.DONE
    assert calls == ["work", "step", "step"]
    found = ledger.job(job.job_id)
    assert (found.text, found.report, found.counts) == ("done", {"n": 1}, {"records": 7})
    assert done_in_all(found) == 7


# --------------------------------------------------------------------------- progress


def test_progress_is_stored_twice_a_second_and_for_each_new_step(ledger: JobLedger) -> None:
    ledger.add("audit", "Audit", {}, "ada", "a")
    job = ledger.claim("a", 3)
    assert job
    now = [0.0]
    work = Work(ledger, job, clock=lambda: now[0])
    seen = []
    for seconds, done, step in (
        (0.0, 1, ""),
        (0.4, 2, ""),
        (0.5, 3, ""),
        (0.6, 4, "b"),
        (0.7, 5, "b"),
    ):
        now[0] = seconds
        work.advanced(done, 9, step)
        seen.append(ledger.job("a").advance.done)
    assert SECONDS_BETWEEN_NOTES == 0.5
    assert seen == [1, 1, 3, 4, 4]
    with work.keeping_progress():
        ledger.advance("a", Advance(0, None, "another"))
    assert ledger.job("a").advance == Advance(5, 9, "b")


def test_problems_that_are_added_leave_the_mark_as_it_is(ledger: JobLedger) -> None:
    ledger.add("audit", "Audit", {}, "ada", "a")
    job = ledger.claim("a", 3)
    assert job
    work = Work(ledger, job)
    assert work.ended is None
    work.keep({"place": 7}, ())
    work.add([Problem("a:1", "is gone")])
    assert ledger.job("a").mark == {"place": 7}
    assert ledger.job("a").problems == 1


# --------------------------------------------------------------------------- kinds


def test_a_kind_is_known_by_its_name_and_its_steps_are_none(contribute: Contribute) -> None:
    contribute("recordsilo.jobs", "toy", Kind("toy", "Toy", raising(ValueError())))
    contribute("recordsilo.jobs", "toy.after", added(1))
    assert kind_of("toy").label == "Toy"
    assert kind_of("toy").begun_label == "Toy started"
    assert kind_of("reindex").begun_label == "Rebuilding the index started"
    assert "toy" in kind_names()
    assert "toy.after" not in kind_names()
    assert "audit" in own_names()
    assert "toy" not in own_names(), "another package has it"
    with pytest.raises(JobRefused, match=r"no kind of job 'toy.after'; there are .*audit"):
        kind_of("toy.after")


def test_a_kind_that_cannot_be_loaded_is_refused_and_hides_no_other(
    contribute: Contribute, caplog: pytest.LogCaptureFixture
) -> None:
    contribute("recordsilo.jobs", "toy", "no kind at all")
    with pytest.raises(JobRefused, match="toy"):
        kind_of("toy")
    assert "audit" in begun_by_form()
    assert "toy" not in begun_by_form()
    assert len([one for one in caplog.messages if "toy" in one]) == 1, "it is told once"


def test_how_much_was_done_is_not_known_of_a_kind_that_is_gone() -> None:
    job = Job("a", "audit", "Audit", {}, "ada", "2026")
    assert done_in_all(job) is None
    counts = {"records": 5, "damage": 1}
    assert done_in_all(Job("a", "audit", "Audit", {}, "ada", "2026", counts=counts)) == 5
    assert done_in_all(Job("a", "reindex", "Index", {}, "ada", "2026", counts=counts)) == 0
    assert done_in_all(Job("a", "gone", "Gone", {}, "ada", "2026", counts=counts)) is None


def asked_for(names: tuple[str, ...]) -> Callable[[Mapping[str, str], str, int], Asked]:
    def read(fields: Mapping[str, str], _silo_path: str, records: int) -> Asked:
        known = {name: fields[name] for name in names if name in fields}
        return Asked(f"{records} records", known)

    return read


def test_a_field_that_a_kind_does_not_read_is_refused_by_name(contribute: Contribute) -> None:
    kind = Kind("toy", "Toy", raising(ValueError()), read=asked_for(("size", "colour")))
    contribute("recordsilo.jobs", "toy", kind)
    asked = read_request("toy", {"size": "3"}, "/x", 7)
    assert (asked.title, asked.arguments) == ("7 records", {"size": "3"})
    with pytest.raises(JobRefused, match="no field 'shape' here; it has colour, size"):
        read_request("toy", {"size": "3", "shape": "round"}, "/x", 7)


def test_a_kind_without_a_form_is_refused_and_one_without_fields_says_so(
    contribute: Contribute,
) -> None:
    contribute("recordsilo.jobs", "toy", Kind("toy", "Toy", raising(ValueError())))
    with pytest.raises(JobRefused, match=r"'toy' cannot be started here; use one of .*audit"):
        read_request("toy", {}, "/x", 7)
    with pytest.raises(JobRefused, match="no field 'x' here; it has none"):
        read_request("reindex", {"x": "1"}, "/x", 7)


@pytest.mark.parametrize(
    ("share", "percent"), [("", 100), ("5", 5), (" 2.5% ", 2.5), ("100", 100), ("0.1", 0.1)]
)
def test_the_share_of_an_audit_is_a_percentage(share: str, percent: float) -> None:
    asked = read_request("audit", {"share": share}, "/x", 40)
    assert asked.arguments == {"share": percent / 100, "records": 40}
    assert asked.title == f"Audit: {percent:g}% of the records byte for byte"


@pytest.mark.parametrize("share", ["0", "-5", "101", "all", "nan", "inf", "5%%"])
def test_a_share_that_is_none_is_refused(share: str) -> None:
    with pytest.raises(JobRefused, match="more than 0% and at most 100%"):
        read_request("audit", {"share": share}, "/x", 40)
