"""Times of log lines in every form, and periods as people type them."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usagestats.errors import PeriodInvalid
from usagestats.lines.moments import LATEST, any_moment, clf_moment, iso_moment, moment_by
from usagestats.store.counts import Period
from usagestats.store.periods import (
    check_begun,
    first_day,
    is_date,
    last_day,
    month_after,
    months_between,
    parts_of,
    period_of,
)

TEN = int(datetime(2026, 10, 12, 10, 0, 1, tzinfo=UTC).timestamp())


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("12/Oct/2026:10:00:01 +0000", TEN),
        ("12/Oct/2026:10:00:01 -0000", TEN),
        ("12/Oct/2026:12:30:01 +0230", TEN),
        ("12/Oct/2026:02:00:01 -0800", TEN),
        ("01/Jan/1970:00:00:00 +0000", 0),
        ("01/Jan/1970:01:00:00 +0100", 0),
        ("01/Jan/1970:00:00:00 +0100", None),  # before 1970
        ("31/Dec/5138:00:00:00 +0000", None),  # such numbers are milliseconds
        ("29/Feb/2027:10:00:01 +0000", None),
        ("12/Oct/2026:24:00:01 +0000", None),
        ("12/Oct/2026:10:60:01 +0000", None),
        ("12/Oct/2026:10:00:01 +0060", None),
        ("12/Oct/2026:10:00:01", None),
        ("12/oct/2026:10:00:01 +0000", None),
        ("12/Okt/2026:10:00:01 +0000", None),
        ("١٢/Oct/2026:10:00:01 +0000", None),
        (" 12/Oct/2026:10:00:01 +0000", None),
    ],
)
def test_the_time_of_the_common_format(text: str, moment: int | None) -> None:
    assert clf_moment(text) == moment


@given(
    st.datetimes(datetime.fromisoformat("1971-01-01"), datetime.fromisoformat("5000-01-01")),
    st.integers(-14 * 4, 14 * 4),
)
def test_any_time_of_the_common_format_is_read_as_it_was_written(
    local: datetime, quarters: int
) -> None:
    months = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    hours, minutes = divmod(abs(quarters) * 15, 60)
    zone = f"{'-' if quarters < 0 else '+'}{hours:02}{minutes:02}"
    text = f"{local.day:02}/{months[local.month - 1]}/{local.year:04}:{local:%H:%M:%S} {zone}"
    whole = local.replace(microsecond=0, tzinfo=UTC)
    assert clf_moment(text) == whole.timestamp() - quarters * 900


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-10-12T10:00:01Z", TEN),
        ("2026-10-12T10:00:01", TEN),
        ("2026-10-12 10:00:01.999", TEN),
        ("2026-10-12T12:00:01+02:00", TEN),
        ("2026-10-12", TEN - 36_001),
        ("1969-12-31T23:59:59Z", None),
        ("12.10.2026", None),
        ("", None),
    ],
)
def test_the_time_of_iso_8601(text: str, moment: int | None) -> None:
    assert iso_moment(text) == moment


@pytest.fixture
def far_away(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The clock of the machine is not in UTC."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    iso_moment.cache_clear()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("far_away")
def test_a_time_without_an_offset_is_in_utc_wherever_the_machine_is() -> None:
    assert iso_moment("2026-10-12T10:00:01") == TEN
    assert moment_by("%d.%m.%Y %H:%M:%S", "12.10.2026 10:00:01") == TEN
    assert any_moment("2026-10-12 10:00:01") == TEN


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("12/Oct/2026:10:00:01 +0000", TEN),
        ("2026-10-12T10:00:01Z", TEN),
        (TEN, TEN),
        (TEN + 0.75, TEN),
        (TEN * 1000 + 250, TEN),
        (f"{TEN}.25", TEN),
        (f"{TEN}250", TEN),
        (LATEST - 1, LATEST - 1),
        (LATEST, LATEST // 1000),
        (-1, None),
        (-0.5, None),
        (float("nan"), None),
        (float("inf"), None),
        ("nan", None),
        (True, None),
        (None, None),
        ([TEN], None),
        ("soon", None),
    ],
)
def test_a_time_of_a_log_of_json(value: object, moment: int | None) -> None:
    assert any_moment(value) == moment


@pytest.mark.parametrize(
    ("form", "text", "moment"),
    [
        ("%d.%m.%Y %H:%M:%S", "12.10.2026 10:00:01", TEN),
        ("%d.%m.%Y %H:%M:%S %z", "12.10.2026 12:00:01 +0200", TEN),
        ("%d.%m.%Y", "12/10/2026", None),
        ("%Y", "1960", None),
        ("%", "12", None),
    ],
)
def test_a_time_in_a_form_of_ones_own(form: str, text: str, moment: int | None) -> None:
    assert moment_by(form, text) == moment


# --------------------------------------------------------------------------- periods


@pytest.mark.parametrize(
    ("first", "last"),
    [("2026-10", "2026-10"), ("2026-10-12", "2026-10"), ("2026-10", "2026-10-01"), ("", "2026-01")],
)
def test_days_and_months_may_be_mixed(first: str, last: str) -> None:
    assert period_of(first, last) == Period(first, last)


@pytest.mark.parametrize(
    "text", ["2026", "2026-1", "2026-13", "2026-02-30", "2026-W01-1", "0000-01", "٢٠٢٦-١٠"]
)
def test_what_is_no_day_and_no_month_is_quoted(text: str) -> None:
    with pytest.raises(PeriodInvalid, match=f"'{text}' is not a day or a month; write 2026-10-12"):
        period_of("", text)


def test_a_period_that_ends_before_it_begins_says_both_ends() -> None:
    with pytest.raises(PeriodInvalid, match=r"ends \(2026-09\) before it begins \(2026-10-01\)"):
        period_of("2026-10-01", "2026-09")


def test_a_period_has_begun_on_its_first_day() -> None:
    check_begun(Period("2026-10-12", ""), "2026-10-12")
    check_begun(Period("2026-10", ""), "2026-10-01")
    check_begun(Period("", "2099-01"), "2026-10-12")
    with pytest.raises(PeriodInvalid, match="2026-11 has not begun; it is 2026-10-31 today"):
        check_begun(Period("2026-11", ""), "2026-10-31")


@pytest.mark.parametrize(
    ("month", "number", "later"),
    [
        ("2026-12", 1, "2027-01"),
        ("2026-01", -1, "2025-12"),
        ("2026-06", -12, "2025-06"),
        ("2026-06", 0, "2026-06"),
        ("2026-11", 14, "2028-01"),
        ("0999-12", 1, "1000-01"),
    ],
)
def test_the_month_some_months_later(month: str, number: int, later: str) -> None:
    assert month_after(month, number) == later
    assert month_after(later, -number) == month


def test_the_days_of_a_month() -> None:
    assert [last_day(one) for one in ("2024-02", "2026-02", "2026-04", "2026-12-05")] == [
        "2024-02-29", "2026-02-28", "2026-04-30", "2026-12-05",
    ]  # fmt: skip
    assert (first_day("2026-02"), first_day("2026-02-03")) == ("2026-02-01", "2026-02-03")
    assert [is_date(one) for one in ("2024-02-29", "2026-02-29", "2026-00", "2026-12")] == [
        True, False, False, True,
    ]  # fmt: skip
    assert months_between("2025-11", "2026-02") == ["2025-11", "2025-12", "2026-01", "2026-02"]
    assert months_between("2026-02", "2026-01") == []


@given(st.dates(), st.dates())
def test_the_parts_of_a_period_have_each_of_its_days_once(first: object, last: object) -> None:
    begin, end = sorted(map(str, (first, last)))
    parts = parts_of(Period(begin, end))
    months = [(f"{parts.months[0]}-01", last_day(parts.months[1]))] if parts.months else []
    pieces = sorted([*months, *parts.days])
    assert (pieces[0][0], pieces[-1][1]) == (begin, end)
    for (_, before), (after, _) in pairwise(pieces):
        assert before < after
        assert before == last_day(before[:7])
        assert after.endswith("-01")
        assert month_after(before[:7]) == after[:7]
