"""What a record's page leads to: addresses elsewhere, and records of the same set."""

from dataclasses import dataclass

from webui.record.rows import RowView, row_views
from webui.record.view import RecordView
from webui.site import Site

AROUND = 2
"""Records shown before and behind the one in view."""
_LINKED = ("identifiers", "relations", "sources")
MOST_LINKS = 12


@dataclass(frozen=True, slots=True)
class Link:
    """An address that is safe to follow."""

    href: str
    text: str


@dataclass(frozen=True, slots=True)
class Siblings:
    """The nearest records, by identifier, of a set the record is in."""

    name: str
    rows: tuple[RowView, ...]


def links_of(view: RecordView) -> tuple[Link, ...]:
    """The addresses in a record's identifiers, relations and sources, each once."""
    found = {
        value.href: Link(value.href, value.text)
        for field in view.fields
        if field.name in _LINKED
        for value in field.values
        if value.href
    }
    return tuple(found.values())[:MOST_LINKS]


def siblings_of(site: Site, view: RecordView) -> Siblings | None:
    """The neighbours in the smallest of the record's sets that has any."""
    counts = site.set_counts()
    for set_ in sorted(view.sets, key=lambda one: counts.get(one.spec, 0)):
        if rows := _around(site, view.identifier, set_.spec):
            return Siblings(set_.name, rows)
    return None


def _around(site: Site, identifier: str, spec: str) -> tuple[RowView, ...]:
    before = site.silo.page(limit=AROUND, before=identifier, set_spec=spec)
    behind = site.silo.page(limit=AROUND, after=identifier, set_spec=spec)
    return row_views(site, (*before.rows, *behind.rows))
