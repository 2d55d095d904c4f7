"""Why a copy cannot be made."""

from collections.abc import Sequence

from recordsilo.errors import RecordSiloError
from recordsilo.wording import counted


class CopyRefused(RecordSiloError):
    """A copy that is not begun, or not continued; nothing was written."""


class RecordNotCopied(RecordSiloError):
    """A record that cannot be copied whole; the others are."""

    def __init__(self, identifier: str, why: str) -> None:
        self.identifier, self.why = identifier, why
        super().__init__(f"{identifier}: {why}")


class MergeConflicts(RecordSiloError):
    """Records that differ between Silos, of which none contains the other.

    Attributes:
        conflicts: A sentence for each.
    """

    def __init__(self, conflicts: Sequence[str]) -> None:
        self.conflicts = tuple(conflicts)
        super().__init__(
            f"{counted(len(conflicts), 'conflict')}; nothing was merged; decide with --on-conflict"
        )
