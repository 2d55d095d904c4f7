"""What is given of the records of many Silos: one table, copied from the table of each.

Each record is in the set of its Silo, and its own sets are below that. A record whose identifier
several Silos have is one item: that of the first Silo, by name, that has it and does not give it as
deleted. If another Silo's takes its place, it has the time at which that was seen as its datestamp,
as everything that is seen later than it happened.

The file may be deleted while nobody provides the directory.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from sqlite3 import Connection

from recordsilo.batches import batched
from recordsilo.disk.stamps import stamp_of
from recordsilo.removals import removals_file
from siloprovider import item_table
from siloprovider.errors import ItemsUnreadable
from siloprovider.item_table import (
    Bits,
    ItemTable,
    Turn,
    datestamp_at,
    into_sets,
    out_of_sets,
    specs_in,
)
from siloprovider.items import Items
from siloprovider.members import known_searches
from siloprovider.set_names import spec_of_name
from silowork.ledger_file import LedgerFile, LedgerKind

_TOGETHER = 1000
_KIND = LedgerKind(
    f"""
    {item_table.SCHEMA};
    CREATE TABLE IF NOT EXISTS copy (     -- what each Silo gives
        identifier TEXT NOT NULL,
        silo TEXT NOT NULL,
        datestamp TEXT NOT NULL,
        version TEXT NOT NULL,
        prefixes INTEGER NOT NULL,
        sets TEXT NOT NULL,               -- with the name of the Silo
        revision INTEGER NOT NULL,
        PRIMARY KEY (identifier, silo)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS copy_silo ON copy (silo);
    CREATE TABLE IF NOT EXISTS item (
        identifier TEXT PRIMARY KEY,
        datestamp TEXT NOT NULL,
        version TEXT NOT NULL,
        prefixes INTEGER NOT NULL,
        sets TEXT NOT NULL,
        revision INTEGER NOT NULL,
        silo TEXT NOT NULL                -- whose it is
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS item_order ON item (datestamp, identifier);
    CREATE TABLE IF NOT EXISTS silo (
        name TEXT PRIMARY KEY,
        stamp TEXT NOT NULL,              -- of its files, when it was looked at last
        key TEXT NOT NULL,                -- of its table
        fed TEXT NOT NULL                 -- what changed since is copied
    ) WITHOUT ROWID
    """,
    ItemsUnreadable,
    version=1,
    synchronous="NORMAL",
    has_log=True,
)
_CHOSEN = (
    "SELECT datestamp, version, prefixes, sets, revision, silo FROM copy WHERE identifier = ? "
    "ORDER BY version = '', CASE WHEN version = '' THEN datestamp END DESC, silo LIMIT 1"
)
Row = tuple[str, str, int, str, int, str]


@dataclass(frozen=True, slots=True)
class KnownSilo:
    """What is known of a Silo that was looked at."""

    stamp: str
    key: str
    fed: str


class SharedItems(ItemTable):
    """The items of many Silos. Any thread may use it, and several processes its file.

    Args:
        now: The current time, aware.
    """

    def __init__(self, path: str, now: Callable[[], datetime]) -> None:
        super().__init__(LedgerFile(path, _KIND), now)

    def known(self) -> dict[str, KnownSilo]:
        """The Silos that were looked at, by name."""
        found = self._file.rows("SELECT name, stamp, key, fed FROM silo")
        return {name: KnownSilo(*row) for name, *row in found}

    def silos_of(self, identifiers: Sequence[str]) -> dict[str, str]:
        """Identifier → the Silo whose record is given."""
        marks = ", ".join("?" * len(identifiers))
        sql = f"SELECT identifier, silo FROM item WHERE identifier IN ({marks})"  # noqa: S608
        return dict(self._file.rows(sql, identifiers))

    def specs(self) -> list[str]:
        """The setSpecs of all items, sorted.

        Cost: a look-up for each.
        """
        sql = (
            "WITH RECURSIVE one(spec) AS (SELECT min(spec) FROM in_set UNION ALL "
            "SELECT (SELECT min(spec) FROM in_set WHERE spec > one.spec) FROM one "
            "WHERE one.spec IS NOT NULL) SELECT spec FROM one WHERE spec IS NOT NULL"
        )
        return [spec for (spec,) in self._file.rows(sql)]

    # ------------------------------------------------------------------ kept in step

    def begin(self) -> Turn:
        """Begin to bring this in step with all Silos."""
        fed = dict(self._file.rows("SELECT key, value FROM about")).get("fed", "")
        return Turn(fed, max(datestamp_at(self._now()), fed), 0)

    def end(self, turn: Turn) -> None:
        """End it: what is older and seen from now on comes later."""
        with self._file.transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO about VALUES ('fed', ?)", (turn.at,))

    def take_over(self, turn: Turn, silo: str, items: Items, stamp: str) -> int:
        """Copy what changed in the table of a Silo, which is in step.

        Killed in the middle, it is copied the next time.

        Args:
            turn: See `begin`.
            silo: Its name.
            items: Its table.
            stamp: Of its files, from before its table was brought in step.

        Returns:
            How many rows were looked at.
        """
        key, fed = items.token_key().decode(), items.fed()
        known = self.known().get(silo)
        is_new = known is None or known.key != key
        searches = known_searches(items.file)
        rows = items.changed_since("" if is_new or known is None else known.fed)
        prefix, count, seen = spec_of_name(silo), 0, set[str]()
        names = dict(items.prefix_bits())
        for some in batched(rows, _TOGETHER):
            count += len(some)
            if is_new and known is not None:
                seen |= {one.identifier for one in some}
            with self._file.transaction() as connection:
                bits = Bits(connection)
                for one in some:
                    held = bits.of([names[b] for b in names if one.prefixes >> b & 1])
                    sets = [f"{prefix}:{spec}" for spec in one.sets if spec not in searches]
                    row = (
                        one.datestamp,
                        one.version,
                        held,
                        "\n".join(sets or [prefix]),
                        one.revision,
                    )
                    _note(connection, turn, one.identifier, silo, row)
        if is_new and known is not None:  # its table was made anew, and may lack deletions
            sql = "SELECT identifier FROM copy WHERE silo = ? AND version <> ''"
            gone = [one for (one,) in self._file.rows(sql, (silo,)) if one not in seen]
            self._delete(turn, silo, gone)
        with self._file.transaction() as connection:
            row_ = (silo, stamp, key, fed)
            connection.execute("INSERT OR REPLACE INTO silo VALUES (?, ?, ?, ?)", row_)
        return count

    def forget(self, turn: Turn, silo: str) -> None:
        """Give the records of a Silo as deleted that is not there any more."""
        sql = "SELECT identifier FROM copy WHERE silo = ? AND version <> ''"
        self._delete(turn, silo, [one for (one,) in self._file.rows(sql, (silo,))])
        with self._file.transaction() as connection:
            connection.execute("DELETE FROM silo WHERE name = ?", (silo,))

    def _delete(self, turn: Turn, silo: str, identifiers: Iterable[str]) -> None:
        for some in batched(identifiers, _TOGETHER):
            with self._file.transaction() as connection:
                for identifier in some:
                    sql = (
                        "UPDATE copy SET version = '', datestamp = ? "
                        "WHERE identifier = ? AND silo = ?"
                    )
                    connection.execute(sql, (turn.at, identifier, silo))
                    _choose(connection, turn, identifier)


def _note(
    connection: Connection,
    turn: Turn,
    identifier: str,
    silo: str,
    row: tuple[str, str, int, str, int],
) -> None:
    sql = (
        "SELECT datestamp, version, prefixes, sets, revision FROM copy "
        "WHERE identifier = ? AND silo = ?"
    )
    if connection.execute(sql, (identifier, silo)).fetchone() == row:
        return
    sql = "INSERT OR REPLACE INTO copy VALUES (?, ?, ?, ?, ?, ?, ?)"
    connection.execute(sql, (identifier, silo, *row))
    _choose(connection, turn, identifier)


def _choose(connection: Connection, turn: Turn, identifier: str) -> None:
    """Give the record of the first Silo that has it; see above."""
    chosen: Row = connection.execute(_CHOSEN, (identifier,)).fetchone()
    sql = "SELECT datestamp, version, prefixes, sets, revision, silo FROM item WHERE identifier = ?"
    before: Row | None = connection.execute(sql, (identifier,)).fetchone()
    if before is not None and before[1:] == chosen[1:]:
        is_same = before[0] >= chosen[0]  # it was given with the time at which it was seen
        if is_same:
            return
    stamp = turn.stamp(chosen[0])
    if before is not None:
        if before[5] != chosen[5]:
            stamp = turn.at
        out_of_sets(connection, before[3], before[0], identifier)
    sql = "INSERT OR REPLACE INTO item VALUES (?, ?, ?, ?, ?, ?, ?)"
    connection.execute(sql, (identifier, stamp, *chosen[1:]))
    into_sets(connection, specs_in(chosen[3]), stamp, identifier)


def stamp_of_silo(path: str) -> str:
    """A text that changes with the records of a Silo, without opening it; empty if it just did."""
    index = os.path.join(path, ".silo", "index.sqlite")
    found = stamp_of(index, f"{index}-wal", removals_file(path))
    return "" if found is None or found[0] is None else str(found)
