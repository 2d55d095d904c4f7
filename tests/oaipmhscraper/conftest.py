"""Silos to harvest a fake repository into."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fake_repository import FakeRepository, client, dc, page, repository

from oaipmhclient.walk.windows import span
from oaipmhscraper.scraper import OAIPMHScraper
from recordsilo import Silo

__all__ = ["client", "dc", "page", "repository"]


@pytest.fixture
def silo_dir(tmp_path: Path) -> str:
    """Where a Silo may be made."""
    return str(tmp_path / "myrepo")


@pytest.fixture
def scraper(repository: FakeRepository, silo_dir: str) -> Iterator[OAIPMHScraper]:
    """A scraper of the repository, with a new Silo."""
    with OAIPMHScraper(silo_dir, "http://repo.example/oai", transport=repository) as made:
        yield made


@pytest.fixture
def silo(scraper: OAIPMHScraper) -> Silo:
    return scraper.store


@pytest.fixture
def windows_end_on(monkeypatch: pytest.MonkeyPatch) -> Callable[[datetime], None]:
    """Let windows be counted from a day, not from today, on which their boundaries depend."""

    def end_on(day: datetime) -> None:
        monkeypatch.setattr(
            "oaipmhscraper.harvests.job.span", lambda earliest, _now: span(earliest, day)
        )

    return end_on


@pytest.fixture
def windows_that_end_on_one_day(windows_end_on: Callable[[datetime], None]) -> None:
    windows_end_on(datetime(2026, 11, 24, tzinfo=UTC))
