"""No host is hurried and no endpoint starves in a simulated month, and a fault would be seen."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import fleet_simulator as simulator
import pytest
from fleet_simulator import Plan, simulate, table

from silofleet import schedule

SMALL = Plan(endpoints=200, days=30, nodes=3, slots=3)


@pytest.fixture(scope="module")
def month():
    return simulate(SMALL)


def test_nothing_that_must_not_happen_happens_in_a_month(month):
    assert month.violations == []
    assert month.lost
    assert month.never == 0
    assert set("wfhc") <= set(month.outcomes)
    assert month.most_busy <= SMALL.nodes * SMALL.slots
    assert month.waits["updates"] < timedelta(days=2)


def test_a_plan_is_always_the_same():
    brief = replace(SMALL, days=3)
    assert simulate(brief) == simulate(brief)
    assert simulate(replace(brief, seed=2)) != simulate(brief)


def test_the_rows_have_every_outcome_and_the_violations(month):
    rows = dict(table(SMALL, month))
    assert rows["runs"] == f"{month.runs:,}"
    assert rows["violations"] == "0"


def test_adaptive_intervals_save_requests(month):
    adaptive = simulate(replace(SMALL, adaptive=True))
    assert adaptive.violations == []
    assert adaptive.runs < 0.6 * month.runs


def test_a_schedule_that_forgets_hosts_or_hours_is_seen(monkeypatch):
    monkeypatch.setattr(simulator, "_limited", lambda host: True)
    assert any("its host is busy" in one for one in simulate(replace(SMALL, days=2)).violations)
    monkeypatch.setattr(schedule, "is_within", lambda hours, moment: True)
    monkeypatch.setattr(schedule, "opening", lambda hours, moment: moment)
    found = simulate(replace(SMALL, days=2, with_hours=1)).violations
    assert any("its hours are over" in one for one in found)


def test_hosts_are_shared_as_they_are_in_the_world():
    hosts = Counter(simulator._hosts(10_000, simulator.random.Random(1)))
    shared = sum(number for number in hosts.values() if number > 1)
    assert 0.72 < shared / 10_000 < 0.78
    assert max(hosts.values()) == 152


@pytest.mark.slow
def test_nothing_that_must_not_happen_happens_in_a_year_of_ten_thousand():
    report = simulate(Plan())
    assert report.violations == []
    assert report.never == 0
    assert report.runs > 3_000_000
