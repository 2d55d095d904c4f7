"""A worker learns at once that a job waits."""

import sys
import time
from pathlib import Path

import pytest

from recordsilo import Granary
from recordsilo.errors import VERSION_FILE
from silowork.ledger import JobLedger
from silowork.service import Jobs
from silowork.waking import Waking, wake
from silowork.watching import WatchedSilos

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such names")


def test_the_worker_of_a_silo_and_that_of_its_directory_hear_of_a_job(tmp_path: Path) -> None:
    silo, other = tmp_path / "many" / "a", tmp_path / "many" / "b"
    silo.mkdir(parents=True)
    (silo / VERSION_FILE).touch()
    with Waking(str(silo)) as own, Waking(str(silo.parent)) as of_all, Waking(str(other)) as no:
        Jobs.of(str(silo)).begin("audit", "Audit", {}, "ada")
        wake(str(silo))
        assert own.wait(5) == {"a"}
        assert of_all.wait(5) == {"a"}
        assert no.wait(0) == set()


def test_a_silo_is_heard_of_by_another_path_of_its_directory(tmp_path: Path) -> None:
    (tmp_path / "many" / "a").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "many")
    with Waking(str(tmp_path / "many")) as waking:
        wake(str(tmp_path / "link" / "a"))
        assert waking.wait(5) == {"a"}


def test_nobody_need_hear_and_a_second_worker_hears_nothing(tmp_path: Path) -> None:
    wake(str(tmp_path))
    with Waking(str(tmp_path)) as first, Waking(str(tmp_path)) as second:
        for _ in range(1000):  # more than are kept for one that does not listen
            wake(str(tmp_path))
        begun = time.monotonic()
        assert second.wait(0.01) == set()
        assert time.monotonic() - begun < 5
        assert first.wait(5) == {tmp_path.name}
        assert first.wait(0) == set()


def test_only_the_silos_that_are_told_of_are_looked_at(tmp_path: Path) -> None:
    granary = Granary(str(tmp_path / "many"))
    for name in "ab":
        granary.get_silo(name).close()
    silos = WatchedSilos(str(tmp_path / "many"))
    silos.look()
    for name in "ab":
        JobLedger(str(tmp_path / "many" / name)).add("audit", "Audit", {}, "ada")
    silos.look_at({"b", "unknown", "../a"})
    assert [len(silo.waiting) for silo in silos] == [0, 1]


def test_the_only_silo_is_looked_at_whatever_is_said(tmp_path: Path) -> None:
    Granary(str(tmp_path)).get_silo("a").close()
    silos = WatchedSilos(str(tmp_path / "a"))
    silos.look()
    JobLedger(str(tmp_path / "a")).add("audit", "Audit", {}, "ada")
    silos.look_at({"another name"})
    assert [len(silo.waiting) for silo in silos] == [1]
