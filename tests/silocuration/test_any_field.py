"""The values of any field in groups: by value, length, shape, number, date, blank, double."""

from collections.abc import Callable

import pytest

from recordsilo import Silo
from recordsilo.selection import Selection
from silocuration.editing.changes import CannotChange, metadata_fields
from silocuration.review import any_field
from silocuration.review.any_field import Grouping, Scan, groups, length_range, scan, shape

FOUND = Scan(
    (("a", ("2016-03", "CC BY")), ("b", ("CC  BY", "12")), ("c", ()), ("d", ("", "7", "7"))), 4
)


def labels(how: Grouping) -> dict[str, tuple[int, tuple[str, ...]]]:
    return {one.label: (one.values, one.records) for one in groups(FOUND, how)}


def test_values_are_those_of_most_records_first() -> None:
    assert groups(FOUND, Grouping.VALUE)[0].label == "CC BY"
    assert labels(Grouping.VALUE)["CC BY"] == (2, ("a", "b"))
    assert labels(Grouping.VALUE)["7"] == (2, ("d",))


def test_texts_are_grouped_by_length_and_by_shape() -> None:
    assert list(labels(Grouping.LENGTH)) == ["0", "1–4", "5–9"]
    assert labels(Grouping.SHAPE)["9999-99"] == (1, ("a",))
    assert [shape(one) for one in ("Ortega, N.", "von Bee", "10.5/x")] == [
        "Aa, A.",
        "a Aa",
        "99.9/a",
    ]
    assert [length_range("x" * n) for n in (19, 20, 5000)] == ["10–19", "20–49", "1000–"]


def test_numbers_are_in_bins_and_dates_in_years() -> None:
    assert labels(Grouping.NUMBER) == {
        "7–8": (2, ("d",)), "12–13": (1, ("b",)), "no number": (4, ("a", "b", "d"))
    }  # fmt: skip
    assert labels(Grouping.DATE)["2016"] == (1, ("a",))


def test_blank_and_double_values_are_told_apart() -> None:
    assert labels(Grouping.BLANK) == {
        "a value": (2, ("a", "b")), "no value": (1, ("c",)), "an empty value": (1, ("d",))
    }  # fmt: skip
    assert labels(Grouping.DUPLICATE)["twice in one record"] == (1, ("d",))
    assert labels(Grouping.AMOUNT)["0"] == (1, ("c",))


def test_records_are_read_until_the_limit(
    silo: Silo, fill: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(5, rights="mine")
    found = scan(silo, Selection(), "rights")
    assert (len(found.found), found.records, found.whole) == (5, 5, True)
    assert groups(found, Grouping.VALUE)[0].values == 5
    monkeypatch.setattr(any_field, "RECORDS", 2)
    part = scan(silo, Selection(), "rights")
    assert (len(part.found), part.records, part.whole) == (2, 5, False)


@pytest.mark.parametrize(
    "values", [("1e308", "-1e308"), ("1e-320", "2e-320"), ("1e308", "0.1"), ("5e-324", "1e23")]
)
def test_numbers_as_large_and_as_small_as_there_are_have_bins(values: tuple[str, str]) -> None:
    found = groups(Scan((("a", values),), 1), Grouping.NUMBER)
    assert sum(one.values for one in found) == 2


def test_text_with_markup_is_a_value_as_the_index_has_it_and_is_not_edited(
    silo: Silo, fill: Callable[..., list[str]], harvest_again: Callable[..., None]
) -> None:
    marked, structured = "On <i>Bufo\n bufo</i>", "<name>Vogel</name><mail>v</mail>"
    first, _ = fill(2, description=[marked, "On Bufo bufo"], creator=structured)
    harvest_again(first, title="<i>Homo</i> <i>sapiens</i>")
    title = silo.rows([first])[first].title
    assert scan(silo, Selection(), "title").found[0] == (first, (title,))
    assert title == "Homo sapiens"
    found = scan(silo, Selection(), "description")
    assert [values for _name, values in found.found] == [(), ("On Bufo bufo",) * 2]
    assert groups(scan(silo, Selection(), "creator"), Grouping.BLANK)[0].label == "no value"
    with pytest.raises(CannotChange, match="no flat fields"):
        metadata_fields(silo[first].state.current, silo[first].read)
