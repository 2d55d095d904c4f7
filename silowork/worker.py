"""The worker: polls the ledgers for jobs, and runs a process for each.

The processes are forked from one that has loaded the kinds of jobs.
When asked to end (by SIGTERM, Ctrl-C, or the end of the pipe that `silo serve` holds), it
first ends the processes of its jobs. If it is killed, their pipes are closed, and they end
by themselves.
"""

import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from recordsilo.disk.locks import Locks
from silowork.broker import WORKER_LOCK
from silowork.children import end_of, started, told
from silowork.errors import JobsError
from silowork.kinds import own_names
from silowork.running import MOST_CRASHES, run_in_child
from silowork.stop import Stop
from silowork.values import ACTIVE
from silowork.waking import Waking, wake
from silowork.warm_children import WarmChild, warm
from silowork.watching import SECONDS_BETWEEN_LOOKS, WatchedSilo, WatchedSilos, lane_of

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
        self._next_look = 0.0

    def run(self) -> None:
        """Work until SIGTERM or SIGINT. Waits for another worker on this machine to end."""
        with Locks.of_silo(self._path).hold_name(WORKER_LOCK):
            with suppress(OSError):  # a job's start tells of it
                warm("silowork.warm_kinds")
            self._work()

    def _work(self) -> None:
        """Start jobs from the ledgers, oldest first, one per lane, while slots are free.

        The Silos of a directory take turns.
        """
        running: dict[tuple[str, str], Future[bool]] = {}
        with (
            self._ending.on_signals(),
            ThreadPoolExecutor(self._slots) as slots,
            Waking(self._path) as waking,
        ):
            while self._has_looked(waking):
                running = {lane: at for lane, at in running.items() if not at.done()}
                while len(running) < self._slots and (one := self._silos.next_job(running)):
                    silo, lane, job_id = one
                    running[silo.path, lane] = slots.submit(self._work_on, silo, job_id)
                    running[silo.path, lane].add_done_callback(partial(_wake, silo.path))

    def _has_looked(self, waking: Waking) -> bool:
        """Look for jobs in all ledgers after a while, or in those that are told of before that.

        Returns:
            False if the worker is asked to end.
        """
        while not self._ending.asked:
            left = self._next_look - time.monotonic()
            if left <= 0:
                self._silos.look()
                self._next_look = time.monotonic() + self._silos.pause
                break
            if names := waking.wait(min(left, SECONDS_BETWEEN_LOOKS)):
                self._silos.look_at(names)
                break
        return not self._ending.asked

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
        code = self._code_of_process(silo, job_id)
        if code and self._ending.asked:  # it had no time to hand the job back
            silo.ledger.interrupt(job_id)
        elif code and not silo.ledger.job(job_id).is_over:  # its code may have been lost
            logger.error("the process of job %s %s", job_id, told(code))
            silo.ledger.note_crash(job_id, MOST_CRASHES)
            self._ending.wait(SECONDS_AFTER_ERROR)

    def _code_of_process(self, silo: WatchedSilo, job_id: str) -> int:
        """Run a job's process; return its exit code.

        It is forked from the warm one; a new one runs the jobs of other packages, of which this
        worker may know nothing yet.
        """
        if silo.ledger.job(job_id).kind in own_names():
            try:
                return WarmChild(run_in_child, silo.path, job_id).end_of(self._ending)
            except OSError as error:  # such as no room for a socket in /tmp
                logger.warning("no process can be forked for job %s: %s", job_id, error)
        return end_of(started("run", silo.path, job_id), self._ending)


def _wake(silo_path: str, _ended: object) -> None:
    """Look at a ledger at once, as another job may wait for the lane of the one that ended."""
    wake(silo_path)
