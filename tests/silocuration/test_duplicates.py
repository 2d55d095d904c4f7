"""Probable duplicates are found, and a curator's decisions about them are stored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsilo import Silo
from recordsilo.errors import RecordNotFound
from recordsilo.formats import Description, Value
from recordsilo.index import SearchFilters
from silocuration.activity import Wanted, activity
from silocuration.errors import MarkRefused
from silocuration.review.duplicates import duplicates, key_of, mark_distinct, mark_duplicate

DC = "<dc><title>{}</title><creator>{}</creator><date>{}</date></dc>"


def put(silo: Silo, identifier: str, title: str, creator: str, date: str) -> None:
    silo.get_item(identifier).put_stream("oai_dc", DC.format(title, creator, date), None, True)


@pytest.fixture
def library(silo: Silo) -> Silo:
    put(silo, "a", "On the Tides of the Sea", "Lovelace, A.", "1843-05")
    put(silo, "b", "On the tides of the sea.", "Lovelace, Ada", "1843")
    put(silo, "c", "On the tides of the sea", "Lovelace, Ada", "1901")
    put(silo, "d", "On the tides of the sea", "Babbage, C.", "1843")
    put(silo, "e", "Tides", "Lovelace, Ada", "1843")
    put(silo, "f", "Tides", "Lovelace, Ada", "1843")
    return silo


def groups(silo: Silo) -> list[tuple[str, ...]]:
    return [one.identifiers for one in duplicates(silo)]


def test_the_same_title_year_and_creator_make_a_group(library: Silo) -> None:
    assert groups(library) == [("a", "b")]


def test_a_mark_is_kept_searchable_and_can_be_taken_back(library: Silo) -> None:
    mark_duplicate(library, "b", "a", agent="ada")
    assert groups(library) == []
    found = library.search(filters=SearchFilters(values={"finding": ["Q901"]}))
    assert [row.identifier for row in found.rows] == ["b"]
    assert library["b"].metadata["duplicate_of"] == "a"
    assert "marked as a duplicate of a by ada" in library["b"].version_log()[-1]
    mark_duplicate(library, "b", None, agent="ada")
    assert groups(library) == [("a", "b")]


def test_what_is_said_to_be_distinct_is_not_asked_again(library: Silo) -> None:
    mark_distinct(library, ("a", "b"), agent="ada")
    assert groups(library) == []
    put(library, "g", "On the tides of the Sea", "Lovelace, Ada", "1843")
    assert groups(library) == [("a", "b", "g")]
    mark_distinct(library, ("a", "b"), agent="bob")
    lines = [line for _, line in activity(library.path, Wanted(action="mark"))]
    assert [(line.agent, line.identifier, line.what, line.new) for line in lines] == [
        ("ada", "b", "no duplicate of", "a"),
        ("ada", "a", "no duplicate of", "b"),
    ]


def test_what_was_said_to_be_distinct_by_mistake_is_asked_again(library: Silo) -> None:
    put(library, "g", "On the tides of the Sea", "Lovelace, Ada", "1843")
    mark_distinct(library, ("a", "b", "g"), agent="ada")
    mark_distinct(library, ("a", "b"), agent="bob", is_revoked=True)
    assert groups(library) == [("a", "b")]
    assert library["a"].metadata["not_duplicate_of"] == ["g"]
    mark_distinct(library, ("a", "b"), agent="bob", is_revoked=True)
    lines = [line for _, line in activity(library.path, Wanted(agent="bob"))]
    assert [(line.identifier, line.old, line.new) for line in lines] == [
        ("b", "a", None),
        ("a", "b", None),
    ]
    mark_distinct(library, ("a", "b", "g"), agent="bob", is_revoked=True)
    assert "not_duplicate_of" not in library["a"].metadata


def test_a_mark_that_says_nothing_is_refused(library: Silo) -> None:
    mark_duplicate(library, "b", "a", agent="ada")
    for identifier, of in (("a", "a"), ("c", "b")):
        with pytest.raises(MarkRefused):
            mark_duplicate(library, identifier, of, agent="ada")
    with pytest.raises(RecordNotFound):
        mark_duplicate(library, "a", "nope", agent="ada")
    with pytest.raises(RecordNotFound):
        mark_distinct(library, ("nope", "a"), agent="ada")


@given(st.text(max_size=30), st.text(max_size=10), st.text(max_size=6))
def test_any_description_has_a_key_or_none(title: str, creator: str, date: str) -> None:
    values = (Value(title),), (Value(creator),), (Value(date),)
    found = key_of(Description(titles=values[0], creators=values[1], dates=values[2]))
    assert found is None or found.count("\n") >= 2
