"""A job as a value, and which state follows which (pure)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """How a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"  # with nothing left out
    FAILED = "failed"  # ended early, or with records that failed
    STOPPED = "stopped"  # somebody ended it


ACTIVE = (State.QUEUED, State.RUNNING)
"""States that a worker has to do something about."""
OVER = (State.DONE, State.FAILED, State.STOPPED)


class Wish(StrEnum):
    """What somebody asked of a job that is running."""

    NONE = ""
    PAUSE = "pause"
    STOP = "stop"


class Action(StrEnum):
    """What a person can do to a job."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class Advance:
    """How far a job is.

    Attributes:
        done: Records dealt with, of the step.
        total: How many there will be; None where nobody knows.
        step: What is being done, where a job has several steps.
    """

    done: int = 0
    total: int | None = None
    step: str = ""

    @property
    def share(self) -> float | None:
        """Between 0 and 1; None where the end is not known."""
        return min(1.0, self.done / self.total) if self.total else None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was not done: of a record, or (without one) of the whole."""

    identifier: str
    reason: str


@dataclass(frozen=True, slots=True)
class Ending:
    """What came of a run that ended by itself.

    Attributes:
        whole: Whether all was done, with nothing failed or left out.
        text: The receipt, for a person.
        report: The same as JSON values.
        counts: Numbers worth a line each, in their order.
        problems: What was not done; may be a stream. None: what the run noted itself.
        sentence: Why it ended early; empty where it came to its end.
    """

    whole: bool
    text: str = ""
    report: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    problems: Iterable[Problem] | None = ()
    sentence: str = ""

    @property
    def state(self) -> State:
        """Never `DONE` where anything failed."""
        return State.DONE if self.whole and not self.sentence else State.FAILED


@dataclass(frozen=True, slots=True)
class Job:
    """A job as its ledger has it.

    Attributes:
        job_id: By which it is found again.
        kind: One of `silowork.kinds`.
        arguments: What the kind needs to know, as JSON values.
        agent: Who asked for it.
        made: When, in the form of manifests; UTC. So are `begun` and `ended`.
        wish: What was asked of it while it runs.
        sent: Whether the queue was told.
        crashes: How often its process ended without a word, one after the other.
        problems: How many were noted.
        mark: From where it goes on; empty: from its beginning, or from its own journal.
        revision: Counts up with each change.
    """

    job_id: str
    kind: str
    title: str
    arguments: Mapping[str, Any]
    agent: str
    made: str
    state: State = State.QUEUED
    wish: Wish = Wish.NONE
    sent: bool = False
    begun: str = ""
    ended: str = ""
    crashes: int = 0
    advance: Advance = field(default_factory=Advance)
    counts: Mapping[str, int] = field(default_factory=dict)
    text: str = ""
    report: Mapping[str, Any] = field(default_factory=dict)
    sentence: str = ""
    problems: int = 0
    mark: Mapping[str, Any] = field(default_factory=dict)
    revision: int = 0

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens to it unless somebody asks."""
        return self.state in OVER

    @property
    def actions(self) -> tuple[Action, ...]:
        """What a person can do to it now."""
        if self.state in ACTIVE:
            return () if self.wish else (Action.PAUSE, Action.STOP)
        if self.state is State.PAUSED:
            return (Action.RESUME, Action.STOP)
        return () if self.state is State.DONE else (Action.RETRY,)

    def to_json(self) -> dict[str, Any]:
        """The job as JSON values."""
        return {
            "job": self.job_id,
            "kind": self.kind,
            "title": self.title,
            "arguments": dict(self.arguments),
            "agent": self.agent,
            "made": self.made,
            "begun": self.begun,
            "ended": self.ended,
            "state": self.state.value,
            "asked": self.wish.value,
            "progress": {
                "done": self.advance.done,
                "total": self.advance.total,
                "step": self.advance.step,
            },
            "counts": dict(self.counts),
            "problems": self.problems,
            "sentence": self.sentence,
            "report": dict(self.report),
            "actions": [action.value for action in self.actions],
        }
