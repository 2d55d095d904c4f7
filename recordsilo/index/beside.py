"""Keep the values of contributed facets in the index in step with those of their packages.

A facet is in step if its stamp equals the stored one and no record was written since, or
if its package has no values (an empty stamp) and neither has the index. If the
stamp differs, the values of all records are read from the package; otherwise those of
records written since. The stamp is stored last, so an interrupted update starts again.

Only values that differ are written. Once a program keeps a copy of the index
(`recordsilo.index.changes`), the records concerned are noted in ``beside_change``.
"""

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from recordsilo.index.facets import CHUNK, Facet, stamp_of, values_of

IDENTITY = "SELECT value FROM about WHERE key = 'identity'"
"""Asks for the number of this index, which it gets when a program begins to keep a copy of it."""
Note = tuple[str, int]
"""The stamp of the values in the index, and the last change of a record they include."""


class Database(Protocol):
    """The part of `recordsilo.index.database.SqliteIndex` that other modules of the index use."""

    path: str

    @property
    def is_private(self) -> bool:
        """Whether the index is in memory, because its file is unusable."""

    def asking(self) -> AbstractContextManager[sqlite3.Connection]:
        """A connection for queries; `IndexLost` is raised if the file is damaged."""

    def changing(self) -> AbstractContextManager[sqlite3.Connection]:
        """A connection in a write transaction; `IndexLost` as for `asking`."""

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """A connection for queries."""

    def writing(self, *, durable: bool) -> AbstractContextManager[sqlite3.Connection]:
        """A connection in a write transaction."""

    def unless_busy(self) -> AbstractContextManager[None]:
        """Do not wait for other writers."""

    def number_of(self, connection: sqlite3.Connection, field: str, value: str) -> int:
        """The number of a facet value; a new one if it has none.

        Args:
            connection: A connection to the index in a write transaction.
            field: The facet's name.
            value: One of its values.
        """


def is_in_step(index: Database, facet: Facet, path: str) -> bool:
    """Whether the index has the values that the package has now.

    Args:
        index: Holds the values.
        facet: Contributed by a package.
        path: The Silo's directory.
    """
    stamp = stamp_of(facet, path)
    with index.asking() as connection:
        noted = _noted(connection, facet.name)
        if not stamp:
            return noted is None or not noted[0]
        return noted == (stamp, _newest(connection))


def bring_in_step(index: Database, facet: Facet, path: str) -> None:
    """Read the values that the index lacks.

    Args:
        index: Holds the values.
        facet: Contributed by a package.
        path: The Silo's directory.

    Cost: reads the values of all records if the stamp changed, else of changed records.
    """
    stamp = stamp_of(facet, path)
    with index.asking() as connection:
        noted, newest = _noted(connection, facet.name), _newest(connection)
    since = noted[1] if noted and noted[0] == stamp else -1
    after = 0
    while stamp and (rows := _records(index, since, after)):
        found = values_of(facet, path, [identifier for _, identifier in rows])
        with index.changing() as connection:
            _write(connection, index, facet.name, rows, found)
        after = rows[-1][0]
    with index.changing() as connection:
        gone = connection.execute(
            "DELETE FROM beside WHERE facet = ? AND (? = '' OR id NOT IN (SELECT id FROM record)) "
            "RETURNING id",
            (facet.name, stamp),
        )
        _note(connection, {number for (number,) in gone.fetchall()})
        connection.execute(
            "INSERT INTO beside_facet VALUES (?, ?, ?, 1) ON CONFLICT (facet) DO UPDATE SET "
            "stamp = excluded.stamp, change = excluded.change, version = version + 1",
            (facet.name, stamp, newest),
        )


def _noted(connection: sqlite3.Connection, name: str) -> Note | None:
    found: Note | None = connection.execute(
        "SELECT stamp, change FROM beside_facet WHERE facet = ?", (name,)
    ).fetchone()
    return found


def _newest(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(change), 0) FROM record").fetchone()[0])


def _records(index: Database, since: int, after: int) -> list[tuple[int, str]]:
    own = "+id" if since > 0 else "id"  # with id, SQLite would read all rows for a few changes
    with index.asking() as connection:
        return connection.execute(
            f"SELECT id, identifier FROM record WHERE change > ? AND {own} > ? "  # noqa: S608
            f"ORDER BY {own} LIMIT ?",
            (since, after, CHUNK),
        ).fetchall()


def _write(
    connection: sqlite3.Connection,
    index: Database,
    name: str,
    rows: Sequence[tuple[int, str]],
    found: Mapping[str, Sequence[str]],
) -> None:
    field = name.partition(".")[0]
    wanted = {
        (number, index.number_of(connection, field, value))
        for number, identifier in rows
        for value in found.get(identifier, ())
    }
    known = set(
        connection.execute(
            "SELECT id, value FROM beside "
            "WHERE facet = ? AND id IN (SELECT value FROM json_each(?))",
            (name, json.dumps([number for number, _ in rows])),
        )
    )
    connection.executemany(
        "DELETE FROM beside WHERE facet = ? AND id = ? AND value = ?",
        ((name, *one) for one in known - wanted),
    )
    connection.executemany(
        "INSERT INTO beside VALUES (?, ?, ?)", ((name, *one) for one in sorted(wanted - known))
    )
    _note(connection, {number for number, _ in known ^ wanted})


def _note(connection: sqlite3.Connection, records: Collection[int]) -> None:
    """Note the records whose values changed, if there may be a copy of the index."""
    if records and connection.execute(IDENTITY).fetchone():
        connection.execute("UPDATE about SET value = value + 1 WHERE key = 'beside'")
        connection.execute(
            "INSERT OR REPLACE INTO beside_change SELECT one.value, about.value "
            "FROM json_each(?) AS one, about "
            "WHERE about.key = 'beside' AND one.value IN (SELECT id FROM record)",
            (json.dumps(sorted(records)),),
        )
