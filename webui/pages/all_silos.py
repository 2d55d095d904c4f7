"""The page ``/search`` of a directory of Silos: one search over all of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from recordsilo.disk.identifier import url_segment
from recordsilo.errors import SearchError
from recordsilo.index import FacetValue
from recordsilo.index.search_values import facet_of
from silofleet.errors import WishesInvalid
from silofleet.search.errors import IndexUnusable, TooManySilos
from silofleet.search.nodes import HERE, VALUES_OF_NODES
from silofleet.search.tokens import is_token
from silofleet.search.values import (
    REPOSITORY,
    SORTS,
    AllSearch,
    HitPlace,
    SearchHit,
    fields,
    sorts,
    usual_facets,
)
from webui import urls
from webui.directory import DirectoryCall
from webui.http.errors import BadRequest, Busy, as_sentence
from webui.http.messages import Request, Response
from webui.rendering import View, json_answer
from webui.search.facets import FacetView, chips, choices, label_of
from webui.search.request import SearchRequest, facet_label, order_label
from webui.words.texts import text as _

SHOWN = 12
"""Values of a facet beside the results; all of one are shown by ``more``."""
_ALL = 1000
_OWN = ("start", "more", "facet", HERE)


def is_of_node(request: Request, directory: str) -> bool:
    """Whether another node asks for the Silos here, with the token of this directory."""
    return (
        request.raw_path == "/search.json"
        and bool(request.query.get(HERE))
        and is_token(directory, request.headers.get("authorization", ""))
    )


@dataclass(frozen=True, slots=True)
class HitView:
    """A hit as a line of the results.

    Attributes:
        url: Of its record.
        also: The name of a Silo, and the address of the record that is the same there.
    """

    hit: SearchHit
    url: str
    also: tuple[tuple[str, str], ...]


def show(call: DirectoryCall) -> View | Response:
    """Search all Silos.

    Raises:
        WebError: The search is wrong, or impossible now.
    """
    request, everywhere = call.request, call.site.everywhere
    asked = SearchRequest.of(request.pairs, also=_OWN, known=fields(), orders=sorts())
    more = request.query.get("more", "")
    is_node = bool(request.query.get(HERE))
    facets = usual_facets()
    counted = [value for name, value in request.pairs if name == "facet" and value]
    unknown = [name for name in counted if name not in fields()] if is_node else []
    counted = [name for name in counted if name not in unknown]
    values = VALUES_OF_NODES if is_node else _ALL if more in facets else SHOWN + 1
    search = _search(asked, request.start, tuple(counted) or facets, values)
    try:
        found = everywhere.search(search, only_here=is_node)
        nodes = {} if is_node else everywhere.nodes
    except (TooManySilos, IndexUnusable, WishesInvalid) as error:
        raise Busy(as_sentence(_bare(str(error), call.site.path))) from error
    missing = tuple(replace(one, why=_bare(one.why, call.site.path)) for one in found.missing)
    empty = dict.fromkeys(unknown, ())  # of packages that only the node that asks has
    found = replace(found, missing=missing, facets={**empty, **found.facets})
    if is_node and call.wants_json:  # indents for people cost more than the search
        return json_answer(found.as_json(), indent=None)
    data = {
        "request": asked,
        "sorts": [(name, order_label(name)) for name in sorts()],
        "found": found,
        "lines": [_line(hit, nodes) for hit in found.hits],
        "chips": tuple(chips(asked, _said, _label)),
        "facets": tuple(_facets(asked, found.facets, more)),
        "previous_url": _previous(asked, request.start),
        "next_url": asked.url(("start", str(search.end))) if found.has_more else "",
    }
    url = urls.with_search(urls.search(), urls.query(_pairs(asked, request.start)))
    return View("all_silos.mako", data, found.as_json, url)


def _bare(text: str, path: str) -> str:
    """A message without the path of the directory."""
    return text.replace(path + "/", "").replace(path, "DIR")


def _search(asked: SearchRequest, start: int, facets: tuple[str, ...], values: int) -> AllSearch:
    sort = asked.sort or SORTS[0]
    try:
        return AllSearch(asked.q, asked.filters, sort, asked.limit, start, facets, values)
    except SearchError as error:
        raise BadRequest(as_sentence(str(error))) from error


def _pairs(asked: SearchRequest, start: int) -> tuple[tuple[str, str], ...]:
    return (*asked.pairs, *((("start", str(start)),) if start else ()))


def _previous(asked: SearchRequest, start: int) -> str:
    before = max(0, start - asked.limit)
    return asked.url(*((("start", str(before)),) if before else ())) if start else ""


def record_url(place: HitPlace, nodes: Mapping[str, str]) -> str:
    """The page of a record in its Silo, here or on another node.

    Args:
        place: Where the record is.
        nodes: The addresses of nodes.
    """
    path = f"/silos/{quote(place.silo, safe='')}/records/{url_segment(place.identifier)}"
    return nodes[place.node].rstrip("/") + path if place.node else urls.at(path)


def _line(hit: SearchHit, nodes: Mapping[str, str]) -> HitView:
    also = tuple((one.silo, record_url(one, nodes)) for one in hit.also)
    return HitView(hit, record_url(hit.place, nodes), also)


def _label(name: str) -> str:
    return "Repository" if name == REPOSITORY else facet_label(name)


def _said(name: str, value: str) -> str:
    return value if name == REPOSITORY else label_of(name, value)


def _facets(
    asked: SearchRequest, counted: Mapping[str, Sequence[FacetValue]], more: str
) -> Iterator[FacetView]:
    for name, values in counted.items():
        in_use = [value for key, value in asked.chosen if facet_of(key) == name]
        shown = list(values if name == more else values[:SHOWN])
        known = {one.value for one in shown}
        shown += [FacetValue(one, 0) for one in dict.fromkeys(in_use) if one not in known]
        if not shown:
            continue
        has_more = len(values) > SHOWN and name != more
        yield FacetView(
            name=name,
            label=_(_label(name)),
            choices=tuple(choices(asked, name, shown, _said)),
            chosen=len(in_use),
            more_url=asked.url(("more", name)) if has_more else "",
            is_searched=False,
            order_url="",
            is_by_name=False,
            is_open=bool(in_use) or name in (REPOSITORY, "year", "type", more),
        )
