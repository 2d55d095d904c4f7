"""Fedora 6 and 7 as an export target. Loads rdflib; import it only where it is used.

Source: Fedora API specification 1.0; docs/fedora.md says what servers do beyond it.
"""

from siloexport.targets.fedora.client import FedoraClient
from siloexport.targets.fedora.target import FedoraTarget

__all__ = ["FedoraClient", "FedoraTarget"]
