"""Where records can be exported to: one interface, the same for plain files and for Fedora."""

from collections.abc import Iterator
from typing import Protocol

from siloexport.values import (
    Capabilities,
    CreatedThing,
    Deposit,
    Deposited,
    Difference,
    Found,
    Held,
    UnfinishedDeposit,
    Withdrawal,
)


class DepositJournal(Protocol):
    """The ledger's pen for one deposit; a note outlives the process once the call has returned."""

    def opened(self, **facts: str) -> None:
        """Note how the deposit is known to the target (a transaction), once that is known."""

    def committing(self, **facts: str) -> None:
        """Note that the step which makes it visible comes next; facts add to those noted."""


class Target(Protocol):
    """A place to export to; its methods may be called by several threads, for other records each.

    A process may be killed anywhere in them. What the journal noted until then, with
    `recover`, has to lead to the state that the undisturbed call would have reached.
    """

    @property
    def key(self) -> str:
        """What names the ledger: the same for the same place. Asked after `probe`."""

    @property
    def shown(self) -> str:
        """How people name it: a directory, a URL; without credentials."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do. Asked after `probe`."""

    @property
    def crosswalk(self) -> str:
        """Identifier and digest of how descriptions are mapped; part of every key."""

    def probe(self) -> None:
        """Look whether it can be used; writes nothing.

        Raises:
            TargetUnusable, CredentialsRefused: It cannot.
        """

    def prepare(self) -> None:
        """Make what all deposits need: a directory, base containers. Called before a run.

        Raises:
            TargetUnusable, CredentialsRefused: It cannot be made.
        """

    def deposit(self, deposit: Deposit, journal: DepositJournal) -> Deposited:
        """Make the target hold it, whole or not at all.

        Where the target's current version has the deposit's key already, nothing is
        written (``was_there``), unless a conflict is to be written over; or ``held`` has
        that key too: then it is sent again, as `verify` found it damaged.

        Raises:
            Conflict: The target's state is not ``deposit.held``, and not to be overwritten.
            RetryLater: As a whole, anew, after `recover`.
            DepositFailed: This one cannot be; the target is as it was.
            TargetUnusable, TargetFull: No further one can be either.
        """

    def foresee(self, step: Deposit | Withdrawal, *, is_first: bool) -> str:
        """Find out what would come of a deposit or a withdrawal, and change nothing.

        The bytes of files other than metadata are not read.

        Args:
            is_first: Whether what the target holds now is what the step would find; else
                an earlier step comes before it, and only the Silo's side is looked at.

        Returns:
            `Deposited.remark`, as it would be.

        Raises:
            Conflict, RetryLater, DepositFailed, TargetUnusable: As `deposit` would.
        """

    def withdraw(self, withdrawal: Withdrawal, journal: DepositJournal) -> Deposited:
        """Say that the record is withdrawn, or delete it; raises as `deposit`."""

    def recover(self, left: UnfinishedDeposit) -> Deposited | None:
        """Find out what became of a deposit that ended in the dark, and tidy up.

        Returns:
            What it came to where it is there; None where nothing of it is: do it again.

        Raises:
            RetryLater, TargetUnusable: It cannot be found out now.
        """

    def find(self, identifier: str) -> Found | None:
        """What the target itself says of a record; None where it holds nothing."""

    def verify(self, deposit: Deposit, held: Held, *, is_head: bool) -> Iterator[Difference]:
        """Compare one version in the target with the Silo's; every byte's digest.

        Args:
            deposit: As it would be made now; its key is that of the one made.
            held: What the ledger has of that deposit; ``deposits`` of the record.
            is_head: Whether it is what the record was exported as last; only then the
                number of versions is compared.

        Raises:
            RetryLater, TargetUnusable: The target does not answer.
        """

    def rollback(self, created: CreatedThing, *, purge: bool) -> str:
        """Take back an object that a run created.

        Args:
            purge: So that nothing is left of it, and it can be created again.

        Returns:
            The token of the trace that is left (a tombstone); ``""`` for none.

        Raises:
            CannotTakeBack: It is not as the run left it.
            DepositFailed, TargetUnusable: It cannot be done.
        """
