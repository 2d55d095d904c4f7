"""The identifiers of a record's values, as a panel of its page."""

from collections.abc import Iterator
from contextlib import suppress

from recordsilo import Silo
from recordsilo.panels import Cell, Panel, PanelView
from recordsilo.selection import Selection
from silocuration.authorities import (
    FIELDS,
    INDEXED,
    AuthoritiesUnreadable,
    Authority,
    read_authorities,
)
from silocuration.review.any_field import values_read

MOST = 200
"""Values of a record that are looked up."""


def identifiers_of(silo: Silo, identifier: str) -> Iterator[tuple[str, Authority]]:
    """Yield (field, what a value means) for the values of a record that have an identifier."""
    described = silo.described([identifier]).get(identifier)
    for field in FIELDS:
        if field in INDEXED:
            values = described.values.get(field, ()) if described else ()
            if not values:
                continue
        with suppress(AuthoritiesUnreadable):
            known = read_authorities(silo.path, field, lambda _line, _row: None)
            if known and field not in INDEXED:
                wanted = Selection(identifiers=(identifier,))
                values = next(values_read(silo, wanted, field), ())
            if known:
                yield from ((field, known[one]) for one in values[:MOST] if one in known)


def _show(silo: Silo, identifier: str, _language: str) -> PanelView | None:
    """The values that have identifiers, with their links; None if none has."""
    rows = tuple(
        (one.value, Cell(" ".join(filter(None, (one.scheme, one.id, one.name))), one.link))
        for _field, one in identifiers_of(silo, identifier)
    )
    return PanelView(rows=rows) if rows else None


IDENTIFIERS = Panel("identifiers", "Identifiers", 20, _show)
