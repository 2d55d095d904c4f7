"""The queue of log lines: a stream of Redis, from which workers of one group take them.

An entry stays in the queue until a worker has acknowledged it. Those of a worker that died are
claimed by another one after a while (XAUTOCLAIM).

The name of the queue is that of a plain list, as in 2010: any program may push lines onto it. The
stream is beside it, and workers move the lines there (``gather.lua``).
"""

import json
import os
import socket
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any

from usagestats.errors import UsageError
from usagestats.live.entries import Entry
from usagestats.packages import needed, redis_client, redis_problem

DEFAULT_QUEUE = "q:loglines"
GROUP = "workers"
LINES, FORMAT = "lines", "format"
_GATHERED = 2000
"""Most lines that are moved from the list at once, so that Redis is never busy for long."""
_ENTRY = 64 << 10
"""Bytes of an entry, so that a worker can bound what it takes at once."""


class QueueUnusable(UsageError):
    """Redis cannot be used; the same command continues later."""


class Queue:
    """A queue of log lines.

    Args:
        url: Such as ``redis://127.0.0.1:6379/0``.
        name: Key of the list; that of the stream begins with it.
        claim_after: Seconds after which a worker that says nothing is dead.

    Raises (every method):
        QueueUnusable: Redis cannot be reached, or refuses.
    """

    def __init__(self, url: str, name: str = DEFAULT_QUEUE, claim_after: float = 60.0) -> None:
        redis = needed("redis")
        self._error: type[Exception] = redis.RedisError
        self._refused: type[Exception] = redis.ResponseError
        self.name, self._stream = name, f"{name}:stream"
        self._claim_after = int(claim_after * 1000)
        self._worker = f"{socket.gethostname()}-{os.getpid()}"
        self._claim_from = "0-0"
        self._client: Any = redis_client(url, socket_timeout=30)
        script = files("usagestats.live").joinpath("gather.lua").read_text("utf-8")
        self._gathering = self._client.register_script(script)

    # ------------------------------------------------------------------ a producer

    def add(self, lines: Sequence[bytes], log_format: str, source: str, position: object) -> None:
        """Add lines and the position after them, both or neither.

        Args:
            lines: Without their LF.
            log_format: `Reader.spec`; ``""`` if it is not known.
            source: Where they come from.
            position: The position in the source, as a JSON value.
        """
        try:
            with self._client.pipeline(transaction=True) as pipeline:
                for some in _parts(lines):
                    pipeline.xadd(self._stream, {LINES: b"\n".join(some), FORMAT: log_format})
                pipeline.set(self._position_key(source), json.dumps(position))
                pipeline.execute()
        except self._error as error:
            raise _unusable(error) from None

    def position(self, source: str) -> Any:
        """Return the position after the last lines of a source; None at first."""
        try:
            found = self._client.get(self._position_key(source))
        except self._error as error:
            raise _unusable(error) from None
        return None if found is None else json.loads(found)

    def _position_key(self, source: str) -> str:
        return f"{self.name}:position:{socket.gethostname()}:{source}"

    def length(self) -> int:
        """Return how many entries are in the queue, taken by a worker or not, or in the list."""
        try:
            in_list = self._client.llen(self.name) if self._is_list() else 0
            return int(self._client.xlen(self._stream)) + int(in_list)
        except self._error as error:
            raise _unusable(error) from None

    def _is_list(self) -> bool:
        return bool(self._client.type(self.name) == b"list")

    # ------------------------------------------------------------------ a worker

    def join(self) -> None:
        """Make the group of workers, if it does not exist; it begins with the oldest entry."""
        try:
            self._client.xgroup_create(self._stream, GROUP, id="0", mkstream=True)
        except self._refused as error:
            if not str(error).startswith("BUSYGROUP"):
                raise _unusable(error) from None
        except self._error as error:
            raise _unusable(error) from None

    def take(self, most: int, wait: float) -> list[Entry]:
        """Take entries: first those of dead workers, then new ones, also from the list.

        Args:
            most: Most entries.
            wait: Seconds to wait for the first one.
        """
        try:
            self._gathering([self.name, self._stream], [_GATHERED, _ENTRY, LINES])
            claim_from, claimed, *_ = self._client.xautoclaim(
                self._stream, GROUP, self._worker, self._claim_after, self._claim_from, count=most
            )
            self._claim_from = claim_from.decode()
            if claimed:
                return _entries(claimed)
            found = self._client.xreadgroup(
                GROUP, self._worker, {self._stream: ">"}, count=most, block=max(1, int(wait * 1000))
            )
        except self._refused as error:
            if str(error).startswith("NOGROUP"):  # somebody deleted the key
                self.join()
                return []
            raise _unusable(error) from None
        except self._error as error:
            raise _unusable(error) from None
        streams = found.values() if isinstance(found, dict) else [rows for _, rows in found]
        return [one for rows in streams for one in _entries(_flat(rows))]

    def held(self, entries: Sequence[Entry]) -> set[str]:
        """Return the ids of those entries that are still in the queue: nobody acknowledged them."""
        try:
            with self._client.pipeline(transaction=False) as pipeline:
                for one in entries:
                    pipeline.xrange(self._stream, one.entry_id, one.entry_id, count=1)
                return {
                    one.entry_id
                    for one, rows in zip(entries, pipeline.execute(), strict=True)
                    if rows
                }
        except self._error as error:
            raise _unusable(error) from None

    def done(self, entries: Sequence[Entry]) -> None:
        """Acknowledge entries, and delete them."""
        ids = [one.entry_id for one in entries]
        try:
            with self._client.pipeline(transaction=True) as pipeline:
                pipeline.xack(self._stream, GROUP, *ids)
                pipeline.xdel(self._stream, *ids)
                pipeline.execute()
        except self._error as error:
            raise _unusable(error) from None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


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


def _flat(rows: Any) -> Any:
    """RESP3 gives a list of lists of entries, RESP2 a list of entries."""
    return rows[0] if rows and isinstance(rows[0], list) else rows


def _entries(rows: Any) -> list[Entry]:
    found = []
    for entry_id, content in rows:
        # Anybody may add to the stream: what is not ours must not end the workers.
        known = {name.decode("utf-8", "replace"): value for name, value in (content or {}).items()}
        lines = known.get(LINES, b"").split(b"\n")
        log_format = known.get(FORMAT, b"").decode("utf-8", "replace")
        found.append(Entry(entry_id.decode(), tuple(lines), log_format))
    return found


def _unusable(error: Exception) -> QueueUnusable:
    return QueueUnusable(redis_problem(error))
