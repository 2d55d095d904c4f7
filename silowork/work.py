"""The interface between jobs and packages: a run of a job (`Work`), and a `Kind` of jobs."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeAlias

from silowork.errors import Interrupted
from silowork.forms import JobForm
from silowork.ledger import JobLedger
from silowork.stop import Stop
from silowork.values import Advance, Ending, Job, Problem

SECONDS_BETWEEN_NOTES = 0.5
_ENDED = "ended"


class Work:
    """One run of a job, for the function of its kind.

    Args:
        ledger: Stores the progress of the job.
        job: The running job.
        stop: Asks the job to end early.

    Attributes:
        silo_path: The Silo's directory.
        job_id: The job's id.
        arguments: The job's arguments.
        agent: Who started the job, to be recorded with every change.
        stop: Whether the job was asked to end early.
        mark: Where an earlier run stopped, as stored by `keep`.
    """

    def __init__(
        self,
        ledger: JobLedger,
        job: Job,
        stop: Stop | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.silo_path, self.arguments, self.agent = ledger.silo_path, job.arguments, job.agent
        self.mark, self.job_id = job.mark, job.job_id
        self.stop = stop or Stop()
        self._ledger, self._clock = ledger, clock
        self._noted = float("-inf")
        self._step = ""
        self._last: Advance | None = None

    def advanced(self, done: int, total: int | None = None, step: str = "") -> None:
        """Report the progress of the job.

        It is stored at most twice a second, and for each new step; `keeping_progress` stores the
        last one.

        Args:
            done: The number of records processed in this step.
            total: The number of records of the step; None if unknown.
            step: The current step, if the job has several.
        """
        now = self._clock()
        self._last = Advance(done, total, step)
        if now - self._noted >= SECONDS_BETWEEN_NOTES or step != self._step:
            self._noted, self._step = now, step
            self._ledger.advance(self.job_id, self._last)

    @contextmanager
    def keeping_progress(self) -> Iterator[None]:
        """After the block, show the progress from before it again."""
        last = self._last
        yield
        if last is not None:
            self._ledger.advance(self.job_id, last)

    def keep(self, mark: Mapping[str, Any], problems: Iterable[Problem]) -> None:
        """Store where another run continues, and the problems since the last call."""
        self.mark = mark
        self._ledger.keep(self.job_id, mark, problems)

    @property
    def ended(self) -> Ending | None:
        """The result of the kind's own work, if `note_ended` stored it in an earlier run."""
        return Ending(**self.mark[_ENDED]) if _ENDED in self.mark else None

    def note_ended(self, ending: Ending) -> Ending:
        """Store the result of the kind's own work, so that another run does only the later steps.

        Returns:
            The ending without its problems, which are in the ledger now.
        """
        bare = replace(ending, problems=None)
        known = asdict(bare)
        del known["problems"]
        self.keep({_ENDED: known}, ending.problems or ())
        return bare

    def add(self, problems: Iterable[Problem]) -> None:
        """Store further problems, without changing where another run continues."""
        self.keep(self.mark, problems)

    def end_if_asked(self) -> None:
        """Raise `Interrupted` if the job was asked to end, for work with no other way to end.

        Raises:
            Interrupted: The job was asked to end.
        """
        if self.stop.asked:
            raise Interrupted("the job was asked to end")


@dataclass(frozen=True, slots=True)
class Asked:
    """A job requested by a form.

    Attributes:
        arguments: The arguments of the kind, as JSON values.
    """

    title: str
    arguments: Mapping[str, Any]


Fields: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of job; its entry point has the same name.

    Attributes:
        name: The name in the ledger, and of the entry point.
        label: Its label, for people.
        run: Does the rest of a job; the same call continues after any interruption. Raises
            `Interrupted` or KeyboardInterrupt if it was asked to end.
        lane: Jobs of the same lane run one after another; with an empty lane, beside all
            others.
        by_signal: Whether a signal like Ctrl-C ends it cleanly; otherwise it checks `Stop`.
        renew: Called before a job is retried, for example to retry skipped records.
        foreseen: Errors of its package whose message is a sentence for the user.
        read: Makes the job from a form's fields, the Silo's directory and its number of
            records; raises `JobRefused`. None if no form starts it.
        form: Returns the form that starts it, from the Silo's directory; None if it has none now.
        begun: See `begun_label`.
        counts: English texts for the names of its counts, where its own words are clearer.
        by_curators: Whether curators may control its jobs; otherwise only managers may.
        result: The key of `Ending.counts` with the result of the whole job.
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
    form: Callable[[str], JobForm | None] = lambda _silo_path: None
    begun: str = ""
    counts: Mapping[str, str] = field(default_factory=dict)
    by_curators: bool = False
    result: str = "records"
    did: str = "{n} records"

    @property
    def begun_label(self) -> str:
        """What the activity log calls the start of a job."""
        return self.begun or f"{self.label} started"
