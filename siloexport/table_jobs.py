"""Files as jobs: one for all that is selected, whole or not there at all."""

from collections.abc import Mapping
from typing import Any

from recordsilo import Silo
from recordsilo.selection import Selection
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
    """Write the file of a kind to `path`, in the place of one before; asked to end, that one stays.

    Raises:
        Interrupted: The job is to end; the next run begins the file anew.
        FileChanged: The file is not as exported last, and ``conflicts`` does not say
            ``overwrite``.
    """
    assert kind.write is not None
    with Silo(work.silo_path, create=False) as silo:
        total = selection.total(silo)

        def show(done: int) -> None:
            work.advanced(done, total)
            work.end_if_asked()

        on_conflict = OnConflict(work.arguments.get("conflicts") or OnConflict.FAIL)
        with tables.exported_file(work.silo_path, path, on_conflict) as file:
            report = kind.write(silo, selection, file, values, show)
    return _ending(report, path)


def _ending(report: TableReport, path: str) -> Ending:
    counts = {
        "records": report.records,
        "deleted at the source left out": report.deleted,
        "failed": len(report.failed),
    }
    known: dict[str, Any] = shown(counts)
    lines = [f"{number:>12,}  {name}" for name, number in known.items()]
    return Ending(
        whole=not report.failed,
        text="\n".join([f"Exported to {path}", *lines]),
        report=known,
        counts=known,
        problems=[Problem(identifier, why) for identifier, why in report.failed.items()],
        sentence="" if any(counts.values()) else NOTHING,
    )


def shown(counts: Mapping[str, int]) -> dict[str, int]:
    """The numbers that say something: that of the records in any case."""
    return {name: number for name, number in counts.items() if number or name == "records"}
