"""Repositories that need dates beside their tokens, or deny what a long window has."""

from datetime import timedelta

import pytest
from misbehaving import FunctionTransport
from misbehaving.lists_by_date import (
    confused_without_dates,
    repository_by_date,
    requests_by_verb,
)

from oaipmhscraper.harvests.job import HarvestOptions
from oaipmhscraper.scraper import OAIPMHScraper


def windows_of(days):
    return HarvestOptions(warc=False, window=timedelta(days=days))


def harvested(repository, directory, options):
    transport = FunctionTransport(repository)
    with OAIPMHScraper(directory, transport.base_url, transport=transport, quiet=True) as scraper:
        receipt = scraper.harvest(["oai_dc"], options=options)
        return receipt, len(scraper.store)


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
