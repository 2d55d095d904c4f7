"""Requests that give errors: section 3.6, each condition."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oaipmhprotocol import Granularity, Set
from oaipmhprovider import sample_repository
from oaipmhprovider.sample import SampleRepository
from oaipmhprovider.sample.mutable_source import MutableSource

KNOWN = "oai:eprints.example.org:3000"
NAMES = ("verb", "identifier", "metadataPrefix", "from", "until", "set", "resumptionToken", "x")


class Setless(SampleRepository):
    """The sample repository without sets."""

    def sets(self) -> Sequence[Set]:
        return ()


def test_a_request_without_verb_is_a_bad_verb(ask: Any) -> None:
    assert ask.codes() == ["badVerb"]


@pytest.mark.parametrize("verb", ["", "identify", "Identify ", "ListAll", "Unknown"])
def test_a_verb_that_is_none_of_the_six_is_a_bad_verb(ask: Any, verb: str) -> None:
    assert ask.codes(verb=verb) == ["badVerb"]


def test_a_repeated_verb_is_a_bad_verb(ask: Any) -> None:
    assert ask.codes(("verb", "Identify"), ("verb", "Identify")) == ["badVerb"]


def test_a_bad_verb_repeats_nothing_of_the_request(ask: Any) -> None:
    request = ask(verb="Nope", metadataPrefix="oai_dc").find("{*}request")
    assert dict(request.attrib) == {}


@pytest.mark.parametrize(
    "arguments",
    [
        {"verb": "Identify", "metadataPrefix": "oai_dc"},
        {"verb": "ListMetadataFormats", "metadataPrefix": "oai_dc"},
        {"verb": "ListSets", "set": "openaire"},
        {"verb": "GetRecord", "identifier": KNOWN, "metadataPrefix": "oai_dc", "set": "openaire"},
        {"verb": "ListRecords", "metadataPrefix": "oai_dc", "identifier": KNOWN},
        {"verb": "ListRecords", "metadataPrefix": "oai_dc", "metadataprefix": "oai_dc"},
    ],
)
def test_an_argument_that_the_verb_does_not_take_is_a_bad_argument(
    ask: Any, arguments: dict[str, str]
) -> None:
    assert ask.codes(**arguments) == ["badArgument"]


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        ({"verb": "ListRecords"}, 1),
        ({"verb": "ListIdentifiers", "set": "openaire"}, 1),
        ({"verb": "GetRecord", "metadataPrefix": "oai_dc"}, 1),
        ({"verb": "GetRecord"}, 2),
    ],
)
def test_each_missing_argument_is_a_bad_argument(
    ask: Any, arguments: dict[str, str], missing: int
) -> None:
    assert ask.codes(**arguments) == ["badArgument"] * missing


def test_a_repeated_argument_is_a_bad_argument_even_with_the_same_value(ask: Any) -> None:
    twice = ("metadataPrefix", "oai_dc")
    assert ask.codes(twice, twice, verb="ListRecords") == ["badArgument"]


def test_a_resumption_token_goes_with_no_other_argument(ask: Any) -> None:
    codes = ask.codes(verb="ListRecords", resumptionToken="x", metadataPrefix="oai_dc")
    assert codes == ["badArgument"]


@pytest.mark.parametrize(
    "value",
    [
        "2020",
        "2020-02-30",
        "2020-01-01T00:00",
        "2020-01-01T00:00:00",
        "",
        "0000-00-00",
        "2020-01-01T00:00:00.0Z",
        "2020-01-01T00:00:00+01:00",
        " 2020-01-01",
        "２０２０-01-01",
    ],
)
@pytest.mark.parametrize("name", ["from_", "until"])
def test_what_is_no_datestamp_is_a_bad_argument(ask: Any, name: str, value: str) -> None:
    codes = ask.codes(verb="ListRecords", metadataPrefix="oai_dc", **{name: value})
    assert codes == ["badArgument"]


def test_from_and_until_of_different_granularity_are_a_bad_argument(ask: Any) -> None:
    codes = ask.codes(
        verb="ListRecords",
        metadataPrefix="oai_dc",
        from_="2015-01-01",
        until="2016-01-01T00:00:00Z",
    )
    assert codes == ["badArgument"]


def test_seconds_asked_of_a_repository_of_days_are_a_bad_argument(asker: Any) -> None:
    ask = asker(sample_repository(50, granularity=Granularity.DAY))
    codes = ask.codes(verb="ListRecords", metadataPrefix="oai_dc", from_="2015-01-01T00:00:00Z")
    assert codes == ["badArgument"]
    assert ask.codes(verb="ListRecords", metadataPrefix="oai_dc", from_="2015-01-01") == []


def test_from_later_than_until_is_a_bad_argument(ask: Any) -> None:
    codes = ask.codes(
        verb="ListIdentifiers", metadataPrefix="oai_dc", from_="2016-01-02", until="2016-01-01"
    )
    assert codes == ["badArgument"]


def test_one_day_from_and_until_is_no_error(ask: Any) -> None:
    codes = ask.codes(
        verb="ListIdentifiers", metadataPrefix="oai_dc", from_="2017-07-14", until="2017-07-14"
    )
    assert codes == []


@pytest.mark.parametrize("value", ["a b", "", "é", "oai_dc&", "a:b"])
def test_a_prefix_of_the_wrong_letters_is_a_bad_argument(ask: Any, value: str) -> None:
    assert ask.codes(verb="ListRecords", metadataPrefix=value) == ["badArgument"]


@pytest.mark.parametrize("value", ["a b", "", "a::b", ":a", "a:", "<set>"])
def test_a_set_of_the_wrong_letters_is_a_bad_argument(ask: Any, value: str) -> None:
    codes = ask.codes(verb="ListRecords", metadataPrefix="oai_dc", set=value)
    assert codes == ["badArgument"]


def test_every_fault_of_a_request_is_named(ask: Any) -> None:
    codes = ask.codes(("set", "openaire"), ("set", "x"), verb="ListRecords", from_="never", x="1")
    assert codes == ["badArgument"] * 4


def test_an_unknown_format_cannot_be_disseminated(ask: Any) -> None:
    for arguments in ({"verb": "ListRecords"}, {"verb": "GetRecord", "identifier": KNOWN}):
        assert ask.codes(**arguments, metadataPrefix="marc21") == ["cannotDisseminateFormat"]


def test_an_item_cannot_be_disseminated_in_a_format_it_does_not_have(ask: Any) -> None:
    identifier = ask.identifiers(metadataPrefix="pmc_fm")[0]
    codes = ask.codes(verb="GetRecord", identifier=identifier, metadataPrefix="uketd_dc")
    assert codes == ["cannotDisseminateFormat"]


def test_an_unknown_identifier_does_not_exist_in_either_verb_that_takes_one(ask: Any) -> None:
    unknown = "oai:eprints.example.org:1"
    codes = ask.codes(verb="GetRecord", identifier=unknown, metadataPrefix="oai_dc")
    assert codes == ["idDoesNotExist"]
    assert ask.codes(verb="ListMetadataFormats", identifier=unknown) == ["idDoesNotExist"]


@pytest.mark.parametrize(
    "near",
    [
        KNOWN + " ",
        KNOWN.upper(),
        KNOWN.replace("3000", "03000"),
        "3000",
        KNOWN + "0" * 4000,
        KNOWN.replace("3000", "٣٠٠٠"),
        KNOWN.replace("3000", ""),
        "http://[",
        "a%zz",
    ],
)
def test_an_identifier_must_be_the_very_same(ask: Any, near: str) -> None:
    codes = ask.codes(verb="GetRecord", identifier=near, metadataPrefix="oai_dc")
    assert codes == ["idDoesNotExist"]


def test_an_identifier_that_is_no_uri_is_not_repeated(ask: Any) -> None:
    answer = ask(verb="GetRecord", identifier="a b%", metadataPrefix="oai_dc")
    assert dict(answer.find("{*}request").attrib) == {}


def test_an_item_without_formats_has_no_metadata_formats(asker: Any, ask: Any) -> None:
    source = MutableSource(sample_repository(10))
    source.publish("oai:eprints.example.org:bare", {}, ask.now)
    codes = asker(source).codes(
        verb="ListMetadataFormats", identifier="oai:eprints.example.org:bare"
    )
    assert codes == ["noMetadataFormats"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"until": "2014-08-31"},
        {"until": "1900-01-01T00:00:00Z"},
        {"from_": "2031-01-01"},
        {"set": "nobody"},
        {"set": "openair"},
        {"set": "7374617475733D707562:AA"},
    ],
)
def test_a_selection_of_nothing_matches_no_records(ask: Any, arguments: dict[str, str]) -> None:
    for verb in ("ListRecords", "ListIdentifiers"):
        codes = ask.codes(verb=verb, metadataPrefix="oai_dc", **arguments)
        assert codes == ["noRecordsMatch"]


def test_a_repository_without_sets_has_no_set_hierarchy(asker: Any) -> None:
    plain = sample_repository(10)
    source = Setless(10, plain.identify().base_url, Granularity.SECOND, "eprints.example.org")
    ask = asker(source)
    assert ask.codes(verb="ListSets") == ["noSetHierarchy"]
    assert ask.codes(verb="ListRecords", metadataPrefix="oai_dc", set="a") == ["noSetHierarchy"]
    both = ask.codes(verb="ListRecords", metadataPrefix="marc21", set="a")
    assert both == ["cannotDisseminateFormat", "noSetHierarchy"]


def test_other_conditions_repeat_the_request(ask: Any) -> None:
    answer = ask(verb="ListRecords", metadataPrefix="oai_dc", set="nobody", from_="2015-01-01")
    assert dict(answer.find("{*}request").attrib) == {
        "verb": "ListRecords",
        "metadataPrefix": "oai_dc",
        "set": "nobody",
        "from": "2015-01-01",
    }


def test_markup_in_an_identifier_comes_back_as_text(ask: Any) -> None:
    identifier = "urn:x:'&amp;quot;&lt;"
    answer = ask(verb="GetRecord", identifier=identifier, metadataPrefix="oai_dc")
    assert answer.find("{*}request").get("identifier") == identifier


def test_markup_in_a_token_comes_back_as_text(ask: Any) -> None:
    token = "\"/><record>&\n\t'"
    answer = ask(verb="ListRecords", resumptionToken=token)
    assert answer.find("{*}request").get("resumptionToken") == token
    assert answer.find("{*}error").get("code") == "badResumptionToken"


@pytest.mark.parametrize("value", ["\x00", "a\x0bb", "\ud800", "\ufffe", "\x1b[31m"])
def test_a_character_that_xml_forbids_is_a_bad_argument_and_not_repeated(
    ask: Any, value: str
) -> None:
    assert ask.codes(verb="ListRecords", resumptionToken=value) == ["badArgument"]
    assert ask.codes(("x" + value, "1"), verb="Identify") == ["badArgument"]
    assert ask.codes(("x", value), verb="Identify") == ["badArgument"] * 2


@settings(deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(NAMES) | st.text(max_size=8),
            st.sampled_from(["ListRecords", "GetRecord", "oai_dc", "2015-01-01", KNOWN, "openaire"])
            | st.text(st.characters(), max_size=12),
        ),
        max_size=5,
    )
)
def test_whatever_is_asked_the_answer_is_valid(ask: Any, pairs: list[tuple[str, str]]) -> None:
    ask(*pairs)


@settings(deadline=None, derandomize=True)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30))
def test_whatever_identifier_is_asked_for_the_answer_is_valid(ask: Any, text: str) -> None:
    for identifier in (text, "oai:" + text, "http://" + text):
        ask(verb="GetRecord", identifier=identifier, metadataPrefix="oai_dc")
