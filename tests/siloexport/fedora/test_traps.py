"""Simulated faults of servers that a real one does not show on demand."""

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from examples import family
from fedora_support import Fedora, Harvest
from fedora_values import Answer, Request

from recordsilo import Silo
from siloexport.commands.exit_codes import exit_of_run
from siloexport.crosswalk import Crosswalk
from siloexport.engine.export import Export
from siloexport.errors import TargetUnusable
from siloexport.plan import Policy, Versions
from siloexport.targets.fedora import FedoraClient, FedoraTarget
from siloexport.targets.remote.errors import (
    Denied,
    OnAnotherServer,
)
from siloexport.values import ActionKind, OnConflict

pytestmark = pytest.mark.long

ID = "oai:example.org:1"


@pytest.fixture
def export(export_simulated: Export, put: Harvest) -> Export:
    put(export_simulated.silo, ID)
    return export_simulated


def once(method: str, ending: str, answer: Answer, times: int = 1) -> object:
    """Answer so to the first requests of a kind."""
    left = itertools.count(times, -1)

    def interfere(request: Request) -> Answer | None:
        if request.method == method and request.path.endswith(ending) and next(left) > 0:
            return answer
        return None

    return interfere


def deposits(export: Export) -> int:
    found = export.target.find(ID)
    return found.deposits if found else 0


def test_a_server_that_is_starting_cannot_be_used_yet(simulated: Fedora, export: Export) -> None:
    assert simulated.simulator
    simulated.simulator.starting = True
    with pytest.raises(TargetUnusable, match="503"):
        export.run()
    simulated.simulator.starting = False
    assert export.run().whole


@pytest.mark.parametrize("status", family([429, 500, 502, 503, 504], 2))
@pytest.mark.parametrize(("method", "ending"), [("PUT", "oai_dc"), ("POST", "fcr:tx")])
def test_a_busy_server_is_asked_again(
    simulated: Fedora, export: Export, status: int, method: str, ending: str
) -> None:
    assert simulated.simulator
    simulated.simulator.interfere = once(method, ending, Answer(status, {"Retry-After": "0"}))  # type: ignore[assignment]
    assert export.run().whole
    assert deposits(export) == 1
    assert simulated.simulator.locked == set()


def test_a_full_disk_stops_the_run_and_leaves_what_is_there(
    simulated: Fedora, export: Export, put: Harvest
) -> None:
    assert simulated.simulator
    simulated.simulator.room = 100_000
    put(export.silo, "oai:example.org:2", files={"big": b"x" * 200_000})
    put(export.silo, "oai:example.org:3")
    report = export.run()
    assert "disk is full" in report.stopped
    simulated.simulator.room = None
    assert export.run().whole
    assert export.verify().differences == 0
    assert simulated.simulator.locked == set()


def test_a_transaction_that_expires_is_begun_anew(simulated: Fedora, export: Export) -> None:
    assert simulated.simulator
    first = True

    def interfere(request: Request) -> None:
        nonlocal first
        assert simulated.simulator
        if request.path.endswith("oai_dc") and first:
            first = False
            for transaction in simulated.simulator._transactions.values():
                transaction.expires = 0

    simulated.simulator.interfere = interfere
    assert export.run().whole
    assert deposits(export) == 1


def test_an_object_locked_by_others_is_tried_again_when_free(
    simulated: Fedora, export: Export, put: Harvest
) -> None:
    export.run()
    put(export.silo, ID, "2", "Two")
    assert isinstance(export.target, FedoraTarget)
    other = simulated.client.send("POST", f"{simulated.root}/fcr:tx").headers["Location"]
    headers = {
        "Atomic-ID": other,
        "Link": '<http://www.w3.org/ns/ldp#NonRDFSource>;rel="type"',
        "Content-Type": "text/plain",
    }
    simulated.client.send("PUT", f"{export.target.uri_of(ID)}/foreign", headers, b"x")
    report = export.run()
    assert report.failed == 1
    assert "another" in report.problems[0].reason
    simulated.client.send("DELETE", other)
    assert export.run().whole
    assert export.verify().differences == 0


def test_a_forbidden_object_fails_alone_and_is_named(
    simulated: Fedora, export: Export, put: Harvest
) -> None:
    assert simulated.simulator
    for number in (2, 3):
        put(export.silo, f"oai:example.org:{number}")
    simulated.simulator.interfere = lambda request: (
        Answer(403) if "example,org+2" in request.path else None
    )
    for _ in range(2):
        report = export.run()
        assert (report.failed, report.stopped, exit_of_run(report)) == (1, "", 1)
        assert "may not do this" in report.problems[0].reason
        assert export.target.find("oai:example.org:3")
    assert export.verify().differences == 0
    assert list(export.reconcile().unreadable) == ["oai:example.org:2"]
    simulated.simulator.interfere = lambda _request: None
    assert export.run().whole


def test_a_transaction_that_cannot_be_ended_is_named_and_waited_out(
    simulated: Fedora, export: Export, put: Harvest
) -> None:
    simulator = simulated.simulator
    assert simulator
    export.run()
    put(export.silo, ID, "2", "Two")
    simulator.ends_transactions = False
    text = b"The server managed predicate x cannot be modified"
    simulator.interfere = once("PUT", "example,org+1", Answer(409, {}, text))  # type: ignore[assignment]
    report = export.run()
    assert report.failed == 1
    assert "server managed predicate x" in report.problems[0].reason
    assert "could not be ended" in report.problems[0].reason
    report = export.run()
    assert report.failed == 1
    assert "locks the record until it expires" in report.problems[0].reason
    for transaction in simulator._transactions.values():
        transaction.expires = 0
    assert export.run().whole
    assert deposits(export) == 2
    assert export.verify().differences == 0


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_transaction_left_by_a_killed_run_is_over_once_it_expired(
    simulated: Fedora, export: Export, is_committed: bool
) -> None:
    simulator = simulated.simulator
    assert simulator
    simulator.ends_transactions = False
    seen = itertools.count()

    def die(request: Request) -> Answer | None:
        is_commit = request.method == "PUT" and "fcr:tx" in request.path
        if next(seen) > 100 or is_commit:
            simulator.interfere = lambda _request: Answer(-1)
            return Answer(-1, after=is_committed)
        return None

    simulator.interfere = die
    assert export.run().stopped
    simulator.interfere = lambda _request: None
    if not is_committed:
        report = export.run()
        assert report.failed
        assert "could not be ended" in report.problems[0].reason
        for transaction in simulator._transactions.values():
            transaction.expires = 0
    assert export.run().whole
    assert deposits(export) == 1
    assert export.status().unfinished == 0


def test_metadata_that_no_format_fits_is_told(simulated: Fedora, empty: Silo, put: Harvest) -> None:
    put(empty, ID)
    crosswalk = Crosswalk.parse(
        '[prefixes]\nmods = "http://www.loc.gov/mods/v3"\n[[format]]\nroot = "mods:mods"\n'
        'fields = [{ from = "mods:name", to = "http://schema.org/name" }]\n',
        "mine.toml",
    )
    target = FedoraTarget(simulated.container(), simulated.client, crosswalk)
    export = Export(empty, target, Policy(versions=Versions.ALL))
    planned, done = export.run(dry_run=True), export.run()
    assert [one.reason for one in planned.remarks] == [one.reason for one in done.remarks]
    assert done.remarks[0].reason == "no [[format]] of mine.toml has the root of oai_dc"


def test_a_mapping_that_cannot_be_evaluated_fails_alike_in_plan_and_run(
    simulated: Fedora, export: Export
) -> None:
    crosswalk = Crosswalk.parse(
        '[[format]]\nroot = "*"\n'
        "fields = [{ from = \"*[. != '1'][sum('x')]\", to = \"http://schema.org/name\" }]\n",
        "mine.toml",
    )
    target = FedoraTarget(simulated.container(), simulated.client, crosswalk)
    broken = replace(export, target=target)
    for report in (broken.run(dry_run=True), broken.run()):
        assert (report.failed, report.written) == (1, 0)
        assert "mine.toml, line 3," in report.problems[0].reason


def test_a_server_that_wants_if_match_gets_it(
    simulated: Fedora, export: Export, put: Harvest
) -> None:
    assert simulated.simulator
    simulated.simulator.needs_if_match = True
    put(export.silo, ID, "2", "Two")
    assert export.run().whole
    assert deposits(export) == 2
    assert export.verify().differences == 0


def test_a_damaged_upload_is_sent_again(simulated: Fedora, export: Export) -> None:
    assert simulated.simulator
    text = b"Checksum mismatch, computed SHA-512 digest 12 did not match expected value 34"
    simulated.simulator.interfere = once("PUT", "oai_dc", Answer(409, {}, text))  # type: ignore[assignment]
    assert export.run().whole
    assert export.verify().differences == 0


def test_refused_rdf_fails_for_good_at_once(simulated: Fedora, export: Export) -> None:
    assert simulated.simulator
    headers = {"Link": '<x>; rel="http://www.w3.org/ns/ldp#constrainedBy"'}
    answer = Answer(409, headers, b"The server managed predicate x cannot be modified")
    simulated.simulator.interfere = once("PUT", "example,org+1", answer, times=99)  # type: ignore[assignment]
    report = export.run()
    assert report.failed == 1
    assert "server managed predicate" in report.problems[0].reason
    assert sum(path == "fcr:tx" for _, path in simulated.simulator.requests) == 1


def test_a_server_stopped_in_the_middle_costs_nothing_that_was_done(
    simulated: Fedora, export: Export, put: Harvest
) -> None:
    assert simulated.simulator
    for number in range(2, 6):
        put(export.silo, f"oai:example.org:{number}")
    seen = itertools.count()
    simulated.simulator.interfere = lambda _request: Answer(-1) if next(seen) > 20 else None
    report = export.run()
    assert report.stopped
    assert report.failed == 0
    simulated.simulator.interfere = lambda _request: None
    assert export.run().whole
    verified = export.verify()
    assert (verified.records, verified.differences) == (5, 0)
    assert all(
        (found := export.target.find(f"oai:example.org:{number}")) and found.deposits == 1
        for number in range(1, 6)
    )


@pytest.mark.parametrize("sends_date", [True, False])
def test_versions_of_an_object_never_share_a_second(
    simulated: Fedora, export: Export, put: Harvest, sends_date: bool
) -> None:
    """Told by the server's clock; a Jetty 12 as it comes sends none."""
    assert simulated.simulator
    simulated.simulator.sends_date = sends_date
    for name in ("2", "3"):
        put(export.silo, ID, name, f"Title {name}")
    began = time.monotonic()
    assert export.run().whole
    found = export.target.find(ID)
    assert found is not None
    assert len({version.uri for version in found.versions}) == 3
    assert time.monotonic() - began > 1


def test_a_version_of_long_ago_is_not_waited_for(
    simulated: Fedora, export: Export, put: Harvest, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert simulated.simulator
    simulated.simulator.sends_date = False
    simulated.simulator._clock = lambda: time.time() - 7200
    assert export.run().whole
    put(export.silo, ID, "2", "Two")
    slept: list[float] = []
    monkeypatch.setattr("siloexport.targets.fedora.objects.time.sleep", slept.append)
    assert export.run().whole
    assert slept == []


def test_the_documents_of_their_own_can_be_left_out(
    simulated: Fedora, empty: Silo, put: Harvest
) -> None:
    put(empty, ID)
    target = FedoraTarget(simulated.container(), simulated.client)
    export = Export(empty, target, Policy(versions=Versions.ALL, unwrap=False))
    assert export.run().whole
    assert simulated.client.get_if_there(f"{target.uri_of(ID)}/oai_dc.xml") is None
    assert export.verify().differences == 0
    again = replace(export, policy=Policy(versions=Versions.ALL))
    assert again.run().actions == {ActionKind.DESCRIBE: 1}
    assert again.verify().differences == 0


@contextmanager
def recording() -> Iterator[tuple[str, list[Message]]]:
    """A server of somebody else: its address, and the headers of all that is sent to it."""
    seen: list[Message] = []

    class Handler(BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            super().handle_one_request()
            if hasattr(self, "headers"):
                seen.append(self.headers)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/rest", seen
        finally:
            server.shutdown()
            thread.join()


LDP = '<http://www.w3.org/ns/ldp#Resource>;rel="type"'


def _elsewhere(kind: str, url: str) -> Answer:
    """An answer that leads to somebody else's server."""
    memento = f"{url}/exports/fcr:versions/20240501000000"
    return {
        "fcr:tx": Answer(201, {"Location": f"{url}/fcr:tx/1"}),
        "fcr:versions": Answer(200, {"Link": LDP}, f'<{memento}>; rel="memento"'.encode()),
    }[kind]


@pytest.mark.parametrize("kind", ["fcr:tx", "fcr:versions"])
def test_nothing_is_sent_to_another_server_that_an_answer_names(
    simulated: Fedora, export: Export, put: Harvest, kind: str
) -> None:
    """Credentials would go with it."""
    simulator = simulated.simulator
    assert simulator
    assert export.run().whole
    put(export.silo, ID, "2", "Two")
    methods = {"POST"} if kind == "fcr:tx" else {"GET"}
    with recording() as (url, seen):
        simulator.interfere = lambda request: (
            _elsewhere(kind, url)
            if request.method in methods and request.path.endswith(kind)
            else None
        )
        if kind == "fcr:versions":
            with pytest.raises(TargetUnusable) as raised:
                export.reconcile()
            reason = str(raised.value)
        else:
            report = export.run(on_conflict=OnConflict.OVERWRITE)
            assert not report.whole
            reason = report.stopped
        assert "on another server than the export's" in reason
        assert seen == []
    simulator.interfere = lambda _request: None
    assert export.run().whole
    assert deposits(export) == 2


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1:8080/rest",
        "http://127.0.0.1/rest",
        "http://127.0.0.1:80800/rest",
        "http://localhost:8080/rest",
        "http://127.0.0.1:8080@example.org/rest",
        "http://example.org\\@127.0.0.1:8080/rest",
        "//127.0.0.1:8080/rest",
        "/rest",
        "file:///etc/passwd",
        "",
    ],
)
def test_another_address_is_refused_before_a_connection_is_made(url: str) -> None:
    with FedoraClient("http://127.0.0.1:8080/rest") as client, pytest.raises(OnAnotherServer):
        client.send("GET", url)


@pytest.mark.parametrize(
    ("of", "url"),
    [
        ("http://Example.org/rest", "http://example.ORG:80/fcrepo"),
        ("https://example.org:443", "HTTPS://example.org/rest/a"),
    ],
)
def test_one_server_is_one_however_its_address_is_written(of: str, url: str) -> None:
    FedoraClient(of).check_address(url)


def test_credentials_that_come_back_are_not_told(simulated: Fedora) -> None:
    assert simulated.simulator
    body = b"no such user: ann:hidden; Basic YW5uOmhpZGRlbg=="
    simulated.simulator.interfere = lambda _request: Answer(401, {}, body)
    said = r"no such user: \*\*\*; \*\*\*$"
    with (
        FedoraClient(simulated.root, (b"ann", b"hidden")) as client,
        pytest.raises(Denied, match=said),
    ):
        client.send("GET", simulated.root)
