"""Jobs as values, and their states. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """State of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"  # completely
    FAILED = "failed"  # ended early, or with records that failed
    STOPPED = "stopped"  # by a person


ACTIVE = (State.QUEUED, State.RUNNING)
"""States of jobs that a worker has to run."""
OVER = (State.DONE, State.FAILED, State.STOPPED)


class Wish(StrEnum):
    """What was requested of a running job, or whether a failed one is still to be looked at."""

    NONE = ""
    PAUSE = "pause"
    STOP = "stop"
    DISMISS = "dismiss"


class JobAction(StrEnum):
    """What a person can do to a job."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    RETRY = "retry"
    DISMISS = "dismiss"


@dataclass(frozen=True, slots=True)
class Advance:
    """Progress of a job.

    Attributes:
        done: Records processed in this step.
        total: Number of records of the step; None if unknown.
        step: The current step, if the job has several.
    """

    done: int = 0
    total: int | None = None
    step: str = ""

    @property
    def share(self) -> float | None:
        """The share done, from 0 to 1; None if the total is unknown."""
        return min(1.0, self.done / self.total) if self.total else None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was not done, for a record or (without identifier) for the whole job."""

    identifier: str
    reason: str


@dataclass(frozen=True, slots=True)
class Ending:
    """Result of a run that was not interrupted.

    Attributes:
        whole: Whether everything was done, without failures or omissions.
        text: The receipt, for people.
        report: The receipt as JSON values; ``notes`` are sentences for people, ``target`` is
            where something was exported.
        counts: Numbers to show, in this order.
        problems: What was not done; may be a stream. None: what the run stored itself.
        sentence: Why it ended early; empty if it completed.
    """

    whole: bool
    text: str = ""
    report: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    problems: Iterable[Problem] | None = ()
    sentence: str = ""

    @property
    def state(self) -> State:
        """`DONE` only if nothing failed."""
        return State.DONE if self.whole and not self.sentence else State.FAILED


@dataclass(frozen=True, slots=True)
class Job:
    """A job as stored in its ledger.

    Attributes:
        job_id: Its id.
        kind: One of `silowork.kinds`.
        arguments: The arguments of the kind, as JSON values.
        agent: Who started it.
        made: When it was created; UTC, in the form of manifests, like `begun` and `ended`.
        wish: What was requested while it runs; `Wish.DISMISS` of one that failed.
        sent: Whether the queue was notified.
        crashes: How many times in a row its process died.
        mark: Where it continues; empty for the beginning, or if its own journal says so.
        revision: Increases with each change.
        since: When it first reported its progress after it was started, or last resumed; empty
            if it did not yet.
        done_before: What it had done by then, of `Advance.done`.
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
    since: str = ""
    done_before: int = 0

    @property
    def is_over(self) -> bool:
        """Whether it has ended, and changes only on request."""
        return self.state in OVER

    @property
    def actions(self) -> tuple[JobAction, ...]:
        """The actions that its state allows."""
        if self.state in ACTIVE:
            return () if self.wish else (JobAction.PAUSE, JobAction.STOP)
        if self.state is State.PAUSED:
            return (JobAction.RESUME, JobAction.STOP)
        if self.state is State.DONE:
            return ()
        can_dismiss = self.state is State.FAILED and not self.is_dismissed
        return (JobAction.RETRY, JobAction.DISMISS) if can_dismiss else (JobAction.RETRY,)

    @property
    def is_dismissed(self) -> bool:
        """Whether it failed and somebody said that nothing is to be done about it."""
        return self.is_over and self.wish is Wish.DISMISS

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
