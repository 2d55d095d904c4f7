"""The records that the form of an export selects.

The form has fields of its own for words, a set and a status. All other conditions, which come
from the search that led to it, are shown beside them and sent on in the field ``search``.

The address of a form has the query of a search as it is, or in ``search``. As it is, each field
that a search has is a condition, even if the form has a field of that name, such as ``type``. With
``search`` only its query and the fields for words, a set and a status are conditions.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from webui import urls
from webui.http.messages import parse_pairs
from webui.search.chosen_records import Chosen, search_of, selected
from webui.search.facets import Chips, chips, value_label
from webui.search.request import Pair, SearchRequest, is_of_search
from webui.site import Call

SEARCH = "search"
"""The field with the conditions that have no field of their own."""
COUNTED = "counted"
"""The field with the query whose number of records the form shows."""
_FIELDS = ("q", "set", "state")


@dataclass(frozen=True, slots=True)
class FormSelection:
    """What stands in the form.

    Attributes:
        chosen: The records that it selects.
        own: Its own fields, with their values; a field that has several values is not among
            them, and the form does not show it.
        kept: The other conditions.
        chips: The same, each with the address of the form without it.
        words: What they say, for a name.
    """

    chosen: Chosen
    own: Mapping[str, str]
    kept: tuple[Pair, ...]
    chips: tuple[Chips, ...]
    words: tuple[str, ...]

    @property
    def search(self) -> str:
        """The other conditions as a query."""
        return urls.query(self.kept)

    @property
    def counted(self) -> str:
        """All conditions as a query; equal for equal selections."""
        return urls.query((*self.kept, *((n, v) for n, v in self.own.items() if v)))


def conditions_and_fields(
    given: Iterable[Pair], own: Collection[str]
) -> tuple[list[Pair], list[Pair]]:
    """Divide the address of a form into conditions for `form_selection` and fields of the form.

    Args:
        own: The names of the fields that are no conditions. All other names count as conditions.
    """
    pairs = list(given)
    if any(name == SEARCH for name, _value in pairs):
        return pairs, pairs
    fields = [pair for pair in pairs if not is_of_search(pair[0])]
    return [pair for pair in pairs if pair not in fields or pair[0] not in own], fields


def form_selection(call: Call, pairs: Iterable[Pair], url: str) -> FormSelection:
    """Read the selection from an address, or from the form's own fields.

    Args:
        pairs: The fields of an address or of the sent form.

    Raises:
        BadRequest, Conflict, SearchNotFound, SearchUnreadable: See `selected`.
    """
    given = list(pairs)
    fields = dict(given)
    if SEARCH in fields:
        given = [*parse_pairs(fields[SEARCH]), *((name, fields.get(name, "")) for name in _FIELDS)]
    chosen = selected(call, search_of(given))
    named = dict(parse_pairs(chosen.search))
    token = [("selection", named["selection"])] if "selection" in named else []
    request = SearchRequest.of_selection(chosen.select)
    conditions = request.asked
    values = {name: [v for n, v in conditions if n == name] for name in _FIELDS}
    own = {name: "".join(some) for name, some in values.items() if len(some) < 2}
    kept = tuple(pair for pair in conditions if pair[0] not in own)
    others = replace(request, q="", chosen=tuple(p for p in request.chosen if p in kept))
    always = urls.query((*token, *((name, value) for name, value in own.items() if value)))

    def at(search_url: str) -> str:
        rest = search_url.partition("?")[2]
        return urls.with_search(url, "&".join(filter(None, (always, rest))))

    shown = tuple(
        replace(group, choices=tuple(replace(one, url=at(one.url)) for one in group.choices))
        for group in chips(others, partial(value_label, call.site))
    )
    words = [v if n == "q" else value_label(call.site, n, v) for n, v in conditions]
    if chosen.select.identifiers:
        words = ["selected", *words]
    return FormSelection(chosen, own, (*token, *kept), shown, tuple(words))
