"""Lists from bytes of any kind: strictly, and mended only where that fails (pure).

Source: OAI-PMH 2.0, sections 3.2 and 3.5; XML 1.0, section 2.1, "Well-Formed XML Documents".
"""

from oaipmhprotocol import Header, Record
from oaipmhscraper.requests_and_pages import ListPage, read_headers, read_records


def read_records_mended(body: bytes) -> ListPage[Record]:
    """Read an answer to ``ListRecords``, mending what a parser refuses.

    Raises:
        PageUnreadable: Nothing can be had of it.
    """
    return read_records(body)


def read_headers_mended(body: bytes) -> ListPage[Header]:
    """Read an answer to ``ListIdentifiers``; see `read_records_mended`."""
    return read_headers(body)
