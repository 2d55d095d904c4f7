"""The worker: takes names of jobs from the queue, and runs a process for each job.

It begins with all that the ledger has unfinished, whatever the queue says, and looks now
and then for jobs that could not be sent. Asked to end (SIGTERM, Ctrl-C, or the end of the
pipe that `silo serve` holds) it ends its jobs' processes first; killed, its pipes end and
they end by themselves.
"""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from celery import Celery, signals

from recordsilo.locks import Locks
from webui.jobs.errors import JobsError, QueueUnreachable
from webui.jobs.kinds import kind_of
from webui.jobs.ledger import JobLedger
from webui.jobs.queue import TASK, WORKER_LOCK, Broker, Sender
from webui.jobs.running import SECONDS_TO_END
from webui.jobs.values import ACTIVE

SLOTS = 4
"""Jobs at once; those of one lane still follow each other."""
SECONDS_BETWEEN_LOOKS = 2.0
SECONDS_UNTIL_LANE = 1.0

logger = logging.getLogger("webui.jobs")


class Worker:
    """A worker of one Silo's jobs; `run` returns when it was asked to end.

    Args:
        broker: Where names of jobs come from, of the Silo that is worked at.
        slots: Jobs at once.
    """

    def __init__(self, broker: Broker, slots: int = SLOTS) -> None:
        self._broker, self._slots = broker, slots
        self._silo_path = broker.silo_path
        self._ledger = JobLedger(broker.silo_path)
        self._locks = Locks(os.path.join(broker.silo_path, ".silo", "locks"))
        self._ending = threading.Event()

    def run(self) -> None:
        """Work until SIGTERM or SIGINT. Another worker of this machine is waited for."""
        with self._locks.hold_name(WORKER_LOCK):
            queue = self._broker.queue()
            app = self._broker.app(queue)
            self._add_task(app)
            self._send_again(app, queue)
            looking = threading.Thread(target=self._look, daemon=True)
            looking.start()
            signals.worker_shutting_down.connect(self._end, weak=False)
            try:
                _celery_worker(app, queue, self._slots).start()
            finally:
                signals.worker_shutting_down.disconnect(self._end)
                self._ending.set()
                looking.join()

    def _add_task(self, app: Celery) -> None:
        @app.task(bind=True, name=TASK, max_retries=None)  # type: ignore[untyped-decorator]  # celery is untyped
        def job(task: Any, job_id: str) -> None:
            if not self._work_on(job_id):
                raise task.retry(countdown=SECONDS_UNTIL_LANE)

    def _end(self, **_unused: object) -> None:
        self._ending.set()

    # ------------------------------------------------------------------ what there is to do

    def _send_again(self, app: Celery, queue: str) -> None:
        """Messages of before are forgotten; every unfinished job gets a new one."""
        if not self._broker.url:
            with app.connection_for_write() as connection:
                connection.default_channel.queue_declare(queue)
                connection.default_channel.queue_purge(queue)
        for job in self._ledger.active():
            self._ledger.note_sent(job.job_id, sent=False)

    def _look(self) -> None:
        """Send what the queue does not know of yet, as after it could not be reached."""
        sender = Sender(self._broker)
        while True:
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

    # ------------------------------------------------------------------ one job

    def _work_on(self, job_id: str) -> bool:
        """Run a job's process to its end; False where another of its lane is running."""
        if self._ending.is_set():
            return True
        try:
            job = self._ledger.job(job_id)
            if job.state not in ACTIVE:
                return True
            lane = kind_of(job.kind).lane
        except JobsError as error:
            logger.error("%s", error)  # noqa: TRY400  # a sentence for the operator
            return True
        with self._locks.hold_name_if_free(f"lane-{lane or job_id}") as is_free:
            if is_free:
                self._run_process(job_id)
            return is_free

    def _run_process(self, job_id: str) -> None:
        command = [sys.executable, "-m", "webui.jobs", "run", self._silo_path, job_id]
        with subprocess.Popen(  # noqa: S603  # our own module, a path and an id
            command, stdin=subprocess.PIPE, start_new_session=True
        ) as process:
            assert process.stdin
            while process.poll() is None:
                if self._ending.wait(0.2):
                    process.stdin.close()
                    _end_process(process)
        if process.returncode and not self._ending.is_set():
            logger.error("the process of job %s ended with %s", job_id, process.returncode)
            self._ledger.note_sent(job_id, sent=False)


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


def _end_process(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(SECONDS_TO_END + 2.0)
    except subprocess.TimeoutExpired:
        process.kill()


def run_worker(broker: Broker, held: int | None = None, slots: int = SLOTS) -> None:
    """The whole process of a worker.

    Args:
        held: A pipe's descriptor: where given, the worker ends when the pipe does.
    """
    if held is not None:
        threading.Thread(target=_end_with, args=(held,), daemon=True).start()
    Worker(broker, slots).run()


def _end_with(held: int) -> None:
    while os.read(held, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_END + 5.0)
    os._exit(os.EX_TEMPFAIL)
