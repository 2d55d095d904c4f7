"""Power failures while four writers work: acknowledged changes are present and complete.

Where the machine lets an image be mounted some cuts are part of the normal suite;
elsewhere they are among the slow tests, which skip them and say why.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from examples import family
from ordeal import Figures, Ordeal, mend, write_everywhere
from power_rig import GRADES_OF_EXT4, PowerRig, why_not

from recordsilo import Silo

CUTS = int(os.environ.get("CUTS") or 100)
GRADES = ("strict", "group")
where_possible = [pytest.mark.slow] if why_not() else []


@pytest.fixture(params=family(GRADES_OF_EXT4, 1))
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PowerRig]:
    if reason := why_not():
        pytest.skip(reason)
    with PowerRig(str(tmp_path), GRADES_OF_EXT4[request.param]) as mounted:
        yield mounted


def cut_power(rig: PowerRig, notes: Path, grade: str, cuts: int, seed: int) -> Figures:
    """Cut the power in the midst of the work, again and again; mend after every third cut."""
    path = f"{rig.path}/silo"
    with Silo(path) as silo:
        len(silo)
    with Ordeal(path, str(notes), seed, grade) as ordeal:
        for number in range(cuts):
            ordeal.start()
            time.sleep(ordeal.random.uniform(0.2, 1.2))
            if number % 2:  # however slow the machine is; the other cuts come when they come
                ordeal.wait_for(acknowledged=20)
            assert ordeal.all_at_work(), "a writer failed before the power was cut"
            rig.cut()
            ordeal.kill()
            ordeal.wait()
            rig.power_on()
            ordeal.check()
            if number % 3 == 2:
                mend(path)
        if grade != "strict":  # a group flushes nothing in between, so a power cut may tear
            mend(path)  # a staged manifest and keep what came later; repair knows what that is
        write_everywhere(path)
        mend(path)
    return ordeal.figures


@pytest.mark.long
@pytest.mark.parametrize("grade", [pytest.param(grade, marks=where_possible) for grade in GRADES])
def test_power_cut_loses_nothing_acknowledged(rig: PowerRig, grade: str, tmp_path: Path) -> None:
    assert cut_power(rig, tmp_path, grade, cuts=2, seed=20101).acknowledged >= 20


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("grade", GRADES)
def test_hundreds_of_power_cuts_lose_nothing_acknowledged(
    rig: PowerRig, grade: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    seed = int.from_bytes(os.urandom(4))
    print(f"\nseed {seed}")
    figures = cut_power(rig, tmp_path, grade, CUTS, seed)
    print(f"{request.node.callspec.id}: {figures}")
    assert figures.rounds == CUTS


@pytest.mark.parametrize("rig", [pytest.param("ordered", marks=where_possible)], indirect=True)
@pytest.mark.long
def test_power_cut_finds_out_a_store_that_does_not_flush(rig: PowerRig, tmp_path: Path) -> None:
    """The rig is able to show a fault: the same writers, with every flush left out."""
    with pytest.raises(AssertionError, match="findings of damage"):
        cut_power(rig, tmp_path, "careless", cuts=3, seed=20101)
