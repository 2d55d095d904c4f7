"""Merge Silos into a new one: the records of all, each once, and what people decided about them.

A record in several Silos is taken from the one whose record contains the others' (`agreement`). If
none does, or if one Silo has a record that another one removed for good, that is a conflict.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from recordsilo.copies.agreement import Agreement, agreement_of
from recordsilo.copies.beside import carry_some, created_of, note_kept, settings_of
from recordsilo.copies.copying import CopyReport, Progress, add, order_of, places_in
from recordsilo.copies.errors import CopyRefused, MergeConflicts
from recordsilo.copies.new_silo import NewSilo, check_apart, check_new
from recordsilo.errors import RecordSiloError
from recordsilo.records.history import full
from recordsilo.records.manifest import Manifest
from recordsilo.records.place import RecordPlace
from recordsilo.removals import Removal, removals_of
from recordsilo.silo import Silo


class OnConflict(StrEnum):
    """What to do about a conflict."""

    REFUSE = "refuse"
    FIRST = "first"
    """The first Silo that has the record, or removed it, decides."""
    NEWEST = "newest"
    """The last change, or removal, decides."""


@dataclass(slots=True)
class MergeReport(CopyReport):
    """What a merge did.

    Attributes:
        common: Number of records that several Silos have, or had.
        conflicts: Record → what the conflict is, and which Silo decided it.
    """

    common: int = 0
    conflicts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _One:
    """A Silo's record, or its removal."""

    silo: str
    place: RecordPlace
    manifest: Manifest | None
    removal: Removal | None = None

    @property
    def at(self) -> str:
        """When it was changed last."""
        if self.removal is not None:
            return full(self.removal.at)
        return full(self.manifest.changed) if self.manifest else ""


def merge_silos(
    silos: Sequence[Silo],
    target: str,
    on_conflict: OnConflict,
    progress: Progress,
    *,
    dry_run: bool = False,
    agent: str = "",
) -> MergeReport:
    """Merge Silos into a new one; after a kill, the same call continues.

    Args:
        silos: At least two; nothing is written there.
        target: See `recordsilo.copies.copying.copy_silo`.
        on_conflict: What is done about conflicts; to refuse is to write nothing.
        progress: Called with the number of records so far; may raise to stop.
        dry_run: Only look, and report conflicts.
        agent: Who decides conflicts.

    Raises:
        CopyRefused: It cannot begin, or continue.
        MergeConflicts: There are conflicts, and nothing was decided about them.
        OSError: The new directory cannot be written.

    Cost: the manifests of records that several Silos have are read twice.
    """
    if len(silos) < 2:
        raise CopyRefused("name at least two Silos to merge; silo copy copies one")
    paths = [silo.path for silo in silos]
    order = order_of("merge", paths, on_conflict=str(on_conflict))
    check_apart(paths, target)
    check_new(target, order)
    report = MergeReport()
    report.records = sum(1 for _ in _chosen(silos, on_conflict, report))
    if dry_run or report.failed:
        if report.failed and not dry_run:
            raise CopyRefused(
                f"{len(report.failed):,} records cannot be compared, such as "
                f"{next(iter(report.failed.values()))}; repair them, and merge again"
            )
        return report
    _check_conflicts(report, on_conflict)
    with NewSilo(target, order) as new:
        if not new.is_whole:
            report = MergeReport()
            report.left = carry_some(paths, new.path, report.notes.append, responses=True)
            gone = {one for silo in silos for one in silo.removed()}
            kept: list[str] = []
            for one in _chosen(silos, on_conflict, report):
                _check_conflicts(report, on_conflict)
                add(new, one.place, report, progress)
                if one.place.identifier in gone:
                    kept.append(one.place.identifier)
            new.flush()
            note_kept(new.path, kept, agent)
        new.finish(settings_of(paths), created_of(paths))
        if new.records:
            report.count(new)
    return report


def _check_conflicts(report: MergeReport, on_conflict: OnConflict) -> None:
    if report.conflicts and on_conflict is OnConflict.REFUSE:
        raise MergeConflicts([f"{one}: {why}" for one, why in report.conflicts.items()])


def _chosen(silos: Sequence[Silo], on_conflict: OnConflict, report: MergeReport) -> Iterator[_One]:
    """The record of each identifier that the new Silo gets.

    Adds conflicts, and what cannot be read, to the report.
    """
    removed = [_removals(silo) for silo in silos]
    for number, silo in enumerate(silos):
        for place in places_in(silo.path, report):
            identifier = place.identifier
            if any(RecordPlace.in_silo(one.path, identifier).exists() for one in silos[:number]):
                continue
            candidates = list(_candidates(identifier, silos, removed))
            if len(candidates) == 1:
                yield candidates[0]
                continue
            report.common += 1
            try:
                found = _decided(candidates, on_conflict, report)
            except RecordSiloError as error:
                report.failed[identifier] = str(error)
                continue
            if found.removal is None:
                yield found


def _removals(silo: Silo) -> dict[str, Removal]:
    return {one.identifier: one for one in removals_of(silo.path) if not one.until}


def _candidates(
    identifier: str, silos: Sequence[Silo], removed: Sequence[dict[str, Removal]]
) -> Iterator[_One]:
    for silo, gone in zip(silos, removed, strict=True):
        place = RecordPlace.in_silo(silo.path, identifier)
        if place.exists():
            yield _One(silo.storage_dir, place, None)
        elif identifier in gone:
            yield _One(silo.storage_dir, place, None, gone[identifier])


def _decided(candidates: Sequence[_One], on_conflict: OnConflict, report: MergeReport) -> _One:
    """The candidate that contains all others, or that decides a conflict."""
    read = [
        one if one.removal else _One(one.silo, one.place, one.place.read_manifest(to_change=True))
        for one in candidates
    ]
    there = [one for one in read if one.manifest or one.removal]  # others were removed meanwhile
    best, why = there[0], ""
    for one in there[1:]:
        agreement, reason = _agreement(best, one)
        if agreement is Agreement.CONFLICT:
            why = reason
            break
        best = one if agreement is Agreement.SECOND else best
    if not why:
        return best
    newest = max(there, key=lambda one: one.at)
    decided = newest if on_conflict is OnConflict.NEWEST else there[0]
    by = "" if on_conflict is OnConflict.REFUSE else f"; {decided.silo} decides"
    where = " and ".join(one.silo for one in there)
    report.conflicts[best.place.identifier] = f"{why} (in {where}){by}"
    return decided


def _agreement(one: _One, other: _One) -> tuple[Agreement, str]:
    if one.manifest and other.manifest:
        return agreement_of(one.manifest, other.manifest, (one.silo, other.silo))
    if one.removal and other.removal:
        return Agreement.FIRST, ""
    return (
        Agreement.CONFLICT,
        f"it was removed from {(one if one.removal else other).silo} for good",
    )
