"""Continuing in a Silo that the library of 2010 harvested."""

import os
import tarfile

import pytest

from oaipmhscraper.scraper import OAIPMHScraper

ARCHIVE = os.path.join(os.path.dirname(__file__), "..", "recordsilo", "data", "silo-2010.tar.gz")
PLACE = "oai:eprints.example.org:"


@pytest.fixture
def scraper(tmp_path, repository):
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    directory = str(tmp_path / "silo-2010")
    with OAIPMHScraper(directory, transport=repository, quiet=True) as opened:
        yield opened


def listed_as_stored(repository, silo, short, version, datestamp):
    """The repository lists what version `version` holds."""
    with silo[short].get_stream("oai_dc", version) as stream:
        metadata = stream.read().decode()
    begin, end = metadata.index(">") + 1, metadata.rindex("</")
    repository.add(PLACE + short, datestamp, formats={"oai_dc": metadata[begin:end]})


def test_the_directory_alone_is_enough(scraper):
    assert scraper.store.state["base_oai_url"] == "http://eprints.example.org/cgi/oai2"
    assert scraper.identify()["repositoryName"] == "Repository of tests"


def test_what_is_as_it_was_in_2010_makes_no_version(repository, scraper):
    silo = scraper.store
    listed_as_stored(repository, silo, "6102", "1", "2011-01-01")
    listed_as_stored(repository, silo, "61", "2", "2009-01-02")
    counts = scraper.getRecords("oai_dc").counts.to_json()
    assert (counts["unchanged"], counts["written"]) == (2, 0)
    assert silo["6102"].versions == ["1", "workingcopy"]
    assert dict(silo["6102"].origin("1").prefixes) == {"oai_dc": "2011-01-01T00:00:00"}
    assert silo["61"].versions == ["1", "2"]


def test_what_changed_since_is_the_next_version(repository, scraper):
    repository.add(PLACE + "61", "2011-01-01", "Changed")
    repository.add(PLACE + "6", "2011-01-01", "Changed")
    assert scraper.getRecords("oai_dc").counts.to_json()["updated"] == 2
    assert scraper.store["61"].versions == ["1", "2", "3"]
    assert scraper.store["61"].currentversion == "3"
    curated = scraper.store["6"]
    assert (curated.versions, curated.currentversion) == (["1", "delta", "2"], "delta")


def test_what_was_deleted_in_2010_is_deleted_again_or_comes_back(repository, scraper):
    silo = scraper.store
    repository.add(PLACE + "gone", "2011-01-01").deleted = True
    scraper.getRecords("oai_dc")
    assert silo["gone"].versions == ["1"]
    assert silo["gone"].metadata["deleted_at_date"] == "2011-01-01T00:00:00"
    repository.add(PLACE + "gone", "2011-02-01")
    scraper.getRecords("oai_dc")
    assert silo["gone"].versions == ["1", "2"]
    assert "deleted_at_version" not in silo["gone"].metadata
