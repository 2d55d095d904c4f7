"""Make proposals for curated records that the source has changed, as a job and after a harvest."""

from dataclasses import replace

from recordsilo import Silo
from recordsilo.errors import RecordSiloError
from silocuration.errors import CurationError
from silocuration.upstream import ProposalReport, propose_all
from silowork.errors import Interrupted
from silowork.values import Ending, Problem
from silowork.work import Kind, Work

_NOTHING = "Nothing to propose, and nothing to decide."


def propose(work: Work) -> Ending:
    """Make a proposal for every curated record that merges cleanly."""
    with Silo(work.silo_path, create=False) as silo:
        total = silo.count(curated=True, upstream_newer=True)
        made = propose_all(
            silo,
            agent=work.agent,
            progress=lambda done: work.advanced(done, total),
            stop=work.stop,
        )
    if work.stop():
        raise Interrupted("the job was stopped")
    told = _told(Ending(whole=not made.failed, text=""), made)
    problems = [Problem(identifier, why) for identifier, why in made.failed]
    return replace(told, text=told.text.strip() or _NOTHING, problems=problems)


def with_proposals(work: Work, harvested: Ending) -> Ending:
    """After a harvest, make all proposals that merge cleanly; add their numbers to the report.

    Args:
        work: The job.
        harvested: How the harvest ended.

    Returns:
        The same report with these numbers; not whole if a proposal could not be made.
    """
    try:
        with Silo(work.silo_path, create=False) as silo:
            made = propose_all(
                silo,
                agent=work.agent,
                progress=lambda done: work.advanced(done, step="proposals"),
            )
    except (CurationError, RecordSiloError, OSError) as error:
        reason = f"clean merges were not proposed: {error}"
        work.add([Problem("", reason)])
        return replace(harvested, whole=False)
    told = _told(harvested, made)
    if not made.failed:
        return told
    work.add(Problem(identifier, why) for identifier, why in made.failed)
    return replace(told, whole=False)


def _told(harvested: Ending, made: ProposalReport) -> Ending:
    """Add the numbers of proposals to a harvest's report; unchanged if there are none."""
    waiting = {kind.value: number for kind, number in made.waiting.items()}
    report = {"proposed": made.proposed, "waiting": waiting, "failed": len(made.failed)}
    ending = replace(harvested, report={**harvested.report, "proposals": report})
    if not made.proposed and not waiting:
        return ending
    listed = ", ".join(f"{number:,} {kind}" for kind, number in waiting.items())
    to_decide = f"to decide: {listed}" if listed else "nothing to decide"
    line = f"Curated records: {made.proposed:,} proposed now; {to_decide}."
    counts = {"proposed": made.proposed, "to decide": sum(waiting.values())}
    return replace(ending, text=f"{harvested.text}\n{line}", counts={**harvested.counts, **counts})


PROPOSE = Kind(
    "propose",
    "Propose",
    propose,
    lane="change",
    foreseen=(CurationError,),
    by_curators=True,
    result="proposed",
    did="{n} proposed",
)
