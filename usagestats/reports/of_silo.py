"""Reports of a Silo: its figures and its items."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from recordsilo.extras import PackageMissing
from usagestats.entities.usage import Usage as UsageOfSilo
from usagestats.reports.asking import CountedPeriod
from usagestats.reports.definitions import MACHINE, Definition, ReportNotice
from usagestats.reports.items import item_of
from usagestats.reports.making import (
    MonthFigures,
    ReportBasis,
    ReportRequest,
    UsageReport,
    make_report,
)
from usagestats.reports.platform import platform_of
from usagestats.rules.robots import RobotLists
from usagestats.rules.settings import read_settings
from usagestats.store import queries
from usagestats.store.ledger import UsageLedger
from usagestats.store.periods import month_after, months_between
from usagestats.values import Figures


def robots_of(silo_path: str) -> str:
    """Return the names and versions of the lists of robots by which the logs were read.

    If no import says so, it is the installed list, or that it is unknown without the extra.
    """
    with UsageLedger(silo_path, "read") as ledger:
        used = [str(receipt.get("robots", "")) for _, receipt in ledger.receipts()]
    if known := "; ".join(filter(None, dict.fromkeys(used))):
        return known
    try:
        return RobotLists(read_settings(silo_path).robots).version
    except PackageMissing:
        return "unknown: the package counter-robots is not installed"


def _not_counted(silo_path: str, months: Sequence[str]) -> list[ReportNotice]:
    """Say which days of a report are not counted yet, because an import was interrupted."""
    with UsageLedger(silo_path, "read") as ledger:
        days = [day for day in ledger.stale() if day[:7] in months]
    return [ReportNotice.of(3040, f"not counted yet: {', '.join(days)}")] if days else []


def counted_of(usage: UsageOfSilo, today: date) -> CountedPeriod | None:
    """Return of which time usage was counted; None without counts.

    The days of log lines count, too, as far as they are known: a day without a use is no gap.
    """
    bounds = queries.bounds(usage.counts)
    if bounds is None:
        return None
    with UsageLedger(usage.silo.path, "read") as ledger:
        days = (*bounds, *ledger.days())
    return CountedPeriod(min(days), max(days), today)


def report_of(
    usage: UsageOfSilo,
    definition: Definition,
    request: ReportRequest,
    *,
    now: datetime,
    notices: Sequence[ReportNotice] = (),
) -> UsageReport:
    """Make a report of a Silo.

    Raises:
        UsageError: The counts or the settings cannot be read.
    """
    path = usage.silo.path
    months = []
    if request.months:
        months = months_between(month_after(request.months[0], -12), request.months[-1])
    figures = {
        method: _figures(usage, months, machine=method == MACHINE) for method in request.methods
    }
    items = {name: item_of(name, found) for _, name, found in usage.catalogue.metadata()}
    return make_report(
        definition,
        request,
        platform_of(path),
        ReportBasis(figures, items, robots_of(path)),
        now=now,
        notices=(*notices, *_not_counted(path, request.months)),
    )


def _figures(usage: UsageOfSilo, months: Sequence[str], *, machine: bool) -> MonthFigures:
    found: dict[str, dict[str, Figures]] = {}
    for month in months:
        of_month: Mapping[str, Figures] = usage.counts.month_items(month, machine=machine)
        for name, figures in of_month.items():
            found.setdefault(name, {})[month] = figures
    return found
