"""The sample repository: believable, varied, the same everywhere."""

import hashlib
import time
import unicodedata
from collections import Counter
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest
from lxml import etree

from oaipmhprotocol import Granularity, Record
from oaipmhprotocol.datestamps import parse_datestamp
from oaipmhprovider import Selection, sample_repository
from oaipmhprovider.sample import SampleRepository
from oaipmhprovider.sample.compose import SampleWork, compose
from oaipmhprovider.sample.mishaps import is_entered_twice, with_mishap
from oaipmhprovider.sample.sets import hex_spec
from oaipmhprovider.sample.traits import traits_of, traits_of_code

DC = "{http://purl.org/dc/elements/1.1/}"
LANG = "{http://www.w3.org/XML/1998/namespace}lang"


@pytest.fixture(scope="module")
def records(repository: SampleRepository) -> list[Record]:
    return list(repository.records(Selection("oai_dc"), None, repository.size))


@pytest.fixture(scope="module")
def documents(records: list[Record]) -> list[etree._Element]:
    return [etree.fromstring(one.metadata) for one in records if one.metadata is not None]


@pytest.mark.parametrize("prefix", ["oai_dc", "uketd_dc", "pmc_fm"])
def test_every_record_of_a_whole_harvest_is_valid(asker: Any, repository: Any, prefix: str) -> None:
    ask = asker(repository)
    pages = list(ask.pages("ListRecords", metadataPrefix=prefix))
    listed = sum(1 for page in pages for _ in page.iter("{*}record"))
    assert listed == repository.count(Selection(prefix))


@pytest.mark.parametrize("granularity", list(Granularity))
def test_the_other_verbs_answer_validly(asker: Any, granularity: Granularity) -> None:
    source = sample_repository(200, granularity=granularity)
    ask = asker(source)
    assert ask(verb="Identify").findtext("{*}Identify/{*}granularity") == granularity
    assert len(ask(verb="ListMetadataFormats").find("{*}ListMetadataFormats")) == 3
    assert len(ask(verb="ListSets").find("{*}ListSets")) == len(source.sets())
    for header in source.headers(Selection("oai_dc"), None, 40):
        formats = ask(verb="ListMetadataFormats", identifier=header.identifier)
        for prefix in formats.iter("{*}metadataPrefix"):
            answer = ask(verb="GetRecord", identifier=header.identifier, metadataPrefix=prefix.text)
            assert answer.findtext(".//{*}header/{*}datestamp") == header.datestamp


def test_there_are_more_than_three_thousand_records_about_three_in_a_hundred_deleted(
    records: list[Record],
) -> None:
    deleted = sum(record.header.deleted for record in records)
    assert len(records) >= 3000
    assert 0.02 < deleted / len(records) < 0.04


def test_some_records_have_each_format(repository: SampleRepository) -> None:
    counts = {one.prefix: repository.count(Selection(one.prefix)) for one in repository.formats()}
    assert counts["oai_dc"] == repository.size
    assert counts["uketd_dc"] > 300
    assert counts["pmc_fm"] > 600


def test_datestamps_span_ten_years_from_the_earliest_datestamp(
    repository: SampleRepository, records: list[Record]
) -> None:
    stamps = [parse_datestamp(record.header.datestamp) for record in records]
    assert repository.identify().earliest_datestamp == records[0].header.datestamp
    assert (max(stamps) - min(stamps)).days > 3650


def test_one_day_has_a_batch_load_with_many_records_in_one_second(records: list[Record]) -> None:
    days = Counter(record.header.datestamp[:10] for record in records)
    (day, many), (_, second) = days.most_common(2)
    assert day == "2017-07-14"
    assert many > 300
    assert second < 20
    seconds = Counter(record.header.datestamp for record in records)
    assert seconds.most_common(1)[0][1] > 100


def test_day_granularity_cuts_the_same_datestamps(records: list[Record]) -> None:
    days = sample_repository(granularity=Granularity.DAY)
    by_identifier = {record.header.identifier: record.header.datestamp for record in records}
    for header in days.headers(Selection("oai_dc"), None, days.size):
        assert header.datestamp == by_identifier[header.identifier][:10]


def test_titles_are_varied(documents: list[etree._Element]) -> None:
    english = [
        title.text
        for one in documents
        for title in one.iter(f"{DC}title")
        if LANG not in title.attrib
    ]
    assert len(set(english)) > 0.8 * 2200
    one_page = [one.findtext(f"{DC}title") for one in documents[:100]]
    assert len(set(one_page)) >= 95


def test_titles_and_abstracts_are_filled_in(documents: list[etree._Element]) -> None:
    for one in documents:
        for element in (*one.iter(f"{DC}title"), *one.iter(f"{DC}description")):
            assert element.text
            assert not {"{", "}"} & set(element.text) or "$" in element.text
            assert "  " not in element.text


def test_many_languages_and_scripts_are_marked(documents: list[etree._Element]) -> None:
    languages = Counter(title.get(LANG) for one in documents for title in one.iter(f"{DC}title"))
    assert set(languages) == {
        None,
        "de",
        "fr",
        "es",
        "ru",
        "el",
        "ar",
        "he",
        "zh",
        "ja",
        "hi",
    }
    assert min(languages.values()) > 30
    stated = {element.text for one in documents for element in one.iter(f"{DC}language")}
    assert {"eng", "ara", "heb", "jpn", "zho"} <= stated


def test_text_has_what_breaks_careless_software(documents: list[etree._Element]) -> None:
    text = "\n".join(one.xpath("string()") for one in documents)
    for awkward in ("<", "&", '"', "]]>", "$0 < \\lambda", "<i>", "&lang=", "’"):
        assert awkward in text
    assert any(ord(character) > 0xFFFF for character in text)
    assert any(unicodedata.combining(character) for character in text)
    assert unicodedata.normalize("NFC", text) != text
    assert any(unicodedata.bidirectional(character) == "R" for character in text)


def test_some_abstracts_are_long_with_several_paragraphs(documents: list[etree._Element]) -> None:
    abstracts = [one.findtext(f"{DC}description") or "" for one in documents]
    assert sum(text.count("\n\n") >= 3 for text in abstracts) > 200
    assert max(map(len, abstracts)) > 4000


def test_some_records_say_where_they_came_from(records: list[Record]) -> None:
    passed_on = [record for record in records if record.about]
    assert 20 < len(passed_on) < 100
    assert all(b"harvestDate" in record.about[0] for record in passed_on)


def test_set_specs_are_spelled_as_eprints_spells_them(repository: SampleRepository) -> None:
    names = {one.spec: one.name for one in repository.sets()}
    assert names["7374617475733D707562"] == "Status = Published"
    assert names["7375626A656374733D51:5141"] == "Subject = Q Science: QA Mathematics"
    assert names["openaire"].startswith("OpenAIRE")


def test_every_set_has_its_parent_before_it_and_records_in_it(
    repository: SampleRepository,
) -> None:
    seen: set[str] = set()
    for one in repository.sets():
        parent = one.spec.rpartition(":")[0]
        assert not parent or parent in seen
        assert repository.count(Selection("oai_dc", set_spec=one.spec)) > 0
        seen.add(one.spec)
    headers = repository.headers(Selection("oai_dc"), None, repository.size)
    assert {spec for header in headers for spec in header.set_specs} <= seen


def test_a_set_has_what_the_sets_below_it_have(repository: SampleRepository) -> None:
    def count(*path: str) -> int:
        return repository.count(Selection("oai_dc", set_spec=hex_spec("subjects", *path)))

    assert count("Q") > count("Q", "QA") > count("Q", "QA", "QA75") > 0


def test_the_same_record_comes_whenever_it_is_asked_for(records: list[Record]) -> None:
    again = sample_repository()
    record = records[1234]
    assert again.record(record.header.identifier, "oai_dc") == record


def test_the_records_are_the_same_on_every_machine(records: list[Record]) -> None:
    digest = hashlib.sha256()
    for record in records:
        digest.update(repr((record.header, record.metadata, record.about)).encode())
    assert digest.hexdigest()[:16] == "dbcc86a747e4dc4a"


def test_a_few_records_have_mistakes_and_the_first_eleven_have_none() -> None:
    kinds: Counter[str] = Counter()
    twice = 0
    for number in range(3000, 6200):
        traits = traits_of(number)
        work = compose(number, traits, datetime(2016, 1, 1, tzinfo=UTC))
        entered = with_mishap(work)
        twice += is_entered_twice(number)
        changed = [
            one.name
            for one in fields(SampleWork)
            if getattr(work, one.name) != getattr(entered, one.name)
        ]
        kinds.update(changed)
        assert number > 3010 or not (changed or is_entered_twice(number))
    assert 50 < twice < 110
    assert min(kinds.values()) > 8
    assert set(kinds) == {
        "titles", "creators", "abstracts", "keywords", "date_as_entered", "type_as_entered",
        "language_as_entered", "is_titled", "further_link",
    }  # fmt: skip


def test_traits_survive_their_code() -> None:
    for number in range(3000, 4000):
        traits = traits_of(number)
        assert traits_of_code(traits.code) == traits


@pytest.mark.long
@pytest.mark.parametrize("size", [1, 2, 7000, 7001, 70_001])
def test_identifiers_sort_as_their_numbers_at_any_size(size: int) -> None:
    source = sample_repository(size)
    headers = source.headers(Selection("oai_dc"), None, size)
    assert len({len(header.identifier) for header in headers}) == 1
    assert len(headers) == source.count(Selection("oai_dc")) == size


@pytest.mark.parametrize("size", [0, -1, 1_000_001])
def test_a_size_out_of_range_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=f"not {size}"):
        sample_repository(size)


def test_the_identifier_prefix_is_an_option() -> None:
    source = sample_repository(5, host="archive.example.net")
    assert source.record("oai:archive.example.net:3000", "oai_dc").header.set_specs


def test_the_last_page_costs_what_the_first_one_costs() -> None:
    source = sample_repository(60_000)
    selection = Selection("oai_dc")
    last = source.headers(Selection("oai_dc", from_="2025-03-01"), None, 1)[0]
    place = (last.datestamp, last.identifier)

    def seconds(after: Any) -> float:
        begun = time.thread_time()
        for _ in range(20):
            source.headers(selection, after, 10)
        return time.thread_time() - begun

    from oaipmhprovider import Position  # noqa: PLC0415 - beside its only use

    first, late = (
        min(seconds(None) for _ in range(5)),
        min(seconds(Position(*place)) for _ in range(5)),
    )
    assert late < 10 * first
