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
from silofleet.search.everywhere import Everywhere
from silofleet.search.nodes import HERE, VALUES_OF_NODES
from silofleet.search.tokens import is_token
from silofleet.search.values import (
    LAST,
    REPOSITORY,
    SORTS,
    AllSearch,
    HitPlace,
    SearchAnswer,
    SearchHit,
    fields,
    sorts,
    usual_facets,
)
from webui import urls
from webui.directory import DirectoryCall
from webui.http.errors import BadRequest, NotFound, ServerBusy, as_sentence
from webui.http.messages import Request, Response, redirect, whole_number
from webui.rendering import View, json_answer
from webui.search.facets import FacetView, chips, choices, label_of
from webui.search.nothing import WayOut
from webui.search.request import SearchRequest, facet_label, order_label
from webui.words.texts import text as _

SHOWN = 12
"""Values of a facet beside the results; all of one are shown by ``more``."""
_ALL = 1000
COUNTED = 1000
"""So many hits are merged at most to count the works among them."""
_OWN = ("start", "more", "facet", "hit", "of", HERE)


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
    if request.query.get("hit") and not call.wants_json:
        return _open_hit(call, asked)
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
        raise ServerBusy(as_sentence(_bare(str(error), call.site.path))) from error
    missing = tuple(replace(one, why=_bare(one.why, call.site.path)) for one in found.missing)
    empty = dict.fromkeys(unknown, ())  # of packages that only the node that asks has
    found = replace(found, missing=missing, facets={**empty, **found.facets})
    if is_node and call.wants_json:  # indents for people cost more than the search
        return json_answer(found.as_json(), indent=None)
    works = 0 if call.wants_json else _works(everywhere, search, found)
    data = {
        "request": asked,
        "sorts": [(name, order_label(name)) for name in sorts()],
        "found": found,
        "works": works,
        "meant": _meant(everywhere, asked, search)
        if not (found.total or call.wants_json)
        else None,
        "lines": [
            _line(hit, nodes, _from(asked, place, works))
            for place, hit in enumerate(found.hits, request.start + 1)
        ],
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


def _meant(everywhere: Everywhere, asked: SearchRequest, search: AllSearch) -> WayOut | None:
    """The search whose words are spelled as in the Silos; None if that finds nothing either."""
    try:
        found = everywhere.meant(search)
    except (SearchError, TooManySilos, IndexUnusable):  # it is only an offer
        return None
    return WayOut(found[0], replace(asked, q=found[0]).url(), found[1]) if found else None


def _works(everywhere: Everywhere, search: AllSearch, found: SearchAnswer) -> int:
    """The number of works that a search finds, of which several Silos may have a record.

    Returns:
        0 if there are too many records to count it.
    """
    if not found.has_more:
        return search.offset + len(found.hits)
    if found.total > COUNTED:
        return 0
    return len(everywhere.search(replace(search, offset=0, limit=COUNTED, facets=())).hits)


def _from(asked: SearchRequest, place: int, works: int) -> str:
    """The fields by which a record's page leads back, and to the hits before and behind it."""
    return urls.query([("all", urls.query(asked.pairs)), ("hit", str(place)), ("of", str(works))])


def _open_hit(call: DirectoryCall, asked: SearchRequest) -> Response:
    """Lead to the record that is at a place in the results, from 1 on.

    Raises:
        BadRequest: It is no number.
        NotFound: There is no such hit, or no longer.
    """
    everywhere, query = call.site.everywhere, call.request.query
    place = whole_number(query["hit"], 1, LAST)
    if place is None:
        raise BadRequest("The place of a hit must be a number from 1 to {most}.", most=LAST)
    one = replace(asked, limit=1)
    found = everywhere.search(_search(one, place - 1, (), 1))
    if not found.hits:
        raise NotFound("There is no such hit. The records may have changed.")
    works = whole_number(query.get("of", ""), 0, COUNTED) or 0
    return redirect(_line(found.hits[0], everywhere.nodes, _from(asked, place, works)).url)


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


def _line(hit: SearchHit, nodes: Mapping[str, str], back: str) -> HitView:
    also = tuple((one.silo, record_url(one, nodes)) for one in hit.also)
    url = record_url(hit.place, nodes)
    return HitView(hit, url if hit.place.node else f"{url}?{back}", also)


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
