"""One large repository, whose requests are sent by two nodes; also while parts are killed."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import pytest
from fake_repository import IDENTIFY, envelope
from intervals import Delays, check_interval
from lines import HOST, URL, Lines, Windowed, lines_to
from parts import PROGRAM, Part, wait
from ports import free_port
from redis_server import redis_on

from recordsilo import Silo
from silofleet.fleet import Fleet, make_fleet
from silofleet.values import Endpoint, State
from silofleet.wishes import wishes_path

INTERVAL = 0.25
LEASES = {"SECONDS_UNTIL_LOST": "12"}
"""So long a busy machine may take to start a run."""
DAYS, EACH_DAY = 40, 4


@dataclass
class _Work:
    """A fleet at work, and what its nodes ask."""

    fleet: Fleet
    lines: Lines
    nodes: list[Part]
    place: Path
    redis: list["subprocess.Popen[bytes]"]
    stack: ExitStack
    port: int
    delays: Delays

    def kill_redis(self) -> None:
        self.redis[0].kill()
        self.redis[0].wait()
        self.redis[0] = self.stack.enter_context(redis_on(self.port, self.place))


@contextmanager
def _work(tmp_path: Path, *, seconds: float) -> Iterator[_Work]:
    first = date.today() - timedelta(days=DAYS)  # noqa: DTZ011  # any day does
    identify = IDENTIFY.format(granularity="YYYY-MM-DD", descriptions="")
    page = envelope(identify.replace("0001-01-01", first.isoformat()))
    repository = Windowed(page_size=5)
    repository.answers.append(lambda asked: page if asked["verb"] == "Identify" else None)
    for number in range(DAYS * EACH_DAY):
        day = first + timedelta(days=number // EACH_DAY)
        repository.add(f"oai:x:{number}", day.isoformat(), f"Title {number}")
    port = free_port()
    url = f"redis://127.0.0.1:{port}/0"
    directory = str(tmp_path / "many")
    make_fleet(directory)
    with open(wishes_path(directory), "a", encoding="utf-8") as file:
        file.write(f'\n[hosts."{HOST}"]\ninterval = {INTERVAL}\n')
    with ExitStack() as stack:
        delays = stack.enter_context(Delays())
        lines = stack.enter_context(lines_to(repository, 2, seconds))
        fleet = stack.enter_context(Fleet(directory))
        fleet.add([Endpoint("big", URL, window=timedelta(days=8), is_spread=True)])
        redis = [stack.enter_context(redis_on(port, tmp_path))]
        silo = [sys.executable, PROGRAM, "fleet"]
        nodes = [
            Part(
                [*silo, "worker", str(tmp_path / f"n{one}"), "--node", f"n{one}", "--slots", "1",
                 "--broker", url],
                tmp_path / f"n{one}.log",
                os.environ
                | LEASES
                | {"http_proxy": f"http://127.0.0.1:{lines.ports[one]}", "no_proxy": ""},
            )
            for one in range(2)
        ]  # fmt: skip
        clock = Part(
            [*silo, "run", directory, "--broker", url], tmp_path / "clock.log", os.environ | LEASES
        )
        for one in [*nodes, clock]:
            stack.callback(one.end)
        yield _Work(fleet, lines, nodes, tmp_path, redis, stack, port, delays)


def _check(work: _Work) -> str:
    """Check the Silo, its receipt, and the times of the requests; return what the run said."""
    line = work.fleet.line("big")
    path = work.place / line.facts.node / "big"
    with Silo(str(path), create=False) as silo:
        assert set(silo) == {f"oai:x:{number}" for number in range(DAYS * EACH_DAY)}
    receipt = json.loads(max((path / "harvests").glob("*-receipt.json")).read_text())
    assert receipt["whole"]
    assert receipt["counts"]["listed"] == DAYS * EACH_DAY + receipt["counts"]["duplicates"]
    moments = [moment for moment, _, _ in work.lines.asked]
    check_interval(HOST, moments, INTERVAL, work.delays)
    return line.facts.said


@pytest.mark.long
@pytest.mark.timeout(180)
def test_two_nodes_share_the_requests_of_one_repository(tmp_path: Path) -> None:
    with _work(tmp_path, seconds=0.8) as work:
        wait(lambda: work.fleet.line("big").state is State.WHOLE, 120, tmp_path)
        said = _check(work)
        assert " by n0" in said
        assert " by n1" in said
        assert work.lines.used == {0, 1}
        assert work.lines.most > 1


@pytest.mark.long
@pytest.mark.timeout(240)
def test_nothing_is_lost_if_workers_and_the_redis_are_killed_in_the_middle(tmp_path: Path) -> None:
    with _work(tmp_path, seconds=1.0) as work:

        def asked(count: int) -> None:
            wait(lambda: len(work.lines.asked) >= count, 60, tmp_path)

        asked(6)
        owner = int(work.fleet.line("big").facts.node[1:])
        work.nodes[1 - owner].kill()
        asked(12)
        work.kill_redis()
        asked(17)
        work.nodes[owner].kill()
        asked(23)
        wait(lambda: work.fleet.line("big").state is State.WHOLE, 120, tmp_path)
        _check(work)
        assert work.fleet.ledger.open_runs() == []
