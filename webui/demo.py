"""`silo demo`: harvest a complete sample repository into a Silo.

The sample repository is served on loopback while the command runs, so that the page can
harvest from it too. Its port may differ each time; the new address is then recorded in the
Silo, as ``silo harvest --moved`` does.
"""

import contextlib
import os
from collections.abc import Iterator
from urllib.parse import urlsplit

from oaipmhprovider.server import SampleServer
from oaipmhscraper.progress import Display
from oaipmhscraper.receipt import Receipt
from oaipmhscraper.scraper import OAIPMHScraper
from politeweb.listening import PortTaken, probe
from politeweb.loopback import LOOPBACK
from recordsilo import Silo
from recordsilo.errors import VERSION_FILE, RecordSiloError

SAMPLE_PORT, SIZE_WITH_PAGES = 8081, 40
PREFIXES = ("oai_dc", "uketd_dc", "pmc_fm")
AGENT = "silo demo"


class LinksElsewhere(RecordSiloError):
    """The links of an earlier demo lead to a port that is in use."""

    def __init__(self, directory: str, port: int) -> None:
        super().__init__(
            f"the links in {directory} lead to port {port} of this machine, which another program "
            "uses; end that, or name another directory"
        )


@contextlib.contextmanager
def sample_repository(directory: str, *, with_pages: bool = False) -> Iterator[SampleServer]:
    """Serve the sample repository at `SAMPLE_PORT`, or at a free port if that is taken.

    Args:
        directory: The directory of a new Silo, or of one that an earlier demo made.
        with_pages: Serve a part of it, with the pages to which its records lead; at the port of
            the earlier demo, because the links in the Silo have it.

    Raises:
        LinksElsewhere: That port is in use.
    """
    earlier = _port_of(directory) if with_pages else 0
    port = earlier or SAMPLE_PORT
    try:
        probe(LOOPBACK, port)
    except PortTaken:
        if earlier:
            raise LinksElsewhere(directory, port) from None
        port = 0
    with (
        SampleServer(port, size=SIZE_WITH_PAGES, with_pages=True)
        if with_pages
        else SampleServer(port)
    ) as server:
        yield server


def _port_of(directory: str) -> int:
    """The port from which a Silo was harvested; 0 if it was not harvested from this machine."""
    if not os.path.exists(os.path.join(directory, VERSION_FILE)):
        return 0
    with Silo(directory, create=False) as silo:
        address = urlsplit(str(silo.state.get("base_oai_url") or ""))
    return address.port or 0 if address.hostname == LOOPBACK else 0


class NotTheDemo(Exception):
    """The directory contains records of another repository, or of another kind of sample."""

    def __init__(self, directory: str, base_url: str, sample: SampleServer) -> None:
        kind = " with pages" if sample.has_pages else ""
        super().__init__(
            f"{directory} was harvested from {base_url}, not from the sample repository{kind}; "
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
            raise NotTheDemo(directory, str(remembered), sample)
        if remembered != sample.base_url:
            scraper.moved_to(sample.base_url)
    except BaseException:
        scraper.close()
        raise
    return scraper
