"""oaipmhclient: a repository's six verbs over OAI-PMH 2.0, whatever the repository does.

    >>> from oaipmhclient import Client
    >>> for record in Client("https://eprints.example.org/cgi/oai2").list_records("oai_dc"):
    ...     print(record.header.identifier)

It keeps nothing: `oaipmhscraper` stores what it brings in a Silo.
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
