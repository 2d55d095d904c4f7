"""What the provider spares itself and its clients: HEAD, entity tags, a limit for each client."""

import io
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest
from provider_asker import NOW

from oaipmhprovider import Settings, sample_repository
from oaipmhprovider.limits import MOST_CLIENTS, ClientLimit, client_of
from oaipmhprovider.sample.site import ChangingSample
from oaipmhprovider.wsgi import ProviderApp

Answer = tuple[str, dict[str, str], bytes]
LIST = {"verb": "ListIdentifiers", "metadataPrefix": "oai_dc"}


class Time:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def asked(app: Any, query: dict[str, str], *, method: str = "GET", **environ: str) -> Answer:
    request: dict[str, Any] = {
        "REQUEST_METHOD": method, "SCRIPT_NAME": "", "PATH_INFO": "/oai2",
        "QUERY_STRING": urlencode(query), "wsgi.input": io.BytesIO(), **environ,
    }  # fmt: skip
    setup_testing_defaults(request)
    got: list[Any] = []
    chunks = validator(app)(
        request, lambda status, headers, exc=None: got.extend([status, headers])
    )
    body = b"".join(chunks)
    chunks.close()
    return got[0], dict(got[1]), body


@pytest.fixture
def sample() -> ChangingSample:
    return ChangingSample(sample_repository(30))


@pytest.fixture
def app(sample: ChangingSample) -> ProviderApp:
    return ProviderApp(sample, Settings(page_size=20), clock=lambda: NOW)


def test_head_is_answered_as_get_without_the_body(app: ProviderApp) -> None:
    full = asked(app, {"verb": "Identify"})
    head = asked(app, {"verb": "Identify"}, method="HEAD")
    assert (head[0], head[1], head[2]) == (full[0], full[1], b"")


def test_what_has_not_changed_is_not_sent_again(app: ProviderApp) -> None:
    identifier = asked(app, LIST)[2].split(b"<identifier>")[1]
    query = {
        "verb": "GetRecord", "metadataPrefix": "oai_dc",
        "identifier": identifier.split(b"<")[0].decode(),
    }  # fmt: skip
    tag = asked(app, query)[1]["ETag"]
    app.clock = lambda: NOW.replace(minute=59)  # the date of the response is another one
    for known in (tag, f'"other", {tag}', "*", tag.removeprefix("W/")):
        status, headers, body = asked(app, query, HTTP_IF_NONE_MATCH=known)
        assert (status, headers["ETag"], body) == ("304 Not Modified", tag, b"")
    assert asked(app, query, HTTP_IF_NONE_MATCH='W/"other"')[0] == "200 OK"
    assert asked(app, {"verb": "Identify"}, HTTP_IF_NONE_MATCH=tag)[0] == "200 OK"


def test_a_page_with_a_token_has_no_tag_because_the_token_ends(app: ProviderApp) -> None:
    _, headers, body = asked(app, LIST)
    assert b"<resumptionToken" in body
    assert "ETag" not in headers
    whole = asked(app, LIST | {"until": "2014-01-01"})
    assert ("ETag" in whole[1]) == (b"<resumptionToken" not in whole[2])


def test_who_asks_too_much_is_told_when_to_come_again(sample: ChangingSample) -> None:
    time = Time()
    app = ProviderApp(sample, clock=lambda: NOW, limit=ClientLimit(30, time))

    def of(client: str) -> Answer:
        return asked(
            app, {"verb": "Identify"}, REMOTE_ADDR="127.0.0.1", HTTP_X_FORWARDED_FOR=client
        )

    assert {of("198.51.100.1")[0] for _ in range(30)} == {"200 OK"}
    status, headers, body = of("198.51.100.1")
    assert (status, headers["Retry-After"]) == ("503 Service Unavailable", "2")
    assert b"more often than this repository allows" in body
    assert of("10.0.0.1, 198.51.100.1")[0].startswith("503"), "what it says of itself is ignored"
    assert of("198.51.100.2")[0] == "200 OK", "others are not concerned"
    time.now += 2
    assert of("198.51.100.1")[0] == "200 OK"
    assert of("198.51.100.1")[0].startswith("503")
    here = [asked(app, {"verb": "Identify"}, REMOTE_ADDR="127.0.0.1")[0] for _ in range(40)]
    assert set(here) == {"200 OK"}, "programs on this machine are not limited"


def test_a_limit_remembers_no_more_clients_than_it_says() -> None:
    limit = ClientLimit(1, Time())
    for number in range(MOST_CLIENTS + 5):
        assert limit.seconds_to_wait(f"client {number}") == 0
    assert limit.seconds_to_wait("client 0") == 0
    assert limit.seconds_to_wait(f"client {MOST_CLIENTS}") == 60


@pytest.mark.parametrize(
    ("remote", "forwarded", "is_trusted", "client"),
    [
        ("198.51.100.1", "203.0.113.9", False, "198.51.100.1"),
        ("127.0.0.1", "203.0.113.9", True, "203.0.113.9"),
        ("127.0.0.1", "", True, ""),
    ],
)
def test_whose_request_it_is(remote: str, forwarded: str, is_trusted: bool, client: str) -> None:
    assert client_of(remote, forwarded, is_trusted=is_trusted) == client


def test_no_limit_counts_nothing() -> None:
    limit: Callable[[str], int] = ClientLimit(0, Time()).seconds_to_wait
    assert [limit("a") for _ in range(5)] == [0] * 5


def test_an_unknown_set_is_named(app: ProviderApp) -> None:
    body = asked(app, LIST | {"set": "no:such"})[2]
    assert b'code="noRecordsMatch">this repository has no set no:such' in body
