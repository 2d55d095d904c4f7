"""`Client.list_records` without a Silo, with repositories that misbehave."""

from collections import Counter

import pytest
from misbehaving import FAULTS, FunctionTransport, identifier, repository_with
from misbehaving.repository import Condition, Instead, changed, html

from oaipmhclient.client import Client
from oaipmhprotocol import BadArgument
from politeweb.errors import HTTPStatusError, RequestRefused

EVERYTHING = [identifier(number) for number in range(1, 56)]
BREAKING = [
    "a_page_always_cut_short",
    "a_poisoned_record",
    "a_record_that_poisons_its_page",
    "a_record_without_the_format",
    "deep_paging_fails",
    "html_for_a_page",
    "list_ends_after_two_pages",
    "no_records_match_in_mid_list",
    "one_list_at_a_time",
    "third_page_leads_to_itself",
    "token_of_the_third_page_refused",
    "tokens_expire",
    "tokens_work_once",
]
"""Faults that break a list off; the others are walked through (test_list_walk)."""


def listed(repository, **selection):
    client = Client(FunctionTransport(repository))
    return [record.header.identifier for record in client.list_records("oai_dc", **selection)]


@pytest.mark.parametrize("fault", BREAKING)
def test_a_list_that_breaks_off_is_brought_home_each_record_once(fault):
    found = listed(repository_with(fault))
    assert Counter(found) == Counter(FAULTS[fault].attainable)


@pytest.mark.parametrize(
    "fault", ["a_poisoned_record", "a_page_always_cut_short", "html_for_a_page"]
)
def test_one_record_that_cannot_be_sent_costs_few_requests(fault):
    repository = repository_with(fault)
    listed(repository)
    assert len(repository.asked) < 60  # a failing request is sent five times


def test_identifiers_are_listed_as_records_are():
    client = Client(FunctionTransport(repository_with("third_page_leads_to_itself")))
    assert [header.identifier for header in client.list_identifiers()] == EVERYTHING


@pytest.mark.parametrize("pair", [("tokens_wanted_verbatim", "list_ends_after_two_pages")])
def test_two_faults_at_once_are_no_more_than_the_two(pair):
    assert sorted(listed(repository_with(*pair))) == EVERYTHING


def test_an_unsorted_list_that_ends_early_is_split():
    repository = repository_with("list_ends_after_two_pages")

    @changed(repository, "chosen")
    def chosen(step, place):
        return step(place)[::-1]

    assert sorted(listed(repository)) == EVERYTHING


def test_splitting_stops_at_what_the_user_asked_for():
    repository = repository_with("a_poisoned_record")
    found = listed(repository, from_="2010-03-01", until="2011-03-01")
    dates = {item.identifier: item.datestamp.date().isoformat() for item in repository.items}
    lost = FAULTS["a_poisoned_record"].lost
    wanted = {one for one, date in dates.items() if "2010-03-01" <= date <= "2011-03-01"} - lost
    assert set(found) == wanted


def test_a_list_that_cannot_be_had_in_any_way_raises_what_broke_it():
    repository = repository_with()

    @changed(repository, "place")
    def place(step, asked):
        raise Condition("badArgument", "not today")

    with pytest.raises(BadArgument, match="not today"):
        listed(repository)


def test_an_endpoint_that_is_gone_is_told_at_once():
    repository = repository_with()

    @changed(repository, "reply")
    def reply(step, asked):
        raise Instead(html(404))

    with pytest.raises(HTTPStatusError):
        listed(repository)
    assert len(repository.asked) == 2


def test_a_wrong_selection_is_refused_before_anything_is_sent():
    client = Client(FunctionTransport(repository_with()))
    with pytest.raises(RequestRefused):
        client.record_pages("no prefix")
    with pytest.raises(RequestRefused):
        client.record_pages("oai_dc", from_="2012-01-01", until="2011-01-01")
