"""Records fetched one by one, and lists completed by their identifiers."""

from datetime import timedelta

import pytest
from misbehaving import DELETED, FunctionTransport, identifier, repository_with
from misbehaving.repository import Condition, Instead, changed, html, many_items

from oaipmhclient.client import Client
from oaipmhclient.walk.by_identifier import pages_by_identifier
from oaipmhclient.walk.completeness import (
    CountFinding,
    Length,
    ListedSoFar,
    doubt_left,
    ended_alike,
    reason_to_count,
    settled,
)
from oaipmhclient.walk.counting import MOST_SINGLY, Counting, settle
from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhclient.walk.listed_pages import RECORDS
from oaipmhclient.walk.values import GiveUp, ListJob, WindowBroken
from oaipmhclient.walk.whole_lists import whole_list
from oaipmhclient.walk.windows import Window
from oaipmhprotocol import Granularity
from politeweb.errors import HTTPStatusError

ALL = ListJob("oai_dc")
EVERYTHING = [identifier(number) for number in range(1, 56)]
LIVING = [identifier(number) for number in range(1, 56) if number not in DELETED]


@pytest.fixture
def repository():
    return repository_with()


def one_by_one(repository, known=frozenset(), window=None, job=ALL, quirks=None):
    client = Client(FunctionTransport(repository))
    return list(
        pages_by_identifier(client, job, window or Window(), known, quirks or EndpointMemory())
    )


def identifiers(pages):
    return [record.header.identifier for page in pages for record in page.page.items]


def unreachable(pages):
    return {one.identifier: one.reason for page in pages for one in page.unreachable}


def asked(repository, verb):
    return [one.params.get("identifier") for one in repository.asked if one.verb == verb]


def test_every_record_is_got_and_deleted_ones_are_taken_from_their_headers(repository):
    pages = one_by_one(repository)
    assert identifiers(pages) == EVERYTHING
    assert asked(repository, "GetRecord") == LIVING
    deleted = [r.header.identifier for p in pages for r in p.page.items if r.header.deleted]
    assert deleted == [identifier(number) for number in sorted(DELETED)]
    assert all(r.metadata for p in pages for r in p.page.items if not r.header.deleted)
    assert [page.position.ended for page in pages] == [False, False, True]
    assert pages[-1].position.listed == 55


def test_what_is_known_is_counted_and_not_fetched(repository):
    pages = one_by_one(repository, known=set(EVERYTHING[:50]))
    assert identifiers(pages) == EVERYTHING[50:]
    assert asked(repository, "GetRecord") == EVERYTHING[50:]
    assert pages[-1].position.listed == 55


def test_only_the_window_is_listed(repository):
    pages = one_by_one(repository, window=Window("2010-08-15T10:27:00Z", "2010-08-15T10:27:00Z"))
    assert identifiers(pages) == [identifier(number) for number in (27, 28, 29)]


def test_what_cannot_be_had_is_named_with_its_reason_and_its_neighbours_come(repository):
    @changed(repository, "record")
    def record(step, item):
        if item.number == 7:
            raise Instead(html(500))
        if item.number == 9:
            raise Condition("cannotDisseminateFormat")
        if item.number == 11:
            item = repository.items[0]
        return step(item)

    pages = one_by_one(repository)
    lost = [identifier(number) for number in (7, 9, 11)]
    assert identifiers(pages) == [one for one in EVERYTHING if one not in lost]
    reasons = unreachable(pages)
    assert list(reasons) == lost
    assert "HTTP 500" in reasons[lost[0]]
    assert "cannotDisseminateFormat" in reasons[lost[1]]
    assert reasons[lost[2]] == f"is answered with another record, {EVERYTHING[0]}"


def test_a_record_that_needs_mending_is_mended(repository):
    @changed(repository, "title")
    def title(step, item):
        return "Smith & Sons" if item.number == 3 else step(item)

    pages = one_by_one(repository)
    assert identifiers(pages) == EVERYTHING
    assert dict(pages[0].page.mended) == {2: ("bare ampersand escaped",)}
    assert pages[0].page.repairs["bare ampersand escaped"] == 1
    assert b"Smith &amp; Sons" in pages[0].page.items[2].metadata


def test_an_endpoint_that_goes_away_stops_it(repository):
    @changed(repository, "reply")
    def reply(step, asked):
        return step(asked) if asked.verb == "ListIdentifiers" else html(503)

    with pytest.raises(HTTPStatusError):
        one_by_one(repository)


def test_identifiers_that_cannot_be_listed_give_the_window_up(repository):
    @changed(repository, "place")
    def place(step, asked):
        if asked.verb == "ListIdentifiers":
            raise Condition("badVerb")
        return step(asked)

    quirks = EndpointMemory()
    with pytest.raises(WindowBroken) as raised:
        one_by_one(repository, quirks=quirks)
    assert raised.value.remedy == GiveUp()
    assert not quirks.identifiers_work


def test_identifiers_that_are_all_one_are_of_no_use():
    quirks = EndpointMemory()
    with pytest.raises(WindowBroken):
        one_by_one(repository_with("all_identifiers_the_same"), quirks=quirks)
    assert not quirks.identifiers_work


@pytest.mark.parametrize("code", ["noRecordsMatch", "badArgument", "noSetHierarchy"])
def test_sets_that_list_identifiers_does_not_know_are_read_from_headers(repository, code):
    @changed(repository, "place")
    def place(step, asked):
        if asked.verb == "ListIdentifiers" and "set" in asked.params:
            raise Condition(code)
        return step(asked)

    pages = one_by_one(repository, job=ListJob("oai_dc", "history"))
    assert identifiers(pages) == [identifier(number) for number in range(2, 56, 2)]


@pytest.mark.parametrize(
    "fault",
    ["list_ends_early_and_promises_nothing", "headers_inside_records", "list_shifts_while_paging"],
)
def test_a_list_that_ends_early_without_a_word_is_settled(fault):
    repository = repository_with(fault)
    client = Client(FunctionTransport(repository))
    quirks = EndpointMemory()
    pages = list(whole_list(client, RECORDS, ALL, quirks))
    known = {record.header.identifier for page in pages for record in page.page.items}
    promised = pages[-1].position.promised
    steps = [step for page in pages for step in page.steps]
    assert known < set(EVERYTHING)
    assert reason_to_count(ListedSoFar(promised, len(known), steps), quirks)
    longest = Length(len(known), len(pages))
    what = Counting(promised, len(known), longest, Granularity.SECOND)
    pages = list(settle(client, ALL, known, quirks, what))
    assert known.union(identifiers(pages)) == set(EVERYTHING)
    assert pages[-1].position.listed == 55
    assert pages[-1].steps == ("identifiers counted in lists that ended elsewhere",)
    assert set(identifiers(pages)).isdisjoint(known)


def test_many_missing_records_are_listed_before_they_are_got_one_by_one(repository):
    repository.items, repository.page_size = many_items(2000, apart=timedelta(hours=1)), 100
    client = Client(FunctionTransport(repository))
    what = Counting(2000, 20, Length(20, 2), Granularity.SECOND)
    known: set[str] = {item.identifier for item in repository.items[:20]}
    for page in settle(client, ALL, known, EndpointMemory(), what):
        known.update(identifiers([page]))
    assert len(known) == 2000
    assert len(asked(repository, "GetRecord")) <= 3 * MOST_SINGLY  # of the list and its halves
    assert len(repository.asked) < 3 * MOST_SINGLY + 4 * 2000 / 100


UNPROMISED = "end of a list that promised nothing"
SHORT = "end of a list short of what it promised"
ELSEWHERE, WIDER, DOUBTED, LACKING, UNLISTED = CountFinding


@pytest.mark.parametrize(
    ("counted", "findings", "listed", "number"),
    [
        (55, [], ListedSoFar(None, 55), 55),
        (55, [], ListedSoFar(50, 55), 55),
        (55, [], ListedSoFar(60, 55), None),
        (55, [ELSEWHERE], ListedSoFar(60, 55), 55),
        (50, [ELSEWHERE], ListedSoFar(60, 55), None),  # windows leave some out
        (999, [ELSEWHERE], ListedSoFar(None, 1000), 999),
        (999, [ELSEWHERE, LACKING], ListedSoFar(None, 1000), None),
        (55, [WIDER], ListedSoFar(60, 55, [SHORT]), 55),
        (55, [WIDER, DOUBTED], ListedSoFar(60, 55), None),
        (55, [], ListedSoFar(None, 55, [UNPROMISED]), None),
        (55, [ELSEWHERE], ListedSoFar(None, 55, [UNPROMISED]), 55),
        (55, [DOUBTED], ListedSoFar(None, 55), None),
        (550, [], ListedSoFar(None, 700), None),
    ],
)
def test_a_count_settles_a_list_only_where_something_shows_it(counted, findings, listed, number):
    assert settled(counted, findings, listed) == number


@pytest.mark.parametrize(
    ("listed", "quirks", "doubt"),
    [
        (ListedSoFar(None, 55), EndpointMemory(), ""),
        (ListedSoFar(None, 55, [UNPROMISED]), EndpointMemory(), UNPROMISED),
        (ListedSoFar(60, 55, [SHORT]), EndpointMemory(), SHORT),
        (ListedSoFar(55, 55, [SHORT]), EndpointMemory(), ""),
        (ListedSoFar(55, 55, [SHORT]), EndpointMemory(promises_kept=False), SHORT),
    ],
)
def test_a_list_that_we_ended_stays_in_doubt_without_a_promise_met(listed, quirks, doubt):
    assert doubt_left(listed, quirks) == doubt


def test_lists_end_alike_at_the_same_number_of_records_or_pages():
    assert ended_alike(Length(20, 2), Length(20, 3))
    assert ended_alike(Length(100, 2), Length(20, 2))
    assert not ended_alike(Length(19, 1), Length(20, 1))
    assert not ended_alike(Length(0, 1), Length(0, 1))


@pytest.mark.parametrize(
    ("listed", "quirks", "reason"),
    [
        (ListedSoFar(55, 55), EndpointMemory(), ""),
        (ListedSoFar(0, 0), EndpointMemory(), ""),
        (ListedSoFar(None, 0), EndpointMemory(), ""),
        (
            ListedSoFar(None, 55),
            EndpointMemory(),
            "the repository did not say how many records there are",
        ),
        (ListedSoFar(None, 55), EndpointMemory(identifiers_work=False), ""),
        (ListedSoFar(55, 54), EndpointMemory(), "55 records were promised and 54 listed"),
        (ListedSoFar(54, 55), EndpointMemory(), "54 records were promised and 55 listed"),
        (
            ListedSoFar(55, 55),
            EndpointMemory(promises_kept=False),
            "the repository's numbers are no counts of its lists",
        ),
        (
            ListedSoFar(None, 5, ["asked again", "end of a list that promised nothing"]),
            EndpointMemory(),
            "end of a list that promised nothing",
        ),
        (ListedSoFar(55, 55, ["end of a list that has all it promised"]), EndpointMemory(), ""),
    ],
)
def test_only_a_list_with_as_many_identifiers_as_promised_needs_no_counting(listed, quirks, reason):
    assert reason_to_count(listed, quirks) == reason
