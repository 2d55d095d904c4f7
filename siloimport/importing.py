"""An import: records of a source into a Silo, which is made only if there is one to write."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from recordsilo import Silo
from recordsilo.wording import counted
from siloimport.errors import ImportProblem
from siloimport.writing import (
    FAULTS,
    Imported,
    ImportReport,
    check_record,
    check_records,
    distinct,
    write_records,
)


@dataclass(frozen=True, slots=True)
class ImportSource:
    """What is imported.

    Attributes:
        name: For people.
        records: Yields the records, and adds to the report what is none.
        total: Their number, if it is known.
        place: A path that must not be in the Silo, nor the Silo in it.
    """

    name: str
    records: Callable[[ImportReport], Iterator[Imported]]
    total: int | None = None
    place: str = ""


def import_from(
    source: ImportSource,
    silo_dir: str,
    report: ImportReport,
    progress: Callable[[], None],
    *,
    dry_run: bool = False,
    agent: str = "",
) -> None:
    """Import the records of a source; after a kill, the same call continues.

    Args:
        silo_dir: New or existing. A new one is made when the first record was read whole.
        report: Is added to.
        progress: Called after each record; may raise to end the import after whole records.
        dry_run: Read all and write nothing.
        agent: Who imports.

    Raises:
        ImportProblem: The source cannot be read to its end, or is beside the Silo.
    """
    if source.place:
        _check_apart(source.place, silo_dir)
    records: Iterable[Imported] = distinct(source.records(report), report)
    is_there = _is_silo(silo_dir)
    if dry_run:
        if is_there:
            with Silo(silo_dir, create=False) as silo:
                check_records(silo, records, report, progress)
        else:
            check_records(None, records, report, progress)
        return
    if not is_there:
        sound = _from_first_sound(records, report, progress)
        if sound is None:
            return
        records = sound
    with Silo(silo_dir, agent=agent or None) as silo:
        write_records(silo, records, report, progress)


def text_of(report: ImportReport, *, dry_run: bool) -> str:
    """Return what an import did, in a line."""
    done = "would be imported" if dry_run else "imported"
    return (
        f"{counted(report.records, 'record')} with {counted(report.versions, 'version')} {done}, "
        f"{report.unchanged:,} unchanged, {len(report.failed):,} not imported"
    )


def _from_first_sound(
    records: Iterable[Imported], report: ImportReport, progress: Callable[[], None]
) -> Iterable[Imported] | None:
    """Return the records from the first that can be written; None if there is none."""
    waiting = iter(records)
    for record in waiting:
        try:
            check_record(record)
        except FAULTS as error:
            report.failed[record.identifier] = str(error)
            progress()
        else:
            return chain([record], waiting)
    return None


def _is_silo(silo_dir: str) -> bool:
    return os.path.isdir(silo_dir) and bool(os.listdir(silo_dir))


def _check_apart(place: str, silo_dir: str) -> None:
    one, other = (f"{os.path.realpath(path)}/" for path in (place, silo_dir))
    if one.startswith(other) or other.startswith(one):
        raise ImportProblem(
            f"{silo_dir} and {place} are one inside the other; choose another directory"
        )
