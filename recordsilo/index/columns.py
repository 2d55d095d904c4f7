"""Facet columns: arrays of the values that a search filters, counts and sorts by.

A record has a *position*; arrays are in the order of positions. Fields with several
values per record (sets, subjects) are stored as two arrays of equal length, sorted by
position: *owners* (position of the record) and *codes* (number of the value).

Columns are loaded from the rows of the index. Records that change later go into a second,
small *segment* and are masked out of the first, so the cost of a change does not grow
with the number of records.
"""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recordsilo.index.search_values import FLAGS, LARGE_FIELDS, SMALL_FIELDS

Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]
Counts = NDArray[np.intp]

MERGE_AT = 20_000
"""Number of changed records at which all columns are loaded again."""
_CHUNK = 20_000


class ValueColumn:
    """A field's values: ``codes[i]`` is a value of the record at position ``owners[i]``.

    Over many records, the way to count depends on the frequency of the values. The most
    frequent have a bitmap each, which is intersected with the matching records. Less
    frequent ones are counted record by record; the rarest only if one of them can still be
    among the values shown. Over few records, the values of each record are collected; over
    nearly all, those of the others are subtracted.

    Args:
        owners: Positions of records, ascending.
        codes: The numbers of their values, of the same length.
        size: The number of positions.
    """

    def __init__(self, owners: Ints, codes: Ints, size: int) -> None:
        self.owners, self.codes, self.size = owners, codes, size
        self._starts: Counts | None = None
        self._has_one_each: bool | None = None
        self._totals: Counts | None = None
        self._tiers: tuple[_Tier, ...] | None = None

    def counts(
        self, matching: Bools, positions: NDArray[np.intp], values: int, limit: int
    ) -> Counts:
        """How many of the matching records have each of the most frequent values.

        Args:
            matching: A mask by position.
            positions: The positions of the matching records.
            values: The number of values of the field.
            limit: The counts of values less frequent than this many others may be 0.
        """
        if len(positions) == self.size:
            return self.totals(values)
        if len(positions) * _FEW <= self.size:
            return self._gathered(positions, values)
        if (self.size - len(positions)) * _FEW <= self.size:
            return self.totals(values) - self._gathered(np.flatnonzero(~matching), values)
        return self._by_tiers(matching, values, limit)

    def totals(self, values: int) -> Counts:
        """The number of records that have each value."""
        if self._totals is None or len(self._totals) < values:
            self._totals = np.bincount(self.codes, minlength=values)
        totals: Counts = self._totals
        return totals

    @property
    def lengths(self) -> Counts:
        """The number of values of each record."""
        return np.bincount(self.owners, minlength=self.size)

    def _gathered(self, positions: NDArray[np.intp], values: int) -> Counts:
        if self._starts is None:
            self._starts = np.concatenate([np.zeros(1, np.intp), np.cumsum(self.lengths)])
        starts, ends = self._starts[positions], self._starts[positions + 1]
        lengths = ends - starts
        offsets = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
        return np.bincount(self.codes[offsets + np.arange(len(offsets))], minlength=values)

    def _by_tiers(self, matching: Bools, values: int, limit: int) -> Counts:
        found = np.zeros(values, np.intp)
        least = 0
        for tier in self.tiers():
            if tier.most >= least:  # otherwise none of its values is shown
                tier.count(matching, found)
                least = least_of_best(found, limit)
        return found

    def tiers(self) -> "tuple[_Tier, ...]":
        """The values by frequency; divided on first use."""
        return self._tiers or self._split()

    def _split(self) -> "tuple[_Tier, ...]":
        totals = self.totals(0)
        short = np.uint16 if len(totals) <= 1 << 16 else np.int32  # numpy sorts 16 bits by radix
        order = np.argsort(self.codes.astype(short), kind="stable")
        ends = np.cumsum(totals)
        frequent = np.flatnonzero(totals * _FREQUENT > self.size)
        bitmaps = np.zeros((len(frequent), (self.size + 63) // 64), np.uint64)
        for row, code in enumerate(frequent):
            mask = np.zeros(self.size, np.bool_)
            mask[self.owners[order[ends[code] - totals[code] : ends[code]]]] = True
            bitmaps[row] = _packed(mask)
        total = totals[self.codes]
        rare = total * _RARE <= self.size
        middle = ~rare & (total * _FREQUENT <= self.size)
        self._tiers = (
            _Bitmaps(self.size, frequent, bitmaps),
            self._tier_of(middle, totals),
            self._tier_of(rare, totals),
        )
        return self._tiers

    def _tier_of(self, chosen: Bools, totals: Counts) -> "_Lists":
        codes = self.codes[chosen].astype(np.intp)
        most = int(totals[codes].max(initial=0))
        return _Lists(most, self.owners[chosen].astype(np.intp), codes)

    def having(self, codes: Iterable[int]) -> Bools:
        """A mask of the positions that have any of the given values."""
        wanted = np.zeros(len(self.totals(0)) + 1, np.bool_)
        wanted[[code for code in codes if code < len(wanted)]] = True
        having = wanted[self.codes]
        if self._has_one_each is None:
            self._has_one_each = np.array_equal(self.owners, np.arange(self.size))
        if self._has_one_each:
            return having
        found = np.zeros(self.size, np.bool_)
        found[self.owners[having]] = True
        return found


def least_of_best(counts: Counts, limit: int) -> int:
    """The smallest of the ``limit`` largest counts; 0 if fewer are above 0."""
    positive = counts[counts > 0]
    return int(np.partition(positive, -limit)[-limit]) if 0 < limit <= len(positive) else 0


_FEW = 20
"""If fewer than one record in this many matches, the values of each are collected."""
_FREQUENT = 100
"""A value gets a bitmap if more than one record in this many has it."""
_RARE = 1000
"""A value that at most one record in this many has belongs to the rarest, counted last."""


@dataclass(frozen=True, slots=True)
class _Tier(ABC):
    """Values of similar frequency.

    Attributes:
        most: An upper bound of the number of records that have one of these values.
    """

    most: int

    @abstractmethod
    def count(self, matching: Bools, found: Counts) -> None:
        """Store in ``found``, by code, how many matching records have each value."""


@dataclass(frozen=True, slots=True)
class _Bitmaps(_Tier):
    """Values with a bitmap each; a row of the array is the bitmap of one code."""

    codes: NDArray[np.intp]
    bitmaps: NDArray[np.uint64]

    def count(self, matching: Bools, found: Counts) -> None:
        if len(self.codes):
            common = np.bitwise_count(self.bitmaps & _packed(matching))
            found[self.codes] = common.sum(axis=1)


@dataclass(frozen=True, slots=True)
class _Lists(_Tier):
    """Values stored as pairs of owner and code."""

    owners: NDArray[np.intp]
    codes: NDArray[np.intp]

    def count(self, matching: Bools, found: Counts) -> None:
        found += np.bincount(self.codes[matching[self.owners]], minlength=len(found))


def _packed(mask: Bools) -> NDArray[np.uint64]:
    """A mask as 64-bit words."""
    octets = np.packbits(mask)
    words = np.zeros((len(mask) + 63) // 64 * 8, np.uint8)
    words[: len(octets)] = octets
    return words.view(np.uint64)


@dataclass(frozen=True, slots=True)
class Segment:
    """The columns of a part of the records.

    Attributes:
        ids: Row ids, ascending; a record's position is its place in this array.
        alive: By position; False if the record was changed or deleted since.
        datestamps: Seconds since 0001-01-01.
        fields: Field → its values; contributed facets are added when they are needed.
    """

    ids: NDArray[np.int64]
    alive: Bools
    datestamps: NDArray[np.int64]
    flags: Mapping[str, Bools]
    fields: dict[str, ValueColumn]

    def positions_of(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The positions of those of the given row ids that this segment has."""
        if not len(self.ids) or not len(ids):
            return np.zeros(0, np.int64)
        places: NDArray[np.int64] = np.searchsorted(self.ids, ids)
        places[places == len(self.ids)] = 0
        here: NDArray[np.int64] = places[self.ids[places] == ids]
        return here

    def column_of(self, ids: NDArray[np.int64], codes: Ints) -> ValueColumn:
        """A column from ascending row ids and codes, without records of other segments."""
        places = np.searchsorted(self.ids, ids)
        if len(self.ids):
            here = self.ids[np.minimum(places, len(self.ids) - 1)] == ids
        else:
            here = np.zeros(len(ids), np.bool_)
        return ValueColumn(places[here].astype(np.int32), codes[here], len(self.ids))

    def column(self, name: str) -> ValueColumn:
        """A field's values, including those that packages add (``finding.links``)."""
        added = [column for one, column in self.fields.items() if one.startswith(f"{name}.")]
        if not added:
            return self.fields[name]
        merged = f"+{name}"
        if merged not in self.fields:
            own = self.fields[name]
            owners = np.concatenate([own.owners, *(one.owners for one in added)])
            codes = np.concatenate([own.codes, *(one.codes for one in added)])
            if name == "finding":  # deleted records have no findings
                shown = ~(self.flags["deleted"] & ~self.flags["curated"])[owners]
                owners, codes = owners[shown], codes[shown]
            order = np.argsort(owners, kind="stable")
            self.fields[merged] = ValueColumn(owners[order], codes[order], own.size)
        return self.fields[merged]


@dataclass(slots=True)
class Values:
    """The values of the facet fields: number ↔ text, numbered consecutively in each field.

    Attributes:
        field_of: Number of a value in the index → number of its field, its place in `texts`.
        code_of: Number of a value in the index → its code, its place in the field's values.
        texts: Field → its values, by code.
    """

    field_of: NDArray[np.int16]
    code_of: Ints
    texts: dict[str, list[str]]

    @classmethod
    def load(cls, connection: sqlite3.Connection) -> "Values":
        """Read all values."""
        texts: dict[str, list[str]] = {field: [] for field in SMALL_FIELDS + LARGE_FIELDS}
        values = cls(np.zeros(0, np.int16), np.zeros(0, np.int32), texts)
        values.take_in(connection)
        return values

    def take_in(self, connection: sqlite3.Connection) -> None:
        """Read the values that were added since; a field is numbered when it first has one."""
        known = len(self.field_of)
        rows = connection.execute(
            "SELECT id, field, value FROM facet_value WHERE id >= ? ORDER BY id", (known,)
        ).fetchall()
        if not rows:
            return
        numbers = {field: number for number, field in enumerate(self.texts)}
        field_of = np.full(rows[-1][0] + 1, -1, np.int16)
        code_of = np.zeros(rows[-1][0] + 1, np.int32)
        field_of[:known], code_of[:known] = self.field_of, self.code_of
        for number, field, value in rows:
            if field not in numbers:  # belongs to a contributed facet
                numbers[field], self.texts[field] = len(numbers), []
            field_of[number] = numbers[field]
            code_of[number] = len(self.texts[field])
            self.texts[field].append(value)
        self.field_of, self.code_of = field_of, code_of

    def codes(self, field: str, wanted: Iterable[str]) -> list[int]:
        """The codes of the given values, without values that no record has."""
        if not (named := list(wanted)):
            return []
        places = {text: code for code, text in enumerate(self.texts.get(field, ()))}
        return [places[text] for text in named if text in places]


def load_segment(
    connection: sqlite3.Connection, values: Values, where: str, parameters: Sequence[object], *,
    large: bool,
) -> Segment:  # fmt: skip
    """Load the columns of the records that meet a condition.

    Args:
        where: An SQL condition on the table ``record``.
        large: Whether to load subjects and creators too.
    """
    parts = [
        _ColumnChunk.of(chunk, large=large)
        for chunk in _chunks(connection, where, parameters, large=large)
    ] or [_ColumnChunk.of([], large=large)]
    counts = np.concatenate([part.counts for part in parts])
    numbers = np.concatenate([part.numbers for part in parts])
    owners = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    fields = SMALL_FIELDS + LARGE_FIELDS if large else SMALL_FIELDS
    every = SMALL_FIELDS + LARGE_FIELDS
    field_of, code_of = values.field_of[numbers], values.code_of[numbers]
    columns = {}
    for name in fields:
        here = field_of == every.index(name)
        columns[name] = ValueColumn(owners[here], code_of[here], len(counts))
    flag_bits = np.concatenate([part.flags for part in parts])
    return Segment(
        ids=np.concatenate([part.ids for part in parts]),
        alive=np.ones(len(counts), np.bool_),
        datestamps=np.concatenate([part.datestamps for part in parts]),
        flags={name: (flag_bits & (1 << bit)) != 0 for bit, name in enumerate(FLAGS)},
        fields=columns,
    )


def _chunks(
    connection: sqlite3.Connection, where: str, parameters: Sequence[object], *, large: bool
) -> Iterable[list[tuple[int, int, int, bytes, bytes]]]:
    large_column = "facets_large" if large else "x''"
    order = "id" if where == "1" else "+id"  # with id, SQLite would read all rows in that order
    cursor = connection.execute(
        f"SELECT id, seconds, flags, facets, {large_column} FROM record "  # noqa: S608 - constants
        f"WHERE {where} ORDER BY {order}",
        parameters,
    )
    while chunk := cursor.fetchmany(_CHUNK):
        yield chunk


@dataclass(frozen=True, slots=True)
class _ColumnChunk:
    """The arrays of one chunk of rows."""

    ids: NDArray[np.int64]
    datestamps: NDArray[np.int64]
    flags: Ints
    counts: Ints
    numbers: Ints

    @classmethod
    def of(
        cls, rows: Sequence[tuple[int, int, int, bytes, bytes]], *, large: bool
    ) -> "_ColumnChunk":
        size = len(rows)
        ids, seconds, flags, small, more = zip(*rows, strict=True) if rows else ((),) * 5
        if large:
            small = tuple(map(bytes.__add__, small, more))
        return cls(
            np.fromiter(ids, np.int64, size),
            np.fromiter(seconds, np.int64, size),
            np.fromiter(flags, np.int32, size),
            np.fromiter((len(blob) >> 2 for blob in small), np.int32, size),
            np.frombuffer(b"".join(small), np.int32),
        )


@dataclass(frozen=True, slots=True)
class _Beside:
    """The values of a contributed facet, by row id.

    Attributes:
        version: Changes whenever the values change.
        numbers: The values' numbers in the index.
    """

    version: int
    ids: NDArray[np.int64]
    numbers: NDArray[np.int64]

    @classmethod
    def load(cls, connection: sqlite3.Connection, name: str, version: int) -> "_Beside":
        cursor = connection.execute(
            "SELECT id, value FROM beside WHERE facet = ? ORDER BY id, value", (name,)
        )
        parts = [np.zeros((0, 2), np.int64)]
        while chunk := cursor.fetchmany(_CHUNK):
            parts.append(np.array(chunk, np.int64))
        ids, numbers = np.concatenate(parts).T.copy()
        return cls(version, ids, numbers)


@dataclass(frozen=True, slots=True)
class Base:
    """The columns that were loaded first.

    Attributes:
        change: The last change that they include.
        orders: Text column → the positions of the records in its order.
    """

    change: int
    segment: Segment
    orders: dict[str, Ints]


class Columns:
    """The columns of all records of an index, kept in step with it.

    Args:
        base: From a file; None loads it from the rows.

    Attributes:
        values: See `Values`.
        segments: The one loaded first and, after changes, a small second one.
        large: Whether subjects and creators are loaded.
        is_from_rows: Whether the first segment was loaded from the rows, and no file has it.
    """

    def __init__(
        self, connection: sqlite3.Connection, *, large: bool, base: Base | None = None
    ) -> None:
        self.large = large
        self._beside: dict[str, _Beside] = {}
        self._load(connection, base)

    def _load(self, connection: sqlite3.Connection, base: Base | None = None) -> None:
        self.is_from_rows = base is None
        self.values = Values.load(connection)
        if base is None:
            segment = load_segment(connection, self.values, "1", (), large=self.large)
            base = Base(newest_change(connection), segment, {})
        self._change = self._base_change = base.change
        self._base = base.segment
        self._ranks = {name: (self._ranked(order), order) for name, order in base.orders.items()}
        self.segments: tuple[Segment, ...] = (self._base,)

    def prepare(self) -> None:
        """Do what the first search of many records would do with the loaded columns."""
        for column in list(self._base.fields.values()):
            column.tiers()

    def base(self, connection: sqlite3.Connection) -> Base:
        """The first segment, with the order of identifiers, to be stored in a file."""
        self.ranks(connection, "identifier")
        orders = {name: order for name, (_ranks, order) in self._ranks.items()}
        return Base(self._base_change, self._base, orders)

    def ranks(self, connection: sqlite3.Connection, column: str) -> Ints:
        """Each loaded record's place in the order of a text column; computed on first use."""
        if column not in self._ranks:
            ordered = connection.execute(
                f"SELECT id FROM record ORDER BY {column}, id"  # noqa: S608 - a constant of ours
            )
            ids = np.fromiter((row[0] for row in ordered), np.int64)
            positions = self._base.positions_of(ids).astype(np.int32)
            self._ranks[column] = (self._ranked(positions), positions)
        return self._ranks[column][0]

    def _ranked(self, positions: Ints) -> Ints:
        ranks = np.full(len(self._base.ids), len(positions), np.int32)
        ranks[positions] = np.arange(len(positions), dtype=np.int32)
        return ranks

    def position_of_rank(self, column: str) -> Ints:
        """The inverse of `ranks`."""
        return self._ranks[column][1]

    def refresh(self, connection: sqlite3.Connection) -> None:
        """Load what changed in the index; the cost depends on the changes only."""
        newest = newest_change(connection)
        if newest == self._change:
            return
        changed = connection.execute(
            "SELECT count(*) FROM record WHERE change > ?", (self._base_change,)
        ).fetchone()[0]
        gone = [
            row[0]
            for row in connection.execute(
                "SELECT id FROM gone WHERE change > ?", (self._base_change,)
            )
        ]
        if changed + len(gone) > MERGE_AT:
            self._load(connection)
            return
        self.values.take_in(connection)
        fresh = load_segment(
            connection, self.values, "change > ?", (self._base_change,), large=self.large
        )
        alive = np.ones(len(self._base.ids), np.bool_)
        alive[self._base.positions_of(fresh.ids)] = False
        alive[self._base.positions_of(np.array(gone, np.int64))] = False
        base = self._base
        self.segments = (
            Segment(base.ids, alive, base.datestamps, base.flags, base.fields),
            fresh,
        )
        self._change = newest

    def take_in(self, connection: sqlite3.Connection, names: Iterable[str]) -> None:
        """Load the values of contributed facets that are not loaded or have changed."""
        for name in names:
            found = connection.execute(
                "SELECT version FROM beside_facet WHERE facet = ?", (name,)
            ).fetchone()
            version = int(found[0]) if found else 0
            known = self._beside.get(name)
            if known is None or known.version != version:
                self.values.take_in(connection)
                known = self._beside[name] = _Beside.load(connection, name, version)
                for segment in self.segments:
                    segment.fields.pop(name, None)
            for segment in self.segments:
                if name not in segment.fields:
                    segment.fields.pop(f"+{name.partition('.')[0]}", None)
                    codes = self.values.code_of[known.numbers]
                    segment.fields[name] = segment.column_of(known.ids, codes)
            self.values.texts.setdefault(name, [])

    def crossed(self, field: str, other: str) -> dict[str, dict[str, int]]:
        """Value of a field → value of another field → number of records that have both.

        Args:
            field: It may have several values per record.
            other: It has at most one.
        """
        rows, across = self.values.texts[field], self.values.texts[other]
        keys = []
        for segment in self.segments:
            one, two = segment.fields[field], segment.fields[other]
            codes = np.full(two.size, -1, np.int64)
            codes[two.owners] = two.codes
            codes[~segment.alive] = -1
            theirs = codes[one.owners]
            known = theirs >= 0
            keys.append(one.codes[known] * len(across) + theirs[known])
        found: dict[str, dict[str, int]] = {}
        pairs, counts = np.unique(np.concatenate(keys), return_counts=True)
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
            found.setdefault(rows[pair // len(across)], {})[across[pair % len(across)]] = count
        return found


def newest_change(connection: sqlite3.Connection) -> int:
    """The number of the index's last change."""
    found = connection.execute("SELECT value FROM about WHERE key = 'change'").fetchone()
    return int(found[0])


def forget_gone(connection: sqlite3.Connection) -> None:
    """Delete old notes of deleted rows, so that they do not accumulate.

    A process whose columns are older than the oldest note finds more than `MERGE_AT`
    notes, and so loads the columns again.
    """
    connection.execute(
        "DELETE FROM gone WHERE change < "
        "(SELECT change FROM gone ORDER BY change DESC LIMIT 1 OFFSET ?)",
        (MERGE_AT,),
    )
