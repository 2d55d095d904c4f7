"""Nodes that come, go, are lost, or give a Silo away, while endpoints are due."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from silofleet.clock import Clock, Summary
from silofleet.fleet import Fleet, make_fleet
from silofleet.ledger import Run
from silofleet.orders import RunOrder
from silofleet.values import Ended, Endpoint, Node, RunOutcome, State
from silowork.stop import Stop

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
ROOM = 1 << 40


class _Nodes:
    """A runner with nodes that may be away; each run ends whole after a minute, or is lost."""

    def __init__(self, *names: str) -> None:
        self.now, self.there = NOW, dict.fromkeys(names, ROOM)
        self.orders: list[tuple[str, str, int]] = []  # endpoint, node, epoch
        self.leaves_at_start = ""
        self._working: dict[int, tuple[str, str]] = {}

    @property
    def progress(self) -> Mapping[int, tuple[int, int | None]]:
        return {}

    def nodes(self) -> list[Node]:
        return [Node(name, 2, room, room, self.now) for name, room in self.there.items()]

    def keeps(self, run: Run) -> bool:
        del run
        return False

    def end_own(self) -> set[int]:
        return set()

    def start(self, order: RunOrder, node: str) -> None:
        assert order.endpoint not in {name for name, _ in self._working.values()}
        self.orders.append((order.endpoint, node, order.epoch))
        self._working[order.run] = order.endpoint, node
        if node == self.leaves_at_start:
            del self.there[node]
            self.leaves_at_start = ""

    def finished(self, timeout: float) -> list[tuple[int, Ended]]:
        del timeout
        self.now += timedelta(minutes=1)
        found = []
        for number, (_, node) in self._working.items():
            outcome = RunOutcome.WHOLE if node in self.there else RunOutcome.CUT
            found.append((number, Ended(outcome, "said", self.now, 10, 10)))
        self._working.clear()
        return found


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    """A fleet of four endpoints, harvested on two nodes."""
    make_fleet(str(tmp_path))
    with Fleet(str(tmp_path)) as found:
        found.add([Endpoint(f"e{n}", f"http://h{n}.example.org/oai") for n in range(4)])
        for facts in found.ledger.facts():
            found.ledger.change(facts.name, lambda one: one._replace(added=NOW, due=NOW))
        runner = _Nodes("n1", "n2")
        assert _run(found, runner).is_whole
        assert Counter(node for _, node, _ in runner.orders) == {"n1": 2, "n2": 2}
        yield found


def _run(fleet: Fleet, runner: _Nodes) -> Summary:
    return Clock(fleet, runner, clock=lambda: runner.now).run(Stop(), until_idle=True)


def _a_day_later(*names: str) -> _Nodes:
    """Everything is due again."""
    runner = _Nodes(*names)
    runner.now += timedelta(days=2)
    return runner


def _places(fleet: Fleet) -> dict[str, str]:
    return {facts.name: facts.node for facts in fleet.ledger.facts()}


def _of(fleet: Fleet, node: str) -> list[str]:
    return [name for name, place in _places(fleet).items() if place == node]


def test_a_node_that_is_lost_while_its_endpoints_are_due(fleet: Fleet) -> None:
    gone, places = _of(fleet, "n2"), _places(fleet)
    runner = _a_day_later("n1")
    summary = _run(fleet, runner)
    assert sorted(name for name, _, _ in runner.orders) == _of(fleet, "n1")
    assert summary.waiting == dict.fromkeys(gone, "its node n2 does not report")
    lines = {line.endpoint.name: line for line in fleet.lines(runner.now)}
    assert {name for name, line in lines.items() if line.state is State.LOST} == set(gone)
    assert {lines[name].reason for name in gone} == {"its node n2 does not report"}
    runner.there["n2"] = ROOM
    assert _run(fleet, runner).is_whole
    assert Counter(name for name, _, _ in runner.orders) == dict.fromkeys(places, 1)
    assert _places(fleet) == places
    assert {line.state for line in fleet.lines(runner.now)} == {State.WHOLE}


def test_a_node_that_is_lost_between_two_runs_of_the_clock(fleet: Fleet) -> None:
    gone, a_day = _of(fleet, "n2"), timedelta(days=1)
    runner = _a_day_later("n1", "n2")
    assert _run(fleet, runner).is_whole
    assert {line.state for line in fleet.lines(runner.now + a_day / 2)} == {State.WHOLE}
    for name in _of(fleet, "n1"):
        fleet.ledger.change(name, lambda facts: facts._replace(due=runner.now + 3 * a_day))
    del runner.there["n2"]
    runner.now += 2 * a_day
    assert set(_run(fleet, runner).waiting) == set(gone)  # and no run starts
    lines = {line.endpoint.name: line.state for line in fleet.lines(runner.now)}
    assert {name for name, state in lines.items() if state is State.LOST} == set(gone)


def test_a_node_that_is_lost_with_a_run_at_work(fleet: Fleet) -> None:
    places = _places(fleet)
    runner = _a_day_later("n1", "n2")
    runner.leaves_at_start = "n2"
    summary = _run(fleet, runner)
    assert set(summary.waiting) == set(_of(fleet, "n2"))
    assert fleet.ledger.open_runs() == []
    runner.there["n2"] = ROOM
    assert _run(fleet, runner).is_whole
    assert _places(fleet) == places
    assert {(name, node) for name, node, _ in runner.orders} == set(places.items())
    assert {facts.failures for facts in fleet.ledger.facts()} == {0}


def test_a_node_that_was_removed_is_waited_for(fleet: Fleet) -> None:
    gone = _of(fleet, "n2")
    assert fleet.ledger.change_node("n2", gone=True)
    runner = _a_day_later("n1")
    assert set(_run(fleet, runner).waiting) == set(gone)
    waiting = {line.endpoint.name: line for line in fleet.lines(runner.now)}
    for name in gone:
        assert waiting[name].state is State.DUE
        assert "waits for the node n2" in waiting[name].reason
    runner.there["n2"] = ROOM
    assert _run(fleet, runner).is_whole
    assert sorted(node for _, node, _ in runner.orders) == ["n1", "n1", "n2", "n2"]


def test_a_node_that_is_added_gets_new_silos_and_no_old_ones(fleet: Fleet) -> None:
    places = _places(fleet)
    runner = _a_day_later("n1", "n2", "n3")
    fleet.add([Endpoint("new", "http://new.example.org/oai")])
    for name in ("n1", "n2"):
        runner.there[name] = ROOM // 2
    assert _run(fleet, runner).is_whole
    assert _places(fleet) == places | {"new": "n3"}
    assert Counter(name for name, _, _ in runner.orders) == dict.fromkeys([*places, "new"], 1)


def test_new_endpoints_without_a_place_hold_up_no_updates(fleet: Fleet) -> None:
    places = _places(fleet)
    new = [f"new{number}" for number in range(9)]
    fleet.add([Endpoint(name, f"http://{name}.example.org/oai") for name in new])
    for name in new:
        fleet.ledger.change(name, lambda one: one._replace(added=NOW, due=NOW))
    fleet.ledger.change_node("n1", is_open=False)
    runner = _a_day_later("n1", "n2")
    runner.there["n2"] = 24_000 * 10_500  # for updates, and no new Silo
    summary = _run(fleet, runner)
    assert summary.waiting == dict.fromkeys(new, "no disk of an open node has room")
    assert {name: node for name, node, _ in runner.orders} == places
    runner.there["n2"] = ROOM
    assert _run(fleet, runner).is_whole
    assert {_places(fleet)[name] for name in new} == {"n2"}


def test_a_silo_that_moves_while_its_endpoint_is_due(fleet: Fleet) -> None:
    name = _of(fleet, "n1")[0]
    move = fleet.ledger.begin_move(name, "n1", "n2", NOW)
    runner = _a_day_later("n1", "n2")
    assert _run(fleet, runner).waiting == {name: "its Silo is being moved to n2"}
    assert name not in {one for one, _, _ in runner.orders}
    fleet.ledger.switch(move, has_silo=True)
    fleet.ledger.end_move(name)
    assert _run(fleet, runner).is_whole
    assert [one for one in runner.orders if one[0] == name] == [(name, "n2", 2)]
    assert len(runner.orders) == 4
