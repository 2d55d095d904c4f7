"""The endpoints of a fleet for the page: read again where they changed, filtered and sorted."""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from silofleet.fleet import Fleet, Line
from silofleet.ledger import Run
from silofleet.schedule import room_of
from silofleet.values import Node, Outcome, State

SECONDS_KEPT = 2.0
"""Between two readings of the clock for the states; a change is seen at once."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_TROUBLE: Mapping[State, int] = {
    state: number
    for number, state in enumerate(
        (
            State.LOST, State.FAILING, State.SUSPICIOUS, State.BLOCKED, State.MOVED,
            State.QUARANTINED, State.PARTIAL, State.RUNNING, State.DUE, State.NEW, State.PAUSED,
            State.WHOLE,
        )
    )
}  # fmt: skip
SORTS: Mapping[str, Callable[[Line], Any]] = {
    "state": lambda line: (_TROUBLE[line.state], line.endpoint.name),
    "name": lambda line: line.endpoint.name,
    "whole": lambda line: (line.facts.whole or _LONG_AGO, line.endpoint.name),
    "records": lambda line: (-line.facts.records, line.endpoint.name),
    "failures": lambda line: (-line.facts.failures, line.endpoint.name),
    "due": lambda line: (line.due is None, line.due or _LONG_AGO, line.endpoint.name),
}
STATES = tuple(_TROUBLE)
"""The states, those with trouble first."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is shown of the fleet.

    Attributes:
        state: Only endpoints in this state; empty for all.
        tag: Only those with this tag.
        host: Only those of this host.
        text: Only those with this text in their name or address.
        sort: One of `SORTS`.
    """

    state: str = ""
    tag: str = ""
    host: str = ""
    text: str = ""
    sort: str = "state"

    def shows(self, line: Line) -> bool:
        """Whether an endpoint is shown, whatever its state."""
        text = self.text.casefold()
        return (
            (not self.tag or self.tag in line.endpoint.tags)
            and (not self.host or self.host == line.facts.host)
            and (
                not text
                or text in line.endpoint.name.casefold()
                or text in line.endpoint.url.casefold()
            )
        )


@dataclass(frozen=True, slots=True)
class Found:
    """The endpoints that are shown.

    Attributes:
        lines: In order.
        counts: State → number, of the endpoints that every filter but the state shows.
        nodes: Each with whether it is lost, and the records for which its disk has room.
        last_day: Runs that ended in the last 24 hours.
        is_at_work: Whether a clock runs the fleet.
        awaited: Nodes that have never reported → number of endpoints that wait for them.
    """

    lines: Sequence[Line]
    counts: Mapping[State, int]
    nodes: Sequence[tuple[Node, bool, int]]
    last_day: Sequence[Run]
    is_at_work: bool
    awaited: Mapping[str, int]


class FleetLines:
    """Reads a fleet for the page; any thread may use it.

    Args:
        directory: The fleet.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._fleet: Fleet | None = None
        self._stamp: object = None
        self._file: int | None = None
        self._read = float("-inf")
        self._lines: list[Line] = []
        self._last_day: list[Run] = []

    def close(self) -> None:
        """Close the files."""
        with self._lock:
            if self._fleet is not None:
                self._fleet.close()

    def find(self, asked: Asked) -> Found:
        """Return the endpoints that are shown.

        Raises:
            FleetError: The fleet cannot be read.
        """
        with self._lock:
            lines, last_day = self._current()
            fleet = self._opened()
            now = datetime.now(UTC)
            lost = fleet.lost_nodes(now)
            nodes = [(one, one.name in lost, room_of(one)) for one in fleet.ledger.nodes()]
            is_at_work = fleet.is_at_work(now)
        shown = [line for line in lines if asked.shows(line)]
        counts = Counter(line.state for line in shown)
        if asked.state:
            shown = [line for line in shown if line.state.value == asked.state]
        shown.sort(key=SORTS[asked.sort])
        awaited = Counter(line.awaits for line in lines if line.awaits)
        return Found(shown, counts, nodes, last_day, is_at_work, awaited)

    def one(self, name: str) -> tuple[Line, list[Run]]:
        """Return an endpoint with its runs.

        Raises:
            NoSuchEndpoint: There is none.
        """
        with self._lock:
            fleet = self._opened()
            return fleet.line(name), fleet.ledger.runs_of(name)

    def change(self, change: Callable[[Fleet], object]) -> None:
        """Change the fleet."""
        with self._lock:
            change(self._opened())

    def _opened(self) -> Fleet:
        if self._fleet is not None and self._file != _number_of(self._fleet.ledger.path):
            self._fleet.close()  # the state was made again, in another file
            self._fleet = self._stamp = None
        if self._fleet is None:
            self._fleet = Fleet(self._directory)
            self._fleet.ledger.last_change()  # opens the file
            self._file = _number_of(self._fleet.ledger.path)
        return self._fleet

    def _current(self) -> tuple[list[Line], list[Run]]:
        fleet = self._opened()
        stamp = (id(fleet.wishes), fleet.ledger.last_change())
        if stamp != self._stamp or time.monotonic() - self._read > SECONDS_KEPT:
            now = datetime.now(UTC)
            self._lines = fleet.lines(now)
            self._last_day = fleet.ledger.ended_since(now - timedelta(days=1))
            self._stamp, self._read = stamp, time.monotonic()
        return self._lines, self._last_day


def _number_of(path: str) -> int | None:
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return None


def by_hour(runs: Sequence[Run], now: datetime) -> list[tuple[datetime, Counter[Outcome]]]:
    """The outcomes of the last 24 hours, hour by hour, the oldest first."""
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    hours = {this_hour - timedelta(hours=back): Counter[Outcome]() for back in range(23, -1, -1)}
    for run in runs:
        if run.ended is not None and run.outcome is not None:
            hour = run.ended.replace(minute=0, second=0, microsecond=0)
            if hour in hours:
                hours[hour][run.outcome] += 1
    return list(hours.items())
