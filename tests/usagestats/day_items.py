"""Counts, written and read by the values of single records."""

from collections.abc import Iterable
from dataclasses import astuple, dataclass

import numpy as np

from usagestats.store.counts import COLUMNS, CountsChange, Period, UsageCounts
from usagestats.store.queries import names_of, sums_of_items
from usagestats.values import Figures


@dataclass(frozen=True, slots=True)
class DayItem:
    """The figures of a record on a day.

    Attributes:
        machine: Whether these are the uses by machines, which are kept apart.
        first: Moment of the first use, in seconds since 1970; `last` likewise.
        countries: Country code → investigations and requests; empty for machines.
    """

    item: str
    machine: bool
    figures: Figures
    first: int
    last: int
    countries: tuple[tuple[str, int, int], ...] = ()


def replace_day(change: CountsChange, day: str, rows: Iterable[DayItem]) -> None:
    """Replace the counts of a day.

    Args:
        change: The transaction.
        day: ISO 8601.
        rows: Each record once as regular and once as machine use, in any order.
    """
    rows = list(rows)
    ids = change.ids({row.item for row in rows})
    table = [
        (0, row.machine, ids[row.item], *astuple(row.figures), row.first, row.last) for row in rows
    ]
    change.replace_days(
        [day],
        np.array(table, np.int64).reshape(-1, COLUMNS),
        ((day, ids[row.item], *country) for row in rows for country in row.countries),
    )


def item_figures(
    counts: UsageCounts, period: Period, *, machine: bool = False
) -> dict[str, Figures]:
    """Return the figures of each record that was used in a period, by its identifier."""
    sums, names = sums_of_items(counts, period, machine=machine), names_of(counts)
    return {
        names[item]: Figures(*some)
        for item, some in zip(sums.items.tolist(), sums.figures.tolist(), strict=True)
    }
