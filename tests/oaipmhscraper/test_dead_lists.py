"""Repositories whose ListRecords is of no use: what one window showed holds for the next."""

from dataclasses import replace
from datetime import timedelta

import pytest
from misbehaving import FunctionTransport, MisbehavingServer
from misbehaving.lists_by_date import (
    list_records_is_dead,
    repository_by_date,
    requests_by_verb,
)
from misbehaving.repository import changed, html

from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhscraper.options import MOST_IN_FLIGHT, HarvestOptions
from oaipmhscraper.scraper import OAIPMHScraper

WINDOWS = HarvestOptions(warc=False, window=timedelta(days=14))
A_LIST = HarvestOptions(warc=False)
FIRST = HarvestOptions(warc=False, identifiers_first=True)


def harvested(repository, directory, options):
    transport = FunctionTransport(repository)
    with OAIPMHScraper(directory, transport.base_url, transport=transport, quiet=True) as scraper:
        receipt = scraper.harvest(["oai_dc"], options=options)
        return receipt, len(scraper.store)


@pytest.mark.long
@pytest.mark.parametrize("options", [WINDOWS, A_LIST], ids=["windows", "a list"])
def test_a_dead_list_costs_a_few_requests_and_not_some_for_each_window(options, tmp_path):
    size = 600
    repository = repository_by_date(list_records_is_dead, size=size)
    receipt, stored = harvested(repository, str(tmp_path / "silo"), options)
    assert (receipt.whole, stored) == (True, size)
    sent = requests_by_verb(repository)
    assert sent["GetRecord"] == size
    assert sent["ListRecords"] <= 30, "each is sent five times"
    assert sent["Identify"] <= 8


def test_identifiers_first_never_tries_the_list(tmp_path):
    repository = repository_by_date(list_records_is_dead, size=200)
    receipt, stored = harvested(repository, str(tmp_path / "silo"), FIRST)
    assert (receipt.whole, stored) == (True, 200)
    sent = requests_by_verb(repository)
    assert (sent["ListRecords"], sent["Identify"], sent["GetRecord"]) == (0, 1, 200)


def test_where_identifiers_come_first_and_cannot_be_listed_the_list_is_tried(tmp_path):
    repository = repository_by_date(size=200)

    @changed(repository, "reply")
    def reply(step, asked):
        return html(500) if asked.verb == "ListIdentifiers" else step(asked)

    receipt, stored = harvested(repository, str(tmp_path / "silo"), FIRST)
    assert (receipt.whole, stored) == (True, 200)


@pytest.mark.parametrize("window", [None, timedelta(days=14)], ids=["one list", "windows"])
def test_several_records_are_in_flight_at_once(window, tmp_path):
    repository = repository_by_date(size=200)

    @changed(repository, "reply")
    def reply(step, asked):
        return replace(step(asked), pause=0.005)

    server = MisbehavingServer(repository)
    try:
        directory, url = str(tmp_path / "silo"), server.base_url
        with OAIPMHScraper(directory, url, quiet=True) as scraper:
            assert scraper.harvest(["oai_dc"], options=replace(FIRST, window=window)).whole
    finally:
        server.close()
    singles = [one for one in repository.asked if one.verb == "GetRecord"]
    assert len(singles) == 200
    beside = max(one.beside for one in singles)
    assert 0 < beside < MOST_IN_FLIGHT


def test_one_list_that_begins_brings_the_others_back():
    quirks = EndpointMemory(lists_in_vain=2)
    assert not quirks.lists_are_dead
    quirks.lists_in_vain = 3
    assert quirks.lists_are_dead
    quirks.identifiers_work = False
    assert not quirks.lists_are_dead


def test_the_next_run_tries_the_list_again(tmp_path):
    repository = repository_by_date(list_records_is_dead, size=100)
    harvested(repository, str(tmp_path / "silo"), A_LIST)
    mended = repository_by_date(size=100)
    receipt, _ = harvested(mended, str(tmp_path / "silo"), A_LIST)
    assert receipt.whole
    assert requests_by_verb(mended)["GetRecord"] == 0
