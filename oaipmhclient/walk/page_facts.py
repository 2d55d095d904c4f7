"""Read what a page shows about its list: order, loops, bounds (pure).

Source: OAI-PMH 2.0, sections 2.5, 2.7.1 and 3.5.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any, TypeVar

from oaipmhclient.pages.bare_records import (
    BareRecords,
    datestamps_of,
    identifiers_of,
    span_of_texts,
)
from oaipmhclient.pages.requests_and_pages import ListPage
from oaipmhclient.walk.windows import Window
from oaipmhprotocol import DatestampError, Granularity, Header, Record
from oaipmhprotocol.datestamps import datestamp_or_none, format_datestamp

Item = TypeVar("Item", bound=Record | Header)

_RECENT = 30
_SAMPLED = 2_000
_PARTED = 0.4384
_TOLERANCE = timedelta(days=2)
"""Tolerance for local time instead of UTC (pyoai#30, OpenSKOS#21) and ``until`` as a whole day."""


def headers_of(page: ListPage[Item]) -> Sequence[Header]:
    """Return the headers of a page of records or of headers."""
    items: Sequence[Any] = page.items
    if isinstance(items, BareRecords):
        return items.headers
    return [one.header for one in items] if items and isinstance(items[0], Record) else [*items]


def names_on(page: ListPage[Item]) -> list[str]:
    """Return the identifiers on a page, including those of unusable records."""
    names = identifiers_of(headers_of(page))
    return [*names, *(one.identifier for one in page.set_aside if one.identifier)]


def digest_of(texts: Sequence[str]) -> str:
    """Return a short digest of a token, or of the identifiers of a page in order."""
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    return blake2b(joined, digest_size=8).hexdigest()


def remembering(seen: tuple[str, ...], digest: str) -> tuple[str, ...]:
    """Add a digest to a bounded memory that detects every loop in the end.

    It has the first digest, one that advances to the current digest whenever the distance has
    doubled (Brent's algorithm, which finds cycles of any length), and the latest. The number of
    digests added comes first.
    """
    if not seen:
        return ("1", digest, digest)
    count = int(seen[0]) + 1
    milestone = digest if count & (count - 1) == 0 else seen[2]
    return (str(count), seen[1], milestone, *(*seen[3:], digest)[-_RECENT:])


def is_remembered(seen: tuple[str, ...], digest: str) -> bool:
    """Whether a digest is in the memory."""
    return digest in seen[1:]


def safe_date(
    before: str | None, is_first: bool, headers: Sequence[Header], coarsest: Granularity | None
) -> str | None:
    """Return the datestamp that a list has reached, if it was sorted so far.

    Args:
        before: The result for the page before.
        is_first: Whether this is the list's first page.
        headers: The headers of the page, in order.
        coarsest: The granularity of this endpoint's windows, if known; else that of the
            datestamp itself.

    Returns:
        A datestamp from which the rest of the list can be requested again without loss, or
        None.
    """
    if before is None and not is_first:
        return None
    moments = [datestamp_or_none(text) for text in _telling(datestamps_of(headers))]
    last = datestamp_or_none(before) if before is not None else None
    for moment in moments:
        if moment is None or (last is not None and moment < last):
            return None
        last = moment
    if last is None or not headers:
        return before
    return format_datestamp(last, coarsest or _granularity(headers[-1].datestamp))


def _telling(datestamps: Sequence[str]) -> Sequence[str]:
    """Return the datestamps that must be parsed to know whether all are in order.

    Of texts of equal length that are sorted as text, these are the first and the last.
    """
    if len(set(map(len, datestamps))) == 1 and [*datestamps] == sorted(datestamps):
        return [datestamps[0], datestamps[-1]]
    return datestamps


def are_outside(
    headers: Sequence[Header], window: Window, tolerance: timedelta = _TOLERANCE
) -> bool:
    """Whether most records of a page are outside the requested window.

    Args:
        tolerance: How far outside a record may be, from the beginning of the granules.
    """
    if window == Window():
        return False
    begin, end = datestamp_or_none(window.from_), datestamp_or_none(window.until)
    begin = begin and _shifted(begin, -tolerance)
    end = end and _shifted(end, tolerance)

    def is_outside(moment: datetime) -> bool:
        return (begin is not None and moment < begin) or (end is not None and moment > end)

    if not any(map(is_outside, span_of(headers) or ())):
        return False
    moments = [moment for moment in (datestamp_or_none(one.datestamp) for one in headers) if moment]
    return sum(map(is_outside, moments)) * 2 > len(moments)


def span_of(headers: Sequence[Header]) -> tuple[datetime, datetime] | None:
    """Return the earliest and the latest datestamp; None if none can be read.

    Texts of equal length are in the order of their dates, so most pages have two to parse.
    """
    texts = span_of_texts(headers) or set(datestamps_of(headers))
    if len(set(map(len, texts))) == 1:
        first, last = datestamp_or_none(min(texts)), datestamp_or_none(max(texts))
        if first is not None and last is not None:
            return first, last
    moments = [moment for text in texts if (moment := datestamp_or_none(text))]
    return (min(moments), max(moments)) if moments else None


def are_strictly_outside(headers: Sequence[Header], window: Window) -> bool:
    """The same, without tolerance."""
    until = window.until
    last = until + "T23:59:59Z" if until is not None and len(until) == len("2010-01-01") else until
    return are_outside(headers, Window(window.from_, last), timedelta(0))


def parting_date(headers: Sequence[Header], *, is_all: bool) -> str | None:
    """Return where to split a window, by some of its headers, so that both parts have some.

    Args:
        headers: The headers of the window, or of its first page.
        is_all: Whether there are no more. Then, or if they are not sorted, the date of the
            middle header is used; else that of the last, so that the part before it is known.

    Returns:
        A datestamp as sent; None if all are equal.
    """
    dated = [
        (moment, one.datestamp) for one in headers if (moment := datestamp_or_none(one.datestamp))
    ]
    in_order = sorted(dated)
    later = [text for moment, text in in_order if moment > in_order[0][0]]
    if not later:
        return None
    return later[len(later) // 2] if is_all or dated != in_order else later[-1]


class DateSample:
    """A small, even sample of the datestamps of a list."""

    def __init__(self) -> None:
        self._kept: list[str] = []
        self._count, self._step = 0, 1

    def add(self, headers: Sequence[Header]) -> None:
        """Add some of the headers."""
        self._kept += datestamps_of(headers)[-self._count % self._step :: self._step]
        self._count += len(headers)
        if len(self._kept) > _SAMPLED:
            self._kept, self._step = self._kept[::2], 2 * self._step

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """Return the earliest and the latest; None if there are none."""
        moments = [moment for text in self._kept if (moment := datestamp_or_none(text))]
        return (min(moments), max(moments)) if moments else None

    def middle(self, granularity: Granularity) -> str | None:
        """Return where to split the list into about equal halves.

        Not exactly in the middle: if the list ended after some number of pages, the second part
        might end after half that number, at the same record.

        Returns:
            A datestamp after that of the earliest record; None if all are equal.
        """
        moments = sorted(moment for text in self._kept if (moment := datestamp_or_none(text)))
        dates = [format_datestamp(moment, granularity) for moment in moments]
        later = [date for date in dates[int(len(dates) * _PARTED) :] if date != dates[0]]
        return later[0] if later else None


def share_one_identifier(page: ListPage[Item]) -> bool:
    """Whether different records of a page all have the same identifier (pycsw 2.6.2)."""
    headers = headers_of(page)
    if not headers or headers[0].identifier != headers[-1].identifier:
        return False
    if len({header.identifier for header in headers}) != 1:
        return False
    return any(one != page.items[0] for one in page.items)


def earliest_days(
    known: tuple[str | None, str | None], headers: Sequence[Header]
) -> tuple[str | None, str | None]:
    """Return the earliest day of a list's records, and the next one that has records.

    A list from the second day on has fewer records than the whole list.

    Args:
        known: The result before this page.
        headers: The headers of a page.
    """
    span, second = span_of_texts(headers), known[1]
    if span is not None and second is not None and span[0][:10] >= second:
        return known
    texts = {text[:10] for text in datestamps_of(headers)}
    days = {moment.date().isoformat() for text in texts if (moment := datestamp_or_none(text))}
    earliest, next_one, *_ = *sorted(days.union(day for day in known if day)), None, None
    return earliest, next_one


def begins_before(headers: Sequence[Header], day: str) -> bool:
    """Whether a page has records from before a day."""
    moments = (datestamp_or_none(one.datestamp) for one in headers)
    return any(moment is not None and moment.date().isoformat() < day for moment in moments)


def _shifted(moment: datetime, by: timedelta) -> datetime:
    try:
        return moment + by
    except OverflowError:
        return moment


def _granularity(text: str) -> Granularity:
    try:
        return Granularity.of(text)
    except DatestampError:
        return Granularity.DAY
