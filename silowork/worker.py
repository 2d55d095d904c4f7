"""The worker: polls the ledger for jobs, and runs a process for each.

When asked to end (by SIGTERM, Ctrl-C, or the end of the pipe that `silo serve` holds), it
first ends the processes of its jobs. If it is killed, their pipes are closed, and they end
by themselves.
"""

import logging
import os
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor

from recordsilo.disk.locks import Locks
from silowork.errors import JobsError
from silowork.kinds import kind_names, kind_of
from silowork.ledger import JobLedger
from silowork.queue import WORKER_LOCK
from silowork.running import MOST_CRASHES, SECONDS_TO_END
from silowork.schedules import start_due
from silowork.stop import Stop
from silowork.values import ACTIVE, Job

SLOTS = 4
"""The number of jobs at a time; those of the same lane still run one after another."""
SECONDS_BETWEEN_LOOKS = 0.3
SECONDS_BETWEEN_CLOCKS = 10.0
"""Between two looks at the schedules."""
SECONDS_AFTER_CRASH = 2.0
"""How long to wait before a job is restarted whose process crashed."""

logger = logging.getLogger("silowork")


class Worker:
    """A worker of one Silo's jobs; `run` returns when it is asked to end.

    Args:
        silo_path: The Silo's directory.
        slots: The largest number of jobs at a time.
    """

    def __init__(self, silo_path: str, slots: int = SLOTS) -> None:
        self._silo_path, self._slots = silo_path, slots
        self._ledger = JobLedger(silo_path)
        self._locks = Locks(os.path.join(silo_path, ".silo", "locks"))
        self._ending = Stop()
        self._clock_seen = float("-inf")

    def run(self) -> None:
        """Work until SIGTERM or SIGINT. Waits for another worker on this machine to end."""
        with self._locks.hold_name(WORKER_LOCK):
            self._work()

    def _work(self) -> None:
        """Start jobs from the ledger, oldest first, one per lane, while slots are free."""
        running: dict[str, Future[bool]] = {}
        with self._ending.on_signals(), ThreadPoolExecutor(self._slots) as slots:
            while not self._ending.wait(SECONDS_BETWEEN_LOOKS):
                self._start_due()
                running = {lane: at for lane, at in running.items() if not at.done()}
                for lane, job_id in self._waiting():
                    if len(running) < self._slots and lane not in running:
                        running[lane] = slots.submit(self._work_on, job_id)

    def _start_due(self) -> None:
        """Start the jobs of schedules that are due; looks at them every few seconds."""
        now = time.monotonic()
        if now - self._clock_seen >= SECONDS_BETWEEN_CLOCKS:
            self._clock_seen = now
            start_due(self._silo_path)

    def _waiting(self) -> list[tuple[str, str]]:
        """(lane, id) of unfinished jobs, the oldest first."""
        try:
            return [(_lane_of(job), job.job_id) for job in self._ledger.active()]
        except JobsError as error:
            logger.error("%s", error)  # noqa: TRY400  # a sentence for the operator
            return []

    # ------------------------------------------------------------------ one job

    def _work_on(self, job_id: str) -> bool:
        """Run a job's process to its end; False if another job of its lane is running."""
        if self._ending.asked:
            return True
        try:
            job = self._ledger.job(job_id)
            if job.state not in ACTIVE:
                return True
            lane = _lane_of(job)
        except JobsError as error:
            logger.error("%s", error)  # noqa: TRY400  # a sentence for the operator
            return True
        with self._locks.hold_name_if_free(f"lane-{lane}") as is_free:
            if is_free:
                self._run_process(job_id)
            return is_free

    def _run_process(self, job_id: str) -> None:
        command = [sys.executable, "-m", "silowork", "run", self._silo_path, job_id]
        with subprocess.Popen(  # noqa: S603  # our own module, a path and an id
            command, stdin=subprocess.PIPE, start_new_session=True
        ) as process:
            assert process.stdin
            while process.poll() is None:
                if self._ending.wait(0.2):
                    process.stdin.close()
                    _end_process(process)
        if process.returncode and not self._ending.asked:
            logger.error("the process of job %s ended with %s", job_id, process.returncode)
            try:
                self._ledger.note_crash(job_id, MOST_CRASHES)
            except JobsError as error:
                logger.error("%s", error)  # noqa: TRY400  # a sentence for the operator
            self._ending.wait(SECONDS_AFTER_CRASH)


def _lane_of(job: Job) -> str:
    """The job's lane, in which only one job runs at a time; without a lane, the job's id.

    An unknown kind has no lane; the job's process reports it.
    """
    known = job.kind in kind_names()
    return (kind_of(job.kind).lane if known else "") or job.job_id


def _end_process(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(SECONDS_TO_END + 2.0)
    except subprocess.TimeoutExpired:
        process.kill()
