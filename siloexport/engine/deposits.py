"""Carry out the actions of a record: build, send, retry, and note each step in the ledger."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from politeweb.attempts import backoff
from recordsilo import HarvestedRecord
from recordsilo.errors import RecordSiloError
from recordsilo.records.manifest import Manifest
from siloexport.content import Packer
from siloexport.engine.checking import deposited_as
from siloexport.errors import Conflict, DepositFailed, RetryLater
from siloexport.ledger import EntryPen, Ledger
from siloexport.ledger_tables import Entry
from siloexport.plan import WRITING, Action, deletion_date
from siloexport.report import DepositOutcome
from siloexport.targets import DepositJournal, Target
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


class Step(Protocol):
    """One call of a target, which gets the journal of the deposit."""

    def __call__(self, journal: DepositJournal) -> Deposited: ...


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
            record: The record.
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
            record: The record.
            manifest: Its manifest with all digests.
            actions: From `siloexport.plan.plan_record`.

        Raises:
            TargetUnusable, RunStopped: See `carry_out`.
        """
        return self._one_by_one(
            record, manifest, actions, lambda action, n: self._foresee(record, manifest, action, n)
        )

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
        uri = came_to.version_uri or came_to.uri
        return _outcome(action, Result.DONE, uri=uri, reason=came_to.remark)

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
        held = self.ledger.known(action.identifier).held
        overwrite = self.on_conflict is OnConflict.OVERWRITE
        if action.kind is ActionKind.WITHDRAW:
            assert held is not None
            how, date = self.packer.policy.deletions, deletion_date(manifest)
            return Withdrawal(action.identifier, how, action.key, held, date, overwrite)
        deposit = self.packer.deposit(record, manifest, action, held)
        return replace(
            deposit,
            overwrite=overwrite,
            noted=self.ledger.noted(action.identifier, action.key),
            left=self._left(action.identifier, held),
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

    def _tried(self, entry: Entry, held: Held | None, step: Step) -> Deposited:
        """Carry out a step with retries and note its result.

        If its end is unknown, it stays unfinished in the ledger for the next run.
        """
        try:
            came_to = self._retried(entry, held, step)
        except RetryLater:
            raise
        except Conflict as error:
            self.ledger.fail(entry.number, DepositState.CONFLICT, error.reason)
            raise
        except (DepositFailed, RecordSiloError) as error:
            self.ledger.fail(entry.number, DepositState.FAILED, str(error))
            raise
        self.ledger.finish(entry, came_to)
        return came_to

    def _retried(self, entry: Entry, held: Held | None, step: Step) -> Deposited:
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

    def _recovered(self, entry: Entry) -> Deposited | None:
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
