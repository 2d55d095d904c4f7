"""The journal of one job: what is planned for each record, and what was done.

Each job has an SQLite file, ``curation/jobs/<id>.sqlite`` in the Silo, which is authoritative.
A record that is *begun* is checked by the next run; a record that is *done* can be undone with
the data stored here.
"""

import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from recordsilo.closing import Closing
from recordsilo.disk.atomic_file import flush_directory, make_in_silo
from recordsilo.disk.names import names_in
from silocuration.errors import JobNotFound, JobUnreadable
from silowork.ledger_file import NEW_ID, LedgerFile, LedgerKind, new_id

JOBS = "curation/jobs"
SUFFIX = ".sqlite"
_CHUNK = 500

_SCHEMA = """
CREATE TABLE IF NOT EXISTS job (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS record (
    number INTEGER PRIMARY KEY,
    identifier TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    given TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    version TEXT NOT NULL DEFAULT '',
    cursor TEXT NOT NULL DEFAULT '',
    made INTEGER NOT NULL DEFAULT 0,
    mark_before TEXT NOT NULL DEFAULT '',
    mark_after TEXT NOT NULL DEFAULT '',
    state_before TEXT,
    files BLOB,
    changed INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS record_state ON record (state, number);
CREATE TABLE IF NOT EXISTS value (
    identifier TEXT NOT NULL,
    number INTEGER NOT NULL,
    what TEXT NOT NULL,
    old TEXT,
    new TEXT,
    PRIMARY KEY (identifier, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS left_out (what TEXT NOT NULL, old TEXT, new TEXT);
CREATE INDEX IF NOT EXISTS left_out_change ON left_out (what, old, new);
"""
_KIND = LedgerKind(_SCHEMA, JobUnreadable, added=frozenset({"value", "left_out"}))


class Doing(StrEnum):
    """State of a record in a job."""

    PLANNED = "planned"
    LEFT_OUT = "left out"  # by a person who looked at the preview, or by undoing the rest
    BEGUN = "begun"  # about to be written, or written: checked after a stop
    DONE = "done"
    UNCHANGED = "unchanged"  # nothing to do
    DELETED = "deleted"  # deleted at the source: there is nothing to change
    SKIPPED = "skipped"  # cannot be changed; with the reason
    UNDOING = "undoing"
    UNDONE = "undone"
    KEPT = "kept"  # changed since, so not undone; with the reason


CHANGED = (Doing.DONE, Doing.UNDOING, Doing.UNDONE, Doing.KEPT)
"""States of records that the job changed, undone or not."""
Change: TypeAlias = tuple[str, str | None, str | None]
"""Field or file, the value before, the value after; None where there was or is none."""


@dataclass(frozen=True, slots=True)
class DistinctChange:
    """A change of a value, and how often a job made it.

    Attributes:
        what: Field or file.
        old: The value before; None where there was none.
        new: The value after; None where there is none.
        count: How many values.
    """

    what: str
    old: str | None
    new: str | None
    count: int
    left_out: bool = False

    @property
    def change(self) -> Change:
        """The change alone."""
        return self.what, self.old, self.new


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """The journal's entry for one record.

    Attributes:
        given: The job's data for this record alone, as JSON; may be empty.
        reason: Why it was skipped or kept.
        version: The version written.
        cursor: The current version before.
        made: Whether the version was made by the job.
        mark_before: The version's mark before; for a new version, that of the original.
        mark_after: Its mark after.
        state_before: Its state before.
        files: Path → content before (None: did not exist), of the files written.
        changed: Number of changed values.
    """

    identifier: str
    state: Doing
    given: str = ""
    reason: str = ""
    version: str = ""
    cursor: str = ""
    made: bool = False
    mark_before: str = ""
    mark_after: str = ""
    state_before: str | None = None
    files: Mapping[str, bytes | None] | None = None
    changed: int = 0


class JobJournal(Closing):
    """The open journal of one job.

    Attributes:
        job_id: Its name.
    """

    def __init__(self, path: str, job_id: str) -> None:
        self.job_id = job_id
        self._file = LedgerFile(path, _KIND, "write").open()

    @classmethod
    def create(
        cls, silo_path: str, about: Mapping[str, Any], records: Iterable[tuple[str, str]]
    ) -> "JobJournal":
        """Create a journal, completely or not at all.

        Args:
            silo_path: The Silo's directory.
            about: Kind, title and data of the job, as JSON values.
            records: (identifier, the job's data for it), each identifier once.
        """
        directory = _directory(silo_path)
        make_in_silo(silo_path, directory)
        job_id = new_id()
        path = os.path.join(directory, job_id + SUFFIX)

        def fill(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT INTO job VALUES (?, ?)", _as_json(about))
            connection.executemany(
                "INSERT INTO record (identifier, state, given) VALUES (?, 'planned', ?)", records
            )

        LedgerFile.make(path, _KIND, fill)
        return cls(path, job_id)

    @classmethod
    def open(cls, silo_path: str, job_id: str) -> "JobJournal":
        """Open a journal by the job's id.

        Raises:
            JobNotFound: There is no such job.
            JobUnreadable: The file is not a journal, or is corrupt.
        """
        path = os.path.join(_directory(silo_path), job_id + SUFFIX)
        if not NEW_ID.fullmatch(job_id) or not os.path.isfile(path):
            raise JobNotFound(job_id)
        return cls(path, job_id)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    # ------------------------------------------------------------------ the job

    def about(self) -> dict[str, Any]:
        """Return kind, title and data of the job."""
        rows = self._file.rows("SELECT name, value FROM job")
        return {name: json.loads(value) for name, value in rows}

    def note(self, **values: Any) -> None:
        """Store further values about the job."""
        with self._file.transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO job VALUES (?, ?)", _as_json(values))

    # ------------------------------------------------------------------ its records

    def counts(self, states: Iterable[Doing] = tuple(Doing)) -> dict[Doing, int]:
        """Return the number of records in each of these states that has any."""
        rows = self._file.rows(
            "SELECT state, count(*) FROM record"
            " WHERE state IN (SELECT value FROM json_each(?)) GROUP BY state",
            (json.dumps(list(states)),),
        )
        return {Doing(state): number for state, number in rows}

    def changed_values(self) -> int:
        """Return the number of values changed in records that are done."""
        sums = "SELECT coalesce(sum(changed), 0) FROM record WHERE state = 'done'"
        return int(self._file.rows(sums)[0][0])

    def entries(self, *states: Doing, limit: int | None = None) -> Iterator[JournalEntry]:
        """Yield records in these states, in the job's order; sees changes made meanwhile."""
        after, left = 0, limit
        while left is None or left > 0:
            size = _CHUNK if left is None else min(_CHUNK, left)
            rows = self._rows(states, after, size)
            yield from (_entry(row) for row in rows)
            if len(rows) < size:
                return
            after, left = rows[-1][0], None if left is None else left - len(rows)

    def pages(self, *states: Doing, size: int) -> Iterator[list[JournalEntry]]:
        """Yield them in pages of at most ``size``; a page is read when it is needed."""
        after = 0
        while rows := self._rows(states, after, size):
            yield [_entry(row) for row in rows]
            after = rows[-1][0]

    def distinct_changes(self, limit: int, after: int = 0) -> list[DistinctChange]:
        """Return what was or will be changed, each change once, the most frequent first.

        Args:
            limit: Return at most so many.
            after: Omit so many.
        """
        rows = self._file.rows(
            "SELECT what, old, new, count(*), EXISTS (SELECT 1 FROM left_out AS l"
            " WHERE l.what = v.what AND l.old IS v.old AND l.new IS v.new)"
            " FROM value AS v GROUP BY what, old, new"
            " ORDER BY count(*) DESC, what, old, new LIMIT ? OFFSET ?",
            (limit, after),
        )
        return [DistinctChange(what, old, new, n, bool(out)) for what, old, new, n, out in rows]

    def records_of(
        self, change: Change, limit: int, after: int = 0
    ) -> list[tuple[int, JournalEntry]]:
        """Return the records with a change, and their numbers.

        Args:
            change: What is changed.
            limit: Return at most so many.
            after: Return those with higher numbers.
        """
        names = self._file.rows(
            "SELECT DISTINCT r.number, r.identifier FROM value AS v JOIN record AS r"
            " USING (identifier) WHERE v.what = ? AND v.old IS ? AND v.new IS ? AND r.number > ?"
            " ORDER BY r.number LIMIT ?",
            (*change, after, limit),
        )
        return [
            (number, _entry(row))
            for number, _name in names
            for row in self._rows(tuple(Doing), number - 1, 1)
        ]

    def forget_changes(self) -> None:
        """Delete the values that an unfinished preview stored, unless a record was processed."""
        with self._file.transaction() as connection:
            connection.execute("DROP INDEX IF EXISTS value_change")
            connection.execute(
                "DELETE FROM value WHERE NOT EXISTS"
                " (SELECT 1 FROM record WHERE state NOT IN ('planned', 'left out'))"
            )

    def index_changes(self) -> None:
        """Index the changed values, so that questions about one of a million are quick."""
        with self._file.transaction() as connection:
            connection.execute(
                "CREATE INDEX IF NOT EXISTS value_change ON value (what, old, new, identifier)"
            )

    def left_out(self) -> frozenset[Change]:
        """Return the changes that are not to be made."""
        return frozenset(self._file.rows("SELECT what, old, new FROM left_out"))

    def choose(self, changes: Mapping[Change, bool]) -> None:
        """Store which changes are to be made, and which not."""
        with self._file.transaction() as connection:
            connection.executemany(
                "DELETE FROM left_out WHERE what = ? AND old IS ? AND new IS ?", changes
            )
            connection.executemany(
                "INSERT INTO left_out VALUES (?, ?, ?)",
                [change for change, is_made in changes.items() if not is_made],
            )

    def to_change(self) -> tuple[int, int]:
        """Return how many planned records and values are to be changed, after a preview."""
        records, values = self._file.rows(
            "SELECT count(DISTINCT v.identifier), count(*) FROM value AS v JOIN record AS r"
            " USING (identifier) WHERE r.state = 'planned' AND NOT EXISTS (SELECT 1 FROM left_out"
            " AS l WHERE l.what = v.what AND l.old IS v.old AND l.new IS v.new)"
        )[0]
        return records, values

    def changed_records(
        self, limit: int, after: int = 0
    ) -> list[tuple[int, JournalEntry, list[Change]]]:
        """Return records that were changed, with their numbers and changed values.

        Args:
            limit: Return at most so many.
            after: Return those with higher numbers.
        """
        rows = self._rows(CHANGED, after, limit)
        names = json.dumps([row[1] for row in rows])
        values: dict[str, list[Change]] = {}
        for identifier, *change in self._file.rows(
            "SELECT identifier, what, old, new FROM value"
            " WHERE identifier IN (SELECT value FROM json_each(?)) ORDER BY identifier, number",
            (names,),
        ):
            values.setdefault(identifier, []).append((change[0], change[1], change[2]))
        return [(row[0], _entry(row), values.get(row[1], [])) for row in rows]

    def keep(
        self, entries: Iterable[JournalEntry], values: Mapping[str, Sequence[Change]] | None = None
    ) -> None:
        """Store entries, and the changed values of records; durable when this returns."""
        values = values or {}
        with self._file.transaction() as connection:
            connection.executemany(
                "DELETE FROM value WHERE identifier = ?", ((one,) for one in values)
            )
            connection.executemany(
                "INSERT INTO value VALUES (?, ?, ?, ?, ?)",
                (
                    (identifier, number, *change)
                    for identifier, changes in values.items()
                    for number, change in enumerate(changes)
                ),
            )
            connection.executemany(
                "UPDATE record SET state=?, reason=?, version=?, cursor=?, made=?, mark_before=?,"
                " mark_after=?, state_before=?, files=?, changed=? WHERE identifier=?",
                [_values(entry) for entry in entries],
            )

    def move(self, identifiers: Iterable[str], state: Doing) -> None:
        """Store a new state for records, without other changes."""
        with self._file.transaction() as connection:
            connection.executemany(
                "UPDATE record SET state=? WHERE identifier=?",
                [(state, identifier) for identifier in identifiers],
            )

    def _rows(self, states: Sequence[Doing], after: int, size: int) -> list[tuple[Any, ...]]:
        return self._file.rows(
            "SELECT number, identifier, state, given, reason, version, cursor, made, mark_before,"
            " mark_after, state_before, files, changed FROM record"
            " WHERE number > ? AND state IN (SELECT value FROM json_each(?))"
            " ORDER BY number LIMIT ?",
            (after, json.dumps(states), size),
        )


def job_ids(silo_path: str) -> list[str]:
    """Return the ids of a Silo's jobs, newest first."""
    return names_in(_directory(silo_path), SUFFIX, NEW_ID)[::-1]


def remove_journal(silo_path: str, job_id: str) -> None:
    """Delete a journal; the caller holds its lock and knows that there is nothing to undo.

    Raises:
        JobNotFound: There is no such job.
    """
    if not NEW_ID.fullmatch(job_id):
        raise JobNotFound(job_id)
    try:
        os.unlink(os.path.join(_directory(silo_path), job_id + SUFFIX))
    except FileNotFoundError:
        raise JobNotFound(job_id) from None
    flush_directory(_directory(silo_path))


def _directory(silo_path: str) -> str:
    return os.path.join(silo_path, *JOBS.split("/"))


def _as_json(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, json.dumps(value)) for name, value in values.items()]


def _values(entry: JournalEntry) -> tuple[Any, ...]:
    return (
        entry.state, entry.reason, entry.version, entry.cursor, int(entry.made),
        entry.mark_before, entry.mark_after, entry.state_before, _packed(entry.files),
        entry.changed, entry.identifier,
    )  # fmt: skip


def _entry(row: tuple[Any, ...]) -> JournalEntry:
    _, identifier, state, given, reason, version, cursor, made, before, after, was, files, n = row
    return JournalEntry(
        identifier, Doing(state), given, reason, version, cursor, bool(made), before, after, was,
        _unpacked(files), n,
    )  # fmt: skip


def _packed(files: Mapping[str, bytes | None] | None) -> bytes | None:
    if files is None:
        return None
    plain = {
        path: None if content is None else content.decode("latin-1")
        for path, content in files.items()
    }
    return zlib.compress(json.dumps(plain).encode(), 1)


def _unpacked(packed: bytes | None) -> dict[str, bytes | None] | None:
    if packed is None:
        return None
    plain = json.loads(zlib.decompress(packed))
    return {path: None if text is None else text.encode("latin-1") for path, text in plain.items()}
