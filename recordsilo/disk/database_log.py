"""How SQLite keeps the changes of a file in a Silo apart until they are whole."""

import os
import sqlite3

_MAPPED = 4096
"""SQLite makes room for the memory it shares beside a write-ahead log by one byte in so many."""


def bears_shared_memory(path: str) -> bool:
    """Whether a full disk cannot leave holes in the memory that is shared beside a file.

    Where a block of the file system is smaller than SQLite's step (ext4 of less than
    512 MB has 1 KiB), the bytes between have none, and on a full disk the process that
    writes to one of them is killed (SIGBUS).

    Source: SQLite, os_unix.c, ``unixShmMap``.
    """
    try:
        return os.statvfs(os.path.dirname(os.path.abspath(path))).f_frsize >= _MAPPED
    except OSError:
        return True  # opening the file says what is wrong


def keep_log(connection: sqlite3.Connection, path: str) -> None:
    """Let a file have a write-ahead log, or a rollback journal where it would be a danger.

    Beside a log, readers and a writer do not wait for each other; beside a journal they do.

    Raises:
        sqlite3.OperationalError: The file has a log where there should be none, and others
            are using it.
    """
    if bears_shared_memory(path):
        connection.execute("PRAGMA journal_mode = WAL")
        return
    # A log that is there, from another file system, is read without shared memory.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA journal_mode = TRUNCATE")
    connection.execute("PRAGMA locking_mode = NORMAL")
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # gives the lock back
