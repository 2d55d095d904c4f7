"""Write the bounds of a window in the form that an endpoint needs (pure).

Source: OAI-PMH 2.0, section 2.7.1; dataverse#11020 (nakala announces seconds and
refuses them), zvdd.org (accepts only both bounds or none).
"""

from typing import TypedDict

from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhclient.walk.recovery import Rung
from oaipmhclient.walk.windows import Window
from oaipmhprotocol import Granularity

_EARLIEST, _LATEST = "1970-01-01", "2099-12-31"
"""Replaces an open bound if both are required."""


class WireBounds(TypedDict):
    """Arguments of `requests_and_pages.list_request`."""

    from_: str | None
    until: str | None


def as_sent(window: Window, quirks: EndpointMemory, rung: Rung | None) -> WireBounds:
    """Return the bounds of a window as they are sent.

    Args:
        quirks: The endpoint's known habits.
        rung: The rung being tried, if any.
    """
    begin, end = window.from_, window.until
    if (quirks.both_bounds or rung is Rung.BOTH_BOUNDS) and (begin or end):
        begin, end = begin or _EARLIEST, end or _LATEST
    wanted = quirks.granularity
    if rung is Rung.OTHER_GRANULARITY:
        wanted = other_granularity(window)
    if wanted is None and begin and end and len(begin) != len(end):
        wanted = Granularity.of(window.from_ or window.until or begin)
    if wanted is None:
        return {"from_": begin, "until": end}
    return {
        "from_": _written(begin, wanted, "T00:00:00Z"),
        "until": _written(end, wanted, "T23:59:59Z"),
    }


def other_granularity(window: Window) -> Granularity:
    """Return the granularity that a window's bounds do not have."""
    is_day = Granularity.of(window.from_ or window.until or _EARLIEST) is Granularity.DAY
    return Granularity.SECOND if is_day else Granularity.DAY


def _written(bound: str | None, wanted: Granularity, time: str) -> str | None:
    """Write a bound in a granularity; a day includes all its seconds."""
    if bound is None or Granularity.of(bound) is wanted:
        return bound
    return bound[:10] if wanted is Granularity.DAY else bound + time
