"""An export killed or disconnected at every request, or answered by another server."""

import itertools
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from examples import family
from exporting import POLICY
from fedora_server import serving
from fedora_simulator import Simulator
from fedora_support import ADMIN, QUICK, Fedora, Harvest, Killed, Mortal
from fedora_values import DROP, DROP_AFTER, Answer, Request

from recordsilo import Silo
from siloexport.commands.exit_codes import exit_of_run
from siloexport.engine.export import Export
from siloexport.targets.fedora import FedoraClient, FedoraTarget
from siloexport.targets.fedora.client import LINK_FORMAT
from siloexport.targets.fedora.sending import file_uri

IDS = [f"oai:example.org:{number}" for number in range(2)]
REQUESTS = 22
"""An export of two records takes so many, `test_the_kills_reach_every_request` holds."""


@pytest.fixture
def served() -> Iterator[tuple[Simulator, FedoraClient, str]]:
    simulator = Simulator("6.0.0")
    with serving(simulator) as root, FedoraClient(root, ADMIN) as client:
        yield simulator, client, f"{root}/exports"


@pytest.fixture
def filled(empty: Silo, put: Harvest) -> Silo:
    put(empty, IDS[0], files={"docs/a": b"a"})
    put(empty, IDS[1])
    return empty


def counting(simulator: Simulator, number: int, act: Callable[[], Answer | None]) -> None:
    """Act at a request, counted from 1, once."""
    seen = 0

    def interfere(_request: Request) -> Answer | None:
        nonlocal seen
        seen += 1
        return act() if seen == number else None

    simulator.interfere = interfere


def is_right(export: Export, simulator: Simulator) -> None:
    """Resumed, everything is there once, whole, and nothing is left open."""
    simulator.interfere = lambda _request: None
    assert export.run().whole
    report = export.verify()
    assert [(one.what, one.detail) for one in report.first] == []
    assert report.versions == len(IDS)
    for identifier in IDS:
        found = export.target.find(identifier)
        assert found is not None
        assert found.deposits == 1
    assert simulator.locked == set()


def killed_at(number: int, after: bool, served: tuple[Simulator, FedoraClient, str],
              silo: Silo) -> int:  # fmt: skip
    simulator, _, url = served
    process: list[subprocess.Popen[bytes]] = []

    def kill() -> Answer:
        process[0].send_signal(signal.SIGKILL)
        process[0].wait()
        return DROP_AFTER if after else DROP

    counting(simulator, number, kill)
    here = Path(__file__).parent
    process.append(
        subprocess.Popen(
            [sys.executable, here / "exporting.py", silo.path, url],
            env={**os.environ, "PYTHONPATH": str(here)},
        )
    )
    return process[0].wait()


@pytest.mark.parametrize("after", family([False, True], 1), ids=["before", "after"])
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=() if number in {8, 11} else pytest.mark.slow)
        for number in range(3, REQUESTS + 1)
    ],
)
def test_a_killed_export_goes_on_with_no_second_copy(
    served: tuple[Simulator, FedoraClient, str], filled: Silo, number: int, after: bool
) -> None:
    assert killed_at(number, after, served, filled) == -signal.SIGKILL
    simulator, client, url = served
    is_right(Export(filled, FedoraTarget(url, client), POLICY, QUICK), simulator)


def test_the_kills_reach_every_request(
    served: tuple[Simulator, FedoraClient, str], filled: Silo
) -> None:
    simulator, client, url = served
    assert Export(filled, FedoraTarget(url, client), POLICY, QUICK).run().whole
    assert len(simulator.requests) == REQUESTS


HTML = {"Content-Type": "text/html; charset=utf-8"}
PAGE = Answer(200, HTML, b"<html><head><title>Sign in</title></head><body>...</body></html>")
OTHERS = {
    "cut": DROP,
    "page": PAGE,
    "page of 404": replace(PAGE, status=404),
    "empty page": Answer(200),
    "redirection": Answer(302, {"Location": "https://sso.example.org/login"}),
    "done": Answer(204),
    "made": Answer(201, {"Location": "https://sso.example.org/login"}),
}


AFTER = {f"{name} after": replace(OTHERS[name], after=True) for name in ("cut", "page", "done")}


@pytest.mark.long
@pytest.mark.parametrize(
    "answer", [pytest.param(one, id=name) for name, one in {**OTHERS, **AFTER}.items()]
)
@pytest.mark.parametrize("number", family(range(6, REQUESTS + 1), 1))
def test_any_request_answered_by_something_else_changes_nothing(
    served: tuple[Simulator, FedoraClient, str], filled: Silo, number: int, answer: Answer
) -> None:
    simulator, client, url = served
    counting(simulator, number, lambda: answer)
    export = Export(filled, FedoraTarget(url, client), POLICY, QUICK)
    report = export.run()
    assert report.whole, report.problems
    assert report.written + report.recovered >= len(IDS)
    is_right(export, simulator)


@pytest.mark.long
@pytest.mark.parametrize("answer", [DROP, PAGE, OTHERS["done"]], ids=["cut", "page", "done"])
@pytest.mark.parametrize("number", family(range(6, REQUESTS + 1), 2))
def test_a_page_in_fedoras_place_is_named_and_nothing_counts_as_exported(
    served: tuple[Simulator, FedoraClient, str], filled: Silo, number: int, answer: Answer
) -> None:
    simulator, client, url = served
    seen = itertools.count(1)
    simulator.interfere = lambda _request: answer if next(seen) >= number else None
    export = Export(filled, FedoraTarget(url, client), POLICY, QUICK)
    report = export.run()
    simulator.interfere = lambda _request: None
    there = sum(export.target.find(identifier) is not None for identifier in IDS)
    assert report.written <= there
    assert exit_of_run(report) not in {0, 5}
    if answer is PAGE:
        assert "is not Fedora's answer: text/html" in report.stopped
    is_right(export, simulator)


Bytes = dict[tuple[str, int, str], bytes | None]
FILES = ("oai_dc", "oai_dc.xml", "same", "docs/a")


def put_versions(silo: Silo, put: Harvest, records: int = 1) -> None:
    """Three versions of each record, of which the second lacks a file that the others have."""
    for record in range(records):
        for version in ("1", "2", "3"):
            files = {"same": b"same"} | ({} if version == "2" else {"docs/a": version.encode()})
            put(silo, f"oai:example.org:{record}", version, f"Title {version}", files)


def bytes_of_each_memento(export: Export, client: FedoraClient, records: int) -> Bytes:
    """(record, memento, file) → its bytes; None where Fedora has none of that second.

    Read without the export's own code for versions: its count and order are under test.
    """
    found: Bytes = {}
    for record in (f"oai:example.org:{number}" for number in range(records)):
        held = export.target.find(record)
        assert held is not None
        time_map = client.send("GET", f"{held.uri}/fcr:versions", {"Accept": LINK_FORMAT}).text
        stamps = sorted(re.findall(r"fcr:versions/(\d{14})>", time_map))
        for number, stamp in enumerate(stamps):
            for path in FILES:
                answer = client.get_if_there(f"{file_uri(held.uri, path)}/fcr:versions/{stamp}")
                found[record, number, path] = None if answer is None else answer.body
    return found


def undisturbed(container: str, silo: Silo, put: Harvest, records: int = 1) -> Bytes:
    put_versions(silo, put, records)
    with FedoraClient(container, ADMIN) as client:
        export = Export(silo, FedoraTarget(container, client), POLICY, QUICK)
        assert export.run().whole
        found = bytes_of_each_memento(export, client, records)
    assert len(found) == records * 3 * len(FILES)
    return found


def is_as_undisturbed(
    number: int, after: bool, container: str, silo: Silo, expected: Bytes, records: int = 1
) -> bool:
    """Kill an export three times at requests it reaches; False where it ends before."""
    for again in range(3):
        with Mortal(container, number + 5 * again, after=after) as client:
            try:
                Export(silo, FedoraTarget(container, client), POLICY, QUICK).run()
            except Killed:
                continue
            if not again:
                return False
    with FedoraClient(container, ADMIN) as client:
        export = Export(silo, FedoraTarget(container, client), POLICY, QUICK)
        report = export.run()
        assert report.whole, report.problems
        for record in range(records):
            found = export.target.find(f"oai:example.org:{record}")
            assert found is not None
            assert [one.version for one in found.versions] == ["1", "2", "3"]
            assert len({one.uri for one in found.versions}) == found.deposits == 3
            assert found.is_as_left
        assert [(one.what, one.detail) for one in export.verify().first] == []
        assert bytes_of_each_memento(export, client, records) == expected
    return True


@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.long
@pytest.mark.parametrize("after", family([False, True], 1), ids=["before", "after"])
@pytest.mark.parametrize("version", family(["6.0.0", "6.5.1"], 1))
def test_versions_are_as_many_as_undisturbed_wherever_it_is_killed(
    tmp_path: Path, empty: Silo, put: Harvest, version: str, after: bool, step: int
) -> None:
    seconds = itertools.count(int(time.time()))
    simulator = Simulator(version, timeout=100_000, clock=lambda: next(seconds))
    with serving(simulator) as root:
        expected = undisturbed(f"{root}/undisturbed", empty, put)
        number = 4
        is_reached = True
        while is_reached:
            with Silo(str(tmp_path / f"s{number}"), "http://example.org/oai") as silo:
                put_versions(silo, put)
                container = f"{root}/n{number}/exports"
                is_reached = is_as_undisturbed(number, after, container, silo, expected)
            number += step
    assert number > 35


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_versions_are_as_many_as_undisturbed_on_a_real_server(
    real: Fedora, tmp_path: Path, empty: Silo, put: Harvest, after: bool
) -> None:
    """Of as many records as FEDORA_RECORDS says: requests, and so kills, grow with them."""
    records = int(os.environ.get("FEDORA_RECORDS", "1"))
    expected = undisturbed(real.container(), empty, put, records)
    for number in itertools.count(4):
        with Silo(str(tmp_path / f"s{number}"), "http://example.org/oai") as silo:
            put_versions(silo, put, records)
            container = real.container()
            if not is_as_undisturbed(number, after, container, silo, expected, records):
                break
        print(f"killed {'after' if after else 'before'} request {number}", flush=True)
    assert number > 35 * records


def test_a_commit_that_takes_effect_late_makes_no_second_version(
    served: tuple[Simulator, FedoraClient, str], empty: Silo, put: Harvest
) -> None:
    """After it was found out that nothing of the deposit is there."""
    simulator, client, url = served
    put(empty, IDS[0])
    export = Export(empty, FedoraTarget(url, client), POLICY, QUICK)
    assert export.run().whole
    put(empty, IDS[0], "2", "Two")
    late: list[Request] = []
    looked = False

    def interfere(request: Request) -> Answer | None:
        nonlocal looked
        in_transaction = "fcr:tx/" in request.path
        if not late and request.method == "PUT" and in_transaction:
            late.append(request)
            return DROP
        if late and request.method == "DELETE" and in_transaction:
            return Answer(404)
        if looked:
            simulator.interfere = lambda _request: None
            simulator.answer(late[0])
        looked = bool(late) and request.path.endswith("fcr:versions")
        return None

    simulator.interfere = interfere
    assert export.run().whole
    assert late
    found = export.target.find(IDS[0])
    assert found is not None
    assert found.deposits == 2
    assert [(one.what, one.detail) for one in export.verify().first] == []
