"""A handler for `logging` that pushes access log lines onto a queue in Redis.

The class has the name and the arguments of 2010, so that configurations of `logging` go on::

    [handler_usage]
    class = usagestats.logger.RedisLogger
    args = ("localhost", "q:loglines", 6379, 0)
"""

import logging
from collections import deque
from contextlib import nullcontext
from typing import Any

from usagestats.live.queue import DEFAULT_QUEUE
from usagestats.packages import needed

_SECONDS = 2.0


class RedisLogger(logging.Handler):
    """Pushes each formatted record onto the list `list_name`; `silo usage work` takes it.

    While Redis cannot be reached, up to `keep` lines wait in memory; later ones replace the
    oldest, and `logging.Handler.handleError` is called. The next record is tried at once.

    Args:
        host: Of Redis.
        list_name: Key of the queue.
        port: Of Redis.
        db: Number of the database.
        keep: Most lines that wait in memory.

    Raises:
        PackageMissing: The package redis is not installed.
    """

    def __init__(
        self, host: str = "localhost", list_name: str = DEFAULT_QUEUE, port: int = 6379,
        db: int = 0, *, keep: int = 10_000,
    ) -> None:  # fmt: skip
        super().__init__()
        redis = needed("redis")
        self._errors = (redis.RedisError, OSError)
        self.list_name = list_name
        self._waiting: deque[str] = deque(maxlen=keep)
        self._client: Any = redis.Redis(
            host,
            port,
            db,
            socket_timeout=_SECONDS,
            socket_connect_timeout=_SECONDS,
            retry=needed("redis.retry").Retry(needed("redis.backoff").NoBackoff(), 1),
        )

    def emit(self, record: logging.LogRecord) -> None:
        """Push a record; it waits if Redis cannot be reached."""
        try:
            is_full = len(self._waiting) == self._waiting.maxlen
            self._waiting.append(" ".join(self.format(record).splitlines()))
            self.flush()
        except self._errors:
            if is_full:
                self.handleError(record)
        except Exception:  # noqa: BLE001  # as every handler: logging must not end the program
            self.handleError(record)

    def flush(self) -> None:
        """Push what waits."""
        with self.lock or nullcontext():
            while self._waiting:
                line = self._waiting[0].encode("utf-8", "backslashreplace")
                self._client.lpush(self.list_name, line)
                self._waiting.popleft()

    def close(self) -> None:
        """Push what waits, and close the connection; what cannot be pushed is lost."""
        try:
            self.flush()
        except self._errors:
            pass
        finally:
            self._client.close()
            super().close()
