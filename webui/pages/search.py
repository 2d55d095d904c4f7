"""Search: words, facets, order and pages; the same answers as ``silo search``."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from recordsilo.index import FacetValue, SearchResult
from recordsilo.index.facets import contributed_names
from recordsilo.index.search_values import LARGE_FIELDS
from webui import urls
from webui.http.messages import Response, redirect
from webui.record.rows import RowView, row_views, rows_json
from webui.rendering import View
from webui.search.facets import Choice, choices, value_label
from webui.search.request import (
    PAGE_SIZES,
    SHOWN_VALUES,
    SORT_LABELS,
    SearchRequest,
    contributed_orders,
    facet_label,
)
from webui.site import Call, Site
from webui.words.texts import text as _

OPEN_AT_FIRST = frozenset({"set", "year", "type", "subject", "creator"})
"""Facets that are unfolded without being asked; those filtered by always are."""


@dataclass(frozen=True, slots=True)
class FacetView:
    """A facet beside the results.

    Attributes:
        more_url: Where all its values are; empty where all are shown, or none.
        is_counted: False for a facet on demand that nobody asked for yet.
    """

    name: str
    label: str
    choices: tuple[Choice, ...]
    more_url: str
    is_counted: bool
    is_open: bool


@dataclass(frozen=True, slots=True)
class SearchView:
    """A page of what was found.

    Attributes:
        named: The record whose identifier or DOI is asked for.
    """

    request: SearchRequest
    rows: tuple[RowView, ...]
    total: int
    sort: str
    facets: tuple[FacetView, ...]
    chosen: tuple[Choice, ...]
    next_url: str
    previous_url: str
    named: str | None


DONE: Mapping[str, str] = {
    "record-deleted": "Record deleted. Later harvests will not restore it.",
}


def show(call: Call) -> View | Response:
    """A page of the records that are found; an identifier or a DOI leads to its record."""
    request = SearchRequest.of(call.request.pairs, also=("saved", "done"))
    named = call.site.named(request.q) if request.is_words_only else None
    if named is not None and not call.wants_json:
        words = urls.query([("q", f'"{request.q.strip()}"')])
        return redirect(urls.record(named, **{"from": words}))
    result = call.site.silo.search(request.q, request.filters, request.facets, request.page)
    view = _view(call.site, request, result, named)
    data = {
        "page": view,
        "sorts": [(name, _order_label(name)) for name in request.orders],
        "done": _(DONE.get(call.request.query.get("done", ""), "")),
        "page_sizes": PAGE_SIZES,
        "request_query": urls.search(request.asked).partition("?")[2],
        "downloads": download_links(request),
    }
    return View("search.mako", data, lambda: _as_json(call.site, view, result), request.own_url)


def _order_label(order: str) -> str:
    """An order in words."""
    if order in SORT_LABELS:
        return _(SORT_LABELS[order])
    title = contributed_orders()[order]
    if order.startswith("-"):
        return _("{number}, highest first", number=_(title))
    return _("{number}, lowest first", number=_(title))


def _view(
    site: Site, request: SearchRequest, result: SearchResult, named: str | None
) -> SearchView:
    return SearchView(
        request=request,
        rows=row_views(site, result.rows, request.way_back),
        total=result.total,
        sort=result.sort,
        facets=tuple(_facets(site, request, result.facets)),
        chosen=tuple(_chosen(site, request)),
        next_url=request.following_url(result.next_page) if result.next_page else "",
        previous_url=request.previous_url,
        named=named,
    )


def _facets(
    site: Site, request: SearchRequest, counted: Mapping[str, tuple[FacetValue, ...]]
) -> Iterator[FacetView]:
    for name in (*counted, *(name for name in LARGE_FIELDS if name not in counted)):
        values = counted.get(name, ())
        if not values and name in contributed_names():
            continue  # a package is there, and has nothing to say of these records
        chosen = [value for field, value in request.chosen if field == name]
        yield FacetView(
            name=name,
            label=_(facet_label(name)),
            choices=tuple(choices(site, request, name, values[:SHOWN_VALUES])),
            more_url=request.url(("field", name), action="values")
            if len(values) > SHOWN_VALUES or name not in counted
            else "",
            is_counted=name in counted,
            is_open=bool(chosen) or (name in counted and name in OPEN_AT_FIRST),
        )


def _chosen(site: Site, request: SearchRequest) -> Iterator[Choice]:
    """The filters and bounds that are set, each with the search without it."""
    for name, value in request.chosen:
        label = f"{_(facet_label(name))}: {value_label(site, name, value)}"
        yield Choice(value, label, 0, request.without((name, value)).url(), True)
    for name, value, label in (
        ("since", request.since, _("Changed since {date}", date=request.since)),
        ("until", request.until, _("Changed until {date}", date=request.until)),
    ):
        if value:
            yield Choice(value, label, 0, request.without((name, value)).url(), True)


def _as_json(site: Site, view: SearchView, result: SearchResult) -> dict[str, Any]:
    return {
        "total": view.total,
        "sort": view.sort,
        "record": urls.twin(urls.record(view.named)) if view.named else None,
        "limit": view.request.limit,
        "records": list(rows_json(site, view.rows)),
        "facets": {
            name: [{"value": one.value, "count": one.count} for one in values[:SHOWN_VALUES]]
            for name, values in result.facets.items()
        },
        "after": result.next_page,
        "next": urls.twin(view.next_url) if view.next_url else None,
        "previous": urls.twin(view.previous_url) if view.previous_url else None,
    }


def download_links(request: SearchRequest) -> dict[str, str]:
    """Where all that a search finds is to be had."""
    pairs = (*request.asked, *((("sort", request.sort),) if request.sort else ()))
    return {
        "CSV": urls.search(pairs, "results.csv"),
        "JSON lines": urls.search(pairs, "results.jsonl"),
    }
