"""Read an object in Fedora: its description, its state and its versions."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

from rdflib import Graph

from politeweb.answers import http_date
from siloexport.targets.fedora.answers import (
    Departed,
    Memento,
    linked,
    mementos,
)
from siloexport.targets.fedora.client import ARCHIVAL_GROUP, LINK_FORMAT, NT, FedoraClient
from siloexport.targets.fedora.description import KEY, VERSION, is_withdrawn, parsed, value
from siloexport.targets.remote.errors import (
    NotThere,
)

OWN = 'return=representation; omit="http://fedora.info/definitions/fcrepo#ServerManaged"'
_DELETED = "deleted"
_OLD = timedelta(hours=1)


@dataclass(frozen=True)
class FedoraObject:
    """An object in Fedora, or its tombstone.

    Attributes:
        uri: Its address.
        own: Its description without the server's statements, in N-Triples.
        state: Fedora's state token of the description; ``deleted`` for a tombstone.
        versions: Its mementos, the oldest first.
        tombstone: Address of the tombstone; ``""`` if the object exists.
        is_group: Whether it is an Archival Group.
        date: The server's time when it answered, as an HTTP date.
        modified: When the description was changed last, as an HTTP date.
    """

    uri: str
    own: bytes = b""
    state: str = ""
    versions: tuple[Memento, ...] = ()
    tombstone: str = ""
    is_group: bool = True
    date: str = ""
    modified: str = ""

    @cached_property
    def graph(self) -> Graph:
        """The description; empty if it is not N-Triples."""
        try:
            return parsed(self.own)
        except ValueError:
            return Graph()

    @property
    def key(self) -> str:
        """The key of the version deposited last; ``""`` if an export did not make it."""
        return value(self.graph, KEY)

    @property
    def version(self) -> str:
        """The name of the Silo's version deposited last."""
        return value(self.graph, VERSION)

    @property
    def is_withdrawn(self) -> bool:
        """Whether it is deleted, or says that the source deleted it."""
        return bool(self.tombstone) or is_withdrawn(self.graph)

    @property
    def last(self) -> Memento:
        """The newest version; an empty memento if there is none."""
        return self.versions[-1] if self.versions else Memento("", "")

    @property
    def token(self) -> str:
        """A token that changes with every change: the description's state and the versions.

        If others replace a file, the description's state stays the same (6.0.0) but there is a
        new version; in the same second it has the same name as the last.
        """
        return token(self.state, self.versions)


def token(state: str, versions: Sequence[Memento]) -> str:
    """See `FedoraObject.token`."""
    return f"{state}@{versions[-1].stamp if versions else ''}#{len(versions)}"


def read_object(client: FedoraClient, uri: str) -> FedoraObject | None:
    """Read an object; None if there is not even a tombstone at the address."""
    try:
        answer = client.send("GET", uri, {"Accept": NT, "Prefer": OWN})
    except NotThere:
        return None
    except Departed as departed:
        tombstone = departed.tombstone or f"{uri}/fcr:tombstone"
        return FedoraObject(uri, state=_DELETED, tombstone=tombstone)
    types = linked(answer.headers.get("Link", ""), "type")
    return FedoraObject(
        uri,
        answer.body,
        answer.headers.get("X-State-Token", ""),
        read_versions(client, uri),
        is_group=ARCHIVAL_GROUP in types,
        date=answer.headers.get("Date", ""),
        modified=answer.headers.get("Last-Modified", ""),
    )


def await_next_second(client: FedoraClient, there: FedoraObject) -> None:
    """Wait until the server's clock is past the second of the object's newest version.

    Versions are named by the second, so two in the same second have one address. Call this
    before the first write, not only before the commit: 6.0.0 counts a file as contained from
    the moment it was put, also in a version of the same second.
    """
    if http_date(there.date) is None:
        _wait_without_clock(there)
    date = there.date
    while (now := http_date(date)) and f"{now:%Y%m%d%H%M%S}" <= there.last.stamp:
        time.sleep(0.1)
        date = client.send("HEAD", there.uri).headers.get("Date", "")


def _wait_without_clock(there: FedoraObject) -> None:
    """Wait a second, for a server that sends no Date (Jetty 12 by default).

    There is no need to wait if the version is old by our own clock.
    """
    old = datetime.now(UTC) - _OLD
    if there.last.stamp > f"{old:%Y%m%d%H%M%S}":
        time.sleep(1)


def read_versions(client: FedoraClient, uri: str) -> tuple[Memento, ...]:
    """Return the versions of an object; empty if it does not exist."""
    answer = client.get_if_there(f"{uri}/fcr:versions", {"Accept": LINK_FORMAT})
    return mementos(answer.text) if answer is not None else ()


def deleted_token() -> str:
    """Return the token of a deleted object."""
    return token(_DELETED, ())
