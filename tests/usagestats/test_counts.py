"""Counts are replaced a day at a time; months and the site agree with them."""

from pathlib import Path

import pytest
from day_items import DayItem, replace_day

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
