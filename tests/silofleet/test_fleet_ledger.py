"""The state of a fleet: facts and runs come back, and only the current run ends a run."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from silofleet.errors import FleetStateUnreadable, NoSuchEndpoint
from silofleet.ledger import RUNS_KEPT, FleetLedger
from silofleet.values import Ended, Facts, Node, RunOutcome

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
FULL = Facts(
    "a", "a.example.org", NOW, "n1", 2, 0, NOW, NOW, RunOutcome.PARTIAL, "said", 1, NOW, 10, 12,
    NOW, timedelta(days=2), True, "http://b.example.org/", True, "wpf",
)  # fmt: skip


def _over(facts: Facts) -> Facts:
    return facts._replace(run=0)


@pytest.fixture
def ledger(tmp_path: Path) -> FleetLedger:
    (tmp_path / "fleet").mkdir()
    return FleetLedger(str(tmp_path), "create")


def test_facts_come_back(ledger: FleetLedger) -> None:
    plain = Facts("b", "b.example.org", NOW)
    assert ledger.add([FULL, plain]) == 2
    assert ledger.facts() == [FULL, plain]
    assert ledger.add([FULL._replace(said="other")]) == 0
    assert ledger.facts_of("a") == FULL
    with pytest.raises(NoSuchEndpoint):
        ledger.facts_of("c")


def test_only_the_current_run_of_an_endpoint_ends_it(ledger: FleetLedger) -> None:
    ledger.add([Facts("a", "a.example.org", NOW)])
    first = ledger.begin("a", "n1", NOW)
    second = ledger.begin("a", "n1", NOW)  # the first was lost
    late = ledger.end(
        first, Ended(RunOutcome.WHOLE, "", NOW), NOW, lambda facts: facts._replace(run=0)
    )
    assert late is None
    assert ledger.facts_of("a").run == second.number
    done = ledger.end(
        second, Ended(RunOutcome.WHOLE, "", NOW), NOW, lambda facts: facts._replace(run=0)
    )
    assert done == ledger.facts_of("a")
    assert done is not None
    assert done.run == 0
    assert ledger.open_runs() == []
    assert [one.number for one in ledger.runs_of("a")] == [second.number, first.number]


def test_a_run_of_a_removed_endpoint_ends_quietly(ledger: FleetLedger) -> None:
    ledger.add([Facts("a", "a.example.org", NOW)])
    run = ledger.begin("a", "n1", NOW)
    ledger.remove(["a"])
    assert ledger.end(run, Ended(RunOutcome.WHOLE, "", NOW), NOW, lambda facts: facts) is None


def test_changes_by_others_are_named(ledger: FleetLedger, tmp_path: Path) -> None:
    ledger.add([FULL, Facts("b", "b.example.org", NOW)])
    seen, names = ledger.changed_since(-1)
    assert names == set()
    with FleetLedger(str(tmp_path)) as other:
        other.change("b", lambda facts: facts._replace(is_asked=True))
    seen, names = ledger.changed_since(seen)
    assert names == {"b"}
    assert ledger.changed_since(seen) == (seen, set())


def test_beats_holds_and_nodes_are_kept(ledger: FleetLedger) -> None:
    ledger.add([Facts("a", "a.example.org", NOW)])
    run = ledger.begin("a", "n1", NOW)
    later = NOW + timedelta(seconds=30)
    ledger.beat([(run.number, 100, 900)], later)
    (found,) = ledger.open_runs()
    assert (found.beat, found.done, found.total) == (later, 100, 900)
    end = Ended(RunOutcome.WHOLE, "", later, listed=120)
    ledger.end(run, end, later, lambda facts: facts._replace(run=0))
    assert [one.done for one in ledger.runs_of("a")] == [120]
    ledger.hold("h", later)
    ledger.hold("h", NOW)
    assert ledger.holds() == {"h": later}
    ledger.see(Node("n1", 4, 10, 20, NOW))
    assert ledger.change_node("n1", is_open=False)
    ledger.see(Node("n1", 8, 11, 21, later))
    assert ledger.nodes() == [Node("n1", 8, 11, 21, later, is_open=False)]
    assert ledger.change_node("n1", gone=True)
    assert not ledger.change_node("n1", gone=True)


def test_old_runs_are_forgotten(ledger: FleetLedger) -> None:
    ledger.add([Facts("a", "a.example.org", NOW)])
    for moment in (NOW - RUNS_KEPT - timedelta(days=1), NOW):
        run = ledger.begin("a", "n1", moment)
        ledger.end(
            run, Ended(RunOutcome.WHOLE, "", moment), moment, lambda facts: facts._replace(run=0)
        )
    ledger.forget_old(NOW)
    assert [one.ended for one in ledger.runs_of("a")] == [NOW]


def test_what_was_told_is_known_until_it_is_over(ledger: FleetLedger) -> None:
    ledger.told.note([("a", "blocked"), ("b", "blocked")], NOW)
    ledger.told.note([("a", "blocked"), ("a", "moved")], NOW)
    ledger.told.forget([("a", "blocked")])
    assert ledger.told.sent() == {("a", "moved"), ("b", "blocked")}


def test_a_damaged_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "fleet").mkdir()
    (tmp_path / "fleet" / "fleet.sqlite").write_bytes(b"no database" * 1000)
    with pytest.raises(FleetStateUnreadable, match="silo fleet rebuild"):
        FleetLedger(str(tmp_path)).facts()
