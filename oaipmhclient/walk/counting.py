"""Count the identifiers of a whole list: whether it was complete, and which records it lacked.

The identifiers are listed in windows that end at other dates than the list of records did, so
that a list that always ends at the same place is noticed. What it lacked is brought.

Source: OAI-PMH 2.0, section 4.3.
"""

import logging
from array import array
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from oaipmhclient.endpoint import Endpoint
from oaipmhclient.mending.repair import read_headers_mended, read_record_mended
from oaipmhclient.pages.requests_and_pages import get_record_request, list_request
from oaipmhclient.walk.by_identifier import is_within, listed_headers
from oaipmhclient.walk.completeness import CountFinding, Length, ended_alike
from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhclient.walk.identifier_set import IdentifierSet
from oaipmhclient.walk.listed_pages import RECORDS
from oaipmhclient.walk.page_facts import DateSample, are_strictly_outside, headers_of, names_on
from oaipmhclient.walk.recovery import Rung
from oaipmhclient.walk.single_records import AT_ONCE, PendingRecords, get_one
from oaipmhclient.walk.values import GiveUp, ListJob, WalkPage, WindowBroken
from oaipmhclient.walk.whole_lists import whole_list
from oaipmhclient.walk.windows import Window, around, cut_at, number_of, of_at_most
from oaipmhprotocol import (
    CannotDisseminateFormat,
    DatestampError,
    Granularity,
    Header,
    IdDoesNotExist,
    OAIError,
    Record,
    Verb,
)
from oaipmhprotocol.datestamps import format_datestamp
from politeweb.errors import EndpointError, RetryLater

logger = logging.getLogger("OAIPMH Harvester")

MOST_SINGLY = 25
"""Most missing records of a part of a list to get one by one; more are listed."""
_SPLITS, _SPLITS_EACH = 8, 4
"""How often a count is divided, in addition to once for each length of the longest list."""
_NAMED = 10
"""Most records to find that a count lacks and the repository has."""


@dataclass(frozen=True, slots=True)
class Counting:
    """A list whose identifiers are counted.

    Attributes:
        promised: The number of records that the repository promised, or None.
        distinct: The number received.
        longest: The length of the longest list in which they were received.
        last: The length of the list that was followed to its end.
        granularity: Of its windows.
        dates: Some of the datestamps of its records, if known.
        lost: Identifiers in it whose records could not be stored.
        begun: When the repository began to send it, by its own clock.
        held: Returns the records of the list that are in the Silo and not in a set of
            identifiers.
    """

    promised: int | None
    distinct: int
    longest: Length
    granularity: Granularity
    last: Length | None = None
    dates: DateSample = field(default_factory=DateSample)
    lost: Container[str] = frozenset()
    begun: datetime | None = None
    held: Callable[[IdentifierSet], Iterable[str]] = lambda _counted: ()


def settle(
    client: Endpoint,
    job: ListJob,
    known: Container[str],
    quirks: EndpointMemory,
    what: Counting,
) -> Iterator[WalkPage[Record]]:
    """Count the identifiers of a whole list; yield the records that were not received yet.

    They are listed in windows that end at other places than the list, if windows work. If many
    records are missing in a window, ListRecords is used first.

    Args:
        client: The repository.
        job: Format, set and bounds of the list.
        known: Identifiers that are not needed; grows while pages are stored.
        quirks: The endpoint's known habits; updated.
        what: The list.

    Yields:
        Pages with the missing records. The last one's position has the number of
        identifiers, and its steps the findings of the count (`CountFinding`).

    Raises:
        WindowBroken, EndpointError: As `pages_by_identifier` does.
    """
    return _Count(client, job, quirks, what, known=known).pages()


@dataclass(slots=True)
class _ListPart:
    """A part of a list whose identifiers were listed.

    Attributes:
        window: Its bounds.
        last: The number of identifiers on the last page.
        dates: Some of their datestamps.
        granules: All readable datestamps, as numbers of granules.
        missing: The identifiers that are not known.
        alike: Whether it ended at the same length as the list of records.
        is_short: Whether it has fewer than promised.
        is_in_vain: Whether its bounds had no effect.
    """

    window: Window
    listed: int = 0
    pages: int = 0
    last: int = 0
    identifiers: IdentifierSet = field(default_factory=IdentifierSet)
    dates: DateSample = field(default_factory=DateSample)
    granules: "array[int]" = field(default_factory=lambda: array("q"))
    missing: list[Header] = field(default_factory=list)
    alike: bool = False
    is_short: bool = False
    is_in_vain: bool = False

    @property
    def has_many(self) -> bool:
        """Whether so many records are missing that they are listed first."""
        return len(self.missing) > MOST_SINGLY


class _Count:
    """One count of a list's identifiers."""

    def __init__(
        self,
        client: Endpoint,
        job: ListJob,
        quirks: EndpointMemory,
        what: Counting,
        *,
        known: Container[str],
    ) -> None:
        self._client = client
        self._job = job
        self._known = known
        self._quirks = quirks
        self._what = what
        self._whole = Window(job.from_, job.until)
        self._batch = PendingRecords()
        self._counted = IdentifierSet()
        self._brought = IdentifierSet()
        self._longest = what.longest.records
        self._unknown: dict[str, Header] = {}
        self._asked: set[str] = set()
        self._splits = 0
        self._may_cut = quirks.windows_usable
        self._is_elsewhere = True
        self._has_doubts = False
        self._is_whole_begun = False
        is_one_list = what.longest.records >= what.distinct
        self._has_early_end = quirks.ends_early > 0
        self._ends_on_full_page = False
        self._largest_page = quirks.ends_early
        self._believed: list[_ListPart] = []
        self._todo: list[Window | _ListPart] = [*reversed(self._cut(self._whole, what.dates))]
        if not is_one_list or not self._todo:
            self._todo = [self._whole]

    def pages(self) -> Iterator[WalkPage[Record]]:
        while self._todo:
            part = self._todo.pop()
            self._is_whole_begun = self._is_whole_begun or part == self._whole
            try:
                if isinstance(part, _ListPart):
                    yield from self._judged(part)
                else:  # parts are judged when all windows are listed
                    self._todo.insert(0, (yield from self._listed(part)))
            except WindowBroken as broken:
                if part == self._whole:
                    yield from self._broken(broken)
                self._go_whole()
        yield from self._got(list(self._unknown.values()))
        yield from self._flushed()
        if self._counted.lacking(self._brought):
            self._is_elsewhere = False
        lacking = self._lacking()
        remarks = (f"the count of identifiers lacks {', '.join(lacking)}",) if lacking else ()
        steps = (*self._told_of(lacking), *self._findings())
        yield self._batch.page(ended=True, steps=steps, remarks=remarks)

    def _listed(
        self, window: Window, most: int = 0
    ) -> Generator[WalkPage[Record], None, _ListPart]:
        """List a part.

        Args:
            most: The number in the list that was divided into this part and others.
        """
        part, known_before = _ListPart(window), len(self._counted)
        strays = False
        for one in listed_headers(self._client, self._job, window, self._quirks):
            self._take(one, window)
            part.dates.add(one.page.items)
            strays = strays or are_strictly_outside(one.page.items, window)
            part.listed += len(one.page.items)
            if one.page.items:
                part.pages, part.last = part.pages + 1, len(one.page.items)
                self._largest_page = max(self._largest_page, part.last)
            part.identifiers.add_all(header.identifier for header in one.page.items)
            part.granules.extend(self._granules(one.page.items))
            missing_here = [h for h in one.page.items if h.identifier not in self._known]
            part.missing += missing_here
            yield from self._got(h for h in missing_here if h.deleted or not part.has_many)
            part.alike = part.alike or self._ended_alike(one)
            part.is_short = part.is_short or Rung.SHORT.value in one.steps
        self._unknown.update({header.identifier: header for header in part.missing})
        part.is_in_vain = strays and part.listed >= most > 0 and len(self._counted) == known_before
        self._note_early_end([h for h in part.missing if h.identifier not in self._what.lost])
        return part

    def _note_early_end(self, missing: Sequence[Header]) -> None:
        """Note that a list lacked records; for later runs, if they are not newer than the list."""
        begun = self._what.begun
        now = format_datestamp(begun, self._what.granularity) if begun else "9999"
        if any(header.datestamp < now for header in missing):
            self._quirks.ends_early = max(self._quirks.ends_early, self._largest_page)
        if missing and not self._has_early_end:
            self._has_early_end = True
            self._judge_again()

    def _judged(self, part: "_ListPart") -> Iterator[WalkPage[Record]]:
        """Accept a part, or divide it: it was complete if the halves have the same identifiers."""
        yield from self._finished(part)
        is_shown = self._is_shown(part)
        windows = () if is_shown else self._cut(part.window, part.dates)
        if not windows:
            self._is_elsewhere = self._is_elsewhere and is_shown
            self._believed += [part] * is_shown
            if not is_shown and part.pages > 1 and part.last >= self._largest_page:
                self._ends_on_full_page = True
            self._is_elsewhere = self._is_elsewhere and not part.is_short
            return
        self._splits += 1
        yield from self._flushed()
        parts: list[_ListPart] = []
        for window in windows:
            half = yield from self._listed(window, part.listed)
            parts.append(half)
        if any(half.is_in_vain for half in parts):
            self._go_whole()
            return
        if self._hold_the_same(part, parts):
            self._believed.append(part)
            self._is_elsewhere = self._is_elsewhere and not any(one.is_short for one in parts)
            for one in parts:
                yield from self._finished(one)
        else:
            self._todo += reversed(parts)

    def _hold_the_same(self, part: "_ListPart", halves: Sequence["_ListPart"]) -> bool:
        """Whether the halves of a part prove that it did not end early.

        A lost token ends a list after a full page. If the last half ends with a full page, both may
        have been cut off at the same record.
        """
        together = IdentifierSet()
        for half in halves:
            together.add_set(half.identifiers)
        if together.lacking(part.identifiers) or part.identifiers.lacking(together):
            return False
        return not self._has_early_end or halves[-1].last < self._largest_page

    def _is_shown(self, part: "_ListPart") -> bool:
        """Whether a part's length shows that it did not end early like other lists.

        If lists are known to end early, it must be one page, clearly shorter than others, so that
        no token could be lost.
        """
        if part.has_many and part.window == self._whole:
            return False
        if self._has_early_end:
            return part.pages <= 1 and 4 * part.listed <= 3 * self._largest_page
        return not part.alike

    def _judge_again(self) -> None:
        """Judge the parts again that were accepted before lists were known to end early."""
        self._todo += [one for one in self._believed if not self._is_shown(one)]
        self._believed = [one for one in self._believed if self._is_shown(one)]

    def _finished(self, part: "_ListPart") -> Iterator[WalkPage[Record]]:
        """Get the missing records of a part: many by ListRecords, few one by one."""
        asked: list[Window] = []
        windows = self._windows_of_missing(part, part.listed) if part.has_many else []
        while part.has_many and windows != asked:
            before, is_first, asked = len(part.missing), not asked, windows
            yield from self._flushed()
            for window in windows:
                yield from self._records_of(window)
            part.missing = [h for h in part.missing if h.identifier not in self._known]
            if not is_first and len(part.missing) > before // 2:
                break
            windows = self._windows_of_missing(part, self._longest * 3 // 4)
        yield from self._got(part.missing)
        part.missing = []
        yield from self._flushed()

    def _windows_of_missing(self, part: "_ListPart", most: int) -> list[Window]:
        """Return windows of a part with missing records, each with a limited number of records.

        If lists end early, lists shorter than the longest one are complete.
        """
        if not self._may_cut or len(part.granules) < part.listed:
            return [part.window]
        lacking = sorted(self._granules(part.missing))
        granules = sorted(part.granules)
        return list(of_at_most(most, part.window, granules, lacking, self._what.granularity))

    def _granules(self, headers: Iterable[Header]) -> list[int]:
        found = []
        for header in headers:
            with suppress(DatestampError):
                found.append(number_of(header.datestamp, self._what.granularity))
        return found

    def _take(self, listed: WalkPage[Header], window: Window) -> None:
        batch = self._batch
        self._counted.add_all(header.identifier for header in listed.page.items)
        self._has_doubts = self._has_doubts or listed.doubt is not None
        batch.listed = len(self._counted)
        batch.request, batch.answer = listed.request, listed.answer
        if window == self._whole:
            batch.promised = listed.position.promised or batch.promised

    def _ended_alike(self, listed: WalkPage[Header]) -> bool:
        position = listed.position
        length = Length(position.listed, position.pages)
        is_alike = ended_alike(length, self._what.longest)
        return position.ended and (is_alike or self._is_last(length))

    def _is_last(self, length: Length) -> bool:
        last = self._what.last
        return last is not None and 0 < length.records == last.records

    def _cut(self, window: Window, dates: DateSample) -> tuple[Window, ...]:
        length = self._largest_page if self._has_early_end else self._what.longest.records
        allowed = _SPLITS + _SPLITS_EACH * (len(self._counted) // max(1, length))
        if dates.span is None or not self._may_cut or self._splits >= allowed:
            return ()
        granularity = self._what.granularity
        middle = dates.middle(granularity)
        parts = cut_at(window, middle, granularity) if middle is not None else ()
        if parts or not self._may_go_beyond:
            return parts
        return around(window, *dates.span, granularity)

    @property
    def _may_go_beyond(self) -> bool:
        """Whether records of one date may be the beginning of a list with later dates."""
        what = self._what
        return what.longest.pages > 1 or what.distinct < (what.promised or 0)

    def _go_whole(self) -> None:
        """Count the list as a whole, unless that was done: windows do not help."""
        self._todo = [] if self._is_whole_begun else [self._whole]
        self._may_cut = self._is_elsewhere = False

    def _broken(self, broken: WindowBroken) -> Iterator[WalkPage[Record]]:
        """Return the records received, and report that the identifiers cannot be counted."""
        yield from self._flushed()
        self._quirks.identifiers_work = self._quirks.identifiers_work and self._batch.listed > 0
        steps = self._told_of([name for name in self._lacking() if self._is_unlisted(name)])
        raise WindowBroken(
            broken.cause, self._batch.position(ended=False), GiveUp(), broken.request, steps
        ) from broken

    def _records_of(self, window: Window) -> Iterator[WalkPage[Record]]:
        """Yield the records of a part by ListRecords, as far as possible."""
        try:
            for one in whole_list(self._client, RECORDS, self._job, self._quirks, window=window):
                self._batch.pages += 1
                self._brought.add_all(names_on(one.page))
                self._longest = max(self._longest, one.position.listed)
                position = self._batch.position(ended=False)
                yield WalkPage(one.page, one.request, one.answer, position)
        except WindowBroken as broken:
            logger.warning("%s: %s", window, broken)

    def _got(self, headers: Iterable[Header]) -> Iterator[WalkPage[Record]]:
        """Get records one by one, unless they were received meanwhile."""
        for header in headers:
            name = header.identifier
            if name not in self._known and name not in self._asked:
                self._asked.add(name)
                get_one(self._client, header, self._job, self._batch)
            if len(self._batch) >= AT_ONCE:
                yield from self._flushed()

    def _flushed(self) -> Iterator[WalkPage[Record]]:
        """Return the records received since the last page."""
        if len(self._batch):
            yield self._batch.page(ended=False)
            self._batch.clear()

    def _findings(self) -> tuple[str, ...]:
        if self._is_elsewhere and len(self._counted):
            return (CountFinding.ELSEWHERE.value,)
        found = [CountFinding.WIDER.value] if self._promise_is_of_a_wider_list() else []
        is_doubted = self._has_doubts or self._has_early_end
        is_doubted = is_doubted or (self._ends_on_full_page and self._what.promised is None)
        return (*found, CountFinding.DOUBTED.value) if is_doubted else tuple(found)

    def _lacking(self) -> list[str]:
        """Return some records that the Silo and the repository have but no list has.

        They show that the count is too low. Records that GetRecord denies are gone from the list.
        """
        shown = self._counted
        if self._is_elsewhere:
            shown = IdentifierSet()
            for part in self._believed:
                shown.add_set(part.identifiers)
        held = list(self._what.held(shown))
        held = [name for name in held if self._is_unlisted(name)] or held
        found: list[str] = []
        for name in held[:: 1 + len(held) // MOST_SINGLY]:
            if len(found) < _NAMED and self._is_had(name):
                found.append(name)
        if found:
            self._quirks.ends_early = max(self._quirks.ends_early, self._largest_page)
        return found

    def _told_of(self, lacking: Sequence[str]) -> tuple[str, ...]:
        is_unlisted = any(map(self._is_unlisted, lacking))
        told = (CountFinding.UNLISTED.value,) if is_unlisted else ()
        return (CountFinding.LACKING.value, *told) if lacking else ()

    def _is_unlisted(self, name: str) -> bool:
        return name not in self._known and name not in self._what.lost

    def _is_had(self, name: str) -> bool:
        """Whether a record is still in the list, or that is unknown."""
        request = get_record_request(name, self._job.metadata_prefix)
        try:
            page, _ = self._client.exchange(request, read_record_mended)
            page.raise_errors()
        except RetryLater:
            raise
        except (IdDoesNotExist, CannotDisseminateFormat):
            return False
        except (EndpointError, OAIError):
            return True
        headers = headers_of(page)
        return not any(header.deleted or self._is_outside(header) for header in headers)

    def _promise_is_of_a_wider_list(self) -> bool:
        """Whether the list without set and bounds promises as many, and has other records.

        combine#240 always sends the number of the whole repository.
        """
        job, promised = self._job, self._what.promised
        if promised is None or ListJob(job.metadata_prefix) == replace(job, update=False):
            return False
        request = list_request(Verb.LIST_IDENTIFIERS, job.metadata_prefix)
        try:
            page, _ = self._client.exchange(request, read_headers_mended)
        except RetryLater:
            raise
        except (EndpointError, OAIError):
            return False
        size = page.token.complete_list_size if page.token is not None else None
        return size == promised and any(map(self._is_outside, page.items))

    def _is_outside(self, header: Header) -> bool:
        """Whether a record does not belong to the list, by its own header."""
        set_spec = self._job.set_spec
        is_of_others = bool(header.set_specs) and not is_within(header.set_specs, set_spec)
        return (set_spec is not None and is_of_others) or are_strictly_outside(
            [header], self._whole
        )
