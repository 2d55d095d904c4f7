"""Freeze days: destroy their keys and events; their counts stay."""

import os
import shutil

from usagestats.counting.counting import count, lock
from usagestats.importing.unreadable import key_name
from usagestats.push.outbox import Outbox, expire, outbox_path
from usagestats.store.events import day_number, day_text
from usagestats.store.keys import Keys
from usagestats.store.ledger import Ledger
from usagestats.store.places import events_path, place, unreadable_path


def freeze(silo_path: str, ledger: Ledger, before: str, *, young: bool = False) -> list[str]:
    """Freeze days; return those that were not frozen.

    Args:
        silo_path: The Silo.
        ledger: Its ledger.
        before: Days from this one on are not frozen.
        young: Whether to freeze days, too, that were first imported after `before`.
    """
    count(silo_path, ledger)
    days = ledger.not_frozen(before) if young else _in_a_row(ledger, before)
    keys = Keys(silo_path)
    with lock(silo_path):
        # The keys first: without them nobody can tell whose events these are.
        for day in days:
            keys.shred(day)
        if days and os.path.exists(outbox_path(silo_path)):
            with Outbox(silo_path) as outbox:
                expire(silo_path, outbox, before)
        ledger.freeze(days)
        for day in sorted({*days, *ledger.frozen()}):
            if os.path.isdir(events_path(silo_path, day)):
                shutil.rmtree(events_path(silo_path, day))
    for file in _old_lines(silo_path, before):
        keys.shred(key_name(file))
        os.unlink(unreadable_path(silo_path, file))
    return days


def _in_a_row(ledger: Ledger, before: str) -> list[str]:
    """Return the days to freeze; none after a day that is not frozen.

    So no day is counted again after its following one was frozen, in whose first seconds a double
    click may end.
    """
    ready, frozen = ledger.to_freeze(before), ledger.frozen()
    known = set(ledger.days())
    for day in ready:
        previous = day_text(day_number(day) - 1)
        if previous not in known or previous in frozen:
            frozen.add(day)
    return [day for day in ready if day in frozen]


def _old_lines(silo_path: str, before: str) -> list[str]:
    directory = place(silo_path, "unreadable")
    if not os.path.isdir(directory):
        return []
    days = (file.removesuffix(".log") for file in os.listdir(directory))
    return sorted(day for day in days if day < before)
