"""What was done with live lines: ``usage/live.sqlite``, and the logs of each kind.

Lines are appended to the logs first. Then one transaction notes which entries these were, and how
long each log is now. What a killed worker appended without noting it is cut off by the next one,
and an entry that is noted is not written again. So no line is in a log twice, and none is missing.
"""

import json
import os
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from recordsilo.disk.atomic_file import flush_directory, make_parents, make_within, replace_file
from recordsilo.disk.locks import Locks
from silowork.ledger_file import LedgerFile, LedgerKind
from usagestats.errors import CountsUnreadable
from usagestats.store.paths import place

_SCHEMA = """
CREATE TABLE IF NOT EXISTS done (id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS log (
  name TEXT PRIMARY KEY, length INTEGER NOT NULL, lines INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS position (source TEXT PRIMARY KEY, at TEXT NOT NULL) WITHOUT ROWID
"""
KIND = LedgerKind(_SCHEMA, CountsUnreadable, version=1, synchronous="FULL")
_SECONDS_KEPT = 7 * 86_400
Log = tuple[str, str]
"""Day and kind."""


class UsageJournal:
    """The journal of a Silo; what writes to it holds `lock`.

    Raises (every method):
        CountsUnreadable, OSError: As `LedgerFile`.
    """

    def __init__(self, silo_path: str) -> None:
        self._silo_path = silo_path
        make_within(silo_path, place(silo_path))
        self._file = LedgerFile(journal_path(silo_path), KIND)
        self._locks = Locks.of_silo(silo_path)

    def lock(self) -> AbstractContextManager[None]:
        """Wait for other workers that write to the logs."""
        return self._locks.hold_name("usage-live")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def known(self, ids: Collection[str]) -> set[str]:
        """Return those of some entries that were written before."""
        marks = ",".join("?" for _ in ids)
        rows = self._file.rows(f"SELECT id FROM done WHERE id IN ({marks})", tuple(ids))  # noqa: S608
        return {one for (one,) in rows}

    def position(self, source: str) -> Any:
        """Return the position after the last lines of a source; None at first."""
        rows = self._file.rows("SELECT at FROM position WHERE source = ?", (source,))
        return json.loads(rows[0][0]) if rows else None

    def write(
        self,
        logs: Mapping[Log, list[bytes]],
        ids: Iterable[str],
        now: int,
        position: tuple[str, object] | None = None,
    ) -> None:
        """Append lines to the logs, and note whose lines they are.

        Args:
            logs: Lines without LF of each log.
            ids: Entries that are written with them.
            now: Seconds since 1970.
            position: A source, and the position after these lines, as a JSON value.
        """
        names = {_name(log): lines for log, lines in logs.items()}
        lengths = self._lengths(names)
        grown = {
            name: (self._append(name, lengths.get(name, 0), lines), len(lines))
            for name, lines in names.items()
        }
        with self._file.transaction() as connection:
            connection.executemany(
                "INSERT INTO log VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET"
                " length = excluded.length, lines = lines + excluded.lines",
                ((name, length, lines) for name, (length, lines) in grown.items()),
            )
            connection.executemany(
                "INSERT OR IGNORE INTO done VALUES (?, ?)", ((one, now) for one in ids if one)
            )
            connection.execute("DELETE FROM done WHERE at < ?", (now - _SECONDS_KEPT,))
            if position is not None:
                source, at = position
                connection.execute(
                    "INSERT OR REPLACE INTO position VALUES (?, ?)", (source, json.dumps(at))
                )

    def forget(self, ids: Collection[str]) -> None:
        """Forget entries that are acknowledged: they are never delivered again."""
        with self._file.transaction() as connection:
            connection.executemany("DELETE FROM done WHERE id = ?", ((one,) for one in ids))

    def remove(self, day: str, marks: Collection[bytes]) -> int:
        """Remove the lines with one of some marks from the logs of a day; return how many."""
        removed = 0
        names = self._file.rows("SELECT name, length FROM log WHERE name LIKE ?", (f"{day}/%",))
        for name, length in names:
            path = place(self._silo_path, "logs", f"{name}.log")
            try:
                with open(path, "rb") as file:
                    lines = file.read(length).splitlines(keepends=True)
            except FileNotFoundError:
                continue
            kept = [line for line in lines if not any(mark in line for mark in marks)]
            if len(kept) < len(lines):
                replace_file(path, b"".join(kept))
                removed += len(lines) - len(kept)
                with self._file.transaction() as connection:
                    connection.execute(
                        "UPDATE log SET length = ?, lines = ? WHERE name = ?",
                        (sum(map(len, kept)), len(kept), name),
                    )
        return removed

    def lines(self) -> dict[str, int]:
        """Return how many lines are in all logs of each kind."""
        found: dict[str, int] = {}
        for name, lines in self._file.rows("SELECT name, lines FROM log"):
            kind = name.partition("/")[2]
            found[kind] = found.get(kind, 0) + lines
        return found

    def _lengths(self, names: Iterable[str]) -> dict[str, int]:
        asked = tuple(names)
        marks = ",".join("?" for _ in asked)
        sql = f"SELECT name, length FROM log WHERE name IN ({marks})"  # noqa: S608
        return dict(self._file.rows(sql, asked))

    def _append(self, name: str, length: int, lines: list[bytes]) -> int:
        """Append lines to a log of a known length; return its length after them."""
        path = place(self._silo_path, "logs", f"{name}.log")
        make_parents(path, self._silo_path)
        is_new = not os.path.exists(path)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
        try:
            # A log that somebody has moved away begins anew.
            length = min(length, os.fstat(fd).st_size)
            os.ftruncate(fd, length)
            with open(fd, "ab", closefd=False) as file:
                file.write(b"".join(line + b"\n" for line in lines))
            os.fsync(fd)
            if is_new:
                flush_directory(os.path.dirname(path))
            return os.fstat(fd).st_size
        finally:
            os.close(fd)


def journal_path(silo_path: str) -> str:
    """Return the path of the journal."""
    return place(silo_path, "live.sqlite")


def _name(log: Log) -> str:
    return "/".join(log)
