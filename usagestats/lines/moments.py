"""Read the times of log lines, as seconds since 1970 in UTC (pure)."""

import functools
import math
import re
from datetime import UTC, datetime

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CLF = re.compile(
    r"(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-])(\d\d)([0-5]\d)", re.ASCII
)
LATEST = 100_000_000_000
"""Numbers from here on are milliseconds: as seconds, this is the year 5138. No time is that late,
so a time zone's offset never leads past the year 9999."""


@functools.lru_cache(100_000)
def clf_moment(text: str) -> int | None:
    """Read ``12/Oct/2026:10:00:01 +0000``; None if it is no such time, or implausible."""
    found = _CLF.fullmatch(text)
    if found is None or found[2] not in MONTHS:
        return None
    month = MONTHS.index(found[2]) + 1
    try:
        hour, minute, second = map(int, found.group(4, 5, 6))
        local = datetime(int(found[3]), month, int(found[1]), hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    offset = (int(found[8]) * 60 + int(found[9])) * 60
    return _plausible(local.timestamp() - (offset if found[7] == "+" else -offset))


@functools.lru_cache(10_000)
def iso_moment(text: str) -> int | None:
    """Read ISO 8601, in UTC if it names no offset; None if it is no such time."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return _plausible((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def any_moment(value: object) -> int | None:
    """Read a time in any of these forms, or as a number of seconds or milliseconds."""
    if isinstance(value, str):
        clf = clf_moment(value)
        if clf is not None:
            return clf
        iso = iso_moment(value)
        if iso is not None:
            return iso
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _plausible(value / 1000 if abs(value) >= LATEST else value)
    return None


def moment_by(form: str, text: str) -> int | None:
    """Read a time in a form of `datetime.strptime`, in UTC if it names no offset."""
    try:
        moment = datetime.strptime(text, form)  # noqa: DTZ007  # the next line adds it
    except ValueError:
        return None
    return _plausible((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def _plausible(seconds: float) -> int | None:
    if not math.isfinite(seconds) or not 0 <= seconds < LATEST:
        return None
    return math.floor(seconds)
