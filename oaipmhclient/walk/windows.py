"""Date windows: the part of a list to request at once, and how to split it (pure).

Most repositories handle a plain list with resumption tokens best, so a list begins as one window.
It is split if that helps: the list is long (deep paging grows slow, and
some servers stop at 10,000 to 30,000 records: DSpace#12980, zenodo-rdm#1149), several requests at
once would be faster, a part of it is not available, or the user wants it.

The repository's earliest datestamp may be wrong (too late: eprints3.4#526, absurdly early:
0001-01-01), so the first window stays open at its beginning and the last at its end. Guesses decide
where to split, never which records are requested in all.

Source: OAI-PMH 2.0, sections 2.7.1 and 3.3.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from oaipmhprotocol import Granularity
from oaipmhprotocol.datestamps import datestamp_or_none, format_datestamp, read_datestamp
from politeweb.errors import RequestRefused

LARGE = 10_000
"""A window that promises more records is split."""
COMFORTABLE = 5_000
"""Intended number of records in a window."""
MOST_PARTS = 32
"""Most parts of a window when it is split; parts that are still large are split again."""
MOST_PLANNED = 1_000
"""Most windows of a list before anything is known about it."""
PATIENCE = 5.0
"""Estimated remaining seconds above which a list is split to be fetched in parallel."""
PATIENCE_WITH_A_PART = 2.0
"""The same for a part of a split list, whose windows are known to work."""
DAWN = datetime(1990, 1, 1, tzinfo=UTC)
"""No repository has earlier datestamps; 0001-01-01 and 1970-01-01 are placeholders."""


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a list, by datestamp; both bounds inclusive, as sent, in one granularity.

    Attributes:
        from_: The earliest datestamp; None for no bound.
        until: The latest datestamp; None for no bound.
    """

    from_: str | None = None
    until: str | None = None

    def __str__(self) -> str:
        return f"{self.from_ or '…'} to {self.until or '…'}"


@dataclass(frozen=True, slots=True)
class Sight:
    """What the pages of a window have shown so far.

    Attributes:
        listed: Number of records on them.
        promised: completeListSize of the window, if any.
        seconds: Average seconds per page.
        earliest: The earliest datestamp seen, as far as readable.
        latest: The latest datestamp seen.
        safe_from: The datestamp from which the rest can be listed again without loss, if the
            list is sorted by datestamp.
        is_part: Whether the window is a part of a split list.
    """

    pages: int
    listed: int
    promised: int | None = None
    seconds: float = 0.0
    earliest: datetime | None = None
    latest: datetime | None = None
    safe_from: str | None = None
    is_part: bool = False

    @property
    def patience(self) -> float:
        """Return the estimated remaining seconds above which the window is split."""
        return PATIENCE_WITH_A_PART if self.is_part else PATIENCE

    @property
    def pages_left(self) -> int | None:
        """Return the number of remaining pages; None without a promise."""
        if self.promised is None or not self.listed:
            return None
        return max(0, math.ceil((self.promised - self.listed) * self.pages / self.listed))

    @property
    def likely_end(self) -> datetime | None:
        """Estimate where a sorted list ends, from its beginning; None if unknown."""
        left, first, last = self.pages_left, self.earliest, self.latest
        if self.safe_from is None or left is None or first is None or last is None:
            return None
        try:
            return last + (last - first) * (left / self.pages)
        except OverflowError:
            return None


def parts_wanted(sight: Sight, free_lanes: int) -> int:
    """Return into how many windows to split the rest of a window; 0 for none.

    Args:
        sight: Of a window with more pages to come.
        free_lanes: How many more requests may be in flight.
    """
    is_early = sight.pages <= 2 or sight.safe_from is not None
    left = sight.pages_left
    if left is None:
        return _parts_of_unknown(sight, free_lanes, is_early)
    rest = (sight.promised or 0) - sight.listed
    if rest > LARGE and sight.pages == 1:
        return min(MOST_PARTS, max(math.ceil(rest / COMFORTABLE), 2 * free_lanes))
    if free_lanes and is_early and left >= 4 and left * sight.seconds > sight.patience:
        return min(MOST_PARTS, left // 2, 2 * free_lanes)
    return 0


def _parts_of_unknown(sight: Sight, free_lanes: int, is_early: bool) -> int:
    """Do the same without a promise (as in EPrints): assume that half of the list is done."""
    pays = sight.pages * sight.seconds > sight.patience and sight.pages >= 4
    if not free_lanes or not pays or not (is_early or sight.pages == 4):
        return 0
    return min(sight.pages, free_lanes + 1)


# --------------------------------------------------------------------------- cutting


def cut(
    window: Window,
    parts: int,
    first: datetime,
    last: datetime,
    granularity: Granularity,
    *,
    likely_end: datetime | None = None,
) -> tuple[Window, ...]:
    """Split a window into adjacent ones that together are the window.

    They have equal lengths. But if the records probably end long before the window, three
    quarters of them are before that point, and one quarter after it.

    Args:
        window: Its open ends stay open.
        parts: The number wanted; there may be fewer.
        first: Where the records begin, as far as known; only the places of the splits depend
            on it.
        last: Where they end.
        granularity: Of the window's bounds, and of the new ones.
        likely_end: Where they end if there are always as many per day.

    Returns:
        Two or more windows, the earliest first; none for a window of one granule.
    """
    low, high = _within(window, first, last, granularity)
    parts = max(2, parts)
    middle = high if likely_end is None else max(low, _granule(likely_end, granularity))
    if middle - low > (high - low) * _NEARLY_ALL:
        firsts = _even(low, high, parts)
    else:
        after = max(1, parts // 4)
        firsts = [*_even(low, middle, parts - after), *_even(middle, high, after), middle + 1]
    return _cut_before(window, sorted(firsts) or (low, low + 1), granularity)


_NEARLY_ALL = 2 / 3


def _even(low: int, high: int, parts: int) -> Sequence[int]:
    """Return where the second and each further part begins."""
    step = max(1, math.ceil((high - low + 1) / parts))
    return range(low + step, high + 1, step)


def plan(
    window: Window,
    length: timedelta,
    first: datetime,
    last: datetime,
    granularity: Granularity,
) -> tuple[Window, ...]:
    """Split a window into ones of a given length, counted from the end.

    The part before the newest `MOST_PLANNED` of them stays one window, which is split later if
    it has many records; so a beginning of 0001-01-01 costs one request.
    """
    low, high = _within(window, first, last, granularity)
    step = max(1, round(length / granularity.step))
    bounds = range(high - step + 1, low, -step)[:MOST_PLANNED]
    return _cut_before(window, reversed(bounds), granularity) or (window,)


def halves(
    window: Window, first: datetime, last: datetime, granularity: Granularity
) -> tuple[Window, ...]:
    """Split a window that is not available into halves; none if it is one granule."""
    return cut(window, 2, first, last, granularity)


def around(
    window: Window, first: datetime, last: datetime, granularity: Granularity
) -> tuple[Window, ...]:
    """Split off the parts before and after the records seen; none if there are no such parts.

    So a window that begins or ends far from any record is narrowed at once instead of being
    halved a dozen times.
    """
    bounds = (_granule(first, granularity), _granule(last, granularity) + 1)
    return _cut_before(window, bounds, granularity)


def cut_at(window: Window, datestamp: str, granularity: Granularity) -> tuple[Window, ...]:
    """Split a window at a datestamp, where the second part begins; none if it is outside."""
    return _cut_before(window, [number_of(datestamp, granularity)], granularity)


def of_at_most(
    most: int,
    window: Window,
    records: Sequence[int],
    wanted: Sequence[int],
    granularity: Granularity,
) -> tuple[Window, ...]:
    """Split a window into ones with a limited number of records, as far as granules allow.

    Args:
        window: Its open ends stay open.
        records: The granules of all its records, sorted.
        wanted: The granules of the wanted records; windows without one are left out.
        granularity: Of the window's bounds, and of the new ones.
    """
    begins = [bisect_left(records, wanted[0]) if wanted else 0]
    while (end := begins[-1] + max(1, most)) < len(records):
        begin = bisect_left(records, records[end])
        later = begin if begin > begins[-1] else bisect_right(records, records[end])
        begins.append(later)
    firsts = [records[at] for at in begins if at < len(records)]
    windows = _cut_before(window, firsts, granularity) or (window,)
    return tuple(one for one in windows if _holds_any(one, wanted, granularity))


def _holds_any(window: Window, granules: Sequence[int], granularity: Granularity) -> bool:
    low = bisect_left(granules, number_of(window.from_, granularity)) if window.from_ else 0
    if window.until is None:
        return low < len(granules)
    return low < bisect_right(granules, number_of(window.until, granularity))


def merged(windows: Sequence[Window]) -> Window:
    """Merge adjacent windows, given in order."""
    return Window(windows[0].from_, windows[-1].until)


def is_granule(window: Window) -> bool:
    """Whether the window cannot be split."""
    return window.from_ is not None and window.from_ == window.until


def span(earliest: str, now: datetime, seen: Iterable[datetime] = ()) -> tuple[datetime, datetime]:
    """Estimate where the records of a repository begin and end.

    Args:
        earliest: earliestDatestamp of Identify; may be any text.
        now: The repository's clock.
        seen: Datestamps of its records.
    """
    known = [moment for moment in seen if DAWN <= moment <= now]
    said = datestamp_or_none(earliest) or DAWN
    begin = said if DAWN <= said <= now else DAWN
    return min([begin, *known]), now


def _within(
    window: Window, first: datetime, last: datetime, granularity: Granularity
) -> tuple[int, int]:
    """Return the granules between which to split: the window's bounds, or guesses if open."""
    low = number_of(window.from_, granularity) if window.from_ else _granule(first, granularity)
    high = number_of(window.until, granularity) if window.until else _granule(last, granularity)
    if window.from_ is None:
        low = min(low, high)
    return low, max(low, high)


def _cut_before(
    window: Window, firsts: Iterable[int], granularity: Granularity
) -> tuple[Window, ...]:
    """Return adjacent windows; all but the first begin at the given granules."""
    windows: list[Window] = []
    begin = window.from_
    low = number_of(window.from_, granularity) if window.from_ else _FIRST
    high = number_of(window.until, granularity) if window.until else _LAST[granularity]
    for granule in firsts:
        if low < granule <= high:
            windows.append(Window(begin, text_of_number(granule - 1, granularity)))
            begin, low = text_of_number(granule, granularity), granule
    return (*windows, Window(begin, window.until)) if windows else ()


# --------------------------------------------------------------------------- granules

_FIRST = 1


def number_of(datestamp: str, granularity: Granularity) -> int:
    """Return the number of a datestamp's granule: days or seconds since the year 1."""
    return _granule(read_datestamp(datestamp), granularity)


def text_of_number(number: int, granularity: Granularity) -> str:
    """Return the datestamp of a granule."""
    if granularity is Granularity.DAY:
        return date.fromordinal(number).isoformat()
    days, seconds = divmod(number, 86_400)
    moment = datetime.combine(date.fromordinal(days), time(), UTC) + timedelta(seconds=seconds)
    return format_datestamp(moment, granularity)


def _granule(moment: datetime, granularity: Granularity) -> int:
    moment = moment.astimezone(UTC)
    days = moment.toordinal()
    if granularity is Granularity.DAY:
        return days
    return days * 86_400 + moment.hour * 3600 + moment.minute * 60 + moment.second


_LAST = {
    granularity: _granule(datetime.max.replace(tzinfo=UTC), granularity)
    for granularity in Granularity
}

# --------------------------------------------------------------------------- lengths

_LENGTH = re.compile(r"(\d{1,6})\s*(h|d|w|m|y)", re.ASCII | re.IGNORECASE)
_UNITS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}


def read_length(text: str) -> timedelta:
    """Parse a length of time such as ``12h``, ``14d``, ``2w``, ``6m``, ``1y``.

    Raises:
        RequestRefused: It is not a length of time.
    """
    match = _LENGTH.fullmatch(text.strip())
    if match is None or not int(match[1]):
        raise RequestRefused(f"{text!r} is not a length of time; write 12h, 14d, 2w, 6m or 1y")
    return timedelta(days=int(match[1]) * _UNITS[match[2].lower()])
