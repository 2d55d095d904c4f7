"""Kinds of jobs: batch edits, their preview and undo, over `silocuration.batch.job`."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from recordsilo import Silo
from recordsilo.disk.locks import Locks
from silocuration.batch.job import JobReport, run_job, undo_job
from silocuration.batch.journal import Doing, JobJournal, JournalEntry
from silocuration.batch.planned import preview_planned
from silocuration.errors import CurationError
from silowork.errors import Interrupted
from silowork.service import Jobs
from silowork.values import Ending, Job, Problem
from silowork.work import Kind, Work

SAMPLES = 20
"""Number of samples in a preview."""


def change(work: Work) -> Ending:
    """Do the rest of the batch edit ``job``."""
    job_id = str(work.arguments["job"])
    total = _total(work.silo_path, job_id, *Doing)
    with Silo(work.silo_path, create=False) as silo:
        report = run_job(
            silo, job_id, progress=lambda done: work.advanced(done, total), stop=work.stop
        )
    if not report.is_finished and work.stop():
        raise Interrupted("the batch edit was stopped")
    return _ending(work.silo_path, report, Doing.SKIPPED)


def undo(work: Work) -> Ending:
    """Undo the batch edit ``job``; records that it has not reached are left out of it."""
    job_id = str(work.arguments["job"])
    total = _total(work.silo_path, job_id, Doing.DONE, Doing.KEPT, Doing.UNDOING)
    with Silo(work.silo_path, create=False) as silo:
        report = undo_job(
            silo,
            job_id,
            agent=work.agent,
            progress=lambda done: work.advanced(done, total),
            stop=work.stop,
        )
    if report.counts.get(Doing.DONE) and work.stop():
        raise Interrupted("the undo was stopped")
    return _ending(work.silo_path, report, Doing.KEPT)


def preview(work: Work) -> Ending:
    """Preview all records of the planned batch edit ``job``; its journal keeps the result."""
    job_id = str(work.arguments["job"])
    total = _total(work.silo_path, job_id, Doing.PLANNED)

    def show(done: int) -> None:
        work.advanced(done, total)
        work.end_if_asked()

    with Silo(work.silo_path, create=False) as silo:
        found = preview_planned(silo, job_id, samples=SAMPLES, progress=show)
    if found is None:
        return Ending(False, sentence="the batch edit has already started")
    counts = {
        "records checked": found.records,
        "records would change": found.changed,
        "values would change": found.values,
        "working copies would be made": found.copies,
        "deleted records left out": found.deleted,
        "would be skipped": sum(found.skipped.values()),
    }
    known = {name: number for name, number in counts.items() if number}
    return Ending(True, _text(known, {}, what=""), known, known)


def plan_skipped_again(silo_path: str, arguments: Mapping[str, Any]) -> None:
    """Plan the skipped records of a batch edit again."""
    with JobJournal.open(silo_path, str(arguments["job"])) as journal:
        skipped = [entry.identifier for entry in journal.entries(Doing.SKIPPED)]
        journal.move(skipped, Doing.PLANNED)


def _total(silo_path: str, job_id: str, *states: Doing) -> int:
    with JobJournal.open(silo_path, job_id) as journal:
        counts = journal.counts()
    return sum(counts.get(state, 0) for state in states)


def _ending(silo_path: str, report: JobReport, skipped: Doing) -> Ending:
    counts = {state.value: number for state, number in report.counts.items() if number}
    failed = report.counts.get(skipped, 0)
    values = {"values changed": report.values} if skipped is Doing.SKIPPED else {}
    known = report.to_json()
    return Ending(
        whole=not failed,
        text=_text(counts, values),
        report={name: known[name] for name in ("job", "counts", "values", "finished")},
        counts=counts | values,
        problems=_problems(silo_path, report.job_id, skipped),
    )


def _text(counts: Mapping[str, int], values: Mapping[str, int], what: str = "records ") -> str:
    lines = [f"{number:>12,}  {what}{state}" for state, number in counts.items()]
    return "\n".join([*lines, *(f"{number:>12,}  {name}" for name, number in values.items())])


def _problems(silo_path: str, job_id: str, state: Doing) -> Iterator[Problem]:
    with JobJournal.open(silo_path, job_id) as journal:
        yield from map(_problem, journal.entries(state))


def _problem(entry: JournalEntry) -> Problem:
    return Problem(entry.identifier, entry.reason)


# --------------------------------------------------------------------------- the kinds

_of_curators = partial(Kind, foreseen=(CurationError,), by_curators=True)
CHANGE = _of_curators("change", "Batch edit", change, lane="change", renew=plan_skipped_again,
                      counts={"deleted": "deleted records left out"}, result="done",
                      did="{n} changed")  # fmt: skip
UNDO = _of_curators("undo", "Undo", undo, lane="change", result="undone", did="{n} undone")
PREVIEW = _of_curators("preview", "Preview", preview, lane="preview", result="records checked",
                       did="{n} checked")  # fmt: skip


def begin_change(jobs: Jobs, change_id: str, title: str, agent: str) -> Job:
    """Start or resume a batch edit that `silocuration.batch.job.create_job` planned.

    The job has the change's id.

    Raises:
        LedgerUnreadable: See `Jobs.begin`.
    """
    return jobs.go_on(CHANGE.name, title, {"job": change_id}, agent, change_id)


def begin_undo(jobs: Jobs, change_id: str, title: str, agent: str) -> Job:
    """Start to undo a batch edit, or return the job that is doing so already.

    Raises:
        LedgerUnreadable: See `Jobs.begin`.
    """
    with Locks.of_silo(jobs.broker.silo_path).hold_name(f"begin-undo-{change_id}"):
        for job in jobs.ledger.active():
            if job.kind == UNDO.name and job.arguments.get("job") == change_id:
                return job
        return jobs.begin(UNDO.name, title, {"job": change_id}, agent)
