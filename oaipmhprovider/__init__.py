"""Serve a record source over OAI-PMH as a data provider; with a sample repository.

`provider.respond` is a pure function from a request to its response; `wsgi.ProviderApp`
serves it over HTTP, `server.ProviderServer` on a loopback port; `resourcesync` gives the same
source by ResourceSync.
"""

from oaipmhprovider.provider import Response, Settings, respond
from oaipmhprovider.sample import sample_repository
from oaipmhprovider.server import ProviderServer, SampleServer
from oaipmhprovider.source import Position, RecordSource, Selection

__all__ = [
    "Position",
    "ProviderServer",
    "RecordSource",
    "Response",
    "SampleServer",
    "Selection",
    "Settings",
    "respond",
    "sample_repository",
]
