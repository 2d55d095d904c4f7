"""Get a whole list in one thread, without a journal.

The remedies for broken windows are applied one after the other. This is for `Client` and for lists
of identifiers; a harvest does the same with several threads and a journal.

Source: OAI-PMH 2.0, section 3.5, "Flow Control".
"""

import logging
from collections.abc import Callable, Container, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from oaipmhclient.endpoint import Endpoint
from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhclient.walk.identifier_set import IdentifierSet
from oaipmhclient.walk.list_walk import walk_window
from oaipmhclient.walk.listed_pages import ListCutShort, ListKind
from oaipmhclient.walk.page_facts import DateSample, headers_of
from oaipmhclient.walk.values import (
    ByIdentifier,
    Item,
    ListJob,
    RestartFrom,
    SingleList,
    SplitWindow,
    WalkPage,
    WindowBroken,
)
from oaipmhclient.walk.windows import Window, around, cut_at, halves, span
from oaipmhprotocol import Granularity

logger = logging.getLogger("OAIPMH Harvester")

_MOST_REMEDIES = 100
"""Most broken windows of a list before it is given up, in addition to one for each page."""


OneByOne = Callable[[Window, Container[str]], Iterator[WalkPage[Item]]]
"""(window, known identifiers) → pages of unknown records, got one by one."""


def whole_list(
    client: Endpoint,
    reading: ListKind[Item],
    job: ListJob,
    quirks: EndpointMemory,
    *,
    window: Window | None = None,
    one_by_one: OneByOne[Item] | None = None,
) -> Iterator[WalkPage[Item]]:
    """Yield a list page by page, each identifier once.

    Args:
        client: The repository.
        reading: `RECORDS` or `HEADERS`.
        job: Format, set and bounds.
        quirks: The endpoint's known habits; updated.
        window: The part of the list to get; by default all of it.
        one_by_one: Carries out `ByIdentifier`, and finds missing records.

    Raises:
        WindowBroken: A part of the list is not available; its remedy is `GiveUp`, or
            `ByIdentifier` without ``one_by_one``. The pages before are valid.
        EndpointError: The endpoint no longer answers, or requires a long pause.
    """
    known = IdentifierSet()
    whole = window or Window(job.from_, job.until)
    todo = [whole]
    repeated: set[Window] = set()
    remedies = pages = 0
    while todo:
        part = todo.pop()
        short: Exception | None = None
        dates = DateSample()
        try:
            again = part in repeated
            for listed in walk_window(client, reading, job, part, quirks=quirks, again=again):
                pages += 1
                dates.add(headers_of(listed.page))
                yield _only_new(listed, known, is_part=remedies > 0)
                short = listed.doubt if isinstance(listed.doubt, ListCutShort) else None
        except WindowBroken as broken:
            remedies += 1
            repeated.add(part)
            instead = _instead(broken, part, whole, quirks, dates)
            if remedies <= _MOST_REMEDIES + pages and instead:
                todo = instead if isinstance(broken.remedy, SingleList) else [*todo, *instead]
            elif one_by_one is None or not isinstance(broken.remedy, ByIdentifier):
                raise
            else:
                yield from (_only_new(one, known) for one in one_by_one(part, known))
        if short is not None:
            yield from _rest(short, part, known, one_by_one)


def _rest(
    short: Exception, part: Window, known: IdentifierSet, one_by_one: OneByOne[Item] | None
) -> Iterator[WalkPage[Item]]:
    """Yield the missing records of a list, unless the promised number was wrong."""
    if one_by_one is None:
        return
    try:
        yield from (_only_new(one, known) for one in one_by_one(part, known))
    except WindowBroken as broken:
        logger.warning("%s, and its identifiers do not tell what is missing: %s", short, broken)


def _only_new(
    listed: WalkPage[Item], known: IdentifierSet, *, is_part: bool = True
) -> WalkPage[Item]:
    """Return a page without items received before.

    It is not an error if a part of the list is empty or has nothing new.
    """
    page = listed.page
    are_new = known.add_all(header.identifier for header in headers_of(page))
    if all(are_new) and not (is_part and page.errors):
        return listed
    items = tuple(item for item, is_new in zip(page.items, are_new, strict=True) if is_new)
    return replace(listed, page=replace(page, items=items, errors=()))


def _instead(
    broken: WindowBroken, window: Window, whole: Window, quirks: EndpointMemory, dates: DateSample
) -> list[Window]:
    """Return the windows to walk instead of a broken one, the last first; none to give up.

    Args:
        broken: The error, with its remedy.
        whole: The window of the whole list.
        quirks: The endpoint's known habits.
        dates: The datestamps of the records received.
    """
    match broken.remedy:
        case RestartFrom(datestamp):
            return [Window(datestamp or window.from_, window.until)]
        case SplitWindow(at):
            granularity = _granularity(window, broken, quirks)
            first, last = span("", datetime.now(UTC))
            parts = cut_at(window, at, granularity) if at is not None else ()
            if not parts and dates.span is not None:
                parts = around(window, *dates.span, granularity)
            return [*reversed(parts or halves(window, first, last, granularity))]
        case SingleList():
            return [whole]
        case _:
            return []


def _granularity(window: Window, broken: WindowBroken, quirks: EndpointMemory) -> Granularity:
    bound = window.from_ or window.until or broken.position.safe_from
    return Granularity.of(bound) if bound else quirks.granularity or Granularity.DAY
