"""Search: words, filters, facets and a page of the result, over the index (docs/search.md).

FTS5 turns the words into row ids. Row ids and filters become masks over the facet columns,
which are counted and paged. SQL reads only the rows of one page.
"""

import json
import math
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from recordsilo.errors import SearchError, did_you_mean
from recordsilo.index.columns import Bools, Columns, Segment, least_of_best
from recordsilo.index.facets import contributed_names, facet_named, facet_names, labels_of
from recordsilo.index.projection import Row, seconds_of
from recordsilo.index.query import COLUMNS as ROW_COLUMNS
from recordsilo.index.query import row_of
from recordsilo.index.query_syntax import parse_query
from recordsilo.index.search_values import (
    FLAGS,
    RELEVANCE_AT_MOST,
    SORTS,
    Around,
    FacetValue,
    PageRequest,
    SearchFilters,
    SearchResult,
    facet_of,
    range_of,
    unknown_filter,
)
from recordsilo.index.words import Words

_PACK = 27  # bits for the row id below the seconds: 134 million records


def search(
    connection: sqlite3.Connection,
    columns: Columns,
    query: str,
    filters: SearchFilters,
    *,
    facets: Sequence[str],
    page: PageRequest,
) -> SearchResult:
    """Find records, in one snapshot of the index.

    Args:
        connection: A connection with an open snapshot of the index.
        columns: The facet columns, in step with that snapshot.
        query: As typed; see `query_syntax`.
        filters: Which records.
        facets: Which fields of `facet_names` to count.
        page: Which part of the result, and its order.

    Raises:
        SearchError: Unknown facet, order or filter, an invalid date, or an ``after`` of
            another search.
    """
    check(facets, filters, page)
    hits, found = _matches(connection, columns, query, filters)
    total = sum(one.total for one in found)
    sort = _sort_for(page.sort, hits)
    order = _ORDERS.get(sort, _ByNumber)(connection, columns, found, hits)
    order.name = sort
    ids, next_page = order.page(page)
    return SearchResult(
        rows=_rows(connection, ids),
        total=total,
        next_page=next_page,
        sort=sort,
        facets={name: _facet(columns, found, name, filters, page) for name in facets},
    )


def around(
    connection: sqlite3.Connection,
    columns: Columns,
    query: str,
    filters: SearchFilters,
    *,
    sort: str | None,
    identifier: str,
) -> Around | None:
    """The neighbours of a record in the order of a search; see `Index.around`.

    Args:
        columns: In step with the connection's snapshot.
        query: As typed.
        sort: As in `PageRequest`.

    Raises:
        SearchError: Unknown order or filter, or an invalid date.
    """
    check((), filters, PageRequest(sort=sort))
    hits, found = _matches(connection, columns, query, filters)
    row = connection.execute("SELECT id FROM record WHERE identifier = ?", (identifier,)).fetchone()
    if row is None or not any(one.has(row[0]) for one in found):
        return None
    sort = _sort_for(sort, hits)
    order = _ORDERS.get(sort, _ByNumber)(connection, columns, found, hits)
    order.name = sort
    before, behind, place = order.around(row[0])
    names = dict(
        connection.execute(
            "SELECT id, identifier FROM record WHERE id IN (?, ?)", (before, behind)
        ).fetchall()
    )
    total = sum(one.total for one in found)
    return Around(names.get(before), names.get(behind), place, total)


def check(facets: Sequence[str], filters: SearchFilters, page: PageRequest) -> None:
    """Check a search before the index is queried.

    Args:
        facets: The fields to count.
        filters: Which records.
        page: Which part of the result, and its order.

    Raises:
        SearchError: Unknown facet, filter or order, or a page that is too large.
    """
    for name, values in filters.values.items():
        if isinstance(values, str):
            raise SearchError(f"the values of {name} are a list of texts, not the text {values!r}")
    for name in (*filters.fields, *filters.flags):
        if name not in facet_names():
            raise unknown_filter(name)
        for value in filters.named(name):
            range_of(name, value)
        if (name in filters.flags) != (name in FLAGS):
            kinds = ("true or false", "a text")
            kind, other = kinds if name in FLAGS else kinds[::-1]
            raise SearchError(f"the filter {name!r} is {kind}, not {other}")
    for kind, names, allowed in (
        ("facet", facets, facet_names()),
        ("order", [page.sort] if page.sort and not _is_number(page.sort) else [], SORTS),
    ):
        for name in names:
            if name not in allowed:
                raise SearchError(
                    f"there is no {kind} {name!r}; there are {', '.join(allowed)}"
                    f"{did_you_mean(name, allowed)}"
                )
    if not 1 <= page.limit <= 1000:
        raise SearchError(f"a page has 1 to 1,000 rows, not {page.limit}")


# -- what matches -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Found:
    """The matching records in one segment.

    Attributes:
        common: Which records have the words, and are within the bounds of time.
        passing: Facet with a filter → which records pass it.
    """

    segment: Segment
    common: Bools
    passing: Mapping[str, Bools]
    mask: Bools
    positions: NDArray[np.intp]

    @classmethod
    def of(cls, segment: Segment, common: Bools, passing: Mapping[str, Bools]) -> "_Found":
        """What has the words and passes all filters."""
        mask = common
        for one in passing.values():
            mask = mask & one
        return cls(segment, common, passing, mask, np.flatnonzero(mask))

    def without(self, name: str) -> "_Found":
        """What would match without the filters of a facet."""
        if name not in self.passing:
            return self
        others = {one: mask for one, mask in self.passing.items() if one != name}
        return _Found.of(self.segment, self.common, others)

    @property
    def total(self) -> int:
        return len(self.positions)

    @property
    def ids(self) -> NDArray[np.int64]:
        return self.segment.ids[self.positions]

    def has(self, number: int) -> bool:
        """Whether the record with a row id is among them."""
        place = self.segment.positions_of(np.array([number]))
        return bool(len(place)) and bool(self.mask[place[0]])


@dataclass(frozen=True, slots=True)
class _Hits:
    """The records that match the words, before any filter.

    Attributes:
        total: The number of records; None if there are no words.
        ranking: The expression that ranks them.
    """

    total: int | None
    ranking: str


def _matches(
    connection: sqlite3.Connection, columns: Columns, query: str, filters: SearchFilters
) -> tuple[_Hits, list[_Found]]:
    words = Words(connection, parse_query(query))
    wanted, excluded = words.wanted(), words.excluded()
    found, total = [], 0
    for segment in columns.segments:
        mask = segment.alive.copy()
        if wanted is not None:
            mask &= wanted.among(segment.ids)
            total += int(np.count_nonzero(mask))
        if excluded is not None:
            mask &= ~excluded.among(segment.ids)
        _bound_time(mask, segment, filters)
        found.append(_Found.of(segment, mask, _passing(segment, columns, filters)))
    return _Hits(None if wanted is None else total, words.ranking()), found


def _bound_time(mask: Bools, segment: Segment, filters: SearchFilters) -> None:
    if filters.since is not None:
        mask &= segment.datestamps >= _bound(filters.since, last=False)
    if filters.until is not None:
        mask &= segment.datestamps <= _bound(filters.until, last=True)


def _passing(segment: Segment, columns: Columns, filters: SearchFilters) -> dict[str, Bools]:
    """Facet → which records of a segment pass its filters."""
    found = {
        name: segment.flags[name] if wanted else ~segment.flags[name]
        for name, wanted in filters.flags.items()
    }
    for key, values in filters.values.items():
        name = facet_of(key)
        having = segment.column(name).having(_codes(columns, name, values))
        if key != name:
            having = ~having
        found[name] = found[name] & having if name in found else having
    return found


def _codes(columns: Columns, name: str, wanted: Sequence[str]) -> list[int]:
    """The codes of the values that a filter means.

    Raises:
        SearchError: The facet cannot have one of them.
    """
    texts = columns.values.texts[name]
    vocabulary = tuple(labels_of(name))
    if vocabulary and (unknown := [v for v in wanted if v not in {*vocabulary, *texts}]):
        raise SearchError(
            f"there is no {name} {unknown[0]!r}; there are {', '.join(vocabulary)}"
            f"{did_you_mean(unknown[0], vocabulary)}"
        )
    if name == "set":
        return [code for code, text in enumerate(texts) if _in_sets(text, wanted)]
    ranges = [bounds for value in wanted if (bounds := range_of(name, value))]
    codes = columns.values.codes(name, wanted)
    if ranges:
        numbers = np.array([*map(_number, texts)])
        for low, high in ranges:
            codes += np.flatnonzero((numbers >= low) & (numbers <= high)).tolist()
    return codes


def _in_sets(spec: str, wanted: Iterable[str]) -> bool:
    return any(spec == one or spec.startswith(one + ":") for one in wanted)


def _bound(text: str, *, last: bool) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise SearchError(f"{text!r} is not a date; write YYYY-MM-DD") from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    day = len(text) == len("YYYY-MM-DD")
    return seconds_of(moment) + (86_399 if last and day else 0)


# -- facets -------------------------------------------------------------------------------


def _facet(
    columns: Columns,
    matching: Sequence[_Found],
    name: str,
    filters: SearchFilters,
    page: PageRequest,
) -> tuple[FacetValue, ...]:
    found = [one.without(name) for one in matching]
    if name in FLAGS:
        true = sum(int(np.count_nonzero(one.mask & one.segment.flags[name])) for one in found)
        total = sum(one.total for one in found)
        pairs = [("true", true), ("false", total - true)]
        return tuple(FacetValue(value, count) for value, count in pairs if count)
    texts = columns.values.texts[name]
    limit = len(texts) if name in page.whole_facets else page.facet_limit
    counts = np.zeros(len(texts), np.intp)
    fully = limit if len(columns.segments) == 1 else len(texts) + 1
    for one in found:
        if one.total:
            column = one.segment.column(name)
            counts += column.counts(one.mask, one.positions, len(texts), fully)
    size = min(limit, int(np.count_nonzero(counts)))
    best: list[tuple[int, str]] = []
    if size:
        # among values as frequent as the last one shown, the first by value are shown
        least = least_of_best(counts, size)
        best = sorted((-int(counts[c]), texts[c]) for c in np.flatnonzero(counts >= least))[:size]
    shown = {text for _count, text in best}
    named = [c for c in columns.values.codes(name, filters.named(name)) if texts[c] not in shown]
    best += [(-_having(found, name, code), texts[code]) for code in named]
    return tuple(FacetValue(text, -count) for count, text in sorted(best) if count)


def _having(found: Sequence[_Found], name: str, code: int) -> int:
    """How many of the found records have a value."""
    return sum(
        int(np.count_nonzero(one.mask & one.segment.column(name).having([code]))) for one in found
    )


# -- orders -------------------------------------------------------------------------------


def _sort_for(wanted: str | None, hits: _Hits) -> str:
    sort = wanted or "relevance"
    if sort != "relevance":
        return sort
    if hits.total is None:
        return "identifier"
    return "relevance" if hits.total <= RELEVANCE_AT_MOST else "newest"


_Place = tuple[int | None, int | None, int]
"""The row ids before and behind a record, and its place from 1 on."""


def _around(keys: NDArray[Any], ids: NDArray[np.int64], number: int) -> _Place:
    """The neighbours of a row id in the order of keys; equal ones by row id."""
    own = keys[ids == number][0]
    before = (keys < own) | ((keys == own) & (ids < number))
    behind = (keys > own) | ((keys == own) & (ids > number))
    previous = following = None
    if before.any():
        previous = int(ids[before & (keys == keys[before].max())].max())
    if behind.any():
        following = int(ids[behind & (keys == keys[behind].min())].min())
    return previous, following, int(np.count_nonzero(before)) + 1


class _Order(ABC):
    """An order of the found records: the keys of a page, and the cursor after it."""

    name = ""

    def __init__(
        self,
        connection: sqlite3.Connection,
        columns: Columns,
        found: Sequence[_Found],
        hits: _Hits,
    ) -> None:
        self.connection, self.columns, self.found, self.hits = connection, columns, found, hits

    def page(self, page: PageRequest) -> tuple[list[int], str | None]:
        """The row ids of a page in order, and the cursor of the next page."""
        after = None if page.after is None else self._read(page.after)
        keyed = self.first(after, page.limit + 1)
        shown = keyed[: page.limit]
        more = len(keyed) > page.limit
        return [number for _, number in shown], self._cursor(*shown[-1]) if more else None

    @abstractmethod
    def first(self, after: tuple[Any, int] | None, limit: int) -> list[tuple[Any, int]]:
        """The first (key, row id) pairs after a cursor."""

    @abstractmethod
    def around(self, number: int) -> _Place:
        """The neighbours of a record that is found."""

    def _cursor(self, key: Any, number: int) -> str:
        return json.dumps([self.name, key, number], ensure_ascii=False)

    def _read(self, cursor: str) -> tuple[Any, int]:
        try:
            name, key, number = json.loads(cursor)
            str(key).encode()  # fails for a lone surrogate, which the index cannot have
        except (ValueError, TypeError, RecursionError):
            name, key, number = None, None, None
        if name != self.name or not _is_integer(number) or not self.is_key(key):
            raise SearchError(f"{cursor!r} is not a page of this search; start at its first page")
        return key, number

    def is_key(self, key: object) -> bool:
        """Whether a cursor's key is valid in this order."""
        return _is_integer(key)


class _ByTime(_Order):
    """By datestamp, then by row id; ``sign`` is -1 for newest first."""

    sign = 1

    def first(self, after: tuple[Any, int] | None, limit: int) -> list[tuple[Any, int]]:
        keys = self._all_keys()
        if after is not None:
            keys = keys[keys > self._key(*after)]
        if len(keys) > limit:
            keys = np.partition(keys, limit - 1)[:limit]
        return [self._pair(int(key)) for key in np.sort(keys)]

    def around(self, number: int) -> _Place:
        return _around(self._all_keys(), np.concatenate([one.ids for one in self.found]), number)

    def _all_keys(self) -> NDArray[np.int64]:
        return np.concatenate(
            [self._keys(one.segment.datestamps[one.positions], one.ids) for one in self.found]
        )

    def _keys(self, seconds: NDArray[np.int64], ids: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.sign * ((seconds << _PACK) | ids)

    def _key(self, seconds: int, number: int) -> int:
        return self.sign * ((seconds << _PACK) | number)

    def _pair(self, key: int) -> tuple[int, int]:
        packed = self.sign * key
        return packed >> _PACK, packed & ((1 << _PACK) - 1)

    def is_key(self, key: object) -> bool:
        return _is_integer(key) and 0 <= key < 1 << 36


class _Oldest(_ByTime):
    name = "oldest"


class _Newest(_ByTime):
    name = "newest"
    sign = -1


class _ByText(_Order):
    """By a text column of the row, then by row id.

    The ranks of the loaded records in this order are computed once. The few records that
    changed since are sorted here.
    """

    column = ""

    def first(self, after: tuple[Any, int] | None, limit: int) -> list[tuple[Any, int]]:
        base, *fresh = self.found
        candidates = [*self._of_base(base, after, limit)]
        candidates += [int(number) for one in fresh for number in one.ids]
        keyed = [pair for pair in self._keyed(candidates) if after is None or pair > after]
        return sorted(keyed)[:limit]

    def _of_base(self, base: _Found, after: tuple[Any, int] | None, limit: int) -> list[int]:
        ranks = self.columns.ranks(self.connection, self.column)
        mine = ranks[base.positions]
        if after is not None:
            mine = mine[mine >= self._rank_behind(after, ranks)]
        if len(mine) > limit:
            mine = np.partition(mine, limit - 1)[:limit]
        positions = self.columns.position_of_rank(self.column)[mine]
        return [int(number) for number in base.segment.ids[positions]]

    def around(self, number: int) -> _Place:
        base, *fresh = self.found
        (own,) = self._keyed([number])
        ranks = self.columns.ranks(self.connection, self.column)
        mine = ranks[base.positions]
        behind = mine >= self._rank_behind(own, ranks)
        before = ~behind & (base.ids != number)
        nearest = [mine[before].max()] if before.any() else []
        nearest += [mine[behind].min()] if behind.any() else []
        positions = self.columns.position_of_rank(self.column)[nearest]
        loaded = self._keyed([int(one) for one in base.segment.ids[positions]])
        changed = self._keyed([int(one) for some in fresh for one in some.ids])
        earlier = [pair for pair in (*loaded, *changed) if pair < own]
        later = [pair for pair in (*loaded, *changed) if pair > own]
        return (
            max(earlier)[1] if earlier else None,
            min(later)[1] if later else None,
            int(np.count_nonzero(before)) + sum(pair < own for pair in changed) + 1,
        )

    def _rank_behind(self, after: tuple[Any, int], ranks: NDArray[np.int32]) -> int:
        """The rank of the first loaded record after a cursor."""
        segment = self.columns.segments[0]
        rows = self.connection.execute(
            f"SELECT id FROM record WHERE ({self.column}, id) > (?, ?) "  # noqa: S608 - constants
            f"ORDER BY {self.column}, id",
            after,
        )
        for (number,) in rows:
            position = segment.positions_of(np.array([number]))
            if len(position) and segment.alive[position[0]]:
                return int(ranks[position[0]])
        return len(ranks)

    def _keyed(self, ids: Sequence[int]) -> list[tuple[str, int]]:
        found = []
        for start in range(0, len(ids), 500):
            some = ids[start : start + 500]
            marks = ",".join("?" * len(some))
            found += self.connection.execute(
                f"SELECT {self.column}, id FROM record WHERE id IN ({marks})",  # noqa: S608
                some,
            ).fetchall()
        return found

    def is_key(self, key: object) -> bool:
        return isinstance(key, str)


class _Identifier(_ByText):
    name = column = "identifier"


class _Title(_ByText):
    name = "title"
    column = "title_key"


class _Relevance(_Order):
    """By bm25, with the highest weight for the title; for few hits only."""

    name = "relevance"

    def first(self, after: tuple[Any, int] | None, limit: int) -> list[tuple[Any, int]]:
        keyed = self._ranked()
        return sorted(pair for pair in keyed if after is None or pair > after)[:limit]

    def around(self, number: int) -> _Place:
        keys, ids = zip(*self._ranked(), strict=True)
        return _around(np.array(keys), np.array(ids), number)

    def _ranked(self) -> list[tuple[float, int]]:
        wanted = {int(number) for one in self.found for number in one.ids}
        ranked = self.connection.execute(
            "SELECT bm25(text, 8.0, 4.0, 2.0, 1.0, 4.0, 4.0), rowid FROM text WHERE text MATCH ?",
            (self.hits.ranking,),
        )
        return [(rank, number) for rank, number in ranked if number in wanted]

    def is_key(self, key: object) -> bool:
        return isinstance(key, float) or _is_integer(key)


class _ByNumber(_Order):
    """By the numbers of a contributed facet, then by row id.

    If a record has several numbers, the one that sorts first counts. Records without a
    number come last; their key is None.
    """

    def first(self, after: tuple[Any, int] | None, limit: int) -> list[tuple[Any, int]]:
        keys = np.concatenate([self._keys(one) for one in self.found])
        ids = np.concatenate([one.ids for one in self.found])
        if after is not None:
            key, number = math.inf if after[0] is None else after[0], after[1]
            behind = (keys > key) | ((keys == key) & (ids > number))
            keys, ids = keys[behind], ids[behind]
        if len(keys) > limit:
            among = keys <= np.partition(keys, limit - 1)[limit - 1]
            keys, ids = keys[among], ids[among]
        chosen = np.lexsort((ids, keys))[:limit]
        return [
            (None if math.isinf(keys[place]) else float(keys[place]), int(ids[place]))
            for place in chosen
        ]

    def around(self, number: int) -> _Place:
        keys = np.concatenate([self._keys(one) for one in self.found])
        return _around(keys, np.concatenate([one.ids for one in self.found]), number)

    def _keys(self, found: _Found) -> NDArray[np.float64]:
        field = self.name.removeprefix("-")
        column = found.segment.column(field)
        numbers = np.array([*map(_number, self.columns.values.texts[field]), math.nan])
        signed = -numbers if self.name.startswith("-") else numbers
        signed[np.isnan(signed)] = math.inf
        keys = np.full(column.size, math.inf)
        np.minimum.at(keys, column.owners, signed[column.codes])
        return keys[found.positions]

    def is_key(self, key: object) -> bool:
        return key is None or isinstance(key, float) or _is_integer(key)


def _is_integer(value: object) -> TypeGuard[int]:
    """Whether a value of a cursor is an integer that SQLite and numpy can hold."""
    return type(value) is int and -(1 << 63) <= value < 1 << 63


def _number(text: str) -> float:
    """A value as a finite number; NaN for any other text."""
    try:
        found = float(text)
    except ValueError:
        return math.nan
    return found if math.isfinite(found) else math.nan


def _is_number(sort: str) -> bool:
    name = sort.removeprefix("-")
    return name in contributed_names() and facet_named(name).is_order


_ORDERS: dict[str, type[_Order]] = {
    order.name: order for order in (_Oldest, _Newest, _Identifier, _Title, _Relevance)
}


def _rows(connection: sqlite3.Connection, ids: Sequence[int]) -> tuple[Row, ...]:
    marks = ",".join("?" * len(ids))
    found = connection.execute(
        f"SELECT id, {ROW_COLUMNS} FROM record WHERE id IN ({marks})",  # noqa: S608 - marks
        ids,
    ).fetchall()
    rows = {row[0]: row_of(row[1:]) for row in found}
    return tuple(rows[number] for number in ids if number in rows)
