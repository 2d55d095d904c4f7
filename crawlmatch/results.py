"""The table ``crawl_result`` as SQLite: the columns of arabesque, and some more."""

import os
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

TABLE = "crawl_result"
COLUMNS = {
    "initial_url": "TEXT NOT NULL",
    "identifier": "TEXT",
    "initial_domain": "TEXT",
    "breadcrumbs": "TEXT",
    "final_url": "TEXT",
    "final_domain": "TEXT",
    "final_timestamp": "TEXT",
    "final_status_code": "TEXT",
    "final_sha1": "TEXT",
    "final_mimetype": "TEXT",
    "final_was_dedupe": "INTEGER",
    "hit": "INTEGER NOT NULL",
    "postproc_status": "TEXT",
    "final_cdx": "TEXT",
    "outcome": "TEXT",
    "match_rule": "TEXT",
    "terminal": "INTEGER",
    "other_sha1": "TEXT",
}
"""Name → type; docs/crawl-rules.md explains them."""
_INDEXED = ("initial_url", "identifier", "final_sha1")


def write_sqlite(pages: Iterable[Sequence[tuple[Any, ...]]], path: str) -> None:
    """Write the table with its indexes into a new database, flushed.

    Args:
        pages: The rows in batches, in the order of `COLUMNS`.

    Raises:
        sqlite3.Error, OSError: The disk refused; a partial file may remain.
    """
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA page_size = 8192")
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA cache_size = -64000")  # KiB; the indexes are sorted in it
        columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        connection.execute(f"CREATE TABLE {TABLE} ({columns})")
        connection.execute("BEGIN")
        marks = ", ".join("?" * len(COLUMNS))
        for rows in pages:
            connection.executemany(f"INSERT INTO {TABLE} VALUES ({marks})", rows)  # noqa: S608  # our own names
        for column in _INDEXED:
            connection.execute(f"CREATE INDEX {TABLE}_{column} ON {TABLE} ({column})")
        connection.execute("COMMIT")
    finally:
        connection.close()
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
