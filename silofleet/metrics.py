"""The state of a fleet as metrics for Prometheus (pure)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from silofleet.fleet import EndpointLine
from silofleet.ledger import Endings
from silofleet.values import Node, RunOutcome, State
from silowork.prometheus import Sample, gauge


def metrics_of(
    lines: Sequence[EndpointLine],
    nodes: Sequence[tuple[Node, bool, int]],
    last_day: Endings,
    now: datetime,
) -> str:
    """Return the metrics.

    No label has a value that grows with the fleet, except the name of a node.

    Args:
        lines: All endpoints.
        nodes: Each with whether it is lost, and the records for which it has room.
        last_day: The runs that ended in the last 24 hours.
        now: The time.
    """
    states = Counter(line.state for line in lines)
    overdue = [
        (now - line.due).total_seconds()
        for line in lines
        if line.due is not None and line.due <= now and line.state is not State.RUNNING
    ]
    stale = [
        (now - line.facts.whole).total_seconds()
        for line in lines
        if line.facts.whole is not None and line.state is not State.PAUSED
    ]
    ended = Counter[RunOutcome]()
    for (_hour, outcome), number in last_day.items():
        ended[outcome] += number
    alive = [node for node, lost, _room in nodes if not lost]
    parts = [
        _metric("endpoints", "Endpoints by state.",
                (({"state": state.value}, states[state]) for state in State)),
        _metric("endpoints_due", "Endpoints that are due and not at work.", [({}, len(overdue))]),
        _metric("overdue_seconds", "Since when the most overdue endpoint is due.",
                [({}, max(overdue, default=0))]),
        _metric("last_whole_seconds", "Age of the oldest last whole harvest of an endpoint that is"
                " not paused.", [({}, max(stale, default=0))]),
        _metric("records", "Records in all Silos.",
                [({}, sum(line.facts.records for line in lines))]),
        _metric("runs_last_day", "Runs that ended in the last 24 hours, by outcome.",
                (({"outcome": one.value}, ended[one]) for one in RunOutcome)),
        _metric("nodes_lost", "Nodes that do not report.", [({}, len(nodes) - len(alive))]),
        _metric("node_slots", "Runs that a node does at a time.",
                (({"node": node.name}, node.slots) for node in alive)),
        _metric("node_free_bytes", "Free bytes on the disk of a node.",
                (({"node": node.name}, node.free_bytes) for node in alive)),
        _metric("node_free_inodes", "Free inodes on the disk of a node.",
                (({"node": node.name}, node.free_inodes) for node in alive)),
        _metric("node_seen_seconds", "Since when a node has not reported.",
                (({"node": node.name}, (now - node.seen).total_seconds()) for node, *_ in nodes)),
    ]  # fmt: skip
    return "".join(parts)


def _metric(name: str, text: str, samples: Iterable[Sample]) -> str:
    return gauge(f"silo_fleet_{name}", text, samples)
