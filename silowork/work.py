"""What a kind of job is given to do its work with, and what it says of itself."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

from silowork.errors import Interrupted
from silowork.ledger import JobLedger
from silowork.stop import Stop
from silowork.values import Advance, Ending, Job, Problem

SECONDS_BETWEEN_NOTES = 0.5
_ENDED = "ended"


class Work:
    """One run of a job, as its kind sees it.

    Args:
        ledger: Keeps how far the job is.
        job: The job, running.
        stop: Asks the job to end before its time.

    Attributes:
        silo_path: The Silo's directory.
        arguments: As the job was made with.
        agent: Who asked for it: noted with every change.
        stop: Whether to end before the time.
        mark: Where an earlier run of it was, as that noted with `keep`.
    """

    def __init__(
        self,
        ledger: JobLedger,
        job: Job,
        stop: Stop | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.silo_path, self.arguments, self.agent = ledger.silo_path, job.arguments, job.agent
        self.mark = job.mark
        self.stop = stop or Stop()
        self._ledger, self._job_id, self._clock = ledger, job.job_id, clock
        self._noted = float("-inf")
        self._step = ""
        self._last: Advance | None = None

    def advanced(self, done: int, total: int | None = None, step: str = "") -> None:
        """Say how far the job is.

        Kept twice a second at most, and for each new step; `keeping_last` keeps the end.
        """
        now = self._clock()
        self._last = Advance(done, total, step)
        if now - self._noted >= SECONDS_BETWEEN_NOTES or step != self._step:
            self._noted, self._step = now, step
            self._ledger.advance(self._job_id, self._last)

    @contextmanager
    def keeping_last(self) -> Iterator[None]:
        """Keep how far the job was before the block, as that of all of it, after the block."""
        last = self._last
        yield
        if last is not None:
            self._ledger.advance(self._job_id, last)

    def keep(self, mark: Mapping[str, Any], problems: Iterable[Problem]) -> None:
        """Note from where another run goes on, and what was found since the last note."""
        self.mark = mark
        self._ledger.keep(self._job_id, mark, problems)

    @property
    def ended(self) -> Ending | None:
        """The end of the kind's own work, where `note_ended` kept it in an earlier run."""
        return Ending(**self.mark[_ENDED]) if _ENDED in self.mark else None

    def note_ended(self, ending: Ending) -> Ending:
        """Note that the kind's own work is done, so that another run only does the steps after.

        Returns:
            The ending without its problems, which the ledger has now.
        """
        bare = replace(ending, problems=None)
        known = asdict(bare)
        del known["problems"]
        self.keep({_ENDED: known}, ending.problems or ())
        return bare

    def add(self, problems: Iterable[Problem]) -> None:
        """Note further problems; where another run goes on stays as it is."""
        self.keep(self.mark, problems)

    def end_if_asked(self) -> None:
        """Where the work knows no other way to end.

        Raises:
            Interrupted: It is to end.
        """
        if self.stop.asked:
            raise Interrupted("the job was asked to end")


@dataclass(frozen=True, slots=True)
class Asked:
    """A job that somebody asks for by a form.

    Attributes:
        title: What the job is called.
        arguments: As JSON values.
    """

    title: str
    arguments: Mapping[str, Any]


Fields: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of job; an entry point of its name leads to it.

    Attributes:
        name: As in the ledger; the entry point's name.
        label: What it is called.
        run: Does what is left of a job; the same call goes on after a stop anywhere.
            Raises `Interrupted`, or KeyboardInterrupt, where it was asked to end.
        lane: Jobs of one lane are done one after the other; empty: beside all others.
        by_signal: It is interrupted as by Ctrl-C, and ends cleanly then; else it asks.
        renew: What trying again needs first, as for records that were passed over.
        foreseen: Errors of its package whose message is a sentence for the user.
        read: Makes the job from a form's fields, the Silo's directory and its number of
            records; raises `JobRefused`. None where no form begins it.
        by_curators: Curators may steer its jobs; else only managers.
        result: Which of `Ending.counts` says what the whole job did.
        did: English text for that number, with ``{n}``.
    """

    name: str
    label: str
    run: Callable[[Work], Ending]
    lane: str = ""
    by_signal: bool = False
    renew: Callable[[str, Mapping[str, Any]], object] = lambda _path, _arguments: None
    foreseen: tuple[type[Exception], ...] = ()
    read: Callable[[Fields, str, int], Asked] | None = None
    by_curators: bool = False
    result: str = "records"
    did: str = "{n} records"
