"""The pace of a host, shared by all processes of a machine: ``hosts.sqlite`` in some directory.

Times are those of the machine's clock since the epoch. If it is set back, nobody waits for more
than a few turns, or the longest pause. The file may be deleted.
"""

import errno
import fcntl
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from urllib.parse import quote

from politeweb.pace import LONGEST_PAUSE, MOST_WAITING

HOSTS_FILE = "hosts.sqlite"
_SECONDS_UNTIL_BUSY = 60.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS host (
    name TEXT PRIMARY KEY,
    next REAL NOT NULL DEFAULT 0,
    held REAL NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pace (
    host TEXT PRIMARY KEY,
    interval REAL NOT NULL
) WITHOUT ROWID;
PRAGMA user_version = 1;
"""
_ERRNO = {
    "SQLITE_FULL": errno.ENOSPC,
    "SQLITE_IOERR_SHM": errno.ENOSPC,  # the memory shared beside a log cannot grow
    "SQLITE_BUSY": errno.EBUSY,
    "SQLITE_READONLY": errno.EROFS,
}
"""Beginnings of SQLite's error names → errno; of others, EIO."""


class FilePace:
    """The pace of a host, in a file that the processes of a machine share; threads may share it.

    Args:
        directory: Where the file is.
        interval: Least seconds between the starts of two requests.
        decides: Whether the interval is noted in the file. One that does not decide goes no
            faster than the one that does.
        clock: Seconds since the epoch.
    """

    def __init__(
        self,
        directory: str,
        host: str,
        interval: float,
        *,
        decides: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = os.path.join(directory, HOSTS_FILE)
        self._host, self.interval, self._decides, self._clock = host, interval, decides, clock
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def reserve(self) -> float:
        """Reserve the next turn; return the seconds until then.

        Raises:
            OSError: The file cannot be written.
        """
        with self._lock:
            try:
                return self._reserve()
            except sqlite3.DatabaseError:
                self._begin_again()
                return max(self._reserve(), self.interval)

    def hold(self, seconds: float) -> None:
        """Give no turns for some seconds; longer pauses stay."""
        with self._lock:
            try:
                self._hold(seconds)
            except sqlite3.DatabaseError:
                self._begin_again()
                self._hold(seconds)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _hold(self, seconds: float) -> None:
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO host VALUES (?, 0, ?) ON CONFLICT (name)"
                " DO UPDATE SET held = max(held, excluded.held)",
                (self._host, self._clock() + min(seconds, LONGEST_PAUSE)),
            )

    def _reserve(self) -> float:
        with self._transaction() as connection:
            interval = self._agreed(connection)
            row = connection.execute(
                "SELECT next, held FROM host WHERE name = ?", (self._host,)
            ).fetchone()
            now = self._clock()
            after, held = row or (0.0, 0.0)
            due = max(
                now, min(after, now + MOST_WAITING * interval), min(held, now + LONGEST_PAUSE)
            )
            connection.execute(
                "INSERT INTO host VALUES (?, ?, ?) ON CONFLICT (name)"
                " DO UPDATE SET next = excluded.next",
                (self._host, due + interval, held),
            )
            return due - now

    def _agreed(self, connection: sqlite3.Connection) -> float:
        """Return the interval to keep; note it, if this one decides."""
        found = connection.execute(
            "SELECT interval FROM pace WHERE host = ?", (self._host,)
        ).fetchone()
        if not self._decides:
            return max(self.interval, found[0] if found else 0.0)
        if found != (self.interval,):
            connection.execute(
                "INSERT OR REPLACE INTO pace VALUES (?, ?)", (self._host, self.interval)
            )
        return self.interval

    # ------------------------------------------------------------------ the file

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection in a transaction.

        Raises:
            sqlite3.DatabaseError: The file is damaged.
            OSError: It cannot be written.
        """
        connection = None
        try:
            connection = self._connection = self._connection or _opened(self._path)
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise _as_os_error(error, self._path) from error
        finally:
            if connection is not None and connection.in_transaction:
                connection.execute("ROLLBACK")

    def _begin_again(self) -> None:
        """Delete the file, which a power cut may have destroyed, if it is still unreadable."""
        self._close()
        directory = os.open(os.path.dirname(self._path), os.O_RDONLY)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX)
            try:
                _opened(self._path).close()
            except sqlite3.DatabaseError:
                for suffix in ("-wal", "-shm", ""):
                    with suppress(FileNotFoundError):
                        os.unlink(self._path + suffix)
        finally:
            os.close(directory)


def resting_hosts(directory: str, now: float, most: int = 100) -> list[tuple[str, float]]:
    """Return the hosts that get no turns for a while, and for how many seconds, the longest first.

    Args:
        directory: Where the file is; without a file that can be read, there are none.
        now: Seconds since the epoch.
        most: Most hosts.
    """
    where = "SELECT name, held - :now FROM host WHERE held > :now ORDER BY held DESC LIMIT :most"
    path = f"file:{quote(os.fsencode(os.path.join(directory, HOSTS_FILE)))}?mode=ro"
    try:
        with closing(sqlite3.connect(path, uri=True)) as connection:
            return connection.execute(where, {"now": now, "most": most}).fetchall()
    except sqlite3.Error:  # who gives turns next begins the file again
        return []


def _opened(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=_SECONDS_UNTIL_BUSY, isolation_level=None, check_same_thread=False
    )
    try:
        with closing(connection.execute("PRAGMA journal_mode = WAL")):
            connection.execute("PRAGMA synchronous = OFF")  # a power cut may destroy the file
        connection.executescript(_SCHEMA)
    except BaseException:
        connection.close()
        raise
    return connection


def _as_os_error(error: sqlite3.OperationalError, path: str) -> OSError:
    name = getattr(error, "sqlite_errorname", "") or ""
    code = next((code for begin, code in _ERRNO.items() if name.startswith(begin)), errno.EIO)
    return OSError(code, f"{os.strerror(code)} ({error})", path)
