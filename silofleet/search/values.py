"""A search over all Silos, its hits and its answer, also as JSON. Pure."""

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from recordsilo.errors import SearchError, did_you_mean
from recordsilo.index import FacetValue, SearchFilters
from recordsilo.index.asked import check_asked
from recordsilo.index.facets import contributed_facets, contributed_orders, facet_names
from recordsilo.index.matching import number_of
from recordsilo.index.query_syntax import parse_query
from recordsilo.index.search_values import ASKED, NOT, facet_of, range_of, unknown_filter

REPOSITORY = "repository"
"""The field whose values are the names of Silos."""
FACETS = (REPOSITORY, "year", "type", "language", "publisher", "format")
"""Those of the store's own that are counted if nothing else is asked for."""
SORTS = ("relevance", "newest", "oldest")
LAST = 1000
"""The last hit that can be shown."""
NO_NUMBER = -sys.float_info.max
"""The score of a hit without the number that the hits are sorted by."""


def fields() -> tuple[str, ...]:
    """The fields that a search over all Silos filters and counts."""
    return (REPOSITORY, *(name for name in facet_names() if name != REPOSITORY))


def usual_facets() -> tuple[str, ...]:
    """The fields that are counted if nothing else is asked for."""
    found = (one.name for one in contributed_facets() if one.is_facet)
    return (*FACETS, *(name for name in found if name != REPOSITORY))


def sorts() -> tuple[str, ...]:
    """The orders of hits."""
    return (*SORTS, *contributed_orders())


def numbers_in(values: Iterable[str]) -> list[float]:
    """Those of some values that are numbers."""
    return [number for one in values if not math.isnan(number := number_of(one))]


@dataclass(frozen=True, slots=True)
class AllSearch:
    """What is searched for, and which part of the result is wanted.

    Attributes:
        words: As typed; the same syntax as in one Silo (docs/search.md).
        filters: Which records; the field `REPOSITORY` has names of Silos.
        sort: One of `sorts`. Without words, ``relevance`` means ``newest``.
        limit, offset: How many hits, and how many are skipped before.
        facets: The fields whose values are counted.
        facet_limit: The largest number of values of a facet.
    """

    words: str = ""
    filters: SearchFilters = field(default_factory=SearchFilters)
    sort: str = "relevance"
    limit: int = 25
    offset: int = 0
    facets: Sequence[str] = FACETS
    facet_limit: int = 50

    def __post_init__(self) -> None:
        """Check the names and numbers.

        Raises:
            SearchError: Unknown field or order, or a part behind `LAST`.
        """
        known = fields()
        for name in self.filters.fields:
            if name not in known:
                raise unknown_filter(name, known)
            if name != REPOSITORY:
                for value in self.filters.named(name):
                    check_asked(value, name) if name in ASKED else range_of(name, value)
        for kind, names, allowed in (
            ("facet", self.facets, tuple(name for name in known if name not in ASKED)),
            ("order", [self.sort], SORTS if self.sort in SORTS else sorts()),
        ):
            for name in names:
                if name not in allowed:
                    raise SearchError(
                        f"there is no {kind} {name!r}; there are {', '.join(allowed)}"
                        f"{did_you_mean(name, allowed)}"
                    )
        if self.limit < 1 or self.offset < 0 or self.end > LAST:
            raise SearchError(
                f"a search over all Silos shows the first {LAST:,} hits; add words or filters"
            )

    @property
    def end(self) -> int:
        """The number of the last hit wanted."""
        return self.offset + self.limit

    def first(self, values: int) -> "AllSearch":
        """The same search from its first hit on, to be merged with others.

        Args:
            values: How many values of each facet are needed at least.
        """
        most = max(self.facet_limit, values)
        return replace(self, offset=0, limit=self.end, facet_limit=most)

    @property
    def order(self) -> str:
        """The order of the hits."""
        has_words = bool(parse_query(self.words).groups)
        return self.sort if has_words or self.sort != "relevance" else "newest"

    @property
    def in_silo(self) -> SearchFilters:
        """The filters without the field `REPOSITORY`."""
        values = self.filters.values
        others = {key: some for key, some in values.items() if facet_of(key) != REPOSITORY}
        return replace(self.filters, values=others)

    def has_silo(self, name: str) -> bool:
        """Whether the filters let a Silo through."""
        wanted = self.filters.values.get(REPOSITORY)
        return (wanted is None or name in wanted) and name not in self.filters.values.get(
            REPOSITORY + NOT, ()
        )


@dataclass(frozen=True, slots=True, order=True)
class HitPlace:
    """Where a record is."""

    silo: str
    identifier: str
    node: str = ""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A record that was found.

    Attributes:
        place: Its Silo and identifier.
        score: Hits with higher ones come first; only comparable within one answer.
        doi: Without ``doi:``; may be empty.
        also: The records that are probably the same work, found by the same search.
    """

    place: HitPlace
    title: str = ""
    creators: tuple[str, ...] = ()
    year: str = ""
    types: tuple[str, ...] = ()
    doi: str = ""
    datestamp: str = ""
    deleted: bool = False
    score: float = 0.0
    also: tuple[HitPlace, ...] = ()

    @property
    def order(self) -> tuple[float, HitPlace]:
        """What hits are sorted by: the score, then the place."""
        return -self.score, self.place

    def as_json(self) -> dict[str, Any]:
        """The hit as commands and pages give it out."""
        return {
            **_place_json(self.place),
            "title": self.title,
            "creators": list(self.creators),
            "year": self.year or None,
            "types": list(self.types),
            "doi": self.doi or None,
            "datestamp": self.datestamp,
            "deleted": self.deleted,
            "score": self.score,
            "also_in": [_place_json(one) for one in self.also],
        }


def _place_json(place: HitPlace) -> dict[str, Any]:
    found = {"repository": place.silo, "identifier": place.identifier}
    return found | {"node": place.node} if place.node else found


@dataclass(frozen=True, slots=True)
class Missing:
    """A Silo or a node that did not answer, and why."""

    name: str
    why: str


Facets = Mapping[str, tuple[FacetValue, ...]]


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The answer to a search over all Silos.

    Attributes:
        hits: Each work once.
        total: The number of records that were found, each counted.
        has_more: Whether there are hits behind these.
        asked: How many Silos were asked.
        by_index: Whether the index of all Silos answered, not each Silo.
        missing: What did not answer; the hits and numbers are then too small.
    """

    hits: tuple[SearchHit, ...]
    total: int
    has_more: bool
    sort: str
    facets: Facets
    asked: int
    by_index: bool = False
    missing: tuple[Missing, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The answer as commands and pages give it out."""
        return {
            "total": self.total,
            "has_more": self.has_more,
            "sort": self.sort,
            "silos": self.asked,
            "by_index": self.by_index,
            "hits": [one.as_json() for one in self.hits],
            "facets": {
                name: [{"value": one.value, "count": one.count} for one in values]
                for name, values in self.facets.items()
            },
            "did_not_answer": [{"name": one.name, "why": one.why} for one in self.missing],
        }


def summed(facets: Iterable[Facets], names: Sequence[str], limit: int) -> Facets:
    """Add up the counts of several answers.

    Args:
        facets: Of each answer.
        names: The facets of the result.
        limit: The largest number of values of one.
    """
    counts: dict[str, dict[str, int]] = {name: {} for name in names}
    for one in facets:
        for name in names:
            for found in one.get(name, ()):
                counts[name][found.value] = counts[name].get(found.value, 0) + found.count
    return {name: most_frequent(values, limit) for name, values in counts.items()}


def most_frequent(counts: Mapping[str, int], limit: int) -> tuple[FacetValue, ...]:
    """The values with the highest counts, then by value."""
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return tuple(FacetValue(value, count) for value, count in ordered[:limit] if count)
