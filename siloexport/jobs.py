"""Exports as a kind of jobs."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from recordsilo import Silo
from recordsilo.disk.atomic_file import make_within
from recordsilo.errors import RecordSiloError
from recordsilo.index.query_syntax import query_from
from recordsilo.selection import (
    Selection,
    filters_from,
    selection_from,
    selection_table,
)
from recordsilo.silo_then import SiloThen, checked_moment
from siloexport.engine.export import Export, Watch
from siloexport.errors import ExportError
from siloexport.plan import Policy, Versions
from siloexport.report import DepositOutcome, Progress, RunReport
from siloexport.table_jobs import NOTHING, shown, told, write_file
from siloexport.target_kinds import FieldAvailability as AskedWhere
from siloexport.target_kinds import Opening, TargetKind, checked, kind_named
from siloexport.values import REPLACE, ActionKind, Deletions, OnConflict
from silowork.errors import Interrupted, JobRefused
from silowork.values import Ending, Problem
from silowork.work import Asked, Fields, Kind, Work

DEFAULT_FORM = "files"
DRY_RUN = "dry_run"
"""The argument of a preview, which writes nothing."""
PREVIEWED = "Preview: nothing was written. The numbers are what the export would do."
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def place_of(silo_path: str, name: str, form: str = "") -> str:
    """Return the path of an export: ``myrepo.exports/<name>`` next to the Silo ``myrepo``.

    Args:
        name: Of the export.
        form: Name of the kind of target; the path of a file has its ending.

    Raises:
        JobRefused: The name has characters that are not allowed.
    """
    if not _NAME.fullmatch(name):
        raise JobRefused(
            "the name of an export may only have letters, digits, dots, hyphens and underscores"
        )
    ending = kind_named(form).ending if form else ""
    name = f"{name}.{ending}" if ending else name
    return os.path.join(os.path.abspath(silo_path) + ".exports", name)


def export(work: Work) -> Ending:
    """Export in a ``form``, the name of a kind of target, to ``name`` or the place in its fields.

    ``select`` (as `recordsilo.selection.selection_table` writes it), or ``set``, ``state`` and
    ``query``, select records; ``versions``, ``deletions`` and ``conflicts``
    are the policy; with ``dry_run`` nothing is written; the other arguments are the fields of
    the kind.

    Raises:
        Interrupted: The job was asked to stop.
    """
    given = work.arguments
    selection = selection_of(given)
    kind = kind_named(str(given.get("form") or DEFAULT_FORM))
    out = _beside(work) if is_beside(kind) else ""
    values = checked(kind, given, work.silo_path, AskedWhere.PAGE)
    if kind.open is None:
        return write_file(work, kind, selection, values, out)
    policy = Policy(
        Versions(given.get("versions") or kind.versions),
        deletions=Deletions(given.get("deletions") or Deletions.STATUS),
    )
    opening = Opening(work.silo_path, values, out, policy.versions)
    with (
        Silo(work.silo_path, create=False) as now,
        selection.at(now) as silo,
        kind.open(opening) as target,
    ):
        report = _run(work, Export(silo, target, policy), selection, kind.at_once)
        unsure = silo.told_unsure() if isinstance(silo, SiloThen) else ""
        untold = selection.untold(silo)
    if report.stopped and work.stop():
        raise Interrupted("the export was asked to stop")
    return _ending(report, unsure, untold)


def selection_of(given: Mapping[str, Any]) -> Selection:
    """Return the records that the arguments of an export select."""
    if "select" in given:
        return selection_from(given["select"])
    filters = filters_from(set_spec=given.get("set"), state=given.get("state"))
    return Selection(given.get("query") or "", filters)


def export_of_preview(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of the form that starts the export of a previewed one.

    Args:
        arguments: Of the preview's job.
    """
    given = {name: value for name, value in arguments.items() if name != DRY_RUN}
    return {name: _field(value) for name, value in given.items()}


def _field(value: Any) -> str:
    if isinstance(value, dict):
        return json.dumps(value)
    return " ".join(value) if isinstance(value, list) else str(value)


def is_beside(kind: TargetKind) -> bool:
    """Whether the export is a named file or directory next to the Silo."""
    return kind.is_directory or kind.write is not None


def _beside(work: Work) -> str:
    """Return the path of the export, and make the directory above it unless for a dry run.

    Raises:
        JobRefused: There is a symbolic link, which could lead anywhere.
    """
    given = work.arguments
    place = place_of(work.silo_path, str(given["name"]), str(given.get("form", "")))
    for one in (os.path.dirname(place), place):
        if os.path.islink(one):
            raise JobRefused(f"{one} is a symbolic link, which a job does not follow; remove it")
    if not given.get(DRY_RUN):
        make_within(work.silo_path, os.path.dirname(place))
    return place


def _run(work: Work, export: Export, selection: Selection, at_once: int) -> RunReport:
    def look(progress: Progress) -> None:
        work.advanced(progress.records, progress.total)

    return export.run(
        selection,
        dry_run=bool(work.arguments.get(DRY_RUN)),
        jobs=at_once,
        on_conflict=OnConflict(work.arguments.get("conflicts") or OnConflict.FAIL),
        watch=Watch(progress=look),
        stop=work.stop,
    )


def _ending(report: RunReport, *notes: str) -> Ending:
    counts = _counts(report)
    lines = [f"{number:>12,}  {told(name)}" for name, number in counts.items()]
    said = [one for one in (PREVIEWED if report.dry_run else "", *report.notes, *notes) if one]
    head = f"{PREVIEWED}\n{report.target}" if report.dry_run else f"Exported to {report.target}"
    return Ending(
        whole=report.whole,
        text="\n".join([head, *lines]),
        report=_small(report.to_json()) | ({"notes": said} if said else {}),
        counts=counts,
        problems=_problems(report),
        sentence=_stopped(report) or ("" if any(counts.values()) else NOTHING),
    )


def _stopped(report: RunReport) -> str:
    there = "" if report.dry_run else f"; of all runs, {report.in_target:,} records are there"
    return report.stopped and report.stopped + there


def _small(report: Mapping[str, Any]) -> dict[str, Any]:
    return {n: v for n, v in report.items() if n not in {"problems", "still_there", "notes"}}


def _counts(report: RunReport) -> Mapping[str, int]:
    found = {"records": report.held}
    found |= {kind.value: report.actions.get(kind, 0) for kind in ActionKind}
    found |= {
        "empty": report.empty,
        "failed": report.failed,
        "conflicts": report.conflicts,
        "skipped": report.skipped,
    }
    return shown(found)


def _problems(report: RunReport) -> Iterator[Problem]:
    yield from map(_problem, report.problems)
    for identifier in report.still_there:
        yield Problem(identifier, "was deleted at the source and is still in the export")


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
        if text := fields.get("select", "").strip():
            arguments["select"] = selection_table(selection_from(_json(text)))
        if as_of := fields.get("as_of", "").strip():
            moment = checked_moment(silo_path, as_of)[:19]
            selection = replace(selection_of(_given(arguments)), as_of=moment)
            arguments = {"form": form, "select": selection_table(selection)}
        kind = kind_named(form)
        if query := arguments.get("query"):
            query_from(query)
        if is_beside(kind):
            name = fields.get("name", "").strip()
            ending = f".{kind.ending}" if kind.ending else ""
            arguments["name"] = name.removesuffix(ending) or name  # the file gets its ending
            place_of(silo_path, arguments["name"])
        arguments |= _common(kind, fields)
        values = checked(kind, fields, silo_path, AskedWhere.PAGE)
    except (ExportError, RecordSiloError) as error:
        raise JobRefused(str(error)) from None
    if is_beside(kind):
        title = f'Export "{arguments["name"]}": {kind.title}'
    else:
        title = f"Export to {kind.title}: {next(iter(values.values()), '')}"
    if fields.get(DRY_RUN, ""):
        if kind.open is None:
            raise JobRefused(f"an export as {form} has no preview ({DRY_RUN}); it is one new file")
        arguments[DRY_RUN] = True
        title = f"Preview: {title}"
    return Asked(title, _given(arguments | values))


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value}


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise JobRefused("the field select is a JSON object that selects records") from None


def _common(kind: TargetKind, fields: Fields) -> dict[str, Any]:
    """Return the arguments that all kinds of this shape share."""
    if kind.write is None:
        return _policy(kind, fields)
    known = tuple(map(str, REPLACE))
    text = fields.get("conflicts", "") or known[0]
    return {"conflicts": _one_of(known, text, "what is done about a changed file (conflicts)")}


def _policy(kind: TargetKind, fields: Fields) -> dict[str, Any]:
    usual = {"versions": str(kind.versions)}
    return {
        name: _one_of(known, fields.get(name, "") or usual.get(name, known[0]), what)
        for name, known, what in (
            ("versions", VERSIONS, "the versions of an export"),
            ("deletions", DELETIONS, "what a deletion does to an export (deletions)"),
            ("conflicts", CONFLICTS, "what is done about conflicts (conflicts)"),
        )
    }


def _one_of(known: tuple[str, ...], text: str, what: str) -> str:
    if text not in known:
        raise JobRefused(f"{what} must be one of {', '.join(known)}")
    return text


EXPORT = Kind(
    "export",
    "Export",
    export,
    lane="export",
    foreseen=(ExportError,),
    read=_asked_export,
    did="{n} exported",
)
