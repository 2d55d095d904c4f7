"""Dates that bound a search, as people and programs write them."""

import pytest

from recordsilo.errors import SearchError
from recordsilo.index.search_values import bound_of


@pytest.mark.parametrize(
    "text", ["", "x", "2020-13-01", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59"]
)
def test_what_is_no_date_is_a_sentence(text: str) -> None:
    with pytest.raises(SearchError, match="is not a date"):
        bound_of(text, last=False)


def test_a_day_lasts_until_its_last_second() -> None:
    assert bound_of("2020-01-01", last=True) - bound_of("2020-01-01", last=False) == 86_399
