"""What is written of a plain record in one pass is what the general way writes of any record."""

import random
import re
from datetime import UTC, datetime
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from oaipmhclient.mending.repair import read_records_to_store
from oaipmhprotocol import Granularity, Header, Record
from oaipmhprovider.sample.repository import SampleRepository
from oaipmhprovider.source import Selection
from oaipmhscraper.storing.plain_records import PlainRecords, plain_records
from oaipmhscraper.storing.silo_writer import SiloWriter
from oaipmhscraper.storing.storing_rules import Reception, first_state
from recordsilo import Silo
from recordsilo.formats.quality import codes_of_texts, findings
from recordsilo.formats.values import FIELD_OF_ELEMENT, Description, Value
from recordsilo.index import project
from recordsilo.index.first_rows import stamped
from recordsilo.index.projection import ManifestStamp
from recordsilo.index.rows import prepare
from recordsilo.records.creation import Creation
from recordsilo.records.edit import RecordEdit
from recordsilo.records.manifest_json import to_json
from recordsilo.records.place import RecordPlace

OAI = "http://www.openarchives.org/OAI/2.0/"
DC = f'xmlns:oai_dc="{OAI}oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/"'
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


def page_of(documents, deleted=(), sets=("a",), about=""):
    """A page of records with these documents, which declare their namespaces themselves."""
    records = []
    for number, document in enumerate(documents):
        is_deleted = number in deleted
        status = ' status="deleted"' if is_deleted else ""
        body = "" if is_deleted else f"<metadata>{document}</metadata>{about}"
        specs = "".join(f"<setSpec>{escape(one)}</setSpec>" for one in sets)
        records.append(
            f"<record><header{status}>"
            f"<identifier>oai:example.org:{number}</identifier><datestamp>2010-01-01</datestamp>"
            f"{specs}</header>{body}</record>"
        )
    return (
        f'<OAI-PMH xmlns="{OAI}"><responseDate>2010-01-01T00:00:00Z</responseDate>'
        f"<ListRecords>{''.join(records)}</ListRecords></OAI-PMH>"
    ).encode("utf-8", "xmlcharrefreplace")


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

WORDS = (
    "Solar cells", "  two   spaces ", "line\nbreak", "tab\there", "no\u00a0break", "\u2028 line",
    "été", "Ã©tÃ©", "â€œquotesâ€", "\ufffd", "太陽電池の効率", "สวัสดี", "العربية", "עברית", "Ω мир",
    "e\u0301", "\U0001f600", "ﬁne", "ALL IN CAPITALS HERE", "123", "—", "&lt;p&gt;", "&amp;eacute;",
    "10.5555/12", "doi:10.5555/ab", "https://doi.org/10.5555/X",
    "https://hdl.handle.net/1721.1/12", "http://localhost/x", "http://10.0.0.1/",
    "http://ex ample/", "doi:10.5555/月", "2004", "2004-13", "1999/2001", "12 May 1999",
    "info:eu-repo/date/embargoEnd/2020-01-01", "19999", "en", "eng", "xx-", "english", "Article",
    "info:eu-repo/semantics/article", "no type", "%s %d %%", "\ue000 \ue001",
    "a" * 600, "b" * 600 + "1", "word " * 21_000, "", " ", "]]&gt;", "'\"\\/", "\x7f", "\u0085",
)  # fmt: skip
LANGUAGES = ("", "", "", ' xml:lang="de"', ' xml:lang=""', ' xml:lang="en"', ' id="1"')
NAMES = (
    *(f"dc:{name}" for name in FIELD_OF_ELEMENT), *(f"dc:{name}" for name in FIELD_OF_ELEMENT),
    "abstract", "x:title", "dc:alternative", "dc:unknown", "metadata", "y:title",
)  # fmt: skip
ODD = ' xmlns:x="urn:x" xmlns:y="metadata"'

texts = st.sampled_from(WORDS) | st.text(
    st.characters(blacklist_categories=["Cs", "Cc"]), max_size=12
).map(escape)
leaves = st.builds(
    lambda name, attribute, text: f"<{name}{attribute}>{text}</{name}>",
    st.sampled_from(NAMES),
    st.sampled_from(LANGUAGES),
    texts,
)
breaks = st.sampled_from(
    ["<!-- c -->", "<?pi x?>", "text between", "<dc:title/>", "\n  ",
     "<dc:title><![CDATA[a < b]]></dc:title>",
     "<dc:title>a<b/>c</dc:title>", "<dc:creator><dc:title>in</dc:title></dc:creator>",
     "<dc:title>a<!-- c -->b</dc:title>", "<dc:title>&#233;&#x202e;</dc:title>"]
)  # fmt: skip
roots = st.sampled_from(
    [("oai_dc:dc", "")] * 6
    + [("oai_dc:dc", ' xml:lang="fr"'), ("dc", ' xmlns=""'), ("dc", ""), ("x:dc", ""),
       ("metadata", ""), ("oai_dc:other", "")]
)  # fmt: skip


AGAIN = f'<metadata xmlns="{OAI}">*</metadata>'


def document_of(root, children, around):
    name, attributes = root
    made = f"<{name} {DC}{ODD}{attributes}>{''.join(children)}</{name}>"
    return around.replace("*", made)


documents = st.builds(
    document_of,
    roots,
    st.lists(leaves | leaves | leaves | breaks, max_size=8),
    st.sampled_from(["*"] * 6 + ["*\n", "\n *", "<!-- c -->*", "**", AGAIN]),
)
setspecs = st.lists(
    st.text(st.characters(blacklist_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=6)
    | st.sampled_from(["a", "a:b", "%s", '"', "\\", "\ue002"]),
    max_size=4,
)
agents = st.text(st.characters(blacklist_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["%", '"quoted"\\', "\ue001", "x was mended: y"]
)


@settings(max_examples=examples(500, least=10), deadline=None)
@given(
    st.lists(documents, min_size=1, max_size=4), st.sets(st.integers(0, 5)), setspecs, st.booleans()
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


# --------------------------------------------------------------------------- on disk


def test_most_records_of_a_page_are_created_in_one_step(tmp_path, monkeypatch):
    made = []
    begin = Creation.__init__
    monkeypatch.setattr(
        Creation,
        "__init__",
        lambda self, *given: made.append(given[0].identifier) or begin(self, *given),
    )
    title = f"<oai_dc:dc {DC}><dc:title>T</dc:title></oai_dc:dc>"
    body = page_of([title, title.replace("T<", "<b/>T<"), title], deleted={2})
    with Silo(str(tmp_path / "silo")) as silo:
        writer = SiloWriter(silo, LISTING)
        for is_new in (True, False):
            outcome = writer.store(read_records_to_store(body), datetime(2026, 1, 1, tzinfo=UTC))
            assert outcome.written == (3 if is_new else 0)
            assert made == ["oai:example.org:0"]
        assert [row.title for row in silo.found()] == ["T", "", ""]


def test_a_directory_that_is_in_the_way_is_swept_and_written_again(tmp_path):
    title = f"<oai_dc:dc {DC}><dc:title>T</dc:title></oai_dc:dc>"
    names = ["ab", "abcd", "abcdef", "abc"]
    random.Random(7).shuffle(names)
    page = page_of([title] * 4)
    for number, name in enumerate(names):
        page = page.replace(f"oai:example.org:{number}".encode(), name.encode())
    with Silo(str(tmp_path / "silo")) as silo:
        assert SiloWriter(silo, LISTING).store(read_records_to_store(page)).written == 4
        assert sorted(silo) == sorted(names)
        assert quoteattr(silo["ab"].title) == '"T"'
