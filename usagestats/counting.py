"""Count the days whose events have changed, by the steps in ``steps.sql``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recordsilo.disk.locks import Locks
from recordsilo.extras import later
from silosteps.engine import Engine
from silosteps.errors import StepsError
from usagestats.errors import EventsUnreadable
from usagestats.store.consistency import check_ledger
from usagestats.store.counts import COLUMNS, CountsChange, UsageCounts
from usagestats.store.events import (
    day_number,
    day_text,
    engine,
    event_path,
    merge_files,
    unreadable_files,
)
from usagestats.store.ledger import UsageLedger

if TYPE_CHECKING:
    import numpy as np

    from usagestats.store.counts import Table
else:
    np = later("numpy", "silo usage", "usage")

EVENTS_AT_ONCE = 500_000
DAYS_AT_ONCE = 256
"""Days that are counted together, however few events they have: each has files of its own."""
MOST_FILES = 16
"""Files of a day, from the same logs, above which they are put into one."""


def lock(silo_path: str) -> Any:
    """Return the lock under which counts and files of events are changed."""
    return Locks.of_silo(silo_path).hold_name("usage-count")


def import_lock(silo_path: str) -> Any:
    """Return the lock under which lines are imported."""
    return Locks.of_silo(silo_path).hold_name("usage-import")


@dataclass(slots=True)
class CountedUses:
    """What was counted.

    Attributes:
        days: The days that were counted.
        left: The days that could not be: files of their events, or of those of the next day, are
            missing or damaged.
        unreadable: The paths of these files.
    """

    days: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    @property
    def problem(self) -> str:
        """Return a sentence about the days that could not be counted; empty without any."""
        return str(EventsUnreadable(self.unreadable, self.left)) if self.left else ""


def count(
    silo_path: str, ledger: UsageLedger, progress: Callable[[int], object] = lambda _: None
) -> CountedUses:
    """Count all days whose events have changed, but those whose events cannot be read.

    Args:
        ledger: Its ledger.
        progress: Called with the number of days counted so far.

    Raises:
        PartMissing: As `check_ledger`.
    """
    done = CountedUses()
    check_ledger(silo_path, ledger)
    if not ledger.stale():
        return done
    with lock(silo_path), engine(silo_path) as steps, UsageCounts(silo_path, "create") as counts:
        for group in _groups(ledger):
            try:
                _count(silo_path, steps, ledger, counts, group)
                days = group
            except StepsError:
                days = _readable(silo_path, steps, ledger, group, done)
                if days == group:
                    raise
                _count(silo_path, steps, ledger, counts, days)
            done.days += days
            progress(len(done.days))
        for day in done.days:
            if len(ledger.files(day)) > MOST_FILES:
                merge_files(silo_path, steps, ledger, day, MOST_FILES)
    return done


def _readable(
    silo_path: str, steps: Engine, ledger: UsageLedger, days: list[str], done: CountedUses
) -> list[str]:
    """Return the days of which all files can be read; notes the others."""
    following = {day: day_text(day_number(day) + 1) for day in days}
    found = unreadable_files(silo_path, steps, ledger, sorted({*days, *following.values()}))
    left = [day for day in days if day in found or following[day] in found]
    done.left += left
    done.unreadable += [path for some in found.values() for path in some]
    return [day for day in days if day not in left]


def _groups(ledger: UsageLedger) -> Iterator[list[str]]:
    """Yield the days to be counted, in groups of about `EVENTS_AT_ONCE` or `DAYS_AT_ONCE`."""
    group: list[str] = []
    events = 0
    for day in ledger.stale():
        number = sum(events for _, events in ledger.files(day))
        if group and (events + number > EVENTS_AT_ONCE or len(group) >= DAYS_AT_ONCE):
            yield group
            group, events = [], 0
        group.append(day)
        events += number
    if group:
        yield group


def _count(
    silo_path: str, steps: Engine, ledger: UsageLedger, counts: UsageCounts, days: list[str]
) -> None:
    """Replace the counts of days."""
    names = {day: {name for name, _ in ledger.files(day)} for day in days}
    with counts.changing() as change:
        _replace(silo_path, steps, ledger, change, days)
    ledger.counted(names)


def _replace(
    silo_path: str, steps: Engine, ledger: UsageLedger, change: CountsChange, days: list[str]
) -> None:
    numbers = [day_number(day) for day in days]
    needed = {*days, *(day_text(number + 1) for number in numbers)}
    files = [
        event_path(silo_path, day, name) for day in sorted(needed) for name, _ in ledger.files(day)
    ]
    if not files or not _number_items(steps, change, files):
        change.replace_days(days, np.zeros((0, COLUMNS), np.int64), ())
        return
    steps.run("events", files=files, days=numbers)
    steps.run("clicks", days=numbers).run("sessions").run("clients", days=numbers)
    countries = [(day_text(day), *more) for day, *more in steps.run("countries").all()]
    # What is not needed any more is dropped at once: a day may have as many items as events.
    steps.drop(("event", "click", "item_id"))
    rows = _figures(steps, numbers)
    steps.drop(("by_session", "by_client"))
    change.replace_days(days, rows, countries)


def _number_items(steps: Engine, change: CountsChange, files: list[str]) -> bool:
    """Make the table of the items' numbers; return whether there is any item."""
    ids = change.ids([name for (name,) in steps.run("items", files=files).all()])
    names, numbers = np.array(list(ids), object), np.fromiter(ids.values(), np.int32, len(ids))
    if ids:
        steps.table("item_id", {"item": names, "id": numbers})
    return bool(ids)


def _figures(steps: Engine, numbers: list[int]) -> Table:
    """Return the figures, with the place of each day among `numbers` in its place."""
    day, *columns = steps.run("figures").columns()
    return np.column_stack((np.searchsorted(numbers, day), *columns)).astype(np.int64, copy=False)
