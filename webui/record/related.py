"""What a record's page leads to: addresses elsewhere, records of the same set, the search."""

from dataclasses import dataclass
from typing import Any

from recordsilo.errors import SearchError
from webui import urls
from webui.http.errors import BadRequest
from webui.http.messages import parse_pairs
from webui.record.rows import RowView, row_views
from webui.record.view import RecordView
from webui.search.request import SearchRequest
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


@dataclass(frozen=True, slots=True)
class Results:
    """The search that a record was reached from.

    Attributes:
        url: The page of its results.
        place: Of the record, from 1 on; 0 if the search does not find it any more.
        previous_url, next_url: The records next to it; empty at the ends.
    """

    url: str
    place: int = 0
    total: int = 0
    previous_url: str = ""
    next_url: str = ""

    def as_json(self) -> dict[str, Any]:
        """The same in the JSON twin."""
        return {
            "url": urls.twin(self.url),
            "place": self.place or None,
            "total": self.total,
            "previous": urls.twin(self.previous_url) if self.previous_url else None,
            "next": urls.twin(self.next_url) if self.next_url else None,
        }


def results_of(site: Site, identifier: str, query: str) -> Results | None:
    """The search that a record was reached from; None if the query is none.

    Args:
        query: `SearchRequest.way_back`.
    """
    if not query:
        return None
    try:
        request = SearchRequest.of(parse_pairs(query), also=("saved", "done"))
        found = site.silo.around(identifier, request.q, request.filters, request.sort or None)
    except (BadRequest, SearchError):
        return None
    if found is None:
        return Results(request.own_url)
    previous, following = (
        urls.record(one, **{"from": query}) if one else "" for one in (found.previous, found.next)
    )
    return Results(request.own_url, found.place, found.total, previous, following)
