"""What becomes of a list's windows: cut, restarted, joined, given up (pure).

The walk through a window says what it needs (`oaipmhclient.walk.values.Remedy`), its pages tell how
much there is (`windows.Sight`); here that is turned into other windows.
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
    Split,
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
)
from oaipmhprotocol import Granularity
from oaipmhscraper.lists.journal_rows import IDENTIFIERS, LIST, WindowRow

MOST_RESTARTS = 2
"""How often a window is begun again from its own start before something else is tried."""
MOST_JOINED = 64
"""How many windows are made one at most, where the ones before were empty."""


_Seen = tuple[datetime, datetime] | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a list's windows lie.

    Attributes:
        job: The list, with the bounds it has as a whole.
        granularity: In which its windows are cut.
        first: Where its records probably begin.
        last: Where they end: the repository's clock.
        length: How long a window is to be, if the user says so.
        may_cut: Whether windows are cut at all.
    """

    job: ListJob
    granularity: Granularity
    first: datetime
    last: datetime
    length: timedelta | None = None
    may_cut: bool = True

    @property
    def whole(self) -> Window:
        """All of the list."""
        return Window(self.job.from_, self.job.until)


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a window.

    Attributes:
        row: The window as it is now.
        added: Windows that take its place.
        single: Whether the whole list is to be walked as one, whatever windows it has.
    """

    row: WindowRow
    added: tuple[WindowRow, ...] = ()
    single: bool = False


# --------------------------------------------------------------------------- what failed


def remedied(
    row: WindowRow,
    remedy: Remedy,
    note: str,
    place: Place,
    seen: _Seen = None,
) -> Change:
    """Carry out what a broken window needs.

    Args:
        row: The window.
        remedy: What its walk asks for.
        note: What happened, in a sentence.
        place: Where it lies.
        seen: The earliest and latest datestamp that came of it: where the records are.

    Each way is taken a bounded number of times, so that a list always comes to an
    end: a restart that gets nowhere becomes a cut, a cut of one granule its
    identifiers, and what cannot be had that way either is given up.
    """
    match remedy:
        case RestartFrom(datestamp):
            return _restarted(row, datestamp, note, place, seen)
        case Split(at):
            return _split(row, note, place, seen, at)
        case SingleList() if row.window != place.whole:
            return Change(_cut_off(row, note), single=True)
        case ByIdentifier() | SingleList():
            return _by_identifier(row, note)
        case GiveUp():
            return Change(replace(row, state="broken", note=note))


def _restarted(
    row: WindowRow, datestamp: str | None, note: str, place: Place, seen: _Seen
) -> Change:
    begin = datestamp or row.window.from_
    if begin != row.window.from_:
        return _replaced(row, (Window(begin, row.window.until),), note, alone=True)
    if row.restarts >= MOST_RESTARTS:
        return _split(row, note, place, seen)
    again = replace(row, position=None, relists=True, restarts=row.restarts + 1, note=note)
    return Change(again)


def _split(row: WindowRow, note: str, place: Place, seen: _Seen, at: str | None = None) -> Change:
    parts: tuple[Window, ...] = ()
    if place.may_cut and row.mode == LIST:
        if at is not None:
            parts = cut_at(row.window, at, place.granularity)
        if not parts and seen is not None:
            parts = around(row.window, *seen, place.granularity)
        parts = parts or halves(row.window, place.first, place.last, place.granularity)
    return _replaced(row, parts, note, alone=True) if parts else _by_identifier(row, note)


def _by_identifier(row: WindowRow, note: str) -> Change:
    if row.mode == IDENTIFIERS:
        return Change(replace(row, state="broken", note=note))
    return Change(replace(row, mode=IDENTIFIERS, position=None, relists=True, note=note))


def _replaced(
    row: WindowRow, windows: Sequence[Window], note: str, *, alone: bool = False
) -> Change:
    relists = row.relists or row.pages > 0
    added = tuple(
        WindowRow(0, window=window, relists=relists, alone=alone or row.alone) for window in windows
    )
    return Change(_cut_off(row, note), added)


def _cut_off(row: WindowRow, note: str) -> WindowRow:
    return replace(row, state="cut", note=note, position=None)


# --------------------------------------------------------------------------- what is large


def planned(row: WindowRow, place: Place) -> Change | None:
    """The windows of the length asked for, before anything of the list was fetched."""
    if place.length is None or not place.may_cut or row.pages or row.mode != LIST:
        return None
    windows = plan(row.window, place.length, place.first, place.last, place.granularity)
    return _replaced(row, windows, "cut as asked") if len(windows) > 1 else None


def cut_by_sight(row: WindowRow, sight: Sight, free_lanes: int, place: Place) -> Change | None:
    """Cut the rest of a window whose pages show that this pays; None: it goes on as it is."""
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


def _of_length(rest: Window, first: datetime, place: Place) -> tuple[Window, ...]:
    """Windows that were joined, or reach far back, are cut to length once they hold something."""
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
    """How many of the first waiting windows to fetch as one, after so many empty ones in a row."""
    most = min(MOST_JOINED, 2 ** max(0, empties - 1), len(waiting))
    count = 1
    while count < most and _adjacent(waiting[count - 1], waiting[count], granularity):
        count += 1
    return count


def joined_row(rows: Sequence[WindowRow]) -> WindowRow:
    """One window in the place of several that nothing was fetched of."""
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
