"""`silo demo`: harvest a complete sample repository into a Silo.

The sample repository is served on loopback while the command runs, so that the page can
harvest from it too. Its port may differ each time; the new address is then recorded in the
Silo, as ``silo harvest --moved`` does.
"""

import contextlib
import os
from collections.abc import Iterator

from oaipmhprovider.server import SampleServer
from oaipmhscraper.progress import Display
from oaipmhscraper.receipt import Receipt
from oaipmhscraper.scraper import OAIPMHScraper
from recordsilo.silo import VERSION_FILE
from webui.server import PortTaken, probe

SAMPLE_PORT = 8081
PREFIXES = ("oai_dc", "uketd_dc", "pmc_fm")
AGENT = "silo demo"


@contextlib.contextmanager
def sample_repository() -> Iterator[SampleServer]:
    """Serve the sample repository at `SAMPLE_PORT`, or at a free port if that is taken."""
    try:
        probe("127.0.0.1", SAMPLE_PORT)
        port = SAMPLE_PORT
    except PortTaken:
        port = 0
    with SampleServer(port) as server:
        yield server


class NotTheDemo(Exception):
    """The directory contains records of another repository."""

    def __init__(self, directory: str, base_url: str) -> None:
        super().__init__(
            f"{directory} was harvested from {base_url}, not from the sample repository; "
            "name another directory, or none: silo demo DIR"
        )


def harvest_sample(directory: str, sample: SampleServer, progress: Display) -> Receipt:
    """Harvest every format of the sample repository, and the names of its sets.

    Args:
        directory: The directory of a new Silo, or of one that an earlier demo made.
        sample: The running sample repository.
        progress: Called after each page, to show the progress.

    Raises:
        NotTheDemo: The Silo was harvested from another repository; nothing is changed.
        ScraperError, OAIError: The repository did not answer.
        RecordSiloError: The directory is not a Silo, or the store failed.
    """
    with _scraper(directory, sample) as scraper:
        scraper.getSets()
        return scraper.harvest(PREFIXES, progress=progress)


def _scraper(directory: str, sample: SampleServer) -> OAIPMHScraper:
    if not os.path.exists(os.path.join(directory, VERSION_FILE)):
        return OAIPMHScraper(directory, sample.base_url, agent=AGENT, quiet=True)
    scraper = OAIPMHScraper(directory, agent=AGENT, quiet=True)
    remembered = scraper.store.state.get("base_oai_url")
    try:
        if scraper.identify()["repositoryName"] != sample.source.identify().repository_name:
            raise NotTheDemo(directory, str(remembered))
        if remembered != sample.base_url:
            scraper.moved_to(sample.base_url)
    except BaseException:
        scraper.close()
        raise
    return scraper
