"""One record by GetRecord, and what came of several as a page of the walk.

Source: OAI-PMH 2.0, section 4.1.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from oaipmhclient.endpoint import Endpoint
from oaipmhclient.mending.repair import read_record_mended
from oaipmhclient.pages.requests_and_pages import (
    ListPage,
    SetAside,
    VerbRequest,
    get_record_request,
    identify_request,
)
from oaipmhclient.walk.endpoint_checks import check_alive
from oaipmhclient.walk.page_facts import headers_of
from oaipmhclient.walk.values import ListJob, WalkPage, WindowPosition
from oaipmhprotocol import Header, IdDoesNotExist, OAIError, Record
from politeweb.answers import Answer
from politeweb.errors import EndpointError, RetryLater, shortened

logger = logging.getLogger("OAIPMH Harvester")

AT_ONCE = 25
"""Number of records got one by one that are returned as a page."""

T = TypeVar("T")
R = TypeVar("R")


class Together(Protocol):
    """Asks for several things whose order does not matter, perhaps at once."""

    def __call__(self, ask: Callable[[Endpoint, T], R], about: Sequence[T]) -> Sequence[R]:
        """Return the result of ``ask`` for each; raise its first failure."""


def one_after_the_other(client: Endpoint) -> Together:
    """Return a `Together` with one client."""

    def asked(ask: Callable[[Endpoint, T], R], about: Sequence[T]) -> Sequence[R]:
        return [ask(client, one) for one in about]

    return asked


@dataclass(slots=True)
class PendingRecords:
    """The records since the last page, and the position in the list of identifiers."""

    listed: int = 0
    pages: int = 0
    promised: int | None = None
    request: VerbRequest = field(default_factory=identify_request)
    answer: Answer = field(default_factory=lambda: Answer(b"", ""))
    records: list[Record] = field(default_factory=list)
    mended: dict[int, tuple[str, ...]] = field(default_factory=dict)
    repairs: dict[str, int] = field(default_factory=dict)
    set_aside: list[SetAside] = field(default_factory=list)
    unreachable: list[SetAside] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    denied: bool = False
    doubts: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.records) + len(self.set_aside) + len(self.unreachable) + len(self.gone)

    def position(self, *, ended: bool) -> WindowPosition:
        return WindowPosition(None, self.pages, self.listed, self.promised, ended=ended)

    def page(
        self, *, ended: bool, steps: tuple[str, ...] = (), remarks: tuple[str, ...] = ()
    ) -> WalkPage[Record]:
        self.pages += 1
        page = ListPage(
            tuple(self.records),
            set_aside=tuple(self.set_aside),
            repairs=dict(self.repairs),
            mended=dict(self.mended),
        )
        position = self.position(ended=ended)
        return WalkPage(
            page,
            self.request,
            self.answer,
            position,
            (*self.doubts, *steps) if ended else (),
            tuple(self.unreachable),
            remarks,
            tuple(self.gone),
        )

    def clear(self) -> None:
        for each in (self.records, self.set_aside, self.unreachable, self.gone):
            each.clear()
        self.mended.clear()
        self.repairs.clear()

    def take(self, page: ListPage[Record]) -> None:
        begin = len(self.records)
        self.records += page.items
        self.mended.update({begin + place: kinds for place, kinds in page.mended.items()})
        self.set_aside += page.set_aside
        for kind, count in page.repairs.items():
            self.repairs[kind] = self.repairs.get(kind, 0) + count


@dataclass(frozen=True, slots=True)
class _Single:
    """What came of a request for one record.

    Attributes:
        header: As listed.
        page: The page with the record; None if there is none.
        answer: The response that has it.
    """

    header: Header
    request: VerbRequest
    page: ListPage[Record] | None = None
    answer: Answer | None = None
    error: Exception | None = None


def get_one(client: Endpoint, header: Header, job: ListJob, batch: PendingRecords) -> None:
    """Add one record to the batch, or note why it is not available."""
    get_several([header], job, batch, one_after_the_other(client))


def get_several(
    headers: Sequence[Header],
    job: ListJob,
    batch: PendingRecords,
    together: Together,
) -> None:
    """Add records to the batch, in the order given, or note why they are not available.

    Raises:
        EndpointError: The endpoint no longer answers, or requires a long pause; none is added.
    """

    def ask(client: Endpoint, header: Header) -> _Single:
        return _asked(client, header, job)

    singles = iter(together(ask, [header for header in headers if not header.deleted]))
    for header in headers:
        if header.deleted:
            batch.records.append(Record(header))
        else:
            _add(batch, next(singles))


def _asked(client: Endpoint, header: Header, job: ListJob) -> _Single:
    request = get_record_request(header.identifier, job.metadata_prefix)
    try:
        page, answer = client.exchange(request, read_record_mended)
        page.raise_errors()
    except RetryLater:
        raise
    except (EndpointError, OAIError) as error:
        if isinstance(error, EndpointError):
            check_alive(client, error)
        return _Single(header, request, error=error)
    return _Single(header, request, page, answer)


def _add(batch: PendingRecords, got: _Single) -> None:
    header, error = got.header, got.error
    batch.denied = isinstance(error, IdDoesNotExist)
    if got.page is None or got.answer is None:
        logger.warning("%s is not available: %s", shortened(header.identifier), error)
        batch.unreachable.append(_lost(header, f"is not available: {error}", got.request))
        return
    batch.request, batch.answer = got.request, got.answer
    if lack := _lack(got.page, header):
        batch.unreachable.append(_lost(header, lack, got.request))
    else:
        batch.take(got.page)


def _lack(page: ListPage[Record], header: Header) -> str:
    """Return why a response to GetRecord does not have the record; empty if it has."""
    if not page.items and not page.set_aside:
        return "is answered without a record"
    others = [one.identifier for one in headers_of(page) if one.identifier != header.identifier]
    return f"is answered with another record, {others[0]}" if others else ""


def _lost(header: Header, reason: str, request: VerbRequest) -> SetAside:
    return SetAside(header.identifier, reason, str(request))
