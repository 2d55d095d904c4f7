"""The orders of search results: the keys of a page, its cursor, and a record's neighbours."""

import json
import math
import sqlite3
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import Any, TypeGuard

from pyroaring import BitMap

from recordsilo.errors import SearchError
from recordsilo.index.columns import Columns, Order
from recordsilo.index.matching import Found, Hits, number_of
from recordsilo.index.rows import title_key
from recordsilo.index.schema import WEIGHTS
from recordsilo.index.search_values import RELEVANCE_AT_MOST, PageRequest


def order_for(
    wanted: str | None,
    connection: sqlite3.Connection,
    columns: Columns,
    found: Found,
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


def _around(keyed: Sequence[tuple[Any, int]], number: int) -> Place:
    """The neighbours of a row id among sorted pairs of key and row id."""
    place = next(at for at, (_key, one) in enumerate(keyed) if one == number)
    before = keyed[place - 1][1] if place else None
    behind = keyed[place + 1][1] if place + 1 < len(keyed) else None
    return before, behind, place + 1


def cursor_behind(identifier: str) -> str:
    """The cursor, in the order ``identifier``, of what is behind one, whether that is found or not.

    A list of which records leave while one goes through it, such as those with a finding, is
    gone through by it without losing the place.
    """
    return json.dumps(["identifier", identifier, (1 << 63) - 1], ensure_ascii=False)


class FoundOrder(ABC):
    """An order of the found records: the keys of a page, and the cursor after it."""

    name = ""

    def __init__(
        self,
        connection: sqlite3.Connection,
        columns: Columns,
        found: Found,
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


class _ByColumn(FoundOrder):
    """By a column of the rows, then by row id.

    All records are sorted once; the few that changed since are sorted here. The records of a
    page are the first of the order that are found.
    """

    column = ""
    sign = 1

    def first(self, after: tuple[Any, int] | None, limit: int) -> list[tuple[Any, int]]:
        order = self.columns.order(self.connection, self.column)
        among, apart = order.among(self.found.ids)
        if len(among) <= _FEW:
            some = [*among]
        else:
            place = None if after is None else self._place(order, after)
            walked = filter(among.__contains__, self._walk(order, place))
            some = [*islice(walked, limit + 1)]  # the one of the cursor may be the first
        keyed = self.keyed([*some, *apart])
        if after is not None:
            keyed = [pair for pair in keyed if self._is_behind(pair, after)]
        return sorted(keyed, reverse=self.sign < 0)[:limit]

    def _walk(self, order: Order, place: int | None) -> Iterator[int]:
        """The records of an order, from the first one on that may be behind a cursor."""
        last = len(order.ids) - 1
        if self.sign > 0:
            places = range(max(place or 0, 0), last + 1)
        else:
            places = range(last if place is None else place, -1, -1)
        return map(order.ids.__getitem__, places)

    def around(self, number: int) -> Place:
        order = self.columns.order(self.connection, self.column)
        among, apart = order.among(self.found.ids)
        (own,) = self.keyed([number])
        place = self._place(order, own)  # of the record itself, or of the last one before it
        before, behind = order.ids[: place + 1], order.ids[place + 1 :]
        near = [*islice((one for one in reversed(before) if one in among and one != number), 1)]
        near += islice((one for one in behind if one in among and one != number), 1)
        keyed = sorted(self.keyed([*near, *apart]))
        earlier = [pair for pair in keyed if pair < own]
        later = [pair for pair in keyed if pair > own]
        count = BitMap(before).intersection_cardinality(among) - (number in among)
        count += sum(pair < own for pair in keyed if pair[1] in apart)
        found = (earlier[-1][1] if earlier else None, later[0][1] if later else None, count + 1)
        if self.sign > 0:
            return found
        return found[1], found[0], self.found.total - count

    def _is_behind(self, pair: tuple[Any, int], after: tuple[Any, int]) -> bool:
        return pair > after if self.sign > 0 else pair < after

    @abstractmethod
    def keyed(self, ids: Sequence[int]) -> list[tuple[Any, int]]:
        """Pairs of key and row id."""

    @abstractmethod
    def _place(self, order: Order, pair: tuple[Any, int]) -> int:
        """The place of the last record of an order that is not behind a pair; -1 for none."""


_FEW = 500
"""So many found records are sorted by their keys."""


class _Oldest(_ByColumn):
    name = "oldest"
    column = "seconds"

    def keyed(self, ids: Sequence[int]) -> list[tuple[int, int]]:
        return [(self.columns.seconds_of(number), number) for number in ids]

    def _place(self, order: Order, pair: tuple[int, int]) -> int:
        seconds, number = pair
        start = bisect_left(order.keys, seconds)
        end = bisect_right(order.keys, seconds, start)
        return bisect_right(order.ids, number, start, end) - 1

    def is_key(self, key: object) -> bool:
        return _is_integer(key) and 0 <= key < 1 << 36


class _Newest(_Oldest):
    name = "newest"
    sign = -1


class _ByText(_ByColumn):
    def keyed(self, ids: Sequence[int]) -> list[tuple[str, int]]:
        found = []
        for start in range(0, len(ids), 500):
            some = ids[start : start + 500]
            marks = ",".join("?" * len(some))
            rows = self.connection.execute(
                f"SELECT {self.column}, id FROM record WHERE id IN ({marks})",  # noqa: S608
                some,
            )
            found += [(self.key(text), number) for text, number in rows]
        return found

    def key(self, text: str) -> str:
        """What the column's value is sorted by."""
        return text

    def _place(self, order: Order, pair: tuple[str, int]) -> int:
        return order.first(lambda number: next(iter(self.keyed([number])), None), pair.__lt__) - 1

    def is_key(self, key: object) -> bool:
        return isinstance(key, str)


class _Identifier(_ByText):
    name = column = "identifier"


class _Title(_ByText):
    name = column = "title"

    def key(self, text: str) -> str:
        return title_key(text)


class _Relevance(FoundOrder):
    """By bm25, with the highest weight for the title; for few hits only."""

    name = "relevance"

    def first(self, after: tuple[Any, int] | None, limit: int) -> list[tuple[Any, int]]:
        keyed = self._ranked()
        return sorted(pair for pair in keyed if after is None or pair > after)[:limit]

    def around(self, number: int) -> Place:
        return _around(sorted(self._ranked()), number)

    def _ranked(self) -> list[tuple[float, int]]:
        ranked = self.connection.execute(
            _RANKED,
            (self.hits.ranking,),
        )
        found = self.found.ids
        return [(rank, number) for rank, number in ranked if number in found]

    def is_key(self, key: object) -> bool:
        return isinstance(key, float) or _is_integer(key)


class _ByNumber(FoundOrder):
    """By the numbers of a contributed facet, then by row id.

    If a record has several numbers, the one that sorts first counts. Records without a
    number come last; their key is None.
    """

    def first(self, after: tuple[Any, int] | None, limit: int) -> list[tuple[Any, int]]:
        found: list[tuple[Any, int]] = []
        for key, ids in self._groups():
            if after is not None and key is not None and (after[0] is None or key < after[0]):
                continue
            some = iter(ids)
            if after is not None and key == after[0]:
                some = (number for number in ids if number > after[1])
            found += ((key, number) for number in islice(some, limit - len(found)))
            if len(found) == limit:
                break
        return found

    def around(self, number: int) -> Place:
        before = behind = None
        place = 0
        for _key, ids in self._groups():
            if place and behind is None and ids:  # the record was in an earlier group
                return before, ids.min(), place
            if number in ids:
                rank = ids.rank(number)
                place = self._count + rank
                before = ids[rank - 2] if rank > 1 else self._last
                behind = ids[rank] if rank < len(ids) else None
                if behind is not None:
                    return before, behind, place
        return before, behind, place

    def _groups(self) -> Iterator[tuple[Any, BitMap]]:
        """Keys in order, and the found records of each; those without one at the end."""
        name, rest = self.name.removeprefix("-"), self.found.ids
        self._count, self._last = 0, None
        for key, group in groupby(sorted(self._keyed(name)), lambda pair: pair[0]):
            ids = rest & self.columns.any_of(name, [number for _key, number in group])
            if ids:
                rest = rest - ids
                yield key, ids
                self._count += len(ids)
                self._last = ids.max()
        yield None, rest

    def _keyed(self, name: str) -> Iterator[tuple[Any, int]]:
        """The key and the number of each value of the facet that has a key."""
        sign, texts = -1 if self.name.startswith("-") else 1, self.columns.values.texts
        for number in self.columns.values.numbers.get(name, ()):
            key = number_of(texts[number])
            if not math.isnan(key):
                yield sign * key, number

    def is_key(self, key: object) -> bool:
        return key is None or isinstance(key, float) or _is_integer(key)


class _Type(_ByNumber):
    """By type, without case and accents, then by row id; records without a type come last.

    Types are few. Of creators there may be as many as records, and each would be looked at.
    """

    name = "type"

    def _keyed(self, name: str) -> Iterator[tuple[str, int]]:
        texts = self.columns.values.texts
        return ((title_key(texts[one]), one) for one in self.columns.values.numbers.get(name, ()))

    def is_key(self, key: object) -> bool:
        return key is None or isinstance(key, str)


_RANKED = (
    f"SELECT bm25(text, {', '.join(map(str, WEIGHTS.values()))}), rowid "  # noqa: S608 - constants
    "FROM text WHERE text MATCH ?"
)


def _is_integer(value: object) -> TypeGuard[int]:
    """Whether a value of a cursor is an integer that SQLite can hold."""
    return type(value) is int and -(1 << 63) <= value < 1 << 63


_ORDERS: dict[str, type[FoundOrder]] = {
    order.name: order for order in (_Oldest, _Newest, _Identifier, _Title, _Type, _Relevance)
}
