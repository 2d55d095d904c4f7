"""The values that the parts of this package exchange (pure)."""

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import NamedTuple


class UseKind(StrEnum):
    """What was done with a record."""

    VIEW = "view"
    DOWNLOAD = "download"
    OTHER = "other"


class Fate(StrEnum):
    """What became of a log line; each line has exactly one.

    Machine access (scripts, by COUNTER's list of machines) is among the bots.
    """

    COUNTED = "counted"
    BOT = "bots"
    OTHER = "other"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Hit:
    """A request, as a log line tells it.

    Attributes:
        moment: Seconds since 1970-01-01T00:00:00Z.
        address: IPv4 or IPv6 address of the client; never stored.
        user: The signed-in user, or ``""``; never stored.
        agent: The user agent, or ``""``.
        method: Such as ``GET``.
        path: As sent, without the query.
        query: What follows the first ``?``, or ``""``.
        status: HTTP status.
        referrer: The page that led there, or ``""``.
        host: The host that was asked, or ``""`` where the log does not have it.
        size: Bytes sent, or None.
    """

    moment: int
    address: str
    user: str
    agent: str
    method: str
    path: str
    query: str
    status: int
    referrer: str = ""
    host: str = ""
    size: int | None = None


class Use(NamedTuple):
    """A use of a record, as the patterns read it from a path.

    Attributes:
        item: Identifier of the record, in full form where the Silo holds it.
        kind: What was done.
        file: The file of the record, or ``""``.
    """

    item: str
    kind: UseKind
    file: str = ""


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of a record, an entity or a site, over some days. All can be added over days.

    Requests are downloads, investigations are views and downloads; both after double clicks
    within 30 seconds (COUNTER R5.1, section 7.2). A session is a user, a day and an hour
    (section 7.3). Other uses are in no metric of COUNTER. The rule of 2010 counts one use for
    each client (address), record, day and kind.

    Attributes:
        unique_investigations: Sessions with an investigation of a record (Unique_Item_…).
        visitors: Addresses, of each record and day.
    """

    total_investigations: int = 0
    total_requests: int = 0
    unique_investigations: int = 0
    unique_requests: int = 0
    others: int = 0
    views_2010: int = 0
    downloads_2010: int = 0
    others_2010: int = 0
    visitors: int = 0

    @property
    def views(self) -> int:
        """Views of records, after double clicks."""
        return self.total_investigations - self.total_requests

    def __add__(self, more: "Figures") -> "Figures":
        return Figures(*(getattr(self, one) + getattr(more, one) for one in FIGURES))


FIGURES = tuple(one.name for one in fields(Figures))
