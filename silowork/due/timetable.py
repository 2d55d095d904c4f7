"""When a job that repeats is due: from what is wished, how it ended last, and the clock (pure).

Nothing here reads a file or the clock, so that the same decisions serve the schedules of a
Silo, a fleet of repositories, and a simulation of either.
"""

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
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
    """

    times: tuple[time, ...] = ()
    weekdays: tuple[int, ...] = ()
    every: timedelta | None = None
    zone: str = "UTC"
    jitter: timedelta = timedelta(0)
    rest: timedelta | None = None
    is_paused: bool = False

    def __post_init__(self) -> None:
        """Refuse what is never due, or always.

        Raises:
            JobRefused: Says what is wrong.
        """
        if bool(self.times) == (self.every is not None):
            raise JobRefused("a schedule has either times of day, or an interval")
        if self.every is not None and not SHORTEST <= self.every <= LONGEST:
            raise JobRefused("the interval of a schedule is between one minute and 366 days")
        if self.weekdays and not self.times:
            raise JobRefused("weekdays need times of day; an interval has none")
        if self.jitter < timedelta(0) or (self.every is not None and self.jitter >= self.every):
            raise JobRefused("the jitter of a schedule is shorter than its interval")
        if self.jitter >= timedelta(days=1):
            raise JobRefused("the jitter of a schedule is shorter than a day")
        try:
            ZoneInfo(self.zone)
        except (KeyError, ValueError, OSError):
            raise JobRefused(f"{self.zone!r} is not the name of a time zone") from None


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
        wish: The timetable.
        past: What has been.
        key: Identifies the schedule, for its jitter.

    Returns:
        UTC; None while the schedule is paused or a run is not over.
    """
    if wish.is_paused or past.is_running:
        return None
    last = past.started or past.since
    due = last + wish.every if wish.every is not None else _next_time(wish, last, key)
    if wish.every is not None:
        due += _jitter(wish, due, key)
    if past.failures and wish.rest is not None and past.started is not None:
        return (past.started + rest_after(past.failures, wish.rest)).astimezone(UTC)
    return due.astimezone(UTC)


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
    """The first time of the timetable, with its jitter, after a moment."""
    zone = ZoneInfo(wish.zone)
    first = last.astimezone(zone).date() - timedelta(days=1)
    days = (first + timedelta(days=number) for number in range(10))
    wanted = (day for day in days if not wish.weekdays or day.weekday() in wish.weekdays)
    for day in wanted:
        for one in wish.times:
            moment = datetime.combine(day, one, zone).astimezone(UTC)
            due: datetime = moment + _jitter(wish, moment, key)
            if due > last:
                return due
    raise AssertionError("a week has every weekday")


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
    ``rest``, and the Boolean ``paused``.

    Raises:
        JobRefused: Says what is wrong.
    """
    for name in ("times", "weekdays"):
        if not are_texts(table.get(name, [])):
            raise JobRefused(f"{name} of a schedule is a list of texts")
    given = [name for name in ("every", "jitter", "rest") if table.get(name)]
    durations = {name: duration_of(str(table[name])) for name in given}
    return Timetable(
        times=times_of(table.get("times", [])),
        weekdays=weekdays_of(table.get("weekdays", [])),
        zone=str(table.get("zone") or "UTC"),
        is_paused=table.get("paused") is True,
        **durations,
    )


def timetable_table(wish: Timetable) -> dict[str, Any]:
    """Write a timetable as `timetable_of_texts` reads it, without what is empty."""
    table: dict[str, Any] = {
        "times": [f"{one:%H:%M}" for one in wish.times],
        "weekdays": [WEEKDAYS[one] for one in wish.weekdays],
        "every": duration_text(wish.every) if wish.every else "",
        "zone": wish.zone,
        "jitter": duration_text(wish.jitter) if wish.jitter else "",
        "rest": duration_text(wish.rest) if wish.rest else "",
        "paused": wish.is_paused,
    }
    return {name: value for name, value in table.items() if value not in ("", [])}


def are_texts(values: Any) -> bool:
    """Whether a value is a list of texts."""
    return isinstance(values, list) and all(isinstance(one, str) for one in values)
