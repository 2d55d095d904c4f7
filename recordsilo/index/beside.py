"""The values of contributed facets in the index, kept in step with what their packages have.

A facet is in step if its stamp is the one noted and no record was written since, or if its
package keeps nothing (an empty stamp) and the index has no values of it. Otherwise the values
of all records, or of those written since, are read from its package. The note is written
last, so an interrupted update starts again.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from recordsilo.index.facets import CHUNK, Facet, stamp_of, values_of

Note = tuple[str, int]
"""The stamp, and the newest change of a record, that the values in the index are of."""


class Database(Protocol):
    """What this needs of `recordsilo.index.database.SqliteIndex`."""

    def asking(self) -> AbstractContextManager[sqlite3.Connection]:
        """A connection to query."""

    def changing(self) -> AbstractContextManager[sqlite3.Connection]:
        """A connection in a write transaction."""

    def number_of(self, connection: sqlite3.Connection, field: str, value: str) -> int:
        """The number of a facet value; a new one if it has none.

        Args:
            connection: To the index, in a transaction that writes.
            field: The facet.
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

    Cost: with another stamp, a look at every record's values; else at those that changed.
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
        connection.execute(
            "DELETE FROM beside WHERE facet = ? AND (? = '' OR id NOT IN (SELECT id FROM record))",
            (facet.name, stamp),
        )
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
    with index.asking() as connection:
        return connection.execute(
            "SELECT id, identifier FROM record WHERE change > ? AND id > ? ORDER BY id LIMIT ?",
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
    connection.executemany(
        "DELETE FROM beside WHERE facet = ? AND id = ?", ((name, number) for number, _ in rows)
    )
    connection.executemany(
        "INSERT OR IGNORE INTO beside VALUES (?, ?, ?)",
        (
            (name, number, index.number_of(connection, field, value))
            for number, identifier in rows
            for value in found.get(identifier, ())
        ),
    )
