"""A fleet on several workers whose parts are killed at random: nothing is lost, nobody hurried."""

import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from intervals import Delays, check_interval
from parts import PROGRAM, Part, wait
from ports import free_port
from redis_server import redis_on
from repositories import Repositories, repositories
from silo_contents import contents

from silofleet.clock import Clock
from silofleet.fleet import Fleet, make_fleet
from silofleet.local_node import Here
from silofleet.values import Endpoint, RunOutcome
from silofleet.wishes import wishes_path
from silowork.stop import Stop

INTERVAL = 0.4
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@contextmanager
def _fleet(directory: Path, kept: Repositories, interval: float) -> Iterator[Fleet]:
    """A fleet of all repositories, with an interval for their hosts."""
    make_fleet(str(directory))
    with open(wishes_path(str(directory)), "a", encoding="utf-8") as file:
        file.writelines(f'\n[hosts."{host}"]\ninterval = {interval}\n' for host in kept.hosts)
    with Fleet(str(directory)) as fleet:
        fleet.add([Endpoint(f"e{number:03}", one) for number, one in enumerate(kept.urls)])
        yield fleet


@contextmanager
def _at_work(tmp_path: Path, workers: int, fleet: Fleet) -> Iterator[dict[str, Callable[[], None]]]:
    """Run a fleet; yields functions that kill its parts."""
    port = free_port()
    url = f"redis://127.0.0.1:{port}/0"
    with ExitStack() as stack:
        server = [stack.enter_context(redis_on(port, tmp_path))]
        silo = [sys.executable, PROGRAM, "fleet"]
        parts = {
            f"worker n{one}": Part(
                [*silo, "worker", str(tmp_path / f"n{one}"), "--node", f"n{one}", "--slots", "8",
                 "--broker", url],
                tmp_path / f"n{one}.log",
            )
            for one in range(workers)
        }  # fmt: skip
        nodes = list(parts.values())
        parts["clock"] = Part(
            [*silo, "run", fleet.directory, "--broker", url], tmp_path / "clock.log"
        )
        for one in parts.values():
            stack.callback(one.end)

        def kill_redis() -> None:
            server[0].kill()
            server[0].wait()
            server[0] = stack.enter_context(redis_on(port, tmp_path))

        def kill_run() -> None:
            found = _descendants({one.process.pid for one in nodes})
            if found:
                with suppress(ProcessLookupError):
                    os.kill(random.choice(sorted(found)), signal.SIGKILL)

        yield {name: one.kill for name, one in parts.items()} | {
            "Redis": kill_redis, "run": kill_run, "another run": kill_run,
        }  # fmt: skip


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
def test_a_fleet_whose_parts_are_killed_has_all_records(tmp_path: Path) -> None:
    _survives(tmp_path, hosts=15, each=2, workers=2, kills=8)


@pytest.mark.slow
def test_a_large_fleet_whose_parts_are_killed_has_all_records(tmp_path: Path) -> None:
    kills = int(os.environ.get("KILLS", "200"))
    _survives(tmp_path, hosts=40, each=5, workers=3, kills=kills)


@dataclass(frozen=True)
class _Found:
    """What the harvest of an endpoint came to."""

    outcome: RunOutcome | None
    records: int
    files: dict[str, Any]
    pages: Counter[str]


def _survives(tmp_path: Path, *, hosts: int, each: int, workers: int, kills: int) -> None:
    seed = int(os.environ.get("SEED", "0")) or random.randrange(1, 1 << 32)
    print(f"SEED={seed}")
    random.seed(seed)
    with repositories(hosts, each) as kept:
        expected = _undisturbed(tmp_path / "quiet", kept)
        kept.forget()
        with (
            Delays() as delays,
            _fleet(tmp_path / "many", kept, INTERVAL) as fleet,
            _at_work(tmp_path, workers, fleet) as parts,
        ):
            asked = _killed(fleet, kept, parts, kills)
            wait(lambda: _is_done(fleet, asked), 150 + 2 * len(kept.urls), tmp_path)
            found = _found(fleet, kept, lambda node: tmp_path / node)
            _check(fleet, expected, found)
        for host, one in kept.hosts.items():
            check_interval(host, one.asked, INTERVAL, delays)


def _undisturbed(directory: Path, kept: Repositories) -> dict[str, _Found]:
    """Harvest all on this machine, without a Redis."""
    with _fleet(directory, kept, 0.001) as fleet:
        with Here(str(directory), 8) as here:
            summary = Clock(fleet, here).run(Stop(), until_idle=True)
        usual = {RunOutcome.WHOLE, RunOutcome.PARTIAL}
        facts = [line.facts for line in fleet.lines()]
        others = [(one.name, one.said) for one in facts if one.outcome not in usual]
        assert set(summary.outcomes.values()) == usual, others
        return _found(fleet, kept, lambda _: directory)


def _found(fleet: Fleet, kept: Repositories, place: Callable[[str], Path]) -> dict[str, _Found]:
    return {
        line.endpoint.name: _Found(
            line.facts.outcome,
            line.facts.records,
            contents(str(place(line.facts.node) / line.endpoint.name)),
            pages,
        )
        for line, pages in zip(fleet.lines(), kept.pages(), strict=True)
    }


def _killed(
    fleet: Fleet, kept: Repositories, parts: dict[str, Callable[[], None]], kills: int
) -> dict[str, datetime]:
    """Kill each part again and again; returns when endpoints were asked to run meanwhile."""
    names, asked = list(fleet.wishes.endpoints), {}
    order: list[str] = []
    while len(order) < kills:
        order += random.sample([*parts], len(parts))
    for number, part in enumerate(order[:kills]):
        requests = kept.requests + random.randint(1, 20)
        end = time.monotonic() + 10
        while kept.requests < requests and time.monotonic() < end:
            time.sleep(0.01)
        parts[part]()
        if number % 4 == 3:
            now = datetime.now(UTC)
            asked |= dict.fromkeys(fleet.run_now(random.sample(names, len(names) // 4)), now)
    return asked


def _is_done(fleet: Fleet, asked: dict[str, datetime]) -> bool:
    """Whether every endpoint has been harvested, since it was asked to."""
    return all(
        line.facts.run == 0
        and not line.facts.is_asked
        and line.facts.outcome not in {None, RunOutcome.CUT}
        and (line.facts.ended or _LONG_AGO) > asked.get(line.endpoint.name, _LONG_AGO)
        for line in fleet.lines()
    )


def _check(fleet: Fleet, expected: dict[str, _Found], found: dict[str, _Found]) -> None:
    assert fleet.ledger.open_runs() == []
    for line in fleet.lines():
        name = line.endpoint.name
        is_so, should = found[name], expected[name]
        assert (name, is_so.outcome, is_so.records) == (name, should.outcome, should.records)
        assert is_so.files == should.files, name
        outcomes = Counter(one.outcome for one in fleet.ledger.runs_of(name, 1000))
        assert set(outcomes) <= {should.outcome, RunOutcome.CUT}, name
        again = {query: n - max(1, should.pages[query]) for query, n in is_so.pages.items()}
        assert sum(max(0, n) for n in again.values()) <= outcomes[RunOutcome.CUT], (name, again)
