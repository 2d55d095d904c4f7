"""The queue of log lines: messages in a Redis, each with some lines, which workers take.

A message stays in the queue until a worker has acknowledged it; those of a worker that died are
taken by another one after a while. Messages have no keys: the lines of a log may be equal.

The name of the queue is that of a plain list, as in 2010: any program may push lines onto it. The
stream is beside it, and workers move the lines there (``gather.lua``).
"""

import json
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, TypeVar

from recordsilo.closing import Closing
from silowork.queues.redis_streams import RedisKind, RedisQueues
from silowork.queues.values import Message
from usagestats.errors import UsageError
from usagestats.live.entries import QueueEntry
from usagestats.packages import needed, redis_client, redis_problem

T = TypeVar("T")
DEFAULT_QUEUE = "q:loglines"
LINES, FORMAT = "lines", "format"
_GATHERED = 2000
"""Most lines that are moved from the list at once, so that Redis is never busy for long."""
_ENTRY = 64 << 10
"""Bytes of an entry, so that a worker can bound what it takes at once."""


class QueueUnusable(UsageError):
    """Redis cannot be used; the same command continues later."""


class Queue(Closing):
    """A queue of log lines.

    Args:
        url: Such as ``redis://127.0.0.1:6379/0``.
        name: Key of the list; that of the stream begins with it.
        claim_after: Seconds after which a worker that says nothing is dead.

    Raises (every method):
        QueueUnusable: Redis cannot be reached, or refuses.
    """

    def __init__(self, url: str, name: str = DEFAULT_QUEUE, claim_after: float = 60.0) -> None:
        self._error: type[Exception] = needed("redis").RedisError
        self.name = name
        self._client: Any = redis_client(url, socket_timeout=30)
        kind = RedisKind(_unusable, name, _body_of)
        self._queues = RedisQueues(self._client, kind, lease=claim_after, most_tries=0)
        script = files("usagestats.live").joinpath("gather.lua").read_text("utf-8")
        self._gathering = self._client.register_script(script)

    def close(self) -> None:
        """Close the connections."""
        self._queues.close()

    def _asked(self, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except self._error as error:
            raise _unusable(error) from None

    # ------------------------------------------------------------------ a producer

    def add(self, lines: Sequence[bytes], log_format: str, source: str, position: object) -> None:
        """Add lines and the position after them, both or neither.

        Args:
            lines: Without their LF.
            log_format: `Reader.spec`; ``""`` if it is not known.
            source: Where they come from.
            position: The position in the source, as a JSON value.
        """
        messages = [Message("", _body(log_format.encode(), some)) for some in _parts(lines)]
        self._queues.put(messages, (f"{socket.gethostname()}:{source}", json.dumps(position)))

    def position(self, source: str) -> Any:
        """Return the position after the last lines of a source; None at first."""
        found = self._queues.mark(f"{socket.gethostname()}:{source}")
        return json.loads(found) if found else None

    def length(self) -> int:
        """Return how many entries are in the queue, taken by a worker or not, or in the list."""
        in_list = self._asked(
            lambda: self._client.llen(self.name) if self._client.type(self.name) == b"list" else 0
        )
        return self._queues.size("").alive + int(in_list)

    # ------------------------------------------------------------------ a worker

    def take(self, most: int, wait: float) -> list[QueueEntry]:
        """Take entries: first those of dead workers, then new ones, also from the list.

        Args:
            wait: Seconds to wait for the first one.
        """
        keys = [self.name, f"{self.name}:stream"]
        self._asked(lambda: self._gathering(keys, [_GATHERED, _ENTRY, LINES]))
        taken = self._queues.take("", most, wait)
        return [QueueEntry(one.number, *_read(one.body), one) for one in taken]

    def held(self, entries: Sequence[QueueEntry]) -> set[str]:
        """Return the ids of those entries that are still in the queue: nobody acknowledged them."""
        held = self._queues.held([one.message for one in entries if one.message])
        return {one.number for one in held}

    def done(self, entries: Sequence[QueueEntry]) -> None:
        """Acknowledge entries, and delete them."""
        self._queues.done([one.message for one in entries if one.message])


def _parts(lines: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Yield the lines in parts of about `_ENTRY` bytes."""
    part, size = list[bytes](), 0
    for line in lines:
        part.append(line)
        size += len(line)
        if size > _ENTRY:
            yield part
            part, size = [], 0
    if part:
        yield part


def _body(log_format: bytes, lines: Sequence[bytes]) -> bytes:
    return b"\n".join((log_format, *lines))


def _body_of(fields: Mapping[bytes, bytes]) -> bytes:
    """The body of an entry of ``gather.lua``, or of anybody: what is not ours ends no worker."""
    return _body(fields.get(FORMAT.encode(), b""), [fields.get(LINES.encode(), b"")])


def _read(body: bytes) -> tuple[tuple[bytes, ...], str]:
    log_format, *lines = body.split(b"\n")
    return tuple(lines), log_format.decode("utf-8", "replace")


def _unusable(error: Exception) -> QueueUnusable:
    return QueueUnusable(redis_problem(error))
