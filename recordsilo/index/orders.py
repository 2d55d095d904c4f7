"""The orders of search results: the keys of a page, its cursor, and a record's neighbours."""

import json
import math
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from recordsilo.errors import SearchError
from recordsilo.index.columns import Columns
from recordsilo.index.matching import Hits, SegmentMatches, number_of
from recordsilo.index.search_values import RELEVANCE_AT_MOST, PageRequest

_PACK = 27  # bits for the row id below the seconds: 134 million records


def order_for(
    wanted: str | None,
    connection: sqlite3.Connection,
    columns: Columns,
    found: Sequence[SegmentMatches],
    hits: Hits,
) -> "FoundOrder":
    """The order of a result.

    Args:
        wanted: As in `PageRequest`; None for the usual one.
        connection: A connection with an open snapshot of the index.
        columns: The facet columns, in step with that snapshot.
        found, hits: From `recordsilo.index.matching.matches`.
    """
    name = _name_of(wanted, hits)
    order = _ORDERS.get(name, _ByNumber)(connection, columns, found, hits)
    order.name = name
    return order


def _name_of(wanted: str | None, hits: Hits) -> str:
    sort = wanted or "relevance"
    if sort != "relevance":
        return sort
    if hits.total is None:
        return "identifier"
    return "relevance" if hits.total <= RELEVANCE_AT_MOST else "newest"


Place = tuple[int | None, int | None, int]
"""The row ids before and behind a record, and its place from 1 on."""


def _around(keys: NDArray[Any], ids: NDArray[np.int64], number: int) -> Place:
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


class FoundOrder(ABC):
    """An order of the found records: the keys of a page, and the cursor after it."""

    name = ""

    def __init__(
        self,
        connection: sqlite3.Connection,
        columns: Columns,
        found: Sequence[SegmentMatches],
        hits: Hits,
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
    def around(self, number: int) -> Place:
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


class _ByTime(FoundOrder):
    """By datestamp, then by row id; ``sign`` is -1 for newest first."""

    sign = 1

    def first(self, after: tuple[Any, int] | None, limit: int) -> list[tuple[Any, int]]:
        keys = self._all_keys()
        if after is not None:
            keys = keys[keys > self._key(*after)]
        if len(keys) > limit:
            keys = np.partition(keys, limit - 1)[:limit]
        return [self._pair(int(key)) for key in np.sort(keys)]

    def around(self, number: int) -> Place:
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


class _ByText(FoundOrder):
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

    def _of_base(
        self, base: SegmentMatches, after: tuple[Any, int] | None, limit: int
    ) -> list[int]:
        ranks = self.columns.ranks(self.connection, self.column)
        mine = ranks[base.positions]
        if after is not None:
            mine = mine[mine >= self._rank_behind(after, ranks)]
        if len(mine) > limit:
            mine = np.partition(mine, limit - 1)[:limit]
        positions = self.columns.position_of_rank(self.column)[mine]
        return [int(number) for number in base.segment.ids[positions]]

    def around(self, number: int) -> Place:
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


class _Relevance(FoundOrder):
    """By bm25, with the highest weight for the title; for few hits only."""

    name = "relevance"

    def first(self, after: tuple[Any, int] | None, limit: int) -> list[tuple[Any, int]]:
        keyed = self._ranked()
        return sorted(pair for pair in keyed if after is None or pair > after)[:limit]

    def around(self, number: int) -> Place:
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


class _ByNumber(FoundOrder):
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

    def around(self, number: int) -> Place:
        keys = np.concatenate([self._keys(one) for one in self.found])
        return _around(keys, np.concatenate([one.ids for one in self.found]), number)

    def _keys(self, found: SegmentMatches) -> NDArray[np.float64]:
        field = self.name.removeprefix("-")
        column = found.segment.column(field)
        numbers = np.array([*map(number_of, self.columns.values.texts[field]), math.nan])
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


_ORDERS: dict[str, type[FoundOrder]] = {
    order.name: order for order in (_Oldest, _Newest, _Identifier, _Title, _Relevance)
}
