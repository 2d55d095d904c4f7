"""Decide how windows are split, restarted, joined or given up (pure).

The walk through a window returns a remedy (`oaipmhclient.walk.values.Remedy`), and its pages show
its size (`windows.Sight`); this module makes other windows of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from oaipmhclient.walk.values import (
    ByIdentifier,
    GiveUp,
    ListJob,
    Remedy,
    RestartFrom,
    SingleList,
    SplitWindow,
)
from oaipmhclient.walk.windows import (
    Sight,
    Window,
    around,
    cut,
    cut_at,
    halves,
    merged,
    number_of,
    parts_wanted,
    plan,
    text_of_number,
)
from oaipmhprotocol import Granularity
from oaipmhscraper.lists.journal_rows import IDENTIFIERS, IDENTIFIERS_FIRST, LIST, WindowRow

MOST_RESTARTS = 2
"""How often a window is restarted from its own start before another remedy is tried."""
MOST_JOINED = 64
"""Most windows to join after empty ones."""


_Seen = tuple[datetime, datetime] | None


@dataclass(frozen=True, slots=True)
class WindowsPlace:
    """The place of a list's windows.

    Attributes:
        job: The list, with its own bounds.
        first: Where its records probably begin.
        last: Where they end: the repository's clock.
        length: The length of windows that the user requested, if any.
        may_cut: Whether windows may be split.
    """

    job: ListJob
    granularity: Granularity
    first: datetime
    last: datetime
    length: timedelta | None = None
    may_cut: bool = True

    @property
    def whole(self) -> Window:
        """Return the window of the whole list."""
        return Window(self.job.from_, self.job.until)


@dataclass(frozen=True, slots=True)
class WindowChange:
    """A change of windows.

    Attributes:
        row: The window with its new state.
        added: The windows that replace it.
        single: Whether to walk the whole list as one window.
    """

    row: WindowRow
    added: tuple[WindowRow, ...] = ()
    single: bool = False


# --------------------------------------------------------------------------- failures


def remedied(
    row: WindowRow,
    remedy: Remedy,
    note: str,
    place: WindowsPlace,
    seen: _Seen = None,
) -> WindowChange:
    """Apply the remedy of a broken window.

    Each remedy is used a limited number of times, so that a list always ends: a restart without
    progress becomes a split, a split of one granule becomes a list of identifiers, and if that
    fails too, the window is given up. Where identifiers came first, ListRecords is tried then.

    Args:
        remedy: The remedy from its walk.
        note: What happened, as a sentence.
        place: The place of the list's windows.
        seen: The earliest and latest datestamp received from it.
    """
    match remedy:
        case RestartFrom(datestamp):
            return _restarted(row, datestamp, note, place, seen)
        case SplitWindow(at):
            return _split(row, note, place, seen, at)
        case SingleList() if row.window != place.whole:
            return WindowChange(_cut_off(row, note), single=True)
        case ByIdentifier() | SingleList():
            return _by_identifier(row, note)
        case GiveUp() if row.mode == IDENTIFIERS_FIRST:
            return WindowChange(replace(row, mode=LIST, position=None, relists=True, note=note))
        case GiveUp():
            return WindowChange(replace(row, state="broken", note=note))


def _restarted(
    row: WindowRow, datestamp: str | None, note: str, place: WindowsPlace, seen: _Seen
) -> WindowChange:
    begin = datestamp or row.window.from_
    if begin != row.window.from_:
        return _replaced(row, (Window(begin, row.window.until),), note, alone=True)
    if row.restarts >= MOST_RESTARTS:
        return _split(row, note, place, seen)
    again = replace(row, position=None, relists=True, restarts=row.restarts + 1, note=note)
    return WindowChange(again)


def _split(
    row: WindowRow, note: str, place: WindowsPlace, seen: _Seen, at: str | None = None
) -> WindowChange:
    parts: tuple[Window, ...] = ()
    if place.may_cut and row.mode == LIST:
        if at is not None:
            parts = cut_at(row.window, at, place.granularity)
        if not parts and seen is not None:
            parts = around(row.window, *seen, place.granularity)
        parts = parts or halves(row.window, place.first, place.last, place.granularity)
    return _replaced(row, parts, note, alone=True) if parts else _by_identifier(row, note)


def _by_identifier(row: WindowRow, note: str) -> WindowChange:
    if row.mode == IDENTIFIERS:
        return WindowChange(replace(row, state="broken", note=note))
    return WindowChange(replace(row, mode=IDENTIFIERS, position=None, relists=True, note=note))


def _replaced(
    row: WindowRow, windows: Sequence[Window], note: str, *, alone: bool = False
) -> WindowChange:
    relists = row.relists or row.pages > 0
    added = tuple(
        WindowRow(0, window=window, relists=relists, alone=alone or row.alone) for window in windows
    )
    return WindowChange(_cut_off(row, note), added)


def _cut_off(row: WindowRow, note: str) -> WindowRow:
    return replace(row, state="cut", note=note, position=None)


# --------------------------------------------------------------------------- large windows


def planned(row: WindowRow, place: WindowsPlace) -> WindowChange | None:
    """Split into windows of the requested length, before anything of the list was fetched."""
    if place.length is None or not place.may_cut or row.pages or row.mode != LIST:
        return None
    windows = plan(row.window, place.length, place.first, place.last, place.granularity)
    return _replaced(row, windows, "cut as asked") if len(windows) > 1 else None


def shortened(row: WindowRow, place: WindowsPlace) -> WindowChange | None:
    """Split an empty window, because the records of long ones are denied.

    All parts have bounds, except one before the beginning of the records.
    """
    if place.length is None or not place.may_cut:
        return None
    begin = text_of_number(number_of(place.first.isoformat(), place.granularity), place.granularity)
    before: tuple[Window, ...] = ()
    rest = row.window
    if rest.from_ is None:
        before, rest = cut_at(rest, begin, place.granularity)[:1], Window(begin, rest.until)
    parts = plan(rest, place.length, place.first, place.last, place.granularity)
    return _replaced(row, (*before, *parts), "shortened, because its records may be denied",
                     alone=True)  # fmt: skip


def cut_by_sight(
    row: WindowRow, sight: Sight, free_lanes: int, place: WindowsPlace
) -> WindowChange | None:
    """Split the rest of a window if its pages show that this helps; else return None."""
    if not place.may_cut or row.mode != LIST:
        return None
    rest = Window(sight.safe_from or row.window.from_, row.window.until)
    first = sight.earliest if sight.earliest is not None and sight.safe_from else place.first
    if place.length is not None:
        windows = _of_length(rest, first, place)
    else:
        wanted = parts_wanted(sight, free_lanes)
        where = (first, place.last, place.granularity)
        windows = cut(rest, wanted, *where, likely_end=sight.likely_end) if wanted else ()
    if len(windows) < 2:
        return None
    return _replaced(row, windows, f"cut into {len(windows)}")


def _of_length(rest: Window, first: datetime, place: WindowsPlace) -> tuple[Window, ...]:
    """Split joined or very long windows to the requested length when they have records."""
    assert place.length is not None
    low = number_of(rest.from_, place.granularity) if rest.from_ else 0
    high = (
        number_of(rest.until, place.granularity)
        if rest.until
        else number_of(place.last.isoformat(), place.granularity)
    )
    if (high - low) * place.granularity.step <= 1.5 * place.length:
        return ()
    return plan(rest, place.length, first, place.last, place.granularity)


def joined(waiting: Sequence[WindowRow], empties: int, granularity: Granularity) -> int:
    """Return how many of the first waiting windows to join, after some successive empty ones."""
    most = min(MOST_JOINED, 2 ** max(0, empties - 1), len(waiting))
    count = 1
    while count < most and _adjacent(waiting[count - 1], waiting[count], granularity):
        count += 1
    return count


def joined_row(rows: Sequence[WindowRow]) -> WindowRow:
    """Join several windows of which nothing was fetched."""
    return replace(
        rows[0],
        window=merged([row.window for row in rows]),
        relists=any(row.relists for row in rows),
    )


def _adjacent(one: WindowRow, other: WindowRow, granularity: Granularity) -> bool:
    untouched = all(
        row.mode == LIST and row.position is None and not row.alone for row in (one, other)
    )
    if not untouched or one.window.until is None or other.window.from_ is None:
        return False
    end = number_of(one.window.until, granularity)
    return end + 1 == number_of(other.window.from_, granularity)
