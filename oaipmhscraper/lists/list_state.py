"""The state of one list: windows, identifiers and numbers; the journal stores each change."""

import time
from collections import Counter, deque
from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import islice

from oaipmhclient.pages.requests_and_pages import ListPage, SetAside
from oaipmhclient.walk import completeness
from oaipmhclient.walk.completeness import SET_NOT_LISTED, Length, ListedSoFar, doubt_left, unproved
from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhclient.walk.values import ListJob, WalkPage
from oaipmhclient.walk.windows import Window
from oaipmhprotocol import Record
from oaipmhscraper.lists.journal import Journal
from oaipmhscraper.lists.journal_rows import (
    AGAIN,
    COUNT,
    DENIED,
    IDENTIFIERS_FIRST,
    LIST,
    ListFacts,
    ListRow,
    WindowRow,
)
from oaipmhscraper.lists.listed_identifiers import ListedIdentifiers
from oaipmhscraper.lists.window_changes import WindowChange, WindowsPlace, joined_row, planned
from oaipmhscraper.receipt import Counts, ListReceipt, Outcome, WindowReceipt, total
from oaipmhscraper.storing.fetched_pages import FetchedPage
from oaipmhscraper.storing.silo_writer import PageOutcome

_SECONDS_UNTOLD = 1.0
"""Working time that a killed process may lose."""
_COUNTED = "the number of records was checked with a list of all identifiers"


class ListState:
    """The state of one list in the journal, for the thread that stores pages.

    Args:
        journal: Has the list.
        base_url: Its endpoint.
        quirks: See below.

    Attributes:
        quirks: The endpoint's known habits; stored with every page.
        job: The list's format, set and bounds.
        facts: The facts of the list.
        listed: The identifiers listed.
        to_store: The pages that are fetched and not stored yet, in order.
    """

    def __init__(
        self, journal: Journal, row: ListRow, base_url: str, quirks: EndpointMemory
    ) -> None:
        self._journal = journal
        self._id = row.id
        self._base_url = base_url
        self.quirks = quirks
        self._quirks_kept = quirks.to_json()
        self.job: ListJob = row.job
        self.facts: ListFacts = row.facts
        self._facts_kept = row.facts
        self.listed = ListedIdentifiers(journal.listed(row.id), journal.losses(row.id))
        self._windows = {one.id: one for one in journal.windows(row.id)}
        self.to_store = deque(journal.fetched(row.id))
        self._sum = total(one.counts for one in self._windows.values())
        self._looked_at = time.monotonic()
        self._earlier_seconds = self.facts.seconds
        self._earlier_listed = self._sum.listed if self.facts.seconds else 0

    def window(self, number: int) -> WindowRow | None:
        """Return the current state of a window; None if it was replaced."""
        return self._windows.get(number)

    def open_windows(self, without: Iterable[int] = ()) -> list[WindowRow]:
        """Return the windows that are not finished, the earliest first."""
        left_out = set(without)
        found = (w for w in self._windows.values() if w.state == "open" and w.id not in left_out)
        return sorted(found, key=lambda row: row.window.from_ or "")

    @property
    def ended(self) -> bool:
        """Whether every window was followed to its end, and every page stored."""
        return not self.to_store and all(
            row.state in {"done", "cut"} for row in self._windows.values()
        )

    @property
    def windows(self) -> list[WindowRow]:
        """Return all windows, in the order in which they were made."""
        return list(self._windows.values())

    @property
    def counted(self) -> bool:
        """Whether the identifiers were counted, or that was tried."""
        return any(row.mode == COUNT for row in self._windows.values())

    @property
    def counts(self) -> Counts:
        """Return the numbers of the list so far, with the number promised for all of it."""
        return replace(self._sum, promised=_promised(self.facts, self._windows.values()))

    @property
    def distinct(self) -> int:
        """Return how many identifiers were listed so far."""
        return self._sum.distinct

    @property
    def listed_so_far(self) -> ListedSoFar:
        """Return the data by which to judge whether the list is complete."""
        steps = [step for step, _ in self.facts.repairs]
        counts = self.counts
        return ListedSoFar(counts.promised, counts.distinct, steps, self.longest.pages)

    @property
    def pages(self) -> int:
        """Return the number of pages stored."""
        return sum(row.pages for row in self._windows.values())

    @property
    def longest(self) -> Length:
        """Return the length of the longest list in which records were received."""
        rows = [row for row in self._windows.values() if row.mode != COUNT]
        listed = [row.position.listed if row.position else 0 for row in rows]
        listed += [row.counts.distinct for row in rows]
        return Length(max(listed, default=0), max((row.pages for row in rows), default=0))

    @property
    def last(self) -> Length:
        """Return the length of the list that was followed to its end."""
        rows = [row for row in self._windows.values() if row.mode == LIST and row.position]
        ends = [row for row in rows if row.window.until == self.job.until]
        latest = max(ends, key=lambda row: row.window.from_ or "", default=None)
        at = latest.position if latest is not None else None
        return Length(at.listed, at.pages) if at is not None else Length(0, 0)

    def _doubt_left(self) -> str:
        """Return why completeness is not proved; empty if it is."""
        if self.facts.settled is not None or self.job.owed:
            return ""
        is_unlisted = SET_NOT_LISTED in dict(self.facts.repairs)
        if is_unlisted and not self.job.update and not self.counts.listed:
            return SET_NOT_LISTED
        listed, promised = self.listed_so_far, _promised_for_all(self.facts, self._windows.values())
        weak = doubt_left(replace(listed, promised=promised), self.quirks)
        return weak or unproved(listed, self.quirks)

    def receipt(self, *, stopped: str = "", open_windows: int = 0, retried: int = 0) -> ListReceipt:
        """Return the list's receipt so far, for progress displays, without windows and losses."""
        return ListReceipt(
            self.job.metadata_prefix,
            self.job.set_spec,
            self.job.from_,
            self.job.until,
            counts=self.counts,
            response_date=self.facts.response_date,
            stopped=stopped,
            settled=self.facts.settled,
            open_windows=open_windows,
            retried=retried,
            seconds=self._seconds(),
            earlier_listed=self._earlier_listed,
            earlier_seconds=self._earlier_seconds,
            owed=self.job.owed,
            to_store=sum(page.items for page in self.to_store),
        )

    def full_receipt(self, *, stopped: str = "") -> ListReceipt:
        """Return the list's receipt, complete or so far."""
        return replace(
            self.receipt(stopped=stopped),
            ended=self.ended and not stopped,
            quarantined=self._lost(Outcome.QUARANTINED),
            unreachable=self._lost(Outcome.UNREACHABLE),
            windows=tuple(_window_receipt(row) for row in self._windows.values()),
            repairs=dict(self.facts.repairs),
            remarks=self.facts.remarks,
            doubt=self._doubt_left() if self.ended and not stopped else "",
        )

    def _seconds(self) -> float:
        """Return the working time until now, in all runs."""
        now = time.monotonic()
        self.facts = replace(self.facts, seconds=self.facts.seconds + now - self._looked_at)
        self._looked_at = now
        return self.facts.seconds

    def _lost(self, kind: Outcome) -> tuple[SetAside, ...]:
        return tuple(loss.what for loss in self.listed.losses if loss.kind is kind)

    # ------------------------------------------------------------------ changes

    def take_up(self, place: WindowsPlace) -> None:
        """Begin a run: retry windows that broke in an earlier one, split as the user requests."""
        with self._journal.changing():
            for row in list(self._windows.values()):
                if row.state == "broken":
                    self._put(replace(row, state="open", mode=LIST, restarts=0))
            for row in self.open_windows():
                change = planned(row, place) if row.window == place.whole else None
                if change is not None:
                    self._apply(change)

    def begin_with_identifiers(self, row: WindowRow) -> WindowRow:
        """Fetch a window of which nothing was fetched by identifier."""
        with self._journal.changing():
            return self._put(replace(row, mode=IDENTIFIERS_FIRST))

    def join(self, rows: list[WindowRow]) -> WindowRow:
        """Join several windows of which nothing was fetched."""
        with self._journal.changing():
            self._drop(rows[1:])
            return self._put(joined_row(rows))

    def fetched(self, row: WindowRow, found: WalkPage[Record]) -> WindowRow:
        """Note a page that is on the medium and will be stored; update its window's position."""
        assert found.answer.recorded is not None
        file, place = found.answer.recorded
        items = len(found.page.items) + len(found.page.set_aside)
        page = FetchedPage(row.id, str(found.request), file, place, items, row.relists)
        row = _moved(row, found)
        unread = replace(found, page=replace(found.page, repairs={}))  # they count when stored
        self.facts = _with_page(self.facts, unread, row, self._whole)
        with self._journal.changing():
            self._put_facts()
            self._put_quirks()
            self.to_store.append(self._journal.add_fetched(self._id, page))
            return self._put(row)

    def stored(self, read: ListPage[Record], stored: PageOutcome) -> None:
        """Count the first page of `to_store`, which is stored now.

        Args:
            read: The page, as it was read in order to store it.
            stored: What became of its records.
        """
        page = self.to_store[0]
        tally = self.listed.count(read, stored, relists=page.relists)
        row = self._windows[page.window]
        row = replace(row, counts=row.counts.plus(tally.outcomes, stored.written))
        self._sum = self._sum.plus(tally.outcomes, stored.written)
        self.facts = replace(self.facts, repairs=_plus(self.facts.repairs, read.repairs))
        with self._journal.changing():
            self._journal.put_tally(self._id, tally)
            self._put_facts()
            self._put(row)
            self._journal.drop_fetched(page)
        self.to_store.popleft()

    def keep(self, row: WindowRow, found: WalkPage[Record], stored: PageOutcome) -> WindowRow:
        """Count a stored page, and update the position of its window."""
        tally = self.listed.count(
            found.page, stored, found.unreachable, relists=row.relists, gone=found.gone
        )
        row = _moved(row, found)
        row = replace(row, counts=row.counts.plus(tally.outcomes, stored.written))
        self._sum = self._sum.plus(tally.outcomes, stored.written)
        settled = self.facts.settled
        if row.mode == COUNT and row.state == "done":
            settled = completeness.settled(found.position.listed, found.steps, self.listed_so_far)
        facts = _with_page(self.facts, found, row, self._whole)
        remarks = (*facts.remarks, *found.remarks)
        self.facts = replace(facts, settled=settled, remarks=remarks)
        with self._journal.changing():
            self._journal.put_tally(self._id, tally)
            self._put_facts()
            self._put_quirks()
            return self._put(row)

    def finish(self, row: WindowRow) -> WindowRow:
        """Note that a window is finished."""
        with self._journal.changing():
            return self._put(replace(row, state="done"))

    def change(self, change: WindowChange, steps: Iterable[str] = ()) -> None:
        """Replace a window that broke or is split."""
        self.facts = replace(self.facts, repairs=_plus(self.facts.repairs, steps))
        with self._journal.changing():
            if change.single:
                self._make_single(change.row.note)
            else:
                self._apply(change)
            self._put_facts()
            self._put_quirks()

    def count_identifiers(self, reason: str) -> None:
        """Add a window that lists all identifiers, and gets missing records one by one."""
        self.facts = replace(self.facts, remarks=(*self.facts.remarks, f"{_COUNTED} ({reason})"))
        with self._journal.changing():
            self._put_facts()
            self._add([WindowRow(0, window=self._whole, mode=COUNT, relists=True, note=reason)])

    def doubt_empty_windows(self) -> bool:
        """Add a window that finds out whether long ones are denied, once; return whether."""
        if any(row.mode == DENIED for row in self._windows.values()):
            return False
        with self._journal.changing():
            self._add([WindowRow(0, window=self._whole, mode=DENIED, relists=True)])
        return True

    def lost_by_name(self, most: int) -> list[str]:
        """Return the identifiers of the first records that were set aside or not available."""
        named = (loss.what.identifier for loss in self.listed.losses)
        return list(islice(filter(None, named), most))

    def ask_again(self, most: int) -> bool:
        """Add a window of lost records, once; return whether there are any."""
        rows = self._windows.values()
        if not self.lost_by_name(most) or any(row.mode == AGAIN for row in rows):
            return False
        left = len(self.lost_by_name(len(self.listed.losses))) - most
        if left > 0:
            remark = f"records set aside and not requested again: {left:,}"
            self.facts = replace(self.facts, remarks=(*self.facts.remarks, remark))
        with self._journal.changing():
            self._put_facts()
            self._add([WindowRow(0, window=self._whole, mode=AGAIN, relists=True)])
        return True

    def give_up_counting(self, row: WindowRow, note: str, steps: Iterable[str] = ()) -> None:
        """Accept the lists as they are, because the identifiers cannot be listed either."""
        remarks = (*self.facts.remarks, f"the identifiers could not be counted: {note}")
        repairs = _plus(self.facts.repairs, steps)
        self.facts = replace(self.facts, remarks=remarks, repairs=repairs)
        with self._journal.changing():
            self._put_facts()
            self._put_quirks()
            self._put(replace(row, state="cut", note=note))

    def _apply(self, change: WindowChange) -> None:
        self._put(change.row)
        self._add(change.added)

    def _make_single(self, note: str) -> None:
        """Walk the list as one, from its start; the records of its windows are kept."""
        rows = [row for row in self._windows.values() if row.state != "cut"]
        self._drop([row for row in rows if not row.pages])
        for row in rows:
            if row.pages:
                self._put(replace(row, state="cut", note=note, position=None))
        self.facts = replace(self.facts, single=True)
        self._add([WindowRow(0, window=self._whole, relists=True)])

    def _add(self, rows: Iterable[WindowRow]) -> None:
        for row in self._journal.add_windows(self._id, rows):
            self._windows[row.id] = row

    def _put(self, row: WindowRow) -> WindowRow:
        self._journal.put_window(row)
        self._windows[row.id] = row
        return row

    def _drop(self, rows: Iterable[WindowRow]) -> None:
        dropped = list(rows)
        self._journal.drop_windows(dropped)
        for row in dropped:
            del self._windows[row.id]

    def note_time(self) -> None:
        """Store the working time, and what was learned, at the end of a run."""
        with self._journal.changing():
            self._put_facts(most_untold=0.0)
            self._put_quirks()

    def _put_facts(self, most_untold: float = _SECONDS_UNTOLD) -> None:
        """Store the facts, unless only so little working time was added."""
        kept, untold = self._facts_kept, self._seconds() - self._facts_kept.seconds
        if untold < most_untold and replace(kept, seconds=self.facts.seconds) == self.facts:
            return
        self._journal.put_list(ListRow(self._id, self.job, self.facts))
        self._facts_kept = self.facts

    def _put_quirks(self) -> None:
        learned = self.quirks.to_json()
        if learned != self._quirks_kept:
            self._journal.put_quirks(self._base_url, self.quirks)
            self._quirks_kept = learned

    @property
    def _whole(self) -> Window:
        return Window(self.job.from_, self.job.until)


def journalled(journal: Journal, row: ListRow) -> ListReceipt:
    """Return a list's receipt from the journal, without its losses, also while it is harvested.

    Cost: as many rows as it has windows, however many records were listed.
    """
    rows = journal.windows(row.id)
    counts = total(one.counts for one in rows)
    return ListReceipt(
        row.job.metadata_prefix,
        row.job.set_spec,
        row.job.from_,
        row.job.until,
        counts=replace(counts, promised=_promised(row.facts, rows)),
        response_date=row.facts.response_date,
        settled=row.facts.settled,
        windows=tuple(map(_window_receipt, rows)),
        open_windows=sum(one.state == "open" for one in rows),
        repairs=dict(row.facts.repairs),
        remarks=row.facts.remarks,
        seconds=row.facts.seconds,
    )


def _moved(row: WindowRow, found: WalkPage[Record]) -> WindowRow:
    """Return a window after a page, without the page's records in its counts."""
    return replace(
        row,
        state="done" if found.position.ended else "open",
        pages=row.pages + 1,
        position=found.position,
        counts=replace(row.counts, promised=found.position.promised),
    )


def _promised(facts: ListFacts, rows: Collection[WindowRow]) -> int | None:
    """Return the largest number promised for the whole list; None if there is none."""
    known = [facts.promised, _promised_for_all(facts, rows)]
    known += [row.counts.promised for row in rows if row.mode == LIST]
    told = [promise for promise in known if promise]
    return max(told, default=facts.promised)


def _promised_for_all(facts: ListFacts, rows: Collection[WindowRow]) -> int | None:
    """Return the number promised for the list as a whole, or for all its windows together."""
    return _sum_of_promises(rows) if facts.promised is None else facts.promised


def _with_page(
    facts: ListFacts, found: WalkPage[Record], row: WindowRow, whole: Window
) -> ListFacts:
    """Return the facts after a page, with the first responseDate and the largest promise."""
    is_whole = row.mode == LIST and row.window == whole
    told = [facts.promised, found.position.promised if is_whole else None]
    promised = max((one for one in told if one is not None), default=None)
    return replace(
        facts,
        begun=True,
        promised=promised,
        response_date=facts.response_date if facts.begun else found.page.response_date,
        repairs=_plus(facts.repairs, found.steps, found.page.repairs),
    )


def _plus(
    repairs: tuple[tuple[str, int], ...], *more: Iterable[str]
) -> tuple[tuple[str, int], ...]:
    """Return the sum of counts, given as mappings or names."""
    if not any(more):
        return repairs
    summed = Counter(dict(repairs))
    for each in more:
        summed.update(each)
    return tuple(sorted(summed.items()))


def _sum_of_promises(rows: Iterable[WindowRow]) -> int | None:
    """Return the sum of the windows' promises, for a list never requested as a whole.

    A window of one page needs no promise. None if a part of the list has no promise, such as a
    part of a window that was restarted elsewhere.
    """
    rows = [row for row in rows if row.mode == LIST]
    done = [row for row in rows if row.state != "cut"]
    begins = {row.window.from_ for row in done}
    if len(done) < 2 or any(r.window.from_ not in begins for r in rows if r.state == "cut"):
        return None
    promises = [
        row.counts.distinct
        if row.counts.promised is None and row.pages < 2
        else row.counts.promised
        for row in done
    ]
    known = [promise for promise in promises if promise is not None]
    return sum(known) if len(known) == len(promises) else None


def _window_receipt(row: WindowRow) -> WindowReceipt:
    window = row.window
    return WindowReceipt(window.from_, window.until, row.state, row.pages, row.counts, row.note)
