"""Servers of others, harvested whole: pycsw 2.6.2, oai_repo 0.5.2 and pyoai 2.5.0.

They run in environments of their own, made by ``real_servers/install.py``.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from examples import family
from lxml import etree
from real_servers.running import QUERIES, TITLES, NotInstalled, running

from oaipmhscraper.scraper import OAIPMHScraper
from politeweb.settings import HttpSettings

pytestmark = pytest.mark.timeout(900)

TITLE = "{http://purl.org/dc/elements/1.1/}title"


@pytest.fixture(params=family(QUERIES, 1))
def base_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A server that runs until the test is over."""
    try:
        with running(request.param, tmp_path) as url:
            yield url
    except NotInstalled as reason:
        pytest.skip(str(reason))


@pytest.fixture
def scraper(base_url: str, tmp_path: Path) -> Iterator[OAIPMHScraper]:
    settings = HttpSettings(first_pause=0.01)
    with OAIPMHScraper(str(tmp_path / "silo"), base_url, settings=settings) as made:
        yield made


def titles(scraper: OAIPMHScraper) -> dict[str, str | None]:
    found = {}
    for name, record in scraper.store.items():
        with record.get_stream("oai_dc") as stream:
            found[name] = etree.parse(stream).findtext(f".//{TITLE}")
    return found


def test_every_record_of_it_is_harvested_and_an_update_changes_nothing(scraper):
    receipt = scraper.harvest(["oai_dc"])
    assert titles(scraper) == TITLES
    assert receipt.whole
    assert receipt.counts.stored == len(TITLES)
    assert scraper.getMetadataPrefixes()["oai_dc"][1].endswith("/oai_dc/")

    again = scraper.harvest(["oai_dc"])
    assert (again.whole, again.counts.written) == (True, 0)
