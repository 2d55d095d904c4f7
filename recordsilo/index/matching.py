"""Which records match the words and the filters of a search, as masks over the facet columns."""

import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recordsilo.errors import SearchError, did_you_mean
from recordsilo.index.asked import ids_of
from recordsilo.index.columns import Bools, Columns, Segment
from recordsilo.index.facets import labels_of
from recordsilo.index.query_syntax import parse_query
from recordsilo.index.search_values import ASKED, SearchFilters, bound_of, facet_of, range_of
from recordsilo.index.words import Words


@dataclass(frozen=True, slots=True)
class SegmentMatches:
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
    def of(cls, segment: Segment, common: Bools, passing: Mapping[str, Bools]) -> "SegmentMatches":
        """What has the words and passes all filters."""
        mask = common
        for one in passing.values():
            mask = mask & one
        return cls(segment, common, passing, mask, np.flatnonzero(mask))

    def without(self, name: str) -> "SegmentMatches":
        """What would match without the filters of a facet."""
        if name not in self.passing:
            return self
        others = {one: mask for one, mask in self.passing.items() if one != name}
        return SegmentMatches.of(self.segment, self.common, others)

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
) -> tuple[Hits, list[SegmentMatches]]:
    """What matches the words, and in each segment what also passes the filters.

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
    changed = None if filters.changed_since is None else _changed(connection, filters.changed_since)
    asked = {
        key: ids_of(connection, facet_of(key), values)
        for key, values in filters.values.items()
        if facet_of(key) in ASKED
    }
    found, total = [], 0
    for segment in columns.segments:
        mask = segment.alive.copy()
        if wanted is not None:
            mask &= wanted.among(segment.ids)
            total += int(np.count_nonzero(mask))
        if excluded is not None:
            mask &= ~excluded.among(segment.ids)
        _bound_time(mask, segment, filters)
        if changed is not None:
            mask &= _only(segment, changed)
        found.append(SegmentMatches.of(segment, mask, _passing(segment, columns, filters, asked)))
    return Hits(None if wanted is None else total, words.ranking()), found


def _bound_time(mask: Bools, segment: Segment, filters: SearchFilters) -> None:
    if filters.since is not None:
        mask &= segment.datestamps >= bound_of(filters.since, last=False)
    if filters.until is not None:
        mask &= segment.datestamps <= bound_of(filters.until, last=True)


def _changed(connection: sqlite3.Connection, since: str) -> NDArray[np.int64]:
    """The row ids of the records that were changed here since a date; found by an index."""
    rows = connection.execute(
        "SELECT id FROM record WHERE changed >= ?", (bound_of(since, last=False),)
    )
    return np.fromiter((number for (number,) in rows), np.int64)


def _only(segment: Segment, ids: NDArray[np.int64]) -> Bools:
    mask = np.zeros(len(segment.ids), np.bool_)
    mask[segment.positions_of(ids)] = True
    return mask


def _passing(
    segment: Segment,
    columns: Columns,
    filters: SearchFilters,
    asked: Mapping[str, NDArray[np.int64]],
) -> dict[str, Bools]:
    """Facet → which records of a segment pass its filters.

    Args:
        asked: Filter → the row ids of the records that have its values.
    """
    found = {
        name: segment.flags[name] if wanted else ~segment.flags[name]
        for name, wanted in filters.flags.items()
    }
    for key, values in filters.values.items():
        name = facet_of(key)
        if key in asked:
            having = _only(segment, asked[key])
        else:
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
        numbers = np.array([*map(number_of, texts)])
        for low, high in ranges:
            codes += np.flatnonzero((numbers >= low) & (numbers <= high)).tolist()
    return codes


def _in_sets(spec: str, wanted: Iterable[str]) -> bool:
    return any(spec == one or spec.startswith(one + ":") for one in wanted)


def number_of(text: str) -> float:
    """A value as a finite number; NaN for any other text."""
    try:
        found = float(text)
    except ValueError:
        return math.nan
    return found if math.isfinite(found) else math.nan
