"""The misbehaving server without a fault keeps to the protocol; each fault changes something."""

import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
import requests
from examples import family
from lxml import etree
from misbehaving import (
    FAULTS,
    FunctionTransport,
    MisbehavingServer,
    Repository,
    identifier,
    repository_with,
)
from misbehaving import misbehaving as served_with
from misbehaving.faults_of_http import closed_for_a_day
from misbehaving.repository import DELETED, SIZE, sample_items

from oaipmhclient.client import Client
from politeweb.errors import RetryLater


@pytest.fixture
def server() -> Iterator[MisbehavingServer]:
    with served_with() as serving:
        yield serving


def test_without_a_fault_every_record_is_listed_in_pages_of_ten(server):
    with Client(server.base_url) as client:
        pages = list(client.record_pages("oai_dc"))
    assert [len(page.items) for page in pages] == [10, 10, 10, 10, 10, 5]
    records = [record for page in pages for record in page.items]
    assert [one.header.identifier for one in records] == [identifier(n + 1) for n in range(SIZE)]
    deleted = {n + 1 for n, one in enumerate(records) if one.header.deleted}
    assert deleted == DELETED
    assert {page.token.complete_list_size for page in pages} == {SIZE}
    assert not any(page.repairs or page.set_aside or page.errors for page in pages)


def test_without_a_fault_a_window_holds_what_lies_in_it(server):
    bounds = {"from_": "2010-08-15T10:27:00Z", "until": "2010-08-15T10:30:00Z"}
    with Client(server.base_url) as client:
        found = [one.identifier for one in client.list_identifiers("oai_dc", **bounds)]
        day = [one.identifier for one in client.list_identifiers("oai_dc", from_="2011-08-01")]
    assert found == [identifier(n) for n in (27, 28, 29, 30)]
    assert day == [identifier(n) for n in (54, 55)]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("verb=ListRecords", "badArgument"),
        ("verb=ListRecords&metadataPrefix=marc21", "cannotDisseminateFormat"),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2030-01-01", "noRecordsMatch"),
        ("verb=ListRecords&resumptionToken=x", "badResumptionToken"),
        ("verb=ListRecords&resumptionToken=x&metadataPrefix=oai_dc", "badArgument"),
        ("verb=GetRecord&metadataPrefix=oai_dc&identifier=x", "idDoesNotExist"),
        ("verb=Nothing", "badVerb"),
    ],
)
def test_without_a_fault_a_wrong_request_is_told(server, query, code):
    answer = etree.fromstring(requests.get(f"{server.base_url}?{query}", timeout=60).content)
    assert [one.get("code") for one in answer.iter("{*}error")] == [code]


def test_a_function_in_place_of_http_gives_the_same_records(server):
    with Client(server.base_url) as over_http, Client(FunctionTransport(Repository())) as direct:
        assert list(over_http.list_records()) == list(direct.list_records())


@pytest.mark.parametrize(
    "name", ["cut_short_now_and_then", "busy_now_and_then", "html_now_and_then", "gzip_in_chunks"]
)
def test_a_function_in_place_of_http_tries_again_as_one_would_over_http(name):
    repository = repository_with(name)
    with Client(FunctionTransport(repository)) as client:
        assert len(list(client.list_records())) == SIZE
    assert len(repository.asked) >= 6


def test_a_function_in_place_of_http_stops_at_a_long_pause():
    repository = Repository()
    closed_for_a_day(repository)
    with Client(FunctionTransport(repository)) as client, pytest.raises(RetryLater):
        list(client.list_records())


def conversation(server: MisbehavingServer) -> list[object]:
    """What a plain reading of the list, and of some other things, gets on the wire."""
    session, seen = requests.Session(), []

    def ask(query: str) -> bytes:
        joint = "&" if "?" in server.base_url else "?"
        try:
            answer = session.get(f"{server.base_url}{joint}{query}", timeout=8)
        except requests.RequestException as error:
            seen.append(type(error).__name__)
            return b""
        address = urlsplit(answer.url)
        coding = answer.headers.get("Content-Encoding")
        seen.append((answer.status_code, address.hostname, address.path, coding, answer.content))
        return answer.content

    windows = ["&from=2010-08-15", "&until=2010-08-15T10:30:00Z"]
    for verb, selections in [
        ("ListRecords", ["", "&set=physics", *windows]),
        ("ListIdentifiers", ["", "&set=physics"]),
    ]:
        for bounds in selections:
            body = ask(f"verb={verb}&metadataPrefix=oai_dc{bounds}")
            for _ in range(7):
                token = body.rpartition(b"</resumptionToken")[0].rpartition(b">")[2].decode()
                if not token.strip():
                    break
                body = ask(f"verb={verb}&resumptionToken={token}")
    for query in ("verb=Identify", "verb=ListSets"):
        ask(query)
    ask(f"verb=GetRecord&metadataPrefix=oai_dc&identifier={identifier(23)}")
    session.close()
    return seen


@pytest.fixture(scope="module")
def proper() -> list[object]:
    with served_with() as server:
        return conversation(server)


NOT_SHOWN = {
    "a_set_that_is_gone",  # the conversation does not ask for it
    "a_slow_record",  # only the clock shows it
    "address_with_a_verb",  # it lies in what the person pastes
    "one_request_at_a_time",  # as the conversation does
    "windows_with_neighbours",  # the windows asked for have none
}


@pytest.mark.parametrize("name", family(sorted(FAULTS.keys() - NOT_SHOWN), 6))
def test_a_fault_shows_on_the_wire_and_shows_the_same_twice(name, proper):
    seen = []
    for _ in range(2):
        with served_with(name) as server:
            if server.repository.base_query:
                server.repository.base_query = ""
            seen.append(conversation(server))
    same_twice = seen[0] == seen[1]
    assert same_twice
    assert seen[0] != proper


def test_every_record_that_a_fault_makes_unattainable_is_one_of_the_repository():
    known = {item.identifier for item in sample_items()}
    assert all(fault.lost <= known for fault in FAULTS.values())


def test_the_package_can_be_had_without_pytest():
    code = "import sys; sys.path.insert(0, 'tests/oaipmhscraper'); import misbehaving"
    subprocess.run([sys.executable, "-c", code], check=True)
