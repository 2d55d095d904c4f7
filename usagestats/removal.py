"""What happens to the usage of records that were removed for good."""

import os
from collections.abc import Sequence

from recordsilo import Silo
from recordsilo.removals import OnRemoval
from usagestats.counting import count, lock
from usagestats.entities.catalogue import EntityCatalogue
from usagestats.store.counts import Period, UsageCounts
from usagestats.store.events import engine, rewrite_without
from usagestats.store.ledger import UsageLedger
from usagestats.store.paths import counts_path, ledger_path
from usagestats.store.queries import days_of


def _forget(silo_path: str, identifiers: Sequence[str]) -> None:
    """Remove the events and counts of records; sums of the site become smaller by them.

    Logs of live lines have no identifiers of records; they are deleted when their days freeze.

    Raises:
        UsageError, OSError: Events, counts or the ledger cannot be read or written.
    """
    if not os.path.exists(ledger_path(silo_path)):
        return
    is_counted = os.path.exists(counts_path(silo_path))
    with UsageLedger(silo_path, "write") as ledger:
        with lock(silo_path):
            with UsageCounts(silo_path) as counts:
                known = _days_of(counts, identifiers) if is_counted else {*ledger.days()}
            used = known | {*ledger.stale()}
            days = sorted(used & {*ledger.not_frozen("~")})
            if days:
                with engine(silo_path) as steps:
                    for day in days:
                        rewrite_without(
                            silo_path, steps, ledger, day, "without_items", items=[*identifiers]
                        )
            if is_counted:
                with UsageCounts(silo_path, "write") as counts, counts.changing() as change:
                    change.remove_items(identifiers)
        count(silo_path, ledger)
    if not os.path.exists(counts_path(silo_path)):
        return  # nothing was imported
    with (
        Silo(silo_path, create=False) as silo,
        UsageCounts(silo_path) as counts,
    ):
        catalogue = EntityCatalogue(silo, counts)
        try:
            catalogue.refresh()
        finally:
            catalogue.close()


def _days_of(counts: UsageCounts, identifiers: Sequence[str]) -> set[str]:
    return {day for one in identifiers for day, _ in days_of(counts, [one], Period())}


REMOVAL = OnRemoval("usage", _forget)
