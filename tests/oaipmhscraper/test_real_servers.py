"""Servers of others, harvested whole: pycsw 2.6.2, oai_repo 0.5.2 and pyoai 2.5.0.

They run in environments of their own, made by ``real_servers/install.py``.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree

from oaipmhscraper.http_settings import HttpSettings
from oaipmhscraper.scraper import OAIPMHScraper

pytestmark = pytest.mark.timeout(120)

SERVERS = Path(__file__).parent / "real_servers"
ENVIRONMENTS = Path(
    os.environ.get("OAI_PMH_SERVERS") or Path(__file__).parents[2] / ".venv" / "servers"
)
QUERIES = {"pycsw": "?mode=oaipmh", "oai_repo": "", "pyoai": ""}
NUMBERS = range(1, 56)
IDENTIFIERS = {f"oai:real.example:{number:04}" for number in NUMBERS}
TITLE = "{http://purl.org/dc/elements/1.1/}title"


def start(name: str, directory: Path) -> subprocess.Popen[str]:
    python = ENVIRONMENTS / name / "bin" / "python"
    if not python.exists():
        pytest.skip(f"{name} is not there: python {SERVERS / 'install.py'} {ENVIRONMENTS}")
    script = SERVERS / f"{name}_server.py"
    with (directory / f"{name}.log").open("w") as log:
        return subprocess.Popen(
            [python, "-W", "ignore", script, directory],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )


@pytest.fixture(params=sorted(QUERIES))
def base_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A server that runs until the test is over."""
    with start(request.param, tmp_path) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            assert port, (tmp_path / f"{request.param}.log").read_text()[-2000:]
            yield f"http://127.0.0.1:{port}/{QUERIES[request.param]}"
        finally:
            process.kill()


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
    assert titles(scraper) == {
        f"oai:real.example:{number:04}": f"Record {number:04}: Smith & Sons – naïve café"
        for number in NUMBERS
    }
    assert receipt.whole
    assert receipt.counts.stored == len(NUMBERS)
    assert scraper.getMetadataPrefixes()["oai_dc"][1].endswith("/oai_dc/")

    again = scraper.harvest(["oai_dc"])
    assert (again.whole, again.counts.written) == (True, 0)
