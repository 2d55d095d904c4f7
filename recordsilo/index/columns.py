"""Facet columns: which records have each value that a search filters, counts and sorts by.

Each value has a bitmap of the row ids of its records. Fields of one value for each record and
fields of many are the same. Besides, the numbers of each record's values are kept in the order of
row ids, as in the index: where few records are found, theirs are collected.

Columns are loaded from the rows of the index, or from a file. Records that change later are taken
out of the bitmaps and put in again, so the cost of a change does not grow with the number of
records.
"""

import json
import sqlite3
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from heapq import heappop, heappush
from itertools import accumulate, chain, compress, filterfalse, repeat
from operator import call, itemgetter, sub
from typing import TypeVar

from pyroaring import BitMap

from recordsilo.index.packing import numbers_of
from recordsilo.index.query import Filters
from recordsilo.index.row_ids import of_rows
from recordsilo.index.rows import title_key
from recordsilo.index.search_values import FLAGS, LARGE_FIELDS, SMALL_FIELDS

MERGE_AT = 20_000
"""Number of changed records at which all columns are loaded again."""
_CHUNK = 20_000
FEW = 100
"""If fewer than one record in this many matches, the values of each are collected."""
_NONE = BitMap()
K = TypeVar("K")


@dataclass(slots=True)
class Rows:
    """The rows of records, in the order of row ids; those that changed since are in `changed`.

    Attributes:
        ids: Row ids.
        seconds: Datestamps, in seconds since 0001-01-01.
        flags: Bits, the first of `FLAGS` lowest.
        starts: Where each record's values begin in ``numbers``; one more than records.
        numbers: The numbers of the values.
        changed: Row id → what is true now: seconds and numbers.
    """

    ids: "array[int]"
    seconds: "array[int]"
    flags: bytes
    starts: "array[int]"
    numbers: "array[int]"
    changed: "dict[int, tuple[int, array[int]]]" = field(default_factory=dict)

    def seconds_of(self, number: int) -> int:
        """The datestamp of a record that is there."""
        changed = self.changed.get(number)
        return changed[0] if changed else self.seconds[bisect_left(self.ids, number)]

    def numbers_of(self, number: int) -> "array[int]":
        """The numbers of a record's values; none if there is no such record."""
        if (changed := self.changed.get(number)) is not None:
            return changed[1]
        place = bisect_left(self.ids, number)
        if place == len(self.ids) or self.ids[place] != number:
            return array("i")
        return self.numbers[self.starts[place] : self.starts[place + 1]]

    def collected(self, ids: BitMap) -> Counter[int]:
        """Number of a value → how many of some records have it."""
        found: Counter[int] = Counter()
        if self.changed:
            others = BitMap(self.changed)
            for number in ids & others:
                found.update(self.changed[number][1])
            ids = ids - others
        starts, place, previous, parts = self.starts, 0, 0, []
        numbers = memoryview(self.numbers).cast("B")
        for number in ids:  # at most as many places further as the row id is greater
            place = bisect_left(
                self.ids, number, place, min(len(self.ids), place + number - previous)
            )
            previous = number
            parts.append(numbers[starts[place] * 4 : starts[place + 1] * 4])
        found.update(memoryview(b"".join(parts)).cast("i"))
        return found


class Values:
    """The values of the facet fields, by their numbers in the index.

    Attributes:
        texts: Number → text.
        fields: Number → the name of its field.
        numbers: Field → the numbers of its values, ascending.
        specs: Number → setSpec, of those that are one.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.texts: dict[int, str] = {}
        self.fields: dict[int, str] = {}
        self.specs: dict[int, str] = {}
        self.numbers: dict[str, list[int]] = {name: [] for name in SMALL_FIELDS + LARGE_FIELDS}
        self._numbered: dict[str, dict[str, int]] = {}
        self._known = 0
        self.take_in(connection)

    def take_in(self, connection: sqlite3.Connection) -> None:
        """Read the values that were added since."""
        rows = connection.execute(
            "SELECT id, field, value FROM facet_value WHERE id >= ? ORDER BY id", (self._known,)
        ).fetchall()
        for number, name, text in rows:
            self.texts[number], self.fields[number] = text, name
            self.numbers.setdefault(name, []).append(number)
            if name == "set":
                self.specs[number] = text
        if rows:
            self._known = rows[-1][0] + 1
            self._numbered.clear()

    def of(self, name: str, wanted: Iterable[str]) -> list[int]:
        """The numbers of the given values, without values that no record has."""
        if not (named := list(wanted)):
            return []
        if name not in self._numbered:
            found = {self.texts[number]: number for number in self.numbers.get(name, ())}
            self._numbered[name] = found
        numbers = self._numbered[name]
        return [numbers[text] for text in named if text in numbers]


@dataclass(slots=True)
class _Ranked:
    """The values of a field, the most frequent first, as they were when they were ranked.

    Attributes:
        values: How many records, the number, and the records if only the rows have the field.
        known: How many values of the field are among them.
        drift: The changes since; no value has more records than then, and these.
    """

    values: list[tuple[int, int, BitMap]]
    known: int
    drift: int = 0


@dataclass(frozen=True, slots=True)
class Base:
    """The columns that were loaded first.

    Attributes:
        change: The last change that they include.
        bitmaps: Number of a value → its records, or the same serialized.
        orders: Column → the records in its order.
    """

    change: int
    rows: Rows
    bitmaps: Mapping[int, BitMap | memoryview]
    orders: "Mapping[str, Order]"


class Columns:
    """The columns of all records of an index, kept in step with it; used under its lock.

    Args:
        base: From a file; None loads it from the rows.

    Attributes:
        values: See `Values`.
        alive: The row ids of all records.
        flags: Flag → the records for which it is true.
        large: Whether subjects and creators are loaded.
        is_from_rows: Whether the columns were loaded from the rows, and no file has them.
    """

    def __init__(
        self, connection: sqlite3.Connection, *, large: bool, base: Base | None = None
    ) -> None:
        self.large = large
        self._beside: dict[str, tuple[int, dict[int, BitMap]]] = {}
        self._load(connection, base)

    def _load(self, connection: sqlite3.Connection, base: Base | None = None) -> None:
        self.is_from_rows = base is None
        self.values = Values(connection)
        if base is None:
            rows = self._rows(connection, "1", ())
            base = Base(newest_change(connection), rows, bitmaps_of(rows), {})
        self._base = base
        self._change = base.change
        self._bitmaps: dict[int, BitMap | memoryview] = dict(base.bitmaps)
        self._orders = dict(base.orders)
        self.alive = BitMap(base.rows.ids)
        self.flags = flags_of(base.rows)
        self._ranked: dict[str, _Ranked] = {}

    def _rows(self, connection: sqlite3.Connection, where: str, given: Sequence[object]) -> Rows:
        """Load rows.

        Raises:
            ValueError: A row names a value that there is not; the index is damaged.
        """
        rows = load_rows(connection, where, given, large=self.large)
        if unknown := set(rows.numbers) - self.values.texts.keys():
            raise ValueError(f"a value with the number {unknown.pop()}")
        return rows

    # -- values ---------------------------------------------------------------------------

    def having(self, number: int) -> BitMap:
        """The records that have a value of the index's own fields."""
        found = self._bitmaps.get(number)
        if not isinstance(found, BitMap):
            found = self._bitmaps[number] = BitMap.deserialize(bytes(found)) if found else BitMap()
        return found

    def of(self, name: str, number: int) -> BitMap:
        """The records that have a value of a field, also of one that packages add to it."""
        found = self.having(number)
        added = [
            bitmaps[number]
            for one, (_version, bitmaps) in self._beside.items()
            if (one == name or one.startswith(f"{name}.")) and number in bitmaps
        ]
        if not added:
            return found
        found = BitMap.union(found, *added)
        if name == "finding":  # deleted records have no findings
            found -= self.flags["deleted"] - self.flags["curated"]
        return found & self.alive

    def any_of(self, name: str, numbers: Iterable[int]) -> BitMap:
        """The records that have any of some values."""
        return BitMap.union(_NONE, *(self.of(name, number) for number in numbers))

    def listed(self, filters: Filters) -> BitMap:
        """The records that pass the filters of a list."""
        found, spec = self.alive, filters.set_spec
        if spec is not None:
            within = [
                number
                for number, one in self.values.specs.items()
                if one == spec or one.startswith(spec + ":")
            ]
            found = BitMap.union(_NONE, *map(self.having, within))
        for name in ("deleted", "curated", "upstream_newer"):
            wanted = getattr(filters, name)
            if wanted is not None:
                found = found & self.flags[name] if wanted else found - self.flags[name]
        return found

    def set_counts(self) -> dict[str, int]:
        """setSpec → number of its records, sorted by setSpec."""
        specs = self.values.specs
        counted = {spec: len(self.having(number)) for number, spec in specs.items()}
        return {spec: count for spec, count in sorted(counted.items()) if count}

    def seconds_of(self, number: int) -> int:
        """The datestamp of a record that is there."""
        return self._base.rows.seconds_of(number)

    def collected(self, found: BitMap) -> Counter[int]:
        """Number of a value → how many of some records have it; without contributed values."""
        return self._base.rows.collected(found)

    def is_own(self, name: str) -> bool:
        """Whether the rows have all values of a field, and packages none of them."""
        return not any(one == name or one.startswith(f"{name}.") for one in self._beside)

    def counts(self, name: str, found: BitMap, limit: int) -> dict[int, int]:
        """Number of a value → how many records of a set have it, for the most frequent values.

        Those that are as frequent as the last of the ``limit`` most frequent are among them.

        Cost: values are looked at in the order of their records, until none can be among them.
        """
        is_all = found == self.alive
        if limit < 1:
            return {}
        counted: dict[int, int] = {}
        best: list[int] = []
        least = 0
        ranked, has_others = self._ranked_of(name), not self.is_own(name)
        for total, number, own in ranked.values:
            if total + ranked.drift < least:
                break
            ids = self.of(name, number) if has_others else own
            count = len(ids) if is_all else ids.intersection_cardinality(found)
            if count and count >= least:
                counted[number] = count
                least = _least(best, count, limit)
        return counted

    def _ranked_of(self, name: str) -> _Ranked:
        numbers = self.values.numbers.get(name, [])
        ranked = self._ranked.get(name)
        if ranked is None or ranked.drift * FEW > len(self.alive):
            ranked = self._ranked[name] = _Ranked([], 0)
        if ranked.known < len(numbers):
            for number in numbers[ranked.known :]:
                ids = self.of(name, number)
                ranked.values.append((len(ids), number, ids))
            ranked.values.sort(key=itemgetter(0), reverse=True)
            ranked.known = len(numbers)
        return ranked

    # -- orders ---------------------------------------------------------------------------

    def order(self, connection: sqlite3.Connection, name: str) -> "Order":
        """All records in an order, which is computed on first use.

        Args:
            name: ``identifier``, ``seconds``, ``changed`` or ``title``, folded for sorting.

        Cost: if many changed since, finds the places of each by reading about 20 others.
        """
        order = self._orders.get(name)
        if order is None:
            order = _by_title(connection) if name == "title" else _by(connection, name)
        elif name in _KEYS and len(order.changed) > _CHANGED:
            order = _merged(connection, name, order)
        self._orders[name] = order
        return order

    def within(self, connection: sqlite3.Connection, low: int, high: int) -> BitMap:
        """The records whose datestamps are within two bounds, both included."""
        order = self.order(connection, "seconds")
        some = order.ids[bisect_left(order.keys, low) : bisect_right(order.keys, high)]
        fresh = [one for one in order.changed if low <= self.seconds_of(one) <= high]
        return (BitMap(some) - order.changed) | BitMap(fresh)

    def changed_within(self, connection: sqlite3.Connection, low: int, high: int) -> BitMap:
        """The records that were last changed here within two bounds, both included.

        Args:
            connection: A connection with the snapshot of these columns.
            low, high: Seconds since 0001-01-01.

        Cost: reads some records to find the first and the last, and those that changed since the
        order was made.
        """
        order = self.order(connection, "changed")

        def changed(number: int) -> int | None:
            sql = "SELECT changed FROM entry WHERE id = ?"
            found = connection.execute(sql, (number,)).fetchone()
            return None if found is None else int(found[0])

        some = order.ids[order.first(changed, low.__le__) : order.first(changed, high.__lt__)]
        fresh = connection.execute(
            "SELECT id FROM entry WHERE changed BETWEEN ? AND ? "
            "AND id IN (SELECT value FROM json_each(?))",
            (low, high, json.dumps([*order.changed])),
        )
        return (BitMap(some) - order.changed) | of_rows(fresh)

    def prepare(self) -> None:
        """Do what the first search of many records would do with the loaded columns."""
        for name in self.values.numbers:
            self._ranked_of(name)

    # -- in step --------------------------------------------------------------------------

    def base(self, connection: sqlite3.Connection) -> Base | None:
        """The columns as they were loaded, to be stored; None if records changed since."""
        if self._change != self._base.change or newest_change(connection) != self._change:
            return None
        orders = {name: self.order(connection, name) for name in STORED_ORDERS}
        bitmaps = {number: self.having(number) for number in self._bitmaps}
        return Base(self._change, self._base.rows, bitmaps, orders)

    def refresh(self, connection: sqlite3.Connection) -> None:
        """Load what changed in the index; the cost depends on the changes only."""
        newest = newest_change(connection)
        if newest == self._change:
            return
        changed = connection.execute(
            "SELECT count(*) FROM record WHERE change > ?", (self._change,)
        ).fetchone()[0]
        notes = connection.execute("SELECT id FROM gone WHERE change > ?", (self._change,))
        gone = [number for (number,) in notes]
        if len(self._base.rows.changed) + changed + len(gone) > MERGE_AT:
            self._load(connection)
            return
        self.values.take_in(connection)
        fresh = self._rows(connection, "change > ?", (self._change,))
        for number in gone:
            self._take_out(number)
        for place, number in enumerate(fresh.ids):
            self._take_out(number)
            numbers = fresh.numbers[fresh.starts[place] : fresh.starts[place + 1]]
            self._put_in(number, fresh.seconds[place], fresh.flags[place], numbers)
        for ranked in self._ranked.values():
            ranked.drift += changed
        for order in self._orders.values():
            order.changed |= BitMap(fresh.ids)
        self._change = newest

    def _take_out(self, number: int) -> None:
        rows = self._base.rows
        for value in rows.numbers_of(number):
            self.having(value).discard(number)
        for flagged in self.flags.values():
            flagged.discard(number)
        self.alive.discard(number)
        rows.changed[number] = (0, array("i"))

    def _put_in(self, number: int, seconds: int, bits: int, numbers: "array[int]") -> None:
        for value in numbers:
            self.having(value).add(number)
        for bit, name in enumerate(FLAGS):
            if bits >> bit & 1:
                self.flags[name].add(number)
        self.alive.add(number)
        self._base.rows.changed[number] = (seconds, numbers)

    def take_in(self, connection: sqlite3.Connection, names: Iterable[str]) -> None:
        """Load the values of contributed facets that are not loaded or have changed."""
        for name in names:
            found = connection.execute(
                "SELECT version FROM beside_facet WHERE facet = ?", (name,)
            ).fetchone()
            version = int(found[0]) if found else 0
            known = self._beside.get(name)
            if known is None or known[0] != version:
                self.values.take_in(connection)
                self._beside[name] = version, _beside(connection, name)
                self._ranked.pop(name, None)
                self._ranked.pop(name.partition(".")[0], None)
            self.values.numbers.setdefault(name, [])

    def crossed(self, field: str, other: str) -> dict[str, dict[str, int]]:
        """Value of a field → value of another field → number of records that have both."""
        texts, found = self.values.texts, dict[str, dict[str, int]]()
        across = [(texts[one], self.having(one)) for one in self.values.numbers[other]]
        for number in self.values.numbers[field]:
            own = self.having(number)
            both = ((text, own.intersection_cardinality(ids)) for text, ids in across)
            if counted := {text: count for text, count in both if count}:
                found[texts[number]] = counted
        return found


_CHANGED = 1_000
"""The largest number of changed records that are sorted apart from an order of texts."""
_KEYS: Mapping[str, tuple[str, Callable[[str], str]]] = {
    "identifier": ("name", str),
    "title": ("title", title_key),
}
"""Order → the column of its texts, and the key that a text is sorted by."""
STORED_ORDERS = ("identifier", "seconds", "title", "changed")


@dataclass(slots=True)
class Order:
    """Records in the order of a column of their rows, then by row id.

    Attributes:
        ids: All that there were.
        keys: Their seconds, in the order of datestamps; empty in any other.
        changed: Those that changed since, or are new; they are sorted apart.
    """

    ids: "array[int]"
    keys: "array[int]"
    changed: BitMap = field(default_factory=BitMap)

    def among(self, found: BitMap) -> tuple[BitMap, BitMap]:
        """Divide a set into the records in this order, and those that are sorted apart."""
        return found - self.changed, found & self.changed

    def first(self, key_of: Callable[[int], K | None], is_behind: Callable[[K], bool]) -> int:
        """The first place of which all further ones are behind a point of the order.

        Args:
            key_of: The key of a record; None if it is gone.
            is_behind: Whether a key is.
        """
        low, high = 0, len(self.ids)
        while low < high:
            half = (low + high) // 2
            at, key = half, None
            while at < high:  # a record that is gone, or has changed, says nothing
                key = None if self.ids[at] in self.changed else key_of(self.ids[at])
                if key is not None:
                    break
                at += 1
            if key is None or is_behind(key):
                high = half
            else:
                low = at + 1
        return low


def _by(connection: sqlite3.Connection, name: str) -> Order:
    key, column = "seconds" if name == "seconds" else "0", "name" if name == "identifier" else name
    rows = connection.execute(f"SELECT id, {key} FROM entry ORDER BY {column}, id")  # noqa: S608
    ids, keys = array("I"), array("q")
    while chunk := rows.fetchmany(_CHUNK):
        some, times = zip(*chunk, strict=True)
        ids.extend(some)
        keys.extend(times if name == "seconds" else ())
    return Order(ids, keys)


def _merged(connection: sqlite3.Connection, name: str, order: Order) -> Order:
    """An order of texts with the records that changed since at their places."""
    column, key = _KEYS[name]

    def keyed(ids: Iterable[int]) -> list[tuple[str, int]]:
        rows = connection.execute(
            f"SELECT {column}, id FROM entry WHERE id IN (SELECT value FROM json_each(?))",  # noqa: S608
            (json.dumps([*ids]),),
        )
        return [(key(text), number) for text, number in rows]

    at = cache(lambda number: next(iter(keyed([number])), None))  # many are compared with a few
    stale = order.changed & BitMap(order.ids)  # few: a record with other texts has another number

    def kept(some: "array[int]") -> Iterable[int]:
        return filterfalse(stale.__contains__, some) if stale else some

    ids, start = array("I"), 0
    for pair in sorted(keyed(order.changed)):
        place = order.first(at, pair.__lt__)
        ids.extend(kept(order.ids[start:place]))
        ids.append(pair[1])
        start = place
    ids.extend(kept(order.ids[start:]))
    return Order(ids, order.keys)


def _by_title(connection: sqlite3.Connection) -> Order:
    ids, keys = array("I"), list[str]()
    for number, title in connection.execute("SELECT id, title FROM record ORDER BY id"):
        ids.append(number)
        keys.append(title_key(title))
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return Order(array("I", map(ids.__getitem__, order)), array("q"))


def _least(best: list[int], count: int, limit: int) -> int:
    """Add a count to the best ones; return the least of as many as are wanted, 0 if fewer."""
    heappush(best, count)
    if len(best) > limit:
        heappop(best)
    return best[0] if len(best) == limit else 0


def load_rows(
    connection: sqlite3.Connection, where: str, parameters: Sequence[object], *, large: bool
) -> Rows:
    """Load the values of the records that meet a condition.

    Args:
        where: An SQL condition on the table ``record``.
        large: Whether to load subjects and creators too.

    Raises:
        ValueError: A row has what it cannot have; the index is damaged.
    """
    large_column = "facets_large" if large else "x''"
    order = "id" if where == "1" else "+id"  # with id, SQLite would read all rows in that order
    cursor = connection.execute(
        f"SELECT id, seconds, flags, facets, {large_column} FROM record "  # noqa: S608 - constants
        f"WHERE {where} ORDER BY {order}",
        parameters,
    )
    ids, seconds, flags = array("I"), array("q"), bytearray()
    lengths, numbers = array("I", [0]), array("i")
    while chunk := cursor.fetchmany(_CHUNK):
        some, times, bits, small, more = zip(*chunk, strict=True)
        blobs = [*map(bytes.__add__, small, more)] if large else small
        ids.extend(some)
        seconds.extend(times)
        flags.extend(bits)
        some_lengths, some_numbers = numbers_of(blobs)
        lengths.extend(some_lengths)
        numbers.extend(some_numbers)
    return Rows(ids, seconds, bytes(flags), array("I", accumulate(lengths)), numbers)


def bitmaps_of(rows: Rows) -> dict[int, BitMap]:
    """Number of a value → the records that have it."""
    lists = [array("I") for _ in range(max(rows.numbers, default=-1) + 1)]
    lengths = map(sub, rows.starts[1:], rows.starts)
    owners = chain.from_iterable(map(repeat, rows.ids, lengths))
    adding = [one.append for one in lists]
    deque(map(call, map(adding.__getitem__, rows.numbers), owners), maxlen=0)  # a loop in C
    return {number: BitMap(some) for number, some in enumerate(lists) if some}


def flags_of(rows: Rows) -> dict[str, BitMap]:
    """Flag → the records for which it is true."""
    found = {}
    for bit, name in enumerate(FLAGS):
        is_set = rows.flags.translate(bytes(byte >> bit & 1 for byte in range(256)))
        found[name] = BitMap(array("I", compress(rows.ids, is_set)))
    return found


def _beside(connection: sqlite3.Connection, name: str) -> dict[int, BitMap]:
    """The values of a contributed facet: number → the records that have it."""
    rows = connection.execute("SELECT value, id FROM beside WHERE facet = ?", (name,))
    lists: dict[int, array[int]] = {}
    for value, number in rows:
        lists.setdefault(value, array("I")).append(number)
    return {value: BitMap(some) for value, some in lists.items()}


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
