"""The records that each user has selected: a table in ``.silo/``.

It is on the server, so it needs no JavaScript and is the same in every window. If the file is
lost, users select records again.
"""

import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from webui.export_forms import ExportEntry, export_entries
from webui.http.errors import BadRequest, Conflict
from webui.people.roles import Role
from webui.site import Call

MOST = 100_000
"""Maximum number of selected records; for a whole search there is no such limit."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS selection (
    person TEXT PRIMARY KEY, token TEXT NOT NULL, count INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS selected (
    person TEXT NOT NULL, identifier TEXT NOT NULL, PRIMARY KEY (person, identifier)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Selected:
    """The size of a user's selection.

    Attributes:
        token: Identifies exactly these records in addresses; changes with each change.
    """

    count: int = 0
    token: str = ""

    @property
    def search(self) -> str:
        """The query of an address that selects the records."""
        return f"selection={self.token}"


@dataclass(frozen=True, slots=True)
class Ticks:
    """A selection as shown on a page with a list of records.

    Attributes:
        picked: The selected records on the page.
        exports: What the user may export them to.
    """

    selected: Selected
    picked: frozenset[str]
    exports: tuple[ExportEntry, ...] = ()


class Selections:
    """The selections of a Silo, of all processes."""

    def __init__(self, silo_path: str) -> None:
        self._path = os.path.join(silo_path, ".silo", "selections.sqlite")

    def of(self, person: str) -> Selected:
        """Return the size of a user's selection."""
        if not os.access(self._path, os.W_OK):
            return Selected()
        with self._open() as connection:
            return _selected(connection, person)

    def among(self, person: str, identifiers: Iterable[str]) -> frozenset[str]:
        """Return which of some records are selected."""
        if not os.access(self._path, os.W_OK):
            return frozenset()
        query = "SELECT 1 FROM selected WHERE person = ? AND identifier = ?"
        with self._open() as connection:
            return frozenset(
                one for one in identifiers if connection.execute(query, (person, one)).fetchone()
            )

    def identifiers(self, person: str, start: int = 0, limit: int = MOST) -> tuple[str, ...]:
        """Return the selected records, sorted, from a position on.

        Args:
            person: Whose selection.
            start: Number of records to skip.
            limit: Maximum number of records.
        """
        if not os.access(self._path, os.W_OK):
            return ()
        with self._open() as connection:
            rows = connection.execute(
                "SELECT identifier FROM selected WHERE person = ? ORDER BY identifier"
                " LIMIT ? OFFSET ?",
                (person, limit, start),
            )
            return tuple(row[0] for row in rows)

    def named(self, person: str, token: str) -> tuple[str, ...]:
        """Return the records that a token names.

        Raises:
            Conflict: The selection has changed since, or is another user's.
        """
        if not token or self.of(person).token != token:
            raise Conflict(
                "The selection has changed since this page was opened. Open it again from the "
                "list of records."
            )
        return self.identifiers(person)

    def change(self, person: str, add: Iterable[str] = (), remove: Iterable[str] = ()) -> Selected:
        """Add and remove records.

        Args:
            person: Whose selection.
            add, remove: Identifiers; removed first.

        Raises:
            BadRequest: There would be more than `MOST`; nothing was changed.
        """
        with self._open() as connection:
            before = _selected(connection, person)
            connection.executemany(
                "DELETE FROM selected WHERE person = ? AND identifier = ?",
                ((person, one) for one in remove),
            )
            for number, one in enumerate(add):
                connection.execute("INSERT OR IGNORE INTO selected VALUES (?, ?)", (person, one))
                if number >= MOST:
                    break
            return self._noted(connection, person, before)

    def clear(self, person: str) -> Selected:
        """Clear the selection."""
        with self._open() as connection:
            before = _selected(connection, person)
            connection.execute("DELETE FROM selected WHERE person = ?", (person,))
            return self._noted(connection, person, before)

    def _noted(self, connection: sqlite3.Connection, person: str, before: Selected) -> Selected:
        (count,) = connection.execute(
            "SELECT count(*) FROM selected WHERE person = ?", (person,)
        ).fetchone()
        if count > MOST:
            raise BadRequest(
                "A selection has at most {most} records. To change or export more, use the "
                "actions of the search.",
                most=f"{MOST:,}",
            )
        if not connection.total_changes:
            return before
        now = Selected(count, secrets.token_urlsafe(9))
        connection.execute(
            "INSERT OR REPLACE INTO selection VALUES (?, ?, ?)", (person, now.token, now.count)
        )
        return now

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        with closing(sqlite3.connect(self._path, timeout=20.0)) as connection, connection:
            connection.executescript(_SCHEMA)
            connection.execute("BEGIN IMMEDIATE")
            yield connection


def _selected(connection: sqlite3.Connection, person: str) -> Selected:
    row = connection.execute(
        "SELECT count, token FROM selection WHERE person = ?", (person,)
    ).fetchone()
    return Selected(*row) if row else Selected()


def ticks(call: Call, identifiers: Iterable[str]) -> Ticks:
    """Return the current user's selection as shown on a page that lists some records."""
    selections, person = Selections(call.site.silo.path), call.user.name
    may_export = call.user.may(Role.MANAGER)
    exports = tuple(export_entries(call.site.silo.path)) if may_export else ()
    return Ticks(selections.of(person), selections.among(person, identifiers), exports)
