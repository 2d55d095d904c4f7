"""Sums of the counts over periods: of records, months, and countries.

Whole months are read from the sums of months, and only the days at both ends from those of days.
"""

from __future__ import annotations

# ruff: noqa: S608  # names of columns are constants
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from recordsilo.extras import later
from usagestats.store.counts import Period, UsageCounts
from usagestats.store.periods import parts_of
from usagestats.values import FIGURES, Figures

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = later("numpy", "silo usage", "usage")

Country = tuple[str, int, int]
"""Code, investigations and requests."""
_COLUMNS = ", ".join(FIGURES)
_SUMS = ", ".join(f"sum({one})" for one in FIGURES)
_ITEMS = "item IN (SELECT id FROM item WHERE name IN (SELECT value FROM json_each(?)))"


def bounds(counts: UsageCounts) -> tuple[str, str] | None:
    """Return the first and the last day with counts; None without any."""
    first, last = counts.rows("SELECT min(day), max(day) FROM day_site")[0]
    return (first, last) if first else None


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """The figures of each record that was used in a period.

    Attributes:
        items: The records, by their number in the counts.
        figures: A row for each record, a column for each of `FIGURES`.
    """

    items: NDArray[np.int64]
    figures: NDArray[np.int64]

    def by(self, measure: str) -> NDArray[np.int64]:
        """One figure of each record, as `measured`."""
        return measured(self.figures, measure)


def measured(figures: NDArray[np.int64], measure: str) -> NDArray[np.int64]:
    """Return a column of a table of figures: a name in `FIGURES`, ``views`` or ``uses_2010``."""
    if measure == "views":
        found = figures[:, 0] - figures[:, 1]
    elif measure == "uses_2010":
        found = measured(figures, "views_2010") + measured(figures, "downloads_2010")
    else:
        found = figures[:, FIGURES.index(measure)]
    return cast("NDArray[np.int64]", found)


def sums_of_items(counts: UsageCounts, period: Period, *, machine: bool = False) -> Sums:
    """Return the figures of each record that was used in a period.

    Cost: reads a row of each record and whole month, and of each record and other day.
    """
    tables = ("month_item", "day_item")
    selects, values = _parts(period, tables, f"item, {_COLUMNS}", " AND machine = ?", (machine,))
    rows = counts.rows(f"SELECT item, {_SUMS} FROM ({selects}) GROUP BY item", values)
    found = np.array(rows, np.int64).reshape(-1, len(FIGURES) + 1)
    return Sums(found[:, 0], found[:, 1:])


def names_of(counts: UsageCounts, items: Iterable[int] | None = None) -> dict[int, str]:
    """Return the identifiers of records by their number; by default of all."""
    if items is None:
        return dict(counts.rows("SELECT id, name FROM item"))
    wanted = json.dumps([int(one) for one in items])
    return dict(
        counts.rows(
            "SELECT id, name FROM item WHERE id IN (SELECT value FROM json_each(?))", (wanted,)
        )
    )


def figures_of(counts: UsageCounts, items: Collection[str], period: Period) -> Figures:
    """Return the sum of the figures of some records."""
    tables, limit = ("month_item", "day_item"), f" AND machine = ? AND {_ITEMS}"
    named = (False, json.dumps(list(items)))
    selects, values = _parts(period, tables, _COLUMNS, limit, named)
    sums = ", ".join(f"coalesce(sum({one}), 0)" for one in FIGURES)
    return Figures(*counts.rows(f"SELECT {sums} FROM ({selects})", values)[0])


def days_of(
    counts: UsageCounts, items: Collection[str], period: Period, *, machine: bool = False
) -> list[tuple[str, Figures]]:
    """Return the figures of some records together, of each day that has any, in order."""
    sql = (
        f"SELECT day, {_SUMS} FROM day_item WHERE {_ITEMS} AND day >= ? AND day <= ? "
        "AND machine = ? GROUP BY day ORDER BY day"
    )
    rows = counts.rows(sql, (json.dumps(list(items)), *period.bounds, machine))
    return [(day, Figures(*figures)) for day, *figures in rows]


def months_of(
    counts: UsageCounts, items: Collection[str], period: Period
) -> dict[str, dict[str, Figures]]:
    """Return the figures of each of some records by month; the ends may be parts of a month.

    Cost: reads a row of each record and whole month; `days_of` one of each day.
    """
    selects, values = _by_month(items, period)
    sql = (
        f"SELECT name, month, {_SUMS} FROM ({selects}) JOIN item ON item.id = item "
        "GROUP BY item, month ORDER BY month"
    )
    found: dict[str, dict[str, Figures]] = {}
    for name, month, *figures in counts.rows(sql, values):
        found.setdefault(name, {})[month] = Figures(*figures)
    return found


def months_together(
    counts: UsageCounts, items: Collection[str], period: Period
) -> dict[str, Figures]:
    """Return the figures of some records together by month; as `months_of`."""
    selects, values = _by_month(items, period)
    sql = f"SELECT month, {_SUMS} FROM ({selects}) GROUP BY month ORDER BY month"
    return {month: Figures(*figures) for month, *figures in counts.rows(sql, values)}


def _by_month(items: Collection[str], period: Period) -> tuple[str, list[object]]:
    """Make the SELECT of months, records and figures, and its values."""
    parts, named = parts_of(period), json.dumps(list(items))
    found = [("month_item", "month", "month", *parts.months)] if parts.months else []
    found += [("day_item", "day", "substr(day, 1, 7) AS month", *some) for some in parts.days]
    selects = (
        f"SELECT {shown}, item, {_COLUMNS} FROM {table} "
        f"WHERE {_ITEMS} AND machine = 0 AND {unit} >= ? AND {unit} <= ?"
        for table, unit, shown, _, _ in found
    )
    values: list[object] = [x for *_, first, last in found for x in (named, first, last)]
    return " UNION ALL ".join(selects), values


def numbers_of(counts: UsageCounts, items: Collection[str]) -> dict[int, str]:
    """Return the identifiers of some records by their number in the counts."""
    sql = "SELECT id, name FROM item WHERE name IN (SELECT value FROM json_each(?))"
    return dict(counts.rows(sql, (json.dumps(list(items)),)))


def first_and_last_use(counts: UsageCounts, items: Collection[str]) -> tuple[int, int] | None:
    """Return the moments of the first and the last use of some records, in seconds since 1970."""
    sql = f"SELECT min(first), max(last) FROM day_item WHERE {_ITEMS} AND machine = 0"
    first, last = counts.rows(sql, (json.dumps(list(items)),))[0]
    return None if first is None else (first, last)


def countries(
    counts: UsageCounts, period: Period, items: Collection[str] | None = None
) -> list[Country]:
    """Return the uses from each country, most requested first.

    Args:
        counts: Of a Silo.
        period: Which days.
        items: Only these records; by default the whole site.
    """
    tables = ("month_country", "day_country")
    if items is None:
        tables = ("month_site_country", "day_site_country")
    limit = "" if items is None else f" AND {_ITEMS}"
    named = () if items is None else (json.dumps(list(items)),)
    columns = "country, investigations, requests"
    selects, values = _parts(period, tables, columns, limit, named)
    sql = (
        f"SELECT country, sum(investigations), sum(requests) FROM ({selects}) "
        "GROUP BY country ORDER BY 2 DESC, 1"
    )
    return [tuple(row) for row in counts.rows(sql, values)]


def by_month(days: Iterable[tuple[str, Figures]]) -> dict[str, Figures]:
    """Add up the figures of days by month."""
    found: dict[str, Figures] = {}
    for day, figures in days:
        found[day[:7]] = found.get(day[:7], Figures()) + figures
    return found


def _parts(
    period: Period, tables: tuple[str, str], columns: str, limit: str, values: Sequence[object]
) -> tuple[str, list[object]]:
    """Make the SELECT of a period's months and days, and its values.

    Args:
        period: Which days.
        tables: That of months, and that of days.
        columns: What is selected of each.
        limit: More conditions, each of which takes the `values`.
    """
    parts = parts_of(period)
    found = [("month", tables[0], *parts.months)] if parts.months else []
    found += [("day", tables[1], *some) for some in parts.days]
    selects = (
        f"SELECT {columns} FROM {table} WHERE {unit} >= ? AND {unit} <= ?{limit}"
        for unit, table, _, _ in found
    )
    return " UNION ALL ".join(selects), [
        value for _, _, first, last in found for value in (first, last, *values)
    ]
