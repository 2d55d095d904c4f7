"""Imports as a kind of jobs: of what the administrator puts into the directory beside a Silo."""

import os
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import Any

from infopackages.ocfl.inventory import OcflError
from infopackages.ocfl.reading import check_root
from recordsilo.cells import SEPARATOR
from recordsilo.errors import RecordSiloError
from siloimport.bags import bags_at
from siloimport.directories import FileOptions, Per, files_at
from siloimport.errors import ImportProblem
from siloimport.importing import ImportSource, import_from, text_of
from siloimport.ocfl import records_of
from siloimport.places import imports_beside, names_beside
from siloimport.tables import BadRows, TableOptions, table_at
from siloimport.writing import ImportReport
from silowork.errors import JobRefused
from silowork.forms import Field, Input, JobForm
from silowork.values import Ending, Problem
from silowork.work import Asked, Fields, Kind, Work

_PREVIEWED = "Preview: nothing was written. The numbers are what the import would do."


class ImportForm(StrEnum):
    """What is imported; the values are the names of the commands."""

    BAG = "bag"
    OCFL = "ocfl"
    CSV = "csv"
    DIRECTORIES = "files"
    FILES = "file"


_FORMS = (
    (ImportForm.BAG.value, "A bag, or a directory of bags (BagIt)"),
    (ImportForm.OCFL.value, "A storage root (OCFL)"),
    (ImportForm.CSV.value, "A table (CSV): each row a record"),
    (ImportForm.DIRECTORIES.value, "A directory: each directory in it a record"),
    (ImportForm.FILES.value, "A directory: each file below it a record"),
)


def run(work: Work) -> Ending:
    """Import; another run continues, since a record that is there is unchanged.

    Raises:
        Interrupted: The job was asked to end.
        ImportProblem: What is to be imported cannot be read.
    """
    given, report = work.arguments, ImportReport()
    dry_run = bool(given.get("dry_run"))
    place = f"{os.path.realpath(imports_beside(work.silo_path))}/"

    def show() -> None:
        work.advanced(report.seen, source.total)
        work.end_if_asked()

    try:
        source = _source(work.silo_path, given)
        import_from(source, work.silo_path, report, show, dry_run=dry_run, agent=work.agent)
    except BadRows as error:
        return _bad(error)
    except ImportProblem as error:  # the page shows no directory of the server
        raise ImportProblem(str(error).replace(place, "")) from None
    counts = {
        "records": report.records, "versions": report.versions, "unchanged": report.unchanged,
        "failed": len(report.failed),
    }  # fmt: skip
    known = {name: number for name, number in counts.items() if number or name == "records"}
    problems = [Problem(name, why) for name, why in report.failed.items()]
    notes = {"notes": [_PREVIEWED]} if dry_run else {}
    text = f"{given['source']}: {text_of(report, dry_run=dry_run)}"
    head = f"{_PREVIEWED}\n" if dry_run else ""
    return Ending(not problems, head + text, {**known, **notes}, known, problems)


def _bad(error: BadRows) -> Ending:
    problems = [Problem(f"line {line}", why) for line, why in error.faults]
    sentence = "rows are bad, so nothing was stored; correct the table, or import the other rows"
    counts = {"records": 0, "failed": len(problems)}
    return Ending(False, sentence, dict(counts), counts, problems, sentence)


def _source(silo_path: str, given: Mapping[str, Any]) -> ImportSource:
    """Return what is imported.

    Raises:
        ImportProblem: It is not there any more, or cannot be read.
    """
    name, form = str(given["source"]), ImportForm(given["form"])
    if name not in names_beside(silo_path):
        place = os.path.basename(imports_beside(silo_path))
        raise ImportProblem(f"{name} is not in the directory {place} beside the Silo any more")
    path = os.path.join(os.path.realpath(imports_beside(silo_path)), name)
    prefix = str(given.get("prefix", ""))
    if form is ImportForm.BAG:
        found = bags_at(path)
    elif form is ImportForm.OCFL:
        found = _root(path)
    elif form is ImportForm.CSV:
        found = table_at(path, _table_options(given, prefix))
    else:
        per = Per.FILE if form is ImportForm.FILES else Per.DIRECTORY
        found = files_at(path, FileOptions(per, prefix, titles=bool(given.get("titles"))))
    return replace(found, name=name)


def _root(path: str) -> ImportSource:
    try:
        check_root(path, and_1_0=True)
    except OcflError as error:
        raise ImportProblem(f"{os.path.basename(path)}: {error}") from None
    return ImportSource(path, partial(records_of, path), None, path)


def _table_options(given: Mapping[str, Any], prefix: str) -> TableOptions:
    return TableOptions(
        str(given.get("identifier", "")),
        dict(given.get("map", {})),
        separator=str(given.get("values", SEPARATOR)),
        prefix=prefix,
        skip_bad=bool(given.get("skip_bad")),
    )


# -- forms ---------------------------------------------------------------------------------


def _form(silo_path: str) -> JobForm:
    """Offer what is in the directory beside the Silo."""
    form = JobForm(
        "Import",
        "Make records from bags, a table, files or a storage root. Records that exist stay as "
        "they are.",
        "Import",
        order=25,
    )
    names = tuple((one, one) for one in names_beside(silo_path))
    if not names:
        place = os.path.basename(imports_beside(silo_path))
        return replace(
            form,
            fault=f"Put what is to be imported into the directory {place} beside the Silo. Then "
            "reload this page.",
        )
    fields = (
        Field("source", "What", Input.CHOICE, required=True, choices=names),
        Field("form", "It is", Input.CHOICE, required=True, choices=_FORMS),
        Field("prefix", "What identifiers begin with",
              help="Of records from tables and files, such as oai:example.org: before the name."),
        Field("identifier", "Column with identifiers",
              help="Of a table; by default record or identifier."),
        Field("map", "Columns",
              help="Of a table, such as Author=creator; Title=title[en]; Notes=- where - leaves a "
                   "column out."),
        Field("values", "Between several values", default=SEPARATOR, help="In a cell of a table."),
        Field("skip_bad", "Import the other rows if some are bad", Input.TICK),
        Field("titles", "Take the names of files without metadata as titles", Input.TICK),
        Field("dry_run", "Only check, and write nothing", Input.TICK),
    )  # fmt: skip
    return replace(form, fields=fields)


def _asked(fields: Fields, silo_path: str, _records: int) -> Asked:
    source, form = fields.get("source", "").strip(), fields.get("form", "").strip()
    if source not in names_beside(silo_path):
        place = os.path.basename(imports_beside(silo_path))
        raise JobRefused(
            f"there is no {source!r} (source) in the directory {place} beside the Silo"
        )
    if form not in [*ImportForm]:
        raise JobRefused(f"form is {form!r}; it may be {', '.join(ImportForm)}")
    given: dict[str, Any] = {"source": source, "form": form, "map": _mapping(fields.get("map", ""))}
    for name in ("prefix", "identifier", "values"):
        if text := fields.get(name, "").strip():
            given[name] = text
    given |= {
        name: True for name in ("skip_bad", "titles", "dry_run") if fields.get(name, "") == "yes"
    }
    return Asked(f"Import {source}", given)


def _mapping(text: str) -> dict[str, str]:
    """Return column → element, from pairs that are separated by semicolons."""
    found = {}
    for pair in filter(None, map(str.strip, text.split(";"))):
        column, _, element = pair.rpartition("=")
        if not column or not element:
            raise JobRefused(f"{pair!r} (map) does not say COLUMN=ELEMENT")
        found[column.strip()] = element.strip()
    return found


IMPORT = Kind(
    "import", "Import", run, foreseen=(ImportProblem, RecordSiloError), read=_asked, form=_form,
    begun="Import started",
)  # fmt: skip
