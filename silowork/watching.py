"""The Silos of a worker: one, or all of a directory.

A ledger is opened only if its file has changed since it was read, so that thousands of Silos
without jobs cost a ``stat`` each.
"""

import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from recordsilo import Granary
from recordsilo.disk.locks import Locks
from recordsilo.disk.stamps import stamp_of
from recordsilo.errors import VERSION_FILE, RecordSiloError
from silowork.broker import WORKER_LOCK
from silowork.errors import JobsError
from silowork.kinds import kind_names, kind_of
from silowork.ledger import JobLedger
from silowork.schedules import first_due, schedule_files, start_due
from silowork.values import Job

SECONDS_BETWEEN_LOOKS = 0.3
LARGEST_SHARE, LONGEST_PAUSE = 0.03, 2.0
"""The part of a core that looks at the ledgers may take: more Silos are looked at less often, but
after these seconds."""
SECONDS_BETWEEN_CLOCKS = 10.0
"""Between two looks at the schedules, and for new Silos."""
LONGEST_PLAN = 600.0
"""Schedules are read at least this often, in seconds, even if nothing changed."""
SECONDS_AFTER_REFUSAL = 1.0
"""Before a job is tried again whose lane or Silo another process holds."""

logger = logging.getLogger("silowork")


@dataclass(frozen=True, slots=True)
class _Plan:
    """When the schedules of a Silo are to be read again.

    Attributes:
        stamp: Of the files by which it was made.
        due: When the first schedule is due.
        until: The monotonic time at which the plan is made again, as clocks may be set.
    """

    stamp: object
    due: datetime
    until: float


class WatchedSilo:
    """One Silo of a worker.

    Args:
        is_held: Whether the worker holds the Silo's lock for as long as it runs.

    Attributes:
        waiting: (lane, id) of unfinished jobs, the oldest first, as of the last look.
        served: When a job of it was last chosen, as a number that grows.
    """

    def __init__(self, path: str, *, is_held: bool = False) -> None:
        self.path, self.ledger = path, JobLedger(path)
        self.waiting: list[tuple[str, str]] = []
        self.served = 0
        self._is_held = is_held
        self._stamp: object = None
        self._plan = _Plan(None, datetime.max.replace(tzinfo=UTC), float("-inf"))
        self._refused: dict[str, float] = {}
        self._mutex = threading.Lock()
        self._users = 0
        self._lock = ExitStack()

    @property
    def locks(self) -> Locks:
        """Return the locks of the Silo."""
        return Locks.of_silo(self.path, in_silo=True)

    def look(self) -> None:
        """Read the ledger, if it may have changed since it was read."""
        stamp = stamp_of(self.ledger.path)
        if stamp is not None and stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self.waiting = [(lane_of(job), job.job_id) for job in self.ledger.active()]
        except JobsError as error:
            logger.error("%s", error)  # noqa: TRY400  # a sentence for the operator
            self.waiting = []

    def start_due(self) -> None:
        """Start the jobs of schedules that are due.

        Nothing is read before the next one is due, unless a job or schedule has changed.
        """
        try:
            files = schedule_files(self.path)
            if not files:
                return
            stamp, now = stamp_of(self.ledger.path, *files), time.monotonic()
            is_known = stamp is not None and stamp == self._plan.stamp
            if is_known and now < self._plan.until and datetime.now(UTC) < self._plan.due:
                return
            start_due(self.path)
            self._plan = _Plan(stamp, first_due(self.path), now + LONGEST_PLAN)
        except OSError as error:
            logger.error("the schedules of %s: %s", self.path, error)  # noqa: TRY400  # as below

    def next_job(self, running: Collection[tuple[str, str]]) -> tuple[str, str] | None:
        """Return the oldest job, with its lane, that can be tried now; None if there is none.

        Args:
            running: (path of a Silo, lane) of the jobs that run.
        """
        now = time.monotonic()
        for lane, job_id in self.waiting:
            if (self.path, lane) not in running and self._refused.get(lane, now) <= now:
                return lane, job_id
        return None

    def note_refused(self, lane: str) -> None:
        """Try no job of a lane for a moment, because another process holds the lane or Silo."""
        now = time.monotonic()
        self._refused = {one: at for one, at in self._refused.items() if at > now}
        self._refused[lane] = now + SECONDS_AFTER_REFUSAL

    @contextmanager
    def held(self) -> Iterator[bool]:
        """Hold the Silo's lock, shared by the threads of the worker; yields whether it is held.

        Raises:
            OSError: The disk refuses the lock.
        """
        is_held = self._take()
        try:
            yield is_held
        finally:
            if is_held:
                self._give_back()

    def _take(self) -> bool:
        with self._mutex:
            if not self._users and not self._is_held:
                self._lock = ExitStack()
                if not self._lock.enter_context(self.locks.hold_name_if_free(WORKER_LOCK)):
                    return False
            self._users += 1
            return True

    def _give_back(self) -> None:
        with self._mutex:
            self._users -= 1
            if not self._users:
                self._lock.close()


class WatchedSilos:
    """The Silos of a worker, also those that are made while it runs.

    Args:
        path: A Silo, or a directory of Silos.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.is_directory = not os.path.exists(os.path.join(path, VERSION_FILE))
        self.pause = SECONDS_BETWEEN_LOOKS
        self._granary = Granary(path, create=False) if self.is_directory else None
        self._silos: dict[str, WatchedSilo] = {}
        self._scanned = float("-inf")
        self._served = 0

    def __iter__(self) -> Iterator[WatchedSilo]:
        return iter(self._silos.values())

    def look(self) -> None:
        """Look for new Silos, for schedules that are due and for jobs; sets `pause`."""
        began = time.monotonic()
        if began - self._scanned >= SECONDS_BETWEEN_CLOCKS:
            self._scan()
            for silo in self:
                silo.start_due()
            self._scanned = time.monotonic()
        looked = time.thread_time()
        for silo in self:
            silo.look()
        needed = (time.thread_time() - looked) / LARGEST_SHARE
        self.pause = min(max(SECONDS_BETWEEN_LOOKS, needed), LONGEST_PAUSE)

    def look_at(self, names: Collection[str]) -> None:
        """Look for jobs in some Silos of the directory, or in the only one, whatever it is called.

        Args:
            names: Of the Silos; unknown ones are ignored.
        """
        for silo in {self._silos.get(name if self.is_directory else "") for name in names}:
            if silo is not None:
                silo.look()

    def next_job(self, running: Collection[tuple[str, str]]) -> tuple[WatchedSilo, str, str] | None:
        """Return a job that waits: its Silo, lane and id. None if none can be tried now.

        It is of the Silo that has the fewest running jobs, and of those of the one that was
        served longest ago.

        Args:
            running: (path of a Silo, lane) of the jobs that run.
        """
        busy = Counter(path for path, _lane in running)
        found = [(silo, one) for silo in self if silo.waiting and (one := silo.next_job(running))]
        if not found:
            return None
        silo, (lane, job_id) = min(found, key=lambda one: (busy[one[0].path], one[0].served))
        self._served = silo.served = self._served + 1
        return silo, lane, job_id

    def _scan(self) -> None:
        """Learn which Silos there are."""
        if self._granary is None:
            self._silos = self._silos or {"": WatchedSilo(self.path, is_held=True)}
            return
        try:
            names = self._granary.silos
        except (RecordSiloError, OSError) as error:
            logger.error("%s", error)  # noqa: TRY400  # a sentence for the operator
            return
        known = self._silos
        paths = {name: os.path.join(self.path, name) for name in names}
        self._silos = {name: known.get(name) or WatchedSilo(paths[name]) for name in names}


def lane_of(job: Job) -> str:
    """Return the job's lane, in which only one job runs at a time; without a lane, the job's id.

    An unknown kind has no lane; the job's process reports it.
    """
    known = job.kind in kind_names()
    return (kind_of(job.kind).lane if known else "") or job.job_id
