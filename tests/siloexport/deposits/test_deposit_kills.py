"""Exports that are killed, and servers that go down in the middle: nothing twice, nothing lost."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import exporting_deposits
import invenio_simulator
import pytest
import sword_simulator
from loopback_peer import LOST, Answer

from recordsilo import Silo

SCRIPT = Path(exporting_deposits.__file__)
KINDS = ["sword", "steps", "invenio"]
RECORDS = 30
KILLS = 12

pytestmark = pytest.mark.slow


@pytest.fixture
def filled(silo: Silo, harvest: Callable[..., None]) -> Silo:
    for number in range(5, RECORDS + 2):
        harvest(silo, f"oai:example.org:{number}", f"Title {number}")
    return silo


@pytest.fixture(params=KINDS)
def peer(request: pytest.FixtureRequest) -> tuple[str, Any, str]:
    """The kind, the simulator, and its address."""
    kind = str(request.param)
    if kind == "invenio":
        simulator = request.getfixturevalue("invenio")
        simulator.needed = ("title",)
        return kind, simulator, simulator.base
    simulator = request.getfixturevalue("repository")
    return kind, simulator, f"{simulator.base}/sword/service"


def there(simulator: Any) -> Counter[str]:
    """How often each record is there, published or deposited."""
    if isinstance(simulator, invenio_simulator.Simulator):
        kept = simulator.kept.values()
        return Counter(one.metadata["identifiers"][0]["identifier"] for one in kept)
    assert isinstance(simulator, sword_simulator.Simulator)
    return Counter(one.slug for one in simulator.kept.values())


def check_whole(kind: str, filled: Silo, simulator: Any, url: str) -> None:
    report = exporting_deposits.export(kind, filled, url).run()
    assert report.whole, report.problems
    found = there(simulator)
    assert len(found) == RECORDS
    assert set(found.values()) == {1}
    verified = exporting_deposits.export(kind, filled, url).verify()
    assert (verified.records, verified.differences) == (RECORDS, 0)
    assert not verified.unreadable


def test_killed_exports_are_continued(filled: Silo, peer: tuple[str, Any, str]) -> None:
    kind, simulator, url = peer
    chance = random.Random(kind)
    for _ in range(KILLS):
        paths = os.pathsep.join(sys.path)
        process = subprocess.Popen(
            [sys.executable, SCRIPT, kind, filled.path, url],
            env={**os.environ, "PYTHONPATH": paths},
        )
        asked = len(simulator.asked)
        while len(simulator.asked) == asked and process.poll() is None:
            time.sleep(0.005)
        time.sleep(chance.random() * 0.4)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert any(there(simulator).values())
    check_whole(kind, filled, simulator, url)


@pytest.mark.parametrize("seed", range(4))
def test_server_that_goes_down_in_the_middle_stops_the_run(
    filled: Silo, peer: tuple[str, Any, str], seed: int
) -> None:
    kind, simulator, url = peer
    left = random.Random(seed).randrange(5, 80)

    def gone(_request: object) -> Answer | None:
        return Answer(LOST) if len(simulator.asked) > left else None

    simulator.before = simulator.after = gone
    report = exporting_deposits.export(kind, filled, url).run(jobs=2)
    assert not report.whole
    assert report.stopped
    simulator.before = simulator.after = lambda _request: None
    check_whole(kind, filled, simulator, url)
