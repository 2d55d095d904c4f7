"""Records as they were are not exported where newer ones are."""

from collections.abc import Mapping
from typing import Any

from recordsilo.records.history import full
from recordsilo.records.manifest import date_text
from recordsilo.selection import Selection
from siloexport.errors import HoldsNewer
from siloexport.ledger import Ledger


def check_time(ledger: Ledger, target: str, selection: Selection) -> None:
    """Check that an export of records as they were (`Selection.as_of`) replaces no newer ones.

    A target takes exports of one moment after the other. It holds what was in the Silo when a run
    ended, or at the moment of which that run was.

    Args:
        ledger: Of the target.
        target: What it is called.
        selection: Of the export.

    Raises:
        HoldsNewer: It holds records of a later moment, or of an unknown one.
    """
    if not selection.as_of or not ledger.counts()["records"]:
        return
    moments = [_moment(run.arguments, run.ended or run.started) for run in ledger.runs()]
    latest = max(moments, default="")
    if not latest or latest > full(date_text(selection.as_of)):
        raise HoldsNewer(target, selection.as_of, latest[:19])


def _moment(arguments: Mapping[str, Any], ended: str) -> str:
    selected = arguments.get("selection")
    as_of = selected.get("as_of") if isinstance(selected, dict) else None
    if isinstance(as_of, str) and as_of:
        return full(date_text(as_of))
    return f"{date_text(ended)[:19]}.999999"  # the ledger has whole seconds
