"""The index against the manifests; opened so that nothing in it can change."""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial
from typing import TypeVar
from urllib.parse import quote

from recordsilo.audit.findings import Code, Finding, shown
from recordsilo.identifier import ppath
from recordsilo.index import Row
from recordsilo.index.projection import project_row
from recordsilo.index.query import row
from recordsilo.index.schema import VERSION
from recordsilo.manifest import Manifest

PATH = ".silo/index.sqlite"
_PAGE = 1000
_DAMAGE = ("SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_ERROR")
T = TypeVar("T")


class IndexCheck:
    """The look at a Silo's index; one that is absent, unfinished or of another release is none.

    What its table ``unsettled`` names is passed over: the next reader sees to it.
    """

    def __init__(self, silo: str) -> None:
        self._silo = silo
        self._connection: sqlite3.Connection | None = None
        self.problem: Finding | None = None
        self._ask(lambda _connection: None)

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(self, query: Callable[[sqlite3.Connection], T]) -> T | None:
        """What the index says; None where it cannot be asked.

        A failure counts when it comes again on a new connection: a writer may have
        begun its work on a file that was opened as a quiet one.
        """
        for attempt in range(2):
            if self.problem is not None:
                return None
            try:
                if self._connection is None:
                    self._connection = _open(f"{self._silo}/{PATH}")
                return None if self._connection is None else query(self._connection)
            except sqlite3.DatabaseError as error:
                self.close()
                if not getattr(error, "sqlite_errorname", "").startswith(_DAMAGE):
                    return None
                if attempt:
                    found = str(error)
                    self.problem = Finding(Code.INDEX_DAMAGED, PATH, "an SQLite database", found)
        return None

    def of_record(self, manifest: Manifest) -> Finding | None:
        """What the index says wrongly of a record.

        Titles are not compared: they come from the files, not from the manifest.
        """
        identifier, stated = manifest.item_id, project_row(manifest, "")

        def compare(connection: sqlite3.Connection) -> Finding | None:
            found = row(connection, identifier)
            listed = None if found is None else replace(found, title="")
            if listed == stated or _is_unsettled(connection, identifier):
                return None
            return _difference(identifier, listed, stated)

        return self._ask(compare)

    def surplus(self) -> Iterator[str]:
        """Identifiers the index has and the disk has not, in bounded memory."""
        last: str | None = ""
        while last is not None:
            page = self._ask(partial(_identifiers_after, last=last)) or []
            yield from (one for one in page if not self._is_on_disk(one))
            last = page[-1] if page else None

    def is_surplus(self, identifier: str) -> bool:
        """Whether the index has a record that the disk has not, and nobody will see to it."""

        def has(connection: sqlite3.Connection) -> bool:
            is_listed = row(connection, identifier) is not None
            return is_listed and not _is_unsettled(connection, identifier)

        return not self._is_on_disk(identifier) and bool(self._ask(has))

    def _is_on_disk(self, identifier: str) -> bool:
        """Whether there is a record, be it damaged: then another finding tells of it."""
        with contextlib.suppress(OSError):
            place = f"{self._silo}/pairtree_root/{ppath(identifier)}"
            return any(name.startswith("__manifest.json") for name in os.listdir(place))
        return False


def _identifiers_after(connection: sqlite3.Connection, last: str) -> list[str]:
    sql = "SELECT identifier FROM record WHERE identifier > ? ORDER BY identifier LIMIT ?"
    return [found for (found,) in connection.execute(sql, (last, _PAGE))]


def _is_unsettled(connection: sqlite3.Connection, identifier: str) -> bool:
    sql = "SELECT 1 FROM unsettled WHERE identifier = ?"
    return connection.execute(sql, (identifier,)).fetchone() is not None


def _difference(identifier: str, listed: Row | None, stated: Row) -> Finding:
    if listed is None:
        return Finding(Code.INDEX_LACKS, PATH, "a row", "none", identifier)
    expected, found = asdict(stated), asdict(listed)
    keys = [key for key in expected if expected[key] != found[key]]
    return Finding(
        Code.INDEX_DIFFERS,
        PATH,
        shown({key: expected[key] for key in keys}),
        shown({key: found[key] for key in keys}),
        identifier,
    )


def _open(path: str) -> sqlite3.Connection | None:
    """A connection to an index that is complete; None where there is none."""
    if not os.path.exists(path):
        return None
    connection = _read_only(path)
    try:
        is_ready = _is_ready(connection)
    except BaseException:
        connection.close()
        raise
    if is_ready:
        return connection
    connection.close()
    return None


def _read_only(path: str) -> sqlite3.Connection:
    """Open a database so that neither it nor anything beside it is written.

    Without a write-ahead log nobody is at work on it, and SQLite is told to leave
    everything alone; beside one it takes part in the others' locking.
    """
    is_still = not os.path.exists(f"{path}-wal") or os.path.getsize(f"{path}-wal") == 0
    how = "immutable=1" if is_still else "mode=ro"
    return sqlite3.connect(f"file:{quote(path)}?{how}", uri=True, timeout=60)


def _is_ready(connection: sqlite3.Connection) -> bool:
    if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
        return False
    found = connection.execute("SELECT value FROM about WHERE key = 'complete'").fetchone()
    return found is not None and found[0] == 1
