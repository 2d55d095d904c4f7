"""Proposals for curated records that the source has changed: as a job, and after a harvest."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from curation.errors import CurationError
from curation.upstream import ProposalReport, propose_all
from recordsilo import Silo
from recordsilo.errors import RecordSiloError
from webui.jobs.errors import Interrupted
from webui.jobs.values import Ending, Problem
from webui.jobs.work import Work

_NOTHING = "Nothing to propose, and nothing to be decided."
_NOTED = ("whole", "text", "report", "counts", "sentence")


def propose(work: Work) -> Ending:
    """Make a proposal of every curated record that merges cleanly."""
    with Silo(work.silo_path, create=False) as silo:
        total = silo.count(curated=True, upstream_newer=True)
        made = propose_all(
            silo,
            agent=work.agent,
            progress=lambda done: work.advanced(done, total),
            stop=work.stop,
        )
    if work.stop():
        raise Interrupted("the making of proposals was asked to end")
    told = _told(Ending(whole=not made.failed, text=""), made)
    problems = [Problem(identifier, why) for identifier, why in made.failed]
    return replace(told, text=told.text.strip() or _NOTHING, problems=problems)


def note_harvest(work: Work, harvested: Ending) -> Ending:
    """Note that the harvest is over, so that a run after this one only makes proposals."""
    work.keep(_mark(harvested), harvested.problems or ())
    return replace(harvested, problems=None)


def noted_harvest(mark: Mapping[str, Any]) -> Ending:
    """The end of the harvest that `note_harvest` noted in an earlier run."""
    return Ending(**mark, problems=None)


def with_proposals(work: Work, harvested: Ending) -> Ending:
    """Make a proposal of all that merges cleanly; what it came to stands in the report.

    Args:
        work: The job, its harvest noted.
        harvested: How the harvest ended.

    Returns:
        The same, not whole where a proposal could not be made.
    """
    try:
        with Silo(work.silo_path, create=False) as silo:
            made = propose_all(
                silo,
                agent=work.agent,
                progress=lambda done: work.advanced(done, step="proposals"),
            )
    except (CurationError, RecordSiloError, OSError) as error:
        reason = f"what merges cleanly was not proposed: {error}"
        work.keep(_mark(harvested), [Problem("", reason)])
        return replace(harvested, whole=False)
    told = _told(harvested, made)
    if not made.failed:
        return told
    work.keep(_mark(harvested), (Problem(identifier, why) for identifier, why in made.failed))
    return replace(told, whole=False)


def _mark(harvested: Ending) -> dict[str, Any]:
    return {name: getattr(harvested, name) for name in _NOTED}


def _told(harvested: Ending, made: ProposalReport) -> Ending:
    """A harvest's end with the numbers of proposals; as it is where there are none."""
    waiting = {kind.value: number for kind, number in made.waiting.items()}
    report = {"proposed": made.proposed, "waiting": waiting, "failed": len(made.failed)}
    ending = replace(harvested, report={**harvested.report, "proposals": report})
    if not made.proposed and not waiting:
        return ending
    listed = ", ".join(f"{number:,} {kind}" for kind, number in waiting.items())
    line = f"Curated records: {made.proposed:,} proposed now; to be decided: {listed or 'nothing'}."
    counts = {"proposed": made.proposed, "to be decided": sum(waiting.values())}
    return replace(ending, text=f"{harvested.text}\n{line}", counts={**harvested.counts, **counts})
