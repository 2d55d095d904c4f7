"""What waits to be pushed, and what was: ``usage/push.sqlite``, a file of queues.

A message holds what the profile sends of a request. Once the gatherer has acknowledged it, only its
key is left, a digest under the key of the day, so that the same line is not sent again. It is taken
before it is sent: if the process dies, it is known that its outcome is not.
"""

import json
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recordsilo.closing import Closing
from recordsilo.disk.atomic_file import append_lines, make_within
from silowork.ledger_file import LedgerKind
from silowork.queues.sqlite import SCHEMA, VERSION, SqliteQueues
from silowork.queues.values import Message, MessageState, Queued
from usagestats.errors import CountsUnreadable
from usagestats.store.paths import place

QUEUE = "push"
_CONSENT = (
    "CREATE TABLE IF NOT EXISTS consent (text TEXT PRIMARY KEY, given REAL NOT NULL) WITHOUT ROWID"
)
KIND = LedgerKind(f"{SCHEMA};{_CONSENT}", CountsUnreadable, VERSION)
_FIRST = -(10**9)
"""Seconds of waiting with which a new use comes before all that failed."""
_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class WaitingUse:
    """A use that waits.

    Attributes:
        row_id: The same for the same line, whenever it is read.
        day: Of the use, ISO 8601.
        content: What `openurl.collected` returned.
        taken: How it is in the queue.
    """

    row_id: bytes
    day: str
    item: str
    content: Mapping[str, str]
    taken: Queued | None = None

    @property
    def tries(self) -> int:
        """How often it was taken, this time included."""
        return self.taken.tries if self.taken else 0

    @property
    def in_queue(self) -> list[Queued]:
        """The message of it."""
        return [self.taken] if self.taken else []


class Outbox(Closing):
    """The outbox of a Silo; uses are taken by one process at a time.

    Raises (every method):
        CountsUnreadable, OSError: As `LedgerFile`.
    """

    def __init__(self, silo_path: str) -> None:
        path = outbox_path(silo_path)
        if not os.path.exists(path):
            make_within(silo_path, os.path.dirname(path))
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        self._silo_path = silo_path
        # Without a lease: what was taken by a process that died can be taken at once.
        self._queues = SqliteQueues(path, lease=0.0, most_tries=0, kind=KIND)
        with self._queues.file.reading() as connection:
            # Otherwise what was sent would stay in the file's free pages.
            connection.execute("PRAGMA secure_delete = ON")

    def close(self) -> None:
        """Close the file."""
        self._queues.close()

    def add(self, rows: Iterable[WaitingUse]) -> None:
        """Add uses; those that are known, waiting or not, stay as they are."""
        self._queues.put(Message(QUEUE, _body(one), one.row_id.hex(), _FIRST) for one in rows)

    def next(self) -> WaitingUse | None:
        """Take the use to send now: those that never failed come first."""
        for taken in self._queues.take(QUEUE):
            return _row(taken)
        return None

    def put_back(self, row: WaitingUse, reason: str, seconds: float) -> None:
        """Note that a use was not acknowledged, and that it waits so long."""
        self._queues.failed(row.in_queue, reason, seconds)

    def not_sent(self, row: WaitingUse) -> None:
        """Note that a use was certainly not sent."""
        self._queues.give_back(row.in_queue)

    def acknowledged(self, row: WaitingUse) -> None:
        """Note that the gatherer has a use; its content is deleted."""
        self._queues.done(row.in_queue)

    def give_up(self, row: WaitingUse, reason: str) -> None:
        """Write a use to the log of what cannot be sent; its content is deleted."""
        line = {
            "at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "day": row.day,
            "record": row.item, "reason": reason, "id": row.row_id.hex(),
        }  # fmt: skip
        said = json.dumps(line, ensure_ascii=False).encode()
        append_lines(unsent_path(self._silo_path), [said], self._silo_path)
        self._queues.done(row.in_queue)

    def waiting(self) -> int:
        """Return how many uses are not acknowledged."""
        size = self._queues.sizes().get(QUEUE)
        return size.alive if size else 0

    def _rows(self) -> Iterator[WaitingUse]:
        for state in (MessageState.WAITING, MessageState.LATER):
            after = None
            while some := self._queues.peek(QUEUE, state, _AT_ONCE, after):
                yield from map(_row, some)
                after = some[-1]

    def expire(self, before: str) -> None:
        """Give up what is before a day, and forget what was sent of it: its lines are not taken."""
        for row in self._rows():
            if row.day < before:
                self.give_up(row, "its day was frozen before it was acknowledged")
        # Nothing of a day is sent before it begins, which may be the evening before it does in UTC.
        begin = datetime.fromisoformat(before).replace(tzinfo=UTC) - timedelta(days=1)
        self._queues.forget(QUEUE, begin.timestamp())

    def remove(self, day: str, clients: Collection[str]) -> None:
        """Delete what waits of a client on a day, by the ``req_id`` that it has.

        It is not taken again.
        """
        for row in self._rows():
            if row.day == day and row.content.get("req_id") in clients:
                self._queues.done(row.in_queue)

    def has_consent(self, text: str) -> bool:
        """Whether somebody agreed to this push."""
        return bool(self._queues.file.rows("SELECT 1 FROM consent WHERE text = ?", (text,)))

    def consent(self, text: str) -> None:
        """Note that somebody agreed to this push."""
        with self._queues.file.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO consent VALUES (?, ?)", (text, time.time()))


def _body(row: WaitingUse) -> bytes:
    return json.dumps({"day": row.day, "item": row.item, "content": dict(row.content)}).encode()


def _row(message: Queued) -> WaitingUse:
    found = json.loads(message.body)
    return WaitingUse(
        bytes.fromhex(message.key), found["day"], found["item"], found["content"], message
    )


def outbox_path(silo_path: str) -> str:
    """Return the path of the outbox."""
    return place(silo_path, "push.sqlite")


def unsent_path(silo_path: str) -> str:
    """Return the path of the log of uses that cannot be sent, JSON lines."""
    return place(silo_path, "push-unsent.jsonl")
