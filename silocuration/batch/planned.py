"""Batch edits that are planned but not started: previewed completely, then applied or discarded.

To preview a batch edit of very many records, plan it (`job.create_job` stores its records in
its journal) and preview the plan: then the counted records are those that are changed.
No record is written before `job.run_job`.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from recordsilo import Silo
from silocuration.activity import changed_values
from silocuration.batch.job import Preview, Progress, Sample, held, preview
from silocuration.batch.journal import Change, Doing, JobJournal, remove_journal
from silocuration.batch.specs import JobSpec
from silocuration.editing.changes import RecordChange

PREVIEW = "preview"
"""The journal's key for the preview."""
_AT_ONCE = 2000
"""Records whose changed values are stored at once."""


def preview_planned(
    silo: Silo, job_id: str, *, samples: int = 20, progress: Progress | None = None
) -> Preview | None:
    """Preview a planned batch edit completely, and store the preview in its journal.

    The journal then has every changed value: each change can be left out (`JobJournal.choose`).
    After a kill the preview is not stored, and another call starts again.

    Args:
        samples: Most changes to show.
        progress: Called after every record with the number of records read.

    Returns:
        None if the batch edit has been started.

    Raises:
        JobNotFound, JobUnreadable
        PatternTooSlow, RuleRefused: The rules are invalid or too slow.

    Cost: reads the manifest and one file of every record.
    """
    with JobJournal.open(silo.path, job_id) as journal:
        values: dict[str, list[Change]] = {}

        def note(identifier: str, change: RecordChange) -> None:
            values[identifier] = changed_values(change)
            if len(values) == _AT_ONCE:
                store()

        def store() -> None:
            if is_untouched(journal.counts()):
                journal.keep((), values)
            values.clear()

        journal.forget_changes()
        found = preview(silo, _as_planned(journal), samples=samples, progress=progress, each=note)
        store()
        if not is_untouched(journal.counts()):
            return None
        journal.index_changes()
        journal.note(**{PREVIEW: asdict(found)})
        return found


def _as_planned(journal: JobJournal) -> JobSpec:
    """Return the batch edit as planned in its journal, without searching again."""
    about = journal.about()
    return JobSpec(
        about["kind"],
        str(about.get("title", "")),
        about,
        lambda _silo: ((one.identifier, one.given) for one in journal.entries(Doing.PLANNED)),
    )


def noted_preview(about: Mapping[str, Any]) -> Preview | None:
    """Return the preview stored in a journal; None if there is none."""
    noted = about.get(PREVIEW)
    if noted is None:
        return None
    lists = {
        "samples": tuple(map(_sample, noted["samples"])),
        "remarks": tuple(noted.get("remarks", ())),
        "passed_over": tuple(map(tuple, noted.get("passed_over", ()))),
    }
    return Preview(**{**noted, **lists})


def _sample(noted: Mapping[str, Any]) -> Sample:
    fields = {name: tuple(map(tuple, noted[name])) for name in ("before", "after")}
    return Sample(**{**noted, **fields, "files": tuple(noted.get("files", ()))})


def is_untouched(counts: Mapping[Doing, int]) -> bool:
    """Whether no record has been processed, by the number of records in each state."""
    waiting = {Doing.PLANNED, Doing.LEFT_OUT}
    return not any(number for state, number in counts.items() if state not in waiting)


def is_discardable(counts: Mapping[Doing, int]) -> bool:
    """Whether a job is unfinished and has changed no record, by its records in each state."""
    harmless = {Doing.PLANNED, Doing.LEFT_OUT, Doing.UNCHANGED, Doing.DELETED, Doing.SKIPPED}
    there = {state for state, number in counts.items() if number}
    return there <= harmless and (Doing.PLANNED in there or not there)


def is_undoable(counts: Mapping[Doing, int]) -> bool:
    """Whether undoing a job may change a record or the job, by its records in each state."""
    states = (Doing.PLANNED, Doing.BEGUN, Doing.DONE, Doing.UNDOING, Doing.KEPT)
    return any(counts.get(state) for state in states)


def discard(silo: Silo, job_id: str) -> bool:
    """Delete the journal of a job that is unfinished and has changed no record.

    Returns:
        Whether it was deleted; a job that is finished or has changed a record stays.

    Raises:
        JobNotFound, JobUnreadable
        JobBusy: Another process works on it.
    """
    with held(silo, job_id):
        with JobJournal.open(silo.path, job_id) as journal:
            if not is_discardable(journal.counts()):
                return False
        remove_journal(silo.path, job_id)
    return True
