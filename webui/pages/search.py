"""Search: words, facets, order and pages; the same results as ``silo search``."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from recordsilo import SearchResult
from recordsilo.index import PageRequest
from webui import urls
from webui.contributed import offered_for_search
from webui.feeds import feed_of
from webui.http.messages import Response, parse_pairs, redirect
from webui.people.roles import Role
from webui.record.columns import (
    ListChoice,
    cells,
    choice_of,
    column_label,
    heads,
    keep_choice,
)
from webui.record.rows import RowView, row_views, rows_json
from webui.rendering import View, json_answer
from webui.search.facets import Chips, FacetView, chips, facet_views, value_label
from webui.search.highlight import FoundWords
from webui.search.nothing import NothingFound
from webui.search.repairing import repairable
from webui.search.request import (
    DEFAULT_SIZE,
    PAGE_SIZES,
    SHOWN_VALUES,
    YEAR,
    SearchRequest,
    order_label,
)
from webui.search.selections import COUNTED, ticks
from webui.site import Call, Site
from webui.words.texts import text as _


@dataclass(frozen=True, slots=True)
class SearchView:
    """A page of results.

    Attributes:
        named: The record whose identifier or DOI was searched for.
        nothing: If nothing was found, what was probably meant; else None.
    """

    request: SearchRequest
    rows: tuple[RowView, ...]
    total: int
    sort: str
    facets: tuple[FacetView, ...]
    chosen: tuple[Chips, ...]
    next_url: str
    previous_url: str
    named: str | None
    nothing: NothingFound | None


DONE: Mapping[str, str] = {
    "record-deleted": "Record deleted. Later harvests will not restore it.",
    "saved": "Search saved. It is listed under “Saved searches”.",
}


def show(call: Call) -> View | Response:
    """Show a page of results; an identifier or a DOI redirects to its record."""
    request = SearchRequest.of(call.request.pairs, also=("saved", "done", "view"))
    named = call.site.named(request.q) if request.is_words_only else None
    if named is not None and not call.wants_json:
        words = urls.query([("q", f'"{request.q.strip()}"')])
        return redirect(urls.record(named, **{"from": words}))
    result = call.site.silo.search(request.q, request.filters, request.facets, request.page)
    view, look = _view(call.site, request, result, named), choice_of(call)
    data = {
        "page": view,
        "sorts": [(name, order_label(name)) for name in request.orders],
        "may_harvest": call.user.may(Role.MANAGER),
        "base_url": str(call.site.silo.state.get("base_oai_url") or ""),
        "feed_url": urls.search_feed(request.asked),
        "saved": call.request.query.get("saved", ""),
        "done": _(DONE.get(call.request.query.get("done", ""), "")),
        "page_sizes": PAGE_SIZES,
        "look": look,
        "repairable": repairable(request),
        "words": _words(call, request, result, look),
        "view_is_open": call.request.query.get("view") == "open",
        "heads": tuple(heads(look, result.sort)),
        "sort_url": lambda sort: replace(request, sort=sort, after="", back=()).url(),
        "column_label": column_label,
        "cells": partial(cells, call.site),
        "request_query": urls.search(request.asked).partition("?")[2],
        "downloads": download_links(request),
        "offered": offered_for_search(call.user),
        "selection": ticks(call, (row.identifier for row in result.rows), _among(request, result)),
    }
    return View("search.mako", data, lambda: _as_json(call.site, view, result), request.own_url)


def _among(request: SearchRequest, result: SearchResult) -> str:
    """The query of the search, if its selected records are counted; else empty."""
    is_small = result.total <= COUNTED and not request.is_everything
    return urls.query(request.asked) if is_small else ""


def feed(call: Call) -> Response:
    """Send the newest results of a search as an Atom feed."""
    request = SearchRequest.of(call.request.pairs)
    newest = PageRequest(limit=DEFAULT_SIZE, sort="newest")
    rows = call.site.silo.search(request.q, request.filters, [], newest).rows
    title = request.selection.said(call.site.set_name) or _("All records")
    own_url = urls.search_feed(request.asked)
    return feed_of(call, rows, (own_url, urls.search(request.asked)), title=title)


def choose_look(call: Call) -> Response:
    """Store how the user lists records: the look, and the table's columns, in the form's order."""
    fields = call.form.fields
    wanted = [one.removeprefix("column-") for one in fields if one.startswith("column-")]
    widths = {name: call.field(f"width-{name}") for name in wanted}
    move = call.field("move")
    choice = ListChoice.of(call.field("look"), wanted, widths).moved(move)
    headers = keep_choice(call, choice)
    if call.wants_json:
        said = {"look": choice.look, "columns": choice.columns, "widths": dict(choice.widths)}
        return json_answer(said, 200, headers)
    pairs = [*parse_pairs(call.field("search")), *([("view", "open")] if move else [])]
    location = urls.with_search(urls.search(), urls.query(pairs))
    return Response(303, headers={**headers, "Location": location})


def _words(
    call: Call, request: SearchRequest, result: SearchResult, look: ListChoice
) -> FoundWords | None:
    """The words to be marked; the abstracts are read only where parts of them are shown."""
    if not request.q or call.wants_json:
        return None
    shown = [row.identifier for row in result.rows] if look.look == "list" else []
    return FoundWords.of(request.q, call.site.silo.abstracts(shown) if shown else {})


def _view(
    site: Site, request: SearchRequest, result: SearchResult, named: str | None
) -> SearchView:
    return SearchView(
        request=request,
        rows=row_views(site, result.rows, request.way_back),
        total=result.total,
        sort=result.sort,
        facets=tuple(facet_views(site, request, result.facets)),
        chosen=tuple(chips(request, partial(value_label, site))),
        next_url=request.following_url(result.next_page) if result.next_page else "",
        previous_url=request.previous_url,
        named=named,
        nothing=None if result.total else NothingFound.of(site, request),
    )


def _as_json(site: Site, view: SearchView, result: SearchResult) -> dict[str, Any]:
    return {
        "total": view.total,
        "sort": view.sort,
        "record": urls.twin(urls.record(view.named)) if view.named else None,
        "remarks": list(view.nothing.remarks) if view.nothing else [],
        "meant": view.nothing.as_json if view.nothing else None,
        "limit": view.request.limit,
        "records": list(rows_json(site, view.rows)),
        "facets": {
            name: [
                {"value": one.value, "count": one.count}
                for one in (values if name == YEAR else values[:SHOWN_VALUES])
            ]
            for name, values in result.facets.items()
        },
        "filters": view.request.selection_table,
        "after": result.next_page,
        "next": urls.twin(view.next_url) if view.next_url else None,
        "previous": urls.twin(view.previous_url) if view.previous_url else None,
    }


def download_links(request: SearchRequest) -> dict[str, str]:
    """The addresses of all results of a search as files."""
    pairs = (*request.asked, *((("sort", request.sort),) if request.sort else ()))
    return {
        _("List (CSV)"): urls.search(pairs, "results.csv"),
        _("List (JSON lines)"): urls.search(pairs, "results.jsonl"),
        _("Files (zip)"): urls.search(request.asked, "files.zip"),
        _("Bags (zip)"): urls.search(request.asked, "bags.zip"),
    }
