"""When a job that repeats is due: from what is wished, how it ended last, and the clock (pure).

Nothing here reads a file or the clock, so that the same decisions serve the schedules of a
Silo, a fleet of repositories, and a simulation of either.
"""

import calendar
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from silowork.errors import JobRefused

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
SHORTEST, LONGEST = timedelta(minutes=1), timedelta(days=366)
"""Between two runs."""
LONGEST_REST = timedelta(days=30)
"""After failures."""
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_DURATION = re.compile(r"([1-9]\d{0,5})\s*([mhd])")
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


@dataclass(frozen=True, slots=True)
class Timetable:
    """When a job is wished: at times of day, or every so often.

    Attributes:
        times: Of day, in `zone`, in order; empty if there is `every`.
        weekdays: On which days (0 is Monday); empty for every day.
        every: Time from the start of a run to the start of the next; None if there are `times`.
        zone: Name of a time zone.
        jitter: A run is delayed by up to this, always by the same for the same run, so that
            many schedules of one time do not start together.
        rest: Time to the next run after a failure, doubled with each further one; None: a
            failure changes nothing.
        is_paused: No run is due.
        days: On which days of a month; of a shorter month, its last day; empty for every day.
        months: In which months, 1 to 12; empty for all.
        begin, end: No run is due before the one, or at or after the other; aware, or None.
        once: The only moment at which a run is due, instead of times or an interval; aware.
    """

    times: tuple[time, ...] = ()
    weekdays: tuple[int, ...] = ()
    every: timedelta | None = None
    zone: str = "UTC"
    jitter: timedelta = timedelta(0)
    rest: timedelta | None = None
    is_paused: bool = False
    days: tuple[int, ...] = ()
    months: tuple[int, ...] = ()
    begin: datetime | None = None
    end: datetime | None = None
    once: datetime | None = None

    def __post_init__(self) -> None:
        """Refuse what is never due, or always.

        Raises:
            JobRefused: Says what is wrong.
        """
        if bool(self.times) + (self.every is not None) + (self.once is not None) != 1:
            raise JobRefused("a schedule has times of day, or an interval, or one moment")
        if self.every is not None and not SHORTEST <= self.every <= LONGEST:
            raise JobRefused("the interval of a schedule is between one minute and 366 days")
        self._check_days()
        if self.jitter < timedelta(0) or (self.every is not None and self.jitter >= self.every):
            raise JobRefused("the jitter of a schedule is shorter than its interval")
        if self.jitter >= timedelta(days=1):
            raise JobRefused("the jitter of a schedule is shorter than a day")
        if self.begin is not None and self.end is not None and self.begin >= self.end:
            raise JobRefused("a schedule ends after it begins")
        try:
            ZoneInfo(self.zone)
        except (KeyError, ValueError, OSError):
            raise JobRefused(f"{self.zone!r} is not the name of a time zone") from None

    def _check_days(self) -> None:
        if (self.weekdays or self.days or self.months) and not self.times:
            raise JobRefused("weekdays, days and months need times of day; an interval has none")
        if self.weekdays and self.days:
            raise JobRefused("a schedule has weekdays, or days of the month, not both")
        if not all(1 <= day <= 31 for day in self.days):
            raise JobRefused("the days of a month are 1 to 31")
        if not all(1 <= month <= 12 for month in self.months):
            raise JobRefused("the months of a year are 1 to 12")


@dataclass(frozen=True, slots=True)
class Past:
    """What has been so far.

    Attributes:
        since: When the schedule was made; aware.
        started: When its last run started; None if there was none.
        is_running: Whether that run waits, runs or is paused.
        failures: How many runs failed one after another, up to the last.
    """

    since: datetime
    started: datetime | None = None
    is_running: bool = False
    failures: int = 0


def next_due(wish: Timetable, past: Past, key: str) -> datetime | None:
    """Return when the next run is due; earlier than now if one was missed.

    Runs that were missed, however many, are one run: the next is counted from its start.

    Args:
        past: What has been.
        key: Identifies the schedule, for its jitter.

    Returns:
        UTC; None while the schedule is paused or a run is not over, and when it is over.
    """
    if wish.is_paused or past.is_running:
        return None
    due: datetime | None
    if past.failures and wish.rest is not None and past.started is not None:
        due = past.started + rest_after(past.failures, wish.rest)
    else:
        due = _regular(wish, past, key)
    if due is None or (wish.end is not None and due >= wish.end):
        return None
    return due.astimezone(UTC)


def _regular(wish: Timetable, past: Past, key: str) -> datetime | None:
    """The next run of the timetable, without regard to failures and its end."""
    last = past.started or past.since
    if wish.once is not None:
        return None if past.started is not None and past.started >= wish.once else wish.once
    if wish.begin is not None and wish.begin > last:
        if wish.every is not None:
            return wish.begin + _jitter(wish, wish.begin, key)
        last = wish.begin - timedelta(microseconds=1)
    if wish.every is not None:
        due = last + wish.every
        return due + _jitter(wish, due, key)
    return _next_time(wish, last, key)


def is_due(wish: Timetable, past: Past, key: str, now: datetime) -> bool:
    """Whether a run is to be started now."""
    due = next_due(wish, past, key)
    return due is not None and due <= now


def rest_after(failures: int, first: timedelta, longest: timedelta = LONGEST_REST) -> timedelta:
    """Return the time to the next run after some failures in a row: doubled with each."""
    return min(min(first, longest) * (1 << min(failures - 1, 20)), longest)


def share_of(key: str, moment: datetime) -> float:
    """Return a number from 0 up to 1, always the same for the same key and moment.

    It spreads runs that would begin together.
    """
    return zlib.crc32(f"{key} {moment.timestamp()}".encode()) / 2**32


def _next_time(wish: Timetable, last: datetime, key: str) -> datetime:
    """The first time of the timetable, with its jitter, after a moment.

    The jitter may let a later time come before an earlier one.
    """
    zone = ZoneInfo(wish.zone)
    found: datetime | None = None
    for day in _days_from(wish, last.astimezone(zone).date() - timedelta(days=1)):
        for one in wish.times:
            moment = datetime.combine(day, one, zone).astimezone(UTC)
            if found is not None and moment >= found:
                return found
            due = moment + _jitter(wish, moment, key)
            if due > last and (found is None or due < found):
                found = due
    if found is None:
        raise AssertionError("a year has every month and weekday")
    return found


def _days_from(wish: Timetable, first: date) -> Iterator[date]:
    """The days of a timetable from one on, for more than a year."""
    for number in range(400):
        day = first + timedelta(days=number)
        if wish.months and day.month not in wish.months:
            continue
        if wish.weekdays and day.weekday() not in wish.weekdays:
            continue
        if wish.days:
            length = calendar.monthrange(day.year, day.month)[1]
            if day.day not in {min(one, length) for one in wish.days}:
                continue
        yield day


FREQUENCIES = {"monthly": 1, "quarterly": 3, "six-monthly": 6, "annual": 12}
"""Months between two runs."""


def repeated(frequency: str, start: datetime, zone: str = "UTC") -> Timetable:
    """Return the timetable of a frequency that begins at a moment.

    ``weekly`` runs are on the weekday of the start, those of ``monthly``, ``quarterly``,
    ``six-monthly`` and ``annual`` on its day of the month, all at its time of day.

    Args:
        frequency: One of these, ``daily`` or ``once``.
        start: Of the first run; aware.
        zone: Name of the time zone of days and times.

    Raises:
        JobRefused: Another frequency, or not the name of a time zone.
    """
    if frequency == "once":
        return Timetable(once=start)
    whole = start.replace(second=0, microsecond=0)
    try:
        local = whole.astimezone(ZoneInfo(zone))
    except (KeyError, ValueError, OSError):
        raise JobRefused(f"{zone!r} is not the name of a time zone") from None
    daily = Timetable(times=(local.time(),), zone=zone, begin=whole)
    if frequency == "weekly":
        return replace(daily, weekdays=(local.weekday(),))
    if step := FREQUENCIES.get(frequency):
        months = sorted((local.month - 1 + add) % 12 + 1 for add in range(0, 12, step))
        return replace(daily, days=(local.day,), months=() if step == 1 else tuple(months))
    if frequency != "daily":
        known = ", ".join(["once", "daily", "weekly", *FREQUENCIES])
        raise JobRefused(f"{frequency!r} is not a frequency; there are {known}")
    return daily


def _jitter(wish: Timetable, due: datetime, key: str) -> timedelta:
    return timedelta(seconds=int(wish.jitter.total_seconds() * share_of(key, due)))


# --------------------------------------------------------------------------- as texts


def duration_of(text: str) -> timedelta:
    """Read a duration such as ``30m``, ``12h`` or ``2d``.

    Raises:
        JobRefused: Not a duration.
    """
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        raise JobRefused(f"{text!r} is not a duration; write 30m, 12h or 2d")
    return int(found[1]) * _UNITS[found[2]]


def duration_text(duration: timedelta) -> str:
    """Write a duration in the largest unit that fits."""
    for unit in ("d", "h"):
        if duration % _UNITS[unit] == timedelta(0):
            return f"{duration // _UNITS[unit]}{unit}"
    return f"{duration // _UNITS['m']}m"


def times_of(texts: Sequence[str]) -> tuple[time, ...]:
    """Read times of day such as ``02:00``, sorted.

    Raises:
        JobRefused: One is not a time of day.
    """
    for text in texts:
        if not _TIME.fullmatch(text):
            raise JobRefused(f"{text!r} is not a time of day; write 02:00")
    return tuple(sorted({time.fromisoformat(text) for text in texts}))


def weekdays_of(texts: Sequence[str]) -> tuple[int, ...]:
    """Read days such as ``mon``, sorted; the empty tuple for all seven.

    Raises:
        JobRefused: One is not a day of the week.
    """
    for text in texts:
        if text not in WEEKDAYS:
            raise JobRefused(f"{text!r} is not a day; there are {', '.join(WEEKDAYS)}")
    found = sorted({WEEKDAYS.index(text) for text in texts})
    return () if len(found) == len(WEEKDAYS) else tuple(found)


def timetable_of_texts(table: Mapping[str, Any]) -> Timetable:
    """Read a timetable from texts: ``times``, ``weekdays``, ``every``, ``zone``, ``jitter``,
    ``rest``, ``begin``, ``end``, ``once``, the numbers ``days`` and ``months``, and the Boolean
    ``paused``.

    Raises:
        JobRefused: Says what is wrong.
    """
    for name in ("times", "weekdays"):
        if not are_texts(table.get(name, [])):
            raise JobRefused(f"{name} of a schedule is a list of texts")
    for name in ("days", "months"):
        if not _are_numbers(table.get(name, [])):
            raise JobRefused(f"{name} of a schedule is a list of numbers")
    given = [name for name in ("every", "jitter", "rest") if table.get(name)]
    durations: dict[str, Any] = {name: duration_of(str(table[name])) for name in given}
    for name in ("begin", "end", "once"):
        if table.get(name):
            durations[name] = moment_of(str(table[name]))
    return Timetable(
        times=times_of(table.get("times", [])),
        weekdays=weekdays_of(table.get("weekdays", [])),
        days=tuple(sorted(set(table.get("days", [])))),
        months=tuple(sorted(set(table.get("months", [])))),
        zone=str(table.get("zone") or "UTC"),
        is_paused=table.get("paused") is True,
        **durations,
    )


def timetable_table(wish: Timetable) -> dict[str, Any]:
    """Write a timetable as `timetable_of_texts` reads it, without what is empty."""
    table: dict[str, Any] = {
        "times": [f"{one:%H:%M}" for one in wish.times],
        "weekdays": [WEEKDAYS[one] for one in wish.weekdays],
        "days": list(wish.days),
        "months": list(wish.months),
        "every": duration_text(wish.every) if wish.every else "",
        "zone": wish.zone,
        "jitter": duration_text(wish.jitter) if wish.jitter else "",
        "rest": duration_text(wish.rest) if wish.rest else "",
        "begin": wish.begin.isoformat() if wish.begin else "",
        "end": wish.end.isoformat() if wish.end else "",
        "once": wish.once.isoformat() if wish.once else "",
        "paused": wish.is_paused,
    }
    return {name: value for name, value in table.items() if value not in ("", [])}


def moment_of(text: str) -> datetime:
    """Read a moment such as ``2026-11-24`` or ``2026-11-24T02:00``; without an offset, UTC.

    Raises:
        JobRefused: Not a moment.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise JobRefused(f"{text!r} is not a date; write 2026-11-24, or 2026-11-24T02:00") from None
    if not 1970 <= moment.year <= 9000:  # so that what is added to it stays a date
        raise JobRefused(f"the year of {text} is not between 1970 and 9000")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _are_numbers(values: Any) -> bool:
    return isinstance(values, list) and all(type(one) is int for one in values)


def are_texts(values: Any) -> bool:
    """Whether a value is a list of texts."""
    return isinstance(values, list) and all(isinstance(one, str) for one in values)
