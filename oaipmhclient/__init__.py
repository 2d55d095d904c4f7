"""An OAI-PMH 2.0 client for the six verbs, which copes with faulty repositories.

    >>> from oaipmhclient import Client
    >>> for record in Client("https://eprints.example.org/cgi/oai2").list_records("oai_dc"):
    ...     print(record.header.identifier)

It does not store records; `oaipmhscraper` stores them in a Silo.
"""

from oaipmhclient.client import Client
from oaipmhclient.errors import PageUnreadable, TokenLoopError
from oaipmhclient.transport.http_transport import HttpTransport, Transport
from politeweb.answers import Answer
from politeweb.errors import EndpointError, RequestRefused, RetryLater
from politeweb.settings import HttpSettings

__all__ = [
    "Answer",
    "Client",
    "EndpointError",
    "HttpSettings",
    "HttpTransport",
    "PageUnreadable",
    "RequestRefused",
    "RetryLater",
    "TokenLoopError",
    "Transport",
]
