"""How a run gets the pace of its host: alone, with this machine, or with all nodes of a fleet."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PaceSpec:
    """How a run gets the pace of its host; a value that can be sent to another process.

    Attributes:
        interval: Least seconds between the starts of two requests; 0 for no pace.
        host: The host.
        place: A directory with ``hosts.sqlite``, or the URL of a Redis; empty if no other process
            requests the host.
        nodes: How many nodes share the host, for when the Redis cannot be reached.
        turns: How many turns may be given ahead; after so many intervals, all of them are over.
    """

    interval: float = 0.0
    host: str = ""
    place: str = ""
    nodes: int = 1
    turns: int = 1
