"""The worker: polls the ledgers for jobs, and runs a process for each.

When asked to end (by SIGTERM, Ctrl-C, or the end of the pipe that `silo serve` holds), it
first ends the processes of its jobs. If it is killed, their pipes are closed, and they end
by themselves.
"""

import logging
from concurrent.futures import Future, ThreadPoolExecutor

from recordsilo.disk.locks import Locks
from silowork.broker import WORKER_LOCK
from silowork.children import ask_to_end, ended, started
from silowork.errors import JobsError
from silowork.running import MOST_CRASHES
from silowork.stop import Stop
from silowork.values import ACTIVE
from silowork.watching import WatchedSilo, WatchedSilos, lane_of

SLOTS = 4
"""The number of jobs at a time; those of the same lane still run one after another."""
SECONDS_AFTER_ERROR = 2.0
"""How long to wait before a job is tried again whose process crashed, or could not start."""

logger = logging.getLogger("silowork")


class Worker:
    """A worker of the jobs of one Silo, or of all Silos of a directory.

    `run` returns when it is asked to end.

    Args:
        path: The Silo, or the directory of Silos.
        slots: The largest number of jobs at a time.
    """

    def __init__(self, path: str, slots: int = SLOTS) -> None:
        self._path, self._slots = path, slots
        self._silos = WatchedSilos(path)
        self._ending = Stop()

    def run(self) -> None:
        """Work until SIGTERM or SIGINT. Waits for another worker on this machine to end."""
        with Locks.of_silo(self._path).hold_name(WORKER_LOCK):
            self._work()

    def _work(self) -> None:
        """Start jobs from the ledgers, oldest first, one per lane, while slots are free.

        The Silos of a directory take turns.
        """
        running: dict[tuple[str, str], Future[bool]] = {}
        with self._ending.on_signals(), ThreadPoolExecutor(self._slots) as slots:
            while not self._ending.wait(self._silos.pause):
                self._silos.look()
                running = {lane: at for lane, at in running.items() if not at.done()}
                while len(running) < self._slots and (one := self._silos.next_job(running)):
                    silo, lane, job_id = one
                    running[silo.path, lane] = slots.submit(self._work_on, silo, job_id)

    # ------------------------------------------------------------------ one job

    def _work_on(self, silo: WatchedSilo, job_id: str) -> bool:
        """Run a job's process to its end.

        Returns:
            False if another job of its lane is running, or another worker has the Silo.
        """
        if self._ending.asked:
            return True
        try:
            job = silo.ledger.job(job_id)
            if job.state not in ACTIVE:
                return True
            lane = lane_of(job)
            with silo.held() as is_held, silo.locks.hold_name_if_free(f"lane-{lane}") as is_free:
                if is_held and is_free:
                    self._run_process(silo, job_id)
                    return True
        except (JobsError, OSError) as error:
            logger.error("%s", error)  # noqa: TRY400  # a sentence for the operator
            self._ending.wait(SECONDS_AFTER_ERROR)
            return True
        silo.note_refused(lane)
        return False

    def _run_process(self, silo: WatchedSilo, job_id: str) -> None:
        process = started("run", silo.path, job_id)
        while process.poll() is None:
            if self._ending.wait(0.2):
                ended(process)
        ask_to_end(process)
        if process.returncode and self._ending.asked:  # it had no time to hand the job back
            silo.ledger.interrupt(job_id)
        elif process.returncode:
            logger.error("the process of job %s ended with %s", job_id, process.returncode)
            silo.ledger.note_crash(job_id, MOST_CRASHES)
            self._ending.wait(SECONDS_AFTER_ERROR)
