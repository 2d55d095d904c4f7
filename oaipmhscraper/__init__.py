"""Harvest an OAI-PMH repository into a Silo.

    >>> from oaipmhscraper import OAIPMHScraper
    >>> scraper = OAIPMHScraper("myrepo", "https://eprints.example.org/cgi/oai2")
    >>> scraper.getRecords("oai_dc")

`Client` sends the six verbs without a Silo.
"""

from oaipmhclient.client import Client
from oaipmhclient.errors import PageUnreadable, TokenLoopError
from oaipmhclient.transport.http_transport import HttpTransport, Transport
from oaipmhscraper.errors import ScraperError
from oaipmhscraper.receipt import (
    Counts,
    HarvestInterrupted,
    HarvestStopped,
    ListReceipt,
    Outcome,
    Receipt,
)
from oaipmhscraper.scraper import OAIPMHScraper
from politeweb.answers import Answer
from politeweb.errors import EndpointError, RetryLater
from politeweb.settings import HttpSettings

__all__ = [
    "Answer",
    "Client",
    "Counts",
    "EndpointError",
    "HarvestInterrupted",
    "HarvestStopped",
    "HttpSettings",
    "HttpTransport",
    "ListReceipt",
    "OAIPMHScraper",
    "Outcome",
    "PageUnreadable",
    "Receipt",
    "RetryLater",
    "ScraperError",
    "TokenLoopError",
    "Transport",
]
