"""The page store of harvests that store only responses."""

from collections.abc import Callable
from datetime import datetime
from itertools import repeat

from oaipmhclient.pages.bare_records import BareHeaders, identifiers_of
from oaipmhclient.pages.requests_and_pages import ListPage
from oaipmhclient.walk.page_facts import headers_of
from oaipmhprotocol import Record
from oaipmhscraper.receipt import Outcome
from oaipmhscraper.storing.silo_writer import PageOutcome


class PageCounter:
    """Counts records without storing them, because their page is already in the WARC file.

    A `silo_writer.PageStore`, used with `light_pages.read_lightly`.

    Args:
        flush: Returns once all responses are on the medium.
    """

    def __init__(self, flush: Callable[[], None]) -> None:
        self._flush = flush

    def store(self, page: ListPage[Record], received: datetime | None = None) -> PageOutcome:
        """Flush the page, and count its records, deleted ones separately.

        Raises:
            OSError: The page is not safe.
        """
        del received
        self._flush()
        headers = headers_of(page)
        if isinstance(headers, BareHeaders) and not headers.deleted:  # nearly all pages
            return PageOutcome(tuple(zip(headers.identifiers, repeat(Outcome.KEPT))), written=0)
        outcomes = (Outcome.DELETED if one.deleted else Outcome.KEPT for one in headers)
        became = zip(identifiers_of(headers), outcomes, strict=True)
        return PageOutcome(tuple(became), written=0)
