"""Where records can be exported to: a target takes one package after the other."""

from enum import StrEnum
from typing import Protocol

from reexport.package import Package


class Outcome(StrEnum):
    """What became of a package."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


class Target(Protocol):
    """A place to export to."""

    def prepare(self) -> None:
        """Check that the target can be used; make what it needs.

        Raises:
            TargetUnusable: It cannot; nothing was written.
        """

    def deposit(self, package: Package) -> Outcome:
        """Put a package there, whole or not at all; one that is there already stays.

        Raises:
            DepositFailed: This one could not be put; the target is as it was.
            TargetUnusable: No further one can be put either.
        """

    def has(self, identifier: str) -> bool:
        """Whether the target holds a package of a record."""
