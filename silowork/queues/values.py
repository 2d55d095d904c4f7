"""Messages, and what every store of queues does with them (pure)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from recordsilo.closing import Closing

LONGEST_WAIT = 2 * 86_400.0
"""Seconds; a file shortens longer ones to it. A message there that is due later is taken at once:
the clock was wrong when it was put, and may be right again."""


class MessageState(StrEnum):
    """Of a message that is not done."""

    WAITING = "waiting"
    LATER = "later"
    """It may not be taken yet."""
    TAKEN = "taken"
    DEAD = "dead"
    """It failed too often, and waits for somebody to look at it."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message to put.

    Attributes:
        queue: Its name; queues need not be made.
        body: What is to be done, as the queue's takers understand it.
        key: A second message of the same queue and key is ignored, also after the first one is
            done. ``""``: it has none.
        wait: Seconds before which it is not taken, at most `LONGEST_WAIT`. Below 0: a store that
            orders messages by time, as that in a file does, gives it before others.
        reason: Why nobody can work on it: it is a dead letter from the beginning, and ``wait``
            does not count. ``""``: it is a message as others are.
    """

    queue: str
    body: bytes
    key: str = ""
    wait: float = 0.0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Queued:
    """A message in a queue.

    Attributes:
        number: Of the message in its queue; a store may give it a new one when it fails.
        tries: How often it was taken, given back excepted.
        reason: Why it failed last.
        due: From when on it may be taken, when its lease ends, or when it died, as the store knows
            it, in seconds since 1970 (UTC).
        lease: Whose it is; only the store reads it.
    """

    queue: str
    number: str
    key: str
    body: bytes
    tries: int
    reason: str = ""
    due: float = 0.0
    lease: str = ""


@dataclass(frozen=True, slots=True)
class QueueSize:
    """How many messages of a queue are where.

    Attributes:
        done: Those whose keys are remembered.
        oldest: Seconds since the oldest one that is waiting may be taken.
    """

    waiting: int = 0
    later: int = 0
    taken: int = 0
    dead: int = 0
    done: int = 0
    oldest: float = 0.0

    @property
    def alive(self) -> int:
        """How many are neither done nor dead."""
        return self.waiting + self.later + self.taken


class Queues(Closing, Protocol):
    """Queues in one store; any number of processes and threads may use them.

    A message stays in its queue until it is `done`. Its taker holds a lease on it, for a time that
    all takers of a store agree on. When the lease is over, another one takes it: after that, the
    first one can neither `renew` it nor say that it `failed`, but may still be `done` with it.
    Each method changes the store completely or not at all, and on the medium, when it returns.

    Raises (every method):
        QueuesUnreadable, QueueUnreachable, OSError: The store cannot be used; the same call may be
            made again later.
    """

    def put(self, messages: Iterable[Message], mark: tuple[str, str] | None = None) -> int:
        """Put messages; return how many of them were new.

        Args:
            messages: Taken in this order, as far as they may be taken at the same time.
            mark: A name, and how far its source was read: set together with the messages.
        """

    def mark(self, name: str) -> str:
        """Return how far a source was read; ``""`` at first."""

    def take(self, queue: str, most: int = 1, wait: float = 0.0) -> list[Queued]:
        """Take messages, the oldest first.

        Those that were taken too often, and never done nor failed, are dead letters instead.

        Args:
            queue: Its name.
            wait: Seconds to wait for the first one.
        """

    def renew(self, messages: Sequence[Queued]) -> list[Queued]:
        """Begin the leases of messages again; return those that still are this taker's.

        Here and below, messages that are given together are of one queue.
        """

    def done(self, messages: Sequence[Queued], then: Iterable[Message] = ()) -> None:
        """Acknowledge messages, and put those that follow from them, in one transaction.

        Keys are remembered until `forget`. What follows is put even if another taker was faster:
        it should have keys.
        """

    def failed(self, messages: Sequence[Queued], reason: str, again: float | None = 0.0) -> None:
        """Put messages back; those that were taken too often become dead letters.

        Args:
            messages: Those of which this taker has lost the lease are left alone.
            reason: Kept with them.
            again: Seconds before which they are not taken again; None: they never are.
        """

    def give_back(self, messages: Sequence[Queued], wait: float = 0.0) -> None:
        """Put messages back as if they had not been taken, those with lost leases excepted.

        Args:
            messages: All of one queue.
            wait: Seconds before which they are not taken.
        """

    def done_keys(self, queue: str, keys: Sequence[str]) -> set[str]:
        """Return those keys whose messages are done, and not forgotten."""

    def held(self, messages: Sequence[Queued]) -> list[Queued]:
        """Return those of some messages that nobody has acknowledged."""

    def peek(
        self,
        queue: str,
        state: MessageState = MessageState.WAITING,
        most: int = 20,
        after: Queued | None = None,
    ) -> list[Queued]:
        """Look at messages, in the order of their `Queued.due`, and change nothing.

        Args:
            queue: Its name.
            state: Of those that are wanted.
            after: The last message that was seen.
        """

    def sizes(self) -> Mapping[str, QueueSize]:
        """Return how many messages there are, by queue."""

    def revive(self, queue: str, numbers: Iterable[str] | None = None) -> int:
        """Let dead letters be taken again, as new; return how many there were.

        Args:
            queue: Its name.
            numbers: Those of the letters; None: all.
        """

    def forget(self, queue: str, before: float) -> int:
        """Forget the keys of messages that were done before a moment; return how many."""
