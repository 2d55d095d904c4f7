"""What waits to be pushed, and what was: ``usage/push.sqlite``.

A row holds what the profile sends of a request. Once the gatherer has acknowledged it, only the
row's id is left, a digest under the key of the day, so that the same line is not sent again. A row
is marked before it is sent: if the process dies, it is known that its outcome is not.
"""

import json
import os
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum

from recordsilo.disk.atomic_file import append_lines
from silowork.ledger_file import LedgerFile, LedgerKind, Mode
from usagestats.errors import CountsUnreadable
from usagestats.store.places import place

_SCHEMA = """
CREATE TABLE IF NOT EXISTS push (
  id BLOB PRIMARY KEY, day TEXT NOT NULL, state INTEGER NOT NULL, tries INTEGER NOT NULL,
  due REAL NOT NULL, item TEXT NOT NULL, content TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS push_by_state ON push (state, tries, due);
CREATE TABLE IF NOT EXISTS consent (text TEXT PRIMARY KEY, given REAL NOT NULL) WITHOUT ROWID
"""
KIND = LedgerKind(_SCHEMA, CountsUnreadable, version=1, synchronous="FULL")


class State(IntEnum):
    """Where a row is."""

    WAITING = 0
    SENDING = 1
    """The request was sent, or was about to be; its outcome is not known."""
    ACKNOWLEDGED = 2
    UNSENDABLE = 3


@dataclass(frozen=True, slots=True)
class Row:
    """A use that waits.

    Attributes:
        row_id: The same for the same line, whenever it is read.
        day: Of the use, ISO 8601.
        content: What `openurl.collected` returned.
        was_sending: Whether it may have been sent before.
    """

    row_id: bytes
    day: str
    item: str
    content: Mapping[str, str]
    tries: int = 0
    was_sending: bool = False


class Outbox:
    """The outbox of a Silo.

    Raises (every method):
        CountsUnreadable, OSError: As `LedgerFile`.
    """

    def __init__(self, silo_path: str, mode: Mode = "create") -> None:
        path = outbox_path(silo_path)
        if mode == "create" and not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        self._file = LedgerFile(path, KIND, mode)
        with self._file.reading() as connection:
            # Otherwise what was sent would stay in the file's free pages.
            connection.execute("PRAGMA secure_delete = ON")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> "Outbox":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def add(self, rows: Iterable[Row]) -> None:
        """Add uses; those that are known, waiting or not, stay as they are."""
        with self._file.transaction() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO push VALUES (?, ?, 0, 0, 0, ?, ?)",
                ((one.row_id, one.day, one.item, json.dumps(dict(one.content))) for one in rows),
            )

    def next(self) -> Row | None:
        """Return the use to send now: those that failed less often come first."""
        rows = self._file.rows(
            "SELECT id, day, item, content, tries, state FROM push"
            " WHERE state IN (0, 1) AND due <= ? ORDER BY tries, due, id LIMIT 1",
            (time.time(),),
        )
        for row_id, day, item, content, tries, state in rows:
            return Row(row_id, day, item, json.loads(content), tries, state == State.SENDING)
        return None

    def sending(self, row: Row) -> None:
        """Note that a use is about to be sent."""
        self._set(row, State.SENDING, row.tries)

    def put_back(self, row: Row, seconds: float) -> None:
        """Note that a use was not acknowledged, and that it waits so long."""
        self._set(row, State.SENDING, row.tries + 1, time.time() + seconds)

    def not_sent(self, row: Row) -> None:
        """Note that a use was certainly not sent."""
        self._set(row, State.SENDING if row.was_sending else State.WAITING, row.tries)

    def acknowledged(self, row: Row) -> None:
        """Note that the gatherer has a use; its content is deleted."""
        self._done(row, State.ACKNOWLEDGED)

    def give_up(self, silo_path: str, row: Row, reason: str) -> None:
        """Write a use to the log of what cannot be sent; its content is deleted."""
        line = {
            "at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "day": row.day,
            "record": row.item, "reason": reason, "id": row.row_id.hex(),
        }  # fmt: skip
        append_lines(unsent_path(silo_path), (json.dumps(line, ensure_ascii=False).encode(),))
        self._done(row, State.UNSENDABLE)

    def _done(self, row: Row, state: State) -> None:
        with self._file.transaction() as connection:
            connection.execute(
                "UPDATE push SET state = ?, content = '' WHERE id = ?", (state, row.row_id)
            )

    def _set(self, row: Row, state: State, tries: int, due: float = 0.0) -> None:
        with self._file.transaction() as connection:
            connection.execute(
                "UPDATE push SET state = ?, tries = ?, due = ? WHERE id = ?",
                (state, tries, due, row.row_id),
            )

    def counts(self) -> dict[State, int]:
        """Return how many uses are in each state."""
        found = dict(self._file.rows("SELECT state, count(*) FROM push GROUP BY state"))
        return {state: found.get(state, 0) for state in State}

    def expired(self, before: str) -> list[Row]:
        """Return the uses before a day that still wait."""
        rows = self._file.rows(
            "SELECT id, day, item FROM push WHERE state IN (0, 1) AND day < ?", (before,)
        )
        return [Row(row_id, day, item, {}) for row_id, day, item in rows]

    def forget(self, before: str) -> None:
        """Delete all uses before a day; their lines are no longer taken."""
        with self._file.transaction() as connection:
            connection.execute("DELETE FROM push WHERE day < ?", (before,))

    def remove(self, day: str, clients: Collection[str]) -> int:
        """Delete what waits of a client on a day, by the ``req_id`` that it has; return how many.

        It is not taken again.
        """
        rows = self._file.rows(
            "SELECT id, item, content FROM push WHERE state IN (0, 1) AND day = ?", (day,)
        )
        found = [
            Row(row_id, day, item, {})
            for row_id, item, content in rows
            if json.loads(content).get("req_id") in clients
        ]
        for row in found:
            self._done(row, State.UNSENDABLE)
        return len(found)

    def has_consent(self, text: str) -> bool:
        """Whether somebody agreed to this push."""
        return bool(self._file.rows("SELECT 1 FROM consent WHERE text = ?", (text,)))

    def consent(self, text: str) -> None:
        """Note that somebody agreed to this push."""
        with self._file.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO consent VALUES (?, ?)", (text, time.time()))


def outbox_path(silo_path: str) -> str:
    """Return the path of the outbox."""
    return place(silo_path, "push.sqlite")


def unsent_path(silo_path: str) -> str:
    """Return the path of the log of uses that cannot be sent, JSON lines."""
    return place(silo_path, "push-unsent.jsonl")


def expire(silo_path: str, outbox: Outbox, before: str) -> None:
    """Give up what is before a day, and forget what was sent of it: its lines are not taken."""
    for row in outbox.expired(before):
        outbox.give_up(silo_path, row, "its day was frozen before it was acknowledged")
    outbox.forget(before)
