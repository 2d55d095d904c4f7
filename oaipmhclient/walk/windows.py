"""Date windows: which part of a list is asked for at once, and into what it is cut (pure).

A plain list with resumption tokens is what most repositories do best, so a list begins
as one window. It is cut where that pays: the list is long (deep paging grows slow, and
some servers stop at 10,000 to 30,000 records: DSpace#12980, zenodo-rdm#1149), several
requests at once would shorten it, a part of it cannot be had, or the user says so.

Whatever the repository says of its earliest datestamp (too late: eprints3.4#526, absurdly
early: 0001-01-01), the first window stays open at its beginning and the last at its end:
guesses decide where to cut, never what is asked for in all.

Source: OAI-PMH 2.0, sections 2.7.1 and 3.3.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from oaipmhprotocol import DatestampError, Granularity
from oaipmhprotocol.datestamps import format_datestamp, read_datestamp
from politeweb.errors import RequestRefused

LARGE = 10_000
"""A window that promises more records is cut."""
COMFORTABLE = 5_000
"""Records that a window is meant to hold."""
MOST_PARTS = 32
"""Into how many windows one is cut at most; those that are still large are cut again."""
MOST_PLANNED = 1_000
"""Into how many windows a list is cut before anything is known of it."""
PATIENCE = 5.0
"""Seconds that a list may still take before it is cut to be fetched in parallel."""
PATIENCE_WITH_A_PART = 2.0
"""The same of a part of a list that was cut: that its windows are answered is known by then."""
DAWN = datetime(1990, 1, 1, tzinfo=UTC)
"""No repository has datestamps from before; 0001-01-01 and 1970-01-01 are no dates."""


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a list, by datestamp; both bounds inclusive, as sent, in one granularity.

    Attributes:
        from_: The earliest datestamp; None: whatever is earliest.
        until: The latest; None: whatever is latest.
    """

    from_: str | None = None
    until: str | None = None

    def __str__(self) -> str:
        return f"{self.from_ or '…'} to {self.until or '…'}"


@dataclass(frozen=True, slots=True)
class Sight:
    """What the pages of a window tell so far.

    Attributes:
        pages: How many came.
        listed: Records on them.
        promised: completeListSize of the window, if it was told.
        seconds: What a page took on average.
        earliest: The earliest datestamp seen, as far as readable.
        latest: The latest datestamp seen.
        safe_from: From here the rest can be listed anew without loss, where the list is
            sorted by datestamp.
        is_part: Whether the window is one that a list was cut into.
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
        """Seconds that the window may still take before it is cut."""
        return PATIENCE_WITH_A_PART if self.is_part else PATIENCE

    @property
    def pages_left(self) -> int | None:
        """How many pages are to come; None without a promise."""
        if self.promised is None or not self.listed:
            return None
        return max(0, math.ceil((self.promised - self.listed) * self.pages / self.listed))

    @property
    def likely_end(self) -> datetime | None:
        """Where a sorted list ends if it goes on as it began; None where nothing tells."""
        left, first, last = self.pages_left, self.earliest, self.latest
        if self.safe_from is None or left is None or first is None or last is None:
            return None
        try:
            return last + (last - first) * (left / self.pages)
        except OverflowError:
            return None


def parts_wanted(sight: Sight, free_lanes: int) -> int:
    """Into how many windows the rest of a window should be cut; 0: it goes on as it is.

    Args:
        sight: Of a window with more pages to come.
        free_lanes: How many further requests may be in flight that have nothing to do.
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
    """Without a promise a list is taken to be about half through (EPrints gives none)."""
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
    """Cut a window into adjacent ones that together are the window.

    They are of equal length; but where the records probably end long before the window,
    most of them lie before that, and a quarter after it, since it is a guess.

    Args:
        window: Open or not; its open ends stay open.
        parts: How many are wanted; there may be fewer.
        first: Where the records begin, as far as known; only the place of the cuts
            depends on it.
        last: Where they end.
        granularity: That of the window's bounds, and of the new ones.
        likely_end: Where they end if there are as many a day as there were.

    Returns:
        Two windows or more, the earliest first; none where nothing can be cut: a
        window of one granule.
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
    """Where the second and each further of so many parts begin."""
    step = max(1, math.ceil((high - low + 1) / parts))
    return range(low + step, high + 1, step)


def plan(
    window: Window,
    length: timedelta,
    first: datetime,
    last: datetime,
    granularity: Granularity,
) -> tuple[Window, ...]:
    """Cut a window into ones of a given length, counted from the end.

    What lies before the newest `MOST_PLANNED` of them stays one window, which is cut
    when it turns out to hold much: a beginning of 0001-01-01 costs one request.
    """
    low, high = _within(window, first, last, granularity)
    step = max(1, round(length / granularity.step))
    bounds = range(high - step + 1, low, -step)[:MOST_PLANNED]
    return _cut_before(window, reversed(bounds), granularity) or (window,)


def halves(
    window: Window, first: datetime, last: datetime, granularity: Granularity
) -> tuple[Window, ...]:
    """Cut a window that cannot be had in two; none where it is one granule."""
    return cut(window, 2, first, last, granularity)


def around(
    window: Window, first: datetime, last: datetime, granularity: Granularity
) -> tuple[Window, ...]:
    """Cut off what lies before and after the records seen; none where nothing does.

    A window that begins or ends far from any record is brought to where they are at
    once, rather than halved a dozen times.
    """
    bounds = (_granule(first, granularity), _granule(last, granularity) + 1)
    return _cut_before(window, bounds, granularity)


def cut_at(window: Window, datestamp: str, granularity: Granularity) -> tuple[Window, ...]:
    """Cut a window in two, the second beginning with a datestamp; none where it lies outside."""
    return _cut_before(window, [number_of(datestamp, granularity)], granularity)


def of_at_most(
    most: int,
    window: Window,
    records: Sequence[int],
    wanted: Sequence[int],
    granularity: Granularity,
) -> tuple[Window, ...]:
    """Cut a window into ones of so many records at most, as far as granules allow.

    Args:
        most: How many.
        window: Its open ends stay open.
        records: The granules of all its records, sorted.
        wanted: Those of the records that are wanted; windows without one are left out.
        granularity: That of the window's bounds, and of the new ones.
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
    """One window in the place of adjacent ones, given in their order."""
    return Window(windows[0].from_, windows[-1].until)


def is_granule(window: Window) -> bool:
    """Whether the window cannot be cut."""
    return window.from_ is not None and window.from_ == window.until


def span(earliest: str, now: datetime, seen: Iterable[datetime] = ()) -> tuple[datetime, datetime]:
    """Where the records of a repository probably begin and end.

    Args:
        earliest: earliestDatestamp as the repository says it; may be anything.
        now: The repository's clock.
        seen: Datestamps of its records.
    """
    known = [moment for moment in seen if DAWN <= moment <= now]
    try:
        said = read_datestamp(earliest)
    except DatestampError:
        said = DAWN
    begin = said if DAWN <= said <= now else DAWN
    return min([begin, *known]), now


def _within(
    window: Window, first: datetime, last: datetime, granularity: Granularity
) -> tuple[int, int]:
    """The granules between which to cut: the window's bounds, or the guess at an open end."""
    low = number_of(window.from_, granularity) if window.from_ else _granule(first, granularity)
    high = number_of(window.until, granularity) if window.until else _granule(last, granularity)
    if window.from_ is None:
        low = min(low, high)
    return low, max(low, high)


def _cut_before(
    window: Window, firsts: Iterable[int], granularity: Granularity
) -> tuple[Window, ...]:
    """Adjacent windows, each but the first beginning at one of the granules given."""
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
    """A datestamp as the number of its granule: days or seconds since the year 1."""
    return _granule(read_datestamp(datestamp), granularity)


def text_of_number(number: int, granularity: Granularity) -> str:
    """The datestamp of a granule."""
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
    """Read a length of time as a person writes it: ``12h``, ``14d``, ``2w``, ``6m``, ``1y``.

    Raises:
        RequestRefused: Not one.
    """
    match = _LENGTH.fullmatch(text.strip())
    if match is None or not int(match[1]):
        raise RequestRefused(f"{text!r} is no length of time; write 12h, 14d, 2w, 6m or 1y")
    return timedelta(days=int(match[1]) * _UNITS[match[2].lower()])
