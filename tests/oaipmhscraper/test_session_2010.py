"""The harvest-and-curate session of 2010, step by step, against the sample repository."""

import ast
import logging
import os
import subprocess
import sys
import textwrap
from datetime import UTC, datetime

import pytest
from lxml import etree

from oaipmhprotocol import Granularity
from oaipmhprovider.sample import sample_repository
from oaipmhprovider.sample.mutable_source import MutableSource
from oaipmhprovider.server import ProviderServer
from oaipmhscraper import OAIPMHScraper
from recordsilo import Silo

SIZE = 1000
READER = textwrap.dedent(
    """
    import os, sys
    from lxml import etree
    from recordsilo import Silo

    directory, stop = sys.argv[1:]
    before = rounds = 0
    while True:
        last = os.path.exists(stop)
        with Silo(directory, create=False) as silo:
            now = len(silo)
            assert now >= before, (before, now)
            for identifier in silo:
                record = silo[identifier]
                assert record.item_id == identifier
                for name in record.files:
                    with record.get_stream(name) as stream:
                        etree.fromstring(stream.read())
        before, rounds = now, rounds + 1
        if last:
            break
    print(before, rounds)
    """
)


@pytest.fixture(scope="module")
def source():
    return MutableSource(sample_repository(SIZE, granularity=Granularity.DAY))


@pytest.fixture(scope="module")
def server(source):
    with ProviderServer(source) as running:
        yield running


@pytest.fixture(scope="module")
def session(server, tmp_path_factory):
    """The directory of the session, harvested once while another process reads it."""
    directory = str(tmp_path_factory.mktemp("session") / "myrepo")
    stop = directory + ".stop"
    with OAIPMHScraper(directory, server.base_url, "oai:eprints.example.org:") as scraper:
        reader = subprocess.Popen(
            [sys.executable, "-c", READER, directory, stop],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            scraper.getRecords("oai_dc")
        finally:
            with open(stop, "w", encoding="ascii"):
                pass
            out, errors = reader.communicate()
    assert reader.returncode == 0, errors
    return directory, out


def test_the_repository_is_identified_and_the_state_is_a_dict_literal(session, server):
    directory, _ = session
    with OAIPMHScraper(directory) as scraper:
        state = ast.literal_eval(repr(scraper.state))
    assert list(state)[:2] == ["lastidentified", "identify"]
    assert list(state["identify"]) == [
        "repositoryName", "baseURL", "protocolVersion", "adminEmails", "earliestDatestamp",
        "deletedRecord", "granularity", "compression", "descriptions",
    ]  # fmt: skip
    assert state["identify"]["baseURL"] == server.base_url
    assert state["identify"]["granularity"] == "YYYY-MM-DD"
    assert datetime.fromisoformat(state["lastidentified"])
    assert all(isinstance(text, str) for text in state["identify"]["descriptions"])


def test_formats_are_given_with_schema_and_namespace(session):
    directory, _ = session
    with OAIPMHScraper(directory) as scraper:
        assert scraper.getMetadataPrefixes()["oai_dc"] == (
            "http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
            "http://www.openarchives.org/OAI/2.0/oai_dc/",
        )


def test_another_process_saw_only_sound_records_and_more_and_more_of_them(session):
    _, out = session
    seen, rounds = map(int, out.split())
    assert seen == SIZE
    assert rounds >= 2


def test_the_silo_remembers_its_settings(session, server):
    directory, _ = session
    with Silo(directory) as silo:
        assert ast.literal_eval(repr(silo.state)) == {
            "storage_dir": directory,
            "uri_base": server.base_url,
            "identifier_uri_prefix": "oai:eprints.example.org:",
            "base_oai_url": server.base_url,
        }
        assert len(silo) == SIZE


def test_curating_leaves_the_harvested_version_untouched(session, tmp_path):
    directory, _ = session
    readme = tmp_path / "readme"
    readme.write_text("Read me.\n", encoding="utf-8")
    with Silo(directory) as silo:
        identifier = next(row.identifier for row in silo.page(deleted=False).rows)
        obj = silo.get_item(identifier)
        shown = ast.literal_eval(repr(obj))
        stamp = shown["date"]
        assert datetime.fromisoformat(stamp).time().isoformat() == "00:00:00"
        assert shown["files"] == {"1": ["oai_dc"]}
        assert shown["subdir"] == {"1": []}
        assert shown["metadata_files"] == {"1": ["oai_dc"]}
        assert shown["version_dates"] == {"1": stamp}
        assert (shown["versions"], shown["currentversion"]) == (["1"], "1")
        assert shown["metadata"]["identifier"] == identifier
        assert shown["metadata"]["firstSeen"] == stamp
        assert isinstance(shown["metadata"]["setSpec"], list)

        assert obj.clone_version("1", "workingcopy") == "workingcopy"
        assert (obj.versions, obj.currentversion) == (["1", "workingcopy"], "workingcopy")
        assert obj.set_version_cursor("1") is True
        assert obj.files == ["oai_dc"]
        assert obj.set_version_cursor("workingcopy") is True
        with obj.get_stream("oai_dc") as stream:
            metadata = etree.fromstring(stream.read())
        assert metadata.tag == "{http://www.openarchives.org/OAI/2.0/}metadata"
        assert metadata[0].tag == "{http://www.openarchives.org/OAI/2.0/oai_dc/}dc"

        obj.put_stream("foo.txt", "text")
        with open(readme, encoding="utf-8") as file:
            obj.put_stream("README", file)
        assert obj.files == ["oai_dc", "foo.txt", "README"]
        obj.set_version_cursor("1")
        assert obj.files == ["oai_dc"]
        plain = obj.to_dirpath(version="workingcopy")
        assert sorted(os.listdir(plain)) == ["README", "foo.txt", "oai_dc"]
        short = identifier.removeprefix("oai:eprints.example.org:")
    with Silo(directory) as silo:
        obj = silo.get_item(short)
        assert obj.item_id == identifier
        assert obj.versions == ["1", "workingcopy"]
        with obj.get_stream("foo.txt", "workingcopy") as stream:
            assert stream.read() == b"text"


def test_a_later_update_brings_what_changed_and_nothing_else(session, source, caplog):
    directory, _ = session
    with Silo(directory) as silo:
        rows = silo.page(deleted=False, limit=12).rows[8:]
    changed, deleted, touched = (row.identifier for row in rows[:3])
    now = datetime.now(UTC)
    end = b"</oai_dc:dc>"
    source.revise(changed, now, lambda text: text.replace(end, b"<!-- revised -->" + end))
    source.delete(deleted, now)
    source.revise(touched, now)
    caplog.set_level(logging.INFO, "OAIPMH Harvester")
    with OAIPMHScraper(directory) as scraper:
        counts = scraper.getRecords("oai_dc", update=True).counts.to_json()
        silo = scraper.store
        assert (counts["updated"], counts["unchanged"], counts["deleted"]) == (1, 1, 1)
        assert silo[changed].versions == ["1", "2"]
        assert silo[touched].versions == ["1"]
        assert silo.row(deleted).deleted
        assert len(silo) == SIZE
    messages = [record.getMessage() for record in caplog.records]
    assert sorted(message.split()[0] for message in messages) == ["Deleted", "Updated"]
