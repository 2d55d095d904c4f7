"""Freeze days: destroy their keys and events, while their counts stay; and forget a client."""

import os
import shutil
from collections.abc import Collection

from usagestats.counting import count, import_lock, lock
from usagestats.errors import EventsUnreadable
from usagestats.importing.unreadable import key_name
from usagestats.push.collecting import client_token
from usagestats.push.outbox import Outbox, outbox_path
from usagestats.store.consistency import check_keys
from usagestats.store.events import day_number, day_text, engine, rewrite_without
from usagestats.store.journal import UsageJournal, journal_path
from usagestats.store.keys import Keys, client_text, token
from usagestats.store.ledger import UsageLedger
from usagestats.store.paths import events_path, place, unreadable_path


def freeze(
    silo_path: str, ledger: UsageLedger, before: str, *, young: bool = False
) -> tuple[list[str], str]:
    """Freeze days, but those that cannot be counted: else their new events would be lost.

    Args:
        ledger: Its ledger.
        before: Days from this one on are not frozen.
        young: Whether to freeze days, too, that were first imported after `before`.

    Returns:
        The days that were not frozen before, and a sentence about those that cannot be counted.
    """
    if not ledger.days():
        return [], ""
    counted = count(silo_path, ledger)
    keys = Keys(silo_path)
    with import_lock(silo_path), lock(silo_path):
        if young:
            stale = set(ledger.stale())
            days = [day for day in ledger.not_frozen(before) if day not in stale]
        else:
            days = _in_a_row(ledger, before, counted.left)
        # First the ledger: no import makes another key for a frozen day. What is left below if
        # this is killed, the next call does.
        ledger.freeze(days)
        frozen, known = ledger.frozen(), set(ledger.days())
        for day in keys.days():
            # The key of a day without events is there for double clicks that end on the next one.
            if day in frozen or (day not in known and day_text(day_number(day) + 1) in frozen):
                keys.shred(day)
        if frozen and os.path.exists(outbox_path(silo_path)):
            with Outbox(silo_path) as outbox:
                outbox.expire(before)
        for day in frozen:
            for directory in (events_path(silo_path, day), place(silo_path, "logs", day)):
                if os.path.isdir(directory):
                    shutil.rmtree(directory)
    for file in _old_lines(silo_path, before):
        keys.shred(key_name(file))
        os.unlink(unreadable_path(silo_path, file))
    return days, counted.problem if any(day < before for day in counted.left) else ""


def _in_a_row(ledger: UsageLedger, before: str, left: Collection[str]) -> list[str]:
    """Return the days to freeze; none after a day that is not frozen.

    So no day is counted again after its following one was frozen, in whose first seconds a double
    click may end. Days that cannot be counted (`left`) do not keep others.
    """
    frozen, known, stale = ledger.frozen(), set(ledger.days()), set(ledger.stale())
    ready = [day for day in ledger.to_freeze(before) if day not in stale]
    for day in ready:
        previous = day_text(day_number(day) - 1)
        if previous not in known or previous in frozen or previous in left:
            frozen.add(day)
    return [day for day in ready if day in frozen]


def _old_lines(silo_path: str, before: str) -> list[str]:
    directory = place(silo_path, "unreadable")
    if not os.path.isdir(directory):
        return []
    days = (file.removesuffix(".log") for file in os.listdir(directory))
    return sorted(day for day in days if day < before)


def forget(silo_path: str, ledger: UsageLedger, address: str) -> tuple[int, int, str]:
    """Remove the events of a client from all days that are not frozen, and count them again.

    Returns:
        How many events, of how many days, and a sentence about those that cannot be read.
    """
    if not ledger.days():
        return 0, 0, ""
    check_keys(silo_path, ledger)
    keys = Keys(silo_path)
    events, days = 0, []
    unreadable: dict[str, list[str]] = {}
    with lock(silo_path), engine(silo_path) as steps:
        for day in ledger.not_frozen("~"):
            if keys.has_key(day):
                client = token(keys.key(day), client_text(address))
                removed, some = rewrite_without(
                    silo_path, steps, ledger, day, "without_client", client=client
                )
                events += removed
                if removed:
                    days.append(day)
                if some:
                    unreadable[day] = some
    _forget_elsewhere(silo_path, ledger, keys, address)
    count(silo_path, ledger)
    paths = [path for some in unreadable.values() for path in some]
    return events, len(days), str(EventsUnreadable(paths, list(unreadable))) if paths else ""


def _forget_elsewhere(silo_path: str, ledger: UsageLedger, keys: Keys, address: str) -> None:
    """Remove a client's lines from the logs of live lines, and what waits to be pushed of it."""
    known = {day: keys.key(day) for day in ledger.not_frozen("~") if keys.has_key(day)}
    if os.path.exists(journal_path(silo_path)):
        journal = UsageJournal(silo_path)
        with journal.lock():
            for day, key in known.items():
                texts = (client_text(address), address)
                marks = [b"[%016x]" % (token(key, text) & (1 << 64) - 1) for text in texts]
                journal.remove(day, marks)
        journal.close()
    if os.path.exists(outbox_path(silo_path)):
        with Outbox(silo_path) as outbox:
            for day, key in known.items():
                outbox.remove(day, {address, f"urn:ip:{address}", client_token(key, address)})
