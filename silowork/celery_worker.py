"""The worker of Celery that takes messages from a Redis (the extra ``fleet``).

Whoever reaches the Redis can put anything into a queue. A message that is none is dropped with a
sentence here; Celery 5.7 would end with a traceback, or put it back and end at each start.
"""

import logging
import warnings
from collections.abc import Callable
from queue import Empty
from typing import Any

from celery import Celery
from celery.exceptions import CPendingDeprecationWarning, SecurityWarning
from celery.worker.consumer import Consumer
from kombu.transport import redis

_TRANSPORT = f"{__name__}:Transport"
_MALFORMED = (ValueError, TypeError, LookupError, AttributeError, RecursionError)

logger = logging.getLogger("silowork")


def celery_worker(app: Celery, queues: list[str], slots: int) -> Any:
    """Return a worker that logs sentences; its ``start()`` returns after SIGTERM or SIGINT.

    It is for a process of its own: filters of warnings and of a logger stay changed.

    Args:
        app: With the tasks.
        queues: From which it takes messages.
        slots: Tasks at a time, in threads.
    """
    warnings.filterwarnings("ignore", category=SecurityWarning)  # that it runs as root
    logging.getLogger("celery.worker.consumer.consumer").addFilter(_as_sentence)
    if app.conf.broker_url.startswith(("redis:", "rediss:")):
        app.conf.broker_transport = _TRANSPORT
    worker = app.Worker(
        pool="threads",
        concurrency=slots,
        queues=queues,
        consumer_cls=_Consumer,
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    # Of what Celery 6 will do; Celery has shown these warnings always since the line above.
    warnings.filterwarnings("ignore", category=CPendingDeprecationWarning)
    return worker


def _as_sentence(record: logging.LogRecord) -> bool:
    """Leave out the traceback, and the content of messages; name the Redis as people do."""
    line = record.getMessage().partition("\n")[0]
    record.msg, record.args = line.replace(f"{_TRANSPORT}://", "redis://"), None
    record.exc_info = None
    return True


def _note_dropped(error: Exception) -> None:
    logger.warning("a message in the queue is malformed and was dropped: %r", error)


class _Channel(redis.Channel):
    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[no-untyped-call]
        except (ValueError, RecursionError) as error:  # it is no JSON
            _note_dropped(error)
            raise Empty from None


class Transport(redis.Transport):
    """Messages of a Redis, without those that kombu cannot read."""

    Channel = _Channel

    def _deliver(self, message: Any, queue: str) -> None:
        try:
            super()._deliver(message, queue)  # type: ignore[no-untyped-call]
        except _MALFORMED as error:  # it has not the parts of a message
            _note_dropped(error)


class _Consumer(Consumer):  # type: ignore[misc]  # celery is untyped
    def create_task_handler(self, *given: Any, **named: Any) -> Callable[[Any], None]:
        handle = super().create_task_handler(*given, **named)

        def handled(message: Any) -> None:
            try:
                handle(message)
            except _MALFORMED as error:  # it has not the parts of a task
                _note_dropped(error)
                message.ack()

        return handled
