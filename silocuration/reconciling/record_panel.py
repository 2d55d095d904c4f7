"""The identifiers of a record's values, as a panel of its page."""

from collections.abc import Iterator
from contextlib import suppress

from recordsilo import Silo
from recordsilo.panels import Cell, Panel, PanelView
from silocuration.authorities import (
    FIELDS,
    AuthoritiesUnreadable,
    Authority,
    read_authorities,
)

MOST = 200
"""Values of a record that are looked up."""


def identifiers_of(silo: Silo, identifier: str) -> Iterator[tuple[str, Authority]]:
    """Yield (field, what a value means) for the values of a record that have an identifier."""
    described = silo.described([identifier]).get(identifier)
    for field in FIELDS:
        values = described.values.get(field, ())[:MOST] if described else ()
        if values:
            with suppress(AuthoritiesUnreadable):
                known = read_authorities(silo.path, field)
                yield from ((field, known[one]) for one in values if one in known)


def _show(silo: Silo, identifier: str, _language: str) -> PanelView | None:
    """The values that have identifiers, with their links; None if none has."""
    rows = tuple(
        (one.value, Cell(" ".join(filter(None, (one.scheme, one.id, one.name))), one.link))
        for _field, one in identifiers_of(silo, identifier)
    )
    return PanelView(rows=rows) if rows else None


IDENTIFIERS = Panel("identifiers", "Identifiers", 20, _show)
