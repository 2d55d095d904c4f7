"""When a job that repeats is due."""

from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silowork.due.timetable import (
    LONGEST_REST,
    Past,
    Timetable,
    duration_of,
    duration_text,
    is_due,
    moment_of,
    next_due,
    repeated,
    share_of,
    times_of,
    timetable_of_texts,
    timetable_table,
    weekdays_of,
)
from silowork.errors import JobRefused

MADE = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)  # a Monday
NIGHT = Timetable(times=(time(2, 0),))
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def test_a_new_schedule_is_due_at_its_next_time() -> None:
    assert next_due(NIGHT, Past(MADE), "a") == datetime(2026, 11, 24, 2, 0, tzinfo=UTC)
    twice = Timetable(times=(time(2, 0), time(14, 30)))
    assert next_due(twice, Past(MADE), "a") == datetime(2026, 11, 23, 14, 30, tzinfo=UTC)
    assert next_due(Timetable(every=6 * HOUR), Past(MADE), "a") == MADE + 6 * HOUR


def test_only_the_named_weekdays_are_meant() -> None:
    sundays = Timetable(times=(time(4, 0),), weekdays=weekdays_of(["sun"]))
    assert next_due(sundays, Past(MADE), "a") == datetime(2026, 11, 29, 4, 0, tzinfo=UTC)
    mondays = Timetable(times=(time(4, 0),), weekdays=weekdays_of(["mon"]))
    assert next_due(mondays, Past(MADE), "a") == datetime(2026, 11, 30, 4, 0, tzinfo=UTC)


def test_times_are_those_of_the_time_zone_in_summer_and_winter() -> None:
    london = Timetable(times=(time(2, 0),), zone="Europe/London")
    summer = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
    assert next_due(london, Past(summer), "a") == datetime(2026, 7, 2, 1, 0, tzinfo=UTC)
    assert next_due(london, Past(MADE), "a") == datetime(2026, 11, 24, 2, 0, tzinfo=UTC)


def test_runs_missed_during_a_downtime_are_one_run() -> None:
    last = Past(MADE, started=MADE + DAY)
    later = MADE + 10 * DAY
    assert is_due(NIGHT, last, "a", later)
    assert not is_due(NIGHT, Past(MADE, started=later), "a", later)


def test_nothing_is_due_while_a_run_is_not_over_or_the_schedule_is_paused() -> None:
    assert next_due(NIGHT, Past(MADE, started=MADE, is_running=True), "a") is None
    paused = Timetable(times=(time(2, 0),), is_paused=True)
    assert not is_due(paused, Past(MADE), "a", MADE + 10 * DAY)


def test_after_failures_the_rest_is_doubled_up_to_a_limit() -> None:
    patient = Timetable(every=DAY, rest=6 * HOUR)
    started = MADE + DAY
    for failures, rest in ((1, 6 * HOUR), (2, 12 * HOUR), (4, 2 * DAY), (60, LONGEST_REST)):
        assert next_due(patient, Past(MADE, started, failures=failures), "a") == started + rest
    assert next_due(patient, Past(MADE, started), "a") == started + DAY
    assert next_due(Timetable(every=DAY), Past(MADE, started, failures=3), "a") == started + DAY


def test_jitter_differs_between_schedules_and_is_the_same_for_the_same_run() -> None:
    spread = Timetable(times=(time(2, 0),), jitter=HOUR)
    found = {next_due(spread, Past(MADE), str(n)) for n in range(50)}
    first = datetime(2026, 11, 24, 2, 0, tzinfo=UTC)
    assert len(found) > 40
    assert all(due is not None and first <= due < first + HOUR for due in found)
    assert next_due(spread, Past(MADE), "a") == next_due(spread, Past(MADE), "a")


@given(
    st.sets(st.builds(time, st.integers(0, 23), st.integers(0, 59)), min_size=1, max_size=3),
    st.sets(st.integers(0, 6)),
    st.sampled_from(["UTC", "Europe/London", "Asia/Kathmandu", "America/New_York"]),
    st.integers(0, 23),
    st.integers(0, 15 * 365 * 24 * 60),
)  # fmt: skip
def test_runs_follow_each_other_and_none_is_started_twice(
    times: set[time], days: set[int], zone: str, jitter: int, since: int
) -> None:
    wish = Timetable(tuple(sorted(times)), tuple(sorted(days)), None, zone, jitter * HOUR)
    moment = datetime(2020, 1, 1, tzinfo=UTC) + since * timedelta(minutes=1)
    for _ in range(5):
        due = next_due(wish, Past(moment), "a")
        assert due is not None
        assert moment < due <= moment + 9 * DAY
        assert not is_due(wish, Past(moment), "a", due - timedelta(microseconds=1))
        assert is_due(wish, Past(moment), "a", due)
        moment = due


def runs(wish: Timetable, since: datetime, number: int) -> list[datetime]:
    """The next runs, each of which starts when it is due; fewer if there are no more."""
    found: list[datetime] = []
    while len(found) < number and (due := next_due(wish, Past(since, *found[-1:]), "a")):
        found.append(due)
    return found


@pytest.mark.parametrize(
    ("frequency", "days"),
    [
        ("daily", ["2026-01-31", "2026-02-01", "2026-02-02"]),
        ("weekly", ["2026-01-31", "2026-02-07", "2026-02-14"]),
        ("monthly", ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]),
        ("quarterly", ["2026-01-31", "2026-04-30", "2026-07-31", "2026-10-31", "2027-01-31"]),
        ("six-monthly", ["2026-01-31", "2026-07-31", "2027-01-31"]),
        ("annual", ["2026-01-31", "2027-01-31", "2028-01-31"]),
    ],
)
def test_a_frequency_repeats_on_the_day_of_its_start(frequency: str, days: list[str]) -> None:
    start = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
    wish = repeated(frequency, start)
    due = runs(wish, start - 40 * DAY, len(days))
    assert [f"{one:%Y-%m-%d}" for one in due] == days
    assert all((one.hour, one.minute) == (9, 30) for one in due)


def test_a_leap_day_is_kept_every_year_and_local_time_in_summer() -> None:
    yearly = repeated("annual", datetime(2028, 2, 29, 2, tzinfo=UTC))
    days = runs(yearly, MADE, 5)
    assert [f"{one:%Y-%m-%d}" for one in days[:2]] == ["2028-02-29", "2029-02-28"]
    assert f"{days[4]:%Y-%m-%d}" == "2032-02-29"
    quarterly = repeated("quarterly", datetime(2026, 1, 15, 9, tzinfo=UTC), "Europe/London")
    assert [one.hour for one in runs(quarterly, MADE - 365 * DAY, 4)] == [9, 8, 8, 8]


def test_what_happens_once_is_caught_up_and_not_repeated() -> None:
    moment = MADE + DAY
    assert runs(repeated("once", moment), MADE, 3) == [moment]
    assert runs(repeated("once", moment), MADE + 9 * DAY, 3) == [moment]


def test_no_run_is_due_before_the_beginning_or_from_the_end_on() -> None:
    wish = Timetable(times=(time(2, 0),), begin=MADE + 3 * DAY, end=MADE + 5 * DAY)
    assert [one.day for one in runs(wish, MADE, 9)] == [27, 28]
    every = Timetable(every=DAY, begin=MADE + 3 * DAY, end=MADE + 5 * DAY)
    assert runs(every, MADE, 9) == [MADE + 3 * DAY, MADE + 4 * DAY]
    failing = Timetable(every=HOUR, rest=9 * DAY, end=MADE + 5 * DAY)
    assert next_due(failing, Past(MADE, MADE + DAY, failures=1), "a") is None


def test_a_calendar_is_written_as_it_is_read() -> None:
    for wish in (
        Timetable(times=(time(2, 0),), days=(1, 15), months=(3, 9), begin=MADE, end=MADE + DAY),
        Timetable(once=MADE),
        repeated("six-monthly", MADE, "Asia/Kathmandu"),
    ):
        assert timetable_of_texts(timetable_table(wish)) == wish
    with pytest.raises(JobRefused, match="days of a schedule is a list of numbers"):
        timetable_of_texts({"times": ["02:00"], "days": ["1"]})


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (Timetable, "times of day, or an interval"),
        (lambda: Timetable((time(2, 0),), every=DAY), "times of day, or an interval"),
        (lambda: Timetable(every=timedelta(seconds=5)), "between one minute and 366 days"),
        (lambda: Timetable(every=DAY, weekdays=(1,)), "need times of day; an interval has none"),
        (lambda: Timetable(every=DAY, days=(1,)), "need times of day; an interval has none"),
        (lambda: Timetable((time(2, 0),), (1,), days=(1,)), "or days of the month, not both"),
        (lambda: Timetable((time(2, 0),), days=(32,)), "the days of a month are 1 to 31"),
        (lambda: Timetable((time(2, 0),), months=(0,)), "the months of a year are 1 to 12"),
        (lambda: Timetable(every=DAY, begin=MADE, end=MADE), "ends after it begins"),
        (lambda: repeated("hourly", MADE), "'hourly' is not a frequency; there are once, daily"),
        (lambda: repeated("daily", MADE, "Atlantis"), "'Atlantis' is not the name of a time zone"),
        (lambda: moment_of("tomorrow"), "'tomorrow' is not a date; write 2026-11-24"),
        (lambda: moment_of("9999-12-31"), "not between 1970 and 9000"),
        (lambda: Timetable(every=HOUR, jitter=2 * HOUR), "shorter than its interval"),
        (lambda: Timetable((time(2, 0),), jitter=DAY), "shorter than a day"),
        (lambda: Timetable((time(2, 0),), zone="../etc/passwd"), "not the name of a time zone"),
        (lambda: duration_of("soon"), "'soon' is not a duration; write 30m, 12h or 2d"),
        (lambda: times_of(["25:00"]), "'25:00' is not a time of day"),
        (lambda: weekdays_of(["Monday"]), "'Monday' is not a day"),
    ],
)
def test_what_is_never_due_is_refused_in_a_sentence(make, sentence: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(JobRefused, match=sentence.replace(".", r"\.")):
        make()


@pytest.mark.parametrize("text", ["30m", "12h", "2d", "90m"])
def test_a_duration_is_written_as_it_was_read(text: str) -> None:
    assert duration_text(duration_of(text)) == text


def test_a_rest_of_any_length_after_many_failures_is_the_longest() -> None:
    wish = Timetable(every=HOUR, rest=999_999 * DAY)
    assert next_due(wish, Past(MADE, MADE, failures=20), "x") == MADE + LONGEST_REST


@given(
    st.sets(st.integers(0, 24 * 12 - 1), min_size=1, max_size=5),
    st.integers(0, 23 * 60 + 59),
    st.text(max_size=3),
)
def test_each_time_has_its_run_however_long_the_jitter(
    times: set[int], jitter: int, key: str
) -> None:
    of_day = tuple(sorted(time(one // 12, one % 12 * 5) for one in times))
    wish = Timetable(of_day, jitter=timedelta(minutes=jitter))
    first, days = datetime(2026, 3, 1, tzinfo=UTC), 6
    moments = [
        datetime.combine(first + day * DAY, one, UTC) for day in range(days) for one in of_day
    ]
    seconds = wish.jitter.total_seconds()
    dues = {moment + timedelta(seconds=int(seconds * share_of(key, moment))) for moment in moments}
    expected = sorted(due for due in dues if first + DAY < due <= first + (days - 1) * DAY)
    found, moment = list[datetime](), first + DAY
    while (due := next_due(wish, Past(moment), key)) and due <= first + (days - 1) * DAY:
        found.append(due)
        moment = due
    assert found == expected
