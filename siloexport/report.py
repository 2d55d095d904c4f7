"""The progress and the results of an export, as values."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recordsilo.html_tables import ShownAsTable
from siloexport.plan import WRITING, Action
from siloexport.values import ActionKind, Difference, Result

KEPT = 1000
"""How many outcomes or differences a report holds; the others are counted and streamed."""


@dataclass(frozen=True, slots=True)
class DepositOutcome:
    """The result of one action.

    Attributes:
        version: The Silo's name of the version; ``""`` for a deletion.
        uri: Address in the target: of the version, if it has its own.
        reason: Why it was not done, or a remark, as a sentence; or ``""``.
    """

    identifier: str
    kind: ActionKind
    version: str
    result: Result
    uri: str = ""
    reason: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the outcome as a line of a report."""
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
    """The progress of a run.

    Attributes:
        records: Number of records processed, of ``total``.
        deposits: Number of actions carried out.
        seconds: Since the run began.
    """

    records: int
    total: int
    deposits: int
    seconds: float

    @property
    def rate(self) -> float:
        """Records per second; 0.0 at the start."""
        return self.records / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds to the end; None at the start."""
        return (self.total - self.records) / self.rate if self.records and self.rate else None


ASKED = "asked to stop"
"""`RunReport.stopped` of a run that a signal or the page ended."""


@dataclass(frozen=True, slots=True)
class RunReport(ShownAsTable):
    """What a run did, or what a dry run would do.

    Attributes:
        run_id: Id of the run in the ledger; ``""`` for a dry run.
        target: Name of the target for people.
        dry_run: Whether nothing was written.
        records: Number of records processed.
        actions: Kind → number of actions that were done, or would be.
        failed: Number of actions that failed and can be tried again.
        conflicts: Number of actions that were not done because others changed the target.
        skipped: Number of conflicts that were skipped, as the policy says.
        problems: The first `KEPT` of these three.
        remarks: The first `KEPT` actions that were done with a remark (`Deposited.remark`).
        still_there: The first `KEPT` records that the source deleted and the target holds.
        stopped: Why the run ended early; ``""`` if it did not.
        interrupted: Whether a person interrupted it.
        recovered: Number of unfinished deposits of earlier runs that the target holds.
        in_target: Number of records that the target holds after the run, whichever run
            exported them, as the ledger says; 0 for a dry run.
        seconds: How long the run took.
        empty: Number of records without a version to export, as `Versions.CURATED` has them.
        missing: Number of records that somebody removed from the target; they were written
            again, or would be.
        notes: Sentences on what was left out of all records, such as a damaged identifier.
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
    in_target: int = 0
    seconds: float = 0.0
    empty: int = 0
    missing: int = 0
    notes: tuple[str, ...] = ()

    @property
    def held(self) -> int:
        """Number of records processed that the target is to hold: not those left out."""
        return self.records - self.empty - self.actions.get(ActionKind.LEAVE, 0)

    @property
    def written(self) -> int:
        """Number of actions that changed the target, or would."""
        return sum(self.actions.get(kind, 0) for kind in WRITING)

    @property
    def whole(self) -> bool:
        """Whether the target holds everything that was selected."""
        return not (self.failed or self.conflicts or self.skipped or self.stopped)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "run": self.run_id,
            "target": self.target,
            "dry_run": self.dry_run,
            "whole": self.whole,
            "records": self.records,
            "empty": self.empty,
            "actions": {str(kind): self.actions.get(kind, 0) for kind in ActionKind},
            "failed": self.failed,
            "conflicts": self.conflicts,
            "skipped": self.skipped,
            "problems": [outcome.to_json() for outcome in self.problems],
            "remarks": [outcome.to_json() for outcome in self.remarks],
            "still_there": list(self.still_there),
            "stopped": self.stopped,
            "recovered": self.recovered,
            "missing": self.missing,
            "notes": list(self.notes),
            "in_target": self.in_target,
            "seconds": round(self.seconds, 3),
        }


@dataclass(slots=True)
class Tally:
    """Counts outcomes in bounded memory."""

    actions: Counter[ActionKind] = field(default_factory=Counter)
    results: Counter[Result] = field(default_factory=Counter)
    problems: list[DepositOutcome] = field(default_factory=list)
    still_there: list[str] = field(default_factory=list)
    remarks: list[DepositOutcome] = field(default_factory=list)
    records: int = 0
    empty: int = 0
    changed: int = 0
    recovered: int = 0
    missing: int = 0

    def planned(self, action: Action) -> None:
        """Count an action for which nothing has to be done."""
        self.actions[action.kind] += 1
        is_left_there = action.kind is ActionKind.LEAVE and action.key
        if is_left_there and len(self.still_there) < KEPT:
            self.still_there.append(action.identifier)

    def add(self, outcome: DepositOutcome) -> None:
        """Count the result of an action."""
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
        """Number of actions that were carried out or tried."""
        return sum(self.actions[kind] for kind in WRITING) + self.results.total()


@dataclass(frozen=True, slots=True)
class VerifyReport(ShownAsTable):
    """The result of a verification.

    Attributes:
        target: Name of the target for people.
        records: Number of records compared.
        versions: Number of versions compared.
        outdated: Number of versions not compared, because the Silo changed after the export.
        first: The first `KEPT` of them.
        unreadable: Record that could not be compared → reason.
    """

    target: str
    records: int
    versions: int
    outdated: int
    differences: int
    first: tuple[Difference, ...] = ()
    unreadable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReconcileReport(ShownAsTable):
    """The result of rebuilding a ledger from the target.

    Attributes:
        target: Name of the target for people.
        found: Number of records that the target holds.
        adopted: Number of them that were missing or different in the ledger.
        forgotten: Number of records that were in the ledger and are not in the target.
        deleted: Number of records that an export or others deleted in the target.
        changed: Number of records that others changed in the target; the next run reports
            them as conflicts.
        unreadable: Record that could not be looked up → reason; its entry stays as it was.
    """

    target: str
    found: int
    adopted: int
    forgotten: int
    deleted: int = 0
    changed: int = 0
    unreadable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RollbackReport(ShownAsTable):
    """The result of rolling back a run.

    Attributes:
        taken_back: Number of objects removed.
        kept: URI of an object that was not removed → reason.
    """

    run_id: str
    taken_back: int
    kept: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a target according to its ledger.

    Attributes:
        target: Name of the target for people.
        ledger: Path of the ledger.
        records: Number of records that the target holds.
        unfinished: Number of deposits whose end is unknown; the next run looks at them first.
        runs: (id, started, how it ended or ``at work or killed``), the newest first.
    """

    target: str
    ledger: str
    records: int
    unfinished: int
    runs: tuple[tuple[str, str, str], ...]
