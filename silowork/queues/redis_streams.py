"""Queues in a Redis, for many machines; as durable as that Redis is (``appendfsync``).

`redis_streams.lua` makes every change. Leases are by the clock of the Redis.
"""

import itertools
import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from recordsilo.closing import Closing
from recordsilo.extras import needed
from silowork.queues.values import Message, MessageState, Queued, QueueSize

GROUP = "workers"
NEVER = 2**31
_AT_ONCE = 1000
_SECONDS_BETWEEN_LOOKS = 0.25
"""Messages that become due, and leases that end, are seen after this time."""
_USERS = itertools.count()


@dataclass(frozen=True, slots=True)
class RedisKind:
    """What a package's queues in a Redis are.

    Attributes:
        unreachable: Makes the package's error from one of the package redis.
        prefix: Begins all keys; a queue of the name ``""`` is right below it.
        body_of: Makes the body of an entry that another program added to a stream.
    """

    unreachable: Callable[[Exception], Exception]
    prefix: str = "silo"
    body_of: Callable[[Mapping[bytes, bytes]], bytes] = lambda _: b""


class RedisQueues(Closing):
    """Queues in a Redis; see `silowork.queues.values.Queues`.

    Args:
        client: Of the package redis; its answers are bytes.
        kind: Of the queues.
        lease: Seconds after which a message is taken again.
        most_tries: A message that was taken so often is a dead letter when it fails; 0: never.

    Raises (every method):
        Exception: ``kind.unreachable``.
    """

    def __init__(
        self, client: Any, kind: RedisKind, *, lease: float = 60.0, most_tries: int = 5
    ) -> None:
        self._client, self._kind = client, kind
        self._errors: type[Exception] = needed("redis", "a queue in Redis", "fleet").RedisError
        self._lease, self._most_tries = int(lease * 1000), most_tries or NEVER
        self._taker = f"{socket.gethostname()}-{os.getpid()}-{next(_USERS)}"
        text = files("silowork.queues").joinpath("redis_streams.lua").read_text("utf-8")
        self._script = client.register_script(text)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _call(self, action: str, queue: str, *values: Any) -> Any:
        return self._asked(
            lambda: self._script(keys=[self._kind.prefix], args=[action, queue, *values])
        )

    def _asked(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except self._errors as error:
            raise self._kind.unreachable(error) from None

    # ------------------------------------------------------------------ in

    def put(self, messages: Iterable[Message], mark: tuple[str, str] | None = None) -> int:
        return int(self._call("put", "", *(mark or ("", "")), *_values(messages)))

    def mark(self, name: str) -> str:
        found = self._asked(lambda: self._client.hget(f"{self._kind.prefix}:marks", name))
        return found.decode() if found else ""

    # ------------------------------------------------------------------ out

    def take(self, queue: str, most: int = 1, wait: float = 0.0) -> list[Queued]:
        end = time.monotonic() + wait
        while True:
            found, taken = self._call(
                "take", queue, self._taker, most, self._lease, self._most_tries
            )
            if taken:
                return [self._queued(queue, one) for one in taken]
            left = end - time.monotonic()
            if left <= 0 and found == 0:
                return []
            if found == 0 and (some := self._wait(queue, most, left)):
                return some

    def _wait(self, queue: str, most: int, seconds: float) -> list[Queued]:
        """Wait for messages that are put now."""
        stream = f"{self._key(queue)}:stream"
        block = max(1, int(1000 * min(seconds, _SECONDS_BETWEEN_LOOKS)))
        found = self._asked(
            lambda: self._client.xreadgroup(GROUP, self._taker, {stream: ">"}, most, block)
        )
        # RESP3 gives a dictionary of lists of lists of entries, RESP2 a list of pairs.
        rows = [one for some in found.values() for one in some] if isinstance(found, dict) else []
        rows = rows or [one for _, one in found or ()]
        return [
            self._queued(queue, (number, fields, 1, self._taker))
            for some in rows
            for number, fields in some
        ]

    def _key(self, queue: str) -> str:
        return f"{self._kind.prefix}:{queue}" if queue else self._kind.prefix

    def renew(self, messages: Sequence[Queued]) -> list[Queued]:
        return self._chosen("renew", messages, _leases(messages))

    def _chosen(self, action: str, messages: Sequence[Queued], values: list[str]) -> list[Queued]:
        """Return those messages for which an action says 1; all are of one queue."""
        if not messages:
            return []
        found = self._call(action, messages[0].queue, *values)
        return [one for one, is_so in zip(messages, found, strict=True) if is_so]

    def done(self, messages: Sequence[Queued], then: Iterable[Message] = ()) -> None:
        queue = messages[0].queue if messages else ""
        ended = [value for one in messages for value in (one.key, one.number)]
        self._call("done", queue, len(messages), *ended, *_values(then))

    def failed(self, messages: Sequence[Queued], reason: str, again: float | None = 0.0) -> None:
        if messages:
            values = [reason, -1 if again is None else again, self._most_tries]
            self._call("failed", messages[0].queue, *values, *_leases(messages))

    def give_back(self, messages: Sequence[Queued], wait: float = 0.0) -> None:
        if messages:
            self._call("give_back", messages[0].queue, wait, *_leases(messages))

    def done_keys(self, queue: str, keys: Sequence[str]) -> set[str]:
        found = self._call("done_keys", queue, *keys)
        return {key for key, is_done in zip(keys, found, strict=True) if is_done}

    def held(self, messages: Sequence[Queued]) -> list[Queued]:
        return self._chosen("held", messages, [one.number for one in messages])

    # ------------------------------------------------------------------ looked at

    def peek(
        self,
        queue: str,
        state: MessageState = MessageState.WAITING,
        most: int = 20,
        after: Queued | None = None,
    ) -> list[Queued]:
        last = after.number if after else ""
        found = self._call("peek", queue, state.value, most, last, self._lease)
        return [self._queued(queue, one) for one in found]

    def sizes(self) -> Mapping[str, QueueSize]:
        names = self._asked(lambda: self._client.smembers(f"{self._kind.prefix}:queues"))
        found = {name.decode(): self.size(name.decode()) for name in sorted(names)}
        return {name: size for name, size in found.items() if size != QueueSize()}

    def size(self, queue: str) -> QueueSize:
        """Return the size of a queue."""
        waiting, later, taken, dead, done, age = self._call("size", queue, self._lease)
        return QueueSize(waiting, later, taken, dead, done, age / 1000)

    def revive(self, queue: str, numbers: Iterable[str] | None = None) -> int:
        if numbers is not None:
            return int(self._call("revive", queue, *numbers))
        revived = 0
        while letters := self.peek(queue, MessageState.DEAD, _AT_ONCE):
            revived += self.revive(queue, [one.number for one in letters])
        return revived

    def forget(self, queue: str, before: float) -> int:
        return int(self._call("forget", queue, before))

    def _queued(self, queue: str, row: Sequence[Any]) -> Queued:
        """Read a row of the script: number, fields, times taken, taker; when due, if known."""
        number, fields, times, taker, *due = row
        pairs = (
            fields.items() if isinstance(fields, dict) else zip(*[iter(fields)] * 2, strict=True)
        )
        known = {_text(name): value for name, value in pairs}
        body = known.get("body")
        if body is None:
            body = self._kind.body_of({name.encode(): value for name, value in known.items()})
        before = known.get("tries", b"")
        tries = times + (int(before) if before.isdigit() else 0)
        reason = _text(known.get("reason", b""))
        lease = f"{_text(taker)}:{times}"
        key, name = _text(known.get("key", b"")), _text(number)
        moment = float(due[0]) if due else int(name.partition("-")[0]) / 1000
        return Queued(queue, name, key, body, tries, reason, moment, lease)


def _values(messages: Iterable[Message]) -> list[Any]:
    return [
        value for one in messages for value in (one.queue, one.key, one.body, one.wait, one.reason)
    ]


def _leases(messages: Sequence[Queued]) -> list[str]:
    return [value for one in messages for value in (one.lease, one.number)]


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")
