"""A kind of jobs: exports, to files beside the Silo or to wherever a kind of target leads."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from recordsilo import Silo
from recordsilo.errors import RecordSiloError
from recordsilo.selection import Selection, filters_from, query_from
from siloexport.engine.export import Export, Watch
from siloexport.errors import ExportError
from siloexport.plan import Policy, Versions
from siloexport.report import DepositOutcome, Progress, RunReport
from siloexport.table_jobs import NOTHING, shown, write_file
from siloexport.target_kinds import Asked as AskedWhere
from siloexport.target_kinds import Opening, TargetKind, checked, kind_named
from siloexport.values import REPLACE, Deletions, OnConflict
from silowork.errors import Interrupted, JobRefused
from silowork.values import Ending, Problem
from silowork.work import Asked, Fields, Kind, Work

DEFAULT_FORM = "files"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def place_of(silo_path: str, name: str, form: str = "") -> str:
    """Where an export lies: ``myrepo.exports/<name>`` beside the Silo ``myrepo``.

    A table is a file there, with its form as ending.

    Raises:
        JobRefused: The name could lead elsewhere.
    """
    if not _NAME.fullmatch(name):
        raise JobRefused("the name of an export is of letters, digits, dots, hyphens and _")
    ending = kind_named(form).ending if form else ""
    name = f"{name}.{ending}" if ending else name
    return os.path.join(os.path.abspath(silo_path) + ".exports", name)


def export(work: Work) -> Ending:
    """Export in a ``form``, the name of a kind of target, to ``name`` or where its fields say.

    ``set``, ``state`` and ``query`` select; ``versions``, ``deletions`` and ``conflicts``
    say what of it goes; the kind's own fields have their names.
    """
    given = work.arguments
    filters = filters_from(set_spec=given.get("set"), state=given.get("state"))
    selection = Selection(given.get("query") or "", filters)
    kind = kind_named(str(given.get("form") or DEFAULT_FORM))
    out = _beside(work) if is_beside(kind) else ""
    values = checked(kind, given, work.silo_path, AskedWhere.PAGE)
    if kind.open is None:
        return write_file(work, kind, selection, values, out)
    policy = Policy(
        Versions(given.get("versions") or Versions.CURRENT),
        deletions=Deletions(given.get("deletions") or Deletions.STATUS),
    )
    opening = Opening(work.silo_path, values, out, policy.versions)
    with Silo(work.silo_path, create=False) as silo, kind.open(opening) as target:
        report = _run(work, Export(silo, target, policy), selection, kind.at_once)
    if report.stopped and work.stop():
        raise Interrupted("the export was asked to end")
    return _ending(report)


def is_beside(kind: TargetKind) -> bool:
    """Whether what is exported lies beside the Silo, under a name."""
    return kind.is_directory or kind.write is not None


def _beside(work: Work) -> str:
    """Where the export goes; the directory above it is made."""
    given = work.arguments
    place = place_of(work.silo_path, str(given["name"]), str(given.get("form", "")))
    os.makedirs(os.path.dirname(place), exist_ok=True)
    return place


def _run(work: Work, export: Export, selection: Selection, at_once: int) -> RunReport:
    def look(progress: Progress) -> None:
        work.advanced(progress.records, progress.total)

    return export.run(
        selection,
        jobs=at_once,
        on_conflict=OnConflict(work.arguments.get("conflicts") or OnConflict.FAIL),
        watch=Watch(progress=look),
        stop=work.stop,
    )


def _ending(report: RunReport) -> Ending:
    counts = _counts(report)
    lines = [f"{number:>12,}  {name}" for name, number in counts.items()]
    return Ending(
        whole=report.whole,
        text="\n".join([f"Exported to {report.target}", *lines]),
        report=_small(report.to_json()),
        counts=counts,
        problems=_problems(report),
        sentence=report.stopped or ("" if any(counts.values()) else NOTHING),
    )


def _small(report: Mapping[str, Any]) -> dict[str, Any]:
    return {n: v for n, v in report.items() if n not in {"problems", "still_there"}}


def _counts(report: RunReport) -> Mapping[str, int]:
    found = {"records": report.records} | {kind.value: n for kind, n in report.actions.items()}
    found |= {"failed": report.failed, "conflicts": report.conflicts}
    return shown(found)


def _problems(report: RunReport) -> Iterator[Problem]:
    yield from map(_problem, report.problems)
    for identifier in report.still_there:
        yield Problem(identifier, "was deleted at the source, and stays in the export")


def _problem(outcome: DepositOutcome) -> Problem:
    return Problem(outcome.identifier, outcome.reason)


# --------------------------------------------------------------------------- forms

VERSIONS = tuple(map(str, Versions))
DELETIONS = tuple(map(str, Deletions))
CONFLICTS = tuple(map(str, OnConflict))


def _asked_export(fields: Fields, silo_path: str, _records: int) -> Asked:
    form = fields.get("form", "") or DEFAULT_FORM
    arguments: dict[str, Any] = {"form": form}
    arguments |= {known: fields.get(known, "").strip() for known in ("set", "state", "query")}
    try:
        kind = kind_named(form)
        arguments["query"] = arguments["query"] and query_from(arguments["query"])
        if is_beside(kind):
            arguments["name"] = fields.get("name", "").strip()
            place_of(silo_path, arguments["name"])
        arguments |= _common(kind, fields)
        values = checked(kind, fields, silo_path, AskedWhere.PAGE)
    except (ExportError, RecordSiloError) as error:
        raise JobRefused(str(error)) from None
    if is_beside(kind):
        title = f"Export {arguments['name']} as {form}"
    else:
        title = f"Export to {kind.title}: {next(iter(values.values()), '')}"
    known = {name: value for name, value in (arguments | values).items() if value}
    return Asked(title, known)


def _common(kind: TargetKind, fields: Fields) -> dict[str, Any]:
    """What the forms of all kinds of one shape have."""
    if kind.write is None:
        return _policy(fields)
    known = tuple(map(str, REPLACE))
    text = fields.get("conflicts", "") or known[0]
    return {"conflicts": _one_of(known, text, "what is done about a changed file (conflicts)")}


def _policy(fields: Fields) -> dict[str, Any]:
    return {
        name: _one_of(known, fields.get(name, "") or known[0], what)
        for name, known, what in (
            ("versions", VERSIONS, "the versions of an export"),
            ("deletions", DELETIONS, "what a deletion does to an export (deletions)"),
            ("conflicts", CONFLICTS, "what is done about conflicts (conflicts)"),
        )
    }


def _one_of(known: tuple[str, ...], text: str, what: str) -> str:
    if text not in known:
        raise JobRefused(f"{what} are one of {', '.join(known)}")
    return text


EXPORT = Kind(
    "export", "Export", export, lane="export", foreseen=(ExportError,), read=_asked_export
)
