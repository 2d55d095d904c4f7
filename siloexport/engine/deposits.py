"""Carry out the actions of a record: build, send, retry, and note each step in the ledger."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar, cast

from politeweb.attempts import backoff
from recordsilo import HarvestedRecord
from recordsilo.errors import RecordSiloError
from recordsilo.records.manifest import Manifest
from siloexport.content import Packer
from siloexport.engine.checking import deposited_as
from siloexport.errors import Conflict, DepositFailed, RetryLater, TargetUnusable
from siloexport.ledger import EntryPen, Ledger
from siloexport.ledger_tables import LedgerEntry
from siloexport.plan import WRITING, Action, KnownRecord, deletion_date
from siloexport.report import DepositOutcome
from siloexport.targets import DepositJournal, DepositSteps, GroupTarget, Target
from siloexport.values import (
    ActionKind,
    Deposit,
    Deposited,
    DepositState,
    Held,
    OnConflict,
    Result,
    UnfinishedDeposit,
    Withdrawal,
)

T = TypeVar("T")
Wait = Callable[[float], bool]
"""Waits some seconds; returns True if the run was asked to stop."""


class RunStopped(Exception):
    """The run was asked to stop; the next one looks at unfinished deposits."""


@dataclass(frozen=True, slots=True)
class Retries:
    """How often to retry, and how long to wait.

    Attributes:
        attempts: The maximum, with the first attempt.
        first: Seconds before the second attempt; they double each time, up to ``longest``.
        longest: The longest wait in seconds.
    """

    attempts: int = 6
    first: float = 0.5
    longest: float = 60.0

    def pause(self, attempt: int, asked: float | None, fraction: float) -> float:
        """Return how many seconds to wait after an attempt.

        Args:
            attempt: Its number, from 1.
            asked: Seconds that the target asked for; None if it did not.
            fraction: A random number from 0 to 1, which spreads the retries.
        """
        if asked is not None:
            return min(asked, self.longest)
        return backoff(attempt, self.first, self.longest, lambda: fraction)


class DepositStep(Protocol):
    """One call of a target, which gets the journal of the deposit."""

    def __call__(self, journal: DepositJournal) -> Deposited: ...


_Known = Mapping[str, KnownRecord]
_Noted = Mapping[tuple[str, str], Mapping[str, str]]
Given = tuple[HarvestedRecord, Manifest, Sequence[Action]]
"""A record, its manifest with all digests, and its actions from `siloexport.plan.plan_record`."""


@dataclass(frozen=True, slots=True)
class GroupResult:
    """The results of a group.

    Attributes:
        outcomes: Those of each record, in order; of the first records only if it was stopped.
        stopped: Why the other records cannot be exported either.
    """

    outcomes: list[list[DepositOutcome]]
    stopped: TargetUnusable | None = None


@dataclass(slots=True)
class _Grouped:
    """A deposit of a group: its steps, and what came of them so far."""

    action: Action
    steps: DepositSteps | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    came_to: Deposited | None = None
    error: DepositFailed | RecordSiloError | None = None

    def go_on(self) -> None:
        """Take the next step, unless the deposit has ended."""
        try:
            if self.steps is not None:
                self.facts = next(self.steps)
        except StopIteration as end:
            self.came_to, self.steps = end.value, None
        except (DepositFailed, RecordSiloError) as error:
            self.error, self.steps = error, None


@dataclass(frozen=True, slots=True)
class Depositor:
    """Carries out the actions of records for one run to one target.

    Attributes:
        packer: Makes the deposits.
        run_id: Id of the run in the ledger; ``""`` for a dry run.
        wait: Waits before a retry.
    """

    target: Target
    ledger: Ledger
    packer: Packer
    run_id: str
    on_conflict: OnConflict
    retries: Retries
    wait: Wait

    # -- what a run does -----------------------------------------------------------------

    def carry_out(
        self, record: HarvestedRecord, manifest: Manifest, actions: Sequence[Action]
    ) -> Iterator[DepositOutcome]:
        """Carry out a record's actions in order, up to the first that is not done.

        If the record is unchanged and conflicts are to be overwritten, it is compared with the
        target first, and sent again if it differs.

        Args:
            manifest: Its manifest with all digests.
            actions: From `siloexport.plan.plan_record`.

        Raises:
            TargetUnusable: The other records cannot be exported either.
            RunStopped: See `Wait`.
        """
        return self._one_by_one(
            record, manifest, actions, lambda action, _: self._carry_out(record, manifest, action)
        )

    def foresee(
        self, record: HarvestedRecord, manifest: Manifest, actions: Sequence[Action]
    ) -> Iterator[DepositOutcome]:
        """Find out the results of `carry_out` without a change.

        Args:
            manifest: Its manifest with all digests.
            actions: From `siloexport.plan.plan_record`.

        Raises:
            TargetUnusable, RunStopped: See `carry_out`.
        """
        return self._one_by_one(
            record, manifest, actions, lambda action, n: self._foresee(record, manifest, action, n)
        )

    def carry_out_group(self, given: Sequence[Given]) -> GroupResult:
        """Carry out the actions of several records, with two flushes and two notes for all.

        All are staged and flushed, then noted in the ledger, then made visible and flushed,
        then noted as done. So the ledger has what `Target.recover` needs before each step, and
        nothing as done that is not on the medium. Records with other actions than one deposit
        are carried out by themselves.

        Raises:
            TargetUnusable: It cannot be flushed. The next run looks up all of these deposits.
        """
        together = [one for one in given if _is_one_deposit(one[2])]
        if not self.target.capabilities.groups or len(together) < 2:
            together = []
        deposits, stopped = self._grouped(together) if together else ([], None)
        found = {one.action.identifier: self._outcome_of(one) for one in deposits}
        outcomes = []
        for record, manifest, actions in given:
            if (outcome := found.get(record.item_id)) is not None:
                outcomes.append([outcome])
            elif stopped is not None:
                break
            else:
                try:
                    outcomes.append(list(self.carry_out(record, manifest, actions)))
                except TargetUnusable as error:
                    stopped = error
        return GroupResult(outcomes, stopped)

    def _grouped(self, given: Sequence[Given]) -> tuple[list[_Grouped], TargetUnusable | None]:
        target = cast(GroupTarget, self.target)
        barrier = target.barrier(len(given))
        deposits: list[_Grouped] = []
        stopped = None
        known, noted = self._known_of(record.item_id for record, _, _ in given)
        try:
            for record, manifest, (action,) in given:
                one = _Grouped(action)
                try:
                    sent = self._packed(record, manifest, action, known, noted)
                    one.steps = target.steps(sent, barrier)
                    one.go_on()
                except (DepositFailed, RecordSiloError) as error:
                    one.error = error
                except TargetUnusable as error:  # those before it are deposited
                    stopped = error
                    break
                deposits.append(one)
            target.flush(barrier)
            entries = self.ledger.begin_all(self.run_id, map(_begun, deposits))
            for one in deposits:
                one.go_on()
            target.flush(barrier)
            for one in deposits:
                one.go_on()
            ended = list(zip(entries, deposits, strict=True))
            self.ledger.end_all(
                [(entry, one.came_to) for entry, one in ended if one.came_to],
                [(entry.number, _state(one.error), _reason(one.error)) for entry, one in ended
                 if one.error],
            )  # fmt: skip
        finally:
            for one in deposits:
                if one.steps is not None:
                    one.steps.close()
        return deposits, stopped

    def _outcome_of(self, one: _Grouped) -> DepositOutcome:
        if one.error is not None:
            return self._failed(one.action, one.error)
        assert one.came_to is not None
        return _done(one.action, one.came_to)

    def _one_by_one(
        self,
        record: HarvestedRecord,
        manifest: Manifest,
        actions: Sequence[Action],
        do: Callable[[Action, int], Deposited],
    ) -> Iterator[DepositOutcome]:
        try:
            actions = self._with_mending(record, manifest, actions)
        except (DepositFailed, RecordSiloError) as error:
            yield self._failed(actions[-1], error)
            return
        for number, action in enumerate(actions):
            outcome = self._outcome(action, number, do)
            yield outcome
            if outcome.result is not Result.DONE:
                return

    def _outcome(
        self, action: Action, number: int, do: Callable[[Action, int], Deposited]
    ) -> DepositOutcome:
        if action.kind not in WRITING:
            return _outcome(action, Result.DONE)
        try:
            came_to = do(action, number)
        except (DepositFailed, RecordSiloError) as error:
            return self._failed(action, error)
        return _done(action, came_to)

    def _failed(self, action: Action, error: DepositFailed | RecordSiloError) -> DepositOutcome:
        if isinstance(error, Conflict):
            is_skipped = self.on_conflict is OnConflict.SKIP
            result = Result.SKIPPED if is_skipped else Result.CONFLICT
            return _outcome(action, result, reason=error.reason)
        reason = error.reason if isinstance(error, DepositFailed) else str(error)
        return _outcome(action, Result.FAILED, reason=reason)

    def _with_mending(
        self, record: HarvestedRecord, manifest: Manifest, actions: Sequence[Action]
    ) -> Sequence[Action]:
        """Add the actions that overwrite changes by others, if the policy says so."""
        is_unchanged = all(action.kind not in WRITING for action in actions)
        held = self.ledger.known(manifest.item_id).held
        if self.on_conflict is not OnConflict.OVERWRITE or not is_unchanged or held is None:
            return actions
        can = self.target.capabilities
        way = deposited_as(manifest, held.version, held.key, self.packer.policy, can)
        if way is None or not held.deposits:
            return actions
        action = way.again(manifest.item_id, held.key, can)
        packer = replace(self.packer, policy=way.policy)
        deposit = packer.deposit(record, manifest, action, held)

        def differs() -> bool:
            return any(self.target.verify(deposit, held, is_head=True))

        if not self._asked(differs):
            return actions
        if not held.withdrawn:
            return [action]
        again = Action(manifest.item_id, ActionKind.WITHDRAW, key=actions[-1].key)
        return [action, again]

    def _foresee(
        self, record: HarvestedRecord, manifest: Manifest, action: Action, number: int
    ) -> Deposited:
        step = self._step(record, manifest, action)
        is_first = number == 0
        return Deposited(
            "", remark=self._asked(lambda: self.target.foresee(step, is_first=is_first))
        )

    def _asked(self, ask: Callable[[], T]) -> T:
        """Ask the target something, with retries while it is busy."""
        for attempt in range(1, self.retries.attempts + 1):
            try:
                return ask()
            except RetryLater as error:
                if attempt == self.retries.attempts:
                    self.target.probe()  # ends the run if the target does not answer at all
                    raise
                self._pause(attempt, error)
        raise AssertionError

    def _step(
        self, record: HarvestedRecord, manifest: Manifest, action: Action
    ) -> Deposit | Withdrawal:
        if action.kind is not ActionKind.WITHDRAW:
            deposit = self._deposit(record, manifest, action)
            return replace(deposit, left=self._left(action.identifier, deposit.held))
        held = self.ledger.known(action.identifier).held
        assert held is not None
        how, date = self.packer.policy.deletions, deletion_date(manifest)
        overwrite = self.on_conflict is OnConflict.OVERWRITE
        return Withdrawal(action.identifier, how, action.key, held, date, overwrite)

    def _deposit(self, record: HarvestedRecord, manifest: Manifest, action: Action) -> Deposit:
        """What is sent to the target, without what earlier attempts left."""
        return self._packed(record, manifest, action, *self._known_of([action.identifier]))

    def _known_of(self, identifiers: Iterable[str]) -> tuple[_Known, _Noted]:
        names = list(identifiers)
        return self.ledger.known_of(names), self.ledger.noted_of(names)

    def _packed(
        self,
        record: HarvestedRecord,
        manifest: Manifest,
        action: Action,
        known: _Known,
        noted: _Noted,
    ) -> Deposit:
        return self.packer.deposit(
            record,
            manifest,
            action,
            known[action.identifier].held,
            overwrite=self.on_conflict is OnConflict.OVERWRITE,
            noted=noted.get((action.identifier, action.key)),
        )

    def _left(self, identifier: str, held: Held | None) -> tuple[UnfinishedDeposit, ...]:
        return tuple(one.left(held) for one in self.ledger.broken_off(identifier))

    def _carry_out(self, record: HarvestedRecord, manifest: Manifest, action: Action) -> Deposited:
        sent = self._step(record, manifest, action)
        if isinstance(sent, Withdrawal):
            withdrawal = sent
            entry = self.ledger.begin(self.run_id, action, withdrawal.how)
            return self._tried(
                entry, withdrawal.held, lambda pen: self.target.withdraw(withdrawal, pen)
            )
        deposit = sent
        entry = self.ledger.begin(self.run_id, action)

        def step(journal: DepositJournal) -> Deposited:
            left = self._left(action.identifier, deposit.held)  # with the attempts made meanwhile
            return self.target.deposit(replace(deposit, left=left), journal)

        return self._tried(entry, deposit.held, step)

    # -- retries and recovery --------------------------------------------------------------

    def _tried(self, entry: LedgerEntry, held: Held | None, step: DepositStep) -> Deposited:
        """Carry out a step with retries and note its result.

        If its end is unknown, it stays unfinished in the ledger for the next run.
        """
        try:
            came_to = self._retried(entry, held, step)
        except RetryLater:
            raise
        except (DepositFailed, RecordSiloError) as error:
            self.ledger.fail(entry.number, _state(error), _reason(error))
            raise
        self.ledger.finish(entry, came_to)
        return came_to

    def _retried(self, entry: LedgerEntry, held: Held | None, step: DepositStep) -> Deposited:
        pen = EntryPen(self.ledger, entry.number)
        attempt, is_unknown = 1, False
        while True:
            try:
                if is_unknown:
                    left = self.ledger.entry(entry.number).left(held)
                    if came_to := self.target.recover(left):
                        return came_to
                    self.ledger.note(entry.number, DepositState.OPEN, {})
                    is_unknown = False
                return step(pen)
            except RetryLater as error:
                if attempt >= self.retries.attempts:
                    self.target.probe()  # ends the run if the target does not answer at all
                    raise
                is_unknown = True
                self._pause(attempt, error)
                attempt += 1

    def _pause(self, attempt: int, error: RetryLater) -> None:
        seconds = self.retries.pause(attempt, error.after, random.random())  # noqa: S311 - spread
        if self.wait(seconds):
            raise RunStopped

    def recover_unfinished(self) -> Iterator[DepositOutcome]:
        """Find out whether the unfinished deposits of earlier runs were done, and note it.

        Yields:
            Those that the target holds, as done; those it cannot say, as failed.

        Raises:
            TargetUnusable, RunStopped: See `carry_out`.
        """
        for entry in self.ledger.unfinished():
            kind = ActionKind.WITHDRAW if entry.withdrawal else ActionKind.ADD_VERSION
            action = Action(entry.identifier, kind, (entry.version,), entry.key, entry.files)
            try:
                came_to = self._recovered(entry)
            except DepositFailed as error:
                yield _outcome(action, Result.FAILED, reason=error.reason)
                continue
            if came_to is not None:
                yield _outcome(action, Result.DONE, uri=came_to.version_uri or came_to.uri)

    def _recovered(self, entry: LedgerEntry) -> Deposited | None:
        held = self.ledger.known(entry.identifier).held
        came_to = self._asked(lambda: self.target.recover(entry.left(held)))
        if came_to is None:
            self.ledger.fail(
                entry.number,
                DepositState.FAILED,
                "interrupted before the commit; will be repeated",
            )
        else:
            self.ledger.finish(entry, came_to)
        return came_to


def _outcome(action: Action, result: Result, uri: str = "", reason: str = "") -> DepositOutcome:
    return DepositOutcome(
        action.identifier, action.kind, action.version, result, uri, reason or action.reason
    )


def _done(action: Action, came_to: Deposited) -> DepositOutcome:
    uri = came_to.version_uri or came_to.uri
    return _outcome(action, Result.DONE, uri=uri, reason=came_to.remark)


def _is_one_deposit(actions: Sequence[Action]) -> bool:
    kinds = [action.kind for action in actions]
    return len(kinds) == 1 and kinds[0] in WRITING and kinds[0] is not ActionKind.WITHDRAW


def _begun(one: _Grouped) -> tuple[Action, DepositState, Mapping[str, str]]:
    state = DepositState.OPEN if one.steps is None else DepositState.COMMITTING
    return one.action, state, one.facts


def _state(error: Exception | None) -> DepositState:
    return DepositState.CONFLICT if isinstance(error, Conflict) else DepositState.FAILED


def _reason(error: Exception | None) -> str:
    return error.reason if isinstance(error, Conflict) else str(error)
