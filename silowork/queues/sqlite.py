"""Queues in a file: durable, for the processes of one machine, and without a server.

Messages that are done keep their row without its body, which is the memory of their keys. One that
was taken stays ``open``, and is due when its lease is over.
"""

import json
import secrets
import sqlite3
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recordsilo.closing import Closing
from silowork.errors import QueuesUnreadable
from silowork.ledger_file import LedgerFile, LedgerKind, Mode
from silowork.queues.group_commit import GroupCommit
from silowork.queues.values import LONGEST_WAIT, Message, MessageState, Queued, QueueSize

SCHEMA = """
CREATE TABLE IF NOT EXISTS message (
  number INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, key TEXT, body BLOB NOT NULL,
  state TEXT NOT NULL, due REAL NOT NULL, tries INTEGER NOT NULL, lease TEXT NOT NULL,
  reason TEXT NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS message_by_key ON message (queue, key) WHERE key IS NOT NULL;
CREATE INDEX IF NOT EXISTS message_by_state ON message (queue, state, due, number);
CREATE TABLE IF NOT EXISTS mark (name TEXT PRIMARY KEY, reached TEXT NOT NULL) WITHOUT ROWID
"""
VERSION = 2
"""Of the file."""
KIND = LedgerKind(SCHEMA, QueuesUnreadable, VERSION, has_log=True)
WORN = "it was taken {} times, and its takers never said how it ended"
_SECONDS_BETWEEN_LOOKS = 0.1
_LONG_AGO = -1e12
_IN_STATE = {
    MessageState.WAITING: "state = 'open' AND due <= :now",
    MessageState.LATER: "state = 'open' AND due > :now AND lease = ''",
    MessageState.TAKEN: "state = 'open' AND due > :now AND lease != ''",
    MessageState.DEAD: "state = 'dead'",
}


class SqliteQueues(Closing):
    """Queues in a file; see `silowork.queues.values.Queues`.

    Args:
        mode: As of `LedgerFile`.
        lease: Seconds after which a message is taken again.
        most_tries: A message that was taken so often is a dead letter when it fails; 0: never.
        kind: Of the file, for a file with other tables beside `SCHEMA`.
    """

    def __init__(
        self,
        path: str,
        mode: Mode = "create",
        *,
        lease: float = 60.0,
        most_tries: int = 5,
        kind: LedgerKind = KIND,
    ) -> None:
        self.file = LedgerFile(path, kind, mode)
        self._group = GroupCommit(self.file)
        self._lease, self._most_tries = lease, most_tries or sys.maxsize

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    # ------------------------------------------------------------------ in

    def put(self, messages: Iterable[Message], mark: tuple[str, str] | None = None) -> int:
        known = list(messages)

        def change(connection: sqlite3.Connection) -> int:
            if mark is not None:
                connection.execute("INSERT OR REPLACE INTO mark VALUES (?, ?)", mark)
            return _put(connection, known)

        return self._group.change(change)

    def mark(self, name: str) -> str:
        for (reached,) in self.file.rows("SELECT reached FROM mark WHERE name = ?", (name,)):
            return str(reached)
        return ""

    # ------------------------------------------------------------------ out

    def take(self, queue: str, most: int = 1, wait: float = 0.0) -> list[Queued]:
        end = time.monotonic() + wait
        while True:
            while self._is_due(queue) or self._bring_back(queue):
                if found := self._group.change(
                    lambda connection: self._take(connection, queue, most)
                ):
                    return found
            if (left := end - time.monotonic()) <= 0:
                return []
            time.sleep(min(left, _SECONDS_BETWEEN_LOOKS))

    def _is_due(self, queue: str) -> bool:
        where = "SELECT 1 FROM message WHERE queue = ? AND state = 'open' AND due <= ? LIMIT 1"
        return bool(self.file.rows(where, (queue, time.time())))

    def _bring_back(self, queue: str) -> bool:
        """Make due what lies further ahead than any wait: the clock was wrong when it was put."""
        now = time.time()
        given = (queue, now + LONGEST_WAIT)
        where = "queue = ? AND state = 'open' AND due > ?"
        if not self.file.rows(f"SELECT 1 FROM message WHERE {where} LIMIT 1", given):  # noqa: S608
            return False
        self._group.change(
            lambda connection: connection.execute(
                f"UPDATE message SET due = ? WHERE {where}",  # noqa: S608
                (now, *given),
            )
        )
        return True

    def _take(self, connection: sqlite3.Connection, queue: str, most: int) -> list[Queued]:
        """Take what is due; what was taken too often dies instead."""
        now, lease = time.time(), secrets.token_hex(8)
        rows = connection.execute(
            "SELECT queue, number, key, body, tries, reason, due, lease FROM message"
            " WHERE queue = ? AND state = 'open' AND due <= ? ORDER BY due, number LIMIT ?",
            (queue, now, most),
        ).fetchall()
        found = [_queued(row) for row in rows]
        worn = [(one.number, WORN.format(one.tries)) for one in found if self._is_worn(one)]
        _bury(connection, now, worn)
        taken = [
            Queued(
                one.queue,
                one.number,
                one.key,
                one.body,
                one.tries + 1,
                one.reason,
                now + self._lease,
                lease,
            )
            for one in found
            if not self._is_worn(one)
        ]
        connection.executemany(
            "UPDATE message SET due = ?, tries = tries + 1, lease = ? WHERE number = ?",
            [(now + self._lease, lease, one.number) for one in taken],
        )
        return taken

    def _is_worn(self, one: Queued) -> bool:
        return one.tries >= self._most_tries

    def renew(self, messages: Sequence[Queued]) -> list[Queued]:

        def change(connection: sqlite3.Connection) -> list[Queued]:
            due = time.time() + self._lease
            return [
                one
                for one in messages
                if connection.execute(
                    "UPDATE message SET due = ? WHERE number = ? AND lease = ?",
                    (due, one.number, one.lease),
                ).rowcount
            ]

        return self._group.change(change)

    def done(self, messages: Sequence[Queued], then: Iterable[Message] = ()) -> None:
        following, now = list(then), time.time()

        def change(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "UPDATE message SET state = 'done', due = ?, body = x'', lease = '', reason = ''"
                " WHERE number = ? AND key IS NOT NULL",
                [(now, one.number) for one in messages if one.key],
            )
            connection.executemany(
                "DELETE FROM message WHERE number = ?",
                [(one.number,) for one in messages if not one.key],
            )
            _put(connection, following)

        self._group.change(change)

    def failed(self, messages: Sequence[Queued], reason: str, again: float | None = 0.0) -> None:
        now, mine = time.time(), [(one.number, one.lease) for one in messages]

        def change(connection: sqlite3.Connection) -> None:
            most = -1 if again is None else self._most_tries - 1
            connection.executemany(
                "UPDATE message SET state = iif(tries > ?, 'dead', 'open'), due = ?, lease = '',"
                " reason = ? WHERE number = ? AND lease = ?",
                [(most, now + min(again or 0.0, LONGEST_WAIT), reason, *one) for one in mine],
            )

        self._group.change(change)

    def give_back(self, messages: Sequence[Queued], wait: float = 0.0) -> None:
        due = time.time() + min(wait, LONGEST_WAIT)
        mine = [(due, one.number, one.lease) for one in messages]
        self._group.change(
            lambda connection: connection.executemany(
                "UPDATE message SET due = ?, tries = tries - 1, lease = ''"
                " WHERE number = ? AND lease = ?",
                mine,
            )
        )

    def done_keys(self, queue: str, keys: Sequence[str]) -> set[str]:
        where = (
            "SELECT key FROM message WHERE queue = ? AND state = 'done'"
            " AND key IN (SELECT value FROM json_each(?))"
        )
        return {key for (key,) in self.file.rows(where, (queue, json.dumps(list(keys))))}

    def held(self, messages: Sequence[Queued]) -> list[Queued]:
        where = "SELECT 1 FROM message WHERE number = ? AND state != 'done'"
        return [one for one in messages if self.file.rows(where, (one.number,))]

    # ------------------------------------------------------------------ looked at

    def peek(
        self,
        queue: str,
        state: MessageState = MessageState.WAITING,
        most: int = 20,
        after: Queued | None = None,
    ) -> list[Queued]:
        due, number = (after.due, int(after.number)) if after else (_LONG_AGO, 0)
        rows = self.file.rows(
            "SELECT queue, number, key, body, tries, reason, due, lease FROM message"  # noqa: S608
            f" WHERE queue = :queue AND {_IN_STATE[state]} AND (due, number) > (:due, :number)"
            " ORDER BY due, number LIMIT :most",
            {"queue": queue, "now": time.time(), "due": due, "number": number, "most": most},
        )
        return [_queued(row) for row in rows]

    def sizes(self) -> Mapping[str, QueueSize]:
        now = time.time()
        found: dict[str, dict[str, int]] = {}
        oldest: dict[str, float] = {}
        states = "SELECT queue, state, count(*), min(due) FROM message GROUP BY queue, state"
        for queue, state, number, first in self.file.rows(states):
            found.setdefault(queue, {})[state] = number
            if state == "open":
                oldest[queue] = max(0.0, now - first)
        waits = (
            "SELECT count(*), total(lease != '') FROM message"
            " WHERE queue = ? AND state = 'open' AND due > ?"
        )
        sizes = {}
        for queue, numbers in found.items():
            ((undue, taken),) = self.file.rows(waits, (queue, now))
            sizes[queue] = QueueSize(
                waiting=numbers.get("open", 0) - undue,
                later=undue - int(taken),
                taken=int(taken),
                dead=numbers.get("dead", 0),
                done=numbers.get("done", 0),
                oldest=oldest.get(queue, 0.0),
            )
        return sizes

    def revive(self, queue: str, numbers: Iterable[str] | None = None) -> int:
        chosen = None if numbers is None else [int(one) for one in numbers]

        def change(connection: sqlite3.Connection) -> int:
            again = (
                "UPDATE message SET state = 'open', due = ?, tries = 0 WHERE queue = ?"
                " AND state = 'dead'"
            )
            now = time.time()
            if chosen is None:
                return connection.execute(again, (now, queue)).rowcount
            values = [(now, queue, one) for one in chosen]
            return connection.executemany(f"{again} AND number = ?", values).rowcount

        return self._group.change(change)

    def forget(self, queue: str, before: float) -> int:
        where = "DELETE FROM message WHERE queue = ? AND state = 'done' AND due < ?"
        return self._group.change(
            lambda connection: connection.execute(where, (queue, before)).rowcount
        )


def _put(connection: sqlite3.Connection, messages: Iterable[Message]) -> int:
    now = time.time()
    rows = [
        (one.queue, one.key or None, one.body, "dead", now, one.reason)
        if one.reason
        else (one.queue, one.key or None, one.body, "open", now + min(one.wait, LONGEST_WAIT), "")
        for one in messages
    ]
    return connection.executemany(
        "INSERT OR IGNORE INTO message (queue, key, body, state, due, tries, lease, reason)"
        " VALUES (?, ?, ?, ?, ?, 0, '', ?)",
        rows,
    ).rowcount


def _bury(connection: sqlite3.Connection, now: float, worn: Iterable[tuple[str, str]]) -> None:
    connection.executemany(
        "UPDATE message SET state = 'dead', due = ?, lease = '', reason = ? WHERE number = ?",
        [(now, reason, number) for number, reason in worn],
    )


def _queued(row: Sequence[Any]) -> Queued:
    queue, number, key, body, tries, reason, due, lease = row
    return Queued(queue, str(number), key or "", bytes(body), tries, reason, due, lease)
