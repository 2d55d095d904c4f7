"""All values of one facet, filtered while the user types: for long facets such as subjects."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from recordsilo.index import FacetValue
from recordsilo.index.facets import countable_names
from silocuration.review.counts import CLUSTERED
from webui import urls
from webui.http.errors import BadRequest
from webui.rendering import View
from webui.search.facets import choices, sorted_values, value_label
from webui.search.request import SearchRequest, facet_label
from webui.site import Call
from webui.words.texts import text as _

EVERY = 1_000_000
"""Maximum number of values that are read."""
MOST = 100
"""Maximum number of values on the page."""


def show(call: Call) -> View:
    """Show the values of ``field`` in the records found, if they contain ``match``."""
    fields = call.request.query
    name, match = fields.get("field", ""), fields.get("match", "").strip()
    if name not in countable_names():
        raise BadRequest(
            "Unknown facet; choose one of {known} (field).", known=", ".join(countable_names())
        )
    request = SearchRequest.of(call.request.pairs, also=("field", "match"))
    by_name = request.is_by_name(name)
    most = EVERY if match or by_name else MOST + 1
    page = replace(request.page, limit=1, after=None, facet_limit=most)
    result = call.site.silo.search(request.q, request.filters, [name], page)
    values = result.facets[name]
    found = _matching(sorted_values(values, name) if by_name else values, match)
    data = {
        "request": request,
        "field": name,
        "label": _(facet_label(name)),
        "match": match,
        "choices": tuple(
            choices(request, name, found[:MOST], partial(value_label, call.site), can_rename=True)
        ),
        "by_name": by_name,
        "is_field": name in CLUSTERED,
        "others": urls.query(request.without_field(name).asked),
        "has_more": len(found) > MOST,
    }
    twin = {
        "field": name,
        "match": match,
        "values": [{"value": one.value, "count": one.count} for one in found[:MOST]],
        "complete": len(found) <= MOST,
    }
    own = (*request.pairs, ("field", name), *((("match", match),) if match else ()))
    return View("facet.mako", data, twin, urls.search(own, "values"))


def _matching(values: Sequence[FacetValue], match: str) -> list[FacetValue]:
    """The values with every typed word; beginnings of words first, then by frequency."""
    words = _folded(match).split()
    if not words:
        return list(values)
    found: list[tuple[bool, FacetValue]] = []
    for one in values:
        text = " " + _folded(one.value)
        if all(word in text for word in words):
            found.append((not all(" " + word in text for word in words), one))
    return [one for _begins, one in sorted(found, key=lambda pair: pair[0])]


def _folded(text: str) -> str:
    """Return the text without case and accents."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))
