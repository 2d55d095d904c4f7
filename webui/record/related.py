"""Links on a record's page: web addresses, records of the same set, the search."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recordsilo.errors import SearchError
from webui import urls
from webui.http.errors import BadRequest
from webui.http.messages import parse_pairs, whole_number
from webui.record.rows import RowView, row_views
from webui.record.view import RecordPage
from webui.search.request import SearchRequest
from webui.site import Site

AROUND = 2
"""Number of records shown before and after this one."""
_LINKED = ("identifiers", "relations", "sources")
MOST_LINKS = 12


@dataclass(frozen=True, slots=True)
class SafeLink:
    """A link that is safe to follow."""

    href: str
    text: str


@dataclass(frozen=True, slots=True)
class Siblings:
    """The nearest records, by identifier, in a set of the record."""

    name: str
    rows: tuple[RowView, ...]


def links_of(view: RecordPage) -> tuple[SafeLink, ...]:
    """Return the addresses in a record's identifiers, relations and sources, each once."""
    found = {
        value.href: SafeLink(value.href, value.text)
        for field in view.fields
        if field.name in _LINKED
        for value in field.values
        if value.href
    }
    return tuple(found.values())[:MOST_LINKS]


def siblings_of(site: Site, view: RecordPage) -> Siblings | None:
    """Return the neighbours in the smallest of the record's sets that has other records."""
    counts = site.set_counts()
    for set_ in sorted(view.sets, key=lambda one: counts.get(one.spec, 0)):
        if rows := site.silo.neighbours(view.identifier, limit=AROUND, set_spec=set_.spec):
            return Siblings(set_.name, row_views(site, rows))
    return None


@dataclass(frozen=True, slots=True)
class Results:
    """The search that a record was reached from.

    Attributes:
        url: The page of results.
        place: The record's position from 1; 0 if the search no longer finds it.
        previous_url, next_url: The previous and the next record; empty at the ends.
    """

    url: str
    place: int = 0
    total: int = 0
    previous_url: str = ""
    next_url: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the values for the JSON twin."""
        return {
            "url": urls.twin(self.url),
            "place": self.place or None,
            "total": self.total,
            "previous": urls.twin(self.previous_url) if self.previous_url else None,
            "next": urls.twin(self.next_url) if self.next_url else None,
        }


def results_of(site: Site, identifier: str, query: str) -> Results | None:
    """Return the search that a record was reached from; None if the query is invalid.

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


def results_of_all(query: Mapping[str, str]) -> Results | None:
    """Return the search of all Silos that a record was reached from; None if there is none.

    Args:
        query: The fields of the record's address: ``all`` has the search, ``hit`` the place.
    """
    place = whole_number(query.get("hit", ""), 1, 1_000_000)
    if "all" not in query or place is None:
        return None
    pairs = [pair for pair in parse_pairs(query["all"]) if pair[0] not in ("hit", "of")]
    works = whole_number(query.get("of", ""), 0, 1_000_000) or 0

    def at(number: int) -> str:
        more = (("hit", str(number)), ("of", str(works)))
        return f"{urls.above_shelf()}search?{urls.query((*pairs, *more))}"

    return Results(
        f"{urls.above_shelf()}search?{urls.query(pairs)}",
        place if works else 0,
        works,
        at(place - 1) if place > 1 else "",
        at(place + 1) if place < works or not works else "",
    )
