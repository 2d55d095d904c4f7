"""Repositories that need dates beside their tokens, or deny what a long window has."""

from dataclasses import replace
from datetime import timedelta

import pytest
from misbehaving import FunctionTransport
from misbehaving.lists_by_date import (
    confused_without_dates,
    nothing_in_long_windows,
    repository_by_date,
    requests_by_verb,
)

from oaipmhscraper.options import HarvestOptions
from oaipmhscraper.receipt import Outcome
from oaipmhscraper.scraper import OAIPMHScraper


def windows_of(days):
    return HarvestOptions(warc=False, window=timedelta(days=days))


def harvested(repository, directory, options):
    transport = FunctionTransport(repository)
    with OAIPMHScraper(directory, transport.base_url, transport=transport, quiet=True) as scraper:
        receipt = scraper.harvest(["oai_dc"], options=options)
        return receipt, len(scraper.store)


@pytest.mark.long
@pytest.mark.usefixtures("windows_that_end_on_one_day")
@pytest.mark.parametrize("days", [14, 60])
def test_a_token_that_leads_to_other_dates_is_sent_with_those_of_its_list(days, tmp_path):
    usual, confused = repository_by_date(size=600), repository_by_date(size=600)
    confused_without_dates(confused)
    harvested(usual, str(tmp_path / "usual"), windows_of(days))
    receipt, stored = harvested(confused, str(tmp_path / "silo"), windows_of(days))
    assert (receipt.whole, stored) == (True, 600)
    assert receipt.repairs == {"all arguments and both dates sent with the token": 1}
    more = requests_by_verb(confused) - requests_by_verb(usual)
    assert more.total() <= 2, "what one window taught holds for the others"


@pytest.mark.long
@pytest.mark.parametrize(
    "options", [windows_of(60), HarvestOptions(warc=False)], ids=["windows", "one list"]
)
def test_windows_shrink_before_it_is_believed_that_they_are_empty(options, tmp_path):
    repository = repository_by_date(nothing_in_long_windows(45), size=600)
    receipt, stored = harvested(repository, str(tmp_path / "silo"), options)
    assert (receipt.whole, stored) == (True, 600)
    assert receipt.repairs == {"long windows denied, shorter ones requested": 1}


@pytest.mark.long
def test_the_next_harvest_knows_how_long_windows_may_be(tmp_path):
    repository = repository_by_date(nothing_in_long_windows(45), size=400)
    transport = FunctionTransport(repository)
    url, directory = transport.base_url, str(tmp_path / "silo")
    with OAIPMHScraper(directory, url, transport=transport, quiet=True) as scraper:
        scraper.harvest(["oai_dc"], options=HarvestOptions(warc=False))
        first = repository_by_date(size=800).items
        repository.items = first
        assert scraper.update(options=HarvestOptions(warc=False)).counts[Outcome.NEW] == 0
        receipt = scraper.harvest(["oai_dc"], options=HarvestOptions(warc=False))
        assert (receipt.whole, len(scraper.store)) == (True, 800)


def test_what_is_empty_is_believed_after_a_few_requests(tmp_path):
    repository = repository_by_date(size=40)
    transport = FunctionTransport(repository)
    url, directory = transport.base_url, str(tmp_path / "silo")
    with OAIPMHScraper(directory, url, transport=transport, quiet=True) as scraper:
        options = HarvestOptions(warc=False)
        scraper.harvest(["oai_dc"], set_spec="empty", options=options)
        assert requests_by_verb(repository)["ListRecords"] <= 8
        scraper.harvest(["oai_dc"], options=options)
        repository.asked.clear()
        scraper.harvest(["oai_dc"], set_spec="empty", options=replace(options, anew=True))
        scraper.harvest(["oai_dc"], from_="2011-01-01", options=options)
        assert requests_by_verb(repository)["ListRecords"] <= 4, "a longer list had records"
