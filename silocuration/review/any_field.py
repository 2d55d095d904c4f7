"""The values of any field of the records found, grouped: by value, length, shape, number, date.

The index has the values of a few fields (`counts.CLUSTERED`); of any other, and of how many values
a record has, only its files tell. So `scan` reads at most `RECORDS` records, for at most
`SECONDS`; `facet_job` reads all.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from time import monotonic

from recordsilo import Silo
from recordsilo.errors import RecordSiloError
from recordsilo.selection import Selection
from silocuration.editing.changes import CannotChange, metadata_texts

RECORDS = 20_000
"""Most records that are read; see `SECONDS`."""
SECONDS = 2.0
"""No further record is read after so long: about 5,000 records."""
BINS = 10
_LEAST_POWER = -300  # below it, a float has fewer digits, and then none
_LENGTHS = (0, 1, 5, 10, 20, 50, 100, 200, 500, 1000)
_YEAR = re.compile(r"(?<!\d)([12]\d{3})(?!\d)")
_PARTS = re.compile(r"[^\W\d_]+|\d|\s+")
NO_NUMBER = "no number"
NO_DATE = "no date"
Found = Iterable[tuple[str, Sequence[str]]]
"""(Identifier, values) of each record read; can be iterated again."""
Labels = Iterable[tuple[str, str]]
"""(Identifier, label of the group) for each value; those of a record follow each other."""


class Grouping(StrEnum):
    """How values are grouped."""

    VALUE = "value"
    LENGTH = "length"
    SHAPE = "shape"
    NUMBER = "number"
    DATE = "date"
    AMOUNT = "amount"
    BLANK = "blank"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Scan:
    """The values of a field as they were read.

    Attributes:
        found: (Identifier, values) of each record read, in the order of identifiers.
        records: How many records are selected.
        unread: Records whose description cannot be read.
    """

    found: tuple[tuple[str, tuple[str, ...]], ...]
    records: int
    unread: int = 0

    @property
    def whole(self) -> bool:
        """Whether all records were read."""
        return len(self.found) + self.unread >= self.records


@dataclass(frozen=True, slots=True)
class ValueGroup:
    """Values that are alike, and the records that have one of them.

    Attributes:
        values: How many values, counting each time one occurs.
    """

    label: str
    values: int
    records: tuple[str, ...]


def scan(silo: Silo, select: Selection, field: str) -> Scan:
    """Read the values of a field in the records selected, until `RECORDS` or `SECONDS`.

    Cost: the manifest and one file of every record read: a third of a millisecond each.
    """
    until = monotonic() + SECONDS
    found: list[tuple[str, tuple[str, ...]]] = []
    unread = 0
    for identifier in select.iterate(silo):
        if len(found) + unread >= RECORDS or monotonic() > until:
            break
        try:
            found.append((identifier, values_in(silo, identifier, field)))
        except (CannotChange, RecordSiloError):
            unread += 1
    return Scan(tuple(found), select.total(silo), unread)


def values_read(silo: Silo, select: Selection, field: str) -> Iterator[tuple[str, ...]]:
    """Yield the values of a field in each record selected that can be read; see `scan`."""
    for identifier in select.iterate(silo):
        with suppress(CannotChange, RecordSiloError):
            yield values_in(silo, identifier, field)


def values_in(silo: Silo, identifier: str, field: str) -> tuple[str, ...]:
    """The values of a field in a record, those with markup as the index has them.

    Raises:
        CannotChange, RecordSiloError: The record, or its description, cannot be read.
    """
    record = silo[identifier]
    state = record.state
    fields = metadata_texts(state.current, record.read) if state.versions else ()
    return tuple(one.text for one in fields if one.name == field)


def groups(found: Scan, how: Grouping) -> list[ValueGroup]:
    """Group the values that were read; the groups of most records first, bins in their order."""
    labels = labels_of(found.found, how)
    values: Counter[str] = Counter()
    records: dict[str, dict[str, None]] = {}
    for identifier, label in labels:
        values[label] += 1
        records.setdefault(label, {})[identifier] = None
    made = [ValueGroup(label, values[label], tuple(some)) for label, some in records.items()]
    if how in IN_ORDER:
        return sorted(made, key=lambda one: place_of(one.label))
    return sorted(made, key=lambda one: (-len(one.records), one.label))


def labels_of(found: Found, how: Grouping) -> Labels:
    """Yield the label of the group of each value, in the order of the records.

    Cost: to tell numbers and duplicates, `found` is read twice, and a number is kept for each
    value.
    """
    return _LABELS[how](found)


IN_ORDER = frozenset({Grouping.LENGTH, Grouping.NUMBER, Grouping.DATE, Grouping.AMOUNT})
"""Groupings whose groups have an order of their own; see `place_of`."""


def shape(text: str) -> str:
    """The pattern of a value: ``a``, ``A`` and ``Aa`` for words, ``9`` for each digit.

    ``Ortega, N.`` → ``Aa, A.``; ``2016-03`` → ``9999-99``.
    """
    return _PARTS.sub(lambda part: _class_of(part[0]), text.strip())


def _class_of(part: str) -> str:
    if part.isspace():
        return " "
    if part.isdecimal():
        return "9"
    if part.isupper():
        return "A"
    return "Aa" if part[:1].isupper() else "a"


def length_range(text: str) -> str:
    """The range of lengths that a value is in: ``20–49``."""
    length = len(text.strip())
    low = max(one for one in _LENGTHS if one <= length)
    place = _LENGTHS.index(low)
    if low == 0:
        return "0"
    return f"{low}–{_LENGTHS[place + 1] - 1}" if place + 1 < len(_LENGTHS) else f"{low}–"


def number_of(text: str) -> float | None:
    """A value as a number; None if it is none."""
    try:
        found = float(text.strip().replace(",", ""))
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _each(change: Callable[[str], str]) -> Callable[[Found], Labels]:
    return lambda found: ((name, change(one)) for name, values in found for one in values)


def _numbers(found: Found) -> Iterator[tuple[str, str]]:
    every = (number_of(one) for _name, values in found for one in values)
    known = [number for number in every if number is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    width = _round_width(high / BINS - low / BINS)  # the difference may be infinite
    if all(one.is_integer() for one in known):
        width = max(width, 1.0)
    for name, values in found:
        for one in values:
            number = number_of(one)
            if number is None:
                yield name, NO_NUMBER
            else:
                first = math.floor(number / width) * width
                yield name, f"{first:g}–{first + width:g}"


def _round_width(width: float) -> float:
    """The next wider of 1, 2, 5, 10, 20 …"""
    if width <= 0:
        return 1.0
    power = 10.0 ** max(math.floor(math.log10(width)), _LEAST_POWER)
    return next((power * step for step in (1, 2, 5) if power * step >= width), power * 10)


def _date(text: str) -> str:
    found = _YEAR.search(text)
    return found[1] if found else NO_DATE


def _amounts(found: Found) -> Labels:
    return ((name, str(len(values))) for name, values in found)


def _blanks(found: Found) -> Iterator[tuple[str, str]]:
    for name, values in found:
        if not values:
            yield name, "no value"
        elif all(one.strip() for one in values):
            yield name, "a value"
        else:
            yield name, "an empty value"


def _duplicates(found: Found) -> Iterator[tuple[str, str]]:
    seen: set[int] = set()
    again: set[int] = set()
    for _, values in found:
        for number in map(hash, set(values)):  # of millions of texts, a number takes less room
            (again if number in seen else seen).add(number)
    for name, values in found:
        for one, times in Counter(values).items():
            if times > 1:
                yield name, "twice in one record"
            elif hash(one) in again:
                yield name, "in several records"
            else:
                yield name, "in one record"


_LABELS: Mapping[Grouping, Callable[[Found], Labels]] = {
    Grouping.VALUE: _each(lambda text: " ".join(text.split())),
    Grouping.LENGTH: _each(length_range),
    Grouping.SHAPE: _each(shape),
    Grouping.NUMBER: _numbers,
    Grouping.DATE: _each(_date),
    Grouping.AMOUNT: _amounts,
    Grouping.BLANK: _blanks,
    Grouping.DUPLICATE: _duplicates,
}


def place_of(label: str) -> tuple[bool, float, str]:
    """The place of a group in its grouping, by the number that its label begins with."""
    found = re.match(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", label)
    return found is None, float(found[0]) if found else 0.0, label
