"""Sessions of signed-in users: a table in ``.silo/`` with digests of the sessions' secrets.

The secret is 256 random bits in a cookie. A session ends on the server, whatever the browser
does with the cookie. If the file is lost, users sign in again. While it cannot be written, sessions
go on in memory.

Source: OWASP Session Management Cheat Sheet; RFC 6265bis, sections 4.1.3 and 5.7.
"""

import errno
import hashlib
import os
import re
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from threading import RLock

from recordsilo.disk.atomic_file import make_within
from recordsilo.disk.database_log import database_uri

IDLE, LONGEST = 12 * 3600, 7 * 24 * 3600
"""Seconds after the last request, and after sign-in, when a session ends."""
_NOTED_EVERY = 60
_NOT_WRITABLE = {errno.EROFS, errno.EACCES, errno.EPERM}
_SECRET = re.compile(r"[\w-]{43}", re.ASCII)
_SCHEMA = """
CREATE TABLE IF NOT EXISTS session (
    digest TEXT PRIMARY KEY, name TEXT NOT NULL, stamp TEXT NOT NULL,
    begun REAL NOT NULL, seen REAL NOT NULL
) WITHOUT ROWID
"""


@dataclass(frozen=True, slots=True)
class Session:
    """A session of a user.

    Attributes:
        name: Of the account.
        stamp: The account's stamp at sign-in.
    """

    name: str
    stamp: str


class Sessions:
    """The sessions of a Silo, of all processes; any thread may use it."""

    def __init__(self, silo_path: str, clock: Callable[[], float] = time.time) -> None:
        self._silo_path = silo_path
        self._path = os.path.join(silo_path, ".silo", "sessions.sqlite")
        self._clock = clock
        self._in_memory: sqlite3.Connection | None = None
        self._lock = RLock()

    def begin(self, name: str, stamp: str) -> str:
        """Start a session; return its secret, which is not stored."""
        secret, now = secrets.token_urlsafe(32), self._clock()
        with self._open() as connection:
            connection.execute(
                "DELETE FROM session WHERE seen < ? OR begun < ?", (now - IDLE, now - LONGEST)
            )
            connection.execute(
                "INSERT INTO session VALUES (?, ?, ?, ?, ?)",
                (_digest(secret), name, stamp, now, now),
            )
        return secret

    def find(self, secret: str) -> Session | None:
        """Return the session of a secret; None if there is none or it has ended."""
        if not _SECRET.fullmatch(secret) or not self._has_any():
            return None
        now = self._clock()
        with self._open() as connection:
            row = connection.execute(
                "SELECT name, stamp, seen FROM session WHERE digest = ? AND seen >= ?"
                " AND begun >= ?",
                (_digest(secret), now - IDLE, now - LONGEST),
            ).fetchone()
            if row is None:
                return None
            if now - row[2] > _NOTED_EVERY:
                connection.execute(
                    "UPDATE session SET seen = ? WHERE digest = ?", (now, _digest(secret))
                )
        return Session(row[0], row[1])

    def end(self, secret: str) -> None:
        """End a session; a missing one is not an error."""
        if _SECRET.fullmatch(secret) and self._has_any():
            with self._open() as connection:
                connection.execute("DELETE FROM session WHERE digest = ?", (_digest(secret),))

    def _has_any(self) -> bool:
        return self._in_memory is not None or os.path.exists(self._path)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            make_within(self._silo_path, os.path.dirname(self._path))
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError as error:
            if error.errno not in _NOT_WRITABLE:
                raise
            with self._lock, self._copy() as connection:
                yield connection
            return
        self._in_memory = None
        with closing(sqlite3.connect(self._path, timeout=20.0)) as connection, connection:
            connection.execute(_SCHEMA)
            yield connection

    def _copy(self) -> sqlite3.Connection:
        """A copy of the file in memory, until the file can be written again."""
        if self._in_memory is None:
            copy = sqlite3.connect(":memory:", check_same_thread=False)
            if os.path.exists(self._path):
                uri = database_uri(self._path, "immutable=1")
                with closing(sqlite3.connect(uri, uri=True)) as file:
                    file.backup(copy)
            copy.execute(_SCHEMA)
            self._in_memory = copy
        return self._in_memory


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
