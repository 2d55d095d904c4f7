"""The records of a window one by one: ListIdentifiers, then GetRecord for each.

The last way to what a list cannot bring: a poisoned record on a page (datacite#941), a
page that is always cut short, a list that ends early. It also settles how many records
there are where a list promised nothing.

Source: OAI-PMH 2.0, sections 4.1 and 4.3.
"""

import logging
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from oaipmhprotocol import BadArgument, Header, OAIError, Record
from oaipmhscraper.errors import EndpointError, RetryLater
from oaipmhscraper.marks import ListJob
from oaipmhscraper.quirks import Quirks
from oaipmhscraper.repair import read_record_mended
from oaipmhscraper.requests_and_pages import (
    ListPage,
    Request,
    SetAside,
    get_record_request,
    identify_request,
)
from oaipmhscraper.transport.http_rules import Answer
from oaipmhscraper.walk.endpoint_checks import check_alive
from oaipmhscraper.walk.listed_pages import HEADERS, ListedPage
from oaipmhscraper.walk.page_facts import headers_of
from oaipmhscraper.walk.values import GiveUp, Position, SingleList, WalkPage, WindowBroken
from oaipmhscraper.whole_lists import whole_list
from oaipmhscraper.windows import Window

if TYPE_CHECKING:
    from oaipmhscraper.client import Client

logger = logging.getLogger("OAIPMH Harvester")

AT_ONCE = 25
"""Records got one by one that are handed over as a page."""

ReadRecord = Callable[[bytes], ListPage[Record]]


def pages_by_identifier(
    client: "Client",
    job: ListJob,
    window: Window,
    known: Container[str],
    quirks: Quirks,
    *,
    read: ReadRecord = read_record_mended,
) -> Iterator[WalkPage]:
    """Yield the records of a window that are not known yet, in small pages.

    The position counts all identifiers listed, known or not; its last has `ended`, and
    the steps of its last page say on what weak grounds the identifiers were taken to be
    all there are.
    It cannot be resumed from: begin again, with what is stored among the known.
    Deleted records are taken from their headers, without a request.

    Args:
        client: The way to the repository.
        job: Format and set; its bounds tell whether the window is a part of the list.
        window: The bounds sent.
        known: Identifiers that need not be got.
        quirks: What the endpoint needs; learned from and added to.
        read: Reads the answers to GetRecord.

    Raises:
        WindowBroken: The identifiers cannot be listed to their end; `GiveUp`, or
            `SingleList` for a window whose dates both verbs refuse. The pages before
            are sound.
        EndpointError: The endpoint is not there any more, or asks for a long pause.
    """
    batch = _Batch()
    try:
        for listed in listed_headers(client, job, window, quirks):
            batch.listed += len(listed.page.items)
            batch.promised = listed.position.promised or batch.promised
            batch.request, batch.answer = listed.request, listed.answer
            if listed.doubt is not None:
                batch.doubts += listed.steps
            for header in listed.page.items:
                if header.identifier not in known:
                    _get(client, header, job, read, batch)
                if len(batch) >= AT_ONCE:
                    yield batch.page(ended=False)
                    batch.clear()
    except WindowBroken as broken:
        if len(batch):
            yield batch.page(ended=False)
        remedy = _instead(broken.cause, job, window, quirks)
        if isinstance(remedy, GiveUp):
            quirks.identifiers_work = quirks.identifiers_work and batch.listed > 0
        raise WindowBroken(
            broken.cause, batch.position(ended=False), remedy, broken.request
        ) from broken
    yield batch.page(ended=True)


def _instead(cause: Exception, job: ListJob, window: Window, quirks: Quirks) -> GiveUp | SingleList:
    """What is left to try where a window's identifiers cannot be listed.

    dataverse#9309 answers later windows and refuses every ``from`` before its own start,
    in both verbs; without bounds it lists everything.
    """
    is_whole = window == Window(job.from_, job.until)
    if is_whole or not isinstance(cause, BadArgument):
        return GiveUp()
    quirks.windows_work = False
    return SingleList()


def settle(
    client: "Client",
    job: ListJob,
    known: Container[str],
    quirks: Quirks,
    *,
    read: ReadRecord = read_record_mended,
) -> Iterator[WalkPage]:
    """`pages_by_identifier` of a whole list: what it lists, and has not brought yet.

    The last position's ``listed`` is how many identifiers there are. See `completeness`
    for when this is worth its requests.
    """
    window = Window(job.from_, job.until)
    return pages_by_identifier(client, job, window, known, quirks, read=read)


def listed_headers(
    client: "Client", job: ListJob, window: Window, quirks: Quirks
) -> Iterator[ListedPage[Header]]:
    """Yield the headers of a window, page by page, each identifier once.

    A repository that knows sets in ListRecords only (DataCite, dataverse#10936) refuses
    such a list, or has nothing in it; it is then asked for all headers, and those that
    name the set are taken.

    Raises:
        WindowBroken, EndpointError: As `whole_lists.whole_list` does.
    """
    is_begun = False
    try:
        for listed in whole_list(client, HEADERS, job, quirks, window=window):
            is_begun = is_begun or bool(listed.page.items)
            yield listed
    except WindowBroken:
        if is_begun or job.set_spec is None:
            raise
    if job.set_spec is not None and not is_begun:
        everything = replace(job, set_spec=None)
        for listed in whole_list(client, HEADERS, everything, quirks, window=window):
            yield _of_set(listed, job.set_spec)


def _of_set(listed: ListedPage[Header], set_spec: str) -> ListedPage[Header]:
    """The headers that name a set, or one within it (section 2.6)."""
    items = tuple(
        header
        for header in listed.page.items
        if any(f"{spec}:".startswith(f"{set_spec}:") for spec in header.set_specs)
    )
    return replace(listed, page=replace(listed.page, items=items))


@dataclass(slots=True)
class _Batch:
    """What was got since the last page, and how far the list of identifiers has come."""

    listed: int = 0
    pages: int = 0
    promised: int | None = None
    request: Request = field(default_factory=identify_request)
    answer: Answer = field(default_factory=lambda: Answer(b"", ""))
    records: list[Record] = field(default_factory=list)
    mended: dict[int, tuple[str, ...]] = field(default_factory=dict)
    repairs: dict[str, int] = field(default_factory=dict)
    set_aside: list[SetAside] = field(default_factory=list)
    unreachable: list[SetAside] = field(default_factory=list)
    doubts: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.records) + len(self.set_aside) + len(self.unreachable)

    def position(self, *, ended: bool) -> Position:
        return Position(None, self.pages, self.listed, self.promised, ended=ended)

    def page(self, *, ended: bool) -> WalkPage:
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
            self.doubts if ended else (),
            tuple(self.unreachable),
        )

    def clear(self) -> None:
        for each in (self.records, self.set_aside, self.unreachable):
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


def _get(client: "Client", header: Header, job: ListJob, read: ReadRecord, batch: _Batch) -> None:
    """Get one record into the batch, or note why it cannot be had."""
    if header.deleted:
        batch.records.append(Record(header))
        return
    request = get_record_request(header.identifier, job.metadata_prefix)
    try:
        page, answer = client.exchange(request, read)
        page.raise_errors()
        batch.request, batch.answer = request, answer
    except RetryLater:
        raise
    except (EndpointError, OAIError) as error:
        if isinstance(error, EndpointError):
            check_alive(client, error)
        logger.warning("%s cannot be had: %s", header.identifier, error)
        batch.unreachable.append(_lost(header, f"cannot be had: {error}", request))
        return
    if lack := _lack(page, header):
        batch.unreachable.append(_lost(header, lack, request))
    else:
        batch.take(page)


def _lack(page: ListPage[Record], header: Header) -> str:
    """Why an answer to GetRecord is not the record asked for; empty where it is."""
    if not page.items and not page.set_aside:
        return "is answered without a record"
    others = [one.identifier for one in headers_of(page) if one.identifier != header.identifier]
    return f"is answered with another record, {others[0]}" if others else ""


def _lost(header: Header, reason: str, request: Request) -> SetAside:
    return SetAside(header.identifier, reason, str(request))
