"""A worker that a broker notifies of jobs, through Celery (the extra ``fleet``).

It starts with all unfinished jobs of the ledgers, whatever the queues contain, and checks
periodically for jobs that could not be sent. Every Silo has its own queue; the worker of a
directory receives from those of all its Silos.
"""

import hashlib
import logging
import os
import threading
from dataclasses import replace
from typing import Any

from celery import Celery, signals

from silowork.broker import TASK, Broker, Sender
from silowork.celery_worker import ENDED, celery_worker, note_dropped, only_argument, refused
from silowork.errors import JobsError, QueueUnreachable
from silowork.watching import WatchedSilo
from silowork.worker import Worker

SECONDS_BETWEEN_LOOKS = 2.0
SECONDS_UNTIL_LANE = 1.0

logger = logging.getLogger("silowork")


class BrokerWorker(Worker):
    """A worker of the jobs of one Silo, or of all Silos of a directory; several share a broker.

    Args:
        broker: The broker of the Silo or the directory, which sends ids of jobs.
        slots: The largest number of jobs at a time.
    """

    def __init__(self, broker: Broker, slots: int) -> None:
        super().__init__(broker.silo_path, slots)
        self._broker = broker
        self._by_queue: dict[str, WatchedSilo] = {}
        self._with_queue: set[str] = set()
        self._celery: Any = None

    def _work(self) -> None:
        self._silos.look()
        queues = self._new_queues()
        own = _queue_of_nobody(self._path) if self._silos.is_directory else queues[0]
        app = self._broker.app(own)
        self._add_task(app)
        looking = threading.Thread(target=self._look, daemon=True)
        signals.worker_shutting_down.connect(self._end, weak=False)
        refused.connect(self._forget_queues, weak=False)
        self._celery = celery_worker(app, [own, *queues], self._slots)
        looking.start()
        try:
            self._celery.start()
        finally:
            signals.worker_shutting_down.disconnect(self._end)
            refused.disconnect(self._forget_queues)
            is_asked = self._ending.asked
            self._ending.ask()
            looking.join()
        if self._celery.exitcode and not is_asked:
            raise QueueUnreachable(self._broker.shown, ENDED)

    def _end(self, *_unused: object, **_also: object) -> None:
        self._ending.ask()

    def _forget_queues(self, *_unused: object, **_also: object) -> None:
        """Take the queues for new ones, so that the unfinished jobs are sent again."""
        self._with_queue.clear()

    def _add_task(self, app: Celery) -> None:
        @app.task(bind=True, name=TASK, max_retries=None)  # type: ignore[untyped-decorator]  # celery is untyped
        def job(task: Any, *given: object, **named: object) -> None:
            try:
                job_id = only_argument(given, named, str)
                silo = self._by_queue[task.request.delivery_info["routing_key"]]
            except (TypeError, LookupError) as error:
                note_dropped(error)
                return
            if not self._work_on(silo, job_id):
                raise task.retry(countdown=SECONDS_UNTIL_LANE)

    def _look(self) -> None:
        """Send jobs that the queues do not have, for example because one was unreachable."""
        while not self._ending.wait(max(SECONDS_BETWEEN_LOOKS, self._silos.pause)):
            try:
                self._silos.look()
                for queue in self._new_queues():
                    consumer = self._celery.consumer
                    consumer.call_soon(consumer.add_task_queue, queue, routing_key=queue)
                self._send_unsent()
            except (JobsError, OSError) as error:
                logger.warning("%s; trying again", error)

    def _send_unsent(self) -> None:
        """Send the jobs that wait and were not sent.

        Raises:
            QueueUnreachable: The broker cannot be reached.
        """
        for silo in self._silos:
            if not silo.waiting:
                continue
            try:
                unsent = [job.job_id for job in silo.ledger.active() if not job.sent]
                for job_id in unsent:
                    Sender(self._broker_of(silo)).send(job_id)
                    silo.ledger.note_sent(job_id)
            except QueueUnreachable:
                raise
            except JobsError as error:
                logger.error("%s", error)  # noqa: TRY400  # a sentence for the operator

    def _new_queues(self) -> list[str]:
        """Return the queues of Silos that have a ledger since the last call.

        Their unfinished jobs are sent again: an earlier worker may have taken the messages.
        """
        found = []
        for silo in self._silos:
            is_alone = not self._silos.is_directory
            if silo.path in self._with_queue or not (is_alone or os.path.exists(silo.ledger.path)):
                continue
            try:
                queue = self._broker_of(silo).queue()
                for job in silo.ledger.active():
                    silo.ledger.note_sent(job.job_id, sent=False)
            except (JobsError, OSError) as error:
                if is_alone:
                    raise
                logger.error("%s", error)  # noqa: TRY400  # a sentence for the operator
                continue
            self._with_queue.add(silo.path)
            self._by_queue[queue] = silo
            found.append(queue)
        return found

    def _broker_of(self, silo: WatchedSilo) -> Broker:
        return replace(self._broker, silo_path=silo.path)


def _queue_of_nobody(path: str) -> str:
    """The name of a queue to which nothing is sent, for a directory without jobs."""
    place = os.path.realpath(path).encode("utf-8", "surrogateescape")
    return f"silos-{hashlib.sha256(place).hexdigest()[:32]}"
