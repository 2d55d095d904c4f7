"""The arguments and the result of a search; names of filters, facets and orders. Pure."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from reprlib import repr as shortened
from typing import Any, Literal, NamedTuple, TypeAlias

from recordsilo.errors import SearchError, did_you_mean
from recordsilo.index.facets import OWN, Kept, facet_called, facet_named, facet_names
from recordsilo.index.projection import Row, seconds_of

SMALL_FIELDS = tuple(one.name for one in OWN if one.kept is Kept.SMALL)
LARGE_FIELDS = tuple(one.name for one in OWN if one.kept is Kept.LARGE)
FLAGS = tuple(one.name for one in OWN if one.kept is Kept.FLAG)
ASKED = tuple(one.name for one in OWN if one.kept is Kept.ASKED)
"""Filters whose values are periods and patterns, and which cannot be counted."""
RELEVANCE_AT_MOST = 5000
"""With more hits than this, the newest come first, because ranking reads every hit."""
FACETS = (*SMALL_FIELDS, *FLAGS, *LARGE_FIELDS)
"""The store's own facets; `recordsilo.index.facets` has the contributed ones."""
SORTS = ("relevance", "newest", "oldest", "identifier", "title", "year", "-year", "type")
DATES = ("since", "until", "changed_since")
"""The filters that are dates."""
NOT = "!"
"""Behind the name of a facet in a filter: records that have none of the values (``type!``)."""
_NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"(?=.{{3}})({_NUMBER})?\.\.({_NUMBER})?")


def is_expression(value: str) -> bool:
    """Whether the pattern of a title is a regular expression, between slashes."""
    return len(value) > 2 and value.startswith("/") and value.endswith("/")


def facet_of(key: str) -> str:
    """The facet that a filter is about: ``type``, of ``type`` and of ``type!``."""
    return key.removesuffix(NOT)


def range_of(name: str, value: str) -> tuple[float, float] | None:
    """The bounds of a range, both inclusive; None if the value is not a range.

    Args:
        name: A facet.
        value: Such as ``2010..2016``, ``2010..`` or ``..2016``, where its values are numbers.

    Raises:
        SearchError: The value or the bounds are not numbers, or the range ends before it begins.
    """
    facet = facet_named(name)
    if ".." not in value and facet.is_number and not re.fullmatch(_NUMBER, value):
        raise SearchError(
            f"the {name} {shortened(value)} is not a number; write one, such as {name}=2016, or a "
            f"range, such as {name}=2010..2016"
        )
    if ".." not in value or not (facet.is_number or facet.is_order):
        return None
    found = _RANGE.fullmatch(value)
    if found is None:
        raise SearchError(f"{value!r} is not a range; write 2010..2016, 2010.. or ..2016")
    low, high = float(found[1] or -math.inf), float(found[2] or math.inf)
    if low > high:
        raise SearchError(f"the range {value!r} ends before it begins; write {high:g}..{low:g}")
    return low, high


def unknown_filter(name: str, known: Sequence[str] = ()) -> SearchError:
    """The error for an unknown filter; ``known`` are the valid names, by default all."""
    known = known or facet_names()
    return SearchError(
        f"there is no filter {name!r}; there are {', '.join(known)}{did_you_mean(name, known)}"
    )


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """Conditions on the records that a search finds; omitted ones do not apply.

    Attributes:
        flags: Name → wanted value: ``deleted`` (by the source), ``curated`` (the current
            version was made by people), ``upstream_newer`` (and the source has a newer
            one), ``has_file`` (that is not metadata), ``has_doi``.
        values: Field → values; a record must have one of them in each field: ``set`` (or a
            set below it), ``year``, ``type``, ``language``, ``publisher``, ``format``,
            ``state``, ``finding``, ``agent`` (who changed it here), ``subject``,
            ``creator``, and fields that packages contribute. With `NOT` behind a field's
            name (``type!``) a record must have none of the values. Fields of numbers take
            ranges: ``2010..2016``. ``changed`` takes periods of the last change here, and
            ``title`` patterns; see `recordsilo.index.asked`.
        since: The earliest datestamp, inclusive; a day or a time, ISO 8601, UTC.
        until: The latest datestamp, inclusive; a day means its last second.
        changed_since: The earliest time at which the record was last changed here, by a
            harvest, a person or a program; inclusive. As ``since``.
    """

    flags: Mapping[str, bool] = field(default_factory=dict)
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    since: str | None = None
    until: str | None = None
    changed_since: str | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that `values` are of, each once."""
        return tuple(dict.fromkeys(map(facet_of, self.values)))

    def named(self, name: str) -> tuple[str, ...]:
        """The values of a field that are wanted or excluded."""
        return (*self.values.get(name, ()), *self.values.get(name + NOT, ()))


AnyFilters: TypeAlias = SearchFilters | Mapping[str, Any] | None
"""Filters as users give them; see `filters_of`."""


def filters_of(given: AnyFilters, also: Sequence[str] = ()) -> SearchFilters:
    """Read filters from a mapping, as in a TOML table: ``{"type": "Thesis", "curated": True}``.

    Args:
        given: Field (with or without `NOT`) → a text or a list of texts; flag → bool; ``since``,
            ``until`` and ``changed_since`` → a date. `SearchFilters` are returned as they are.
        also: Further names that a message lists.

    Raises:
        SearchError: An unknown name, with the nearest one; a value of the wrong kind; an
            empty list.
    """
    if isinstance(given, SearchFilters):
        return given
    if not isinstance(given, Mapping | None):
        raise SearchError(f"filters are SearchFilters or a mapping, not {shortened(given)}")
    others: dict[str, Any] = {}
    for name, value in (given or {}).items():
        if (called := facet_called(str(name))) in others:
            raise SearchError(f"{called} is given twice, also as {name}; write it once")
        others[called] = value
    dates = {name: others.pop(name, None) for name in DATES}
    for name, value in dates.items():
        if value is not None and not isinstance(value, str):
            raise SearchError(f"{name} is a text, not {shortened(value)}")
        if value == "":
            raise SearchError(f"{name} is empty; write a date, or omit {name}")
    flags = {name: others.pop(name) for name in FLAGS if name in others}
    if wrong := [name for name, value in flags.items() if not isinstance(value, bool)]:
        raise SearchError(f"{wrong[0]} is true or false, not {shortened(flags[wrong[0]])}")
    if unknown := sorted(str(one) for one in others if facet_of(str(one)) not in facet_names()):
        raise unknown_filter(unknown[0], (*also, *DATES, *facet_names()))
    values = {name: texts_of(name, value) for name, value in others.items()}
    return SearchFilters(flags, values, **dates)


Wanted: TypeAlias = str | int | date | Sequence[str | int] | None
"""The value of a filter that is given by its name, such as ``year=2016``."""


def filters_with(given: AnyFilters, conditions: Mapping[str, Wanted]) -> SearchFilters:
    """Filters, and others by their names, as in ``silo.search(year=2016)``.

    Args:
        given: See `filters_of`.
        conditions: Field → a text or a number, or several; flag → bool; ``since`` and other
            dates → a text, a date or a datetime. None is no condition.

    Raises:
        SearchError: See `filters_of`; or a field that is in both.
    """
    filters = filters_of(given)
    more = filters_of(
        {name: _plain(name, one) for name, one in conditions.items() if one is not None},
        ("limit", "sort", "facets"),
    )
    both = [
        *(name for name in more.values if name in filters.values),
        *(name for name in more.flags if name in filters.flags),
        *(name for name in DATES if getattr(more, name) and getattr(filters, name)),
    ]
    if both:
        raise SearchError(f"{both[0]} is given twice; write it once")
    return SearchFilters(
        {**filters.flags, **more.flags},
        {**filters.values, **more.values},
        *(getattr(more, name) or getattr(filters, name) for name in DATES),
    )


def _plain(name: str, value: Wanted) -> Any:
    """The value of a filter as a mapping of filters has it."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC)
    if isinstance(value, date):
        return value.isoformat()
    if name in FLAGS or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return [str(one) if isinstance(one, int) else one for one in value]
    return value


def texts_of(name: str, value: Any) -> tuple[str, ...]:
    """The values of a filter or the like, given as a text or as a list of texts.

    Raises:
        SearchError: Anything else, or an empty list.
    """
    listed: Sequence[Any] = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not all(isinstance(one, str) for one in listed):
        raise SearchError(f"{name} is a text or a list of texts, not {shortened(value)}")
    if not listed:
        one = "identifier" if name == "identifiers" else "value"
        raise SearchError(f"{name} lists no {one}; write one, or omit {name}")
    return tuple(listed)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which part of the result of a search to return, and its order.

    Attributes:
        limit: The largest number of rows, 1 to 1,000.
        after: The `ResultPage.next_page` of the previous page; None for the first.
        sort: One of `SORTS`, or a contributed facet that is an order (`Facet.is_order`),
            prefixed with ``-`` for greatest first. None sorts by relevance if there are
            words, else by identifier.
        facet_limit: The largest number of values per facet, the most frequent first; values
            named in the filters are added.
        whole_facets: Facets whose values are all returned.
    """

    limit: int = 25
    after: str | None = None
    sort: str | None = None
    facet_limit: int = 50
    whole_facets: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of a facet, and the number of found records that have it."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class ResultPage:
    """The result of a search.

    Attributes:
        total: The number of records on all pages.
        next_page: `PageRequest.after` for the next page; None on the last page.
        sort: The order of the rows (newest instead of relevance with more than
            `RELEVANCE_AT_MOST` hits).
        facets: Facet → its values, the most frequent first, then by value. A facet is
            counted without its own filters, so that the other values can be added.
    """

    rows: tuple[Row, ...]
    total: int
    next_page: str | None
    sort: str
    facets: Mapping[str, tuple[FacetValue, ...]]


@dataclass(frozen=True, slots=True)
class Around:
    """Where a record stands among the records found, and which are next to it.

    Attributes:
        previous, next: Identifiers; None at the beginning and at the end.
        place: 1 for the first.
    """

    previous: str | None
    next: str | None
    place: int
    total: int


class Suggestion(NamedTuple):
    """Something that begins as typed.

    Attributes:
        kind: What it is.
        text: The title, the value or the identifier.
        identifier: Of the record, in full; empty for values.
        records: How many have the value; 1 for a record.
    """

    kind: Literal["title", "creator", "subject", "identifier"]
    text: str
    identifier: str
    records: int


def bound_of(text: str, *, last: bool) -> int:
    """A date as seconds since 0001-01-01.

    Args:
        text: A day or a time, ISO 8601, UTC.
        last: Whether a day means its last second.

    Raises:
        SearchError: It is not a date.
    """
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise SearchError(f"{text!r} is not a date; write YYYY-MM-DD") from None
    day = len(text) == len("YYYY-MM-DD")
    return seconds_of(moment) + (86_399 if last and day else 0)
