"""Writers are killed at random moments: nothing unreadable, nothing acknowledged lost."""

import os
import tempfile
import time
from collections.abc import Iterator

import pytest
from memory import MEMORY
from ordeal import NAMES, Figures, Ordeal, mend, write_everywhere

from recordsilo import Silo

KILLS = int(os.environ.get("KILLS") or 2000)


@pytest.fixture
def directory() -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir=MEMORY) as path:
        yield path


def torture(directory: str, rounds: int, seed: int) -> Figures:
    """Kill four writers in each round, one after the other; mend after every other round."""
    path = f"{directory}/silo"
    with Silo(path) as silo:
        len(silo)
    with Ordeal(path, directory, seed) as ordeal:
        for number in range(rounds):
            ordeal.start()
            if number % 2:  # however slow the machine is; the other kills come when they come
                ordeal.wait_for(acknowledged=20)
            while ordeal.pids:
                time.sleep(ordeal.random.uniform(0.01, 0.12))
                ordeal.kill_one()
            assert ordeal.wait(), "a writer failed before it was killed"
            ordeal.check()
            if number % 2:
                mend(path)
        write_everywhere(path)
        mend(path)
    return ordeal.figures


@pytest.mark.parametrize("rounds", [4, pytest.param(12, marks=pytest.mark.long)])
def test_killed_writers_leave_every_record_whole_and_lose_nothing_acknowledged(
    directory: str, rounds: int
) -> None:
    assert torture(directory, rounds, seed=20101).acknowledged >= 10 * rounds


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_thousands_of_killed_writers_leave_every_record_whole(directory: str) -> None:
    seed = int.from_bytes(os.urandom(4))
    print(f"\nseed {seed}")
    figures = torture(directory, rounds=-(-KILLS // len(NAMES)), seed=seed)
    print(f"{figures.rounds * len(NAMES):,} kills: {figures}")
    assert figures.acknowledged > KILLS
