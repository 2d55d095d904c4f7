"""Harvesters without a store: ``clients.py sickle URL`` iterates over a list; so do the others.

Each is run in a process of its own, so this imports nothing that they do not need.
"""

import sys
from collections.abc import Iterable


def iterated(client: str, url: str) -> Iterable[object]:
    """The records of a repository, as a client yields them."""
    if client == "sickle":
        from sickle import Sickle  # noqa: PLC0415

        return Sickle(url).ListRecords(metadataPrefix="oai_dc")
    if client == "oaipmh-scythe":
        from oaipmh_scythe import Scythe  # noqa: PLC0415

        return Scythe(url).list_records(metadata_prefix="oai_dc")
    from oaipmhclient import Client  # noqa: PLC0415
    from recordsilo.garbage import collect_rarely  # noqa: PLC0415

    collect_rarely()
    return Client(url).list_records("oai_dc")


if __name__ == "__main__":
    print(sum(1 for _ in iterated(*sys.argv[1:3])))
