"""A page whose plain records are written in one pass leaves the same Silo as any other page."""

import os
import random
import re
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import quoteattr

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_pages import DC, agents, page_of, pages
from memory import MEMORY

from oaipmhclient.mending.repair import read_records_to_store
from oaipmhprotocol import Granularity
from oaipmhprovider.sample.repository import SampleRepository
from oaipmhprovider.source import Selection
from oaipmhscraper.storing import silo_writer
from oaipmhscraper.storing.silo_writer import SiloWriter
from oaipmhscraper.storing.storing_rules import Reception
from recordsilo import Silo
from recordsilo.records.creation import Creation

LISTING = Reception("oai_dc", "harvester 1", "http://example.org/oai")
NOW = "2026-01-01T00:00:00.000000"
RECEIVED = datetime(2026, 1, 1, tzinfo=UTC)
GOLDEN = Path(__file__).parents[1] / "recordsilo" / "formats" / "golden"
SAMPLES = [path.read_text(encoding="utf-8") for path in sorted(GOLDEN.glob("*.xml"))]
OF_THIS_FILE = {"mtime_ns", "inode"}
"""Columns that say which file was read."""


@pytest.fixture(scope="module", autouse=True)
def a_clock_that_stands_still():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recordsilo.records.edit.now_text", lambda: NOW)
        patch.setattr("recordsilo.records.manifest.now_text", lambda: NOW)
        yield


def on_disk(path):
    """Name below a Silo → mode, and bytes of a file; without the index, whose rows are compared."""
    found = {}
    for directory, _, names in os.walk(path):
        found[os.path.relpath(directory, path)] = os.stat(directory).st_mode
        for name in names:
            if not name.startswith("index.sqlite"):
                place = f"{directory}/{name}"
                read = Path(place).read_bytes()
                found[os.path.relpath(place, path)] = (os.stat(place).st_mode, read)
    for own in (".silo/created", "persisted_state.json"):  # when, and where
        found.pop(own, None)
    return found


def in_index(path):
    """Table → its rows, in order: the words of the texts, too."""
    with sqlite3.connect(f"{path}/.silo/index.sqlite") as database:
        tables = database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
        ).fetchall()
        found = {}
        for (table,) in tables:
            told = database.execute(f"SELECT name FROM pragma_table_info('{table}')")
            columns = [f'"{one}"' for (one,) in told if one not in OF_THIS_FILE]
            rows = database.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
            found[table] = [row for row in rows if row[0] != "beside"]  # a random number
    database.close()
    return found


def stored(path, bodies, listing=LISTING):
    """Store pages; how many records took the pass, what was told of each, and the rows."""
    made = []
    begin = Creation.__init__
    with pytest.MonkeyPatch.context() as patch, Silo(path) as silo:
        patch.setattr(Creation, "__init__", lambda *given: made.append(given) or begin(*given))
        writer = SiloWriter(silo, listing)
        told = [writer.store(read_records_to_store(body), RECEIVED) for body in bodies]
        rows = [*silo.found()]
    return len(made), told, rows


def check_alike(bodies, listing=LISTING):
    """Store pages in two Silos, with and without the pass; how many records took it."""
    with TemporaryDirectory(dir=MEMORY) as directory:
        quick, *told = stored(f"{directory}/a", bodies, listing)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(silo_writer, "plain_records", lambda listing: None)
            none, *told_in_general = stored(f"{directory}/b", bodies, listing)
        assert none == 0
        assert told == told_in_general
        assert on_disk(f"{directory}/a") == on_disk(f"{directory}/b")
        assert in_index(f"{directory}/a") == in_index(f"{directory}/b")
    return quick


def test_samples_of_all_formats_leave_the_same_silo():
    documents = [re.sub(r"^<\?.*?\?>|^<metadata[^>]*>|</metadata>\s*$", "", one) for one in SAMPLES]
    assert check_alike([page_of(documents)]) == 1


@pytest.mark.long
def test_the_records_of_the_sample_repository_leave_the_same_silo():
    source = SampleRepository(200, "http://example.org/oai", Granularity.DAY, "example.org")
    for prefix in [one.prefix for one in source.formats()]:
        held = source.records(Selection(prefix), None, 200)
        documents = [one.metadata.decode() for one in held if one.metadata]
        bodies = [page_of(documents[:120], deleted={3}), page_of(documents[60:])]
        listing = Reception(prefix, "a", "b")
        assert (check_alike(bodies, listing) > 100) == (prefix == "oai_dc")


@pytest.mark.long
@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(pages, min_size=1, max_size=3),
    st.just(LISTING) | st.builds(Reception, st.just("oai_dc"), agents, agents),
)
def test_made_up_pages_leave_the_same_silo(bodies, listing):
    check_alike(bodies, listing)


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
        assert [row.title for row in silo.found()] == ["T", "T", ""]


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
