"""Harvest one list: window → pages → store → journal (OAI-PMH 2.0, section 3.5).

A page is committed before the journal is updated and before the next page of its window is
requested. After any failure, earlier pages are kept, and the next run continues there.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from oaipmhclient.concurrency import Concurrency
from oaipmhclient.fetchers import Fetchers, FetchResult, Walk, Woken
from oaipmhclient.light_pages import read_lightly, read_well_formed_lightly
from oaipmhclient.mending.repair import read_records_to_store
from oaipmhclient.mending.undated import dated
from oaipmhclient.pages.requests_and_pages import ListPage, VerbRequest, list_request
from oaipmhclient.walk.by_identifier import pages_again, pages_by_identifier
from oaipmhclient.walk.completeness import reason_to_count
from oaipmhclient.walk.counting import Counting, settle
from oaipmhclient.walk.denied_windows import ANY_LENGTH, Doubted, find_length
from oaipmhclient.walk.identifier_set import IdentifierSet
from oaipmhclient.walk.list_walk import walk_window
from oaipmhclient.walk.listed_pages import AskedInVain, ListKind
from oaipmhclient.walk.page_facts import DateSample, headers_of, span_of
from oaipmhclient.walk.values import GiveUp, WalkPage, WindowBroken
from oaipmhclient.walk.windows import Sight
from oaipmhprotocol import Header, OAIError, Record, Verb
from oaipmhprotocol.queries import with_short_tokens
from oaipmhprotocol.words import Argument
from oaipmhscraper.errors import ScraperError
from oaipmhscraper.interrupts import interrupt_deferred
from oaipmhscraper.lists.empty_windows import days_answered, doubtful, limited
from oaipmhscraper.lists.journal_rows import AGAIN, COUNT, DENIED, LIST, SINGLY, WindowRow
from oaipmhscraper.lists.list_state import ListState
from oaipmhscraper.lists.storing_apart import MOST_AHEAD, Apart, StoringApart
from oaipmhscraper.lists.window_changes import (
    WindowChange,
    WindowsPlace,
    cut_by_sight,
    joined,
    remedied,
    shortened,
)
from oaipmhscraper.options import HarvestOptions
from oaipmhscraper.receipt import ListReceipt
from oaipmhscraper.storing.fetched_pages import Stored, store_fetched
from oaipmhscraper.storing.quarantine import Quarantine, QuarantineOrigin
from oaipmhscraper.storing.silo_writer import PageOutcome, PageStore
from oaipmhscraper.storing.sweep import harvested_records
from politeweb.errors import RequestRefused
from recordsilo import Silo

logger = logging.getLogger("OAIPMH Harvester")

MOST_IN_VAIN, VAIN_EACH = 100, 2
"""Most broken windows of a list, in addition to one for each page with new records."""

Progress = Callable[[ListReceipt], None]
"""Called with the receipt so far, after every page and at the end."""


@dataclass(frozen=True, slots=True)
class ListEnd:
    """The end of a list.

    Attributes:
        receipt: Its receipt.
        failure: What stopped it: an error, KeyboardInterrupt, or None at its end.
        request: The request that failed.
    """

    receipt: ListReceipt
    failure: BaseException | None = None
    request: VerbRequest | None = None


@dataclass(slots=True)
class _Seen:
    """The pages of a window in this run, summarized."""

    pages: int = 0
    seconds: float = 0.0
    span: tuple[datetime, datetime] | None = None

    def add(self, headers: Sequence[Header], seconds: float) -> None:
        self.pages += 1
        self.seconds += seconds
        dates = [*(self.span or ()), *(span_of(headers) or ())]
        self.span = (min(dates), max(dates)) if dates else None


class ListHarvest:
    """Fetches and stores one list, as far as possible.

    Args:
        state: The list in the journal.
        options: Of the harvest.
        silo: Has the records of earlier harvests.
        store: Stores the pages, in the thread that calls `run`.
        quarantine: Keeps records set aside, before their page is noted as stored.
        apart: Whether a second process stores a long list.
        fetchers: The fetching threads.
        concurrency: As earlier lists left it.
        place: How its windows may be split.
        progress: Called after every page.

    Attributes:
        concurrency: The limit of parallel requests.
    """

    def __init__(
        self,
        state: ListState,
        options: HarvestOptions,
        *,
        silo: Silo,
        store: PageStore,
        quarantine: Quarantine,
        apart: Apart,
        fetchers: Fetchers,
        concurrency: Concurrency,
        place: WindowsPlace,
        progress: Progress,
    ) -> None:
        self._state = state
        self._options = options
        self._silo = silo
        self._store = store
        self._quarantine = quarantine
        self._when_apart = apart
        self._fetchers = fetchers
        self.concurrency = concurrency
        self._place = place
        self._progress = progress
        self._apart: StoringApart | None = None
        self._waited = self._stored = 0.0
        self._kept_back: deque[FetchResult] = deque()
        self._seen: dict[int, _Seen] = {}
        self._dates = DateSample()
        self._flying: dict[int, int] = {}  # window → how many requests it may have in flight
        self._parked: list[int] = []
        self._empties = self._longest_empty = 0
        self._failure: BaseException | None = None
        self._request: VerbRequest | None = None
        self._stopping = False
        self._vain = 0
        self._fruitful = state.pages

    def run(self) -> ListEnd:
        """Fetch and store to the end, or as far as possible.

        Errors of the repository, and Ctrl-C, are returned with the receipt; a page that is being
        stored is finished first. Errors of the store and of the disk are raised.

        Raises:
            RequestRefused: The arguments of the list are invalid.
            RecordSiloError, OSError: Nothing of the page is stored.
        """
        self._state.take_up(self._where)
        try:
            self._store_what_is_fetched()
            self._fetch_all()
            while self._failure is None and self._doubts_what_is_empty():
                self._fetch_all()
            if self._failure is None and self._is_to_be_counted():
                self._fetch_all()
            if self._failure is None and self._state.ask_again(self._options.again):
                self._fetch_all()
            self._end_storing()
        except KeyboardInterrupt as interrupt:
            self._failure = interrupt
            with suppress(KeyboardInterrupt):  # a second one does not wait
                self._end_storing()
        finally:
            if self._apart is not None:
                self._apart.close()
        return self._end()

    def _fetch_all(self) -> None:
        self._begin_more()
        while self._flying or self._state.to_store:
            self._take(self._kept_back.popleft() if self._kept_back else self._fetchers.next())
            self._begin_more()

    def _doubts_what_is_empty(self) -> bool:
        """Whether to find out if long windows are denied, or to request shorter ones, if so."""
        quirks, place = self._state.quirks, self._where
        if quirks.answered_days < ANY_LENGTH:
            answered = days_answered(self._state.windows, place)
            quirks.answered_days = max(quirks.answered_days, answered)
        found = doubtful(self._state.windows, place, quirks) if place.may_cut else []
        if not found:
            return False
        self._longest_empty = max(days for _, days in found)
        if not quirks.window_days:
            return self._state.doubt_empty_windows()
        changes = [change for row, _ in found if (change := shortened(row, place))]
        for change in changes:
            self._state.change(change)
        return bool(changes)

    @property
    def _doubted(self) -> Doubted:
        place, span = self._where, self._dates.span
        known = None if span is None else span[0]
        days = min(self._longest_empty, (place.last - place.first).days + 1)
        return Doubted(days, place.granularity, place.first, place.last, known)

    def _is_to_be_counted(self) -> bool:
        """Whether to list the identifiers, to check that the list is complete."""
        state = self._state
        if not self._options.count or not state.ended or state.counted or state.job.owed:
            return False
        reason = reason_to_count(state.listed_so_far, self._state.quirks)
        if not reason and self._lacks_what_is_held():
            reason = "the Silo holds records that were not listed"
        if reason:
            self._state.count_identifiers(reason)
        return bool(reason)

    def _lacks_what_is_held(self) -> bool:
        """Whether a list that may be incomplete lacks records of the Silo."""
        listed, quirks, job = self._state.listed_so_far, self._state.quirks, self._state.job
        is_believed = listed.distinct > 0 and quirks.identifiers_work and not quirks.ends_early
        if is_believed or job.from_ is not None or job.until is not None:
            return False
        return any(True for _ in harvested_records(self._silo, [job], self._state.listed.known))

    @property
    def _where(self) -> WindowsPlace:
        """Return the place of the windows, by what is known about the repository now."""
        quirks = self._state.quirks
        place = limited(self._place, quirks)
        may_cut = place.may_cut and quirks.windows_work and not self._state.facts.single
        return replace(
            place,
            may_cut=may_cut,
            granularity=quirks.granularity or place.granularity,
            last=max(place.last, self._state.facts.response_date or place.last),
        )

    # ------------------------------------------------------------------ requests

    def _begin_more(self) -> None:
        """Keep as many requests in flight as the limit allows."""
        most = self.concurrency.limit
        while not self._stopping and self._in_flight < most:
            if len(self._state.to_store) >= MOST_AHEAD:
                return
            if self._parked:
                number = self._parked.pop(0)
                share = self._share_of(self._state.window(number))
                self._fetchers.go_on(number, share)
            else:
                row = self._next_window()
                if row is None:
                    return
                number, share = row.id, self._share_of(row)
                self._fetchers.begin(number, self._walk(row), share)
            self._flying[number] = share

    @property
    def _in_flight(self) -> int:
        return sum(self._flying.values())

    def _share_of(self, row: WindowRow | None) -> int:
        """Return how many requests the next step of a window may have in flight.

        Only records that are requested one by one have no order; they get what no other window
        needs.
        """
        if row is None or row.mode not in SINGLY:
            return 1
        others = len(self._state.open_windows(without=[*self._flying, row.id]))
        return max(1, self.concurrency.limit - self._in_flight - others)

    def _next_window(self) -> WindowRow | None:
        waiting = self._state.open_windows(without=[*self._flying, *self._parked])
        if not waiting:
            return None
        is_limited = self._state.quirks.window_days > 0
        empties = 0 if is_limited else self._empties
        count = joined(waiting, empties, self._where.granularity)
        row = waiting[0] if count == 1 else self._state.join(waiting[:count])
        return self._state.begin_with_identifiers(row) if self._comes_by_identifier(row) else row

    def _comes_by_identifier(self, row: WindowRow) -> bool:
        """Whether ListRecords is not tried for a window that has not begun."""
        quirks = self._state.quirks
        is_wanted = self._options.identifiers_first and quirks.identifiers_work
        is_new = row.mode == LIST and row.position is None and not row.note
        return is_new and (is_wanted or quirks.lists_are_dead)

    @property
    def _counting(self) -> Counting:
        counts, longest = self._state.counts, self._state.longest
        granularity = self._where.granularity
        return Counting(
            counts.promised,
            counts.distinct,
            longest,
            granularity,
            self._state.last,
            self._dates,
            lost=self._state.listed.lost,
            begun=self._state.facts.response_date,
            held=self._held_without,
        )

    def _held_without(self, counted: IdentifierSet) -> Iterator[str]:
        """Return the records of the list that are in the Silo and not in a set of identifiers.

        For a list with dates, these are some of the records that it had.
        """
        job, known = self._state.job, self._state.listed.known
        has_dates = job.from_ is not None or job.until is not None
        if has_dates and not counted.lacking(known):
            return
        for name in harvested_records(self._silo, [job], counted):
            if not has_dates or name in known:
                yield name

    def _walk(self, row: WindowRow) -> Walk:
        job, quirks, window = self._state.job, self._state.quirks, row.window
        stored = self._state.listed.stored
        if row.mode == COUNT:
            what = self._counting
            return lambda client, _: settle(client, job, stored, quirks, what)
        if row.mode == AGAIN:
            lost = self._state.lost_by_name(self._options.again)
            return lambda client, _: pages_again(client, job, lost)
        if row.mode == DENIED:
            doubted = self._doubted
            return lambda client, _: find_length(client, job, quirks, doubted)
        if row.mode != LIST:
            return lambda client, together: pages_by_identifier(
                client, job, window, stored, quirks, together=together
            )
        kind, again = ListKind(Verb.LIST_RECORDS, self._read_page), row.restarts > 0
        return lambda client, _: walk_window(
            client, kind, job, window, row.position, quirks=quirks, again=again
        )

    def _read_page(self, body: bytes) -> ListPage[Record]:
        """Read a page, as far as is needed here; called in the fetching threads."""
        if self._apart is not None:
            return read_well_formed_lightly(body)
        return read_lightly(body) if self._options.pages_only else read_records_to_store(body)

    # ------------------------------------------------------------------ responses

    def _take(self, found: FetchResult | Woken) -> None:
        if isinstance(found, Woken):
            self._take_answers()
            return
        if self._needs_what_is_stored(found):
            self._await_storing()
        self._flying.pop(found.window, None)
        row = self._state.window(found.window)
        self._adjust_concurrency(found, row)
        if row is None or row.state != "open":  # it was replaced meanwhile
            if found.page is not None:
                self._fetchers.drop(found.window)
        elif found.page is not None:
            self._take_page(row, found.page, found.seconds)
        elif found.failure is None:
            self._state.finish(row)
        else:
            self._take_failure(row, found.failure)

    def _adjust_concurrency(self, found: FetchResult, row: WindowRow | None) -> None:
        if found.refused:
            self.concurrency = self.concurrency.after_refusal()
        elif found.page is not None and row is not None and row.mode in SINGLY:
            self.concurrency = self.concurrency.after_singles(found.seconds / found.answers)
        elif found.page is not None:
            self.concurrency = self.concurrency.after_page(found.seconds)

    def _take_page(self, row: WindowRow, found: WalkPage[Record], seconds: float) -> None:
        is_apart = self._is_for_second_process(row, found)
        found = replace(found, page=dated(found.page, found.answer.received))
        with interrupt_deferred():
            began = time.monotonic()
            row = self._give_away(row, found) if is_apart else self._store_here(row, found)
            self._waited += seconds
            self._stored += time.monotonic() - began
            headers = headers_of(found.page)
            self._seen.setdefault(row.id, _Seen()).add(headers, seconds)
            self._dates.add(headers)
            change = None if row.state == "done" else self._cut(row, found)
            if change is not None:
                self._state.change(change)
            if change is not None or row.state == "done":
                self._fetchers.drop(row.id)
                self._note_size(row)
            else:
                self._parked.append(row.id)
            self._tell()
        if self._when_apart.pays(self._state.distinct, self._waited, self._stored):
            self._begin_storing_apart()

    def _store_here(self, row: WindowRow, found: WalkPage[Record]) -> WindowRow:
        received = found.answer.received
        stored = self._store.store(found.page, received)
        self._set_aside(found.page, stored, str(found.request), received)
        known = self._state.distinct
        row = self._state.keep(row, found, stored)
        self._fruitful += self._state.distinct > known
        return row

    def _set_aside(
        self,
        page: ListPage[Record],
        stored: PageOutcome,
        request: str,
        received: datetime | None,
    ) -> None:
        if not (page.set_aside or stored.quarantined):  # nearly all pages
            return
        origin = QuarantineOrigin(request, self._state.job.metadata_prefix, received)
        self._quarantine.keep((*page.set_aside, *stored.quarantined), origin)

    def _cut(self, row: WindowRow, found: WalkPage[Record]) -> WindowChange | None:
        """Split a window that is large."""
        seen = self._seen[row.id]
        earliest, latest = seen.span or (None, None)
        sight = Sight(
            row.pages,
            found.position.listed,
            found.position.promised,
            seen.seconds / seen.pages,
            earliest,
            latest,
            found.position.safe_from,
            is_part=row.window != self._where.whole,
        )
        busy = len(self._flying) + len(self._parked) + 1
        waiting = len(self._state.open_windows(without=[*self._flying, *self._parked, row.id]))
        now = self.concurrency
        most = now.limit if now.rest else now.ceiling  # that may soon be in flight
        return cut_by_sight(row, sight, max(0, most - busy - waiting), self._where)

    def _note_size(self, row: WindowRow) -> None:
        """Count successive empty windows; the next ones are then fetched as one."""
        is_empty = row.state == "done" and row.position is not None and not row.position.listed
        self._empties = self._empties + 1 if is_empty else 0

    def _tell(self) -> None:
        open_windows = len(self._flying) + len(self._parked)
        retried = self._fetchers.traffic.retried
        self._progress(self._state.receipt(open_windows=open_windows, retried=retried))

    # ------------------------------------------------------------------ the second process

    def _store_what_is_fetched(self) -> None:
        """Store the pages that a stopped run left, or begin to."""
        begins_at, how = self._when_apart.begins_at, self._when_apart.how
        is_more = bool(self._state.to_store) or bool(self._state.open_windows())
        if begins_at is not None and is_more and (self._state.to_store or not begins_at):
            self._begin_storing_apart()
        while self._state.to_store and self._apart is None:
            assert how is not None
            with interrupt_deferred():
                self._count_stored(store_fetched(how, self._state.to_store[0], self._store))

    def _begin_storing_apart(self) -> None:
        how = self._when_apart.how
        if self._apart is None and how is not None:
            try:
                with interrupt_deferred():
                    self._apart = StoringApart(self._state, how, self._fetchers.wake)
            except OSError as error:  # too many processes, or no memory for one
                logger.info("storing in one process: %s", error)
                self._when_apart = Apart(how)

    def _is_for_second_process(self, row: WindowRow, page: WalkPage[Record]) -> bool:
        """Whether a page is stored from its WARC file."""
        is_list = row.mode == LIST and page.answer.recorded is not None
        return self._apart is not None and is_list and _has_records(page)

    def _needs_what_is_stored(self, found: FetchResult) -> bool:
        """Whether a failure, or a page that is stored here, has to wait for pages before it."""
        page, row = found.page, self._state.window(found.window)
        if page is None or row is None:
            return found.failure is not None
        is_here = not self._is_for_second_process(row, page)
        return is_here and (row.mode != LIST or _has_records(page))

    def _give_away(self, row: WindowRow, found: WalkPage[Record]) -> WindowRow:
        assert self._apart is not None
        self._when_apart.flush()
        row = self._state.fetched(row, found)
        self._apart.give()
        return row

    def _take_answers(self) -> bool:
        """Count the pages that the second process has stored; return whether it has ended."""
        assert self._apart is not None
        with interrupt_deferred():
            while (stored := self._apart.taken()) is not None:
                self._count_stored(stored)
                self._apart.give()
        return self._apart.is_ended

    def _count_stored(self, stored: Stored) -> None:
        request = self._state.to_store[0].request
        self._set_aside(stored.page, stored.outcome, request, stored.received)
        known = self._state.distinct
        self._state.stored(stored.page, stored.outcome)
        self._fruitful += self._state.distinct > known
        self._tell()

    def _await_storing(self) -> None:
        """Wait until every fetched page is stored; what is fetched meanwhile is kept back."""
        while self._state.to_store:
            found = self._fetchers.next()
            if isinstance(found, Woken):
                self._take_answers()
            else:
                self._kept_back.append(found)

    def _end_storing(self) -> None:
        """Let the second process end, after the page that it stores."""
        if self._apart is None or self._apart.is_ended:
            return
        self._apart.no_more()
        while not self._take_answers():
            self._fetchers.next()

    # ------------------------------------------------------------------ failures

    def _take_failure(self, row: WindowRow, failure: BaseException) -> None:
        if isinstance(failure, WindowBroken):
            self._remedy(row, failure)
        elif isinstance(failure, (ScraperError, OAIError)) and not isinstance(
            failure, RequestRefused
        ):
            self._failure = self._failure or failure
            self._request = self._request or self._asked_of(row)
            self._stopping = True
        else:
            raise failure

    def _remedy(self, row: WindowRow, failure: WindowBroken) -> None:
        if row.mode == COUNT:
            self._state.give_up_counting(row, str(failure), failure.steps)
            return
        self._vain += 1
        if self._vain > MOST_IN_VAIN + VAIN_EACH * self._fruitful:
            self._give_up(row, failure)
            return
        self._empties = 0  # otherwise the halves of a broken window are joined again
        seen = self._seen.get(row.id, _Seen()).span
        change = remedied(row, failure.remedy, str(failure), self._where, seen)
        if change.row.state == "broken":
            self._failure = self._failure or failure.cause
            self._request = self._request or failure.request
        if change.single:
            self._drop_parked()
        self._state.change(change, failure.steps)

    def _give_up(self, row: WindowRow, failure: WindowBroken) -> None:
        """Stop, because windows without progress would never end; another run may continue."""
        cause = AskedInVain(self._vain, len(self._state.open_windows()), failure.cause)
        self._state.change(remedied(row, GiveUp(), str(failure), self._where))
        self._failure, self._stopping = self._failure or cause, True
        self._request = self._request or failure.request

    def _asked_of(self, row: WindowRow) -> VerbRequest:
        """Return the request of a window, as far as it is known without its walk."""
        verb = Verb.LIST_RECORDS if row.mode == LIST else Verb.LIST_IDENTIFIERS
        if row.position is not None and row.position.token is not None:
            return VerbRequest(verb, ((Argument.RESUMPTION_TOKEN.value, row.position.token),))
        job, window = self._state.job, row.window
        return list_request(
            verb,
            job.metadata_prefix,
            from_=window.from_,
            until=window.until,
            set_spec=job.set_spec,
        )

    def _drop_parked(self) -> None:
        for number in self._parked:
            self._fetchers.drop(number)
        self._parked.clear()

    # ------------------------------------------------------------------ the end

    def _end(self) -> ListEnd:
        failure = self._failure
        interrupted = isinstance(failure, KeyboardInterrupt)
        said = "" if failure is None else with_short_tokens(str(failure))
        stopped = "interrupted" if interrupted else said
        self._state.note_time()
        receipt = self._state.full_receipt(stopped=stopped)
        if failure is None:
            self._progress(receipt)
        return ListEnd(receipt, failure, self._request)


def _has_records(found: WalkPage[Record]) -> bool:
    return bool(found.page.items or found.page.set_aside)
