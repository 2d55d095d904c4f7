"""What a kind of job is given to do its work with, and what it says of itself."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from webui.jobs.errors import Interrupted
from webui.jobs.ledger import JobLedger
from webui.jobs.values import Advance, Ending, Job, Problem

SECONDS_BETWEEN_NOTES = 0.5


class Work:
    """One run of a job, as its kind sees it.

    Args:
        ledger: Keeps how far the job is.
        job: The job, running.
        stopping: Set when the job is to end before its time.

    Attributes:
        silo_path: The Silo's directory.
        arguments: As the job was made with.
        agent: Who asked for it: noted with every change.
        mark: Where an earlier run of it was, as that noted with `keep`.
    """

    def __init__(
        self,
        ledger: JobLedger,
        job: Job,
        stopping: threading.Event | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.silo_path, self.arguments, self.agent = ledger.silo_path, job.arguments, job.agent
        self.mark = job.mark
        self.stopping = stopping or threading.Event()
        self._ledger, self._job_id, self._clock = ledger, job.job_id, clock
        self._noted = float("-inf")
        self._step = ""

    def advanced(self, done: int, total: int | None = None, step: str = "") -> None:
        """Say how far the job is; kept twice a second at most, and for each new step."""
        now = self._clock()
        if now - self._noted >= SECONDS_BETWEEN_NOTES or step != self._step:
            self._noted, self._step = now, step
            self._ledger.advance(self._job_id, Advance(done, total, step))

    def keep(self, mark: Mapping[str, Any], problems: Iterable[Problem]) -> None:
        """Note from where another run goes on, and what was found since the last note."""
        self._ledger.keep(self._job_id, mark, problems)

    def stop(self) -> bool:
        """Whether to end before the time."""
        return self.stopping.is_set()

    def end_if_asked(self) -> None:
        """Where the work knows no other way to end.

        Raises:
            Interrupted: It is to end.
        """
        if self.stop():
            raise Interrupted("the job was asked to end")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of job.

    Attributes:
        label: What it is called.
        run: Does what is left of a job; the same call goes on after a stop anywhere.
            Raises `Interrupted`, or KeyboardInterrupt, where it was asked to end.
        lane: Jobs of one lane are done one after the other; empty: beside all others.
        by_signal: It is interrupted as by Ctrl-C, and ends cleanly then; else it asks.
        renew: What trying again needs first, as for records that were passed over.
    """

    label: str
    run: Callable[[Work], Ending]
    lane: str = ""
    by_signal: bool = False
    renew: Callable[[str, Mapping[str, Any]], object] = lambda _path, _arguments: None
