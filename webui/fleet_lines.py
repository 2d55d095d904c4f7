"""The endpoints of a fleet for the page: read again where they changed, filtered and sorted."""

import os
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from silofleet.fleet import EndpointLine, Fleet
from silofleet.ledger import Endings, Run
from silofleet.schedule import room_of
from silofleet.values import TROUBLED, Node, RunOutcome, State

MOST_CHANGES = 1000
"""With more changes than this since the last look, all endpoints are read again."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
STATE_LABELS: Mapping[State, str] = {
    State.WHOLE: "Whole",
    State.PARTIAL: "Not whole",
    State.NEW: "New",
    State.DUE: "Due",
    State.RUNNING: "Running",
    State.FAILING: "Failing",
    State.QUARANTINED: "Quarantined",
    State.BLOCKED: "Blocked",
    State.MOVED: "Moved",
    State.SUSPICIOUS: "Suspicious",
    State.PAUSED: "Paused",
    State.LOST: "Lost",
}
"""English texts of the catalogue."""
SORTS: Mapping[str, Callable[[EndpointLine], Any]] = {
    "state": lambda line: (TROUBLED.index(line.state), line.endpoint.name),
    "name": lambda line: line.endpoint.name,
    "whole": lambda line: (line.facts.whole or _LONG_AGO, line.endpoint.name),
    "records": lambda line: (-line.facts.records, line.endpoint.name),
    "failures": lambda line: (-line.facts.failures, line.endpoint.name),
    "due": lambda line: (line.due is None, line.due or _LONG_AGO, line.endpoint.name),
}


@dataclass(frozen=True, slots=True)
class FleetQuestion:
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

    @property
    def is_everything(self) -> bool:
        """Whether all endpoints are shown."""
        return not (self.state or self.tag or self.host or self.text)

    def shows(self, line: EndpointLine) -> bool:
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
class FoundEndpoints:
    """The endpoints that are shown.

    Attributes:
        lines: In order.
        counts: State → number, of the endpoints that every filter but the state shows.
        nodes: Each with whether it is lost, and the records for which its disk has room.
        last_day: Of these endpoints, the runs that ended in the last 24 hours.
        due: Of these endpoints, the runs of the next 24 hours; see `due_by_hour`.
        is_at_work: Whether a clock runs the fleet.
        awaited: Nodes without a known report → number of endpoints that wait for them.
        rebuilt: Those of them that have Silos: the state was made again since their last report.
        now: When this was so.
    """

    lines: Sequence[EndpointLine]
    counts: Mapping[State, int]
    nodes: Sequence[tuple[Node, bool, int]]
    last_day: Endings
    due: Sequence[tuple[datetime, int, int]]
    is_at_work: bool
    awaited: Mapping[str, int]
    rebuilt: Collection[str]
    now: datetime


class FleetLines:
    """Reads a fleet for the page; any thread may use it.

    Args:
        directory: The fleet.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._fleet: Fleet | None = None
        self._file: int | None = None
        self._read: tuple[object, dict[str, bool]] | None = None
        self._seen = -1
        self._lines: dict[str, EndpointLine] = {}

    def close(self) -> None:
        """Close the files."""
        with self._lock:
            if self._fleet is not None:
                self._fleet.close()

    def states(self) -> dict[str, State]:
        """Return the state of each endpoint, by its name, which is that of its Silo.

        Raises:
            FleetError: The fleet cannot be read.
        """
        return {one.endpoint.name: one.state for one in self.find(FleetQuestion()).lines}

    def find(self, asked: FleetQuestion) -> FoundEndpoints:
        """Return the endpoints that are shown.

        Raises:
            FleetError: The fleet cannot be read.
        """
        with self._lock:
            fleet, now = self._opened(), datetime.now(UTC)
            lost = fleet.lost_nodes(now)
            nodes = [(one, one.name in lost, room_of(one)) for one in fleet.ledger.nodes()]
            lines = self._current(fleet, now, {one.name: is_lost for one, is_lost, _ in nodes})
            is_at_work = fleet.is_at_work(now)
            shown = [line for line in lines if asked.shows(line)]
            counts = Counter(line.state for line in shown)
            if asked.state:
                shown = [line for line in shown if line.state.value == asked.state]
            names = None if asked.is_everything else [line.endpoint.name for line in shown]
            last_day = fleet.ledger.endings(now - timedelta(days=1), names)
        due = due_by_hour(shown, now)
        shown.sort(key=SORTS[asked.sort])
        awaited = Counter(line.awaits for line in lines if line.awaits)
        rebuilt = {line.awaits for line in lines if line.awaits and line.facts.node}
        return FoundEndpoints(
            shown, counts, nodes, last_day, due, is_at_work, awaited, rebuilt, now
        )

    def one(self, name: str) -> tuple[EndpointLine, list[Run]]:
        """Return an endpoint with its runs.

        Raises:
            NoSuchEndpoint: There is none.
        """
        with self._lock:
            fleet = self._opened()
            return fleet.line(name), fleet.ledger.runs_of(name)

    def is_at_work(self) -> bool:
        """Whether a clock runs the fleet."""
        with self._lock:
            return self._opened().is_at_work(datetime.now(UTC))

    def change(self, change: Callable[[Fleet], object]) -> None:
        """Change the fleet."""
        with self._lock:
            change(self._opened())

    def _opened(self) -> Fleet:
        if self._fleet is not None and self._file != _number_of(self._fleet.ledger.path):
            self._fleet.close()  # the state was made again, in another file
            self._fleet = self._read = None
        if self._fleet is None:
            self._fleet = Fleet(self._directory)
            self._fleet.ledger.last_change()  # opens the file
            self._file = _number_of(self._fleet.ledger.path)
        return self._fleet

    def _current(self, fleet: Fleet, now: datetime, nodes: dict[str, bool]) -> list[EndpointLine]:
        """All endpoints as they are now; only those are read whose state may be another."""
        wishes, last = fleet.wishes, fleet.ledger.last_change()
        is_same = self._read is not None and self._read[0] is wishes and self._read[1] == nodes
        if is_same and last - self._seen <= MOST_CHANGES:
            self._seen, names = fleet.ledger.changed_since(self._seen)
            names |= {
                name
                for name, line in self._lines.items()  # time alone makes whole ones due
                if line.state is State.WHOLE and line.due is not None and line.due <= now
            }
            fresh = {line.endpoint.name: line for line in fleet.lines(now, names)}
            for name in names - fresh.keys():
                self._lines.pop(name, None)
            self._lines |= fresh
        else:
            self._seen, self._read = last, (wishes, nodes)
            self._lines = {line.endpoint.name: line for line in fleet.lines(now)}
        return list(self._lines.values())


def _number_of(path: str) -> int | None:
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return None


def by_hour(ended: Endings, now: datetime) -> list[tuple[datetime, Counter[RunOutcome]]]:
    """The outcomes of the last 24 hours, hour by hour, the oldest first.

    These are 25 hours of the clock: of the first the end, and of the last, the present one, the
    beginning.
    """
    hours = {
        _hour(now) - timedelta(hours=back): Counter[RunOutcome]() for back in range(24, -1, -1)
    }
    for (hour, outcome), number in ended.items():
        if hour in hours:
            hours[hour][outcome] += number
    return list(hours.items())


def due_by_hour(lines: Collection[EndpointLine], now: datetime) -> list[tuple[datetime, int, int]]:
    """How many runs are due within 24 hours, hour by hour, and how many are overdue.

    These are 25 hours of the clock: of the first, the present one, the rest, and of the last its
    beginning. What is overdue is counted in the first.
    """
    hours = [_hour(now) + timedelta(hours=ahead) for ahead in range(25)]
    due = [line.due for line in lines if line.due is not None]
    counts = Counter(_hour(one) for one in due if now < one <= now + timedelta(hours=24))
    overdue = sum(one <= now for one in due)
    return [(hour, counts[hour], 0 if ahead else overdue) for ahead, hour in enumerate(hours)]


def _hour(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
