"""Probable duplicates are found, and a curator's decisions about them are stored."""

import importlib.util
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsilo import Silo
from recordsilo.errors import RecordNotFound
from recordsilo.index import SearchFilters
from silocuration.activity import ActivityFilter, activity
from silocuration.errors import MarkRefused
from silocuration.review.candidates import keys_of
from silocuration.review.duplicates import duplicates, mark_distinct, mark_duplicate
from silocuration.review.kept_duplicates import (
    PLACE,
    after_marks,
    find_and_keep,
    mark_of,
    read_kept,
)
from silocuration.review.persons import are_same_person
from silocuration.review.same_work import WorkDescription, likeness, same_title

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
    lines = [line for _, line in activity(library.path, ActivityFilter(action="mark"))]
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
    lines = [line for _, line in activity(library.path, ActivityFilter(agent="bob"))]
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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Tides of the Sea", "On tides of the sea"),
        ("Analysing colour in the sea", "Analyzing Color in the Sea"),
        ("Tides of the sea. Part II", "Tides of the sea, part two"),
        ("Tides of northern seas: a survey", "Tides of northern seas"),
        ("Oceanography of the sea", "Oceanograhpy of the sea"),
    ],
)
def test_titles_in_another_form_are_the_same(one: str, other: str) -> None:
    assert same_title(one, other.removeprefix("On ")) > 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tides of the sea, part 1", "Tides of the sea, part 2"),
        ("Tides of the sea", "Tides of the sea: 2016"),
        ("Tides of region A", "Tides of region B"),
        ("Severe hypertension today", "Severe hypotension today"),
        ("Uptake of nitrate", "Uptake of nitrite"),
        ("Tides of the sea", "Erratum: Tides of the sea"),
        ("", "…"),
    ],
)
def test_other_titles_are_not_the_same(one: str, other: str) -> None:
    assert same_title(one, other) == 0


TIDES = WorkDescription(
    "On the Tides of the Sea", ("Lovelace, Ada",), "1843", ("Article",), ("en",)
)


@pytest.mark.parametrize(
    "told",
    [
        {"doi": "10.1/B"}, {"year": "1901"}, {"types": ("Thesis",)}, {"types": ("Dataset",)},
        {"languages": ("fra",)}, {"creators": ("Lovelace, Bob",)}, {"creators": ("Babbage, C.",)},
        {"title": "Tides"}, {"creators": ()},
    ],
)  # fmt: skip
def test_what_tells_two_works_apart(told: dict[str, Any]) -> None:
    one, other = replace(TIDES, doi="10.1/a"), replace(TIDES, **told)
    assert likeness(one, other) == likeness(other, one) == 0


def test_the_same_doi_and_shared_creators_come_first() -> None:
    two = replace(TIDES, creators=("Lovelace, Ada", "Babbage, Charles"))
    pairs = [
        (replace(two, doi="10.1/a"), replace(two, doi="10.1/A", title="Tides of the sea")),
        (two, replace(two, creators=("A. Lovelace", "C. Babbage"))),
        (TIDES, TIDES),
        (two, TIDES),
        (TIDES, replace(TIDES, year="")),
    ]
    found = [likeness(*pair) for pair in pairs]
    assert found == sorted(found, reverse=True)
    assert found[-1] > 0


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Lovelace, Ada", "A. Lovelace", True), ("Lovelace, A. B.", "Lovelace AB", True),
        ("van der Berg, J.", "Jan van der Berg", True), ("Müller, J.", "Mueller, Jan", True),
        ("Swan, S.", "Swan, J.", False), ("Smith, John", "Smith, Joan", False),
        ("Swan, J. A.", "Swan, J. S.", False), ("张 晓明", "赵 晓明", False), ("", "", False),
    ],
)  # fmt: skip
def test_names_of_one_person(one: str, other: str, *, expected: bool) -> None:
    assert are_same_person(one, other) is are_same_person(other, one) is expected


def test_a_work_without_a_doi_does_not_join_works_with_different_ones(silo: Silo) -> None:
    for identifier, doi in (("a", "10.1000/1"), ("b", "10.1000/2"), ("c", "")):
        said = DC.format("On the tides of the sea", "Lovelace, Ada", "1843")
        text = said.replace("</dc>", f"<identifier>doi:{doi}</identifier></dc>" if doi else "</dc>")
        silo.get_item(identifier).put_stream("oai_dc", text, None, True)
    assert groups(silo) == [("a", "c")]


def test_what_was_found_is_kept_and_marks_are_noted(library: Silo) -> None:
    assert read_kept(library.path) is None
    kept = find_and_keep(library)
    assert read_kept(library.path) == kept
    assert (kept.to_decide, kept.mark) == ([("a", "b")], mark_of(library))
    mark_duplicate(library, "b", "a", agent="ada")
    assert mark_of(library) != kept.mark
    assert after_marks(library, kept, ["b"]).to_decide == []
    mark_duplicate(library, "b", None, agent="ada")
    again = read_kept(library.path)
    assert again is not None
    assert after_marks(library, again, ["a"]).to_decide == [("a", "b")]


@pytest.mark.parametrize("text", ["", "{}", "[" * 9000, '{"format": 1, "groups": 3}'])
def test_a_damaged_file_is_nothing_found(library: Silo, text: str) -> None:
    Path(library.path, PLACE).write_text(text)
    assert read_kept(library.path) is None


def test_a_pipe_or_a_time_without_end_in_its_place_is_nothing_found(library: Silo) -> None:
    find_and_keep(library)
    place = Path(library.path, PLACE)
    table = json.loads(place.read_bytes())
    for seconds in (float("nan"), float("inf")):
        place.write_text(json.dumps(table | {"seconds": seconds}))
        assert read_kept(library.path) is None
    place.unlink()
    os.mkfifo(place)
    assert read_kept(library.path) is None


def test_duplicates_of_a_labelled_set_are_found() -> None:
    """The set and what it means are in benchmarks/duplicates.py."""
    place = Path(__file__).parents[2] / "benchmarks" / "duplicates.py"
    spec = importlib.util.spec_from_file_location("duplicates_benchmark", place)
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = benchmark
    spec.loader.exec_module(benchmark)
    precision, recall, _ = benchmark.measured(benchmark.labelled(300))
    assert precision >= 0.95
    assert recall >= 0.8


@given(
    *[
        st.builds(
            WorkDescription,
            st.text(max_size=30),
            st.lists(st.text(max_size=9), max_size=3).map(tuple),
        )
    ]
    * 2
)
def test_any_two_works_are_compared(one: WorkDescription, other: WorkDescription) -> None:
    assert likeness(one, other) == likeness(other, one) >= 0
    assert dict(keys_of(one.title, one.doi)).keys() <= {0, 1}
