"""The worker of Celery that takes messages from a Redis (the extra ``fleet``).

Whoever reaches the Redis can put anything into a queue. Malformed messages are logged and
dropped here; Celery 5.7 would end with a traceback, or put them back and end at each start.
"""

import logging
import signal
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from queue import Empty
from typing import Any, TypeVar

from celery import Celery
from celery.apps.worker import Worker, install_worker_term_handler
from celery.exceptions import CPendingDeprecationWarning, SecurityWarning
from celery.utils.dispatch import Signal
from celery.worker.consumer import Consumer
from kombu.transport import redis

T = TypeVar("T")
_TRANSPORT = f"{__name__}:RedisTransport"
_SECONDS_AFTER_REFUSAL = 2.0
_MALFORMED = (ValueError, TypeError, LookupError, AttributeError, RecursionError)

ENDED = "the worker ended by an error, which its log has"
refused = Signal(name="refused")
"""Sent when the broker refused a command; a message may have been lost."""

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
    app.conf.broker_channel_error_retry = True
    if app.conf.broker_url.startswith(("redis:", "rediss:")):
        app.conf.broker_transport = _TRANSPORT
    worker = app.subclass_with_self(_Worker)(
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


def only_argument(given: Sequence[object], named: Mapping[str, object], kind: type[T]) -> T:
    """Return the argument of a task that takes one.

    Raises:
        TypeError: The message has others; see `note_dropped`.
    """
    if len(given) != 1 or named or type(given[0]) is not kind:
        told = f"{[*given]} {dict(named) or ''}".strip()[:100]
        raise TypeError(f"its arguments are not one {kind.__name__}: {told}")
    return given[0]


def _as_sentence(record: logging.LogRecord) -> bool:
    """Leave out the traceback, and the content of messages; name the Redis as people do."""
    line = record.getMessage().partition("\n")[0]
    record.msg, record.args = line.replace(f"{_TRANSPORT}://", "redis://"), None
    record.exc_info = None
    return True


def note_dropped(error: Exception) -> None:
    """Log that a message was dropped."""
    logger.warning("a message in the queue is malformed and was dropped: %r", error)


class _Worker(Worker):  # type: ignore[misc]  # celery is untyped
    """Prints nothing when it is asked to end; a second Ctrl-C does not wait for tasks."""

    def install_platform_tweaks(self, worker: Any) -> None:
        def once(_worker: object) -> None:
            signal.signal(signal.SIGINT, signal.default_int_handler)

        install_worker_term_handler(worker, verbose=False)
        install_worker_term_handler(worker, sig="SIGINT", callback=once, verbose=False)


class _Channel(redis.Channel):
    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[no-untyped-call]
        except (ValueError, RecursionError) as error:  # it is no JSON
            note_dropped(error)
            raise Empty from None


class RedisTransport(redis.Transport):
    """Messages of a Redis, without those that kombu cannot read."""

    Channel = _Channel

    def _deliver(self, message: Any, queue: str) -> None:
        try:
            super()._deliver(message, queue)  # type: ignore[no-untyped-call]
        except _MALFORMED as error:  # it has not the parts of a message
            note_dropped(error)


class _Consumer(Consumer):  # type: ignore[misc]  # celery is untyped
    def on_connection_error_after_connected(self, error: Exception) -> None:
        super().on_connection_error_after_connected(error)
        if isinstance(error, self.channel_errors):  # it answers, such as that its disk is full
            logger.warning("the broker refuses a command: %s", error)
            refused.send(sender=self)
            time.sleep(_SECONDS_AFTER_REFUSAL)

    def create_task_handler(self, *given: Any, **named: Any) -> Callable[[Any], None]:
        handle = super().create_task_handler(*given, **named)

        def handled(message: Any) -> None:
            try:
                handle(message)
            except _MALFORMED as error:  # it has not the parts of a task
                note_dropped(error)
                message.ack()

        return handled
