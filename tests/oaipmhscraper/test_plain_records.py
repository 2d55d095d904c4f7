"""What is written of a plain record in one pass is what the general way writes of any record."""

import re
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_pages import DC, WORDS, agents, attributes, documents, page_of, setspecs

from oaipmhclient.mending.repair import read_records_to_store
from oaipmhprotocol import Granularity, Header, Record
from oaipmhprovider.sample.repository import SampleRepository
from oaipmhprovider.source import Selection
from oaipmhscraper.storing.plain_records import PlainRecords, plain_records
from oaipmhscraper.storing.storing_rules import Reception, first_state
from recordsilo.formats import describe, texts_of_main
from recordsilo.formats.quality import codes_of_texts, findings
from recordsilo.formats.values import FIELD_OF_ELEMENT, Description, Value
from recordsilo.index import project
from recordsilo.index.projection import ManifestStamp
from recordsilo.index.rows import prepare, stamped
from recordsilo.records.edit import RecordEdit
from recordsilo.records.manifest_json import to_json
from recordsilo.records.place import RecordPlace

NOW = "2026-01-01T00:00:00.000000"
DATE = "2010-01-01T00:00:00"
LISTING = Reception("oai_dc", "harvester 1", "http://example.org/oai", NOW)
STAMP = (1_700_000_000_123_456_789, 1024, 99)
GOLDEN = Path(__file__).parents[1] / "recordsilo" / "formats" / "golden"
SAMPLES = [path.read_text(encoding="utf-8") for path in sorted(GOLDEN.glob("*.xml"))]


@pytest.fixture(scope="module", autouse=True)
def a_clock_that_stands_still():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recordsilo.records.edit.now_text", lambda: NOW)
        yield


def written_in_general(record, listing):
    """The manifest and the row, by the definition: from the bytes of the file, parsed anew."""
    manifest, contents = first_state(record, DATE, listing)
    held = {path: bytes(content) for path, content in contents.items()}
    place = RecordPlace(record.header.identifier, "/x", "/")
    edit = RecordEdit.of_new(place, manifest, held, None, None)
    edit.seal()
    row = prepare(project(edit.manifest, edit.read), ManifestStamp(*STAMP))
    return to_json(edit.manifest), held, row


def plain_of(records, listing=LISTING):
    """How many of these are plain; what is written of them is what is written of any record."""
    makes = plain_records(listing)
    assert makes is not None
    found = 0
    for record in records:
        state = makes.first_state(record, DATE)
        if state is not None:
            manifest, held, row = written_in_general(record, listing)
            assert state.manifest == manifest
            assert {state.path: bytes(state.content)} == held
            assert stamped(state.row, STAMP) == row
            assert repr(stamped(state.row, STAMP)) == repr(row), "values of the same types"
            found += 1
    return found


# --------------------------------------------------------------------------- samples


def test_samples_of_all_formats_are_written_as_in_general():
    documents = [re.sub(r"^<\?.*?\?>|^<metadata[^>]*>|</metadata>\s*$", "", one) for one in SAMPLES]
    records = read_records_to_store(page_of(documents)).items
    assert len(records) == len(SAMPLES)
    assert plain_of(records) == 1


@pytest.mark.parametrize("records", [25, pytest.param(800, marks=pytest.mark.long)])
def test_the_records_of_the_sample_repository_are_written_as_in_general(records):
    source = SampleRepository(records, "http://example.org/oai", Granularity.DAY, "example.org")
    plain = there = 0
    for prefix in [one.prefix for one in source.formats()]:
        held = source.records(Selection(prefix), None, records)
        documents = [one.metadata.decode() for one in held if one.metadata]
        listed = read_records_to_store(page_of(documents)).items
        plain += plain_of(listed)
        there += prefix == "oai_dc" and len(documents)
    assert plain == there > records * 0.8


# --------------------------------------------------------------------------- made-up trees


@settings(max_examples=examples(500, least=10), deadline=None)
@given(
    st.lists(documents(), min_size=1, max_size=4),
    st.sets(st.integers(0, 5)),
    setspecs,
    st.booleans(),
)
def test_made_up_trees_are_written_as_in_general(bodies, deleted, sets, has_about):
    about = "<about><a/></about>" if has_about else ""
    records = read_records_to_store(page_of(bodies, deleted, sets, about)).items
    plain = plain_of(records)
    assert not (plain and has_about)
    assert plain <= len(set(range(len(records))) - deleted)


@settings(max_examples=examples(200, least=10), deadline=None)
@given(
    st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=10),
    setspecs,
    agents,
    agents,
)
def test_odd_headers_and_agents_are_written_as_in_general(identifier, sets, agent, message):
    (read,) = read_records_to_store(
        page_of([f"<oai_dc:dc {DC}><dc:title>T</dc:title></oai_dc:dc>"])
    ).items
    record = Record(Header(identifier, "2010-01-01", tuple(sets)), read.metadata)
    listing = Reception("oai_dc", agent, message, NOW)
    odd = "\ue001" in agent + message or " was mended: " in message
    assert odd == (plain_records(listing) is None)
    if not odd:
        assert plain_of([record], listing) == 1


def texts_by_definition(content):
    return {field: [text for text, _ in values] for field, values in describe("x", content).items()}


@pytest.mark.parametrize("sample", SAMPLES)
def test_texts_of_samples_are_those_of_their_descriptions(sample):
    content = sample.encode()
    assert texts_of_main(["x"], {"x": content}.get) == texts_by_definition(content)


@settings(max_examples=examples(500, least=10), deadline=None)
@given(documents(), attributes, st.sampled_from(["utf-8", "utf-16", "iso-8859-1"]))
def test_texts_of_made_up_documents_are_those_of_their_descriptions(document, attribute, coding):
    whole = f'<?xml version="1.0" encoding="{coding}"?><metadata{attribute}>{document}</metadata>'
    content = whole.encode(coding, "xmlcharrefreplace")
    if describe("x", content) is None:
        assert texts_of_main(["x"], {"x": content}.get) == {}
    else:
        assert texts_of_main(["x"], {"x": content}.get) == texts_by_definition(content)


def test_others_are_not_plain():
    flat = f"<oai_dc:dc {DC}><dc:title>T</dc:title></oai_dc:dc>"
    (record,) = read_records_to_store(page_of([flat])).items
    makes = PlainRecords(LISTING)
    assert makes.first_state(record, DATE) is not None
    for other in (
        Record(Header("a", "2010-01-01", deleted=True)),
        Record(record.header, bytes(record.metadata)),
        Record(record.header, record.metadata, (b"<about/>",)),
    ):
        assert makes.first_state(other, DATE) is None
    assert plain_records(Reception("marc21")) is None
    assert plain_records(Reception("oai_dc", mended=("entity",))) is None


@settings(max_examples=examples(300, least=10), deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([*FIELD_OF_ELEMENT.values()]), st.lists(st.sampled_from(WORDS), min_size=1)
    )
)
def test_codes_of_texts_are_those_of_the_findings(values):
    folded = {
        field: [text for one in some if (text := " ".join(one.split()))]
        for field, some in values.items()
    }
    there = {field: some for field, some in folded.items() if some}
    described = Description(**{f: tuple(map(Value, some)) for f, some in there.items()})
    assert codes_of_texts(there) == tuple(dict.fromkeys(one.code for one in findings(described)))


def test_text_with_markup_is_described_in_general():
    marked = "<dc:title>A <i>b</i> c</dc:title><dc:creator><i>Vogel</i></dc:creator>"
    records = read_records_to_store(page_of([f"<oai_dc:dc {DC}>{marked}</oai_dc:dc>"])).items
    assert plain_of(records) == 0
    _, _, row = written_in_general(records[0], LISTING)
    assert (row.text[:2], row.entry[0].row.title) == (("A b c", "Vogel"), "A b c")
