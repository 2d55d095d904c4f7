"""The SQLite files of long work: ledgers and journals, changed in transactions.

Each package defines the content of its files (`LedgerKind`). This module opens and closes
them, translates errors of SQLite (a file that cannot be read, or an `OSError` of the disk),
and reads files of earlier versions. It imports nothing else of the package.
"""

import errno
import os
import re
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import RLock
from typing import Any, Literal, Self, TypeAlias

from recordsilo.closing import Closing
from recordsilo.disk.atomic_file import flush_directory
from recordsilo.disk.database_log import database_uri, keep_log
from recordsilo.disk.full_disk import is_full_disk

SECONDS_UNTIL_BUSY = 60.0
"""How long a process waits for another one's transaction."""
_TABLE = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+)")
_ERRNO = {
    "SQLITE_FULL": errno.ENOSPC,
    "SQLITE_IOERR_SHM": errno.ENOSPC,  # the memory shared beside a log cannot grow
    "SQLITE_IOERR": errno.EIO,
    "SQLITE_BUSY": errno.EBUSY,
    "SQLITE_LOCKED": errno.EBUSY,
}
"""Beginnings of SQLite's error names → errno; the first match counts."""
_NOT_OPENED = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM")

Mode: TypeAlias = Literal["create", "write", "read"]


def new_id() -> str:
    """An id for a job or a run: ``20261121T222100Z-0a1b2c``.

    Ids sort by the second in which they were made (UTC), are unique within a second and
    between machines, and are safe as file names.
    """
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


NEW_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")
"""The form of `new_id`."""


@dataclass(frozen=True, slots=True)
class LedgerKind:
    """The definition of a kind of file.

    Attributes:
        schema: ``CREATE … IF NOT EXISTS`` statements, separated by semicolons.
        unreadable: Makes the package's error from a path and a reason.
        version: ``PRAGMA user_version``; a file with a higher one is refused.
        added: Tables that files of older versions lack, and that are added when such a file
            is opened for writing. A file that lacks another table is refused.
        synchronous: FULL: a change is on the medium when the call returns. NORMAL: a change
            survives the process, but a power cut may lose it. OFF: a power cut may destroy
            the file.
        has_log: Whether to use a write-ahead log if the disk allows it, so that readers and
            a writer do not wait for each other; not for files that several machines share.
    """

    schema: str
    unreadable: Callable[[str, str], Exception]
    version: int = 0
    added: frozenset[str] = frozenset()
    synchronous: Literal["FULL", "NORMAL", "OFF"] = "FULL"
    has_log: bool = False


class LedgerFile(Closing):
    """One file, which is opened on first use, and again on the next use after `close`.

    Any thread may use it; transactions and readings run one at a time.

    Args:
        path: The file; ``":memory:"`` for one in memory.
        mode: With "create", a missing or empty file is created; with "write" it is refused;
            with "read" nothing is written, and it has no rows. Where nothing can be written, a
            file is read all the same, unless a killed writer's changes are to be rolled back.

    Raises (every method):
        Exception: ``kind.unreadable``: it is not such a file, is corrupt, or of a later version.
        OSError: The disk is full or read-only, or another process has kept the file busy for
            `SECONDS_UNTIL_BUSY`. Committed changes are kept.
    """

    def __init__(self, path: str, kind: LedgerKind, mode: Mode = "create") -> None:
        self.path, self._kind, self._mode = path, kind, mode
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = None
        self._is_disk_full = False

    @classmethod
    def make(
        cls, path: str, kind: LedgerKind, fill: Callable[[sqlite3.Connection], object]
    ) -> None:
        """Create a file with its first rows atomically.

        Args:
            fill: Writes the first rows, in a transaction.
        """
        staged = f"{path}.{secrets.token_hex(4)}.new"
        try:
            with cls(staged, kind) as file, file.transaction() as connection:
                fill(connection)
            os.rename(staged, path)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(staged)
            raise
        flush_directory(os.path.dirname(path))

    def open(self) -> Self:
        """Open the file now, to get its errors here."""
        with self.reading():
            return self

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    # ------------------------------------------------------------------ use

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A connection in a transaction, which commits all changes of the block or none."""
        with self.reading() as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for this thread only; each statement is its own transaction."""
        with self._lock, self._errors():
            if self._connection is None:
                self._connection = self._opened()
            yield self._connection

    def rows(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        """All rows of a query."""
        with self.reading() as connection:
            return connection.execute(statement, values).fetchall()

    def copy_to(self, other: "LedgerFile") -> None:
        """Replace the rows of another file of the same kind by those of this one."""
        with self.reading() as mine, other.reading() as theirs:
            mine.backup(theirs)

    # ------------------------------------------------------------------ opening

    def _opened(self) -> sqlite3.Connection:
        """Open a connection; retries while another process switches the file to a log.

        On a full disk, a file that is only read is read as where nothing can be written.
        """
        end = time.monotonic() + SECONDS_UNTIL_BUSY
        while True:
            connection = self._connect()
            try:
                self._prepare(connection)
            except BaseException as error:
                connection.close()
                if self._mode == "read" and not self._is_disk_full and is_full_disk(error):
                    self._is_disk_full = True
                    continue
                if "BUSY" not in getattr(error, "sqlite_errorname", "") or time.monotonic() > end:
                    raise
                time.sleep(0.05)
            else:
                return connection

    def _connect(self) -> sqlite3.Connection:
        # Readers open for writing too, as they may have to roll back a killed writer's changes.
        place = self.path
        if self._mode == "read" and not _has_rows(place):
            place = ":memory:"
        elif self._is_fixed():
            # A log is read with the memory that its writer shares; without one, none is made.
            logs = (f"{place}-wal", f"{place}-journal")
            is_whole = self._kind.has_log and not any(map(_has_rows, logs))
            how = "immutable=1" if is_whole else "mode=ro"
            place = database_uri(place, how)
        elif self._mode != "create":
            place = database_uri(place, "mode=rw")
        return sqlite3.connect(
            place,
            timeout=SECONDS_UNTIL_BUSY,
            isolation_level=None,
            check_same_thread=False,
            uri=place.startswith("file:"),
        )

    def _is_fixed(self) -> bool:
        """Whether this only reads, where nothing can be written: no file beside it, either."""
        if self._mode != "read":
            return False
        return self._is_disk_full or not os.access(os.path.dirname(self.path) or ".", os.W_OK)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if self._kind.has_log and self.path != ":memory:" and not self._is_fixed():
            keep_log(connection, self.path)
        connection.execute(f"PRAGMA synchronous = {self._kind.synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")
        if self._lacks_tables(connection):
            connection.execute("BEGIN IMMEDIATE")
            for statement in filter(str.strip, self._kind.schema.split(";")):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {self._kind.version}")
            connection.execute("COMMIT")
        if self._mode == "read":
            connection.execute("PRAGMA query_only = ON")

    def _lacks_tables(self, connection: sqlite3.Connection) -> bool:
        """Whether tables must be created; refuses a file of another kind."""
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > self._kind.version:
            reason = f"it has version {version}, but this program supports {self._kind.version}"
            raise self._kind.unreadable(self.path, reason)
        rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        found = {name for (name,) in rows}
        lacking = set(_TABLE.findall(self._kind.schema)) - found
        if lacking - self._kind.added and (found or self._mode == "write"):
            raise self._kind.unreadable(self.path, f"it has no table {min(lacking)}")
        return bool(lacking) and not (found and self._mode == "read")

    # ------------------------------------------------------------------ errors

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.ProgrammingError, sqlite3.DataError):
            raise  # an error of the caller
        except sqlite3.DatabaseError as error:
            raise self._translated(error) from error

    def _translated(self, error: sqlite3.DatabaseError) -> Exception:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(_NOT_OPENED):
            return _why_not_opened(self.path)
        number = next((one for begin, one in _ERRNO.items() if name.startswith(begin)), None)
        if number is None:
            return self._kind.unreadable(self.path, str(error))
        busy = f"another process has kept it busy for {SECONDS_UNTIL_BUSY:g} seconds; try again"
        reason = busy if number == errno.EBUSY else os.strerror(number)
        return OSError(number, reason, self.path)


def _why_not_opened(path: str) -> OSError:
    directory = os.path.dirname(path) or "."
    try:
        opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        disk = os.fstatvfs(opened)
        os.close(opened)
    except OSError as error:
        return error
    if disk.f_flag & os.ST_RDONLY:
        number = errno.EROFS
    elif disk.f_files and not disk.f_favail:  # SQLite needs files beside this one
        number = errno.ENOSPC
    else:
        number = errno.EISDIR if os.path.isdir(path) else errno.EACCES
    return OSError(number, os.strerror(number), path)


def _has_rows(path: str) -> bool:
    """Whether the file exists and its tables were created completely."""
    try:
        return os.path.getsize(path) > 0
    except FileNotFoundError:
        return False
