"""The runs of a fleet on this machine alone: without a broker, in processes of the clock."""

import os
from datetime import UTC, datetime

from silofleet.fleet import LOCAL
from silofleet.ledger import Run
from silofleet.slots import Slots
from silofleet.values import Node

_UNCOUNTED = 1 << 40
"""Free inodes of a disk that does not count them, such as btrfs."""


def node_here(name: str, directory: str, slots: int) -> Node:
    """What this machine reports as a node.

    Args:
        name: The node's name.
        directory: Its Granary.
        slots: Runs at a time.
    """
    found = os.statvfs(directory)
    inodes = found.f_favail if found.f_files else _UNCOUNTED
    return Node(name, slots, found.f_bavail * found.f_frsize, inodes, datetime.now(UTC))


class Here(Slots):
    """A runner with one node, this machine.

    Args:
        directory: The Granary.
        most: Runs at a time.
    """

    def __init__(self, directory: str, most: int) -> None:
        super().__init__(most)
        self._directory = directory

    def nodes(self) -> list[Node]:
        """This machine, with what is free on its disk."""
        return [node_here(LOCAL, self._directory, self.most)]

    def keeps(self, run: Run) -> bool:  # noqa: ARG002  # as the interface says
        """No: runs end with the clock that started them."""
        return False

    def end_own(self) -> set[int]:
        """Ask all runs to end."""
        own = set(self.progress)
        for number in own:
            self.end(number)
        return own
