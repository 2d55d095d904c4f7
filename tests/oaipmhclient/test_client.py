"""The six verbs over a transport that is a function."""

from datetime import UTC, date, datetime
from itertools import islice

import pytest

from oaipmhclient.client import Client
from oaipmhclient.errors import PageUnreadable, TokenLoopError
from oaipmhclient.identification import ask_identify
from oaipmhclient.walk.listed_pages import ListCutShort
from oaipmhprotocol import BadResumptionToken, IdDoesNotExist, NoRecordsMatch, NoSetHierarchy
from politeweb.answers import Answer
from politeweb.errors import RequestRefused


def fill(repository, count):
    for number in range(count):
        repository.add(f"oai:x:{number}", sets=("odd",) if number % 2 else ())


def test_records_are_listed_over_all_pages(repository, client):
    fill(repository, 7)
    repository.page_size = 3
    assert [r.header.identifier for r in client.list_records()] == [
        f"oai:x:{number}" for number in range(7)
    ]
    assert [request.get("resumptionToken") for request in repository.requests] == [
        None,
        "oai_dc|||3",
        "oai_dc|||6",
    ]


def test_pages_are_fetched_only_when_asked_for(repository, client):
    fill(repository, 7)
    repository.page_size = 3
    list(islice(client.list_records(), 3))
    assert len(repository.requests) == 1


def test_selections_are_sent(repository, client):
    fill(repository, 4)
    headers = list(
        client.list_identifiers(from_=date(2009, 1, 1), until="2011-01-01", set_spec="odd")
    )
    assert [header.identifier for header in headers] == ["oai:x:1", "oai:x:3"]
    assert repository.requests[0]["from"] == "2009-01-01"
    assert repository.requests[0]["until"] == "2011-01-01"


@pytest.mark.parametrize(
    ("granularity", "sent"),
    [("YYYY-MM-DD", "2010-05-06"), ("YYYY-MM-DDThh:mm:ssZ", "2010-05-06T07:08:09Z")],
)
@pytest.mark.parametrize(
    "moment", [datetime(2010, 5, 6, 7, 8, 9, tzinfo=UTC), "2010-05-06T07:08:09"]
)
def test_moments_are_sent_in_the_granularity_of_the_repository(
    repository, client, moment, granularity, sent
):
    fill(repository, 1)
    repository.granularity = granularity
    with pytest.raises(NoRecordsMatch):
        list(client.list_records(from_=moment))
    assert repository.requests[-1]["from"] == sent


def test_a_moment_without_zone_and_a_text_that_is_no_date_are_refused(client):
    with pytest.raises(RequestRefused, match="no time zone"):
        client.list_records(from_=datetime(2010, 1, 1)).__next__()  # noqa: DTZ001 - it is the case
    with pytest.raises(RequestRefused, match="not a datestamp"):
        next(client.list_records(from_="last week"))


def test_nothing_matching_is_an_error_condition(client):
    with pytest.raises(NoRecordsMatch):
        next(client.list_records())


def test_no_records_match_for_a_token_ends_a_list_that_has_what_it_promised(
    repository, client, page
):
    fill(repository, 4)
    repository.page_size = 2
    repository.promise = 2
    repository.answers.append(
        lambda p: page('<error code="noRecordsMatch"/>') if "resumptionToken" in p else None
    )
    assert len(list(client.list_records())) == 2


def test_no_records_match_for_a_token_does_not_end_a_list_that_promised_more(
    repository, client, page
):
    fill(repository, 4)
    repository.page_size = 2
    repository.answers.append(
        lambda p: page('<error code="noRecordsMatch"/>') if "resumptionToken" in p else None
    )
    records = client.list_records()
    assert len(list(islice(records, 2))) == 2
    with pytest.raises(ListCutShort, match="ended after 2 records, and the repository promised 4"):
        next(records)


def test_a_refused_token_is_an_error(repository, client, page):
    fill(repository, 4)
    repository.page_size = 2
    repository.answers.append(
        lambda p: page('<error code="badResumptionToken"/>') if "resumptionToken" in p else None
    )
    records = client.list_records()
    assert len(list(islice(records, 2))) == 2
    with pytest.raises(BadResumptionToken):
        next(records)


HEADER = "<header><identifier>{}</identifier><datestamp>2010-01-01</datestamp></header>"


def endless(page, tokens, different=200):
    """A repository that hands out the tokens again and again, and so many records in turn."""
    count = 0

    def answer(params):
        nonlocal count
        count += 1
        header = HEADER.format(f"oai:x:{count % different}")
        token = tokens(count)
        return page(
            f"<ListIdentifiers>{header}<resumptionToken>{token}</resumptionToken></ListIdentifiers>"
        )

    return answer


@pytest.mark.parametrize(
    "tokens",
    [lambda _: "same", lambda n: "abc"[n % 3]],
    ids=["the token just sent", "a circle of three"],
)
def test_a_token_that_comes_back_ends_the_walk_with_an_error(repository, client, page, tokens):
    repository.answers.append(endless(page, tokens))
    with pytest.raises(TokenLoopError, match="the same page again"):
        list(client.list_identifiers())
    assert 200 < len(repository.requests) < 210  # followed while it brings new identifiers


def test_new_tokens_for_the_same_page_end_the_walk_with_an_error(repository, client, page):
    repository.answers.append(endless(page, str, different=1))
    with pytest.raises(TokenLoopError, match="the same page again"):
        list(client.list_identifiers())
    assert [sorted(request) for request in repository.requests] == [
        ["metadataPrefix", "verb"],
        ["resumptionToken", "verb"],
        ["metadataPrefix", "resumptionToken", "verb"],  # or does it want the prefix again?
        ["metadataPrefix", "resumptionToken", "verb"],  # or all that was asked for?
    ]


def test_an_unreadable_page_is_told_with_its_address(repository, client):
    repository.answers.append(lambda _: b"<html>")
    with pytest.raises(PageUnreadable, match=r"http://repo\.example/oai is an HTML page") as raised:
        client.identify()
    assert raised.value.url == "http://repo.example/oai"


def test_single_records_formats_and_sets(repository, client, page):
    repository.sets = {"a": "A"}
    assert [one.name for one in client.list_sets()] == ["A"]
    assert [one.prefix for one in client.list_metadata_formats()] == ["oai_dc"]
    repository.sets = {}
    with pytest.raises(NoSetHierarchy):
        next(client.list_sets())
    item = repository.add("oai:x:1")
    repository.answers.append(
        lambda p: (
            page(f"<GetRecord>{item.xml('oai_dc')}</GetRecord>")
            if p.get("identifier") == "oai:x:1"
            else page('<error code="idDoesNotExist"/>')
        )
    )
    assert client.get_record("oai:x:1").header.identifier == "oai:x:1"
    with pytest.raises(IdDoesNotExist):
        client.get_record("oai:x:2")
    with pytest.raises(IdDoesNotExist):
        client.list_metadata_formats("oai:x:2")


def test_a_client_is_made_from_a_base_url_as_well():
    with Client("http://user:pw@127.0.0.1:1/oai?verb=Identify") as client:
        assert client.base_url == "http://127.0.0.1:1/oai"


@pytest.mark.parametrize("body", [b"<!DOCTYPE html><p>Welcome</p>", b"<html><p>Welcome</html>"])
def test_a_website_without_a_repository_is_told_where_repositories_usually_are(body):
    client = Client(Always(body))
    with pytest.raises(PageUnreadable, match=r"/cgi/oai2, /server/oai/request, /oai$") as raised:
        ask_identify(client)
    assert "is an HTML page" in str(raised.value)


class Always:
    """Answers everything in the same way."""

    base_url = "http://repo.example/"

    def __init__(self, body):
        self._body = body

    def fetch(self, params):
        return Answer(self._body, self.base_url)
