"""Exports as jobs: into a directory beside the Silo, as plain files or as bags."""

import os
import re
from collections.abc import Iterator, Mapping

from recordsilo import Silo
from reexport.engine import Export, Stop, Watch
from reexport.plan import Policy, Versions
from reexport.report import DepositOutcome, Progress, RunReport
from reexport.selection import Selection
from reexport.targets import Target
from reexport.targets.bag import BagTarget
from reexport.targets.files import FilesTarget
from webui.jobs.errors import Interrupted, JobRefused
from webui.jobs.values import Ending, Problem
from webui.jobs.work import Work

FORMS = ("files", "bag")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def place_of(silo_path: str, name: str) -> str:
    """The directory of an export: ``myrepo.exports/<name>`` beside the Silo ``myrepo``.

    Raises:
        JobRefused: The name could lead elsewhere.
    """
    if not _NAME.fullmatch(name):
        raise JobRefused("the name of an export is of letters, digits, dots, hyphens and _")
    return os.path.join(os.path.abspath(silo_path) + ".exports", name)


def export(work: Work) -> Ending:
    """Export to ``name`` in a ``form``: ``versions``; ``set``, ``state``, ``query``."""
    given = work.arguments
    versions = Versions(given.get("versions") or Versions.CURRENT)
    selection = Selection(given.get("set") or None, (), given.get("state") or None,
                          given.get("query") or "")  # fmt: skip
    target = _target(work, versions)
    with Silo(work.silo_path, create=False) as silo:
        report = _run(work, Export(silo, target, Policy(versions)), selection)
    if report.stopped and work.stop():
        raise Interrupted("the export was asked to end")
    return _ending(report)


def _target(work: Work, versions: Versions) -> Target:
    place = place_of(work.silo_path, str(work.arguments["name"]))
    os.makedirs(os.path.dirname(place), exist_ok=True)
    if work.arguments.get("form") == "bag":
        return BagTarget(place)
    return FilesTarget(place, versions)


def _run(work: Work, export: Export, selection: Selection) -> RunReport:
    stop = Stop()

    def look(progress: Progress) -> None:
        work.advanced(progress.records, progress.total)
        if work.stop():
            stop.ask()

    return export.run(selection, watch=Watch(progress=look), stop=stop)


def _ending(report: RunReport) -> Ending:
    counts = _counts(report)
    lines = [f"{number:>12,}  {name}" for name, number in counts.items()]
    return Ending(
        whole=report.whole,
        text="\n".join([f"Exported to {report.target}", *lines]),
        report={n: v for n, v in report.to_json().items() if n not in {"problems", "still_there"}},
        counts=counts,
        problems=_problems(report),
        sentence=report.stopped,
    )


def _counts(report: RunReport) -> Mapping[str, int]:
    found = {"records": report.records} | {kind.value: n for kind, n in report.actions.items()}
    found |= {"failed": report.failed, "conflicts": report.conflicts}
    return {name: number for name, number in found.items() if number}


def _problems(report: RunReport) -> Iterator[Problem]:
    yield from map(_problem, report.problems)
    for identifier in report.still_there:
        yield Problem(identifier, "was deleted at the source, and stays in the export")


def _problem(outcome: DepositOutcome) -> Problem:
    return Problem(outcome.identifier, outcome.reason)
