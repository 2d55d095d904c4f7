"""The counts of each record and day, in ``usage/counts.sqlite``.

The counts of a day are replaced as a whole. Those of a frozen day are all that is left of it, so
this file is not a cache. Months are sums of days, kept in the same transaction, so that a
question about a year reads twelve rows of a record, not 365. Rows are in the order of their days,
because whole days are written, replaced and summed.
"""

from __future__ import annotations

# ruff: noqa: S608  # names of columns are constants
import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from recordsilo.closing import Closing
from recordsilo.extras import later
from silowork.ledger_file import LedgerFile, LedgerKind, Mode
from usagestats.errors import CountsUnreadable
from usagestats.store.paths import counts_path
from usagestats.values import FIGURES, Figures

if TYPE_CHECKING:
    import numpy as np

    Table: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.int64]]
else:
    np = later("numpy", "silo usage", "usage")

_FIGURES = ", ".join(FIGURES)
_TYPED = ", ".join(f"{one} INTEGER NOT NULL" for one in FIGURES)
_SUMS = ", ".join(f"coalesce(sum({one}), 0)" for one in FIGURES)
_COUNTRY = ("investigations", "requests")
COLUMNS = len(FIGURES) + 5
"""Of a `Table` of a record's figures on a day."""
_AT_ONCE = 64
"""Rows of a statement, which takes two thirds of what as many statements do; any SQLite takes the
values of so many (999)."""
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS day_item (
  day TEXT NOT NULL, item INTEGER NOT NULL, machine INTEGER NOT NULL, {_TYPED},
  first INTEGER NOT NULL, last INTEGER NOT NULL,
  PRIMARY KEY (day, machine, item)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS day_item_by_item ON day_item (item, day);
CREATE TABLE IF NOT EXISTS month_item (
  month TEXT NOT NULL, item INTEGER NOT NULL, machine INTEGER NOT NULL, {_TYPED},
  PRIMARY KEY (month, machine, item)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS month_item_by_item ON month_item (item, month);
CREATE TABLE IF NOT EXISTS day_site (
  day TEXT NOT NULL, machine INTEGER NOT NULL, {_TYPED},
  PRIMARY KEY (day, machine)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS day_country (
  day TEXT NOT NULL, item INTEGER NOT NULL, country TEXT NOT NULL,
  investigations INTEGER NOT NULL, requests INTEGER NOT NULL,
  PRIMARY KEY (day, item, country)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS day_country_by_item ON day_country (item, day);
CREATE TABLE IF NOT EXISTS month_country (
  month TEXT NOT NULL, item INTEGER NOT NULL, country TEXT NOT NULL,
  investigations INTEGER NOT NULL, requests INTEGER NOT NULL,
  PRIMARY KEY (item, month, country)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS month_country_by_month ON month_country (month);
CREATE TABLE IF NOT EXISTS month_site_country (
  month TEXT NOT NULL, country TEXT NOT NULL,
  investigations INTEGER NOT NULL, requests INTEGER NOT NULL,
  PRIMARY KEY (month, country)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS day_site_country (
  day TEXT NOT NULL, country TEXT NOT NULL,
  investigations INTEGER NOT NULL, requests INTEGER NOT NULL,
  PRIMARY KEY (day, country)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS change (id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL)
"""
KIND = LedgerKind(_SCHEMA, CountsUnreadable, version=1, synchronous="FULL", has_log=True)


@dataclass(frozen=True, slots=True)
class Period:
    """Days from the first to the last, both included, ISO 8601 (``2026-10-12``).

    Months (``2026-10``) begin on their first and end on their last day; ``""`` has no bound.
    """

    first: str = ""
    last: str = ""

    @property
    def bounds(self) -> tuple[str, str]:
        """Return two texts: a day is in the period if it is between them as a text."""
        return self.first, f"{self.last}~"


class UsageCounts(Closing):
    """The counts of a Silo; `machine` asks for the uses by machines, which are kept apart.

    Args:
        mode: "read" does not create the file; without one there are no counts.

    Raises (every method):
        CountsUnreadable, OSError: As `LedgerFile`.
    """

    def __init__(self, silo_path: str, mode: Mode = "read") -> None:
        self._file = LedgerFile(counts_path(silo_path), KIND, mode)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    # ------------------------------------------------------------------ writing

    @contextmanager
    def changing(self) -> Iterator[CountsChange]:
        """Change the counts of some days; all changes of the block are stored, or none."""
        with self._file.reading() as connection:  # room for the rows of many days
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute("PRAGMA cache_size = -65536")
        with self._file.transaction() as connection:
            yield CountsChange(connection)
            connection.execute(
                "INSERT INTO change VALUES (1, 1) ON CONFLICT DO UPDATE SET number = number + 1"
            )

    # ------------------------------------------------------------------ reading

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a query; for the queries of this folder."""
        return self._file.rows(statement, values)

    def stamp(self) -> str:
        """Return a text that changes whenever counts change; ``""`` without any."""
        rows = self._file.rows("SELECT number FROM change")
        return str(rows[0][0]) if rows else ""

    def totals(self, period: Period, *, machine: bool = False) -> Figures:
        """Return the figures of the whole site."""
        sql = f"SELECT {_SUMS} FROM day_site WHERE day >= ? AND day <= ? AND machine = ?"
        return Figures(*self._file.rows(sql, (*period.bounds, machine))[0])

    def days(self, period: Period, *, machine: bool = False) -> list[tuple[str, Figures]]:
        """Return the site's figures of each day that has any, in order."""
        sql = (
            f"SELECT day, {_FIGURES} FROM day_site"
            " WHERE day >= ? AND day <= ? AND machine = ? ORDER BY day"
        )
        rows = self._file.rows(sql, (*period.bounds, machine))
        return [(day, Figures(*figures)) for day, *figures in rows]

    def month_items(self, month: str, *, machine: bool = False) -> dict[str, Figures]:
        """Return the figures of each record in a month (``2026-10``)."""
        sql = (
            f"SELECT name, {_FIGURES} FROM month_item JOIN item ON item.id = item"
            " WHERE month = ? AND machine = ?"
        )
        return {item: Figures(*some) for item, *some in self._file.rows(sql, (month, machine))}


class CountsChange:
    """A transaction on the counts."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def ids(self, names: Collection[str]) -> dict[str, int]:
        """Return the numbers of records by their identifiers; new ones get one."""
        execute = self._connection.execute
        execute("CREATE TEMP TABLE IF NOT EXISTS wanted (name TEXT)")
        execute("DELETE FROM temp.wanted")
        self._connection.executemany(
            "INSERT INTO temp.wanted VALUES (?)", ((name,) for name in names)
        )
        execute("INSERT OR IGNORE INTO item (name) SELECT name FROM temp.wanted ORDER BY name")
        return dict(execute("SELECT item.name, id FROM temp.wanted JOIN item USING (name)"))

    def replace_days(
        self, days: Sequence[str], rows: Table, countries: Iterable[Sequence[Any]]
    ) -> None:
        """Replace the counts of some days, without a value for each row.

        Args:
            days: ISO 8601, in order.
            rows: The day's place among `days`, whether machine, number of the record, the figures,
                first and last use. Best in this order.
            countries: Day, number of the record, country, investigations and requests.
        """
        execute, many = self._connection.execute, self._connection.executemany
        where = f"WHERE day IN ({', '.join('?' for _ in days)})"
        taken = f"SELECT day, item, machine, {_FIGURES} FROM day_item {where}"
        self._connection.execute(
            f"INSERT INTO month_item SELECT substr(day, 1, 7), item, machine, {_SUMS} "
            f"FROM ({taken}) GROUP BY substr(day, 1, 7), machine, item {_changed('-', FIGURES)}",
            days,
        )
        self._change_countries("-", where, days)
        for table in ("day_item", "day_country", "day_site", "day_site_country"):
            execute(f"DELETE FROM {table} {where}", days)
        self._insert(f"day_item (day, machine, item, {_FIGURES}, first, last)", days, rows)
        many("INSERT INTO day_country VALUES (?, ?, ?, ?, ?)", countries)
        keys, figures = rows[:, :3], rows[:, 3:-2]
        self._insert(f"day_site (day, machine, {_FIGURES})", days, _sums(keys[:, :2], figures))
        execute(
            "INSERT INTO day_site_country SELECT day, country, sum(investigations), sum(requests) "
            f"FROM day_country {where} GROUP BY day, country",
            days,
        )
        months = sorted({day[:7] for day in days})
        month_of = np.array([months.index(day[:7]) for day in days], np.int64)
        keys = np.column_stack((month_of[keys[:, 0]], keys[:, 1:]))
        into = f"month_item (month, machine, item, {_FIGURES})"
        self._insert(into, months, _sums(keys, figures), _changed("+", FIGURES))
        self._change_countries("+", where, days)
        listed = ", ".join("?" for _ in months)
        empty = " AND ".join(f"{one} = 0" for one in FIGURES)
        execute(f"DELETE FROM month_item WHERE month IN ({listed}) AND {empty}", months)
        for table in ("month_country", "month_site_country"):
            execute(
                f"DELETE FROM {table} "
                f"WHERE month IN ({listed}) AND investigations = 0 AND requests = 0",
                months,
            )

    def _insert(self, into: str, names: Sequence[str], rows: Table, then: str = "") -> None:
        """Insert rows, many by each statement.

        Args:
            into: The table and its columns.
            names: Those that numbers in the first column stand for.
            then: What follows the values in the statement.
        """
        width = rows.shape[1]
        each = f"({', '.join('?' * width)})"
        statement = f"INSERT INTO {into} VALUES {', '.join([each] * _AT_ONCE)} {then}"
        for start in range(0, len(rows), _AT_ONCE):
            some = rows[start : start + _AT_ONCE]
            values: list[Any] = some.ravel().tolist()
            values[::width] = map(names.__getitem__, values[::width])
            if len(some) < _AT_ONCE:
                statement = f"INSERT INTO {into} VALUES {', '.join([each] * len(some))} {then}"
            self._connection.execute(statement, values)

    def remove_items(self, names: Collection[str]) -> None:
        """Remove the counts of records, also from the sums of the whole site."""
        execute = self._connection.execute
        listed = json.dumps(list(names))
        items = "item IN (SELECT id FROM item WHERE name IN (SELECT value FROM json_each(?)))"
        execute(
            f"INSERT INTO day_site SELECT day, machine, {_SUMS} FROM day_item WHERE {items} "
            f"GROUP BY day, machine {_changed('-', FIGURES)}",
            (listed,),
        )
        for table, key in (("day_site_country", "day"), ("month_site_country", "month")):
            execute(
                f"INSERT INTO {table} SELECT {key}, country, sum(investigations), sum(requests) "
                f"FROM {key}_country WHERE {items} GROUP BY {key}, country "
                f"{_changed('-', _COUNTRY)}",
                (listed,),
            )
            execute(f"DELETE FROM {table} WHERE investigations = 0 AND requests = 0")
        for table in ("day_item", "month_item", "day_country", "month_country"):
            execute(f"DELETE FROM {table} WHERE {items}", (listed,))
        execute("DELETE FROM item WHERE name IN (SELECT value FROM json_each(?))", (listed,))

    def _change_countries(self, sign: str, where: str, days: Sequence[str]) -> None:
        """Add the countries of days to those of their months, or subtract them."""
        for table, columns in (
            ("month_country", "item, country"),
            ("month_site_country", "country"),
        ):
            self._connection.execute(
                f"INSERT INTO {table} SELECT substr(day, 1, 7), {columns}, sum(investigations), "
                f"sum(requests) FROM day_country {where} GROUP BY substr(day, 1, 7), {columns} "
                f"{_changed(sign, _COUNTRY)}",
                days,
            )


def _changed(sign: str, columns: Iterable[str]) -> str:
    """Return how a row that exists changes by another one."""
    added = ", ".join(f"{one} = {one} {sign} excluded.{one}" for one in columns)
    return f"ON CONFLICT DO UPDATE SET {added}"


def _sums(keys: Table, figures: Table) -> Table:
    """Return each row of keys once, with the sums of its figures."""
    if not len(keys):
        return np.hstack((keys, figures))
    order = np.lexsort(keys.T[::-1])
    keys = keys[order]
    is_first = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
    sums = np.add.reduceat(figures[order], np.flatnonzero(is_first))
    return np.hstack((keys[is_first], sums))
