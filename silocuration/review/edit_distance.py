"""Edits that make one text of another, for texts with few differences (pure).

Source: Levenshtein; of several shortest lists of edits, the one that rapidfuzz gives.
"""

from collections.abc import Iterator
from dataclasses import dataclass

_COUNTED = 4


@dataclass(frozen=True, slots=True)
class Edit:
    """A letter of one text that another has not, or has instead.

    Attributes:
        one, other: The letter, and what the other text has in its place; ``""`` for none.
        place, other_place: Where it is in each text.
    """

    one: str
    other: str
    place: int
    other_place: int


def edits(one: str, other: str, most: int) -> list[Edit] | None:
    """Return the edits between two texts, from the end to the beginning; None if there are more.

    Args:
        most: The largest number of edits; the cost grows with its square.
    """
    first = _common_start(one, other)
    last = _common_end(one, other, first)
    middle, others = one[first : len(one) - last], other[first : len(other) - last]
    if most == 1 and max(len(middle), len(others)) > 1:
        return None
    return list(_traced(middle, others, first)) if _is_within(middle, others, most) else None


def letters_of(text: str) -> int:
    """Return bits for the letters of a text, of which each edit changes at most two.

    Texts in which more bits differ are told apart without a look at their edits. The first four
    times that a letter is there count; letters 64 apart in Unicode count as the same.
    """
    bits, times = 0, dict.fromkeys(text, 0)
    for letter in text:
        place = times[letter]
        times[letter] = place + 1
        if place < _COUNTED:
            bits |= 1 << (ord(letter) & 63) * _COUNTED + place
    return bits


def _common_start(one: str, other: str) -> int:
    shorter = min(len(one), len(other))
    if one[:shorter] == other[:shorter]:
        return shorter
    low, high = 0, shorter  # the texts are the same up to low, and not up to high
    while high - low > 1:
        half = (low + high) // 2
        if one[low:half] == other[low:half]:
            low = half
        else:
            high = half
    return low


def _common_end(one: str, other: str, start: int) -> int:
    length, longest = 0, min(len(one), len(other)) - start
    while length < longest and one[-1 - length] == other[-1 - length]:
        length += 1
    return length


def _is_within(one: str, other: str, most: int) -> bool:
    """Whether so many edits are enough, for texts that differ at both of their ends.

    For each number of edits and each diagonal, it finds how far the texts can be made the same.
    Source: Ukkonen, "Algorithms for approximate string matching", 1985.
    """
    longer = len(other) - len(one)
    if abs(longer) > most or max(len(one), len(other)) > min(len(one), len(other)) + most:
        return False
    reached = {0: _same_from(one, other, 0, 0)}
    if longer == 0 and reached[0] == len(one):
        return True
    for number in range(1, most + 1):
        further = {}
        for diagonal in range(-number, number + 1):
            place = max(
                reached.get(diagonal, -9) + 1,
                reached.get(diagonal + 1, -9) + 1,
                reached.get(diagonal - 1, -9),
            )
            place = min(place, len(one), len(other) - diagonal)
            if place >= max(0, -diagonal):
                further[diagonal] = _same_from(one, other, place, place + diagonal)
        if further.get(longer, -1) >= len(one):
            return True
        reached = further
    return False


def _same_from(one: str, other: str, place: int, other_place: int) -> int:
    """Return where in the first text the two are no longer the same."""
    end = min(len(one), len(other) - other_place + place)
    while place < end and one[place] == other[other_place]:
        place += 1
        other_place += 1
    return place


def _traced(one: str, other: str, start: int) -> Iterator[Edit]:
    """Yield the edits of a shortest list, from the end on.

    Args:
        start: Where the texts begin in those that were compared.
    """
    costs = _table(one, other)
    place, other_place = len(one), len(other)
    while place and other_place:
        above = costs[other_place][place]
        if above == costs[other_place][place - 1] + 1:
            place -= 1
            yield Edit(one[place], "", start + place, start + other_place)
            continue
        other_place -= 1
        row = costs[other_place]
        if other_place and row[place] == row[place - 1] - 1:
            yield Edit("", other[other_place], start + place, start + other_place)
            continue
        place -= 1
        if one[place] != other[other_place]:
            yield Edit(one[place], other[other_place], start + place, start + other_place)
    for number in reversed(range(place)):
        yield Edit(one[number], "", start + number, start)
    for number in reversed(range(other_place)):
        yield Edit("", other[number], start, start + number)


def _table(one: str, other: str) -> list[list[int]]:
    """Return the distance of each beginning of the second text (row) from each of the first."""
    rows = [list(range(len(one) + 1))]
    for number, letter in enumerate(other, 1):
        before, row = rows[-1], [number]
        for place, own in enumerate(one):
            row.append(min(before[place] + (own != letter), before[place + 1] + 1, row[place] + 1))
        rows.append(row)
    return rows
