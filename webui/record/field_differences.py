"""Compare two versions of a record field by field (pure).

A field's values are compared as an ordered set: a value in both versions is the same at any
position, and *moved* if the order of the common values differs. A removed value and an added
one at its position are one *changed* value.
"""

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from recordsilo.formats import Description, describe
from silocuration.editing.fields import Field, read_fields
from silocuration.errors import NoFields

Kind = Literal["same", "moved", "changed", "added", "removed"]
ALIKE = 0.5
"""Minimum similarity of two values that count as one changed value."""
SHORT = 120
"""Characters of a value that is shown whole where changes are listed."""
_LONGEST = 2000
"""Values longer than this are not compared letter by letter."""


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A value and its language, ``""`` if it has none."""

    text: str
    lang: str = ""


@dataclass(frozen=True, slots=True)
class ValueDifference:
    """One value: before, after, or both."""

    kind: Kind
    before: FieldValue | None
    after: FieldValue | None


@dataclass(frozen=True, slots=True)
class FieldDifferences:
    """A field whose values differ; the unchanged values are included."""

    name: str
    values: tuple[ValueDifference, ...]


Valued = Mapping[str, Sequence[FieldValue]]
"""Field → its values, in order."""


def compare_fields(before: Valued, after: Valued) -> tuple[FieldDifferences, ...]:
    """The fields that differ, in the order of the second version and then of the first."""
    names = dict.fromkeys((*after, *before))
    found = (
        FieldDifferences(name, _compared(before.get(name, ()), after.get(name, ())))
        for name in names
    )
    return tuple(one for one in found if any(value.kind != "same" for value in one.values))


def _compared(
    before: Sequence[FieldValue], after: Sequence[FieldValue]
) -> tuple[ValueDifference, ...]:
    kept = Counter(before) & Counter(after)
    gone, stayed = _parted(before, kept)
    come, there = _parted(after, kept)
    moved = _out_of_order(stayed, there)
    replaced = _pairs([one for one, is_kept in gone if not is_kept], come)
    found: list[ValueDifference] = []
    for value, is_kept in come:
        if is_kept:
            found.append(ValueDifference("moved" if value in moved else "same", value, value))
        elif value in replaced:
            found.append(ValueDifference("changed", replaced.pop(value), value))
        else:
            found.append(ValueDifference("added", None, value))
    paired = Counter(one.before for one in found if one.kind == "changed")
    for value, is_kept in gone:
        if not is_kept and not _taken(paired, value):
            found.append(ValueDifference("removed", value, None))
    return tuple(found)


def _parted(
    values: Iterable[FieldValue], kept: Counter[FieldValue]
) -> tuple[list[tuple[FieldValue, bool]], list[FieldValue]]:
    """Return each value with whether it is in both versions, and the common values."""
    left = Counter(kept)
    marked = [(value, _taken(left, value)) for value in values]
    return marked, [value for value, is_kept in marked if is_kept]


def _taken(left: Counter[FieldValue] | Counter[FieldValue | None], value: FieldValue) -> bool:
    """Take one occurrence of a value, if any is left."""
    if left[value] <= 0:
        return False
    left[value] -= 1
    return True


def _out_of_order(before: list[FieldValue], after: list[FieldValue]) -> set[FieldValue]:
    """Return the values outside a longest common subsequence."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    in_order = Counter(
        after[block.b + n] for block in matcher.get_matching_blocks() for n in range(block.size)
    )
    return {value for value in after if not _taken(in_order, value)}


def _pairs(
    gone: list[FieldValue], come: list[tuple[FieldValue, bool]]
) -> dict[FieldValue, FieldValue]:
    """New value → the old value that it replaces."""
    left = list(gone)
    pairs: dict[FieldValue, FieldValue] = {}
    new = [value for value, is_kept in come if not is_kept]
    for value in new:
        if value in pairs or not left:
            continue
        best = max(left, key=lambda old: _likeness(old, value))
        if _likeness(best, value) > ALIKE or len(gone) == len(new) == 1:
            pairs[value] = best
            left.remove(best)
    return pairs


def _likeness(old: FieldValue, new: FieldValue) -> float:
    if old.text == new.text:
        return 1.0
    one, other = old.text[:_LONGEST], new.text[:_LONGEST]
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() > ALIKE else 0.0


def fields_of(path: str, content: bytes) -> dict[str, list[FieldValue]]:
    """Return a metadata file's fields: its own if it is flat, else those of its description."""
    try:
        return valued(read_fields(content))
    except NoFields:
        description = describe(path, content) or Description()
        return {
            name: [FieldValue(value.text, value.lang or "") for value in values]
            for name, values in description.items()
        }


def valued(fields: Iterable[Field]) -> dict[str, list[FieldValue]]:
    """The values of fields by name."""
    found: dict[str, list[FieldValue]] = {}
    for one in fields:
        found.setdefault(one.name, []).append(FieldValue(one.folded, one.lang))
    return found


Pieces = tuple[tuple[bool, str], ...]
"""A text in pieces, each with whether it is missing from the other text."""


def words(before: str, after: str) -> tuple[Pieces, Pieces]:
    """Split two texts into pieces at words."""
    one, other = _pieces(before), _pieces(after)
    first = _same(one, other)
    last = _same(one[first:][::-1], other[first:][::-1])
    middle, others = one[first : len(one) - last], other[first : len(other) - last]
    old, new = _compared_words(middle, others)
    head, tail = "".join(one[:first]), "".join(one[len(one) - last :])
    ends = ([(False, head)] if head else []), ([(False, tail)] if tail else [])
    return (*ends[0], *old, *ends[1]), (*ends[0], *new, *ends[1])


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """How many pieces two texts begin with in common."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _compared_words(one: Sequence[str], other: Sequence[str]) -> tuple[Pieces, Pieces]:
    old: list[tuple[bool, str]] = []
    new: list[tuple[bool, str]] = []
    if len(one) + len(other) > _LONGEST:
        return ((True, "".join(one)),), ((True, "".join(other)),)
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    for kind, begin, end, start, stop in matcher.get_opcodes():
        if begin < end:
            old.append((kind != "equal", "".join(one[begin:end])))
        if start < stop:
            new.append((kind != "equal", "".join(other[start:stop])))
    return tuple(old), tuple(new)


def excerpts(before: str, after: str) -> tuple[Pieces, Pieces]:
    """Split two texts as `words` does, and cut what both have.

    Texts of which neither is longer than `SHORT` are whole, each as one piece.
    """
    if max(len(before), len(after)) <= SHORT:
        return ((True, before),), ((True, after),)
    old, new = words(before, after)
    return _cut(old), _cut(new)


def _cut(pieces: Pieces) -> Pieces:
    last = len(pieces) - 1
    found = []
    for number, (is_other, text) in enumerate(pieces):
        if not is_other and len(text) > SHORT:
            begin = "" if number == 0 else text[: SHORT // 2]
            end = "" if number == last else text[-SHORT // 2 :]
            text = f"{begin}…{end}"  # noqa: PLW2901
        found.append((is_other, text))
    return tuple(found)


def _pieces(text: str) -> list[str]:
    pieces: list[str] = []
    for letter in text:
        if pieces and letter.isalnum() and pieces[-1][-1].isalnum():
            pieces[-1] += letter
        else:
            pieces.append(letter)
    return pieces
