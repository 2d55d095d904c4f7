"""The edits between two texts are those that rapidfuzz gives, which is a package of an extra."""

from hypothesis import example, given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from silocuration.review.edit_distance import Edit, edits, letters_of

_letters = st.text("abcé ", max_size=12)


def edits_of_rapidfuzz(one: str, other: str) -> list[Edit]:
    found = []
    for edit in reversed(list(Levenshtein.editops(one, other))):
        mine = one[edit.src_pos : edit.src_pos + (edit.tag != "insert")]
        theirs = other[edit.dest_pos : edit.dest_pos + (edit.tag != "delete")]
        found.append(Edit(mine, theirs, edit.src_pos, edit.dest_pos))
    return found


@given(_letters, _letters, st.integers(1, 3))
@example("", "", 1)
@example("letters", "leters", 1)
@example("aab", "abab", 2)
def test_the_edits_are_those_of_rapidfuzz(one: str, other: str, most: int) -> None:
    near = Levenshtein.distance(one, other) <= most
    assert edits(one, other, most) == (edits_of_rapidfuzz(one, other) if near else None)


@given(_letters, _letters)
def test_an_edit_changes_at_most_two_bits_of_the_letters(one: str, other: str) -> None:
    differing = (letters_of(one) ^ letters_of(other)).bit_count()
    assert differing <= 2 * Levenshtein.distance(one, other)
