"""What the page and the command line do with jobs: start, read, control, retry."""

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recordsilo.disk.locks import Locks
from silowork.broker import WORKER_LOCK, Broker, Sender
from silowork.errors import JobRefused, QueueUnreachable
from silowork.kinds import kind_of
from silowork.ledger import JobLedger
from silowork.running import run_here
from silowork.values import ACTIVE, Job, JobAction, State, Wish
from silowork.waking import wake

_WISHES = {JobAction.PAUSE: Wish.PAUSE, JobAction.STOP: Wish.STOP}


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs of one Silo.

    Attributes:
        broker: How workers are notified of new jobs.
        ledger: The stored jobs.
        by_worker: Whether workers run them; if not, each runs in a thread of this process, as
            in an application without `silo serve`.
    """

    broker: Broker
    ledger: JobLedger
    by_worker: bool = True

    @classmethod
    def of(cls, silo_path: str, broker_url: str = "", *, by_worker: bool = True) -> "Jobs":
        """Return the jobs of the Silo in a directory; opens and writes nothing.

        Args:
            broker_url: The broker's address; empty for none.
            by_worker: See the attribute.
        """
        path = os.path.abspath(silo_path)
        return cls(Broker(path, broker_url), JobLedger(path), by_worker)

    def begin(
        self, kind: str, title: str, arguments: Mapping[str, Any], agent: str, job_id: str = ""
    ) -> Job:
        """Start a job: store it, and notify a worker, now or as soon as one can be reached.

        Args:
            arguments: The arguments of the kind, as JSON values.
            job_id: Its id, if it already has one; an existing job is not started twice.

        Raises:
            JobRefused: There is no such kind.
            LedgerUnreadable: The job could not be stored, and was not started.
        """
        kind_of(kind)
        job = self.ledger.add(kind, title, arguments, agent, job_id)
        return self._tell(job)

    def go_on(
        self, kind: str, title: str, arguments: Mapping[str, Any], agent: str, job_id: str
    ) -> Job:
        """Start the job with this id, or continue it if it was paused, stopped or is over.

        Args:
            kind, title, arguments, agent: See `begin`.

        Raises:
            JobRefused, LedgerUnreadable: See `begin`.
        """
        kind_of(kind)
        job = self.ledger.add(kind, title, arguments, agent, job_id)
        if job.state not in ACTIVE:
            self.ledger.requeue(job_id, (job.state,))
        return self._tell(self.ledger.job(job_id))

    def act(self, job_id: str, action: JobAction) -> Job:
        """Pause, resume, stop, retry what failed or was stopped, or dismiss what failed.

        Raises:
            NoSuchJob: There is no such job.
            JobRefused: Its state does not allow this.
        """
        job = self.ledger.job(job_id)
        if action not in job.actions or not self._do(job, action):
            raise JobRefused(f"the job {job_id} is {job.state} and cannot {_VERBS[action]}")
        job = self.ledger.job(job_id)
        return self._tell(job) if job.state is State.QUEUED else job

    def problem(self, is_waiting: bool = True) -> str:
        """A sentence that says why jobs wait; empty if a worker is running.

        Args:
            is_waiting: Whether a job waits; if not, the result is empty.
        """
        if not self.by_worker or not is_waiting:
            return ""
        if self.broker.url:
            return self._broker_problem()
        path = self.broker.silo_path
        try:
            return "" if _has_worker(path) or _has_worker(os.path.dirname(path)) else _NO_WORKER
        except OSError as error:
            return f"Jobs wait: the Silo's queue cannot be used ({error.strerror})."

    def _do(self, job: Job, action: JobAction) -> bool:
        if action in _WISHES:
            return self.ledger.ask(job.job_id, _WISHES[action])
        if action is JobAction.DISMISS:
            return self.ledger.dismiss(job.job_id)
        if action is JobAction.RETRY:
            kind_of(job.kind).renew(self.broker.silo_path, job.arguments)
            self.ledger.forget_problems(job.job_id)
        return self.ledger.requeue(job.job_id, (job.state,))

    def _tell(self, job: Job) -> Job:
        """Notify a worker; if that fails, the job waits until the worker finds it in the ledger."""
        if job.sent or job.state not in ACTIVE:
            return job
        if not self.by_worker:
            running = (self.broker.silo_path, job.job_id)
            threading.Thread(target=run_here, args=running, daemon=True).start()
            return job
        if not self.broker.url:
            wake(self.broker.silo_path)
            return job
        try:
            Sender(self.broker).send(job.job_id)
        except QueueUnreachable:
            return job
        self.ledger.note_sent(job.job_id)
        return self.ledger.job(job.job_id)

    def _broker_problem(self) -> str:
        try:
            Sender(self.broker).reach()
        except QueueUnreachable as error:
            return f"Jobs wait: {error}."
        return ""


def _has_worker(path: str) -> bool:
    """Whether a worker of this Silo, or of this directory of Silos, is running."""
    directory = os.path.join(path, ".silo", "locks")
    if not os.path.exists(os.path.join(directory, WORKER_LOCK)):
        return False
    with Locks(directory).hold_name_if_free(WORKER_LOCK) as is_free:
        return not is_free


_NO_WORKER = "Jobs wait: no worker is running. Start one with `silo serve` or `silo worker`."
_VERBS = {
    JobAction.PAUSE: "be paused",
    JobAction.RESUME: "be resumed",
    JobAction.STOP: "be stopped",
    JobAction.RETRY: "be retried",
    JobAction.DISMISS: "be dismissed",
}
