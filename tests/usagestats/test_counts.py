"""Counts are replaced a day at a time; months and the site agree with them."""

from pathlib import Path

import pytest
from day_items import DayItem, replace_day
from hypothesis import given
from hypothesis import strategies as st

from recordsilo import Silo
from usagestats.facets import DOWNLOADS, USES
from usagestats.facts import USAGE
from usagestats.store.counts import Period, UsageCounts
from usagestats.store.queries import days_of
from usagestats.values import Figures

ONE = Figures(3, 1, 2, 1, 0, 2, 1, 0, 2)


def _day(counts: UsageCounts, day: str, *rows: DayItem) -> None:
    with counts.changing() as change:
        replace_day(change, day, rows)


@pytest.fixture
def counts(tmp_path: Path) -> UsageCounts:
    (tmp_path / "usage").mkdir()
    return UsageCounts(str(tmp_path), "create")


def test_a_day_replaced_counts_once(counts: UsageCounts) -> None:
    rows = (
        DayItem("oai:a:1", machine=False, figures=ONE, first=10, last=20),
        DayItem("oai:a:1", machine=True, figures=ONE + ONE, first=10, last=20),
        DayItem("oai:a:2", machine=False, figures=ONE, first=5, last=6, countries=(("de", 3, 1),)),
    )
    _day(counts, "2026-10-12", *rows)
    _day(counts, "2026-10-12", *rows)
    _day(counts, "2026-11-01", rows[0])
    assert counts.totals(Period()) == ONE + ONE + ONE
    assert counts.totals(Period("2026-10", "2026-10")) == ONE + ONE
    assert counts.totals(Period("2026-10-13", "2026-10-31")) == Figures()
    assert counts.totals(Period(), machine=True) == ONE + ONE
    assert counts.days(Period()) == [("2026-10-12", ONE + ONE), ("2026-11-01", ONE)]
    assert days_of(counts, ["oai:a:2"], Period()) == [("2026-10-12", ONE)]
    assert counts.month_items("2026-10") == {"oai:a:1": ONE, "oai:a:2": ONE}


def test_a_day_without_uses_leaves_no_month(counts: UsageCounts) -> None:
    _day(counts, "2026-10-12", DayItem("oai:a:1", machine=False, figures=ONE, first=1, last=1))
    before = counts.stamp()
    _day(counts, "2026-10-12")
    assert counts.month_items("2026-10") == {}
    assert counts.stamp() != before


def test_without_a_file_there_are_no_counts(tmp_path: Path) -> None:
    with UsageCounts(str(tmp_path)) as counts:
        assert counts.totals(Period()) == Figures()
        assert counts.stamp() == ""


FIGURES = st.builds(Figures, *[st.integers(0, 100)] * 9)


@given(FIGURES, FIGURES, FIGURES)
def test_figures_add_up_in_any_order(one: Figures, two: Figures, three: Figures) -> None:
    assert one + Figures() == one
    assert one + two == two + one
    assert (one + two) + three == one + (two + three)
    assert (one + two).views == one.views + two.views


def test_the_uses_of_a_silo_are_told_only_where_there_are_any(tmp_path: Path) -> None:
    path = str(tmp_path / "silo")
    with Silo(path) as silo:
        assert USAGE.of(silo) is None
        (tmp_path / "silo" / "usage").mkdir()
        with UsageCounts(path, "create") as counts:
            assert USAGE.of(silo) is None
            for day in ("2026-10-12", "2026-11-01"):
                _day(counts, day, DayItem("oai:a:1", machine=False, figures=ONE, first=1, last=1))
        fact = USAGE.of(silo)
    assert fact is not None
    assert fact.lines == ("4 views, 2 downloads by people, 2026-10-12 to 2026-11-01",)
    assert fact.brief == "6 uses"
    assert fact.data["total_requests"] == 2


def test_uses_of_machines_are_no_order_of_records(counts: UsageCounts, tmp_path: Path) -> None:
    _day(
        counts,
        "2026-10-12",
        DayItem("oai:a:1", machine=False, figures=ONE, first=1, last=1),
        DayItem("oai:a:1", machine=True, figures=ONE + ONE, first=1, last=1),
        DayItem("oai:a:2", machine=True, figures=ONE, first=1, last=1),
    )
    _day(counts, "2026-11-01", DayItem("oai:a:1", machine=False, figures=ONE, first=1, last=1))
    asked = ["oai:a:1", "oai:a:2", "oai:a:3"]
    assert USES.values(str(tmp_path), asked) == {"oai:a:1": ("6",)}
    assert DOWNLOADS.values(str(tmp_path), asked) == {"oai:a:1": ("2",)}
    assert DOWNLOADS.values(str(tmp_path), ["oai:a:2"]) == {}
