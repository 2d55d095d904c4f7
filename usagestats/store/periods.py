"""Periods of days, as whole months and the days at both ends (pure)."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date

from usagestats.errors import PeriodInvalid
from usagestats.store.counts import Period

_TEXT = re.compile(r"\d{4}-\d{2}(-\d{2})?", re.ASCII)
EARLIEST, LATEST = "0000-00", "9999-99"


@dataclass(frozen=True, slots=True)
class PeriodParts:
    """A period in parts that do not overlap.

    Attributes:
        months: First and last whole month, or None.
        days: First and last day of each part of a month.
    """

    months: tuple[str, str] | None
    days: tuple[tuple[str, str], ...]


def period_of(first: str, last: str) -> Period:
    """Make a period from what somebody typed.

    Args:
        first: A day or a month (``2026-10-12``, ``2026-10``); ``""`` has no bound.
        last: Likewise, included.

    Raises:
        PeriodInvalid: It is neither, or the last day is before the first.
    """
    for text in filter(None, (first, last)):
        if not _TEXT.fullmatch(text) or not is_date(text):
            raise PeriodInvalid(f"{text!r} is not a day or a month; write 2026-10-12 or 2026-10")
    if first and last and last_day(last) < first_day(first):
        raise PeriodInvalid(f"the period ends ({last}) before it begins ({first})")
    return Period(first, last)


def check_begun(period: Period, today: str) -> None:
    """Refuse a period that lies in the future: zeros would look like figures.

    Raises:
        PeriodInvalid: Its first day is after today.
    """
    if period.first and first_day(period.first) > today:
        raise PeriodInvalid(f"{period.first} has not begun; it is {today} today")


def is_date(text: str) -> bool:
    """Whether a day or a month (``2026-02-30``, ``2026-13``) is in the calendar."""
    try:
        return bool(date.fromisoformat(first_day(text)))
    except ValueError:
        return False


def first_day(text: str) -> str:
    """Return the first day of a month; a day is returned unchanged."""
    return text if len(text) == 10 else f"{text}-01"


def last_day(text: str) -> str:
    """Return the last day of a month; a day is returned unchanged."""
    if len(text) == 10:
        return text
    year, month = map(int, text.split("-"))
    return f"{text}-{monthrange(year, month)[1]:02}"


def month_after(month: str, number: int = 1) -> str:
    """Return the month some months later, or earlier if the number is negative."""
    year, of_year = map(int, month.split("-"))
    years, of_year = divmod(year * 12 + of_year - 1 + number, 12)
    return f"{years:04}-{of_year + 1:02}"


def months_between(first: str, last: str, most: int = 0) -> list[str]:
    """Return the months from the first to the last, both included; at most the last `most`."""
    begin, end = (int(one[:4]) * 12 + int(one[5:]) - 1 for one in (first, last))
    begin = max(begin, end - most + 1) if most else begin
    return [f"{one // 12:04}-{one % 12 + 1:02}" for one in range(begin, end + 1)]


def days_between(first: str, last: str, most: int = 0) -> list[str]:
    """Return the days from the first to the last, both included; at most the last `most`."""
    begin, end = (date.fromisoformat(one).toordinal() for one in (first, last))
    begin = max(begin, end - most + 1) if most else begin
    return [str(date.fromordinal(one)) for one in range(begin, end + 1)]


def parts_of(period: Period) -> PeriodParts:
    """Split a period into whole months and the days before and after them."""
    first = first_day(period.first) if period.first else ""
    last = last_day(period.last) if period.last else ""
    if first and last and first[:7] == last[:7] and not _is_whole(first, last):
        return PeriodParts(None, ((first, last),))
    days = []
    begin, end = first[:7] or EARLIEST, last[:7] or LATEST
    if first and not first.endswith("-01"):
        days.append((first, last_day(begin)))
        # The month after year 9999 has five digits, and as a text it would be the first of all.
        begin = month_after(begin) if begin < "9999-12" else LATEST
    if last and last != last_day(end):
        days.append((f"{end}-01", last))
        end = month_after(end, -1)
    return PeriodParts((begin, end) if begin <= end else None, tuple(days))


def _is_whole(first: str, last: str) -> bool:
    return first.endswith("-01") and last == last_day(last[:7])
