"""What a search is asked, and what it answers; the names of filters, facets and orders. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from recordsilo.errors import SearchError, did_you_mean
from recordsilo.index.facets import OWN, Kept, facet_names
from recordsilo.index.projection import Row

SMALL_FIELDS = tuple(one.name for one in OWN if one.kept is Kept.SMALL)
LARGE_FIELDS = tuple(one.name for one in OWN if one.kept is Kept.LARGE)
FLAGS = tuple(one.name for one in OWN if one.kept is Kept.FLAG)
RELEVANCE_AT_MOST = 5000
"""More hits than these are not ranked, the newest come first: ranking reads every hit."""
FACETS = (*SMALL_FIELDS, *FLAGS, *LARGE_FIELDS)
"""The store's own; `recordsilo.index.facets` has those of packages."""
SORTS = ("relevance", "newest", "oldest", "identifier", "title")


def unknown_filter(name: str, known: Sequence[str] = ()) -> SearchError:
    """The refusal of a filter that there is not; the names that are known are all by default."""
    known = known or facet_names()
    return SearchError(
        f"there is no filter {name!r}; there are {', '.join(known)}{did_you_mean(name, known)}"
    )


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """Which records a search may find; what is left out does not matter.

    Attributes:
        flags: Name → wanted value: ``deleted`` (by the source), ``curated`` (the current
            version was made by people), ``upstream_newer`` (and the source has a newer
            one), ``has_file`` (that is not metadata).
        values: Field → values, of which a record needs one in each field: ``set`` (or a
            set below it), ``year``, ``type``, ``language``, ``publisher``, ``format``,
            ``state``, ``finding``, ``subject``, ``creator``, and fields that packages
            contribute.
        since: The earliest datestamp, inclusive; a day or a moment, ISO 8601, UTC.
        until: The latest datestamp, inclusive; a day means its last second.
    """

    flags: Mapping[str, bool] = field(default_factory=dict)
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which part of the result of a search is wanted, in which order.

    Attributes:
        limit: How many rows at most, 1 to 1,000.
        after: The `SearchResult.next_page` of the page before; None for the first.
        sort: One of `SORTS`, or a contributed facet that is an order (`Facet.is_order`),
            with a ``-`` before it for the greatest first; None: by relevance for words,
            else by identifier.
        facet_limit: How many values of each facet, the most frequent first.
    """

    limit: int = 25
    after: str | None = None
    sort: str | None = None
    facet_limit: int = 50


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of a facet, and how many of the found records have it."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What was found.

    Attributes:
        total: How many records, on all pages.
        next_page: What `PageRequest.after` takes for the next page; None on the last.
        sort: The order the rows are in (relevance gives way to newest beyond
            `RELEVANCE_AT_MOST` hits).
        facets: Facet → its values, the most frequent first, equal ones by value.
    """

    rows: tuple[Row, ...]
    total: int
    next_page: str | None
    sort: str
    facets: Mapping[str, tuple[FacetValue, ...]]
