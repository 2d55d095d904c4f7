"""An OAI-PMH 2.0 client for the six verbs, which copes with faulty repositories.

    >>> from oaipmhclient import Client
    >>> for record in Client("https://eprints.example.org/cgi/oai2").list_records("oai_dc"):
    ...     print(record.header.identifier)

It does not store records; `oaipmhscraper` stores them in a Silo.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_MODULES = {
    "oaipmhclient.client": "Client",
    "oaipmhclient.errors": "PageUnreadable TokenLoopError",
    "oaipmhclient.transport.http_transport": "HttpTransport Transport",
    "politeweb.answers": "Answer",
    "politeweb.errors": "EndpointError RequestRefused RetryLater",
    "politeweb.settings": "HttpSettings",
}
"""Module → the names that it has. One is loaded when a name of it is asked for, so that what reads
an address or a length of time does not load the client."""
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Load the module of a name when it is first used."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_MODULE_OF[name]), name)
    return found
