"""A script as a user writes it: checked by mypy --strict and by pyright against the wheel."""

import sys

import recordsilo
from oaipmhscraper import OAIPMHScraper
from recordsilo import HarvestedRecord, Row, SearchFilters, Silo
from recordsilo.panels import Panel
from silofleet.errors import FleetError
from silowork.work import Kind
from usagestats.errors import UsageError

NOT_WELL: tuple[type[Exception], ...] = (UsageError, FleetError)


def titles(silo: Silo, query: str) -> dict[str, str]:
    """Identifier → title of what a search finds."""
    rows: list[Row] = list(silo.search(query).rows)
    return {row.identifier: row.title for row in rows}


def curated(silo: Silo) -> list[HarvestedRecord]:
    """The curated records."""
    return [silo[row.identifier] for row in silo.found(SearchFilters(flags={"curated": True}))]


def harvest(url: str, directory: str) -> str:
    """Harvest by the interface of 2010."""
    scraper = OAIPMHScraper(directory, base_oai_url=url)
    scraper.getRecords(metadataPrefix="oai_dc")
    return recordsilo.__version__


def kinds() -> list[type[object]]:
    """What packages contribute."""
    return [Panel, Kind]


if __name__ == "__main__":
    with Silo(sys.argv[1], create=False) as opened:
        print(titles(opened, sys.argv[2]))
