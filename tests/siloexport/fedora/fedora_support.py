"""What the tests of the export to Fedora share."""

import itertools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import real_fedora
from fedora_simulator import Simulator

from siloexport.engine.deposits import Retries
from siloexport.targets.fedora import FedoraClient
from siloexport.targets.remote.server import Body, ServerAnswer

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
        return self.client.send("GET", uri, named).body


def metadata(*elements: str) -> bytes:
    return (
        '<metadata xmlns="http://www.openarchives.org/OAI/2.0/"><oai_dc:dc '
        'xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/">'
        + "".join(elements)
        + "</oai_dc:dc></metadata>"
    ).encode()


Harvest = Callable[..., None]


class Killed(BaseException):
    """The process is gone, and sends nothing more."""


class Mortal(FedoraClient):
    """Kills its process at a request, before it is sent or once it was answered."""

    def __init__(self, url: str, number: int, *, after: bool) -> None:
        super().__init__(url, ADMIN)
        self.left, self.after = number, after

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: Body = None,
        **more: Any,
    ) -> ServerAnswer:
        self.left -= 1
        if self.left < 0 or (self.left == 0 and not self.after):
            raise Killed
        answer = super().send(method, url, headers, body, **more)
        if self.left == 0:
            raise Killed
        return answer
