"""What an export says of itself while it works and when it ends: values, never prints."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from siloexport.plan import WRITING, Action
from siloexport.values import ActionKind, Difference, Result

KEPT = 1000
"""How many outcomes, differences … a report keeps; the rest is counted, and streamed."""


@dataclass(frozen=True, slots=True)
class DepositOutcome:
    """What came of one action.

    Attributes:
        version: The Silo's name of the version; ``""`` for a deletion.
        uri: Where it is now, the version's own where it has one.
        reason: Why it was not done, in a sentence; or what needs saying.
    """

    identifier: str
    kind: ActionKind
    version: str
    result: Result
    uri: str = ""
    reason: str = ""

    def to_json(self) -> dict[str, str]:
        """As a line of a report."""
        return {
            "identifier": self.identifier,
            "action": self.kind,
            "version": self.version,
            "result": self.result,
            "uri": self.uri,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        records: How many records were looked at, of ``total``.
        deposits: How many actions were carried out.
        seconds: Since it began.
    """

    records: int
    total: int
    deposits: int
    seconds: float

    @property
    def rate(self) -> float:
        """Records in a second; 0.0 before any time has passed."""
        return self.records / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """At this rate; None where there is none yet."""
        return (self.total - self.records) / self.rate if self.records and self.rate else None


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run did; or, of a dry run, what it would do.

    Attributes:
        run_id: As the ledger has it; ``""`` for a dry run.
        target: As people call it.
        actions: Kind → how many were done (would be done).
        failed: How many were not, and are to be tried again.
        conflicts: How many were not since others changed the target.
        skipped: Conflicts that were passed over, as asked.
        problems: Of these three, the first `KEPT`.
        remarks: What was done and needs saying (`Deposited.remark`), the first `KEPT`.
        still_there: Records deleted at the source that stay in the target, the first `KEPT`.
        stopped: Why the run ended early; ``""`` where it did not.
        interrupted: Whether somebody at the keyboard asked for that.
        recovered: Deposits that earlier runs left in the dark, and that were there.
    """

    run_id: str
    target: str
    dry_run: bool
    records: int
    actions: Mapping[ActionKind, int]
    failed: int = 0
    conflicts: int = 0
    skipped: int = 0
    problems: tuple[DepositOutcome, ...] = ()
    remarks: tuple[DepositOutcome, ...] = ()
    still_there: tuple[str, ...] = ()
    stopped: str = ""
    interrupted: bool = False
    recovered: int = 0
    seconds: float = 0.0

    @property
    def written(self) -> int:
        """How many actions changed the target (would change it)."""
        return sum(self.actions.get(kind, 0) for kind in WRITING)

    @property
    def whole(self) -> bool:
        """Whether everything selected is in the target now."""
        return not (self.failed or self.conflicts or self.skipped or self.stopped)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "run": self.run_id,
            "target": self.target,
            "dry_run": self.dry_run,
            "whole": self.whole,
            "records": self.records,
            "actions": {str(kind): self.actions.get(kind, 0) for kind in ActionKind},
            "failed": self.failed,
            "conflicts": self.conflicts,
            "skipped": self.skipped,
            "problems": [outcome.to_json() for outcome in self.problems],
            "remarks": [outcome.to_json() for outcome in self.remarks],
            "still_there": list(self.still_there),
            "stopped": self.stopped,
            "recovered": self.recovered,
            "seconds": round(self.seconds, 3),
        }


@dataclass(slots=True)
class Tally:
    """Adds up outcomes; its memory is bounded."""

    actions: Counter[ActionKind] = field(default_factory=Counter)
    results: Counter[Result] = field(default_factory=Counter)
    problems: list[DepositOutcome] = field(default_factory=list)
    still_there: list[str] = field(default_factory=list)
    remarks: list[DepositOutcome] = field(default_factory=list)
    records: int = 0
    changed: int = 0
    recovered: int = 0

    def planned(self, action: Action) -> None:
        """Count an action that needs nothing done, or that a dry run would do."""
        self.actions[action.kind] += 1
        is_left_there = action.kind is ActionKind.LEAVE and action.key
        if is_left_there and len(self.still_there) < KEPT:
            self.still_there.append(action.identifier)

    def add(self, outcome: DepositOutcome) -> None:
        """Count what came of an action."""
        if outcome.result is Result.DONE:
            self.actions[outcome.kind] += 1
            if outcome.reason and outcome.kind in WRITING and len(self.remarks) < KEPT:
                self.remarks.append(outcome)
            return
        self.results[outcome.result] += 1
        if len(self.problems) < KEPT:
            self.problems.append(outcome)

    @property
    def carried_out(self) -> int:
        """How many actions were carried out, or tried."""
        return sum(self.actions[kind] for kind in WRITING) + self.results.total()


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What a verification found.

    Attributes:
        versions: How many were compared, of ``records`` records.
        outdated: How many were not, as the Silo has something newer than was exported.
        differences: How many differences there are.
        first: The first `KEPT` of them.
        unreadable: Records that could not be compared → why.
    """

    target: str
    records: int
    versions: int
    outdated: int
    differences: int
    first: tuple[Difference, ...] = ()
    unreadable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReconcileReport:
    """What became of a ledger that was rebuilt from the target.

    Attributes:
        found: How many records the target holds.
        adopted: Of them, those the ledger had otherwise, or not at all.
        forgotten: Records that the ledger had and the target has not.
        deleted: Records that were deleted there, by an export or by others.
        changed: Records of which others changed what is there; the next run names them as
            conflicts.
        unreadable: Records that could not be asked for → why; the ledger keeps what it had.
    """

    target: str
    found: int
    adopted: int
    forgotten: int
    deleted: int = 0
    changed: int = 0
    unreadable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RollbackReport:
    """What became of a run that was taken back.

    Attributes:
        taken_back: How many objects.
        kept: URI → why it stays.
    """

    run_id: str
    taken_back: int
    kept: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Status:
    """What the ledger says of a target.

    Attributes:
        records: How many the target holds.
        unfinished: Deposits that ended in the dark; the next run looks at them first.
        runs: (id, started, how it ended or ``at work or killed``), the newest first.
    """

    target: str
    ledger: str
    records: int
    unfinished: int
    runs: tuple[tuple[str, str, str], ...]
