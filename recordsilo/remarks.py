"""What in a search looks like a mistake, as clauses for people."""

from collections.abc import Iterator, Sequence
from reprlib import repr as shortened
from typing import Protocol

from recordsilo.errors import did_you_mean
from recordsilo.index import PageRequest, SearchFilters
from recordsilo.index.facets import facet_names
from recordsilo.index.query_syntax import COLUMN_OF_FIELD, has_word, misread
from recordsilo.index.search_values import ASKED, bound_of, facet_of, range_of
from recordsilo.search_result import SearchResult

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


def remarks_on(silo: Searching, query: str, filters: SearchFilters) -> Iterator[str]:
    """Say why a search that found nothing may not mean what was typed, a clause for each reason.

    Cost: a search for each value of the filters, of at most `LOOKED_UP`.
    """
    yield from unknown_fields(query)
    since, until = filters.since, filters.until
    if since and until and bound_of(since, last=False) > bound_of(until, last=True):
        yield f"the period ends ({until}) before it begins ({since})"
    if getattr(silo, "moment", ""):  # a `SiloThen`
        return
    wanted = [(name, one) for name, some in filters.values.items() for one in some]
    for name, value in wanted[:LOOKED_UP]:
        if name == facet_of(name) and name not in ASKED and range_of(name, value) is None:
            page = PageRequest(limit=1, facet_limit=LISTED)
            found = silo.search("", SearchFilters(values={name: [value]}), [name], page)
            if not found.total:
                known = (one.value for one in found.facets[name])
                yield f"no record has the {name} {value!r}{did_you_mean(value, known)}"


def unknown_fields(query: str) -> Iterator[str]:
    """Say which words of a query were probably meant as a field, whatever the search finds.

    An excluded word, such as ``-titel:solar``, excludes nothing if there is no such field.
    A query without a word, such as ``???``, finds all records.
    """
    if query.strip() and not has_word(query):
        yield f"the query {shortened(query)} has no word to search for, so it leaves out no record"
    for name, text, excluded in misread(query):
        if name in COLUMN_OF_FIELD:
            yield f"{name}: has no word behind its colon; write both together, as in {name}:solar"
        elif name in facet_names():
            meant = f"{name}{'!' if excluded else ''}={text or '…'}"
            yield f"{name}:{text} was searched as text; {name} is a filter: {meant}"
        else:
            known = (*COLUMN_OF_FIELD, *facet_names())
            yield (
                f"{name}:{text} was searched as text, because there is no field {name!r}; there "
                f"are {', '.join(COLUMN_OF_FIELD)}{did_you_mean(name, known)}"
            )
