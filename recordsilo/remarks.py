"""What in a search looks like a mistake, as clauses for people."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from reprlib import repr as shortened
from typing import NamedTuple, Protocol

from recordsilo.errors import did_you_mean
from recordsilo.index import PageRequest, SearchFilters
from recordsilo.index.facets import facet_called, facet_names
from recordsilo.index.query_syntax import COLUMN_OF_FIELD, WORD_ALIASES, has_word, misread
from recordsilo.index.search_values import ASKED, DATES, bound_of, facet_of, range_of
from recordsilo.index.typed_filters import filters_within, is_typed, split, written
from recordsilo.search_result import SearchResult
from recordsilo.wording import counted

LOOKED_UP, LISTED = 5, 10_000
"""Values of filters that are looked up in `remarks_on`, and values that are suggested from."""


class Searching(Protocol):
    """What is asked of a `Silo` here."""

    def search(
        self,
        query: str = "",
        filters: SearchFilters | None = None,
        facets: Sequence[str] = (),
        page: PageRequest | None = None,
    ) -> SearchResult:
        """See `Silo.search`."""

    def respelled(self, query: str) -> str:
        """See `Silo.respelled`."""


class Meant(NamedTuple):
    """What a query that found nothing probably meant.

    Attributes:
        query: Its words as the index has them.
        filters: The conditions; none if nothing is found with those of the search.
        total: The number of records; not 0.
    """

    query: str
    filters: SearchFilters
    total: int


def meant(silo: Searching, query: str, filters: SearchFilters) -> Meant | None:
    """What was probably meant by a query that found nothing; None if nothing near finds anything.

    Cost: two searches.
    """
    if said := silo.respelled(query):
        for conditions in (filters, SearchFilters()):
            if total := silo.search(said, conditions, page=PageRequest(limit=1)).total:
                return Meant(said, conditions, total)
    return None


class Wider(NamedTuple):
    """What a search that found nothing finds without one of its conditions.

    Attributes:
        name: The key of a filter, such as ``type!`` or ``since``; ``""`` are the words.
        said: The condition as on the command line.
        total: The number of records; not 0.
    """

    name: str
    said: str
    total: int


def wider(silo: Searching, query: str, filters: SearchFilters) -> list[Wider]:
    """What each condition leaves out, those that leave out most first; none if there is only one.

    Cost: a search for each condition, of at most `LOOKED_UP`.
    """
    query, filters = filters_within(query, filters)
    conditions = _conditions(query, filters)
    if len(conditions) < 2:
        return []
    found = []
    for name, said in list(conditions.items())[:LOOKED_UP]:
        others = "" if not name else query, _without(filters, name)
        if total := silo.search(*others, page=PageRequest(limit=1)).total:
            found.append(Wider(name, said, total))
    return sorted(found, key=lambda one: -one.total)


def _conditions(query: str, filters: SearchFilters) -> dict[str, str]:
    values = {name: " or ".join(f"{name}={one}" for one in v) for name, v in filters.values.items()}
    flags = {name: f"{name}={str(wanted).lower()}" for name, wanted in filters.flags.items()}
    dates = {name: f"{name} {day}" for name in DATES if (day := getattr(filters, name))}
    return {**values, **flags, **dates, **({"": "the words"} if has_word(query) else {})}


def _without(filters: SearchFilters, name: str) -> SearchFilters:
    if name in DATES:
        others = {day: getattr(filters, day) for day in DATES if day != name}
        return SearchFilters(filters.flags, filters.values, **others)
    flags = {key: wanted for key, wanted in filters.flags.items() if key != name}
    values = {key: some for key, some in filters.values.items() if key != name}
    return replace(filters, flags=flags, values=values)


def remarks_on(
    silo: Searching, query: str, filters: SearchFilters, *, offers: bool = True
) -> Iterator[str]:
    """Say why a search that found nothing may not mean what was typed, a clause for each reason.

    Args:
        silo: Where was searched.
        query: The words.
        filters: The conditions.
        offers: Whether to offer other searches, too: those of `meant` and `wider`.

    Cost: a search for each condition and for each value of the filters, of at most `LOOKED_UP`.
    """
    yield from unknown_fields(query)
    query, filters = filters_within(query, filters)
    since, until = filters.since, filters.until
    if since and until and bound_of(since, last=False) > bound_of(until, last=True):
        yield f"the period ends ({until}) before it begins ({since})"
    if getattr(silo, "moment", ""):  # a `SiloThen`
        return
    if offers:
        if said := meant(silo, query, filters):
            without = "" if said.filters == filters else ", without the filters"
            found = counted(said.total, "record")
            yield f"did you mean {said.query}? It finds {found}{without}"
        for one in wider(silo, query, filters):
            yield f"without {one.said}, it finds {counted(one.total, 'record')}"
    wanted = [(name, one) for name, some in filters.values.items() for one in some]
    for name, value in wanted[:LOOKED_UP]:
        if name == facet_of(name) and name not in ASKED and range_of(name, value) is None:
            page = PageRequest(limit=1, facet_limit=LISTED)
            looked_up = silo.search("", SearchFilters(values={name: [value]}), [name], page)
            if not looked_up.total:
                known = (one.value for one in looked_up.facets[name])
                yield f"no record has the {name} {value!r}{did_you_mean(value, known)}"


def unknown_fields(query: str) -> Iterator[str]:
    """Say which words of a query were probably meant as a field, whatever the search finds.

    An excluded word, such as ``-titel:solar``, excludes nothing if there is no such field.
    A query without a word, such as ``???``, finds all records.
    """
    query = split(query)[0]
    if query.strip() and not has_word(query):
        yield f"the query {shortened(query)} has no word to search for, so it leaves out no record"
    for name, text, excluded in misread(query):
        if WORD_ALIASES.get(name, name) in COLUMN_OF_FIELD:
            yield f"{name}: has no word behind its colon; write both together, as in {name}:solar"
        elif (called := facet_called(name)) in facet_names():
            can_be = f"{called}{'!' if excluded else ''}={text}"
            meant = can_be if is_typed(called, text) else written(called)
            yield f"{name}:{text} was searched as text; {called} is a filter: {meant}"
        else:
            known = (*COLUMN_OF_FIELD, *facet_names())
            yield (
                f"there is no field {name!r}, so {name}:{text} was searched as text; the fields "
                f"are {', '.join(COLUMN_OF_FIELD)}{did_you_mean(name, known)}"
            )
