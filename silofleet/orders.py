"""What a run has to do, and how it ended, as values that nodes and the clock send. Pure."""

from dataclasses import dataclass, field
from typing import NamedTuple

from politeweb.shared_pace import PaceSpec
from silofleet.values import BeforeRun, Ended, Endpoint, Node


@dataclass(frozen=True, slots=True)
class RunOrder:
    """What a run has to do; a value that can be sent to another process.

    Attributes:
        run: Its number.
        epoch: Of the endpoint; 0 if there may be no Silo yet.
        only_probe: Ask for Identify only.
        before: What is known.
        pace: Of the host.
        contact: Sent with requests; see `HttpSettings`.
        is_counted: Ask also how many records the repository lists.
    """

    run: int
    silo_path: str
    wish: Endpoint
    epoch: int = 0
    only_probe: bool = False
    before: BeforeRun = field(default_factory=BeforeRun)
    pace: PaceSpec = field(default_factory=PaceSpec)
    contact: str | None = None
    is_counted: bool = False

    @property
    def endpoint(self) -> str:
        """The name of the endpoint."""
        return self.wish.name


class RunReport(NamedTuple):
    """The end of a run, as a node reports it."""

    run: int
    endpoint: str
    ended: Ended


class NodeReport(NamedTuple):
    """A node, as it reports itself.

    Attributes:
        place: Its directory and machine, which tell it apart from another of its name.
    """

    node: Node
    place: str
