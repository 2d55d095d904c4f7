"""An OAI-PMH repository with the faults of real ones, one function for each fault.

    with misbehaving("tokens_expire", "bare_ampersands") as server:
        harvest(server.base_url)

A fault is a function of a `Repository`, one of whose steps it replaces; faults can be
planted together, and all of them do the same each time. The repository has
55 records, five of them deleted, in pages of ten; their identifiers are
``oai:misbehaving.example:0001`` to ``…:0055``. A docstring begins with the number of
what was seen in the wild:

1–19 tokens, 20–33 HTTP, 34–49 XML, 50–57 records, 58–70 dates, sets and Identify.

Those from 71 on were seen nowhere: they are what a server could do on purpose.

Not simulated, and why:

* 30, old TLS: Python's ssl offers no server that speaks what OpenSSL 3 refuses; a
  certificate that nobody signed would say nothing that the transport's own tests do not.
* 52, deletions that are not announced: no single harvest can see them; records are
  taken away between two harvests instead (`Repository.items`).
* 56, identifiers that change with the host: what the server says is what is stored, and
  there is nothing to be right or wrong about.
* 65, changes that appear late with an older stamp: likewise between two harvests.
"""

from misbehaving import (  # noqa: F401  # importing them registers their faults
    faults_of_dates,
    faults_of_hostile_servers,
    faults_of_http,
    faults_of_records,
    faults_of_tokens,
    faults_of_xml,
)
from misbehaving.faults import FAULTS, Fault, repository_with
from misbehaving.http_server import FunctionTransport, MisbehavingServer
from misbehaving.repository import DELETED, SIZE, Item, Repository, identifier


def misbehaving(*faults: str) -> MisbehavingServer:
    """Serve a repository with these faults on a loopback port until it is closed."""
    return MisbehavingServer(repository_with(*faults))


__all__ = [
    "DELETED",
    "FAULTS",
    "SIZE",
    "Fault",
    "FunctionTransport",
    "Item",
    "MisbehavingServer",
    "Repository",
    "identifier",
    "misbehaving",
    "repository_with",
]
