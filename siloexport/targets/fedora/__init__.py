"""Fedora 6 and 7 as an export target. Loads rdflib; import it only where it is used.

    target       what the export calls: deposits, recovery after a kill, verification
    client       HTTP requests to one server; answers: what they mean
    transaction  begin, keep alive, commit, roll back; sending: one version within it
    objects      reads an object; integrity: are its files those of its description
    layout       the descriptions of objects, files and collections; collections: makes these
    verifying    compares a version with the Silo

Source: Fedora API specification 1.0; docs/fedora-servers.md says what servers do beyond it.
"""

from siloexport.targets.fedora.client import FedoraClient
from siloexport.targets.fedora.target import FedoraTarget

__all__ = ["FedoraClient", "FedoraTarget"]
