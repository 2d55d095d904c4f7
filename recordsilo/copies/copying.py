"""Copy a Silo or a part of it: records with all versions and history, and what goes with them."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from recordsilo.copies.beside import carry_all, carry_removals, carry_some, created_of, settings_of
from recordsilo.copies.errors import RecordNotCopied
from recordsilo.copies.new_silo import NewSilo, Order, check_apart, check_new
from recordsilo.disk.walk import walk_records
from recordsilo.records.place import RecordPlace
from recordsilo.selection import Selection, selection_table
from recordsilo.silo import Silo

Progress = Callable[[int], None]


@dataclass(slots=True)
class CopyReport:
    """What a copy did.

    Attributes:
        records: Number of records that are in the new Silo, or would be.
        there: How many of them an interrupted run had copied.
        size: Bytes of their files that were copied.
        failed: Record or path → why it was not copied.
        left: Paths in the originals that are not carried.
        notes: Sentences about other files.
    """

    records: int = 0
    there: int = 0
    size: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def count(self, new: NewSilo) -> None:
        """Count what a Silo that is made has."""
        self.records, self.there, self.size = new.records, new.there, new.size

    @property
    def is_whole(self) -> bool:
        """Whether everything was copied that should be."""
        return not self.failed and not self.notes

    def as_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "records": self.records, "there": self.there, "bytes": self.size,
            "failed": self.failed, "left": self.left, "notes": self.notes,
        }  # fmt: skip


def places_in(path: str, report: CopyReport) -> Iterator[RecordPlace]:
    """All records on the disk, also those that cannot be read; what is none is reported."""
    root = f"{path}/pairtree_root"

    def problem(_path: str, sentence: str) -> None:
        report.failed[_path] = sentence

    for identifier in walk_records(root, problem, name_links=True):
        yield RecordPlace.below(root, identifier)


def selected(silo: Silo, select: Selection, report: CopyReport) -> Iterable[RecordPlace]:
    """The records that a selection selects."""
    if select.is_everything:
        return places_in(silo.path, report)
    return (RecordPlace.in_silo(silo.path, one) for one in select.iterate(silo))


def copy_silo(
    silo: Silo, target: str, select: Selection, progress: Progress, *, dry_run: bool = False
) -> CopyReport:
    """Copy the selected records into a new Silo; after a kill, the same call continues.

    What goes with them is copied first, so that no mark of a harvest is newer than the records;
    removals are copied again afterwards, and what was removed meanwhile is left out.

    Args:
        silo: Others may change it meanwhile; nothing is written there.
        target: A new directory, or one where the same copy was interrupted.
        select: Everything also copies all other files.
        progress: Called with the number of records so far; may raise to stop.
        dry_run: Only count.

    Raises:
        CopyRefused: It cannot begin, or continue.
        RecordNotFound, SearchError, IndexProblem: See `Selection.iterate`.
        OSError: The new directory cannot be written.
    """
    report = CopyReport()
    order = order_of("copy", [silo.path], selection_table(select))
    check_apart([silo.path], target)
    check_new(target, order)
    if dry_run:
        report.records = sum(1 for _ in selected(silo, select, report))
        return report
    with NewSilo(target, order) as new:
        if new.is_whole:
            new.finish({}, "")
            report.records = sum(1 for _ in places_in(new.path, report))
            report.there = report.records
            return report
        if select.is_everything:
            carry_all(silo.path, new.path, report.notes.append)
        else:
            report.left = carry_some([silo.path], new.path, report.notes.append, responses=False)
        for place in selected(silo, select, report):
            add(new, place, report, progress)
        leave_out_removed(silo, new)
        new.finish(settings_of([silo.path]), created_of([silo.path]))
        report.count(new)
    return report


def add(new: NewSilo, place: RecordPlace, report: CopyReport, progress: Progress) -> None:
    """Copy a record; one that is damaged is reported, and the others are copied."""
    try:
        new.add(place)
    except RecordNotCopied as error:
        report.failed[error.identifier] = error.why
    progress(new.records)


def leave_out_removed(silo: Silo, new: NewSilo) -> None:
    """Carry the removals that were made while the records were copied."""
    for identifier in carry_removals(silo.path, new.path):
        if not RecordPlace.in_silo(silo.path, identifier).exists():
            new.leave_out(identifier)


def order_of(kind: str, sources: Iterable[str], selection: object = None, **more: Any) -> Order:
    """What is to be done, as `NewSilo` keeps it."""
    known = {"selection": selection} if selection else {}
    paths = [os.path.realpath(source) for source in sources]
    return {"format": 1, "kind": kind, "sources": paths, **known, **more}
