"""A kind of jobs: exports, to plain files, bags and tables beside the Silo, or into a Fedora."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from recordsilo import Silo
from recordsilo.errors import SearchError
from recordsilo.selection import Selection, filters_from, query_from
from siloexport.engine import Export, Watch
from siloexport.errors import ExportError
from siloexport.fedora_places import fedora_place
from siloexport.plan import Policy, Versions
from siloexport.report import DepositOutcome, Progress, RunReport
from siloexport.table_jobs import NOTHING, TABLES, shown, table
from siloexport.targets import Target
from siloexport.targets.bag import BagTarget
from siloexport.targets.files import FilesTarget
from siloexport.targets.tables import check_columns
from siloexport.values import REPLACE, Deletions, OnConflict
from silowork.errors import Interrupted, JobRefused
from silowork.values import Ending, Problem
from silowork.work import Asked, Fields, Kind, Work

DIRECTORIES = ("files", "bag")
FEDORA = "fedora"
FORMS = (*DIRECTORIES, *TABLES, FEDORA)
SIDE_BY_SIDE = 4
"""Records at once in a Fedora: it is waited for more than it is worked for."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def place_of(silo_path: str, name: str, form: str = "") -> str:
    """Where an export lies: ``myrepo.exports/<name>`` beside the Silo ``myrepo``.

    A table is a file there, with its form as ending.

    Raises:
        JobRefused: The name could lead elsewhere.
    """
    if not _NAME.fullmatch(name):
        raise JobRefused("the name of an export is of letters, digits, dots, hyphens and _")
    ending = f".{form}" if form in TABLES else ""
    return os.path.join(os.path.abspath(silo_path) + ".exports", name + ending)


def export(work: Work) -> Ending:
    """Export in a ``form`` to ``name``, or to the ``place`` of a Fedora.

    ``set``, ``state`` and ``query`` select; ``versions``, ``deletions`` and ``conflicts``
    say what of it goes, and ``columns`` what a table has.
    """
    given = work.arguments
    filters = filters_from(set_spec=given.get("set"), state=given.get("state"))
    selection = Selection(given.get("query") or "", filters)
    if given.get("form") in TABLES:
        return table(work, selection, _beside(work))
    policy = Policy(
        Versions(given.get("versions") or Versions.CURRENT),
        deletions=Deletions(given.get("deletions") or Deletions.STATUS),
    )
    with Silo(work.silo_path, create=False) as silo, _target(work, policy.versions) as target:
        report = _run(work, Export(silo, target, policy), selection)
    if report.stopped and work.stop():
        raise Interrupted("the export was asked to end")
    return _ending(report)


def _beside(work: Work) -> str:
    """Where the export goes; the directory above it is made."""
    given = work.arguments
    place = place_of(work.silo_path, str(given["name"]), str(given.get("form", "")))
    os.makedirs(os.path.dirname(place), exist_ok=True)
    return place


@contextmanager
def _target(work: Work, versions: Versions) -> Iterator[Target]:
    form = work.arguments.get("form")
    if form == FEDORA:
        with _fedora(work) as target:
            yield target
    elif form == "bag":
        yield BagTarget(_beside(work))
    else:
        yield FilesTarget(_beside(work), versions)


@contextmanager
def _fedora(work: Work) -> Iterator[Target]:
    """The Fedora of a named place; rdflib is loaded here and not before."""
    from siloexport.crosswalk import Crosswalk  # noqa: PLC0415 - slow, and only for Fedora
    from siloexport.targets.fedora import FedoraClient, FedoraTarget  # noqa: PLC0415
    from siloexport.targets.fedora.credentials import credentials  # noqa: PLC0415

    place = fedora_place(work.silo_path, str(work.arguments["place"]))
    crosswalk = Crosswalk.read(place.crosswalk) if place.crosswalk else None
    with FedoraClient(place.url, credentials(place.url, place.credentials, os.environ)) as client:
        yield FedoraTarget(place.url, client, crosswalk)


def _run(work: Work, export: Export, selection: Selection) -> RunReport:
    def look(progress: Progress) -> None:
        work.advanced(progress.records, progress.total)

    return export.run(
        selection,
        jobs=SIDE_BY_SIDE if work.arguments.get("form") == FEDORA else 1,
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
    form = fields.get("form", "") or FORMS[0]
    if form not in FORMS:
        raise JobRefused(f"an export is one of {', '.join(FORMS)}")
    arguments: dict[str, Any] = {"form": form}
    arguments |= {known: fields.get(known, "").strip() for known in ("set", "state", "query")}
    try:
        arguments["query"] = arguments["query"] and query_from(arguments["query"])
    except SearchError as error:
        raise JobRefused(str(error)) from None
    name = fields.get("place" if form == FEDORA else "name", "").strip()
    if form == FEDORA:
        arguments |= {"place": fedora_place(silo_path, name).name}
        title = f"Export to Fedora: {name}"
    else:
        place_of(silo_path, name)
        arguments |= {"name": name}
        title = f"Export {name} as {form}"
    arguments |= _columns(fields) if form in TABLES else _policy(fields)
    known = {name: value for name, value in arguments.items() if value}
    return Asked(title, known)


def _columns(fields: Fields) -> dict[str, Any]:
    columns = fields.get("columns", "").replace(",", " ").split()
    try:
        check_columns(columns)
    except ExportError as error:
        raise JobRefused(str(error)) from None
    conflicts = fields.get("conflicts", "") or CONFLICTS[0]
    known = tuple(map(str, REPLACE))
    return {
        "columns": columns,
        "conflicts": _one_of(known, conflicts, "what is done about a changed file (conflicts)"),
    }


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
