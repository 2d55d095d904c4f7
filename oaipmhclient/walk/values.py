"""What passes between the walk through a window and the engine that stores its pages (pure)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from oaipmhclient.pages.requests_and_pages import ListPage, Request, SetAside
from oaipmhprotocol import Record
from politeweb.answers import Answer
from politeweb.errors import FetchError


@dataclass(frozen=True, slots=True)
class ListJob:
    """A list to be harvested.

    Attributes:
        metadata_prefix: The format.
        set_spec: Only members of this set.
        from_: Earliest datestamp, as sent.
        until: Latest datestamp, as sent.
        update: Whether it goes on from an earlier complete harvest.
        owed: Whether it is only what earlier lists named and could not bring.
    """

    metadata_prefix: str
    set_spec: str | None = None
    from_: str | None = None
    until: str | None = None
    update: bool = False
    owed: bool = False

    @property
    def is_all(self) -> bool:
        """Whether it is everything of its format and set."""
        return self.from_ is None and self.until is None and not self.owed


class Bounds(Protocol):
    """A window: datestamps as sent, inclusive; None where it is open."""

    @property
    def from_(self) -> str | None: ...

    @property
    def until(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Position:
    """How far a window was walked: what the journal keeps after each stored page.

    Attributes:
        token: Asks for the next page; None asks from the window's start, and is all
            there is where `ended`.
        pages: Pages so far.
        listed: Identifiers so far, each once as far as one process saw them.
        promised: The largest completeListSize, or None.
        safe_from: A datestamp, in the window's granularity, from which the rest can
            be listed anew without loss; None unless the list came sorted so far.
        seen: Digests of pages, bounded; a list that comes back to one of them runs in
            a circle.
        sent: Digests of the tokens sent, bounded likewise.
        ended: Whether the list was followed to its end.
    """

    token: str | None = None
    pages: int = 0
    listed: int = 0
    promised: int | None = None
    safe_from: str | None = None
    seen: tuple[str, ...] = ()
    sent: tuple[str, ...] = ()
    ended: bool = False

    def to_json(self) -> dict[str, Any]:
        """The fields by name, as JSON values."""
        found = {name: getattr(self, name) for name in self.__slots__}
        return {**found, "seen": list(self.seen), "sent": list(self.sent)}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Position":
        """Read what `to_json` gave."""
        digests = {name: tuple(found.get(name, ())) for name in ("seen", "sent")}
        return cls(**{**found, **digests})


@dataclass(frozen=True, slots=True)
class WalkPage:
    """One page, ready to be stored.

    Attributes:
        page: What was read; may hold no item.
        request: The request that brought it.
        answer: The answer it was read from.
        position: Where the walk stands once the page is stored.
        steps: The rungs of the ladder that were needed for it, as counted in the
            receipt's ``repairs``.
        unreachable: Identifiers that are listed, and cannot be had.
        remarks: Sentences for the receipt.
        gone: Identifiers that were owed, and no longer exist.
    """

    page: ListPage[Record]
    request: Request
    answer: Answer
    position: Position
    steps: tuple[str, ...] = ()
    unreachable: tuple[SetAside, ...] = ()
    remarks: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RestartFrom:
    """List the window anew from a datestamp; None: from the window's own start."""

    datestamp: str | None


@dataclass(frozen=True, slots=True)
class Split:
    """Walk the window's two parts instead; an open bound counts as far away.

    Attributes:
        at: A datestamp within the window where the second part is to begin, chosen
            among those of its records; None: in the middle of its time.
    """

    at: str | None = None


@dataclass(frozen=True, slots=True)
class ByIdentifier:
    """List the window's identifiers, and get each record that is not there yet."""


@dataclass(frozen=True, slots=True)
class SingleList:
    """Windows do not work here: list everything in one."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Nothing more can be had of this window."""


Remedy = RestartFrom | Split | ByIdentifier | SingleList | GiveUp


class WindowBroken(FetchError):
    """A window cannot be walked further in this way; the pages before are sound.

    Attributes:
        cause: What happened, an exception.
        position: How far it came.
        remedy: What to do with the window.
        request: The request that failed last.
        steps: The rungs that were tried for it.
    """

    def __init__(
        self,
        cause: Exception,
        position: Position,
        remedy: Remedy,
        request: Request,
        steps: tuple[str, ...] = (),
    ) -> None:
        self.cause = cause
        self.position = position
        self.remedy = remedy
        self.request = request
        self.steps = steps
        super().__init__(str(cause))
