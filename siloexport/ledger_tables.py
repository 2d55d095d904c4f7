"""The tables of the ledger, and their rows as values."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from siloexport.plan import Action
from siloexport.values import (
    ActionKind,
    Deletions,
    Deposited,
    DepositState,
    Held,
    UnfinishedDeposit,
)

SCHEMA = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS run (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    arguments TEXT NOT NULL,
    started TEXT NOT NULL,
    ended TEXT NOT NULL DEFAULT '',
    how TEXT NOT NULL DEFAULT '',
    counts TEXT NOT NULL DEFAULT '{}'
);
CREATE TABLE IF NOT EXISTS object (
    identifier TEXT PRIMARY KEY,
    uri TEXT NOT NULL,
    version_uri TEXT NOT NULL,
    token TEXT NOT NULL,
    version TEXT NOT NULL,
    key TEXT NOT NULL,
    deposits INTEGER NOT NULL,
    withdrawn INTEGER NOT NULL,
    withdrawn_as TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS version (
    number INTEGER PRIMARY KEY,
    identifier TEXT NOT NULL,
    version TEXT NOT NULL,
    key TEXT NOT NULL,
    files TEXT NOT NULL,
    version_uri TEXT NOT NULL,
    UNIQUE (identifier, version)
);
CREATE TABLE IF NOT EXISTS deposit (
    number INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    identifier TEXT NOT NULL,
    version TEXT NOT NULL,
    key TEXT NOT NULL,
    files TEXT NOT NULL,
    withdrawal INTEGER NOT NULL,
    state TEXT NOT NULL,
    facts TEXT NOT NULL DEFAULT '{}',
    uri TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS deposit_of ON deposit (identifier, number);
CREATE INDEX IF NOT EXISTS deposit_unfinished ON deposit (state, number)
    WHERE state IN ('open', 'committing');
CREATE TABLE IF NOT EXISTS created (
    run TEXT NOT NULL,
    identifier TEXT NOT NULL,
    uri TEXT NOT NULL,
    UNIQUE (run, uri)
);
CREATE TABLE IF NOT EXISTS sha512 (
    sha256 TEXT NOT NULL,
    size INTEGER NOT NULL,
    sha512 TEXT NOT NULL,
    PRIMARY KEY (sha256, size)
) WITHOUT ROWID;
"""
ENTRIES = (
    "SELECT number, run, identifier, version, key, files, withdrawal, state, facts FROM deposit"
)
"""Selects rows for `entry_of`."""

HOW = "how"
"""The fact that says how a record is withdrawn."""


@dataclass(frozen=True, slots=True)
class ExportRun:
    """A run in the ledger.

    Attributes:
        ended: When it ended; empty while it runs, or if it was killed.
        how: How it ended: ``done``, ``stopped`` or ``broken off``; or ``""``.
    """

    run_id: str
    arguments: Mapping[str, Any]
    started: str
    ended: str
    how: str
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A deposit or a withdrawal in the ledger."""

    number: int
    run_id: str
    identifier: str
    version: str
    key: str
    files: str
    withdrawal: bool
    state: DepositState
    facts: Mapping[str, str]

    def left(self, held: Held | None) -> UnfinishedDeposit:
        """Return it as a target gets it to find out whether it was done."""
        return UnfinishedDeposit(
            self.identifier, self.version, self.key, self.state, self.facts, held, self.withdrawal
        )


def run_of(row: tuple[Any, ...]) -> ExportRun:
    """Return the run in a row."""
    run_id, arguments, started, ended, how, counts = row
    return ExportRun(run_id, json.loads(arguments), started, ended, how, json.loads(counts))


def entry_of(row: tuple[Any, ...]) -> LedgerEntry:
    """Return the deposit in a row."""
    number, run_id, identifier, version, key, files, withdrawal, state, facts = row
    return LedgerEntry(
        number, run_id, identifier, version, key, files, bool(withdrawal),
        DepositState(state), json.loads(facts),
    )  # fmt: skip


def held_of(row: tuple[Any, ...]) -> Held:
    """Return what the target holds of a record, from its row."""
    uri, version_uri, token, version, key, deposits, withdrawn, _ = row
    return Held(uri, version_uri, token, version, key, int(deposits), bool(withdrawn))


def insert_deposits(
    connection: sqlite3.Connection,
    run_id: str,
    begun: Iterable[tuple[Action, DepositState, Mapping[str, str]]],
    now: str,
) -> list[LedgerEntry]:
    """Note that deposits begin.

    Args:
        connection: To the ledger, in a transaction.
        run_id: Of their run.
        begun: What each deposit carries out, its state, and what the target noted.
        now: When they begin.
    """
    ((last,),) = connection.execute("SELECT coalesce(max(number), 0) FROM deposit")
    entries = [
        LedgerEntry(
            number, run_id, action.identifier, action.version, action.key, action.files,
            action.kind is ActionKind.WITHDRAW, state, facts,
        )
        for number, (action, state, facts) in enumerate(begun, last + 1)
    ]  # fmt: skip
    connection.executemany(
        "INSERT INTO deposit"
        " (number, run, identifier, version, key, files, withdrawal, state, facts, at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                one.number, run_id, one.identifier, one.version, one.key, one.files,
                one.withdrawal, one.state, json.dumps(one.facts), now,
            )
            for one in entries
        ],
    )  # fmt: skip
    return entries


def finish_deposits(
    connection: sqlite3.Connection, done: Sequence[tuple[LedgerEntry, Deposited]], now: str
) -> None:
    """Note that deposits and withdrawals are done, with their results.

    Args:
        connection: To the ledger, in a transaction.
        done: Each with its result; of other records each.
        now: When they ended.
    """
    connection.executemany(
        "UPDATE deposit SET state = ?, uri = ?, at = ? WHERE number = ?",
        [
            (
                DepositState.WITHDRAWN if entry.withdrawal else DepositState.DONE,
                came_to.version_uri or came_to.uri, now, entry.number,
            )
            for entry, came_to in done
        ],
    )  # fmt: skip
    connection.executemany(
        "INSERT OR IGNORE INTO created VALUES (?, ?, ?)",
        [
            (entry.run_id, identifier, uri)
            for entry, came_to in done
            for identifier, uris in ((entry.identifier, came_to.created), ("", came_to.shared))
            for uri in uris
        ],
    )
    _note_deposited(connection, [one for one in done if not one[0].withdrawal])
    for entry, came_to in done:
        if entry.withdrawal:
            _note_withdrawn(connection, entry, came_to)
            if entry.facts.get(HOW) == Deletions.DELETE:
                _note_deleted(connection, entry.identifier)


def _note_deposited(
    connection: sqlite3.Connection, done: Sequence[tuple[LedgerEntry, Deposited]]
) -> None:
    """Note that the target holds what was deposited."""
    connection.executemany(
        "INSERT INTO object VALUES (?, ?, ?, ?, ?, ?, ?, 0, '') ON CONFLICT (identifier) DO UPDATE"
        " SET uri = excluded.uri, version_uri = excluded.version_uri, token = excluded.token,"
        " version = excluded.version, key = excluded.key, withdrawn = 0, withdrawn_as = '',"
        " deposits = coalesce(?, deposits + ?)",
        [
            (
                entry.identifier, came_to.uri, came_to.version_uri, came_to.token, entry.version,
                entry.key, came_to.deposits or 1, came_to.deposits, 0 if came_to.was_there else 1,
            )
            for entry, came_to in done
        ],
    )  # fmt: skip
    connection.executemany(
        "INSERT OR REPLACE INTO version (identifier, version, key, files, version_uri)"
        " VALUES (?, ?, ?, ?, ?)",
        [
            (entry.identifier, entry.version, entry.key, entry.files, came_to.version_uri)
            for entry, came_to in done
        ],
    )


def _note_withdrawn(connection: sqlite3.Connection, entry: LedgerEntry, came_to: Deposited) -> None:
    """Note that the record was withdrawn from the target."""
    connection.execute(
        "UPDATE object SET withdrawn = 1, withdrawn_as = ?, token = ?,"
        " deposits = coalesce(?, deposits + ?) WHERE identifier = ?",
        (
            entry.key, came_to.token, came_to.deposits, 0 if came_to.was_there else 1,
            entry.identifier,
        ),
    )  # fmt: skip


def _note_deleted(connection: sqlite3.Connection, identifier: str) -> None:
    """Note that the withdrawal removed all versions from the target."""
    connection.execute("UPDATE object SET deposits = 0 WHERE identifier = ?", (identifier,))
    connection.execute("DELETE FROM version WHERE identifier = ?", (identifier,))
