"""Decide which empty windows of a list are doubtful, because its long windows may be denied (pure).

See `oaipmhclient.walk.denied_windows`.
"""

from collections.abc import Iterable
from dataclasses import replace

from oaipmhclient.walk.denied_windows import ANY_LENGTH, days_of
from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhscraper.lists.journal_rows import LIST, WindowRow
from oaipmhscraper.lists.window_changes import WindowsPlace


def days_answered(rows: Iterable[WindowRow], place: WindowsPlace) -> int:
    """Return the length of the longest window that was answered with records, in days."""
    found = (row for row in rows if row.mode == LIST and row.counts.distinct)
    return max((_days(row, place) for row in found), default=0)


def doubtful(
    rows: Iterable[WindowRow], place: WindowsPlace, quirks: EndpointMemory
) -> list[tuple[WindowRow, int]]:
    """Return the empty windows that are longer than any that was answered, with their days.

    An update for which no length is known is believed: most have nothing new.

    Args:
        rows: The windows of a list that has ended.
        place: Where they are.
        quirks: The endpoint's known habits, this list included.
    """
    longest = quirks.window_days or quirks.answered_days
    if not longest and place.job.update:
        return []
    lengths = ((row, _days_doubted(row, place, quirks)) for row in rows if _is_empty(row))
    return [(row, days) for row, days in lengths if days > max(1, longest)]


def _is_empty(row: WindowRow) -> bool:
    is_done = row.mode == LIST and row.state == "done"
    return is_done and row.position is not None and not row.position.listed


def _days_doubted(row: WindowRow, place: WindowsPlace, quirks: EndpointMemory) -> int:
    """Return the days of an empty window; an open beginning is long where windows are limited."""
    days = _days(row, place)
    return ANY_LENGTH if days and quirks.window_days and row.window.from_ is None else days


def _days(row: WindowRow, place: WindowsPlace) -> int:
    return days_of(row.window, place.first, place.last)


def limited(place: WindowsPlace, quirks: EndpointMemory) -> WindowsPlace:
    """Return the place with windows that are not longer than the endpoint answers."""
    if not quirks.window_days:
        return place
    most = quirks.window_length
    return replace(place, length=min(place.length or most, most))
