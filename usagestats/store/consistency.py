"""Whether counts, events and keys belong together, before they are read or written."""

import os

from usagestats.errors import CountsLost, KeysMissing, NothingImported, PartMissing, ZoneChanged
from usagestats.store.counts import UsageCounts
from usagestats.store.events import day_number, day_text
from usagestats.store.keys import Keys
from usagestats.store.ledger import UsageLedger
from usagestats.store.paths import counts_path, ledger_path
from usagestats.store.queries import bounds


def check_counts(silo_path: str) -> None:
    """Check that the counts are there, if days were counted; else nothing would look like zeros.

    Raises:
        CountsLost, PartMissing: As `are_counts_lost`.
    """
    with UsageLedger(silo_path, "read") as ledger:
        if are_counts_lost(silo_path, ledger):
            raise CountsLost(counts_path(silo_path), silo_path)


def are_counts_lost(silo_path: str, ledger: UsageLedger) -> bool:
    """Whether the counts of counted days are missing, but can be made again from the events.

    Raises:
        PartMissing: They are missing, and so are the events of frozen days.
    """
    path = counts_path(silo_path)
    if os.path.exists(path) and os.path.getsize(path):
        return False
    # An import adds to the ledger first, and notes last what was counted.
    if not set(ledger.days()) - set(ledger.stale()):
        return False
    if ledger.frozen():
        raise PartMissing(path, ledger_path(silo_path))
    return True


def check_ledger(silo_path: str, ledger: UsageLedger, timezone: str = "") -> None:
    """Check that the ledger and the counts belong together, before either is written.

    Else the counts of days would be replaced by those of their new lines alone, or be lost when
    their events are. If counts are lost that can be made again, their days become stale.

    Args:
        ledger: Its ledger.
        timezone: Of the settings; ``""``: it is not compared.

    Raises:
        PartMissing: One of them is missing or empty, and cannot be made again.
        ZoneChanged: The days are of another time zone.
    """
    if are_counts_lost(silo_path, ledger):
        ledger.set_stale(ledger.days())
    if not ledger.days():
        with UsageCounts(silo_path) as counts:
            if bounds(counts) is not None:
                raise PartMissing(ledger_path(silo_path), counts_path(silo_path))
    if timezone and (stored := ledger.fixed("timezone", timezone)) != timezone:
        raise ZoneChanged(stored, timezone)


def check_imported(silo_path: str) -> None:
    """Check that something was imported, and that its counts are there.

    Raises:
        NothingImported: Nothing was imported.
        CountsLost, PartMissing: As `are_counts_lost`.
    """
    check_counts(silo_path)
    with UsageCounts(silo_path) as counts, UsageLedger(silo_path, "read") as ledger:
        if not counts.stamp() and not ledger.receipts():
            raise NothingImported(silo_path)


def check_keys(silo_path: str, ledger: UsageLedger) -> None:
    """Check that the keys of all days with events are there, before lines are read.

    Raises:
        KeysMissing: With other keys, the same visitor would count twice, and not be forgotten.
    """
    known = set(Keys(silo_path).days())
    if missing := [day for day in ledger.days_with_events() if day not in known]:
        raise KeysMissing(silo_path, missing, day_text(day_number(missing[-1]) + 1))
