"""An object as Fedora has it: its state read, and told from the one we left there."""

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
    NotThere,
    linked,
    mementos,
)
from siloexport.targets.fedora.client import ARCHIVAL_GROUP, LINK_FORMAT, NT, FedoraClient
from siloexport.targets.fedora.description import KEY, VERSION, is_withdrawn, parsed, value

OWN = 'return=representation; omit="http://fedora.info/definitions/fcrepo#ServerManaged"'
_DELETED = "deleted"
_OLD = timedelta(hours=1)


@dataclass(frozen=True)
class FedoraObject:
    """What is at an object's address.

    Attributes:
        own: Its description without what the server adds, in N-Triples.
        state: Fedora's token of the description's state; ``deleted`` for a tombstone.
        versions: Its mementos, the oldest first.
        tombstone: The tombstone's address; ``""`` for an object that is there.
        date: The server's clock when it answered, as HTTP has it.
        modified: When the description was changed last, as HTTP has it.
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
        """The description; empty where it is not what we write."""
        try:
            return parsed(self.own)
        except ValueError:
            return Graph()

    @property
    def key(self) -> str:
        """The key of the version deposited last; ``""`` where it has none of ours."""
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
        """The newest version; an empty one where there is none."""
        return self.versions[-1] if self.versions else Memento("", "")

    @property
    def token(self) -> str:
        """What changes with any change: the description's state, and the versions.

        A file put behind our back leaves the description's state as it is (seen on
        6.0.0), but makes a version; within a second it has the same name as the last.
        """
        return token(self.state, self.versions)


def token(state: str, versions: Sequence[Memento]) -> str:
    """See `FedoraObject.token`."""
    return f"{state}@{versions[-1].stamp if versions else ''}#{len(versions)}"


def read_object(client: FedoraClient, uri: str) -> FedoraObject | None:
    """Read what is at an address; None for nothing, not even a tombstone."""
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
        answer.content,
        answer.headers.get("X-State-Token", ""),
        read_versions(client, uri),
        is_group=ARCHIVAL_GROUP in types,
        date=answer.headers.get("Date", ""),
        modified=answer.headers.get("Last-Modified", ""),
    )


def await_next_second(client: FedoraClient, there: FedoraObject) -> None:
    """Wait until the server's clock is past the second of the object's newest version.

    Versions are named by the second, so two in one are one address. To be called before
    the first write, not only before the commit: 6.0.0 counts a file as contained from
    the moment it was put, also in a version of the same second.
    """
    if http_date(there.date) is None:
        _wait_without_clock(there)
    date = there.date
    while (now := http_date(date)) and f"{now:%Y%m%d%H%M%S}" <= there.last.stamp:
        time.sleep(0.1)
        date = client.send("HEAD", there.uri).headers.get("Date", "")


def _wait_without_clock(there: FedoraObject) -> None:
    """Of a server that sends no Date (Jetty 12 as it comes), a second is past after a second.

    A version that is old by our own clock needs none.
    """
    old = datetime.now(UTC) - _OLD
    if there.last.stamp > f"{old:%Y%m%d%H%M%S}":
        time.sleep(1)


def read_versions(client: FedoraClient, uri: str) -> tuple[Memento, ...]:
    """The versions of what is at an address; none where there is nothing."""
    answer = client.get_if_there(f"{uri}/fcr:versions", {"Accept": LINK_FORMAT})
    return mementos(answer.text) if answer is not None else ()


def deleted_token() -> str:
    """The token of an object that was deleted."""
    return token(_DELETED, ())
