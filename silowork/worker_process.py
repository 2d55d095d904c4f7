"""The process of a worker, with or without a broker."""

import os
import signal
import threading
import time

from silowork.queue import Broker
from silowork.running import SECONDS_TO_END
from silowork.worker import SLOTS, Worker


def run_worker(broker: Broker, held: int | None = None, slots: int = SLOTS) -> None:
    """Run a worker until it is asked to end.

    Args:
        broker: How the worker is notified of jobs.
        held: The descriptor of a pipe; if given, the worker ends when the pipe is closed.
        slots: The largest number of jobs at a time.
    """
    if held is not None:
        threading.Thread(target=_end_with, args=(held,), daemon=True).start()
    if broker.url:
        from silowork.broker_worker import BrokerWorker  # noqa: PLC0415  # loads Celery

        BrokerWorker(broker, slots).run()
    else:
        Worker(broker.silo_path, slots).run()


def _end_with(held: int) -> None:
    while os.read(held, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_END + 5.0)
    os._exit(os.EX_TEMPFAIL)
