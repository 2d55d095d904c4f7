"""Values in cells: all values are read back unchanged; most need no escapes."""

import pytest
from examples import family
from hypothesis import given
from hypothesis import strategies as st

from recordsilo.cells import bare, guarded, joined, split

tricky = st.text(alphabet="|\\a'= \n", max_size=8)
texts = st.one_of(st.text(), tricky)


@given(st.lists(texts))
def test_values_come_back_as_they_were(values: list[str]) -> None:
    assert split(bare(guarded(joined(values)))) == [value for value in values if value]


@given(st.lists(st.text(alphabet=st.characters(exclude_characters="|"), min_size=1)))
def test_values_without_a_pipe_look_as_they_are(values: list[str]) -> None:
    plain = [value for value in values if not value.endswith("\\")]
    assert joined(plain) == "||".join(plain)


@given(texts)
def test_guard_comes_off_and_leaves_no_formula(text: str) -> None:
    assert bare(guarded(text)) == text
    assert not guarded(text).startswith(tuple("=+-@\t\r\n＝＋－＠"))


@pytest.mark.parametrize(
    ("values", "cell"),
    [
        (["a|", "b"], r"a\|||b"),
        (["a", "|b"], r"a||\|b"),
        (["a||b"], r"a|\|b"),
        (["a|b", "a\\b"], r"a|b||a\b"),
        (["a\\", "b\\"], "a\\\\||b\\"),
        (["a", "", "b"], "a||b"),
        ([""], ""),
        ([], ""),
    ],
)
def test_cells_look_so(values: list[str], cell: str) -> None:
    assert joined(values) == cell


@pytest.mark.parametrize(
    ("cell", "values"),
    [
        ("a|||b", ["a", "|b"]),
        ("||a||||b||", ["a", "b"]),
        (r"a\b\|c", ["a\\b|c"]),
        ("a || b", ["a ", " b"]),
    ],
)
def test_cells_typed_by_people_have_one_reading(cell: str, values: list[str]) -> None:
    assert split(cell) == values


@pytest.mark.parametrize("text", family(["\\", "|", "a|", "\\|", "||"], 1))
def test_long_cells_take_no_longer_by_the_character(text: str) -> None:
    value = text * 500_000
    assert split(joined([value, "x"])) == [value, "x"]
    split(value)
