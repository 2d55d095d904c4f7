"""An export killed at every request it makes, cut off there, or answered by something else."""

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from exporting import POLICY
from fedora_simulator import DROP, DROP_AFTER, Answer, Request, Simulator, serving
from fedora_support import ADMIN, QUICK, Harvest

from recordsilo import Silo
from reexport.engine import Export
from reexport.exits import exit_of_run
from reexport.targets.fedora import FedoraClient, FedoraTarget

IDS = [f"oai:example.org:{number}" for number in range(2)]
REQUESTS = 22
"""An export of two records takes so many, `test_the_kills_reach_every_request` holds."""


@pytest.fixture
def served() -> Iterator[tuple[Simulator, FedoraClient, str]]:
    simulator = Simulator("6.0.0")
    with serving(simulator) as root, FedoraClient(ADMIN) as client:
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


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
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


@pytest.mark.parametrize(
    "answer", [pytest.param(one, id=name) for name, one in {**OTHERS, **AFTER}.items()]
)
@pytest.mark.parametrize("number", range(6, REQUESTS + 1))
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


@pytest.mark.parametrize("answer", [DROP, PAGE, OTHERS["done"]], ids=["cut", "page", "done"])
@pytest.mark.parametrize("number", range(6, REQUESTS + 1))
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
