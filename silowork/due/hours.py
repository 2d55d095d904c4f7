"""Hours of a day in which a run may start; one that has started goes on (pure)."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cache, lru_cache
from zoneinfo import ZoneInfo

from silowork.due.timetable import times_of
from silowork.errors import JobRefused

_HOURS = re.compile(r"(\d\d:\d\d)\s*-\s*(\d\d:\d\d)(?:\s+(\S+))?")


@dataclass(frozen=True, slots=True)
class Hours:
    """Hours of a day, such as 20:00-06:00.

    Attributes:
        begin, end: Times of day in `zone`; the end is before the beginning if they are at night.
        zone: Name of a time zone.
    """

    begin: time
    end: time
    zone: str = "UTC"


def is_within(hours: Hours | None, moment: datetime) -> bool:
    """Whether a run may start at a moment: at or after the beginning, before the end."""
    if hours is None or hours.begin == hours.end:
        return True
    local = _time_of_day(moment, hours.zone)
    if hours.begin < hours.end:
        return hours.begin <= local < hours.end
    return local >= hours.begin or local < hours.end


def opening(hours: Hours | None, moment: datetime) -> datetime:
    """The first moment from this one on that lies within the hours.

    A beginning that daylight saving skips is the same distance after the change of the clocks;
    of one that comes twice, both count.
    """
    if hours is None or is_within(hours, moment):
        return moment
    zone = _zone(hours.zone)
    day = moment.astimezone(zone).date()
    for number in range(4):
        begin = datetime.combine(day + timedelta(days=number), hours.begin, zone)
        for fold in (0, 1):
            found = begin.replace(fold=fold).astimezone(UTC)
            if found >= moment and is_within(hours, found):
                return found
    raise AssertionError("every hour of a day comes again")


def hours_text(hours: Hours) -> str:
    """Such as ``20:00-06:00 Asia/Jakarta``."""
    zone = "" if hours.zone == "UTC" else f" {hours.zone}"
    return f"{hours.begin:%H:%M}-{hours.end:%H:%M}{zone}"


def hours_of(text: str) -> Hours:
    """Read hours such as ``20:00-06:00 Asia/Jakarta``; without a zone, UTC.

    Raises:
        JobRefused: Not valid hours.
    """
    found = _HOURS.fullmatch(text.strip())
    try:
        if found is None:
            raise JobRefused("")
        begin, end = (times_of([part])[0] for part in (found[1], found[2]))
        zone = found[3] or "UTC"
        ZoneInfo(zone)
    except (JobRefused, KeyError, ValueError, OSError):
        raise JobRefused(
            f"{text!r} are not hours; write 20:00-06:00, or 20:00-06:00 Asia/Jakarta"
        ) from None
    if begin == end:
        raise JobRefused(f"the hours {text!r} begin when they end")
    return Hours(begin, end, zone)


@cache
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


@lru_cache(1_000)
def _time_of_day(moment: datetime, zone: str) -> time:
    """The local time; the same moment is asked for all that is due."""
    return moment.astimezone(_zone(zone)).time()
