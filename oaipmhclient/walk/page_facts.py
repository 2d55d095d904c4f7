"""What a page of a list tells of the list: order, circles, bounds (pure).

Source: OAI-PMH 2.0, sections 2.5, 2.7.1 and 3.5.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import TypeVar

from oaipmhclient.pages.requests_and_pages import ListPage
from oaipmhclient.walk.windows import Window
from oaipmhprotocol import DatestampError, Granularity, Header, Record
from oaipmhprotocol.datestamps import format_datestamp, read_datestamp

Item = TypeVar("Item", bound=Record | Header)

_RECENT = 30
_SAMPLED = 2_000
_PARTED = 0.4384
_TOLERANCE = timedelta(days=2)
"""Local time for UTC (pyoai#30, OpenSKOS#21), and ``until`` is a whole day."""


def headers_of(page: ListPage[Item]) -> list[Header]:
    """The headers of a page of records or of headers."""
    return [one.header if isinstance(one, Record) else one for one in page.items]


def names_on(page: ListPage[Item]) -> list[str]:
    """The identifiers on a page, those of records that cannot be used among them."""
    set_aside = (one.identifier for one in page.set_aside if one.identifier)
    return [*(header.identifier for header in headers_of(page)), *set_aside]


def digest_of(texts: Sequence[str]) -> str:
    """A short text that stands for a token, or for the identifiers of a page in order."""
    joined = "\0".join(texts).encode("utf-8", "surrogatepass")
    return blake2b(joined, digest_size=8).hexdigest()


def remembering(seen: tuple[str, ...], digest: str) -> tuple[str, ...]:
    """Add a digest to a bounded memory that notices every circle in the end.

    It holds the first digest of all, one that moves on to the current one whenever
    the distance has doubled (Brent's way to find a cycle of any length), and the
    latest. The count of what was added stands before them.
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
    """The datestamp up to which a list has come, if it came sorted so far.

    Args:
        before: The same after the page before.
        is_first: Whether this is the list's first page.
        headers: Those of the page, in order.
        coarsest: The granularity that windows of this endpoint have, if known; else
            that of the datestamp itself.

    Returns:
        A datestamp from which the rest of the list can be asked for anew without
        loss, or None.
    """
    if before is None and not is_first:
        return None
    moments = [_moment(text) for text in _telling([header.datestamp for header in headers])]
    last = _moment(before) if before is not None else None
    for moment in moments:
        if moment is None or (last is not None and moment < last):
            return None
        last = moment
    if last is None or not headers:
        return before
    return format_datestamp(last, coarsest or _granularity(headers[-1].datestamp))


def _telling(datestamps: list[str]) -> list[str]:
    """The datestamps that have to be read to know whether all are in order.

    Texts of one length in the order of their characters: the first and the last.
    """
    if len(set(map(len, datestamps))) == 1 and datestamps == sorted(datestamps):
        return [datestamps[0], datestamps[-1]]
    return datestamps


def are_outside(
    headers: Sequence[Header], window: Window, tolerance: timedelta = _TOLERANCE
) -> bool:
    """Whether most records of a page lie outside the window that was asked for.

    Args:
        headers: Those of the page.
        window: As it was cut.
        tolerance: How far outside a record may lie, from the beginning of the granules.
    """
    if window == Window():
        return False
    moments = [moment for moment in (_moment(one.datestamp) for one in headers) if moment]
    begin, end = _moment(window.from_), _moment(window.until)
    begin = begin and _shifted(begin, -tolerance)
    end = end and _shifted(end, tolerance)
    outside = sum(
        (begin is not None and moment < begin) or (end is not None and moment > end)
        for moment in moments
    )
    return outside * 2 > len(moments)


def are_strictly_outside(headers: Sequence[Header], window: Window) -> bool:
    """The same, where a window takes no record but its own."""
    until = window.until
    last = until + "T23:59:59Z" if until is not None and len(until) == len("2010-01-01") else until
    return are_outside(headers, Window(window.from_, last), timedelta(0))


def parting_date(headers: Sequence[Header], *, is_all: bool) -> str | None:
    """Where to part a window of which some headers are known, so that both parts have some.

    Args:
        headers: Those of the window, or of its first page.
        is_all: Whether there are no more. The date of the middle one serves then, and
            where they are in no order; else that of the last, so that the part before
            it is known.

    Returns:
        A datestamp as sent; None where all have the same.
    """
    dated = [(moment, one.datestamp) for one in headers if (moment := _moment(one.datestamp))]
    in_order = sorted(dated)
    later = [text for moment, text in in_order if moment > in_order[0][0]]
    if not later:
        return None
    return later[len(later) // 2] if is_all or dated != in_order else later[-1]


class DateSample:
    """Some of the datestamps of a list, evenly taken; as many as need no room."""

    def __init__(self) -> None:
        self._kept: list[str] = []
        self._count, self._step = 0, 1

    def add(self, headers: Sequence[Header]) -> None:
        """Take some of these."""
        self._kept += [one.datestamp for one in headers[-self._count % self._step :: self._step]]
        self._count += len(headers)
        if len(self._kept) > _SAMPLED:
            self._kept, self._step = self._kept[::2], 2 * self._step

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """The earliest and the latest; None where there are none."""
        moments = [moment for text in self._kept if (moment := _moment(text))]
        return (min(moments), max(moments)) if moments else None

    def middle(self, granularity: Granularity) -> str | None:
        """Where to part the list so that about half of it lies on either side.

        Not in the very middle: of a list cut off after so many pages, the second part would
        be cut off after half as many, at the same record.

        Returns:
            A datestamp after that of the earliest record; None where all have the same.
        """
        moments = sorted(moment for text in self._kept if (moment := _moment(text)))
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
    """The earliest day of a list's records, and the next after it.

    A list from the second day on has fewer records than all of it.

    Args:
        known: The same before this page.
        headers: Those of a page.
    """
    texts = {one.datestamp[:10] for one in headers}
    days = {moment.date().isoformat() for text in texts if (moment := _moment(text))}
    first, second, *_ = *sorted(days.union(day for day in known if day)), None, None
    return first, second


def begins_before(headers: Sequence[Header], day: str) -> bool:
    """Whether records of a page are of a day before."""
    moments = (_moment(one.datestamp) for one in headers)
    return any(moment is not None and moment.date().isoformat() < day for moment in moments)


def _shifted(moment: datetime, by: timedelta) -> datetime:
    try:
        return moment + by
    except OverflowError:
        return moment


def _moment(text: str | None) -> datetime | None:
    try:
        return read_datestamp(text) if text else None
    except DatestampError:
        return None


def _granularity(text: str) -> Granularity:
    try:
        return Granularity.of(text)
    except DatestampError:
        return Granularity.DAY
