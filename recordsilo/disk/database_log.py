"""Choose SQLite's journal mode for a database in a Silo, and open one where nothing is written."""

import os
import sqlite3
from urllib.parse import quote

_MAPPED = 4096
"""Step in bytes at which SQLite extends the shared-memory file of a write-ahead log."""


def bears_shared_memory(path: str) -> bool:
    """Whether a full disk leaves no holes in the shared-memory file beside a database.

    SQLite writes one byte in each step. If the blocks of the file system are smaller (1 KiB
    in an ext4 of less than 512 MB), blocks between those bytes are not allocated, and on a
    full disk a process that writes to one is killed (SIGBUS).

    Source: SQLite, os_unix.c, ``unixShmMap``.
    """
    try:
        return os.statvfs(os.path.dirname(os.path.abspath(path))).f_frsize >= _MAPPED
    except OSError:
        return True  # opening the file reports what is wrong


def keep_log(connection: sqlite3.Connection, path: str) -> None:
    """Use a write-ahead log, or a rollback journal if a log could crash the process.

    With a log, readers and a writer do not wait for each other; with a journal they do.

    Raises:
        sqlite3.OperationalError: The file has a log that must be removed, and other
            connections are using it.
    """
    if bears_shared_memory(path):
        connection.execute("PRAGMA journal_mode = WAL")
        return
    # A log from another file system is read without shared memory.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA journal_mode = TRUNCATE")
    connection.execute("PRAGMA locking_mode = NORMAL")
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # releases the lock


def read_only_uri(path: str) -> str:
    """The URI by which SQLite reads a database without writing to it or beside it.

    A database in write-ahead mode without a log has no other user, and is opened as immutable.
    Otherwise the connection takes part in the locking.

    Raises:
        OSError: The file cannot be read.
    """
    how = "immutable=1" if has_log(path) and not is_logged(path) else "mode=ro"
    return database_uri(path, how)


def database_uri(path: str, how: str = "mode=ro") -> str:
    """The URI by which SQLite opens a database; characters of the path do not end it."""
    return f"file:{quote(os.fsencode(path))}?{how}"


def has_log(path: str) -> bool:
    """Whether a database is in write-ahead mode (SQLite, file format, 1.3)."""
    with open(path, "rb") as file:
        return file.read(20)[18:20] == b"\2\2"


def is_logged(path: str) -> bool:
    """Whether the log beside a database holds changes."""
    return os.path.exists(f"{path}-wal") and os.path.getsize(f"{path}-wal") > 0
