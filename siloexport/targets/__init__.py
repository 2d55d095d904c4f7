"""Export targets: one interface for plain files, bags and Fedora."""

from collections.abc import Generator, Iterator, Mapping
from typing import Protocol

from recordsilo.disk.atomic_file import Barrier
from siloexport.values import (
    Capabilities,
    CreatedThing,
    Deposit,
    Deposited,
    Difference,
    FoundInTarget,
    Held,
    SizeThen,
    UnfinishedDeposit,
    Withdrawal,
)


class DepositJournal(Protocol):
    """Writes notes on one deposit into the ledger; a note survives a kill after the call."""

    def opened(self, **facts: str) -> None:
        """Note how to find the deposit in the target, such as its transaction."""

    def committing(self, **facts: str) -> None:
        """Note that the next step makes the deposit visible; facts are added to earlier ones."""


class Target(Protocol):
    """An export target. Several threads may call its methods, each for another record.

    The process may be killed at any moment. With the notes in the journal, `recover` has to
    lead to the same state as the call would have.
    """

    @property
    def key(self) -> str:
        """Identifies the target and its ledger. Available after `probe`."""

    @property
    def shown(self) -> str:
        """Name for people: a directory or a URL, without credentials."""

    @property
    def capabilities(self) -> Capabilities:
        """What the target can do. Available after `probe`."""

    @property
    def crosswalk(self) -> str:
        """Identifier and digest of the crosswalk; part of every key."""

    def probe(self) -> None:
        """Check whether the target can be used; write nothing.

        Raises:
            TargetUnusable, CredentialsRefused: It cannot be used.
        """

    def prepare(self) -> None:
        """Create what all deposits need: a directory, base containers. Called before a run.

        Raises:
            TargetUnusable, CredentialsRefused: It cannot be created.
        """

    def deposit(self, deposit: Deposit, journal: DepositJournal) -> Deposited:
        """Write a deposit, whole or not at all.

        If the target's current version has the deposit's key already, nothing is written
        (``was_there``). There are two exceptions: a conflict is to be overwritten, or ``held``
        has the same key, which means that `verify` found it damaged; then it is sent again.

        Args:
            journal: For the notes that `recover` needs.

        Raises:
            Conflict: The target does not hold ``deposit.held``, and is not to be overwritten.
            RetryLater: The whole deposit can be tried again after `recover`.
            DepositFailed: This deposit failed; the target is unchanged.
            TargetUnusable, TargetFull: Other deposits will fail too.
        """

    def foresee(self, step: Deposit | Withdrawal, *, is_first: bool) -> str:
        """Find out the result of a deposit or a withdrawal without a change.

        Only metadata files are read.

        Args:
            is_first: Whether it is the first step for the record. Before a later step the
                target will have changed, so only the Silo's side is checked.

        Returns:
            `Deposited.remark` as the step would give it.

        Raises:
            Conflict, RetryLater, DepositFailed, TargetUnusable: As `deposit` would.
        """

    def withdraw(self, withdrawal: Withdrawal, journal: DepositJournal) -> Deposited:
        """Mark the record as withdrawn, or delete it; raises the same errors as `deposit`."""

    def recover(self, left: UnfinishedDeposit) -> Deposited | None:
        """Find out whether an unfinished deposit was done, and clean up after it.

        Returns:
            Its result if the target holds it; None if it has to be done again.

        Raises:
            RetryLater, TargetUnusable: The target cannot say now.
        """

    def find(self, identifier: str) -> FoundInTarget | None:
        """Return what the target says it holds of a record; None for nothing."""

    def verify(self, deposit: Deposit, held: Held, *, is_head: bool) -> Iterator[Difference]:
        """Compare one version in the target with the Silo, by the digest of every file.

        Args:
            deposit: The deposit as it would be made now, with the key of the one that was made.
            held: What the ledger has of that deposit.
            is_head: Whether it is the record's last deposit; only then the number of versions
                is compared.

        Yields:
            Each difference.

        Raises:
            RetryLater, TargetUnusable: The target does not answer.
        """

    def rollback(self, created: CreatedThing, *, purge: bool) -> str:
        """Remove an object that a run created.

        Args:
            created: The object.
            purge: Leave no tombstone, so that it can be created again.

        Returns:
            Token of the tombstone that is left; ``""`` for none.

        Raises:
            CannotTakeBack: It was changed since the run.
            DepositFailed, TargetUnusable: It cannot be removed.
        """


class SummedTarget(Target, Protocol):
    """A target that has something about all its records together, such as a table of them."""

    def finish(self) -> None:
        """Bring that up to date; called at the end of each run and roll-back.

        After a kill before it, the next run calls it.

        Raises:
            TargetUnusable, TargetFull: It cannot be written, or others changed it.
        """


SIZE, CHANGED = "size", "changed"
"""The facts in the ledger that hold a `SizeThen`."""


class SeenTarget(Target, Protocol):
    """A target on a disk, where somebody may have deleted what was exported."""

    def seen(self, identifier: str, known: SizeThen | None) -> int | None:
        """Return the size of a record as in `SizeThen`, and None if nothing is at its place.

        It is -1 if its size cannot be found out.

        Args:
            known: What the ledger says of the last deposit, with which this is compared.

        Cost: one stat for each directory; if one was changed, the names in all are read.
        """


DepositSteps = Generator[Mapping[str, str], None, Deposited]
"""The steps of a deposit; see `GroupTarget.steps`."""


class GroupTarget(Target, Protocol):
    """A target that takes the deposits of several records as a group, with two flushes for all."""

    def barrier(self, deposits: int) -> Barrier:
        """Return what the steps of so many deposits report to, for `flush`."""

    def steps(self, deposit: Deposit, barrier: Barrier) -> DepositSteps:
        """Make a deposit in steps; `deposit` does the same for a single record.

        Before the generator goes on, the caller flushes the barrier. If it is closed early,
        it removes what is not part of the target.

        Args:
            deposit: What to write; ``left`` is empty.
            barrier: From `barrier`.

        Yields:
            After staging, the facts that the ledger has to have before the next step makes
            the deposit visible (`DepositJournal.committing`); after that step, nothing.

        Returns:
            The result. Nothing was yielded if the target had it already.

        Raises:
            Conflict, DepositFailed, TargetUnusable, TargetFull: See `deposit`.
        """

    def flush(self, barrier: Barrier) -> None:
        """Return once everything reported to the barrier is on the medium.

        Raises:
            TargetUnusable, TargetFull: It could not be flushed; nothing counts as deposited.
        """
