"""A record that the Silo does not have is written in one step, with the same bytes."""

import os
import re
import sqlite3
from datetime import UTC, datetime
from itertools import product
from xml.sax.saxutils import escape

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from oaipmhclient.mending.repair import read_records_mended, read_records_to_store
from oaipmhclient.pages.xml_pages import ParsedBytes
from oaipmhprotocol import Header, Record
from oaipmhscraper.storing.silo_writer import SiloWriter, _carry_out
from oaipmhscraper.storing.storing_rules import Reception, first_state, plan_record
from recordsilo import Silo
from recordsilo.formats import describe
from recordsilo.index import project
from recordsilo.records.batch import Batch
from recordsilo.records.edit import RecordEdit
from recordsilo.records.manifest_json import to_json
from recordsilo.records.place import RecordPlace

OAI = "http://www.openarchives.org/OAI/2.0/"
ODD = ["oai:x:1", "oai:x:12", "a", "é/ü", 'x"\\^y', "林 晓明", "a:b:c", "x" * 400, "\U0001f600"]
METADATA = [
    "<d:dc {}><d:title>One</d:title><d:creator>Li, Wei</d:creator></d:dc>",
    '<d:dc {}><d:title xml:lang="fr">Été</d:title><d:title>Two  words</d:title></d:dc>',
    "<d:dc {}><d:title>A<!-- b -->C</d:title><?x y?><d:date>2001</d:date></d:dc>",
    "<d:dc {}><d:title><![CDATA[1 < 2 & 3]]></d:title><d:type>Thesis</d:type></d:dc>",
    "<d:dc {}><d:description>&#x202E;&amp;lt;p&#62;\n tail</d:description></d:dc>",
    "<metadata><d:dc {}><d:title>Nested</d:title></d:dc></metadata>",
    "<other>text</other>",
    "",
]
NAMESPACES = f'xmlns:d="{OAI}oai_dc/"'

texts = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)
headers = st.builds(
    Header,
    texts.filter(lambda text: text and "\0" not in text) | st.sampled_from(ODD),
    st.just("2010-01-01"),
    st.lists(texts, max_size=3).map(tuple),
    st.booleans(),
)
listings = st.builds(
    Reception,
    st.sampled_from(["oai_dc", "marc21", "p.about"]),
    texts,
    texts,
    st.sampled_from(["", "2026-01-01T00:00:00.000000"]),
    st.sampled_from([(), ("entity", "prefix")]),
)
records = st.builds(
    Record,
    headers,
    st.sampled_from(METADATA).map(lambda text: wrapped(text).encode()),
    st.lists(st.sampled_from([b"<about/>", b"<about>2</about>"]), max_size=3).map(tuple),
)


def wrapped(metadata, attributes=""):
    return f'<metadata xmlns="{OAI}"{attributes}>{metadata.format(NAMESPACES)}</metadata>'


def edit_of_actions(record, listing):
    edit = RecordEdit(RecordPlace(record.header.identifier, "/x", "/"), None, None, None)
    plan = plan_record(edit.manifest, record, "2010-01-01T00:00:00", listing, lambda *_: None)
    _carry_out(plan.actions, edit)
    edit.seal()
    return edit


@pytest.fixture(scope="module", autouse=True)
def a_clock_that_stands_still():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recordsilo.records.edit.now_text", lambda: "2026-01-01T00:00:00.000000")
        yield


@settings(max_examples=examples(300), deadline=None)
@given(records, listings)
def test_the_first_state_is_what_the_plan_makes(record, listing):
    slow = edit_of_actions(record, listing)
    manifest, contents = first_state(record, "2010-01-01T00:00:00", listing)
    fast = RecordEdit.of_new(slow.place, manifest, contents, None, None)
    fast.seal()
    assert fast.manifest == slow.manifest
    assert list(fast.manifest.metadata) == list(slow.manifest.metadata)
    assert to_json(fast.manifest) == to_json(slow.manifest)
    assert fast.held_files("1") == slow.held_files("1")
    assert project(fast.manifest, fast.read) == project(slow.manifest, slow.read)
    assert (fast.changed, fast.exists) == (slow.changed, slow.exists) == (True, False)


def page_of(bodies, root="", listed="", record=""):
    items = "".join(
        f"<record{record}><header><identifier>{number}</identifier>"
        f"<datestamp>2010-01-01</datestamp></header>{body}</record>"
        for number, body in enumerate(bodies)
    )
    return (
        f'<OAI-PMH xmlns="{OAI}"{root}><responseDate>2010-01-01T00:00:00Z</responseDate>'
        f"<ListRecords{listed}>{items}</ListRecords></OAI-PMH>"
    ).encode()


def test_metadata_are_described_from_the_tree_as_from_their_bytes():
    german = ' xml:lang="de"'
    parsed = 0
    for places in product(["", german], repeat=4):
        *around, own = places
        bodies = [wrapped(one, own).replace(f' xmlns="{OAI}"', "") for one in METADATA]
        body = page_of(bodies, *around)
        for quick, plain in zip(
            read_records_to_store(body).items, read_records_mended(body).items, strict=True
        ):
            assert quick == plain
            assert type(plain.metadata) is bytes
            assert describe("oai_dc", quick.metadata) == describe("oai_dc", plain.metadata)
            parsed += type(quick.metadata) is ParsedBytes
    assert parsed == 2 * (len(METADATA) - 1), "no language from outside, no comment inside"


def files_of(directory):
    found = {}
    for place, _, names in os.walk(os.path.join(directory, "pairtree_root")):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                content = file.read()
            if b'"checksum"' in content:  # the time of the write, random names of staged files
                varying = rb'"changed": "[^"]+"|\.silo-[^"]+\.tmp|"checksum": "\w+"'
                content = re.sub(varying, b"", content)
            found[os.path.relpath(path, directory)] = content
    return found


def rows_of(directory):
    with sqlite3.connect(os.path.join(directory, ".silo", "index.sqlite")) as db:
        names = [row[1] for row in db.execute("PRAGMA table_info(record)")]
        kept = ", ".join(name for name in names if name not in {"mtime_ns", "inode"})
        return [
            *db.execute(f"SELECT {kept} FROM record ORDER BY identifier"),
            *db.execute("SELECT * FROM facet_value ORDER BY id"),
            *db.execute("SELECT count(*) FROM unsettled"),
        ]


def item(number, identifier, metadata):
    deleted = number % 5 == 3
    status = ' status="deleted"' if deleted else ""
    rest = "" if deleted else wrapped(metadata) + "<about><a/></about>" * (number % 3)
    return (
        f"<record><header{status}><identifier>{escape(identifier)}</identifier>"
        f"<datestamp>2010-01-0{number % 3 + 1}</datestamp><setSpec>s{number % 2}</setSpec>"
        f"</header>{rest}</record>"
    )


def pages():
    """Two formats of the same records; some are deleted, nested, doubled or repaired."""
    for metadata in (METADATA[0], METADATA[1]):
        items = [item(n, name, metadata) for n, name in enumerate([*ODD, "a:b:c:d", "oai:x:1"])]
        around = page_of([]).decode()
        yield around.replace("<ListRecords>", "<ListRecords>" + "".join(items)).encode()


def store(directory, read):
    with Silo(directory) as silo:
        for prefix, body in zip(("oai_dc", "uketd_dc"), pages(), strict=True):
            writer = SiloWriter(silo, Reception(prefix, "agent", "message"))
            outcome = writer.store(read(body), datetime(2026, 1, 1, tzinfo=UTC))
            yield outcome
        yield len(silo)


def test_a_harvest_writes_the_same_files_and_rows_in_one_step(tmp_path, monkeypatch):
    quick, slow = str(tmp_path / "quick"), str(tmp_path / "slow")
    outcomes = list(store(quick, read_records_to_store))
    monkeypatch.setattr(Batch, "create", lambda *_: False)
    assert list(store(slow, read_records_mended)) == outcomes
    assert files_of(quick) == files_of(slow)
    assert rows_of(quick) == rows_of(slow)
    assert outcomes[-1] == len(ODD) + 1
