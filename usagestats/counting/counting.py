"""Count the days whose events have changed, by the steps in ``steps.sql``."""

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

from recordsilo.disk.locks import Locks
from silosteps.engine import Engine
from usagestats.store.counts import Counts, DayItem
from usagestats.store.events import day_number, day_text, engine, event_path, merge_files
from usagestats.store.ledger import Ledger
from usagestats.values import Figures

EVENTS_AT_ONCE = 2_000_000
MOST_FILES = 16
"""Files of a day above which they are put into one."""


def lock(silo_path: str) -> Any:
    """Return the lock under which counts and files of events are changed."""
    return Locks(os.path.join(silo_path, ".silo", "locks")).hold_name("usage-count")


def import_lock(silo_path: str) -> Any:
    """Return the lock under which lines are imported."""
    return Locks(os.path.join(silo_path, ".silo", "locks")).hold_name("usage-import")


def count(
    silo_path: str, ledger: Ledger, progress: Callable[[int], object] = lambda _: None
) -> list[str]:
    """Count all days whose events have changed; return them.

    Args:
        silo_path: The Silo.
        ledger: Its ledger.
        progress: Called with the number of days counted so far.
    """
    done: list[str] = []
    if not ledger.stale():
        return done
    with lock(silo_path), engine(silo_path) as steps, Counts(silo_path, "create") as counts:
        for days in _groups(ledger):
            names = {day: {name for name, _ in ledger.files(day)} for day in days}
            with counts.changing() as change:
                for day, rows in _counted(silo_path, steps, ledger, days):
                    change.replace_day(day, rows)
            ledger.counted(names)
            done += days
            progress(len(done))
        for day in done:
            if len(ledger.files(day)) > MOST_FILES:
                merge_files(silo_path, steps, ledger, day)
    return done


def _groups(ledger: Ledger) -> Iterator[list[str]]:
    """Yield the days to be counted, in groups of about `EVENTS_AT_ONCE`."""
    group: list[str] = []
    events = 0
    for day in ledger.stale():
        number = sum(events for _, events in ledger.files(day))
        if group and events + number > EVENTS_AT_ONCE:
            yield group
            group, events = [], 0
        group.append(day)
        events += number
    if group:
        yield group


def _counted(
    silo_path: str, steps: Engine, ledger: Ledger, days: list[str]
) -> Iterator[tuple[str, list[DayItem]]]:
    """Yield the counts of each day."""
    numbers = [day_number(day) for day in days]
    needed = {*days, *(day_text(number + 1) for number in numbers)}
    files = [
        event_path(silo_path, day, name) for day in sorted(needed) for name, _ in ledger.files(day)
    ]
    if not files:
        yield from ((day, []) for day in days)
        return
    steps.run("events", files=files)
    steps.run("clicks", days=numbers).run("sessions").run("clients", days=numbers)
    countries: dict[tuple[int, str], list[tuple[str, int, int]]] = {}
    for rows in steps.run("countries").rows():
        for day, item, *country in rows:
            countries.setdefault((day, item), []).append((country[0], country[1], country[2]))
    left = set(days)
    for number, of_day in groupby(_rows(steps.run("figures")), key=lambda row: row[0]):
        left.discard(day_text(number))
        yield day_text(number), [_day_item(row, countries) for row in of_day]
    steps.drop(("event", "click", "session", "client"))
    yield from ((day, []) for day in sorted(left))


def _rows(steps: Engine) -> Iterable[tuple[Any, ...]]:
    for rows in steps.rows():
        yield from rows


def _day_item(
    row: tuple[Any, ...], countries: dict[tuple[int, str], list[tuple[str, int, int]]]
) -> DayItem:
    day, item, machine, *figures, first, last = row
    known = () if machine else tuple(countries.get((day, item), ()))
    return DayItem(
        item, machine=machine, figures=Figures(*figures), first=first, last=last, countries=known
    )
