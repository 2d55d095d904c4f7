"""Variants of a value are found together, and other values are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from silocuration.review.clusters import (
    Cluster,
    Method,
    are_surely_same,
    clusters,
    fingerprint,
    is_misspelling,
    ngram_fingerprint,
)

JOURNALS = {
    "Journal of Tides": 40,
    "journal of tides.": 2,
    "Tides, Journal of": 3,
    "Journal of Tieds": 1,
    "Oceanography": 9,
    "Océanography": 1,
    "Physics": 5,
}


def found(method: Method, **how: int) -> list[set[str]]:
    return [{value for value, _ in one.values} for one in clusters(JOURNALS, method, **how)]


def test_a_fingerprint_sees_no_order_case_accent_or_punctuation() -> None:
    assert found(Method.FINGERPRINT) == [
        {"Journal of Tides", "journal of tides.", "Tides, Journal of"},
        {"Oceanography", "Océanography"},
    ]


def test_the_most_frequent_value_stands_first() -> None:
    assert clusters(JOURNALS)[0] == Cluster(
        (("Journal of Tides", 40), ("Tides, Journal of", 3), ("journal of tides.", 2))
    )
    assert clusters(JOURNALS)[0].records == 45


def test_pieces_of_letters_find_words_run_together() -> None:
    assert ngram_fingerprint("data base") == ngram_fingerprint("Database")
    assert clusters({"data base": 1, "Database": 2}, Method.NGRAM)[0].values[0] == ("Database", 2)


def test_neighbours_are_few_letters_apart() -> None:
    assert {"Journal of Tides", "journal of tides.", "Journal of Tieds"} in found(
        Method.NEAREST, distance=2
    )
    assert clusters({"Art": 1, "Arc": 1}, Method.NEAREST, distance=3) == []


@pytest.mark.parametrize(
    "values",
    [
        ["张 晓明", "赵 晓明", "李 晓明"],
        ["水文学与水资源", "水文学与水源源"],
        ["Swan, S.", "Swan, J.", "Swan, J. S."],
        ["Smith, John", "Smith, Joan"],
        ["Proceedings 2016", "Proceedings 2017"],
        ["Volume 1 of the tides", "Volume 11 of the tides"],
        ["Ocean A circulation", "Ocean B circulation"],
        ["김 민수", "김 민주"],
        ["शर्मा, सुनीता", "वर्मा, सुनीता"],
        ["शर्मा, सुनीता", "शर्म, सुनीता"],
        ["Hansen, Karin", "Jansen, Karin"],
        ["Meyer, Karin", "Maier, Karin"],
        ["Иванов, Олег", "Уванов, Олег"],
    ],
)
def test_other_initials_numbers_and_names_are_no_misspellings(values: list[str]) -> None:
    assert clusters(dict.fromkeys(values, 1), Method.NEAREST, distance=3) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Oceanography", "Oceanograhpy"),
        ("Lovelace, A.", "Lovelase, A."),
        ("Journal of Tides", "Journal ofTides"),
        ("Русская проза", "Руская проза"),
        ("data base systems", "database systems"),
        ("Proceedings 2016", "Procedings 2016"),
        ("Müller-Lüdenscheidt", "Mueller-Luedenscheidt"),
    ],
)
def test_misspelt_words_are_found(one: str, other: str) -> None:
    assert len(clusters({one: 1, other: 1}, Method.NEAREST, distance=3)) == 1


def test_two_frequent_names_are_two() -> None:
    names = ("Petersen, Karin", "Pedersen, Karin")
    for counts, groups in (((40, 30), 0), ((40, 4), 1), ((90, 8), 1), ((70, 8), 0)):
        found = clusters(dict(zip(names, counts, strict=True)), Method.NEAREST)
        assert len(found) == groups


@pytest.mark.parametrize("value", ["", "…", "-- !"])
def test_values_without_a_letter_are_in_no_cluster(value: str) -> None:
    assert fingerprint(value) == ""
    for method in Method:
        assert clusters({value: 1, value + ".": 1}, method) == []


def test_other_scripts_keep_their_letters() -> None:
    assert fingerprint("Русская проза") != fingerprint("Русская поэма")
    assert clusters({"Русская проза": 1, "проза русская": 1})
    assert clusters({"水文学": 1, "水文學": 1}) == []


texts = st.lists(st.text("aaabbbc ", min_size=4, max_size=12), unique=True, max_size=12)


@given(texts, st.integers(1, 3))
def test_no_pair_within_the_distance_is_missed(values: list[str], distance: int) -> None:
    near = clusters(dict.fromkeys(values, 1), Method.NEAREST, distance=distance)
    together = [{value for value, _ in one.values} for one in near]
    plain = {one: " ".join(one.split()) for one in values}
    for one in values:
        for other in values:
            a, b = plain[one], plain[other]
            allowed = min(distance, min(len(a), len(b)) // 4)
            if (
                one != other
                and a
                and Levenshtein.distance(a, b) <= allowed
                and is_misspelling(a, b, allowed)
            ):
                assert any({one, other} <= group for group in together)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Open Access", "open-access"), ("film", " FILM "), ("Swan, Hamish", "swan , hamish."),
     ("Swan, S.", "SWAN, S."), ("population.", "population"), ("Étude", "E\u0301TUDE"),
     ("Journal of Tides 12", "journal of tides, 12")],
)  # fmt: skip
def test_case_spaces_and_punctuation_are_certainly_no_difference(one: str, other: str) -> None:
    assert are_surely_same(one, other)
    assert are_surely_same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Article", "Artcle"), ("Swan, Hamish", "Hamish Swan"), ("Étude", "Etude"),
     ("Swan, S. J.", "Swan, SJ"), ("Swan, S.", "Swan, J."), ("US", "us"), ("C++", "C"),
     ("C++ in practice", "C# in practice"), ("Pages 1-5", "Pages 1.5"), ("Maße", "Masse"),
     ("张 晓明", "李 晓明"), ("张晓明", "张 晓明"), ("data base", "database"), ("...", "!!!")],
)  # fmt: skip
def test_any_other_difference_is_uncertain(one: str, other: str) -> None:
    assert not are_surely_same(one, other)
    assert not are_surely_same(other, one)


def test_only_values_like_the_first_are_certain_and_with_it() -> None:
    (one,) = clusters({"Journal of Tides": 4, "journal of tides.": 2, "Tides, Journal of": 3})
    assert one.certain == {"Journal of Tides", "journal of tides."}
    (two,) = clusters({"Article": 4, "Artcle": 2}, Method.NEAREST)
    assert two.certain == set()


def test_vowel_signs_and_voiced_kana_are_letters() -> None:
    names = {"शर्मा, अनिता": 6, "शर्मा, सुनीता": 6}
    assert clusters(names, Method.NEAREST, distance=2) == []
    assert clusters({"कुल": 1, "कल": 1, "か": 1, "が": 1}) == []
    assert len(clusters({"كتاب": 1, "كِتاب": 1})) == 1
