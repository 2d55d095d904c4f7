"""Where the pages of a list go that are to be kept as received, and nothing made of them."""

from datetime import datetime

from oaipmhclient.pages.requests_and_pages import ListPage
from oaipmhprotocol import Record
from oaipmhscraper.receipt import Outcome
from oaipmhscraper.storing.silo_writer import PageOutcome


class PageCounter:
    """Counts records and keeps none: their page is in the WARC file already.

    A `silo_writer.PageStore`, to go with `light_pages.read_lightly`.
    """

    def store(self, page: ListPage[Record], received: datetime | None = None) -> PageOutcome:
        """Count the records of a page; deleted ones apart."""
        del received
        return PageOutcome(
            tuple(
                (
                    record.header.identifier,
                    Outcome.DELETED if record.header.deleted else Outcome.KEPT,
                )
                for record in page.items
            ),
            written=0,
        )
