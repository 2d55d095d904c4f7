"""Values exchanged between the walk and the engine that stores its pages (pure)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from oaipmhclient.pages.requests_and_pages import ListPage, SetAside, VerbRequest
from oaipmhprotocol import Header, Record
from politeweb.answers import Answer
from politeweb.errors import FetchError

Item = TypeVar("Item", bound=Record | Header)


@dataclass(frozen=True, slots=True)
class ListJob:
    """A list to harvest.

    Attributes:
        metadata_prefix: The format.
        set_spec: Only members of this set.
        from_: Earliest datestamp, as sent.
        until: Latest datestamp, as sent.
        update: Whether it continues an earlier complete harvest.
        owed: Whether it has only records that earlier lists named but could not return.
    """

    metadata_prefix: str
    set_spec: str | None = None
    from_: str | None = None
    until: str | None = None
    update: bool = False
    owed: bool = False

    @property
    def is_all(self) -> bool:
        """Whether it is the whole list of its format and set."""
        return self.from_ is None and self.until is None and not self.owed


@dataclass(frozen=True, slots=True)
class WindowPosition:
    """The progress in a window, which the journal stores after each page.

    Attributes:
        token: For the next page; None for the window's start, or if `ended`.
        pages: Number of pages so far.
        listed: Number of identifiers so far, each counted once per process.
        promised: The largest completeListSize, or None.
        safe_from: A datestamp, in the window's granularity, from which the rest can be
            listed again without loss; None unless the list was sorted so far.
        seen: Some digests of pages; a list that repeats one of them loops.
        sent: Some digests of the tokens sent.
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
        """Return the fields by name, as JSON values."""
        found = {name: getattr(self, name) for name in self.__slots__}
        return {**found, "seen": list(self.seen), "sent": list(self.sent)}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "WindowPosition":
        """Read the values of `to_json`."""
        digests = {name: tuple(found.get(name, ())) for name in ("seen", "sent")}
        return cls(**{**found, **digests})


@dataclass(frozen=True, slots=True)
class WalkPage(Generic[Item]):
    """One page of records or of headers, ready to be stored.

    Attributes:
        page: The page as read; may have no item.
        request: Its request.
        answer: Its response.
        position: The position of the walk after the page is stored.
        steps: The rungs of the ladder that it needed, as counted in the receipt's
            ``repairs``.
        unreachable: Identifiers that are listed but not available.
        remarks: Sentences for the receipt.
        gone: Identifiers that were owed and no longer exist.
        doubt: If the list ended by an unreliable sign: the reason for doubt.
    """

    page: ListPage[Item]
    request: VerbRequest
    answer: Answer
    position: WindowPosition
    steps: tuple[str, ...] = ()
    unreachable: tuple[SetAside, ...] = ()
    remarks: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    doubt: Exception | None = None


@dataclass(frozen=True, slots=True)
class RestartFrom:
    """List the window again from a datestamp; None for the window's own start."""

    datestamp: str | None


@dataclass(frozen=True, slots=True)
class SplitWindow:
    """Walk the window's two parts instead.

    Attributes:
        at: The datestamp of a record in the window at which the second part begins; None for
            the middle of its time.
    """

    at: str | None = None


@dataclass(frozen=True, slots=True)
class ByIdentifier:
    """List the window's identifiers, and get each missing record."""


@dataclass(frozen=True, slots=True)
class SingleList:
    """List everything in one window, because windows do not work."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """End the window: no more of its records are available."""


Remedy = RestartFrom | SplitWindow | ByIdentifier | SingleList | GiveUp


class WindowBroken(FetchError):
    """A window cannot be continued in this way; the pages before are valid.

    Attributes:
        position: The position reached.
        remedy: What to do with the window.
        request: The request that failed last.
        steps: The rungs that were tried for it.
    """

    def __init__(
        self,
        cause: Exception,
        position: WindowPosition,
        remedy: Remedy,
        request: VerbRequest,
        steps: tuple[str, ...] = (),
    ) -> None:
        self.cause = cause
        self.position = position
        self.remedy = remedy
        self.request = request
        self.steps = steps
        super().__init__(str(cause))
