"""The selection of an export: read from the ledger, and checked again when a record is sent."""

from collections.abc import Mapping
from typing import Any

from recordsilo.index.search_values import NOT
from recordsilo.records.manifest import Manifest
from recordsilo.selection import Selection, filters_from, selection_from


def is_in_state(selection: Selection, manifest: Manifest) -> bool:
    """Whether the current version of the record still has a status that the selection wants."""
    values, state = selection.filters.values, manifest.current.state
    wanted, excluded = values.get("state"), values.get("state" + NOT, ())
    return (not wanted or state in wanted) and state not in excluded


def kept_selection(values: Mapping[str, Any]) -> Selection:
    """Read the selection of a run from the ledger; earlier releases stored four fields."""
    if "set_spec" not in values:
        return selection_from(values)
    filters = filters_from(set_spec=values["set_spec"], state=values["state"])
    return Selection(values["query"], filters, tuple(values["items"]))
