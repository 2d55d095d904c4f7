"""Hours of a day in which runs may start, in every time zone and over changes of the clocks."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silowork.due.hours import Hours, hours_of, hours_text, is_within, opening
from silowork.errors import JobRefused

NIGHT = Hours(time(20), time(6))
DAY = Hours(time(8), time(18))
ZONES = ["UTC", "Europe/London", "America/St_Johns", "Asia/Kathmandu", "Australia/Lord_Howe"]
TIMES = st.integers(0, 24 * 60 - 1).map(lambda one: time(one // 60, one % 60))
HOURS = st.builds(Hours, TIMES, TIMES, st.sampled_from(ZONES))
MOMENTS = st.integers(0, 40 * 366 * 24 * 60 * 60).map(
    lambda one: datetime(2000, 1, 1, tzinfo=UTC) + timedelta(seconds=one)
)


def at(hour: int, minute: int = 0, second: int = 0) -> datetime:
    return datetime(2026, 3, 1, hour, minute, second, tzinfo=UTC)


@pytest.mark.parametrize(
    ("hours", "moment", "may"),
    [
        (DAY, at(8), True),
        (DAY, at(7, 59, 59), False),
        (DAY, at(17, 59, 59), True),
        (DAY, at(18), False),
        (NIGHT, at(20), True),
        (NIGHT, at(19, 59, 59), False),
        (NIGHT, at(0), True),
        (NIGHT, at(5, 59, 59), True),
        (NIGHT, at(6), False),
        (None, at(12), True),
        (Hours(time(8), time(8)), at(12), True),
    ],
)
def test_the_beginning_belongs_to_the_hours_and_the_end_does_not(
    hours: Hours | None, moment: datetime, *, may: bool
) -> None:
    assert is_within(hours, moment) is may


def test_hours_are_those_of_their_zone() -> None:
    tokyo = Hours(time(8), time(18), "Asia/Tokyo")
    assert is_within(tokyo, at(0)), "09:00 in Tokyo"
    assert not is_within(tokyo, at(10)), "19:00 in Tokyo"
    assert opening(tokyo, at(10)) == at(23)


@given(HOURS, MOMENTS)
def test_hours_open_at_the_first_moment_within_them(hours: Hours, moment: datetime) -> None:
    found = opening(hours, moment)
    assert found >= moment
    assert is_within(hours, found)
    assert found == moment or not is_within(hours, moment)
    assert found - moment < timedelta(hours=50)
    if found > moment and hours.zone in {"UTC", "Asia/Kathmandu"}:  # which change no clocks
        assert not is_within(hours, found - timedelta(microseconds=1))


def test_a_beginning_that_the_clocks_skip_is_after_their_change() -> None:
    zone = ZoneInfo("Europe/London")
    skipped = Hours(time(1, 30), time(4), "Europe/London")  # 29 March 2026: 01:00 is 02:00
    found = opening(skipped, datetime(2026, 3, 28, 23, tzinfo=zone))
    assert found == datetime(2026, 3, 29, 1, 0, tzinfo=UTC) + timedelta(minutes=30)


@given(HOURS.filter(lambda one: one.begin != one.end))
def test_hours_are_read_as_they_are_written(hours: Hours) -> None:
    assert hours_of(hours_text(hours)) == hours


@pytest.mark.parametrize(
    "text",
    ["", "8-18", "08:00", "08:00-25:00", "24:00-06:00", "08:00-18:00 Nowhere/Else", "08:00-18:00 .",
     "08:60-09:00", "08:00-18:00 Europe/London x", "08:00-18:00 ../etc/passwd"],
)  # fmt: skip
def test_what_are_no_hours_is_told_with_an_example(text: str) -> None:
    with pytest.raises(JobRefused, match="are not hours; write 20:00-06:00, or 20:00-06:00 Asia/"):
        hours_of(text)


def test_spaces_around_hours_do_not_matter() -> None:
    assert hours_of("  08:00 - 18:00   Asia/Tokyo ") == Hours(time(8), time(18), "Asia/Tokyo")
