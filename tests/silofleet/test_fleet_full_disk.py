"""A node whose disk is full, or has no inodes left: said, waited for, and gone on with."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from power_rig import PowerRig, why_not
from silo_contents import contents

from oaipmhprovider.server import SampleServer
from recordsilo import Silo
from recordsilo.audit import Audit
from silofleet.clock import Clock, Summary
from silofleet.fleet import EndpointLine, Fleet, make_fleet
from silofleet.local_node import Here
from silofleet.orders import RunOrder
from silofleet.values import Endpoint, RunOutcome, State
from silofleet.wishes import wishes_path
from silowork.stop import Stop

RECORDS = 500
MEGABYTES, INODES = 64, 9_000
LEFT = {"blocks": 3 << 20, "inodes": 700}
"""Room for some records, and not for all."""


pytestmark = pytest.mark.long


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[str]:
    """A small disk."""
    if reason := why_not():
        pytest.skip(reason)
    with PowerRig(str(tmp_path), "data=ordered", MEGABYTES, inodes=INODES) as mounted:
        yield mounted.path


@pytest.fixture(scope="module")
def sample() -> Iterator[SampleServer]:
    with SampleServer(size=RECORDS) as server:
        yield server


def _fill(path: str, what: str, left: int) -> None:
    """Take what is free of a disk, but for so many bytes or inodes."""
    free = os.statvfs(path)
    if what == "blocks":
        with open(f"{path}/filler", "ab") as file:
            more = free.f_bavail * free.f_frsize - left
            os.posix_fallocate(file.fileno(), file.tell(), more)
    else:
        os.makedirs(f"{path}/fillers", exist_ok=True)
        begin = len(os.listdir(f"{path}/fillers"))
        for number in range(os.statvfs(path).f_favail - left):
            Path(f"{path}/fillers/{begin + number}").touch()


def _make_room(path: str) -> None:
    for filler in Path(path).glob("filler*/*"):
        filler.unlink()
    Path(path, "filler").unlink(missing_ok=True)


class _OnDisk(Here):
    """A runner whose Silos are on the disk, which fills as its first run starts."""

    def __init__(self, disk: str, what: str = "") -> None:
        super().__init__(disk, 1)
        self._disk, self._what, self.started = disk, what, 0

    def start(self, order: RunOrder, node: str = "") -> None:
        self.started += 1
        if self._what:
            _fill(self._disk, self._what, LEFT[self._what])
            self._what = ""
        super().start(replace(order, silo_path=f"{self._disk}/{order.endpoint}"), node)


def _made(directory: Path, url: str, policy: str) -> str:
    make_fleet(str(directory))
    path = Path(wishes_path(str(directory)))
    path.write_text(path.read_text("utf-8").replace("[policy]\n", f"[policy]\n{policy}\n"), "utf-8")
    with Fleet(str(directory)) as fleet:
        fleet.add([Endpoint("one", url)])
    return str(directory)


@pytest.mark.parametrize("what", ["blocks", "inodes"])
def test_a_disk_that_fills_in_the_middle_of_a_run(
    tmp_path: Path, disk: str, sample: SampleServer, what: str
) -> None:
    many = _made(tmp_path / "many", sample.base_url, "reserve = 400")
    later = timedelta()

    def ran(runner: Here) -> tuple[Summary, EndpointLine]:
        with runner:
            clock = Clock(fleet, runner, clock=lambda: datetime.now(UTC) + later)
            return clock.run(Stop(), until_idle=True), fleet.line("one")

    with Fleet(many) as fleet:
        runner = _OnDisk(disk, what)
        summary, line = ran(runner)
        assert (runner.started, summary.outcomes["one"]) == (1, RunOutcome.CUT)
        assert summary.waiting["one"] == "the disk of local has no room"
        assert (line.state, line.facts.failures) == (State.DUE, 0)
        assert f"the disk of {disk}/one is full" in line.reason
        there = contents(f"{disk}/one")
        kept = {
            name: content
            for name, content in there.items()
            if f"{name.partition('/__')[0]}/__manifest.json" in there and not name.endswith(".new")
        }  # what no manifest lists is the rest of a page that was not committed
        assert 0 < sum(name.endswith("__manifest.json") for name in kept) < RECORDS
        (node,) = fleet.nodes_as_json(datetime.now(UTC))
        assert node["room"] < RECORDS
        _fill(disk, what, 0)
        later = timedelta(hours=1)
        again = _OnDisk(disk)
        summary, line = ran(again)
        assert (again.started, list(summary.waiting)) == (0, ["one"])
        _make_room(disk)
        summary, line = ran(_OnDisk(disk))
        assert (summary.is_whole, line.state, line.facts.records) == (True, State.WHOLE, RECORDS)
    found = contents(f"{disk}/one")
    assert {name: found[name] for name in kept} == kept
    assert list(Audit(f"{disk}/one").findings()) == []


@pytest.mark.parametrize("what", ["blocks", "inodes"])
def test_a_disk_that_is_nearly_full_gets_no_new_silo(
    tmp_path: Path, disk: str, sample: SampleServer, what: str
) -> None:
    many = _made(tmp_path / "many", sample.base_url, "reserve = 400")
    _fill(disk, what, 1200 * (24_000 if what == "blocks" else 5))
    with Fleet(many) as fleet, _OnDisk(disk) as runner:
        summary = Clock(fleet, runner).run(Stop(), until_idle=True)
        assert (runner.started, list(summary.waiting)) == (0, ["one"])
        _make_room(disk)
        assert Clock(fleet, runner).run(Stop(), until_idle=True).is_whole


def _silo(*arguments: str) -> "subprocess.CompletedProcess[str]":
    program = "from recordsilo.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, "fleet", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_state_of_a_fleet_on_a_full_disk(disk: str, sample: SampleServer) -> None:
    many = _made(Path(disk, "many"), sample.base_url, "reserve = 0")
    with Fleet(many) as fleet:
        fleet.ledger.change("one", lambda facts: facts._replace(node="local"))
    for left in (LEFT["blocks"], 0):
        _fill(disk, "blocks", left)
        done = _silo("run", many, "--until-idle", "--quiet")
        assert (done.returncode in {1, 75}, "Traceback" in done.stderr) == (True, False), done
        told = ("no space left on the disk", "No space left on device", "has no room")
        assert any(one in done.stderr for one in told)
        status = _silo("status", many)
        assert (status.returncode, status.stderr) == (0, "")
        assert f"the disk of {many}/one is full" in status.stdout
    _make_room(disk)
    done = _silo("run", many, "--until-idle")
    assert (done.returncode, done.stdout) == (0, "1 endpoint run: 1 whole\n")
    with Silo(f"{many}/one", create=False) as silo:
        assert len(silo) == RECORDS
