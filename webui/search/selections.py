"""The records that each user has selected, and how they are listed: tables in ``.silo/``.

It is on the server, so it needs no JavaScript and is the same in every window. If the file is
lost or unreadable, users select records again.
"""

import json
import logging
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from recordsilo.disk.atomic_file import make_within
from webui.export_forms import ExportEntry, export_entries
from webui.http.errors import BadRequest, ChangeConflict
from webui.http.messages import parse_pairs
from webui.people.roles import Role
from webui.search.request import SearchRequest
from webui.site import Call
from webui.words.texts import counted, numeral
from webui.words.texts import text as _

logger = logging.getLogger("webui")
T = TypeVar("T")
COUNTED = 1000
"""Maximum number of records of a search of which the selected ones are counted."""
MOST = 100_000
"""Maximum number of selected records; for a whole search there is no such limit."""
_NOT_OF_THE_FILE = (
    "SQLITE_BUSY",
    "SQLITE_LOCKED",
    "SQLITE_FULL",
    "SQLITE_IOERR",
    "SQLITE_READONLY",
    "SQLITE_PERM",
    "SQLITE_CANTOPEN",
    "SQLITE_NOMEM",
)
"""Beginnings of the names of errors that say nothing about the content of the file."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS selection (
    person TEXT PRIMARY KEY, token TEXT NOT NULL, count INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS selected (
    person TEXT NOT NULL, identifier TEXT NOT NULL, PRIMARY KEY (person, identifier)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS look (person TEXT PRIMARY KEY, choice TEXT NOT NULL) WITHOUT ROWID;
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
        among: The query of the page's search, if its selected records are counted.
        here: Their number; None if they are not counted.
    """

    selected: Selected
    picked: frozenset[str]
    exports: tuple[ExportEntry, ...] = ()
    among: str = ""
    here: int | None = None

    @property
    def said(self) -> str:
        """The size of the selection in words."""
        return size_said(self.selected.count, self.here)


def size_said(count: int, here: int | None = None) -> str:
    """The size of a selection: ``222 selected``, or ``222 selected, 28 of them here``.

    Args:
        count: The number of selected records.
        here: How many of them a search finds; None if they are not counted.
    """
    said = counted("{n} selected", "{n} selected", count)
    if here is None or here == count:
        return said
    return _("{said}, {here} of them here", said=said, here=numeral(here))


class Selections:
    """The selections of a Silo, of all processes."""

    def __init__(self, silo_path: str) -> None:
        self._silo_path = silo_path
        self._path = os.path.join(silo_path, ".silo", "selections.sqlite")

    def of(self, person: str) -> Selected:
        """Return the size of a user's selection."""
        return self.shown(person, ())[0]

    def shown(self, person: str, identifiers: Iterable[str]) -> tuple[Selected, frozenset[str]]:
        """Return the size of a user's selection, and which of some records are selected."""
        if not os.access(self._path, os.W_OK):
            return Selected(), frozenset()
        named = json.dumps([*identifiers])

        def read(connection: sqlite3.Connection) -> tuple[Selected, frozenset[str]]:
            rows = connection.execute(
                "SELECT identifier FROM selected WHERE person = ?"
                " AND identifier IN (SELECT value FROM json_each(?))",
                (person, named),
            )
            return _selected(connection, person), frozenset(row[0] for row in rows)

        return self._do(read)

    def identifiers(self, person: str, start: int = 0, limit: int = MOST) -> tuple[str, ...]:
        """Return the selected records, sorted, from a position on.

        Args:
            person: Whose selection.
            start: Number of records to skip.
            limit: Maximum number of records.
        """
        if not os.access(self._path, os.W_OK):
            return ()

        def read(connection: sqlite3.Connection) -> tuple[str, ...]:
            rows = connection.execute(
                "SELECT identifier FROM selected WHERE person = ? ORDER BY identifier"
                " LIMIT ? OFFSET ?",
                (person, limit, start),
            )
            return tuple(row[0] for row in rows)

        return self._do(read)

    def named(self, person: str, token: str) -> tuple[str, ...]:
        """Return the records that a token names.

        Raises:
            ChangeConflict: The selection has changed since, or is another user's.
        """
        if not token or self.of(person).token != token:
            raise ChangeConflict(
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
        added = [(person, one) for one in islice(add, MOST + 1)]
        removed = [(person, one) for one in remove]

        def write(connection: sqlite3.Connection) -> Selected:
            before = _selected(connection, person)
            connection.executemany(
                "DELETE FROM selected WHERE person = ? AND identifier = ?", removed
            )
            connection.executemany("INSERT OR IGNORE INTO selected VALUES (?, ?)", added)
            return self._noted(connection, person, before)

        return self._do(write)

    def clear(self, person: str) -> Selected:
        """Clear the selection."""

        def write(connection: sqlite3.Connection) -> Selected:
            before = _selected(connection, person)
            connection.execute("DELETE FROM selected WHERE person = ?", (person,))
            return self._noted(connection, person, before)

        return self._do(write)

    def look(self, person: str) -> str:
        """Return how a user lists records, as `keep_look` stored it; empty if they have not."""
        if not os.access(self._path, os.W_OK):
            return ""
        sql = "SELECT CAST(choice AS TEXT) FROM look WHERE person = ?"

        def read(connection: sqlite3.Connection) -> str:
            row = connection.execute(sql, (person,)).fetchone()
            return str(row[0]) if row else ""

        return self._do(read)

    def keep_look(self, person: str, choice: str) -> None:
        """Store how a user lists records."""
        sql = "INSERT OR REPLACE INTO look VALUES (?, ?)"
        self._do(lambda connection: connection.execute(sql, (person, choice)))

    def _noted(self, connection: sqlite3.Connection, person: str, before: Selected) -> Selected:
        (count,) = connection.execute(
            "SELECT count(*) FROM selected WHERE person = ?", (person,)
        ).fetchone()
        if count > MOST:
            raise BadRequest(
                "A selection has at most {most} records. To change or export more, use the "
                "actions of the search.",
                most=numeral(MOST),
            )
        if not connection.total_changes:
            return before
        now = Selected(count, secrets.token_urlsafe(9))
        connection.execute(
            "INSERT OR REPLACE INTO selection VALUES (?, ?, ?)", (person, now.token, now.count)
        )
        return now

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do something in a transaction; a file that is not of this kind is set aside first."""
        try:
            with self._open() as connection:
                return work(connection)
        except (sqlite3.DatabaseError, IsADirectoryError) as error:
            if getattr(error, "sqlite_errorname", "").startswith(_NOT_OF_THE_FILE):
                raise
            aside = self._path + ".unreadable"
            logger.warning(
                "%s cannot be read (%s); it is now %s, and nothing is selected",
                self._path, error, aside,
            )  # fmt: skip
            os.rename(self._path, aside)
        with self._open() as connection:
            return work(connection)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        make_within(self._silo_path, os.path.dirname(self._path))
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        with closing(sqlite3.connect(self._path, timeout=20.0)) as connection, connection:
            connection.executescript(_SCHEMA)
            connection.execute("BEGIN IMMEDIATE")
            yield connection


def _selected(connection: sqlite3.Connection, person: str) -> Selected:
    row = connection.execute(
        "SELECT CAST(count AS INTEGER), CAST(token AS TEXT) FROM selection WHERE person = ?",
        (person,),
    ).fetchone()
    return Selected(*row) if row else Selected()


def ticks(call: Call, identifiers: Iterable[str], among: str = "") -> Ticks:
    """Return the current user's selection as shown on a page that lists some records.

    Args:
        call: The request.
        identifiers: The records on the page.
        among: The query of a search whose selected records are counted.
    """
    selected, picked = Selections(call.site.silo.path).shown(call.user.name, identifiers)
    may_export = call.user.may(Role.MANAGER)
    exports = tuple(export_entries(call.site.silo.path)) if may_export else ()
    here = selected_in(call, among) if selected.count else None
    return Ticks(selected, picked, exports, among, here)


def selected_in(call: Call, among: str) -> int | None:
    """How many of the user's selected records a search finds; None of more than `COUNTED`."""
    request = SearchRequest.of(parse_pairs(among))
    if request.is_everything:
        return None
    rows = call.site.silo.found(request.filters, request.q)
    named = [row.identifier for row in islice(rows, COUNTED + 1)]
    if len(named) > COUNTED:
        return None
    return len(Selections(call.site.silo.path).shown(call.user.name, named)[1])
