"""The journal of one job: what it means to do to each record, and what it has done.

One SQLite file a job, ``curation/jobs/<id>.sqlite`` in the Silo. It is the truth about
the job: what it says *begun* is looked at again by whoever goes on, and what it says
*done* can be undone from what it keeps.
"""

import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from recordsilo.disk.atomic_file import flush_directory
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
"""
_KIND = LedgerKind(_SCHEMA, JobUnreadable)


class Doing(StrEnum):
    """How far a job is with a record."""

    PLANNED = "planned"
    BEGUN = "begun"  # about to be written, or written: to be looked at after a stop
    DONE = "done"
    UNCHANGED = "unchanged"  # there was nothing to do
    SKIPPED = "skipped"  # cannot be changed so; the reason is noted
    UNDOING = "undoing"
    UNDONE = "undone"
    KEPT = "kept"  # changed since, and so not undone; the reason is noted


@dataclass(frozen=True, slots=True)
class Entry:
    """What the journal keeps of one record.

    Attributes:
        given: What the job was given for this record alone, as JSON; may be empty.
        reason: Why it was skipped or kept.
        version: The version written.
        cursor: The current version before.
        made: Whether the version was made by the job.
        mark_before: The version's mark before (of the version copied, where it was made).
        mark_after: Its mark after.
        state_before: Its state before.
        files: Path → content before (None: it was not there), of the files written.
        changed: How many values.
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


class JobJournal:
    """One job's journal, open.

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
        """Begin a journal; it is there, whole, once this returns.

        Args:
            silo_path: The Silo's directory.
            about: What the job is, as JSON values.
            records: (identifier, what the job is given for it), each identifier once.
        """
        directory = _directory(silo_path)
        os.makedirs(directory, exist_ok=True)
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
            JobNotFound: There is none of that name.
            JobUnreadable: The file is not a journal, or is corrupt.
        """
        path = os.path.join(_directory(silo_path), job_id + SUFFIX)
        if not NEW_ID.fullmatch(job_id) or not os.path.isfile(path):
            raise JobNotFound(job_id)
        return cls(path, job_id)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> "JobJournal":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ------------------------------------------------------------------ the job

    def about(self) -> dict[str, Any]:
        """What the job is."""
        rows = self._file.rows("SELECT name, value FROM job")
        return {name: json.loads(value) for name, value in rows}

    def note(self, **values: Any) -> None:
        """Keep something about the job."""
        with self._file.transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO job VALUES (?, ?)", _as_json(values))

    # ------------------------------------------------------------------ its records

    def counts(self) -> dict[Doing, int]:
        """How many records are how far."""
        rows = self._file.rows("SELECT state, count(*) FROM record GROUP BY state")
        return {Doing(state): number for state, number in rows}

    def changed_values(self) -> int:
        """How many values the job has changed in the records that are done."""
        sums = "SELECT coalesce(sum(changed), 0) FROM record WHERE state = 'done'"
        return int(self._file.rows(sums)[0][0])

    def entries(self, *states: Doing, limit: int | None = None) -> Iterator[Entry]:
        """The records that are so far, in the job's order; streams, and sees its own notes."""
        after, left = 0, limit
        while left is None or left > 0:
            size = _CHUNK if left is None else min(_CHUNK, left)
            rows = self._rows(states, after, size)
            yield from (_entry(row) for row in rows)
            if len(rows) < size:
                return
            after, left = rows[-1][0], None if left is None else left - len(rows)

    def pages(self, *states: Doing, size: int) -> Iterator[list[Entry]]:
        """The same, by pages of at most ``size``; each is asked for after the one before."""
        after = 0
        while rows := self._rows(states, after, size):
            yield [_entry(row) for row in rows]
            after = rows[-1][0]

    def keep(self, entries: Iterable[Entry]) -> None:
        """Note how far records are; durable once this returns."""
        with self._file.transaction() as connection:
            connection.executemany(
                "UPDATE record SET state=?, reason=?, version=?, cursor=?, made=?, mark_before=?,"
                " mark_after=?, state_before=?, files=?, changed=? WHERE identifier=?",
                [_values(entry) for entry in entries],
            )

    def move(self, identifiers: Iterable[str], state: Doing) -> None:
        """Note that records are so far, all else as noted before."""
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
    """The ids of a Silo's jobs, the newest first."""
    try:
        names = os.listdir(_directory(silo_path))
    except FileNotFoundError:
        return []
    found = (name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))
    return sorted((name for name in found if NEW_ID.fullmatch(name)), reverse=True)


def remove_journal(silo_path: str, job_id: str) -> None:
    """Forget a job; whoever asks holds its lock, and knows that there is nothing to undo.

    Raises:
        JobNotFound: There is none of that name.
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


def _values(entry: Entry) -> tuple[Any, ...]:
    return (
        entry.state, entry.reason, entry.version, entry.cursor, int(entry.made),
        entry.mark_before, entry.mark_after, entry.state_before, _packed(entry.files),
        entry.changed, entry.identifier,
    )  # fmt: skip


def _entry(row: tuple[Any, ...]) -> Entry:
    _, identifier, state, given, reason, version, cursor, made, before, after, was, files, n = row
    return Entry(
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
