"""Get the records of a window one by one: ListIdentifiers, then GetRecord for each.

This is the last way to get records that a list cannot return: because of a broken record on a page
(datacite#941), a page that is always cut short, or a list that ends early. `counting` uses it
to find out what a list lacked.

Source: OAI-PMH 2.0, sections 4.1 and 4.3.
"""

import logging
from collections.abc import Container, Iterable, Iterator
from dataclasses import replace

from oaipmhclient.endpoint import Endpoint
from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhclient.walk.listed_pages import HEADERS
from oaipmhclient.walk.single_records import (
    AT_ONCE,
    PendingRecords,
    Together,
    get_one,
    get_several,
    one_after_the_other,
)
from oaipmhclient.walk.values import GiveUp, ListJob, SingleList, WalkPage, WindowBroken
from oaipmhclient.walk.whole_lists import whole_list
from oaipmhclient.walk.windows import Window
from oaipmhprotocol import BadArgument, Header, Record
from politeweb.errors import EndpointError, RetryLater

logger = logging.getLogger("OAIPMH Harvester")


def pages_by_identifier(
    client: Endpoint,
    job: ListJob,
    window: Window,
    known: Container[str],
    quirks: EndpointMemory,
    *,
    together: Together | None = None,
) -> Iterator[WalkPage[Record]]:
    """Yield the records of a window that are not known yet, in small pages.

    The position counts all identifiers listed, known or not. The last one has `ended`, and the
    `steps` of the last page name the heuristics by which the list of identifiers counts as
    complete. It cannot be resumed: begin again, with the stored records among the known ones.
    Deleted records are made from their headers, without a request.

    Args:
        client: The repository.
        job: Format and set; its bounds show whether the window is a part of the list.
        window: The bounds sent.
        known: Identifiers that are not needed.
        quirks: The endpoint's known habits; updated.
        together: Requests several records; by default one after the other.

    Raises:
        WindowBroken: The identifiers cannot be listed completely; with `GiveUp`, or
            `SingleList` if both verbs refuse the window's dates. The pages before are valid.
        EndpointError: The endpoint no longer answers, or requires a long pause.
    """
    batch = PendingRecords()
    try:
        for listed in listed_headers(client, job, window, quirks):
            batch.listed += len(listed.page.items)
            batch.promised = listed.position.promised or batch.promised
            batch.request, batch.answer = listed.request, listed.answer
            if listed.doubt is not None:
                batch.doubts += listed.steps
            wanted = [one for one in listed.page.items if one.identifier not in known]
            while wanted:
                some, wanted = _parted(wanted, AT_ONCE - len(batch))
                get_several(some, job, batch, together or one_after_the_other(client))
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


def _parted(items: list[Header], most: int) -> tuple[list[Header], list[Header]]:
    return items[:most], items[most:]


def _instead(
    cause: Exception, job: ListJob, window: Window, quirks: EndpointMemory
) -> GiveUp | SingleList:
    """Return the remedy if a window's identifiers cannot be listed.

    dataverse#9309 answers later windows and refuses every ``from`` before its own start,
    in both verbs; without bounds it lists everything.
    """
    is_whole = window == Window(job.from_, job.until)
    if is_whole or not isinstance(cause, BadArgument):
        return GiveUp()
    quirks.windows_work = False
    return SingleList()


def pages_again(
    client: Endpoint, job: ListJob, identifiers: Iterable[str]
) -> Iterator[WalkPage[Record]]:
    """Yield records that were set aside or not available, requested again one by one.

    Records that an earlier harvest lacked and GetRecord denies are reported as gone. If the
    endpoint no longer answers, this ends, and the remaining records stay lost.

    Raises:
        RetryLater: The endpoint requires a long pause.
    """
    batch = PendingRecords()
    try:
        for identifier in identifiers:
            get_one(client, Header(identifier, ""), job, batch)
            if job.owed and batch.denied:
                batch.gone.append(batch.unreachable.pop().identifier)
            if len(batch) >= AT_ONCE:
                yield batch.page(ended=False)
                batch.clear()
    except RetryLater:
        raise
    except EndpointError as error:
        logger.warning("records set aside are not requested again: %s", error)
    yield batch.page(ended=True)


def listed_headers(
    client: Endpoint, job: ListJob, window: Window, quirks: EndpointMemory
) -> Iterator[WalkPage[Header]]:
    """Yield the headers of a window, page by page, each identifier once.

    Some repositories support sets in ListRecords only (DataCite, dataverse#10936), and refuse
    this list or return an empty one. Then all headers are listed, and those that name the set
    are used.

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


def _of_set(listed: WalkPage[Header], set_spec: str) -> WalkPage[Header]:
    items = tuple(one for one in listed.page.items if is_within(one.set_specs, set_spec))
    return replace(listed, page=replace(listed.page, items=items))


def is_within(set_specs: Iterable[str], set_spec: str | None) -> bool:
    """Whether one of several sets is a given set, or is within it (section 2.6)."""
    return any(f"{spec}:".startswith(f"{set_spec}:") for spec in set_specs)
