"""Records whose datestamp says nothing → dated by the answer that brought them (pure).

Zenodo's deleted records had no datestamp (zenodo#2447), others send ``0000-00-00``
(zentralgut.ch). A version needs a date; the only sound one is that of the answer,
the last moment at which the record was known to be so.

Source: OAI-PMH 2.0, sections 2.5 and 2.7.1.
"""

from dataclasses import replace
from datetime import datetime

from oaipmhclient.mending.repairs import Repair
from oaipmhclient.pages.requests_and_pages import ListPage
from oaipmhprotocol import DatestampError, Granularity, Record
from oaipmhprotocol.datestamps import format_datestamp, read_datestamp


def dated(page: ListPage[Record], received: datetime | None = None) -> ListPage[Record]:
    """The page with a datestamp for each record, where the answer tells its own date.

    What a datestamp can be read of is left as sent, however it is written.

    Args:
        page: A page, as read.
        received: When it came; for an answer whose ``responseDate`` cannot be read.

    Returns:
        The page itself where nothing is to be done; else one in whose ``repairs``
        and ``mended`` each record so dated is noted.
    """
    undated = [n for n, item in enumerate(page.items) if not _is_dated(item)]
    moment = page.response_date or received
    if not undated or moment is None:
        return page
    datestamp = format_datestamp(moment, Granularity.SECOND)
    items, mended, kind = list(page.items), dict(page.mended), Repair.DATESTAMP.value
    for number in undated:
        header = replace(items[number].header, datestamp=datestamp)
        items[number] = replace(items[number], header=header)
        mended[number] = (*mended.get(number, ()), kind)
    repairs = {**page.repairs, kind: len(undated)}
    return replace(page, items=tuple(items), mended=mended, repairs=repairs)


def _is_dated(record: Record) -> bool:
    try:
        read_datestamp(record.header.datestamp)
    except DatestampError:
        return False
    return True
