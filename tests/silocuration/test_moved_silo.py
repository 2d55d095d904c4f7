"""What curators decide is not written where a Silo was."""

from collections.abc import Callable
from pathlib import Path

import pytest
from moved_silo import check_written_within

from recordsilo.selection import Selection
from silocuration.activity import Activity, log_activity
from silocuration.reconciling.store import Reconciliation
from silocuration.review.variants import Distinct, take_back
from silocuration.searches import SavedSearch, save_search

NOW = "2026-11-24T06:11:00Z"


def _activity(silo: str) -> None:
    log_activity(silo, [Activity(date=NOW, agent="ada", action="edit")])


USES: dict[str, Callable[[str], object]] = {
    "activity": _activity,
    "variants": lambda silo: take_back(
        silo, Distinct("creator", ("A", "B"), NOW, "ada"), agent="ada"
    ),
    "search": lambda silo: save_search(
        silo, SavedSearch("solar", "Solar", Selection("solar"), "ada", NOW)
    ),
    "reconciliation": lambda silo: Reconciliation(silo, "staff", "creator").add({"A": []}),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_nothing_is_written_where_a_silo_was(tmp_path: Path, use: Callable[[str], object]) -> None:
    check_written_within(tmp_path, use, "curation")
