"""Whether counts, events and keys belong together, before they are read."""

import os

from usagestats.errors import CountsLost, KeysMissing, NothingImported, PartMissing
from usagestats.store.counts import Counts
from usagestats.store.events import day_number, day_text
from usagestats.store.keys import Keys
from usagestats.store.ledger import Ledger
from usagestats.store.places import counts_path, ledger_path


def check_counts(silo_path: str) -> None:
    """Check that the counts are there, if days were counted; else nothing would look like zeros.

    Raises:
        CountsLost: They are missing, but can be made again from the events.
        PartMissing: They are missing, and so are the events of frozen days.
    """
    path = counts_path(silo_path)
    if has_content(path):
        return
    with Ledger(silo_path, "read") as ledger:
        if was_counted(ledger):
            if ledger.frozen():
                raise PartMissing(path, ledger_path(silo_path))
            raise CountsLost(path, silo_path)


def check_imported(silo_path: str) -> None:
    """Check that something was imported, and that its counts are there.

    Raises:
        NothingImported: Nothing was imported.
        CountsLost, PartMissing: As `check_counts`.
    """
    check_counts(silo_path)
    with Counts(silo_path) as counts, Ledger(silo_path, "read") as ledger:
        if not counts.stamp() and not ledger.receipts():
            raise NothingImported(silo_path)


def check_keys(silo_path: str, ledger: Ledger) -> None:
    """Check that the keys of all days with events are there, before lines are read.

    Raises:
        KeysMissing: With other keys, the same visitor would count twice, and not be forgotten.
    """
    known = set(Keys(silo_path).days())
    if missing := [day for day in ledger.days_with_events() if day not in known]:
        raise KeysMissing(silo_path, missing, day_text(day_number(missing[-1]) + 1))


def has_content(path: str) -> bool:
    """Whether there is a file that is not empty."""
    return os.path.exists(path) and os.path.getsize(path) > 0


def was_counted(ledger: Ledger) -> bool:
    """Whether the counts have days: an import adds to the ledger first, and notes last what was
    counted.
    """
    return bool(set(ledger.days()) - set(ledger.stale()))
