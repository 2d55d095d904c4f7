"""The part of the provider's tables that lists ask: items in the order of datestamps, also by set.

Each kind of table is fed in its own way: `items` follows a Silo, `shared` the Silos of a directory.
"""

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from sqlite3 import Connection
from typing import Any, NamedTuple

from oaipmhprotocol import Granularity
from oaipmhprotocol.datestamps import format_datestamp
from siloprovider.choosing import DUBLIN_CORE
from siloprovider.set_names import with_parents
from silowork.ledger_file import LedgerFile

MOST_PREFIXES = 62
"""Formats that are told apart: the bits of a number in SQLite, but for the sign and one."""
SCHEMA = """
    CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS prefix (bit INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE IF NOT EXISTS in_set (   -- also in the sets above its own
        spec TEXT NOT NULL,
        datestamp TEXT NOT NULL,
        identifier TEXT NOT NULL,
        PRIMARY KEY (spec, datestamp, identifier)
    ) WITHOUT ROWID"""
"""Beside a table ``item``, which each kind makes."""


class Item(NamedTuple):
    """What is given of a record; a tuple, which is made faster than other values.

    Attributes:
        datestamp: In OAI-PMH's form, to the second.
        version: Its name; empty if it is given as deleted.
        sets: Its setSpecs.
        revision: Of the record, with when it was made; see `unread.sealed`.
    """

    identifier: str
    datestamp: str
    version: str
    sets: tuple[str, ...]
    prefixes: int
    revision: int


@dataclass(frozen=True, slots=True)
class WantedItems:
    """Which items a list has.

    Attributes:
        prefix: The format.
        since, until: Datestamps, both inclusive; None for no bound.
        set_spec: Only those in this set or below it.
    """

    prefix: str
    since: str | None = None
    until: str | None = None
    set_spec: str | None = None


class Joined(NamedTuple):
    """A table beside the items: how a query joins it, with which values, and its columns."""

    join: str
    values: tuple[object, ...]
    columns: tuple[str, ...]


class ItemTable:
    """A file with items. Any thread may use it, and several processes.

    Args:
        file: With the tables.
        now: The current time, aware.
    """

    def __init__(self, file: LedgerFile, now: Callable[[], datetime]) -> None:
        self._file, self._now = file, now

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def file(self) -> LedgerFile:
        """The file."""
        return self._file

    def prefixes(self) -> tuple[str, ...]:
        """The formats in which any record is given; `DUBLIN_CORE` first."""
        found = self._file.rows("SELECT name FROM prefix ORDER BY bit")
        return tuple(dict.fromkeys((DUBLIN_CORE, *(name for (name,) in found))))

    def some(self, prefix: str) -> Sequence[Item]:
        """A few records that are given in a format, and not as deleted."""
        sql, values = self._query(WantedItems(prefix), is_live=True)
        return [item_of(row) for row in self._file.rows(f"{_COLUMNS} {sql} LIMIT 5", values)]

    def prefixes_of(self, item: Item) -> tuple[str, ...]:
        """The formats in which a record is given."""
        found = self._file.rows("SELECT bit, name FROM prefix ORDER BY bit")
        return tuple(name for bit, name in found if item.prefixes >> bit & 1)

    def earliest(self) -> str:
        """The earliest datestamp; that of now if there is no record."""
        (found,) = self._file.rows("SELECT min(datestamp) FROM item")[0]
        return str(found or datestamp_at(self._now()))

    def ends(self) -> tuple[str, str]:
        """The first and the last identifier, by their characters; both empty if there is none."""
        sql = "SELECT (SELECT min(identifier) FROM item), (SELECT max(identifier) FROM item)"
        first, last = self._file.rows(sql)[0]
        return str(first or ""), str(last or "")

    def item(self, identifier: str) -> Item | None:
        """An item; None if there is none."""
        found = self._file.rows(f"{_SELECT} WHERE identifier = ?", (identifier,))
        return item_of(found[0]) if found else None

    def count(self, wanted: WantedItems) -> int:
        """How many items a list has now."""
        sql, values = self._query(wanted)
        return int(self._file.rows(f"SELECT count(*) {sql}", values)[0][0])

    def after(
        self, wanted: WantedItems, position: tuple[str, str] | None, limit: int
    ) -> Sequence[Item]:
        """The next items of a list, by datestamp and identifier.

        Args:
            position: The datestamp and the identifier of the item before; None at the beginning.
            limit: At most so many.
        """
        return [item_of(row) for row in self.rows_after(wanted, position, limit)]

    def rows_after(
        self,
        wanted: WantedItems,
        position: tuple[str, str] | None,
        limit: int,
        joined: Joined | None = None,
    ) -> list[tuple[Any, ...]]:
        """The rows of `after`, each with the columns of a table beside at its end."""
        sql, values = self._query(wanted, position, join=joined.join if joined else "")
        table = "in_set" if wanted.set_spec is not None else "item"
        order = f"ORDER BY {table}.datestamp, {table}.identifier LIMIT ?"
        # the date of an item that was in a search is that at which it left
        columns = _COLUMNS.replace("item.datestamp", f"{table}.datestamp")
        if joined is None:
            return self._file.rows(f"{columns} {sql} {order}", (*values, limit))
        selected = ", ".join((columns, *joined.columns))
        return self._file.rows(f"{selected} {sql} {order}", (*joined.values, *values, limit))

    def _query(
        self,
        wanted: WantedItems,
        position: tuple[str, str] | None = None,
        *,
        is_live: bool = False,
        join: str = "",
    ) -> tuple[str, tuple[object, ...]]:
        terms = ["item.version <> ''"] if is_live else []
        values: list[object] = []
        table = "item"
        if wanted.set_spec is not None:
            table = "in_set CROSS JOIN item ON item.identifier = in_set.identifier"
            terms.append("in_set.spec = ?")
            values.append(wanted.set_spec)
        place = table.split(" ", 1)[0]
        if wanted.since is not None:
            terms.append(f"{place}.datestamp >= ?")
            values.append(wanted.since)
        if wanted.until is not None:
            terms.append(f"{place}.datestamp <= ?")
            values.append(wanted.until)
        if position is not None:
            terms.append(f"({place}.datestamp, {place}.identifier) > (?, ?)")
            values += position
        bits = {name: bit for bit, name in self._file.rows("SELECT bit, name FROM prefix")}
        if wanted.prefix not in bits:
            terms.append("0")
        elif wanted.prefix != DUBLIN_CORE:
            terms.append("item.prefixes & ?")
            values.append(1 << bits[wanted.prefix])
        where = f" WHERE {' AND '.join(terms)}" if terms else ""
        return f"FROM {table} {join}{where}", tuple(values)

    def prefix_bits(self) -> Sequence[tuple[int, str]]:
        """The formats, each after its bit."""
        return [(bit, name) for bit, name in self._file.rows("SELECT bit, name FROM prefix")]

    def next_since(self, since: str, position: tuple[str, str] | None) -> Sequence[Item]:
        """The next items since a datestamp, in any format; see `after`."""
        sql = (
            f"{_SELECT} WHERE (item.datestamp, item.identifier) > (?, ?) "
            "ORDER BY item.datestamp, item.identifier LIMIT 1000"
        )
        return [item_of(row) for row in self._file.rows(sql, position or (since, ""))]

    def token_key(self) -> bytes:
        """The key of this repository's resumption tokens, the same in every process.

        Tokens of other repositories are refused by it.
        """
        with self._file.transaction() as connection:
            new = ("token key", secrets.token_hex(16))
            connection.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", new)
            sql = "SELECT value FROM about WHERE key = 'token key'"
            return str(connection.execute(sql).fetchone()[0]).encode()


_COLUMNS = (
    "SELECT item.identifier, item.datestamp, item.version, item.sets, item.prefixes, item.revision"
)
_SELECT = f"{_COLUMNS} FROM item"


def item_of(row: tuple[str, str, str, str, int, int]) -> Item:
    """The item in a row."""
    identifier, datestamp, version, sets, prefixes, revision = row
    return Item(identifier, datestamp, version, specs_in(sets), prefixes, revision)


def specs_in(sets: str) -> tuple[str, ...]:
    """The setSpecs in a column of them."""
    return tuple(sets.split("\n")) if sets else ()


def datestamp_at(moment: datetime) -> str:
    """A time as a datestamp, to the second."""
    return format_datestamp(moment, Granularity.SECOND)


def into_sets(connection: Connection, specs: Iterable[str], stamp: str, identifier: str) -> None:
    """Put an item into sets, and into those above them."""
    connection.executemany(
        "INSERT OR IGNORE INTO in_set VALUES (?, ?, ?)",
        [(spec, stamp, identifier) for spec in with_parents(specs)],
    )


def out_of_sets(connection: Connection, sets: str, stamp: str, identifier: str) -> None:
    """Take an item out of the sets of its column, and those above them."""
    connection.executemany(
        "DELETE FROM in_set WHERE spec = ? AND datestamp = ? AND identifier = ?",
        [(spec, stamp, identifier) for spec in with_parents(specs_in(sets))],
    )


@dataclass(frozen=True, slots=True)
class Turn:
    """Bringing the items up to date once.

    Attributes:
        fed: When that was done before; empty if never.
        at: When it is done now.
        round: A number of its own.
    """

    fed: str
    at: str
    round: int

    def stamp(self, changed: str) -> str:
        """The datestamp of what changed at a time and is seen now."""
        return self.at if self.fed and changed <= self.fed else changed


class Bits(dict[str, int]):
    """Format → its bit; new ones are noted in the file, up to `MOST_PREFIXES`."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection.execute("SELECT name, 1 << bit FROM prefix").fetchall())
        self._connection = connection

    def of(self, prefixes: Iterable[str]) -> int:
        """The bits of some formats."""
        bits = 0
        for name in prefixes:
            if name not in self and len(self) < MOST_PREFIXES:
                self._connection.execute("INSERT INTO prefix VALUES (?, ?)", (len(self), name))
                self[name] = 1 << len(self)
            bits |= self.get(name, 0)
        return bits
