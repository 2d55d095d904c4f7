"""The ledger ``usage/ledger.sqlite``: what was imported, and what is to be counted.

A file is known by its content: a *mark* says that the bytes from the beginning of some file up to
a length, with this digest, were imported. So a file that was renamed, compressed or has grown is
recognised, whatever its name. Only those files of events count that the ledger names.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field
from typing import Any

from recordsilo.closing import Closing
from silowork.ledger_file import LedgerFile, LedgerKind, Mode
from usagestats.errors import CountsUnreadable
from usagestats.store.paths import ledger_path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mark (
  hint BLOB NOT NULL, length INTEGER NOT NULL, digest BLOB NOT NULL, lines INTEGER NOT NULL,
  reader TEXT NOT NULL, PRIMARY KEY (hint, length, digest)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS mark_by_length ON mark (length);
CREATE TABLE IF NOT EXISTS source (
  hint BLOB NOT NULL, length INTEGER NOT NULL, digest BLOB NOT NULL, day TEXT NOT NULL,
  name TEXT NOT NULL, PRIMARY KEY (hint, length, digest, day)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS source_by_name ON source (day, name);
CREATE TABLE IF NOT EXISTS event_file (
  day TEXT NOT NULL, name TEXT NOT NULL, events INTEGER NOT NULL,
  PRIMARY KEY (day, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS day (
  day TEXT PRIMARY KEY, imported TEXT NOT NULL, stale INTEGER NOT NULL, frozen INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS import (id TEXT PRIMARY KEY, receipt TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS late (
  day TEXT NOT NULL, import TEXT NOT NULL, lines INTEGER NOT NULL,
  PRIMARY KEY (day, import)) WITHOUT ROWID
"""
KIND = LedgerKind(
    _SCHEMA, CountsUnreadable, version=1, added=frozenset({"source"}), synchronous="FULL"
)
HINT = 1024
"""Bytes at the beginning of a file that identify its marks."""


def hint_of(head: bytes) -> bytes:
    """Return the hint of a file, or of a part of one, from its first bytes."""
    return hashlib.sha256(head[:HINT]).digest()


@dataclass(frozen=True, slots=True)
class Mark:
    """What was imported of a file: its first bytes.

    Attributes:
        length: How many bytes, decompressed.
        digest: SHA-256 of the last of them, at most 1 MiB.
        lines: How many lines they have.
        reader: The `Reader.spec` for what follows.
    """

    length: int
    digest: bytes
    lines: int
    reader: str


@dataclass(slots=True)
class ImportedBlock:
    """What the import of a block adds to the ledger.

    Attributes:
        hint: Of the file.
        mark: The file up to the end of the block; None for lines that are of no file.
        files: Day → name of its file of events, and how many they are.
        stale: Further days that are to be counted again.
        late: Frozen day → lines that came too late.
        replaced: Hints and marks of the blocks whose lines were read again in this one and in
            those before it: the events that they gave no longer count.
    """

    hint: bytes
    mark: Mark | None
    files: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    stale: Iterable[str] = ()
    late: Mapping[str, int] = field(default_factory=dict)
    replaced: Iterable[tuple[bytes, Mark]] = ()


class UsageLedger(Closing):
    """The ledger of a Silo.

    Raises (every method):
        CountsUnreadable, OSError: As `LedgerFile`.
    """

    def __init__(self, silo_path: str, mode: Mode = "create") -> None:
        self._file = LedgerFile(ledger_path(silo_path), KIND, mode)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    # ------------------------------------------------------------------ settings

    def fixed(self, name: str, value: str) -> str:
        """Return a setting that cannot change once something is imported; store it first."""
        with self._file.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO setting VALUES (?, ?)", (name, value))
            rows = connection.execute("SELECT value FROM setting WHERE name = ?", (name,))
            return str(rows.fetchone()[0])

    # ------------------------------------------------------------------ marks

    def marks(self, head: bytes) -> list[Mark]:
        """Return the marks of files that may begin with these bytes, the longest first.

        Args:
            head: The first `HINT` bytes, or the whole file if it is shorter.
        """
        found = [
            Mark(*row)
            for row in self._file.rows(
                "SELECT length, digest, lines, reader FROM mark WHERE hint = ? AND length >= ?",
                (hint_of(head), HINT),
            )
        ]
        short = self._file.rows(
            "SELECT length, digest, lines, reader FROM mark "
            "WHERE length > 0 AND length < ? AND length <= ?",
            (HINT, len(head)),
        )
        found += [Mark(*row) for row in short if hashlib.sha256(head[: row[0]]).digest() == row[1]]
        return sorted(found, key=lambda mark: -mark.length)

    # ------------------------------------------------------------------ importing

    def add(
        self, import_id: str, day: str, done: ImportedBlock, receipt: Mapping[str, Any]
    ) -> None:
        """Add a block that was imported; all of it or nothing.

        Args:
            day: The day of the import, ISO 8601.
            receipt: The receipt of the import so far, as JSON values.
        """
        with self._file.transaction() as connection:
            gone = [row for one in done.replaced for row in _without_source(connection, *one)]
            if done.mark is not None:
                connection.execute(
                    "INSERT OR REPLACE INTO mark VALUES (?, ?, ?, ?, ?)",
                    (done.hint, *astuple(done.mark)),
                )
                connection.executemany(
                    "INSERT OR REPLACE INTO source VALUES (?, ?, ?, ?, ?)",
                    (
                        (done.hint, done.mark.length, done.mark.digest, one, name)
                        for one, (name, _) in done.files.items()
                    ),
                )
            connection.executemany(
                "INSERT OR REPLACE INTO event_file VALUES (?, ?, ?)",
                ((one, name, events) for one, (name, events) in done.files.items()),
            )
            connection.executemany(
                "INSERT INTO day VALUES (?, ?, 1, 0) ON CONFLICT DO UPDATE SET stale = 1",
                ((one, day) for one in done.files),
            )
            connection.executemany(
                "UPDATE day SET stale = 1 WHERE day = ? AND NOT frozen",
                ((one,) for one in done.stale),
            )
            for row in gone:
                connection.execute(
                    "DELETE FROM event_file WHERE (day, name) = (?1, ?2) "
                    "AND NOT EXISTS (SELECT 1 FROM source WHERE (day, name) = (?1, ?2))",
                    row,
                )
                _set_stale(connection, row[0])
            connection.executemany(
                "INSERT INTO late VALUES (?, ?, ?)"
                " ON CONFLICT DO UPDATE SET lines = lines + excluded.lines",
                ((one, import_id, lines) for one, lines in done.late.items()),
            )
            connection.execute(
                "INSERT OR REPLACE INTO import VALUES (?, ?)", (import_id, json.dumps(receipt))
            )

    def end(self, import_id: str, receipt: Mapping[str, Any]) -> None:
        """Store the receipt of an import that has ended."""
        with self._file.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO import VALUES (?, ?)", (import_id, json.dumps(receipt))
            )

    def receipts(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the receipts of all imports, the latest first."""
        rows = self._file.rows("SELECT id, receipt FROM import ORDER BY id DESC")
        return [(one, json.loads(receipt)) for one, receipt in rows]

    def has_counted(self) -> bool:
        """Whether an import has counted a use."""
        return bool(
            self._file.rows(
                "SELECT 1 FROM import WHERE json_extract(receipt, '$.counted') > 0"
                " ORDER BY id DESC LIMIT 1"
            )
        )

    def late(self) -> dict[str, int]:
        """Return the lines that came too late for each frozen day."""
        rows = self._file.rows("SELECT day, sum(lines) FROM late GROUP BY day ORDER BY day")
        return dict(rows)

    # ------------------------------------------------------------------ days

    def days(self) -> list[str]:
        """Return all days with events, or that had some, in order."""
        return [day for (day,) in self._file.rows("SELECT day FROM day ORDER BY day")]

    def stale(self) -> list[str]:
        """Return the days that are to be counted again, in order."""
        sql = "SELECT day FROM day WHERE stale AND NOT frozen ORDER BY day"
        return [day for (day,) in self._file.rows(sql)]

    def frozen(self) -> set[str]:
        """Return the frozen days."""
        return {day for (day,) in self._file.rows("SELECT day FROM day WHERE frozen")}

    def files(self, day: str) -> list[tuple[str, int]]:
        """Return the names of a day's files of events, and how many events each has."""
        sql = "SELECT name, events FROM event_file WHERE day = ? ORDER BY name"
        return [(name, events) for name, events in self._file.rows(sql, (day,))]

    def files_by_source(self, day: str) -> list[list[str]]:
        """Return the names of a day's files of events, those from the same logs together."""
        sql = (
            "SELECT name, (SELECT group_concat(one) FROM (SELECT DISTINCT hex(hint) AS one "
            "FROM source AS s WHERE (s.day, s.name) = (e.day, e.name) ORDER BY one)) "
            "FROM event_file AS e WHERE day = ? ORDER BY name"
        )
        found: dict[str, list[str]] = {}
        for name, hints in self._file.rows(sql, (day,)):
            found.setdefault(hints or "", []).append(name)
        return list(found.values())

    def days_with_events(self) -> list[str]:
        """Return the days that have files of events, in order."""
        sql = "SELECT DISTINCT day FROM event_file ORDER BY day"
        return [day for (day,) in self._file.rows(sql)]

    def all_files(self) -> set[tuple[str, str]]:
        """Return the day and the name of every file of events."""
        return set(self._file.rows("SELECT day, name FROM event_file"))

    def counted(self, days: Mapping[str, set[str]]) -> None:
        """Note that days were counted from these files; one with other files stays stale."""
        with self._file.transaction() as connection:
            for day, names in days.items():
                rows = connection.execute("SELECT name FROM event_file WHERE day = ?", (day,))
                if {name for (name,) in rows} == names:
                    connection.execute("UPDATE day SET stale = 0 WHERE day = ?", (day,))

    def set_stale(self, days: Iterable[str]) -> None:
        """Note that days are to be counted again."""
        with self._file.transaction() as connection:
            connection.executemany(
                "UPDATE day SET stale = 1 WHERE day = ? AND NOT frozen", ((day,) for day in days)
            )

    def replace_files(
        self, day: str, name: str, events: int, replaced: Iterable[str], *, fewer: bool = False
    ) -> None:
        """Replace several event files by one.

        Args:
            day: Of the events.
            name: Of the new file; ``""``: none.
            events: How many it has.
            replaced: Names of the files before.
            fewer: Whether events were dropped, so that the day must be counted again.
        """
        replaced = list(replaced)
        with self._file.transaction() as connection:
            connection.executemany(
                "UPDATE source SET name = ? WHERE day = ? AND name = ?"
                if name
                else "DELETE FROM source WHERE ? = '' AND day = ? AND name = ?",
                ((name, day, one) for one in replaced),
            )
            connection.executemany(
                "DELETE FROM event_file WHERE day = ? AND name = ?",
                ((day, one) for one in replaced),
            )
            if name:
                connection.execute(
                    "INSERT OR REPLACE INTO event_file VALUES (?, ?, ?)", (day, name, events)
                )
            if fewer:
                _set_stale(connection, day)

    def to_freeze(self, before: str) -> list[str]:
        """Return the days before a day that were first imported before it, and are not frozen."""
        sql = "SELECT day FROM day WHERE day < ? AND imported < ? AND NOT frozen ORDER BY day"
        return [day for (day,) in self._file.rows(sql, (before, before))]

    def not_frozen(self, before: str) -> list[str]:
        """Return the days before a day that are not frozen."""
        sql = "SELECT day FROM day WHERE day < ? AND NOT frozen ORDER BY day"
        return [day for (day,) in self._file.rows(sql, (before,))]

    def freeze(self, days: Iterable[str]) -> None:
        """Note that days are frozen; their events no longer count."""
        days = list(days)
        with self._file.transaction() as connection:
            for day in days:
                connection.execute("UPDATE day SET frozen = 1, stale = 0 WHERE day = ?", (day,))
                connection.execute("DELETE FROM event_file WHERE day = ?", (day,))
                connection.execute("DELETE FROM source WHERE day = ?", (day,))


def _set_stale(connection: sqlite3.Connection, day: str) -> None:
    """Note that a day has fewer events, which may have ended double clicks of the day before."""
    connection.execute(
        "UPDATE day SET stale = 1 WHERE day IN (?1, date(?1, '-1 day')) AND NOT frozen", (day,)
    )


def _without_source(connection: sqlite3.Connection, hint: bytes, mark: Mark) -> list[Any]:
    """Remove what a block gave; return the days and names of its files of events."""
    where, key = "WHERE (hint, length, digest) = (?, ?, ?)", (hint, mark.length, mark.digest)
    rows = connection.execute(f"SELECT day, name FROM source {where}", key).fetchall()  # noqa: S608
    connection.execute(f"DELETE FROM source {where}", key)  # noqa: S608  # a constant
    return rows
