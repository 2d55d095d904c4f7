"""What the tests of the export to Fedora share."""

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass

import real_fedora
from fedora_simulator import Simulator

from siloexport.engine.deposits import Retries
from siloexport.targets.fedora import FedoraClient

USER = real_fedora.USER
ADMIN = (USER.encode(), USER.encode())
_numbers = itertools.count()
QUICK = Retries(attempts=3, first=0.01)


@dataclass(frozen=True)
class Fedora:
    """A server; ``simulator`` is None for a real one."""

    root: str
    simulator: Simulator | None
    client: FedoraClient

    def container(self) -> str:
        """The address of a container that no other test uses."""
        return f"{self.root}/t{os.getpid()}-{next(_numbers)}/exports"

    def get(self, uri: str, **headers: str) -> bytes:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.send("GET", uri, named).content


def metadata(*elements: str) -> bytes:
    return (
        '<metadata xmlns="http://www.openarchives.org/OAI/2.0/"><oai_dc:dc '
        'xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/">'
        + "".join(elements)
        + "</oai_dc:dc></metadata>"
    ).encode()


Harvest = Callable[..., None]
