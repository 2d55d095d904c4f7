"""Date records without a usable datestamp by their response (pure).

Zenodo's deleted records had no datestamp (zenodo#2447), others send ``0000-00-00``
(zentralgut.ch). A version needs a date; the only reliable one is that of the response, the last
time at which the record is known to have had this state.

Source: OAI-PMH 2.0, sections 2.5 and 2.7.1.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from oaipmhclient.mending.repairs import Repair
from oaipmhclient.pages.bare_records import BareRecords
from oaipmhclient.pages.requests_and_pages import ListPage
from oaipmhprotocol import Granularity, Record
from oaipmhprotocol.datestamps import format_datestamp, unreadable


def dated(page: ListPage[Record], received: datetime | None = None) -> ListPage[Record]:
    """Return the page with a datestamp for each record.

    Datestamps that can be read stay as sent, in any form.

    Args:
        page: A page, as read.
        received: When it was received; used if ``responseDate`` cannot be read.

    Returns:
        The page itself if nothing changes; else a page whose ``repairs`` and ``mended`` have
        each record dated here.
    """
    items: Sequence[Record] = page.items
    if isinstance(items, BareRecords) and items.headers.span is not None:
        return page
    undated = unreadable([item.header.datestamp for item in items])
    moment = page.response_date or received
    if not undated or moment is None:
        return page
    datestamp = format_datestamp(moment, Granularity.SECOND)
    now, mended, kind = list(items), dict(page.mended), Repair.DATESTAMP.value
    for number in undated:
        header = replace(now[number].header, datestamp=datestamp)
        now[number] = replace(now[number], header=header)
        mended[number] = (*mended.get(number, ()), kind)
    repairs = {**page.repairs, kind: len(undated)}
    return replace(page, items=tuple(now), mended=mended, repairs=repairs)
