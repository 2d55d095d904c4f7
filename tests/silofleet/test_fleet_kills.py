"""A fleet on several workers whose parts are killed at random: nothing is lost, nobody hurried."""

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import pytest
from parts import PROGRAM, Part, wait
from ports import free_port
from redis_server import redis_on
from repositories import Repositories, repositories

from recordsilo import Silo
from silofleet.fleet import Fleet, make_fleet
from silofleet.values import Endpoint, State
from silofleet.wishes import wishes_path

INTERVAL = 0.1
JITTER = 0.08
"""Seconds by which a busy machine may delay a request more than the next one."""


@contextmanager
def _fleet(
    tmp_path: Path, workers: int, kept: Repositories
) -> Iterator[tuple[Fleet, list[Callable[[], None]]]]:
    """A fleet at work; yields it, and functions that kill its parts."""
    port = free_port()
    url = f"redis://127.0.0.1:{port}/0"
    directory = str(tmp_path / "many")
    make_fleet(directory)
    hosts = {one.split("/")[2] for one in kept.urls}
    with open(wishes_path(directory), "a", encoding="utf-8") as file:
        file.writelines(f'\n[hosts."{host}"]\ninterval = {INTERVAL}\n' for host in hosts)
    with ExitStack() as stack:
        fleet = stack.enter_context(Fleet(directory))
        fleet.add([Endpoint(f"e{number}", one) for number, one in enumerate(kept.urls)])
        server = [stack.enter_context(redis_on(port, tmp_path))]
        silo = [sys.executable, PROGRAM, "fleet"]
        parts = [
            Part(
                [*silo, "worker", str(tmp_path / f"n{one}"), "--node", f"n{one}", "--slots", "3",
                 "--broker", url],
                tmp_path / f"n{one}.log",
            )
            for one in range(workers)
        ]  # fmt: skip
        parts.append(Part([*silo, "run", directory, "--broker", url], tmp_path / "clock.log"))
        for one in parts:
            stack.callback(one.end)

        def kill_redis() -> None:
            server[0].kill()
            server[0].wait()
            server[0] = stack.enter_context(redis_on(port, tmp_path))

        def kill_run() -> None:
            found = _descendants({one.process.pid for one in parts[:-1]})
            if found:
                with suppress(ProcessLookupError):
                    os.kill(random.choice(sorted(found)), signal.SIGKILL)

        yield fleet, [*(one.kill for one in parts), kill_redis, kill_run, kill_run]


def _descendants(roots: set[int]) -> set[int]:
    """Processes below others: servers that fork, and runs."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, ValueError):
                stat = (entry / "stat").read_text(errors="replace")
                parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found: set[int] = set()
    grown = True
    while grown:
        new = {pid for pid, above in parents.items() if above in roots | found} - found
        grown = bool(new)
        found |= new
    return found


@pytest.mark.long
@pytest.mark.timeout(240)
def test_a_fleet_whose_parts_are_killed_has_all_records(tmp_path: Path) -> None:
    _survives(tmp_path, hosts=4, each=3, workers=2, kills=12, seed=20261123)


@pytest.mark.slow
def test_a_large_fleet_whose_parts_are_killed_has_all_records(tmp_path: Path) -> None:
    kills = int(os.environ.get("KILLS", "200"))
    _survives(tmp_path, hosts=40, each=5, workers=3, kills=kills, seed=1)


def _survives(
    tmp_path: Path, *, hosts: int, each: int, workers: int, kills: int, seed: int
) -> None:
    random.seed(seed)
    records = 60
    with (
        repositories(hosts, each, records) as kept,
        _fleet(tmp_path, workers, kept) as (
            fleet,
            ways,
        ),
    ):
        names = list(fleet.wishes.endpoints)
        wait(lambda: any(one.facts.run for one in fleet.lines()), 60, tmp_path)
        for number in range(kills):
            time.sleep(random.uniform(0.2, 1.2))
            random.choice(ways)()
            if number % 4 == 3:
                fleet.run_now(random.sample(names, max(1, len(names) // 3)))
        wait(
            lambda: all(one.state is State.WHOLE for one in fleet.lines()),
            60 + 2 * len(names),
            tmp_path,
        )
        for line in fleet.lines():
            with Silo(str(tmp_path / line.facts.node / line.endpoint.name), create=False) as silo:
                number = line.endpoint.name[1:]
                assert set(silo) == {f"oai:r{number}:{one}" for one in range(records)}
            assert line.facts.records == records
        assert fleet.ledger.open_runs() == []
        for host, moments in kept.asked.items():
            gaps = [after - before for before, after in pairwise(moments)]
            assert min(gaps) > INTERVAL - JITTER, (host, sorted(gaps)[:5])
