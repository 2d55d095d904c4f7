"""Requests, answers and resources of the simulated Fedora."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO


@dataclass(frozen=True)
class Request:
    method: str
    path: str  # decoded, below /rest, without a slash at the end
    headers: Mapping[str, str]
    body: "Body"

    def header(self, name: str) -> str:
        return next((v for k, v in self.headers.items() if k.lower() == name.lower()), "")


@dataclass(frozen=True)
class Body:
    """A body as received: in memory when small, else in a file."""

    sha512: str = hashlib.sha512(b"").hexdigest()
    size: int = 0
    small: bytes = b""
    file: BinaryIO | None = None

    def bytes(self) -> bytes:
        if self.file is None:
            return self.small
        self.file.seek(0)
        return self.file.read()


@dataclass(frozen=True)
class Answer:
    """``after``: of `Simulator.interfere`, whether the request is served before it is given."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    after: bool = False


DROP, DROP_AFTER = Answer(-1), Answer(-1, after=True)
"""Instead of an answer: the connection is cut, before the request is served or after."""
Interference = Callable[[Request], Answer | None]


class Trouble(Exception):
    def __init__(self, status: int, text: str = "", **headers: str) -> None:
        self.answer = Answer(
            status,
            {"Content-Type": "text/plain", **{k.replace("_", "-"): v for k, v in headers.items()}},
            text.encode(),
        )


class Spoiling(Trouble):
    """One that comes from the store, and spoils the transaction it is in."""


@dataclass(frozen=True)
class Resource:
    kind: str  # container, group, binary, description, tombstone
    content: Body = Body()
    media_type: str = ""
    state: str = ""
    modified: str = ""
    disposition: str = ""
    contains: tuple[str, ...] = ()  # of a memento

    @property
    def is_rdf(self) -> bool:
        return self.kind in {"container", "group", "description"}


@dataclass
class Transaction:
    number: str
    expires: float
    state: str = "open"  # failed, committed, rolled back
    changes: dict[str, Resource | None] = field(default_factory=dict)
    created: set[str] = field(default_factory=set)
