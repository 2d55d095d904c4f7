"""Jobs that write one file for the whole selection."""

from collections.abc import Mapping
from typing import Any

from recordsilo import Silo
from recordsilo.selection import Selection
from recordsilo.silo_then import SiloThen
from siloexport.target_kinds import TargetKind, Values
from siloexport.targets import tables
from siloexport.targets.tables import TableReport
from siloexport.values import OnConflict
from silowork.values import Ending, Problem
from silowork.work import Work

NOTHING = "no record is selected; nothing was exported"


def write_file(
    work: Work, kind: TargetKind, selection: Selection, values: Values, path: str
) -> Ending:
    """Write the file of a kind to `path`; it replaces an earlier one when it is complete.

    If no record is selected, nothing is written, and an earlier file stays.

    Args:
        work: The job.
        kind: With `TargetKind.write`.
        selection: Which records.
        values: Of the kind's fields.

    Raises:
        Interrupted: The job was asked to stop; the earlier file is kept.
        FileChanged: The file was changed since the last export, and ``conflicts`` is not
            ``overwrite``.
        FileOfOtherKind: The same, for a file that was exported as another kind.
    """
    assert kind.write is not None
    with Silo(work.silo_path, create=False) as now, selection.at(now) as silo:
        total, untold = selection.total(silo), selection.untold(silo)
        if not total:
            return _ending(kind, TableReport(), path, NOTHING, untold)

        def show(done: int) -> None:
            work.advanced(done, total)
            work.end_if_asked()

        on_conflict = OnConflict(work.arguments.get("conflicts") or OnConflict.FAIL)
        with tables.exported_file(
            work.silo_path, path, on_conflict, follow=False, form=kind.name
        ) as file:
            report = kind.write(silo, selection, file, values, show)
        unsure = silo.told_unsure() if isinstance(silo, SiloThen) else ""
    return _ending(kind, report, path, "", unsure, untold)


def _ending(kind: TargetKind, report: TableReport, path: str, head: str, *notes: str) -> Ending:
    said = [one for one in (*report.notes, *notes) if one]
    counts = {
        "records": report.records,
        **({} if kind.unit == "rows" else {kind.unit: report.rows}),
        "empty": report.empty,
        "deleted at the source left out": report.deleted,
        "failed": len(report.failed),
    }
    known: dict[str, Any] = shown(counts)
    lines = [f"{number:>12,}  {told(name)}" for name, number in known.items()]
    return Ending(
        whole=not report.failed,
        text="\n".join([head or f"Exported to {path}", *lines]),
        report=known | {"target": path} | ({"notes": said} if said else {}),
        counts=known,
        problems=[Problem(identifier, why) for identifier, why in report.failed.items()],
        sentence="" if any(counts.values()) else NOTHING,
    )


def told(name: str) -> str:
    """Return the name of a count for people."""
    return "with nothing to export" if name == "empty" else name


def shown(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts that are not 0, and always that of the records."""
    return {name: number for name, number in counts.items() if number or name == "records"}
