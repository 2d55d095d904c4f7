"""Units: requests of a list that any node sends, offered and brought through a real Redis."""

import gzip
import json
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import redis
from fake_repository import envelope
from hypothesis import given
from hypothesis import strategies as st
from ports import free_port

from oaipmhclient.fetchers import FetchingEnded, Lane
from oaipmhclient.transport.http_transport import HttpTransport
from politeweb.answers import Answer, AttemptOutcome, Traffic
from politeweb.errors import HTTPStatusError, RetryLater
from politeweb.pace import Pace
from politeweb.settings import HttpSettings
from silofleet.errors import FleetRefused
from silofleet.spread import offers as offering
from silofleet.spread import takers as taking
from silofleet.spread import values
from silofleet.spread.offers import AT_WORK, BROUGHT, CONTINUED, FIRST, UNIT, Offers
from silofleet.spread.takers import Takers
from silofleet.spread.values import Brought, Unit, brought_of_bytes, unit_of_bytes

LIMIT = 1 << 20
NAME = "0" * 32
URL = "http://repo.example.org/oai"
PARAMS = {"verb": "ListRecords", "metadataPrefix": "oai_dc", "from": "2020-01-01"}
PAGE = envelope("<ListRecords></ListRecords>")
ASKED = Unit(NAME, 7, URL, PARAMS, 1.5, 7, "me@example.org")
ANSWER = Answer(PAGE, f"{URL}?verb=ListRecords", 200, {"content-type": "text/xml"})
BROUGHT_WELL = Brought("n2", AttemptOutcome.ANSWERED, 0.5, 1, ANSWER)

# --------------------------------------------------------------------------- values


@given(st.text(max_size=20), st.booleans(), st.floats(0, 100), st.integers(1, 9))
def test_units_come_back(text: str, continues: bool, interval: float, turns: int) -> None:
    list_of = {"verb": "ListIdentifiers", "resumptionToken": text}
    unit = Unit(NAME, 7, URL, list_of if continues else PARAMS, interval, turns)
    assert unit_of_bytes(NAME, unit.to_bytes()) == unit
    assert unit.continues == continues


@pytest.mark.parametrize(
    "changed",
    [
        {"run": "7"},
        {"url": "ftp://repo.example.org/"},
        {"url": "file:///etc/passwd"},
        {"url": "http://u:p@repo.example.org/oai"},
        {"url": "http://repo.example.org/oai\r\nX: y"},
        {"url": 3},
        {"arguments": {"verb": "Identify"}},
        {"arguments": PARAMS | {"other": "x"}},
        {"arguments": PARAMS | {"set": 1}},
        {"arguments": []},
        {"interval": -1},
        {"interval": 1e999},
        {"turns": 10**9},
        {"contact": "x\r\nX-Header: y"},
        {"contact": "é"},
    ],
)
def test_a_malformed_unit_is_refused(changed: dict[str, Any]) -> None:
    said = json.loads(ASKED.to_bytes()) | changed
    with pytest.raises(FleetRefused, match="malformed"):
        unit_of_bytes(NAME, json.dumps(said).encode())


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"[" * 9999, b" " * (65 << 10), b"\xff"])
def test_what_is_no_unit_is_refused(content: bytes) -> None:
    with pytest.raises(FleetRefused):
        unit_of_bytes(NAME, content)
    with pytest.raises(FleetRefused):
        unit_of_bytes("../x", ASKED.to_bytes())


def test_responses_come_back_as_the_server_sent_them() -> None:
    assert brought_of_bytes(BROUGHT_WELL.to_bytes(), ASKED, LIMIT) == BROUGHT_WELL
    packed = gzip.compress(PAGE)
    coded = replace(ANSWER, headers={"content-encoding": "gzip"}, raw=packed)
    found = brought_of_bytes(replace(BROUGHT_WELL, answer=coded).to_bytes(), ASKED, LIMIT)
    assert (found.answer, found.raw) == (coded, packed)
    tabbed = replace(ANSWER, headers={"x": "a\tb\r\nc"})
    found = brought_of_bytes(replace(BROUGHT_WELL, answer=tabbed).to_bytes(), ASKED, LIMIT)
    assert found.answer
    assert found.answer.headers == {"x": "a b  c"}


@given(st.text(max_size=200), st.none() | st.floats(0, 1e9))
def test_pauses_and_failures_come_back(said: str, seconds: float | None) -> None:
    pause = None if seconds is None else (503, seconds)
    brought = Brought("n2", AttemptOutcome.REFUSED, 1, 1, None, "", pause, said)
    found = brought_of_bytes(brought.to_bytes(), ASKED, LIMIT)
    assert found.pause == brought.pause
    assert found.said.isprintable()


_HEAD = json.loads(BROUGHT_WELL.to_bytes().partition(b"\n")[0])


@pytest.mark.parametrize(
    "changed",
    [
        {"node": "../x"},
        {"outcome": "well"},
        {"outcome": "failed"},
        {"seconds": "x"},
        {"seconds": -1},
        {"sent": 10**9},
        {"moved_to": "http://elsewhere.example.org/"},
        {"pause": [503, "2026-01-01T00:00:00"]},
        {"pause": [503, 1e10]},
        {"pause": [503]},
        {"moved_to": 3},
        {"said": ["x"]},
        {"answer": []},
        {"answer": _HEAD["answer"] | {"status": 99}},
        {"answer": _HEAD["answer"] | {"url": "http://elsewhere.example.org/oai"}},
        {"answer": _HEAD["answer"] | {"url": "javascript:x"}},
        {"answer": _HEAD["answer"] | {"headers": {"a": "b\r\nc: d"}}},
        {"answer": _HEAD["answer"] | {"headers": dict.fromkeys(map(str, range(999)), "x")}},
    ],
)
def test_a_malformed_answer_is_refused(changed: dict[str, Any]) -> None:
    head = json.dumps(_HEAD | changed).encode()
    with pytest.raises(FleetRefused, match="malformed"):
        brought_of_bytes(head + b"\n" + zlib.compress(PAGE), ASKED, LIMIT)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no zlib",
        zlib.compress(PAGE)[:-4],
        zlib.compress(b"<html>Please log in</html>"),
        zlib.compress(PAGE[:-20]),
        zlib.compress(b"<OAI-PMH>" + b" " * LIMIT + b"</OAI-PMH>"),
    ],
)
def test_a_body_that_is_no_whole_page_is_refused(body: bytes) -> None:
    with pytest.raises(FleetRefused):
        brought_of_bytes(json.dumps(_HEAD).encode() + b"\n" + body, ASKED, LIMIT)


@given(st.binary(max_size=300))
def test_any_bytes_are_refused(content: bytes) -> None:
    with pytest.raises(FleetRefused):
        brought_of_bytes(content, ASKED, LIMIT)


# --------------------------------------------------------------------------- offered and taken


class _Server:
    """Answers by `answer`: (arguments, its own address) → status, headers, body."""

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.answer: Callable[[dict[str, str]], tuple[int, dict[str, str], bytes]] = lambda _: (
            200,
            {},
            PAGE,
        )
        found = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked = dict(parse_qsl(urlsplit(self.path).query))
                found.asked.append(asked)
                found.headers.append(dict(self.headers.items()))
                status, headers, body = found.answer(asked)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                with suppress(OSError):
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/oai"
        Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def server() -> Iterator[_Server]:
    found = _Server()
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offering, "_SECONDS_BETWEEN_LOOKS", 0.2)
    monkeypatch.setattr(taking, "SECONDS_BETWEEN_LEASES", 0.15)
    monkeypatch.setattr(taking, "_SECONDS_BETWEEN_LOOKS", 0.1)
    monkeypatch.setattr(taking, "REST", 0.1)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run waits until its unit is taken, however busy this machine is."""
    monkeypatch.setattr(offering, "SECONDS_OFFERED", 30.0)


taken = pytest.mark.usefixtures("patient")


class _Own(HttpTransport):
    """The transport of the run itself, which counts."""

    own = 0

    def fetch(self, params: Any) -> Answer:
        self.own += 1
        return super().fetch(params)


class _Run:
    """A thread of a run."""

    def __init__(self, broker: str, url: str, **settings: Any) -> None:
        self.pace = Pace()
        self.settings = HttpSettings(longest_pause=10, first_pause=0.01, attempts=2, **settings)
        plan = Unit("", 7, url, {}, 0.0, 7, "me@example.org")
        self.offers = Offers(broker, plan, self.pace, self.settings)
        self.ended = Event()
        self.own = _Own(url, self.settings, pace=self.pace, has_answered=True)
        self.lane = Lane(self.ended)
        self.transport = self.offers.transport(self.own, self.lane)

    def fetch(self, params: dict[str, str] = PARAMS) -> Answer:
        return self.transport.fetch(params)


@taken
def test_a_request_is_sent_by_a_node_as_the_run_would(broker: str, server: _Server) -> None:
    packed = gzip.compress(PAGE)
    server.answer = lambda _: (200, {"Content-Encoding": "gzip"}, packed)
    run = _Run(broker, server.url, contact="me@example.org")
    with Takers(broker, "n2", 1):
        found = run.fetch()
    assert (run.own.own, run.offers.said) == (0, "requests sent: 1 by n2, 0 by the run itself")
    own = run.own.fetch(PARAMS)
    assert (found.body, found.raw, found.url, found.status) == (PAGE, packed, own.url, 200)
    assert found.received is not None
    volatile = {"date"}
    assert {k: v for k, v in found.headers.items() if k not in volatile} == {
        k: v for k, v in own.headers.items() if k not in volatile
    }
    assert server.headers[0] == server.headers[1]
    assert server.headers[0]["From"] == "me@example.org"
    assert run.transport.traffic == Traffic(2, 0, 2 * len(packed))
    assert run.lane.seconds > 0
    with redis.Redis.from_url(broker) as client:
        assert client.keys("*unit*") == []


@taken
def test_only_lists_are_offered(broker: str, server: _Server) -> None:
    run = _Run(broker, server.url)
    with Takers(broker, "n2", 1):
        run.fetch({"verb": "GetRecord", "identifier": "x", "metadataPrefix": "oai_dc"})
        long = PARAMS | {"set": "x" * (65 << 10)}
        assert run.offers.ask(server.url, long, run.lane.sleep) is None
    assert (run.own.own, run.offers.said, len(server.asked)) == (1, "", 1)


def test_a_continuation_is_taken_before_a_first_request(broker: str, server: _Server) -> None:
    run = _Run(broker, server.url)
    asked = [PARAMS, {"verb": "ListRecords", "resumptionToken": "t"}]
    for number, one in enumerate(asked):
        run.offers._offer(replace(ASKED, name=f"{number:032}", arguments=one))
    takers = Takers(broker, "n2", 0)
    first, second = takers._next(), takers._next()
    assert first
    assert second
    assert (first.arguments, second.arguments) == (asked[1], asked[0])
    assert takers._next() is None


def test_what_nobody_takes_the_run_requests_and_offers_no_more_for_a_while(
    broker: str, server: _Server
) -> None:
    run = _Run(broker, server.url)
    assert [run.fetch().body for _ in range(2)] == [PAGE] * 2
    assert (run.own.own, len(server.asked), run.offers.said) == (2, 2, "")
    with redis.Redis.from_url(broker) as client:
        assert client.keys(f"{UNIT}*") == []
        assert client.llen(FIRST) == 1  # the second was not offered
    assert Takers(broker, "n2", 0)._next() is None  # it finds the name of the unit alone


@taken
def test_after_a_while_the_run_offers_again(broker: str, server: _Server) -> None:
    run = _Run(broker, server.url)
    run.offers._pause_offers()
    run.offers._rests_until -= offering.SHORTEST_REST
    with Takers(broker, "n2", 1):
        run.fetch()
    assert run.own.own == 0


def test_a_node_that_is_killed_at_work_is_noticed_by_its_lease(
    broker: str, server: _Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "SECONDS_OF_LEASE", 0.6)
    run = _Run(broker, server.url)
    killed, offer = Takers(broker, "n2", 0), run.offers._offer
    found: list[Unit | None] = []

    def taken_at_once(unit: Unit) -> None:
        offer(unit)
        found.append(killed._next())

    monkeypatch.setattr(run.offers, "_offer", taken_at_once)
    assert run.fetch().body == PAGE
    assert found[0]
    assert (len(found), run.own.own, len(server.asked)) == (1, 1, 1)


@taken
def test_a_lease_is_renewed_while_the_repository_is_slow(broker: str, server: _Server) -> None:
    def slow(_: object) -> tuple[int, dict[str, str], bytes]:
        with redis.Redis.from_url(broker) as client:
            (lease,) = client.keys(f"{AT_WORK}*")  # type: ignore[misc]
            client.set(lease, "old", ex=60)
            end = time.monotonic() + 30
            while client.get(lease) == b"old" and time.monotonic() < end:
                time.sleep(0.02)
            return (200, {}, PAGE) if client.get(lease) == b"n2" else (500, {}, b"")

    server.answer = slow
    run = _Run(broker, server.url)
    with Takers(broker, "n2", 1):
        assert run.fetch().body == PAGE
    assert (run.own.own, len(server.asked)) == (0, 1)


def test_a_late_answer_is_harmless(broker: str, server: _Server) -> None:
    run = _Run(broker, server.url)
    takers = Takers(broker, "n2", 0)
    run.offers._offer(ASKED)
    unit = takers._next()
    assert unit
    takers._bring(unit, BROUGHT_WELL)
    with redis.Redis.from_url(broker) as client:
        assert 0 < client.ttl(f"{BROUGHT}{NAME}") <= 60  # type: ignore[operator]
        assert not client.exists(f"{AT_WORK}{NAME}")
    assert run.fetch().body == PAGE


def test_without_a_redis_the_run_requests_by_itself(server: _Server) -> None:
    run = _Run(f"redis://127.0.0.1:{free_port()}/0", server.url)
    assert run.fetch().body == PAGE
    assert run.own.own == 1


def test_a_run_that_ends_takes_its_unit_back(broker: str, server: _Server) -> None:
    run = _Run(broker, server.url)
    run.ended.set()
    with pytest.raises(FetchingEnded):
        run.fetch()
    with redis.Redis.from_url(broker) as client:
        assert client.keys(f"{UNIT}*") == []


@taken
@pytest.mark.parametrize("content", [b"", b"nonsense", BROUGHT_WELL.to_bytes()])
def test_a_false_answer_is_not_used(broker: str, server: _Server, content: bytes) -> None:
    run = _Run(broker, server.url)

    def forge() -> None:
        with redis.Redis.from_url(broker) as client:
            _, name = client.blpop([FIRST], 5)  # type: ignore[misc]
            client.set(f"{AT_WORK}{name.decode()}", "n2")
            client.delete(f"{UNIT}{name.decode()}")
            client.rpush(f"{BROUGHT}{name.decode()}", content)

    Thread(target=forge, daemon=True).start()
    assert run.fetch().url == f"{server.url}?verb=ListRecords&metadataPrefix=oai_dc&from=2020-01-01"
    assert run.own.own == 1


@taken
def test_malformed_units_do_not_stop_a_node(broker: str, server: _Server) -> None:
    run = _Run(broker, server.url)
    with redis.Redis.from_url(broker) as client:
        for number, content in enumerate([b"nonsense", ASKED.to_bytes()[:-1]]):
            client.set(f"{UNIT}{number:032}", content)
            client.rpush(CONTINUED, f"{number:032}")
        client.rpush(CONTINUED, b"\xff\n", b"x" * 999)
    with Takers(broker, "n2", 1):
        run.fetch()
    assert run.own.own == 0


def test_a_list_of_units_that_is_none_does_not_stop_a_run(broker: str, server: _Server) -> None:
    run = _Run(broker, server.url)
    with redis.Redis.from_url(broker) as client:
        client.set(FIRST, "x")
    assert run.fetch().body == PAGE
    assert run.own.own == 1


@taken
def test_an_answer_that_is_too_large_is_requested_by_the_run_and_no_more_offered(
    broker: str, server: _Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "MOST_BROUGHT", 100)
    run = _Run(broker, server.url)
    with Takers(broker, "n2", 1):
        assert [run.fetch().body for _ in range(3)] == [PAGE] * 3
    assert (run.own.own, len(server.asked)) == (3, 4)


@taken
@pytest.mark.parametrize(("status", "body"), [(500, b""), (403, b"no"), (200, PAGE[:-9])])
def test_after_a_failure_elsewhere_the_run_asks_itself(
    broker: str, server: _Server, status: int, body: bytes
) -> None:
    """The failure may be that of the node."""
    server.answer = lambda _: (200, {}, PAGE) if len(server.asked) > 1 else (status, {}, body)
    run = _Run(broker, server.url)
    with Takers(broker, "n2", 1):
        assert run.fetch().body == PAGE
    assert (run.own.own, len(server.asked)) == (1, 2)


@taken
def test_the_errors_of_a_repository_are_those_of_the_run_itself(
    broker: str, server: _Server
) -> None:
    server.answer = lambda _: (404, {}, b"")
    run = _Run(broker, server.url)
    with Takers(broker, "n2", 1), pytest.raises(HTTPStatusError):
        run.fetch()


@taken
def test_a_long_pause_is_kept_by_the_run(broker: str, server: _Server) -> None:
    server.answer = lambda _: (503, {"Retry-After": "3600"}, b"")
    run = _Run(broker, server.url)
    with Takers(broker, "n2", 1), pytest.raises(RetryLater) as raised:
        run.fetch()
    assert timedelta(minutes=59) < raised.value.deadline - datetime.now(UTC) < timedelta(hours=1)
    assert (run.own.own, len(server.asked), run.lane.refused) == (0, 1, True)


@taken
def test_a_short_pause_holds_the_pace_of_the_host(broker: str, server: _Server) -> None:
    server.answer = lambda _: (
        (200, {}, PAGE) if len(server.asked) > 1 else (503, {"Retry-After": "1"}, b"")
    )
    run = _Run(broker, server.url)
    begin = time.monotonic()
    with Takers(broker, "n2", 1):
        assert run.fetch().body == PAGE
    assert time.monotonic() - begin > 0.8
    assert (run.own.own, run.lane.refused) == (1, True)


@taken
def test_a_redirect_within_the_host_is_noted_and_one_elsewhere_is_the_runs_own_matter(
    broker: str, server: _Server
) -> None:
    there = server.url.replace("/oai", "/there")
    server.answer = lambda _: (
        (200, {}, PAGE) if len(server.asked) == 2 else (302, {"Location": there}, b"")
    )
    run = _Run(broker, server.url)
    with Takers(broker, "n2", 1):
        run.fetch()
    assert (run.transport.moved_to, run.transport.traffic.sent) == (there, 2)


@taken
def test_a_node_sends_no_login_of_its_own(
    broker: str, server: _Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    run = _Run(broker, server.url)
    with Takers(broker, "n2", 1):
        run.fetch()
    run.own.fetch(PARAMS)
    assert ["Authorization" in one for one in server.headers] == [False, True]


def test_no_turn_is_taken_without_the_redis(broker: str, server: _Server) -> None:
    takers = Takers(broker, "n2", 0)
    connection = taking._Connection(f"redis://127.0.0.1:{free_port()}/0", takers._ending)
    unit = replace(ASKED, url=server.url)
    assert takers._do(unit, connection)
    assert server.asked == []


def test_a_turn_that_is_far_away_holds_no_thread(broker: str, server: _Server) -> None:
    with redis.Redis.from_url(broker) as client:
        client.hset("pace:" + server.url.split("/")[2], "held", 1 << 52)
    takers = Takers(broker, "n2", 0)
    unit = replace(ASKED, url=server.url)
    assert takers._do(unit, taking._Connection(broker, takers._ending))
    assert server.asked == []


def test_the_end_of_a_node_gives_its_unit_back(broker: str, server: _Server) -> None:
    answering, ended = Event(), Event()

    def slow(_: object) -> tuple[int, dict[str, str], bytes]:
        answering.set()
        ended.wait(60)
        return 200, {}, PAGE

    server.answer = slow
    unit = replace(ASKED, url=server.url, interval=0.0)
    with Takers(broker, "n2", 1):
        _Run(broker, server.url).offers._offer(unit)
        assert answering.wait(60)
    ended.set()
    with redis.Redis.from_url(broker) as client:
        assert not client.exists(f"{AT_WORK}{NAME}", f"{BROUGHT}{NAME}", f"{UNIT}{NAME}")


def test_the_sizes_of_units_have_a_limit() -> None:
    assert values.MOST_UNIT < values.MOST_BROUGHT < HttpSettings().max_response
