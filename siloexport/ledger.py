"""The ledger of one target: what was exported there, by which run, and the state of each step.

Each target has one SQLite file in the Silo, ``curation/exports/<digest of the target's
key>.sqlite``. A note is written before the step that it names, and survives a kill of the
process once the call has returned, so the ledger always says where to look. A power cut may
lose the last notes but not the file: the target has the deposits under their keys, and they
are found there at the next export.
"""

import errno
import fcntl
import json
import os
import re
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from recordsilo.closing import Closing
from recordsilo.disk.atomic_file import open_lock_file
from recordsilo.disk.digest import Digest
from recordsilo.disk.names import names_in
from siloexport.errors import LedgerInUse, LedgerUnreadable, RunNotFound
from siloexport.ledger_tables import (
    ENTRIES,
    HOW,
    SCHEMA,
    ExportRun,
    LedgerEntry,
    entry_of,
    finish_deposits,
    held_of,
    insert_deposits,
    run_of,
)
from siloexport.plan import Action, KnownRecord, digest_of
from siloexport.values import (
    UNFINISHED,
    CreatedThing,
    Deletions,
    Deposited,
    DepositState,
    FoundInTarget,
    SizeThen,
)
from silowork.ledger_file import LedgerFile, LedgerKind, Mode, new_id

EXPORTS = "curation/exports"
_KIND = LedgerKind(SCHEMA, LedgerUnreadable, synchronous="NORMAL", has_log=True)
CANNOT_WRITE = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
"""The errors of a Silo that cannot be written."""
_NAME = re.compile("[0-9a-f]{24}")
_CHUNK = 500
_ATTEMPTS = 20


def ledger_path(silo_path: str, key: str) -> str:
    """Return the path of the ledger of a target."""
    return os.path.join(silo_path, *EXPORTS.split("/"), f"{digest_of(key)[:24]}.sqlite")


def ledgers_of(silo_path: str) -> list[str]:
    """Return the paths of a Silo's ledgers, below its directory."""
    names = names_in(os.path.join(silo_path, *EXPORTS.split("/")), ".sqlite", _NAME)
    return [f"{EXPORTS}/{name}.sqlite" for name in names]


class Ledger(Closing):
    """An open ledger. Threads may share it; only one process at a time may write to it.

    Args:
        path: The file; ``":memory:"`` for a ledger that is not stored.

    Raises:
        LedgerUnreadable: The file is not a ledger, or is corrupt.
    """

    def __init__(self, path: str, mode: Mode = "write") -> None:
        self.path = path
        self._file = LedgerFile(path, _KIND, "create" if path == ":memory:" else mode).open()
        self._only_reads = mode == "read"
        self._flock: int | None = None
        self._digests: dict[Digest, str] = {}
        """What the next deposits store; a kill loses it, and it is computed again."""

    @classmethod
    def open(cls, silo_path: str, key: str, shown: str) -> "Ledger":
        """Open the ledger of a target for a run, or create it; no other run may open it.

        Args:
            key: Of the target.
            shown: Name of the target for people.

        Raises:
            LedgerInUse: Another run to this target has not ended.
            LedgerUnreadable: The file is not a ledger, or is corrupt.
        """
        path = ledger_path(silo_path, key)
        flock = _only_one(f"{path}.lock", shown)
        try:
            if not os.path.exists(path):
                about = [("key", key), ("shown", shown)]
                LedgerFile.make(
                    path, _KIND, lambda c: c.executemany("INSERT INTO about VALUES (?, ?)", about)
                )
            ledger = cls(path)
        except BaseException:
            os.close(flock)
            raise
        ledger._flock = flock
        return ledger

    @classmethod
    def look(cls, silo_path: str, key: str) -> "Ledger":
        """Open the ledger to read it, also during a run; an empty one if the file does not exist.

        Raises:
            LedgerUnreadable: The file is not a ledger, or is corrupt.
        """
        path = ledger_path(silo_path, key)
        return cls(path if os.path.exists(path) else ":memory:", "read")

    @classmethod
    def for_run(cls, silo_path: str, key: str, shown: str) -> "Ledger":
        """The same as `open`; where the Silo cannot be written, a copy that is not stored.

        Raises:
            LedgerInUse, LedgerUnreadable: See `open`.
        """
        try:
            return cls.open(silo_path, key, shown)
        except OSError as error:
            if error.errno not in CANNOT_WRITE:
                raise
        ledger = cls(":memory:")
        with cls.look(silo_path, key) as kept:
            kept._file.copy_to(ledger._file)
        return ledger

    @property
    def is_writable(self) -> bool:
        """Whether it was opened for a run, not only for reading."""
        return self._flock is not None

    def close(self) -> None:
        """Close the file and release the lock for other runs."""
        with suppress(OSError, LedgerUnreadable):  # they are computed again
            self._store_all_digests()
        self._file.close()
        if self._flock is not None:
            os.close(self._flock)
            self._flock = None

    # -- runs ---------------------------------------------------------------------------

    def begin_run(self, arguments: Mapping[str, Any]) -> ExportRun:
        """Note that a run begins."""
        run_id = new_id()
        with self._file.transaction() as connection:
            connection.execute(
                "INSERT INTO run (id, arguments, started) VALUES (?, ?, ?)",
                (run_id, json.dumps(arguments), _now()),
            )
        return self.run(run_id)

    def end_run(self, run_id: str, how: str, counts: Mapping[str, int]) -> None:
        """Note how a run ended.

        Args:
            how: ``done``, ``stopped`` or ``broken off``.
            counts: Kind or result of actions → number.
        """
        with self._file.transaction() as connection:
            connection.execute(
                "UPDATE run SET ended = ?, how = ?, counts = ? WHERE id = ?",
                (_now(), how, json.dumps(counts), run_id),
            )

    def run(self, run_id: str) -> ExportRun:
        """Return a run by its id.

        Raises:
            RunNotFound: The ledger has no such run.
        """
        for run in self.runs():
            if run.run_id == run_id:
                return run
        known = ", ".join(run.run_id for run in self.runs()[:5]) or "none"
        raise RunNotFound(f"the ledger has no run {run_id}; it has {known}")

    def runs(self) -> list[ExportRun]:
        """Return all runs, the newest first."""
        rows = self._file.rows("SELECT id, arguments, started, ended, how, counts FROM run")
        return [run_of(row) for row in reversed(rows)]

    # -- what is known of a record --------------------------------------------------------

    def known(self, identifier: str) -> KnownRecord:
        """Return what the ledger knows of a record, for the plan."""
        return self.known_of([identifier])[identifier]

    def known_of(self, identifiers: Collection[str]) -> dict[str, KnownRecord]:
        """Return what the ledger knows of each of some records; of a new one, nothing."""
        objects = self._of(
            "SELECT identifier, uri, version_uri, token, version, key, deposits, withdrawn,"
            " withdrawn_as FROM object WHERE identifier",
            identifiers,
        )
        found = dict.fromkeys(identifiers, KnownRecord())
        keys: dict[str, dict[str, str]] = {str(row[0]): {} for row in objects}
        files: dict[str, dict[str, str]] = {name: {} for name in keys}
        versions = "SELECT identifier, version, key, files FROM version WHERE identifier"
        for name, version, key, digest in self._of(versions, keys):
            keys[name][version], files[name][version] = key, digest
        for name, *row in objects:
            held = held_of(tuple(row))
            found[name] = KnownRecord(held, keys[name], files[name], str(row[-1]))
        return found

    def _of(self, select: str, values: Collection[str], order: str = "") -> list[tuple[Any, ...]]:
        """Return the rows of a statement, which ends in a column, for some of its values."""
        if not values:
            return []
        marks = ", ".join("?" * len(values))
        return self._file.rows(f"{select} IN ({marks}) {order}", tuple(values))

    def held(self, after: str = "", limit: int = _CHUNK) -> list[str]:
        """Return identifiers of records that the target holds, by code point, after a given one."""
        rows = self._file.rows(
            "SELECT identifier FROM object WHERE identifier > ? ORDER BY identifier LIMIT ?",
            (after, limit),
        )
        return [str(row[0]) for row in rows]

    def versions(self, identifier: str) -> list[tuple[str, str, str]]:
        """Return (version, key, URI) of each version at its last deposit, in order."""
        rows = self._file.rows(
            "SELECT version, key, version_uri FROM version WHERE identifier = ? ORDER BY number",
            (identifier,),
        )
        return [(str(version), str(key), str(uri)) for version, key, uri in rows]

    def counts(self) -> dict[str, int]:
        """Count the records that the target holds, and the deposits in each state."""
        (records,) = self._file.rows("SELECT count(*) FROM object WHERE deposits > 0")
        states = self._file.rows("SELECT state, count(*) FROM deposit GROUP BY state")
        return {"records": int(records[0]), **{str(state): int(n) for state, n in states}}

    # -- deposits -----------------------------------------------------------------------

    def begin(self, run_id: str, action: Action, how: Deletions | None = None) -> "LedgerEntry":
        """Note that a deposit begins, before any of it is sent.

        Args:
            action: What the deposit carries out.
            how: For a withdrawal: mark or delete; None for a deposit.
        """
        facts = {} if how is None else {HOW: str(how)}
        return self.begin_all(run_id, [(action, DepositState.OPEN, facts)])[0]

    def begin_all(
        self, run_id: str, begun: Iterable[tuple[Action, DepositState, Mapping[str, str]]]
    ) -> list["LedgerEntry"]:
        """Note that deposits begin, all or none.

        Args:
            begun: What each deposit carries out, its state, and what the target noted.
        """
        with self._file.transaction() as connection:
            self._store_digests(connection)
            return insert_deposits(connection, run_id, begun, _now())

    def entry(self, number: int) -> LedgerEntry:
        """Return a deposit with its current state."""
        rows = self._file.rows(f"{ENTRIES} WHERE number = ?", (number,))
        return entry_of(rows[0])

    def unfinished(self) -> list[LedgerEntry]:
        """Return the deposits whose end is unknown, in the order in which they began."""
        rows = self._file.rows(f"{ENTRIES} WHERE state IN (?, ?) ORDER BY number", UNFINISHED)
        return [entry_of(row) for row in rows]

    def broken_off(self, identifier: str) -> list[LedgerEntry]:
        """Return the failed attempts at a record since its last success, the newest first.

        These are the last few of those for which the target noted something.
        """
        ((done,),) = self._file.rows(
            "SELECT coalesce(max(number), 0) FROM deposit"
            " WHERE identifier = ? AND state IN (?, ?, ?)",
            (identifier, DepositState.DONE, DepositState.WITHDRAWN, DepositState.ROLLED_BACK),
        )
        where = "identifier = ? AND number > ? AND facts != ? ORDER BY number DESC LIMIT ?"
        rows = self._file.rows(f"{ENTRIES} WHERE {where}", (identifier, done, "{}", _ATTEMPTS))
        return [entry_of(row) for row in rows]

    def noted(self, identifier: str, key: str) -> dict[str, str]:
        """Return the facts that the target noted at the last deposit of a record under a key."""
        return self.noted_of([identifier]).get((identifier, key), {})

    def noted_of(self, identifiers: Collection[str]) -> dict[tuple[str, str], dict[str, str]]:
        """Return (identifier, key) → the facts of `noted` for each deposit with such facts."""
        rows = self._of(
            "SELECT identifier, key, facts FROM deposit"
            " WHERE state = 'done' AND facts != '{}' AND identifier",
            identifiers,
            "ORDER BY number",
        )
        last = {(str(name), str(key)): facts for name, key, facts in rows}
        return {of: dict(json.loads(facts)) for of, facts in last.items()}

    def sizes_of(self, identifiers: Collection[str]) -> dict[tuple[str, str], SizeThen]:
        """Return (identifier, key) → how large a record was at its last deposit."""
        rows = self._of(
            "SELECT identifier, key, json_extract(facts, '$.size'), "
            "json_extract(facts, '$.changed') FROM deposit"
            " WHERE state = 'done' AND identifier",
            identifiers,
            "ORDER BY number",
        )
        last = {str(name): (str(key), *noted) for name, key, *noted in rows}
        return {
            (name, key): SizeThen(int(size), json.loads(changed or "[]"))
            for name, (key, size, changed) in last.items()
            if size is not None
        }

    def note(self, number: int, state: DepositState, facts: Mapping[str, str]) -> None:
        """Note the state of a deposit.

        Args:
            number: Of the deposit.
            state: The new state.
            facts: Are added to those noted before.
        """
        with self._file.transaction() as connection:
            connection.execute(
                "UPDATE deposit SET state = ?, facts = json_patch(facts, ?) WHERE number = ?",
                (state, json.dumps(facts), number),
            )

    def fail(self, number: int, state: DepositState, reason: str) -> None:
        """Note that a deposit failed.

        Args:
            number: Of the deposit.
            state: ``failed`` or ``conflict``.
            reason: A sentence.
        """
        self.end_all((), [(number, state, reason)])

    def finish(self, entry: LedgerEntry, came_to: Deposited) -> None:
        """Note that a deposit or a withdrawal is done, with its result."""
        self.end_all([(entry, came_to)], ())

    def end_all(
        self,
        done: Iterable[tuple[LedgerEntry, Deposited]],
        failed: Iterable[tuple[int, DepositState, str]],
    ) -> None:
        """Note how deposits ended, all or none; see `finish` and `fail`."""
        now = _now()
        with self._file.transaction() as connection:
            connection.executemany(
                "UPDATE deposit SET state = ?, reason = ?, at = ? WHERE number = ?",
                [(state, reason, now, number) for number, state, reason in failed],
            )
            finish_deposits(connection, list(done), now)

    def adopt(self, identifier: str, found: FoundInTarget, files: Mapping[str, str]) -> None:
        """Replace what is noted of a record by what the target says it holds.

        If it changed after the last deposit, no token is noted, so the next run finds a conflict.

        Args:
            found: What the target says.
            files: Version → digest of its files, for versions that are the same in the Silo.
        """
        last = found.versions[-1] if found.versions else None
        with self._file.transaction() as connection:
            connection.execute("DELETE FROM version WHERE identifier = ?", (identifier,))
            connection.execute("DELETE FROM object WHERE identifier = ?", (identifier,))
            connection.execute(
                "INSERT INTO object VALUES (?, ?, ?, ?, ?, ?, ?, ?, '')",
                (
                    identifier, found.uri, last.uri if last else "",
                    found.token if found.is_as_left else "",
                    last.version if last else "", last.key if last else "", found.deposits,
                    found.withdrawn,
                ),
            )  # fmt: skip
            for one in found.versions:
                connection.execute(
                    "INSERT OR REPLACE INTO version (identifier, version, key, files, version_uri)"
                    " VALUES (?, ?, ?, ?, ?)",
                    (identifier, one.version, one.key, files.get(one.version, ""), one.uri),
                )

    def note_changed(self, identifier: str) -> None:
        """Note that others changed the record in the target."""
        with self._file.transaction() as connection:
            connection.execute("UPDATE object SET token = '' WHERE identifier = ?", (identifier,))

    def forget(self, identifier: str) -> None:
        """Note that the target does not hold the record."""
        with self._file.transaction() as connection:
            connection.execute("DELETE FROM version WHERE identifier = ?", (identifier,))
            connection.execute("DELETE FROM object WHERE identifier = ?", (identifier,))

    # -- what a run created ---------------------------------------------------------------

    def created(self, run_id: str) -> list[CreatedThing]:
        """Return the objects that a run created, the newest first, with their tokens.

        What several records share comes last, what is below others before them.
        """
        rows = self._file.rows(
            "SELECT c.identifier, c.uri, coalesce(o.token, '') FROM created c"
            " LEFT JOIN object o USING (identifier) WHERE c.run = ?"
            " ORDER BY c.identifier = '', CASE c.identifier WHEN '' THEN -length(c.uri) END,"
            " c.rowid DESC",
            (run_id,),
        )
        return [CreatedThing(*map(str, row)) for row in rows]

    def runs_of(self, identifier: str) -> set[str]:
        """Return the ids of the runs with a finished deposit of a record."""
        rows = self._file.rows(
            "SELECT DISTINCT run FROM deposit WHERE identifier = ? AND state IN (?, ?)",
            (identifier, DepositState.DONE, DepositState.WITHDRAWN),
        )
        return {str(row[0]) for row in rows}

    def taken_back(self, run_id: str, created: CreatedThing, trace: str) -> None:
        """Note that an object that a run created was removed.

        Args:
            created: The object.
            trace: Token of the tombstone that is left; ``""`` for none.
        """
        with self._file.transaction() as connection:
            connection.execute(
                "UPDATE deposit SET state = ? WHERE identifier = ? AND run = ?",
                (DepositState.ROLLED_BACK, created.identifier, run_id),
            )
            connection.execute("DELETE FROM version WHERE identifier = ?", (created.identifier,))
            if trace:
                connection.execute(
                    "UPDATE object SET token = ?, version = '', key = '', version_uri = '',"
                    " deposits = 0, withdrawn = 1 WHERE identifier = ?",
                    (trace, created.identifier),
                )
                return
            connection.execute(
                "DELETE FROM created WHERE run = ? AND uri = ?", (run_id, created.uri)
            )
            connection.execute("DELETE FROM object WHERE identifier = ?", (created.identifier,))

    # -- digests --------------------------------------------------------------------------

    def known_sha512(self, digest: Digest) -> str | None:
        """Return the SHA-512 of content with this digest; None if it is not stored."""
        if (noted := self._digests.get(digest)) is not None:
            return noted
        rows = self._file.rows(
            "SELECT sha512 FROM sha512 WHERE sha256 = ? AND size = ?", (digest.sha256, digest.size)
        )
        return str(rows[0][0]) if rows else None

    def note_sha512(self, digest: Digest, sha512: str) -> None:
        """Store the SHA-512 of content with the next deposit that begins, or at the end.

        Nothing is stored where the ledger is only read.
        """
        if self._only_reads:
            return
        self._digests[digest] = sha512
        if len(self._digests) >= _CHUNK:
            self._store_all_digests()

    def _store_all_digests(self) -> None:
        if self._digests:
            with self._file.transaction() as connection:
                self._store_digests(connection)

    def _store_digests(self, connection: sqlite3.Connection) -> None:
        digests, self._digests = self._digests, {}
        connection.executemany(
            "INSERT OR IGNORE INTO sha512 VALUES (?, ?, ?)",
            [(one.sha256, one.size, sha512) for one, sha512 in list(digests.items())],
        )


@dataclass(frozen=True, slots=True)
class EntryPen:
    """The journal of one deposit: see `siloexport.targets.DepositJournal`."""

    ledger: Ledger
    number: int

    def opened(self, **facts: str) -> None:
        self.ledger.note(self.number, DepositState.OPEN, facts)

    def committing(self, **facts: str) -> None:
        self.ledger.note(self.number, DepositState.COMMITTING, facts)


def _only_one(path: str, shown: str) -> int:
    fd = open_lock_file(path)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise LedgerInUse(f"another export to {shown} is running; wait until it ends") from None
    return fd


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
