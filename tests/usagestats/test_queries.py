"""Sums over periods are those of their days, whatever part of them is in whole months."""

from datetime import date, timedelta

import pytest
from day_items import DayItem, item_figures, replace_day

from usagestats.errors import PeriodInvalid
from usagestats.store import queries
from usagestats.store.counts import Period, UsageCounts
from usagestats.store.periods import days_between, months_between, parts_of, period_of
from usagestats.values import Figures

DAYS = [str(date(2025, 12, 20) + timedelta(n)) for n in range(100)]
ITEMS = ("oai:a:1", "oai:a:2", "oai:a:3")


def _figures(number: int) -> Figures:
    return Figures(number + 3, number + 1, number + 2, 1, number, 2, 1, number, 1)


def _row(item: int, day: int, *, machine: bool) -> DayItem:
    from_places = () if machine else (("DE", day + 2, 1), ("GB", item + 1, item))
    return DayItem(ITEMS[item], machine, _figures(day * 7 + item), day, day + 5, from_places)


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> UsageCounts:
    path = tmp_path_factory.mktemp("silo")
    (path / "usage").mkdir()
    found = UsageCounts(str(path), "create")
    with found.changing() as change:
        for number, day in enumerate(DAYS):
            for _ in range(1 + number % 2):  # some days are replaced
                replace_day(
                    change,
                    day,
                    [
                        _row(item, number, machine=machine)
                        for item in range(1 + number % 3)
                        for machine in (False, True)
                    ],
                )
    return found


@pytest.mark.parametrize(
    ("first", "last"),
    [("", ""), ("2026-01", "2026-02"), ("2026-01-05", "2026-01-07"), ("2026-01-01", "2026-01-31"),
     ("2025-12-25", "2026-03-03"), ("2026-01-15", "2026-02-14"), ("", "2026-01-15"),
     ("2026-02-02", ""), ("2030-01", ""), ("9999-12-02", ""), ("", "0001-01-15")],
)  # fmt: skip
def test_a_period_sums_its_days(counts: UsageCounts, first: str, last: str) -> None:
    period = period_of(first, last)
    inside = [
        (number, day)
        for number, day in enumerate(DAYS)
        if (not first or day >= first) and (not last or day <= f"{last}~")
    ]
    expected: dict[str, Figures] = {}
    places: dict[str, int] = {}
    for number, _ in inside:
        for item in range(1 + number % 3):
            name = ITEMS[item]
            expected[name] = expected.get(name, Figures()) + _figures(number * 7 + item)
            places["DE"] = places.get("DE", 0) + number + 2
            places["GB"] = places.get("GB", 0) + item + 1
    assert item_figures(counts, period) == expected
    assert item_figures(counts, period, machine=True) == expected
    assert sum(expected.values(), Figures()) == counts.totals(period)
    two = sum((expected.get(one, Figures()) for one in ITEMS[:2]), Figures())
    assert queries.figures_of(counts, ITEMS[:2], period) == two
    days = queries.days_of(counts, ITEMS, period)
    assert [day for day, _ in days] == [day for _, day in inside]
    assert sum(queries.by_month(days).values(), Figures()) == counts.totals(period)
    assert queries.months_together(counts, ITEMS, period) == queries.by_month(days)
    for item, months in queries.months_of(counts, ITEMS, period).items():
        assert sum(months.values(), Figures()) == expected[item]
    assert {code: uses for code, uses, _ in queries.countries(counts, period)} == places
    assert sorted(queries.countries(counts, period, ITEMS)) == sorted(
        queries.countries(counts, period)
    )


def test_first_and_last(counts: UsageCounts) -> None:
    assert queries.bounds(counts) == (DAYS[0], DAYS[-1])
    assert queries.first_and_last_use(counts, ["oai:a:1"]) == (0, 104)
    assert queries.first_and_last_use(counts, ["oai:a:9"]) is None


def test_parts_of_a_period() -> None:
    assert parts_of(Period("2026-01-15", "2026-03-31")).months == ("2026-02", "2026-03")
    assert parts_of(Period("2026-01-15", "2026-02-03")).months is None
    assert parts_of(Period("2026-01", "")).months == ("2026-01", "9999-99")


@pytest.mark.parametrize(("first", "last"), [("x", ""), ("2026-13", ""), ("2026-02", "2026-01")])
def test_what_is_no_period_is_refused(first: str, last: str) -> None:
    with pytest.raises(PeriodInvalid, match=r"not a day or a month|before it begins"):
        period_of(first, last)


def test_months_and_days_end_with_the_last_year() -> None:
    assert months_between("9999-11", "9999-12") == ["9999-11", "9999-12"]
    assert months_between("0001-01", "9999-12", 2) == ["9999-11", "9999-12"]
    assert days_between("9999-12-31", "9999-12-31") == ["9999-12-31"]
    assert days_between("2026-02-27", "2026-03-01", 2) == ["2026-02-28", "2026-03-01"]
