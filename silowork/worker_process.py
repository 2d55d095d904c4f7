"""The process of a worker, with or without a broker."""

import signal
from functools import partial

from recordsilo.child_process import SECONDS_TO_END, end_with_parent, wait_for_end_of
from silowork.broker import Broker
from silowork.warm_children import cool
from silowork.worker import SLOTS, Worker


def run_worker(broker: Broker, held: int | None = None, slots: int = SLOTS) -> None:
    """Run a worker until it is asked to end.

    Args:
        broker: How the worker is notified of jobs.
        held: The descriptor of a pipe; if given, the worker ends when the pipe is closed.
        slots: The largest number of jobs at a time.
    """
    if held is not None:
        gone = partial(wait_for_end_of, held)
        end_with_parent(gone, signal.SIG_DFL, SECONDS_TO_END + 5.0)  # `Worker` sets a handler
    try:
        _worker(broker, slots).run()
    finally:
        cool()


def _worker(broker: Broker, slots: int) -> Worker:
    if not broker.url:
        return Worker(broker.silo_path, slots)
    from silowork.broker_worker import BrokerWorker  # noqa: PLC0415  # loads Celery

    return BrokerWorker(broker, slots)
