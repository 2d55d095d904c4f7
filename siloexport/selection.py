"""The selection of an export, checked again when a record is sent."""

from recordsilo.index.search_values import NOT
from recordsilo.records.manifest import Manifest
from recordsilo.selection import Selection


def is_in_state(selection: Selection, manifest: Manifest) -> bool:
    """Whether the current version of the record still has a status that the selection wants."""
    values, state = selection.filters.values, manifest.current.state
    wanted, excluded = values.get("state"), values.get("state" + NOT, ())
    return (not wanted or state in wanted) and state not in excluded
