"""Changes that are planned and not begun: looked at as a whole, then done, or put away.

Who wants to know what a change of very many records would do has it planned (its records
are noted in its journal, see `bulk.create_job`) and previewed from there: so what was
counted is what is done. Nothing is written to a record before `bulk.run_job`.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from recordsilo import Silo
from silocuration.batch.job import Preview, Progress, Sample, held, preview
from silocuration.batch.journal import Doing, JobJournal, remove_journal
from silocuration.batch.specs import JobSpec

PREVIEW = "preview"
"""Under which the journal keeps the preview."""


def preview_planned(
    silo: Silo, job_id: str, *, samples: int = 20, progress: Progress | None = None
) -> Preview | None:
    """Say what a planned change would do, all of it, and note that in its journal.

    Killed in between, nothing is noted, and another call begins anew.

    Returns:
        None where the change was begun before, or meanwhile.

    Raises:
        JobNotFound, JobUnreadable
        PatternTooSlow, RuleRefused: The rules are at fault.

    Cost: reads the manifest and one file of every record.
    """
    with JobJournal.open(silo.path, job_id) as journal:
        found = preview(silo, _as_planned(journal), samples=samples, progress=progress)
        if not is_untouched(journal.counts()):
            return None
        journal.note(**{PREVIEW: asdict(found)})
        return found


def _as_planned(journal: JobJournal) -> JobSpec:
    """The change as its journal has it, whatever a search would find now."""
    about = journal.about()
    return JobSpec(
        about["kind"],
        str(about.get("title", "")),
        about,
        lambda _silo: ((one.identifier, one.given) for one in journal.entries(Doing.PLANNED)),
    )


def noted_preview(about: Mapping[str, Any]) -> Preview | None:
    """The preview that a journal keeps among what it says of its change."""
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
    """Whether nothing of a change was begun, by the numbers of its records."""
    return not any(number for state, number in counts.items() if state is not Doing.PLANNED)


def is_discardable(counts: Mapping[Doing, int]) -> bool:
    """Whether a change is not finished and has changed no record, by the numbers of its records."""
    harmless = {Doing.PLANNED, Doing.UNCHANGED, Doing.SKIPPED}
    there = {state for state, number in counts.items() if number}
    return there <= harmless and (Doing.PLANNED in there or not there)


def discard(silo: Silo, job_id: str) -> bool:
    """Delete the journal of a change that is not finished and has changed no record.

    Returns:
        Whether it is deleted; a change that is finished or has changed a record stays.

    Raises:
        JobNotFound, JobUnreadable
        JobBusy: Somebody is at it.
    """
    with held(silo, job_id):
        with JobJournal.open(silo.path, job_id) as journal:
            if not is_discardable(journal.counts()):
                return False
        remove_journal(silo.path, job_id)
    return True
