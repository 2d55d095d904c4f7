"""Which records match the words and the filters of a search, by the facet columns."""

import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyroaring import BitMap

from recordsilo.errors import SearchError, did_you_mean
from recordsilo.index.asked import ids_of
from recordsilo.index.columns import FEW, Columns
from recordsilo.index.facets import labels_of
from recordsilo.index.query_syntax import parse_query
from recordsilo.index.search_values import ASKED, SearchFilters, bound_of, facet_of, range_of
from recordsilo.index.words import Words


class Found:
    """The matching records.

    Args:
        common: Which records have the words, and are within the bounds of time.
        passing: Facet with a filter → which records pass it.
    """

    def __init__(self, common: BitMap, passing: Mapping[str, BitMap]) -> None:
        self._common, self._passing = common, passing
        self.ids = BitMap.intersection(common, *passing.values())
        self._collected: dict[str, dict[int, int]] | None = None

    @property
    def total(self) -> int:
        return len(self.ids)

    def without(self, name: str) -> "Found":
        """What would match without the filters of a facet."""
        if name not in self._passing:
            return self
        return Found(self._common, {o: ids for o, ids in self._passing.items() if o != name})

    def counts(self, columns: Columns, name: str, limit: int) -> Mapping[int, int]:
        """Number of a value of a field → how many have it; see `Columns.counts`.

        Of few records, the values of all fields are collected at once.
        """
        if self.total * FEW > len(columns.alive) or not columns.is_own(name):
            return columns.counts(name, self.ids, limit)
        if self._collected is None:
            self._collected = {}
            for number, count in columns.collected(self.ids).items():
                self._collected.setdefault(columns.values.fields[number], {})[number] = count
        return self._collected.get(name, {})


@dataclass(frozen=True, slots=True)
class Hits:
    """The records that match the words, before any filter.

    Attributes:
        total: The number of records; None if there are no words.
        ranking: The expression that ranks them.
    """

    total: int | None
    ranking: str


def matches(
    connection: sqlite3.Connection, columns: Columns, query: str, filters: SearchFilters
) -> tuple[Hits, Found]:
    """What matches the words, and what also passes the filters.

    Args:
        connection: A connection with an open snapshot of the index.
        columns: The facet columns, in step with that snapshot.
        query: As typed; see `query_syntax`.
        filters: Which records.

    Raises:
        SearchError: A facet cannot have a value, or an invalid date.
    """
    words = Words(connection, parse_query(query))
    wanted, excluded = words.wanted(), words.excluded()
    common = columns.alive if wanted is None else columns.alive & wanted
    total = None if wanted is None else len(common)
    if excluded is not None:
        common = common - excluded
    if filters.since is not None or filters.until is not None:
        low = 0 if filters.since is None else bound_of(filters.since, last=False)
        high = _END if filters.until is None else bound_of(filters.until, last=True)
        common = common & columns.within(connection, low, high)
    if filters.changed_since is not None:
        low = bound_of(filters.changed_since, last=False)
        common = common & columns.changed_within(connection, low, _END)
    return Hits(total, words.ranking()), Found(common, _passing(connection, columns, filters))


_END = 1 << 40


def _passing(
    connection: sqlite3.Connection, columns: Columns, filters: SearchFilters
) -> dict[str, BitMap]:
    """Facet → which records pass its filters."""
    found = {
        name: columns.flags[name] if wanted else columns.alive - columns.flags[name]
        for name, wanted in filters.flags.items()
    }
    for key, values in filters.values.items():
        name = facet_of(key)
        if name in ASKED:
            having = ids_of(connection, columns, name, values)
        else:
            having = columns.any_of(name, _numbers(columns, name, values))
        if key != name:
            having = columns.alive - having
        found[name] = found[name] & having if name in found else having
    return found


def _numbers(columns: Columns, name: str, wanted: Sequence[str]) -> list[int]:
    """The numbers of the values that a filter means.

    Raises:
        SearchError: The facet cannot have one of them.
    """
    texts = {columns.values.texts[one]: one for one in columns.values.numbers.get(name, ())}
    vocabulary = tuple(labels_of(name))
    if vocabulary and (unknown := [v for v in wanted if v not in {*vocabulary, *texts}]):
        flag = f"; did you mean {unknown[0]}:true?" if unknown[0] in columns.flags else ""
        raise SearchError(
            f"there is no {name} {unknown[0]!r}; there are {', '.join(vocabulary)}"
            f"{flag or did_you_mean(unknown[0], vocabulary)}"
        )
    if name == "set":
        return [number for text, number in texts.items() if _in_sets(text, wanted)]
    found = [texts[text] for text in wanted if text in texts]
    if ranges := [bounds for value in wanted if (bounds := range_of(name, value))]:
        for text, number in texts.items():
            if any(low <= number_of(text) <= high for low, high in ranges):
                found.append(number)
    return found


def _in_sets(spec: str, wanted: Iterable[str]) -> bool:
    return any(spec == one or spec.startswith(one + ":") for one in wanted)


def number_of(text: str) -> float:
    """A value as a finite number; NaN for any other text."""
    try:
        found = float(text)
    except ValueError:
        return math.nan
    return found if math.isfinite(found) else math.nan
