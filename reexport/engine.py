"""The way of an export: each selected record becomes a package, each package a deposit."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from recordsilo import HarvestedRecord, Silo
from recordsilo.errors import RecordNotFound, RecordSiloError
from recordsilo.index import PageRequest, SearchFilters
from reexport.errors import DepositFailed
from reexport.package import Outcome, Package
from reexport.package import PackageTarget as Target

PAGE = 500
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which records are exported.

    Attributes:
        set_spec: Those of a set, or of one below it.
        items: These, by full identifiers; empty means all.
        state: Of them, those whose current version is in this state.
    """

    set_spec: str | None = None
    items: tuple[str, ...] = ()
    state: str | None = None

    def total(self, silo: Silo) -> int:
        """How many records are selected, at most."""
        if self.items:
            return len(self.items)
        if self.state is None:
            return silo.count(set_spec=self.set_spec)
        return silo.search(filters=self._filters(), page=PageRequest(limit=1)).total

    def identifiers(self, silo: Silo) -> Iterator[str]:
        """The records, by identifier; of ``items`` the state is not asked here."""
        if self.items:
            yield from dict.fromkeys(self.items)
        elif self.state is None:
            yield from _listed(silo, self.set_spec)
        else:
            yield from (row.identifier for row in silo.found(self._filters()))

    def has(self, record: HarvestedRecord) -> bool:
        """Whether the record is in the wanted state, as it is now."""
        return self.state is None or record.version_state() == self.state

    def _filters(self) -> SearchFilters:
        wanted = {"state": self.state, "set": self.set_spec}
        return SearchFilters(values={key: [value] for key, value in wanted.items() if value})


@dataclass(slots=True)
class Report:
    """What an export did.

    Attributes:
        outcomes: How many packages had which outcome.
        deleted: Records left out because the source deleted them and nobody kept
            a curated version.
        still_there: Those among them that an earlier export had put into the target.
        failed: Identifier → why, in a sentence.
    """

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    deleted: int = 0
    still_there: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether every selected record is in the target now."""
        return not self.failed

    @property
    def done(self) -> int:
        """How many records have been dealt with."""
        return self.outcomes.total() + self.deleted + len(self.failed)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "whole": self.whole,
            "counts": {
                **{outcome.value: self.outcomes[outcome] for outcome in Outcome},
                "deleted": self.deleted,
                "failed": len(self.failed),
            },
            "still_there": self.still_there,
            "failed": [{"identifier": i, "reason": why} for i, why in self.failed.items()],
        }


def export(
    silo: Silo,
    target: Target,
    selection: Selection,
    progress: Progress = lambda _done: None,
) -> Report:
    """Export the current version of each selected record.

    One record after the other, in the order of identifiers; memory does not grow with
    their number. Interrupted, the same call goes on: what is in the target stays.

    Args:
        progress: Called after each record with how many are done.

    Returns:
        What was done; a record that cannot be exported is named there, and the others
        go on.

    Raises:
        TargetUnusable: The target cannot be used, or cannot any more.
    """
    target.prepare()
    report = Report()
    for identifier in selection.identifiers(silo):
        try:
            record = silo[identifier]
            if selection.has(record):
                _export_one(record, target, report)
        except DepositFailed as error:
            report.failed[identifier] = error.reason
        except RecordNotFound:  # removed since it was listed
            continue
        except RecordSiloError as error:
            report.failed[identifier] = str(error)
        progress(report.done)
    return report


def _export_one(record: HarvestedRecord, target: Target, report: Report) -> None:
    if _is_deleted(record):
        report.deleted += 1
        if target.has(record.item_id):
            report.still_there.append(record.item_id)
        return
    report.outcomes[target.deposit(Package.of(record))] += 1


def _is_deleted(record: HarvestedRecord) -> bool:
    """Whether the source deleted it and its current version is not a curated one."""
    return "deleted_at_version" in record.metadata and not record.is_curated()


def _listed(silo: Silo, set_spec: str | None) -> Iterator[str]:
    page = silo.page(limit=PAGE, set_spec=set_spec)
    while page.rows:
        yield from (row.identifier for row in page.rows)
        if not page.has_next:
            return
        page = silo.page(limit=PAGE, after=page.rows[-1].identifier, set_spec=set_spec)
