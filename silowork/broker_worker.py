"""A worker that a broker notifies of jobs, through Celery (the extra ``fleet``).

It starts with all unfinished jobs of the ledger, whatever the queue contains, and checks
periodically for jobs that could not be sent.
"""

import logging
import threading
from typing import Any

from celery import Celery, signals

from silowork.errors import JobsError, QueueUnreachable
from silowork.queue import TASK, Broker, Sender
from silowork.worker import Worker

SECONDS_BETWEEN_LOOKS = 2.0
SECONDS_UNTIL_LANE = 1.0

logger = logging.getLogger("silowork")


class BrokerWorker(Worker):
    """A worker of one Silo's jobs; several can share a broker.

    Args:
        broker: The broker of the Silo, which sends ids of jobs.
        slots: The largest number of jobs at a time.
    """

    def __init__(self, broker: Broker, slots: int) -> None:
        super().__init__(broker.silo_path, slots)
        self._broker = broker

    def _work(self) -> None:
        queue = self._broker.queue()
        app = self._broker.app(queue)
        self._add_task(app)
        for job in self._ledger.active():
            self._ledger.note_sent(job.job_id, sent=False)
        looking = threading.Thread(target=self._look, daemon=True)
        looking.start()
        signals.worker_shutting_down.connect(self._end, weak=False)
        try:
            _celery_worker(app, queue, self._slots).start()
        finally:
            signals.worker_shutting_down.disconnect(self._end)
            self._ending.ask()
            looking.join()

    def _end(self, *_unused: object, **_also: object) -> None:
        self._ending.ask()

    def _add_task(self, app: Celery) -> None:
        @app.task(bind=True, name=TASK, max_retries=None)  # type: ignore[untyped-decorator]  # celery is untyped
        def job(task: Any, job_id: str) -> None:
            if not self._work_on(job_id):
                raise task.retry(countdown=SECONDS_UNTIL_LANE)

    def _look(self) -> None:
        """Send jobs that the queue does not have, for example because it was unreachable."""
        sender = Sender(self._broker)
        while True:
            self._start_due()
            try:
                for job in self._unsent():
                    sender.send(job)
                    self._ledger.note_sent(job)
            except QueueUnreachable as error:
                logger.warning("%s; trying again", error)
            except JobsError as error:
                logger.error("%s", error)  # noqa: TRY400  # a sentence for the operator
            if self._ending.wait(SECONDS_BETWEEN_LOOKS):
                return

    def _unsent(self) -> list[str]:
        return [job.job_id for job in self._ledger.active() if not job.sent]


def _celery_worker(app: Celery, queue: str, slots: int) -> Any:
    return app.Worker(
        pool="threads",
        concurrency=slots,
        queues=[queue],
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
