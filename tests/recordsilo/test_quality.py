"""Faults of descriptions are found, and correct values are not reported."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsilo.formats import Description, Value
from recordsilo.formats.quality import (
    _MARKUP,
    _MOJIBAKE,
    _SOUND_ADDRESS,
    CODES,
    _wrong_address,
    findings,
)

GOOD = {
    "titles": ["On tides"],
    "creators": ["Ada"],
    "dates": ["1999-05-12"],
    "types": ["Article", "PeerReviewed"],
    "languages": ["en"],
    "identifiers": ["https://eprints.soton.ac.uk/1/", "10.1000/182", "ISBN 0-306-40615-2"],
}


def described(**fields: list[str]) -> Description:
    given = {**GOOD, **fields}
    return Description(**{name: tuple(map(Value, values)) for name, values in given.items()})


def codes(**fields: list[str]) -> list[str]:
    return [one.code for one in findings(described(**fields))]


def test_a_sound_description_has_no_findings() -> None:
    assert codes() == []


@pytest.mark.parametrize(
    ("code", "field", "values"),
    [
        ("Q101", "titles", []),
        ("Q102", "titles", ["…"]),
        ("Q103", "titles", ["ON THE FLOW OF TIDES"]),
        ("Q201", "dates", []),
        ("Q202", "dates", ["forthcoming"]),
        ("Q202", "dates", ["1999-13-01"]),
        ("Q301", "creators", []),
        ("Q401", "languages", ["Englisch, glaube ich"]),
        ("Q501", "types", []),
        ("Q502", "types", ["Zeugs"]),
        ("Q601", "identifiers", ["http://localhost/1"]),
        ("Q601", "identifiers", ["http://intranet/1"]),
        ("Q601", "relations", ["http://10.0.0.7/x"]),
        ("Q602", "identifiers", ["http://"]),
        ("Q602", "identifiers", ["https://x.org/a b"]),
        ("Q602", "identifiers", ["doi:10.12"]),
        ("Q701", "titles", ["Ã‰tudes na\u00c3\u00afves"]),
        ("Q701", "creators", ["M\ufffdller"]),
        ("Q702", "descriptions", ["<p>Text</p>"]),
        ("Q702", "titles", ["Smith &amp; Sons"]),
    ],
)
def test_each_finding_is_made(code: str, field: str, values: list[str]) -> None:
    assert codes(**{field: values}) == [code]


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("titles", ["DNA"]),
        ("titles", ["Проза", "水文学"]),
        ("titles", ["a < b & c"]),
        ("dates", ["1999", "1999-05", "2001-02-03T04:05:06Z", "1999/2001", "12 May 1999"]),
        ("dates", ["c. 1850", "May 2003", "info:eu-repo/date/embargoEnd/2020-01-01", "03.05.1999"]),
        ("languages", ["eng", "pt_BR", "zh-Hant", "de"]),
        ("types", ["http://purl.org/dc/dcmitype/Text"]),
        ("types", ["info:eu-repo/semantics/article"]),
        ("types", ["Conference or Workshop Item"]),
        ("identifiers", ["https://doi.org/10.1000/182", "hdl:1721.1/1", "http://[::1]/"]),
    ],
)
def test_what_is_right_in_its_own_way_is_left_alone(field: str, values: list[str]) -> None:
    assert codes(**{field: values}) == []


@pytest.mark.parametrize(
    "text",
    [
        "2019-02-31", "2019-02-29", "2019-04-31T00:00:00Z", "2019-01-01/2019-06-31", "31.02.2019",
        "99.99.2019", "12.31.2019", "31/02/2019", "31 February 2019", "0 May 2019", "32 May 2019",
        "c. 31 sept. 2019", "June 31, 2019", "31. Juni 2019", "30 févr. 2019",
        "info:eu-repo/date/embargoEnd/2019-11-31",
    ],
)  # fmt: skip
def test_days_and_months_that_do_not_exist_are_found(text: str) -> None:
    assert codes(dates=[text]) == ["Q202"]


@pytest.mark.parametrize(
    "text",
    [
        "2020-02-29", "0000-02-29", "31.12.2019", "31/12/2019", "12/31/2019", "31 July 2019",
        "29 février 2020", "31. Juli 2019", "May 31, 2019", "31 janvier 2019", "30. Sept. 2019",
        "31 gennaio 2019", "February 2019",
    ],
)  # fmt: skip
def test_days_of_the_calendar_are_dates(text: str) -> None:
    assert codes(dates=[text]) == []


def test_every_code_is_explained() -> None:
    assert all(words and code.startswith("Q") for code, words in CODES.items())


@given(st.from_regex(_SOUND_ADDRESS, fullmatch=True))
def test_address_taken_for_sound_at_a_glance_is_sound(address: str) -> None:
    assert _wrong_address(address) == ""


@given(st.text(st.sampled_from("AÉß中1 ⓐⒶǅ.…") | st.characters(), max_size=30))
def test_titles_are_judged_by_their_letters(title: str) -> None:
    letters = [one for one in title if one.isalpha()]
    capitals = len(letters) > 12 and " " in title and all(one.isupper() for one in letters)
    expected = ["Q103"] if capitals else [] if letters else ["Q102"]
    assert [c for c in codes(titles=[title]) if c in {"Q102", "Q103"}] == expected


@given(st.text(st.sampled_from("aé�ÃÂ ï»¿\x80\x9f†€–ü \nбв<b>&am;中"), max_size=6))
def test_texts_that_are_not_searched_have_no_fault(text: str) -> None:
    found = {code for code in codes(descriptions=["Text", text]) if code.startswith("Q7")}
    assert ("Q701" in found) is bool(_MOJIBAKE.search(text))
    assert ("Q702" in found) is bool(_MARKUP.search(text))
