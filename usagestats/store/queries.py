"""Sums of the counts over periods: of records, months, and countries.

Whole months are read from the sums of months, and only the days at both ends from those of days.
"""

# ruff: noqa: S608  # names of columns are constants

import json
from collections.abc import Collection, Iterable, Sequence

from usagestats.store.counts import Counts, Period
from usagestats.store.periods import parts_of
from usagestats.values import FIGURES, Figures

Country = tuple[str, int, int]
"""Code, investigations and requests."""
_COLUMNS = ", ".join(FIGURES)
_SUMS = ", ".join(f"sum({one})" for one in FIGURES)
_ITEMS = "item IN (SELECT id FROM item WHERE name IN (SELECT value FROM json_each(?)))"


def bounds(counts: Counts) -> tuple[str, str] | None:
    """Return the first and the last day with counts; None without any."""
    first, last = counts.rows("SELECT min(day), max(day) FROM day_site")[0]
    return (first, last) if first else None


def item_figures(counts: Counts, period: Period, *, machine: bool = False) -> dict[str, Figures]:
    """Return the figures of each record that was used in a period.

    Cost: reads a row of each record and whole month, and of each record and other day.
    """
    tables = ("month_item", "day_item")
    selects, values = _parts(period, tables, f"item, {_COLUMNS}", " AND machine = ?", (machine,))
    sql = f"SELECT item, {_SUMS} FROM ({selects}) GROUP BY item"
    names = dict(counts.rows("SELECT id, name FROM item"))
    return {names[item]: Figures(*figures) for item, *figures in counts.rows(sql, values)}


def figures_of(
    counts: Counts, items: Collection[str], period: Period, *, machine: bool = False
) -> Figures:
    """Return the sum of the figures of some records."""
    tables, limit = ("month_item", "day_item"), f" AND machine = ? AND {_ITEMS}"
    named = (machine, json.dumps(list(items)))
    selects, values = _parts(period, tables, _COLUMNS, limit, named)
    sums = ", ".join(f"coalesce(sum({one}), 0)" for one in FIGURES)
    return Figures(*counts.rows(f"SELECT {sums} FROM ({selects})", values)[0])


def days_of(
    counts: Counts, items: Collection[str], period: Period, *, machine: bool = False
) -> list[tuple[str, Figures]]:
    """Return the figures of some records together, of each day that has any, in order."""
    sql = (
        f"SELECT day, {_SUMS} FROM day_item WHERE {_ITEMS} AND day >= ? AND day <= ? "
        "AND machine = ? GROUP BY day ORDER BY day"
    )
    rows = counts.rows(sql, (json.dumps(list(items)), *period.bounds, machine))
    return [(day, Figures(*figures)) for day, *figures in rows]


def first_and_last_use(counts: Counts, items: Collection[str]) -> tuple[int, int] | None:
    """Return the moments of the first and the last use of some records, in seconds since 1970."""
    sql = f"SELECT min(first), max(last) FROM day_item WHERE {_ITEMS} AND machine = 0"
    first, last = counts.rows(sql, (json.dumps(list(items)),))[0]
    return None if first is None else (first, last)


def countries(
    counts: Counts, period: Period, items: Collection[str] | None = None
) -> list[Country]:
    """Return the uses from each country, most requested first.

    Args:
        counts: Of a Silo.
        period: Which days.
        items: Only these records; by default the whole site.
    """
    months = "month_site_country" if items is None else "month_country"
    limit = "" if items is None else f" AND {_ITEMS}"
    named = () if items is None else (json.dumps(list(items)),)
    columns = "country, investigations, requests"
    selects, values = _parts(period, (months, "day_country"), columns, limit, named)
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
