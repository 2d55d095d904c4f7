"""Lists of changes: what was added, changed and removed since a moment, with a reason each."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from recordsilo.disk.names import MANIFEST_NAME
from recordsilo.disk.stamps import modified
from recordsilo.errors import RecordSiloError
from recordsilo.index import SearchFilters
from recordsilo.index.search_values import bound_of
from recordsilo.records.events import Change, ChangeKind, change_since
from recordsilo.records.history import full
from recordsilo.records.manifest import date_text
from recordsilo.records.place import RecordPlace
from recordsilo.removals import Removal, removals_of
from recordsilo.selection import Selection
from recordsilo.silo import Silo
from recordsilo.silo_then import SiloThen


def moment_of(text: str) -> str:
    """The moment of a filter ``changed_since``, in the 2010 form with microseconds.

    Raises:
        SearchError: It is not a date.
    """
    bound_of(text, last=False)
    return full(date_text(text))


def changes_of(silo: Silo, identifiers: Sequence[str], since: str) -> dict[str, Change]:
    """What became of records that were changed at a moment or later.

    Args:
        silo: As it is, or as it was at a later moment.
        identifiers: As in `Row.identifier`.
        since: See `moment_of`.

    Returns:
        Without records that are gone or cannot be read.

    Cost: reads the manifest of each.
    """
    found = {}
    for identifier in identifiers:
        place = RecordPlace.in_silo(silo.path, identifier)
        try:
            record = silo.get(identifier)
            written = modified(f"{place.dirpath}/{MANIFEST_NAME}")
            if record is not None:
                found[identifier] = change_since(record.state, since, written)
        except (RecordSiloError, FileNotFoundError):
            continue
    return found


def removed_since(silo: Silo, since: str) -> list[tuple[Removal, Change]]:
    """The records that were removed from a Silo at a moment or later, by identifier.

    Those that were made after it, too, are among them; those that came back are not.

    Args:
        silo: As it is, or as it was at a later moment.
        since: See `moment_of`.
    """
    until = silo.moment if isinstance(silo, SiloThen) else "9"
    found = {
        one.identifier: one
        for one in removals_of(silo.path)
        if since <= full(one.at) <= until and one.identifier not in silo
    }
    return [
        (found[name], Change(ChangeKind.REMOVED, str(found[name]), full(found[name].at)))
        for name in sorted(found)
    ]


def only_changes(select: Selection) -> bool:
    """Whether a selection asks for nothing but changes and identifiers.

    Only then removed records can be told, because what they were is not kept.
    """
    filters = replace(select.filters, changed_since=None)
    return not select.query.strip() and filters == SearchFilters()


def removals_among(silo: Silo, select: Selection, since: str) -> Iterator[tuple[Removal, Change]]:
    """The removals that a selection asks for; see `only_changes`."""
    for removal, change in removed_since(silo, since):
        if not select.identifiers or removal.identifier in select.identifiers:
            yield removal, change
