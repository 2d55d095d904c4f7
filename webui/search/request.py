"""Convert between the address of a search and the arguments of `Silo.search` (pure).

The fields are those of ``silo search``: ``q`` has the words, ``sort``, ``since`` and
``until`` have the same meaning, and every filter is a field with its name, repeated for each
value. See docs/page-searching.md.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as member
from typing import Any

from recordsilo.errors import nearest
from recordsilo.index import PageRequest, SearchFilters
from recordsilo.index.facets import (
    OWN,
    contributed_facets,
    contributed_names,
    contributed_orders,
    facet_called,
)
from recordsilo.index.search_values import (
    ASKED,
    DATES,
    FLAGS,
    LARGE_FIELDS,
    NOT,
    SMALL_FIELDS,
    SORTS,
    facet_of,
)
from recordsilo.index.typed_filters import split
from recordsilo.selection import Selection, selection_table
from webui import urls
from webui.http.errors import BadRequest
from webui.http.messages import parse_pairs, whole_number
from webui.words.texts import text as _

DEFAULT_SIZE = 25
PAGE_SIZES = (25, 50, 100, 200)
MAX_SIZE = 1000
SHOWN_VALUES = 8
"""Maximum number of values of a facet beside the results; the others are on its own page."""
Pair = tuple[str, str]

_VALUED = (*SMALL_FIELDS, *LARGE_FIELDS)
_SINGLE = ("q", *DATES, "sort", "limit", "after")
_SEVERAL = ("open", "back", "by")  # open: in addresses of earlier releases; has no effect
YEAR = "year"
YEAR_TO = "year_to"
_YEARS = ("year_from", YEAR_TO)
_BY = ("name", "count")
FIRST = "first"
"""Represents the first page among cursors, which are JSON and so never equal to it."""
WAY_BACK = 1500
"""Maximum length, in an address, of the cursors of earlier pages."""
_OF_OTHERS = re.compile(r"utm_\w+|[a-z]+clid|mc_[ce]id")
"""Fields that mail programs and other sites add to links; they are ignored."""
_TRUTH = {"true": True, "false": False}
_PART = re.compile(r"[^=:/?#]+=.*", re.DOTALL)
"""A field of a query, whose name is not the beginning of an address."""


def pairs_of_query(query: str) -> tuple[Pair, ...]:
    """Return the fields of a search's query, as a form sends it.

    Args:
        query: What the address of the search page has after ``?``, or with it; ``""`` selects all.

    Raises:
        BadRequest: It is something else, such as another address, or see `parse_pairs`.
    """
    found = query.removeprefix("?")
    if not all(map(_PART.fullmatch, filter(None, found.split("&")))):
        raise BadRequest("Enter the query of a search page, such as q=rivers (field search).")
    return parse_pairs(found)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search, and the requested page of its results.

    Attributes:
        q: Words, as typed.
        chosen: The filters, as (field, value) pairs in the order of the address.
        since, until: Bounds of the datestamp, or ``""``.
        changed_since: The earliest time of a change here, or ``""``.
        sort: One of `SORTS`, or ``""`` for the default.
        after: The cursor of the page before, or ``""``.
        by_other: Facets whose values are not in the default order, which is by count, and for
            years by year (``by=type.name``, ``by=year.count``).
        back: The cursors of the previous pages, the nearest last; that of the first page is
            `FIRST`. The farthest are dropped if the list becomes too long.
    """

    q: str = ""
    chosen: tuple[Pair, ...] = ()
    since: str = ""
    until: str = ""
    changed_since: str = ""
    sort: str = ""
    limit: int = DEFAULT_SIZE
    after: str = ""
    by_other: tuple[str, ...] = member(default=())
    back: tuple[str, ...] = member(default=())

    @classmethod
    def of(
        cls,
        pairs: Iterable[Pair],
        also: Iterable[str] = (),
        known: Sequence[str] = (),
        orders: Sequence[str] = (),
    ) -> "SearchRequest":
        """Read the fields of an address; empty ones are ignored, filters among the words are read.

        Args:
            pairs: Names and values, in order.
            also: Further names that the page uses.
            known: The names of the filters; by default those of a Silo.
            orders: The orders; by default those of a Silo.

        Raises:
            BadRequest: An unknown field, or an invalid value.
        """
        given = [(name, value) for name, value in pairs if value and name not in set(also)]
        given = [pair for pair in given if not _OF_OTHERS.fullmatch(pair[0])]
        single = {name: value for name, value in given if name in _SINGLE}
        filters = [pair for pair in given if pair[0] not in (*_SINGLE, *_SEVERAL, *_YEARS)]
        filters += _range_of_years(dict(given))
        known = known or _known()
        words, among = split(single.get("q", ""), known=known)
        filters += among
        return cls(
            q=words,
            chosen=tuple(dict.fromkeys(_filter(pair, known) for pair in filters)),
            since=single.get("since", ""),
            until=single.get("until", ""),
            changed_since=single.get("changed_since", ""),
            sort=_sort(single.get("sort", ""), orders),
            limit=_limit(single.get("limit", "")),
            after=single.get("after", ""),
            by_other=_by_other(value for name, value in given if name == "by"),
            back=_way_back(value for name, value in given if name == "back"),
        )

    @classmethod
    def of_selection(cls, selection: Selection) -> "SearchRequest":
        """Return the search of a selection by words and filters."""
        filters = selection.filters
        flags = [(name, str(wanted).lower()) for name, wanted in filters.flags.items()]
        values = [(name, value) for name, some in filters.values.items() for value in some]
        return cls(
            q=selection.query,
            chosen=(*flags, *values),
            since=filters.since or "",
            until=filters.until or "",
            changed_since=filters.changed_since or "",
        )

    @property
    def filters(self) -> SearchFilters:
        """The filters for the store."""
        values: dict[str, list[str]] = {}
        for name, value in self.chosen:
            if name not in FLAGS:
                values.setdefault(name, []).append(value)
        flags = {name: _TRUTH[value] for name, value in self.chosen if name in FLAGS}
        return SearchFilters(flags, values, **{name: getattr(self, name) or None for name in DATES})

    @property
    def selection(self) -> Selection:
        """Return all results as a selection, independent of the page."""
        return Selection(self.q, self.filters)

    @property
    def selection_table(self) -> dict[str, Any]:
        """Return words and filters as JSON values, spelled as in a TOML file."""
        return selection_table(self.selection)

    @property
    def page(self) -> PageRequest:
        """The requested page; one extra value shows whether there are more."""
        return PageRequest(
            self.limit,
            self.after or None,
            self.sort or None,
            facet_limit=SHOWN_VALUES + 1,
            whole_facets=(YEAR, *(name for name in self.by_other if name not in LARGE_FIELDS)),
        )

    @property
    def facets(self) -> tuple[str, ...]:
        """Return the facets to count."""
        contributed = (one.name for one in contributed_facets() if one.is_facet)
        return (*_FIRST_FACETS, *_OTHER_FACETS, *contributed)

    @property
    def is_everything(self) -> bool:
        """Whether the search has no condition."""
        return self.selection.is_everything

    @property
    def is_words_only(self) -> bool:
        """Whether the search has only words, and is on its first page."""
        return bool(self.q) and self.asked == (("q", self.q),) and not self.after

    @property
    def orders(self) -> tuple[str, ...]:
        """The available orders; the first is the default.

        Without words there is no relevance, and records are ordered by identifier.
        """
        named = tuple(name for name in SORT_LABELS if name != "relevance")
        own = "relevance" if self.q else "identifier"
        return (own, *(name for name in named if name != own), *contributed_orders())

    @property
    def asked(self) -> tuple[Pair, ...]:
        """Return words and filters as fields of an address, without the order."""
        bounds = ((name, getattr(self, name)) for name in DATES)
        words = (("q", self.q),) if self.q else ()
        return (*words, *self.chosen, *((name, value) for name, value in bounds if value))

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Return all fields of the address, except for the position in the results."""
        size = "" if self.limit == DEFAULT_SIZE else str(self.limit)
        orders = (f"{name}.{'count' if name == YEAR else 'name'}" for name in self.by_other)
        others = (("sort", self.sort), ("limit", size), *(("by", order) for order in orders))
        return (*self.asked, *((name, value) for name, value in others if value))

    def url(self, *more: Pair, action: str = "") -> str:
        """Return the address of this search's first page, with further fields."""
        return urls.search((*self.pairs, *more), action)

    @property
    def own_url(self) -> str:
        """Return the address of this page."""
        return self._at(self.after, self.back)

    @property
    def way_back(self) -> str:
        """Return this page as a query for the addresses of its records; short, and never empty."""
        place = (("after", self.after),) if self.after else ()
        return urls.query((*self.pairs, *place)) or "sort=identifier"

    def following_url(self, after: str) -> str:
        """Return the address of the next page, which includes the way back.

        Args:
            after: The next page's cursor.
        """
        return self._at(after, _way_back((*self.back, self.after or FIRST)))

    @property
    def previous_url(self) -> str:
        """Return the address of the previous page; empty if it is not known."""
        if not self.back:
            return ""
        *back, after = self.back
        return self._at("" if after == FIRST else after, tuple(back))

    def _at(self, after: str, back: tuple[str, ...]) -> str:
        place = (("after", after),) if after else ()
        return self.url(*place, *(("back", one) for one in back if after))

    def without(self, pair: Pair) -> "SearchRequest":
        """Return the search without a filter, a bound or the words."""
        return replace(
            self,
            chosen=tuple(one for one in self.chosen if one != pair),
            q="" if pair[0] == "q" else self.q,
            since="" if pair[0] == "since" else self.since,
            until="" if pair[0] == "until" else self.until,
            changed_since="" if pair[0] == "changed_since" else self.changed_since,
            after="",
            back=(),
        )

    def without_field(self, name: str) -> "SearchRequest":
        """Return the search without the filters of a field."""
        kept = tuple(one for one in self.chosen if facet_of(one[0]) != name)
        return replace(self, chosen=kept, after="", back=())

    def in_years(self, first: int, last: int) -> "SearchRequest":
        """Return the search with a range of years, which replaces the chosen years."""
        other = self.without_field(YEAR)
        value = str(first) if first == last else f"{first}..{last}"
        return replace(other, chosen=(*other.chosen, (YEAR, value)))

    def is_by_name(self, name: str) -> bool:
        """Whether the values of a facet are ordered by name, not by count."""
        return (name in self.by_other) != (name == YEAR)

    def ordered(self, name: str, *, by_name: bool) -> "SearchRequest":
        """Return the search with another order of a facet's values."""
        others = tuple(one for one in self.by_other if one != name)
        is_other = by_name != (name == YEAR)
        return replace(self, by_other=(*others, name) if is_other else others)

    def toggled(self, name: str, value: str) -> "SearchRequest":
        """Return the search with a value added or removed.

        A value cannot be both chosen and excluded, nor a flag true and false.
        """
        if (name, value) in self.chosen:
            return self.without((name, value))
        opposite = (facet_of(name) if name.endswith(NOT) else name + NOT, value)
        kept = tuple(one for one in self.chosen if one != opposite)
        if name in FLAGS:
            kept = tuple(one for one in kept if one[0] != name)
        return replace(self, chosen=(*kept, (name, value)), after="", back=())

    def toggling(self) -> Callable[[str, str], str]:
        """Return a function from field and value to the address of `toggled`.

        A page has a hundred of them, so their common part is built once.
        """
        words = (("q", self.q),) if self.q else ()
        before = (*words, *self.chosen)
        head, tail = urls.query(before), urls.query(self.pairs[len(before) :])
        path = urls.search()
        used = {(facet_of(name), value) for name, value in self.chosen}

        def address(name: str, value: str) -> str:
            if name in FLAGS or (facet_of(name), value) in used:
                return self.toggled(name, value).url()
            fields = (head, urls.query([(name, value)]), tail)
            return f"{path}?{'&'.join(filter(None, fields))}"

        return address


def _way_back(cursors: Iterable[str]) -> tuple[str, ...]:
    """Return as many of the nearest cursors as fit into an address."""
    kept: list[str] = []
    room = WAY_BACK
    for one in reversed(tuple(cursors)):
        room -= len(urls.query([("back", one)])) + 1
        if room < 0:
            break
        kept.append(one)
    return tuple(reversed(kept))


def is_of_search(name: str) -> bool:
    """Whether the address of a Silo's search has a field of this name."""
    if name in (*_SINGLE, *_SEVERAL, *_YEARS) or _OF_OTHERS.fullmatch(name):
        return True
    known = _known()
    return facet_called(name) in known or facet_of(facet_called(name)) in known


def _known() -> tuple[str, ...]:
    return (*_VALUED, *FLAGS, *ASKED, *contributed_names())


def _filter(pair: Pair, known: Sequence[str]) -> Pair:
    name, value = facet_called(pair[0]), pair[1]
    if name in FLAGS and value not in _TRUTH:
        raise BadRequest("The filter {name} must be true or false.", name=name)
    if name not in known and (facet_of(name) not in known or facet_of(name) in FLAGS):
        near = " / ".join(nearest(name, (*known, *_SINGLE, *_SEVERAL, *_YEARS)))
        listed = ", ".join(known)
        if near:
            raise BadRequest(
                "There is no filter {name}; did you mean {near}? The filters are: {known}.",
                name=name[:50], near=near, known=listed,
            )  # fmt: skip
        raise BadRequest(
            "There is no filter {name}; choose from {known}.", name=name[:50], known=listed
        )
    return name, value


def _sort(text: str, orders: Sequence[str]) -> str:
    if text and text not in (known := orders or (*SORTS, *contributed_orders())):
        raise BadRequest("Unknown order; choose one of {known} (sort).", known=", ".join(known))
    return text


def _limit(text: str) -> int:
    return page_size(text, DEFAULT_SIZE)


def page_size(text: str, default: int) -> int:
    """Return the number of rows of a page, from a field of an address.

    Raises:
        BadRequest: Not one of the allowed numbers.
    """
    if not text:
        return default
    size = whole_number(text, 1, MAX_SIZE)
    if size is None:
        raise BadRequest("The page size (limit) must be a number from 1 to {most}.", most=MAX_SIZE)
    return size


def _range_of_years(given: Mapping[str, str]) -> list[Pair]:
    """Return the two fields of a range of years as a filter."""
    first, last = (given.get(name, "").strip() for name in _YEARS)
    if not first and not last:
        return []
    if first.isdigit() and last.isdigit() and int(first) > int(last):
        said = "The years end ({last}) before they begin ({first})."
        raise BadRequest(said, first=first, last=last).at(YEAR_TO)
    return [(YEAR, first if first == last else f"{first}..{last}")]


def _by_other(orders: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, bool] = {}
    for order in orders:
        name, _dot, by = order.rpartition(".")
        if by not in _BY or name not in (*_VALUED, *contributed_names()):
            raise BadRequest(
                "Unknown order of a facet; write its name and an order, such as {example} (by).",
                example="type.name",
            )
        found[name] = (by == "name") != (name == YEAR)
    return tuple(name for name, is_other in found.items() if is_other)


_FIRST_FACETS = ("type", YEAR, "creator", "subject", "language", "publisher", "set")
_OTHER_FACETS = tuple(
    name for name in (*SMALL_FIELDS, *FLAGS, *LARGE_FIELDS) if name not in _FIRST_FACETS
)


FACET_LABELS: Mapping[str, str] = {one.name: one.title for one in OWN}
"""English texts of the catalogue."""
SORT_LABELS: Mapping[str, str] = {
    "relevance": "Relevance",
    "newest": "Newest first",
    "oldest": "Oldest first",
    "identifier": "Identifier",
    "title": "Title",
    "-year": "Year, latest first",
    "year": "Year, earliest first",
    "type": "Type",
}


def order_label(order: str) -> str:
    """Return an order in words."""
    if order in SORT_LABELS:
        return _(SORT_LABELS[order])
    title = contributed_orders()[order]
    if order.startswith("-"):
        return _("{number}, highest first", number=_(title))
    return _("{number}, lowest first", number=_(title))


def facet_label(name: str) -> str:
    """Return the English name of a facet."""
    titles = {one.name: one.title for one in contributed_facets()}
    return FACET_LABELS.get(name) or titles.get(name, name)
