"""A Silo moves to another node: killed at any step it goes on, and nothing is lost."""

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from index_conformance import put
from killing import KILLED, exit_code_of

from oaipmhprovider.server import SampleServer
from recordsilo import Silo
from recordsilo.disk.locks import Locks
from silofleet import moving
from silofleet.errors import EndpointMoving, FleetRefused
from silofleet.fleet import Fleet, make_fleet
from silofleet.run import EPOCH, Order, carry_out
from silofleet.values import Endpoint, Facts, Node, Outcome
from silofleet.wishes import wishes_path

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
RECORDS = 5


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    directory = str(tmp_path / "many")
    make_fleet(directory)
    with open(wishes_path(directory), "a", encoding="utf-8") as file:
        for name in ("n1", "n2"):
            (tmp_path / name).mkdir()
            file.write(f'\n[nodes.{name}]\ngranary = "{tmp_path / name}"\n')
    with Silo(str(tmp_path / "n1" / "one")) as silo:
        for number in range(RECORDS):
            put(silo, f"oai:x:{number}", title=f"Title {number}")
    with Fleet(directory) as found:
        found.add([Endpoint("one", "http://one.example.org/oai")])
        for name in ("n1", "n2"):
            found.ledger.see(Node(name, 1, 1 << 40, 1 << 40, datetime.now(UTC)))
        found.ledger.change("one", _on_n1)
        yield found


def _on_n1(facts: Facts) -> Facts:
    return Facts(facts.name, facts.host, facts.added, node="n1", epoch=1, records=RECORDS)


def _move(fleet: Fleet, target: str = "n2") -> str | None:
    return moving.move(fleet, "one", target, lambda _said: None)


def _check_moved(fleet: Fleet, tmp_path: Path) -> None:
    facts = fleet.ledger.facts_of("one")
    assert (facts.node, facts.epoch) == ("n2", 2)
    assert fleet.ledger.move_of("one") is None
    with Silo(str(tmp_path / "n2" / "one"), create=False) as silo:
        assert silo.state[EPOCH] == 2
        assert len(silo) == RECORDS
    assert not (tmp_path / "n1" / "one").exists()
    (kept,) = (tmp_path / "n1" / ".moved").iterdir()
    with Silo(str(kept), create=False) as silo:
        assert EPOCH not in silo.state
        assert len(silo) == RECORDS
    assert list((tmp_path / "n2" / ".moving").iterdir()) == []


def test_a_silo_moves_with_the_next_epoch_and_the_old_one_is_kept(
    fleet: Fleet, tmp_path: Path
) -> None:
    kept = _move(fleet)
    assert kept is not None
    assert kept.startswith(str(tmp_path / "n1" / ".moved" / "one-"))
    _check_moved(fleet, tmp_path)
    with pytest.raises(FleetRefused, match="on n2 already"):
        _move(fleet)


@pytest.mark.long
def test_a_move_that_is_killed_at_any_step_goes_on(fleet: Fleet, tmp_path: Path) -> None:
    program = str(Path(__file__).parent / "killed_move.py")
    number = 1
    while exit_code_of(program, fleet.directory, str(number)) == KILLED:
        number += 1
        if fleet.ledger.move_of("one"):
            with pytest.raises(EndpointMoving):
                fleet.ledger.begin("one", "n1", NOW)
    assert number > 6
    _check_moved(fleet, tmp_path)


@pytest.mark.parametrize("step", ["_copy", "_compare", "_set_epoch", "switch", "end_move"])
def test_a_move_goes_on_after_each_step(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    owner: Any = moving if step.startswith("_") else type(fleet.ledger)

    def killed(*_arguments: Any, **_named: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(owner, step, killed)
        with pytest.raises(KeyboardInterrupt):
            _move(fleet)
    with pytest.raises(EndpointMoving):
        fleet.ledger.begin("one", "n1", NOW)
    with pytest.raises(EndpointMoving):
        _move(fleet, "n1")
    _move(fleet)
    _check_moved(fleet, tmp_path)


def test_a_full_disk_leaves_the_silo_where_it_is(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, left = moving.shutil.copy2, 3

    def copy2(one: str, other: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, "No space left on device", other)
        real(one, other)

    with monkeypatch.context() as patch:
        patch.setattr(moving.shutil, "copy2", copy2)
        with pytest.raises(FleetRefused, match=r"nothing was moved.*No space"):
            _move(fleet)
    assert fleet.ledger.move_of("one") is None
    assert list((tmp_path / "n2" / ".moving").iterdir()) == []
    with Silo(str(tmp_path / "n1" / "one"), create=False) as silo:
        assert len(silo) == RECORDS
    _move(fleet)
    _check_moved(fleet, tmp_path)


def test_a_copy_of_an_earlier_move_is_not_taken_for_that_of_this_one(
    fleet: Fleet, tmp_path: Path
) -> None:
    old = tmp_path / "n2" / "one"
    shutil.copytree(tmp_path / "n1" / "one", old)
    with Silo(str(old), create=False) as silo:
        silo.del_item("oai:x:0")
        silo.state[EPOCH], silo.state[moving.MOVED] = 2, NOW.isoformat()
        silo.state.sync()
    _move(fleet)
    _check_moved(fleet, tmp_path)
    assert [one.name for one in (tmp_path / "n2" / ".moved").glob("one-*-before")]


def test_runs_of_the_old_node_and_of_the_old_epoch_are_refused(
    fleet: Fleet, tmp_path: Path
) -> None:
    _move(fleet)
    with SampleServer(size=5) as sample:
        for node, epoch, said in (
            ("n1", 1, "not on this node"), ("n1", 2, "not on this node"), ("n2", 1, "the epoch 2"),
        ):  # fmt: skip
            order = Order(1, "one", str(tmp_path / node / "one"), sample.base_url, epoch=epoch)
            ended = carry_out(order, lambda _done, _total: None)
            assert ended.outcome is Outcome.CUT
            assert said in ended.said
    with pytest.raises(EndpointMoving):  # a clock that has not read yet that it was moved
        fleet.ledger.begin("one", "n1", NOW)


def test_what_cannot_be_moved_is_refused_and_nothing_changes(fleet: Fleet, tmp_path: Path) -> None:
    with pytest.raises(FleetRefused, match="does not report"):
        _move(fleet, "n3")
    fleet.ledger.see(Node("local", 1, 1 << 20, 1 << 40, NOW))
    with pytest.raises(FleetRefused, match="no room"):
        _move(fleet, "local")
    fleet.ledger.see(Node("n4", 1, 1 << 40, 1 << 40, datetime.now(UTC)))
    with pytest.raises(FleetRefused, match=r"\[nodes.n4\] granary"):
        _move(fleet, "n4")
    locks = Locks(str(tmp_path / "n1" / "one" / ".silo" / "locks"))
    with locks.hold_name("harvester"), pytest.raises(FleetRefused, match="harvest of one is at"):
        _move(fleet)
    fleet.ledger.begin("one", "n1", NOW)
    with pytest.raises(FleetRefused, match="one is at work"):
        _move(fleet)
    assert fleet.ledger.move_of("one") is None
    assert fleet.ledger.facts_of("one").node == "n1"


def test_between_nodes_that_share_a_directory_nothing_is_copied(
    fleet: Fleet, tmp_path: Path
) -> None:
    path = Path(wishes_path(fleet.directory))
    path.write_text(path.read_text("utf-8").replace(f'"{tmp_path / "n2"}"', f'"{tmp_path / "n1"}"'))
    assert _move(fleet) is None
    facts = fleet.ledger.facts_of("one")
    assert (facts.node, facts.epoch, fleet.ledger.move_of("one")) == ("n2", 1, None)
    assert os.listdir(tmp_path / "n1") == ["one"]


def test_another_machine_is_reached_by_rsync_and_ssh(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(wishes_path(fleet.directory))
    path.write_text(path.read_text("utf-8").replace(f'"{tmp_path / "n2"}"', '"h2:/srv/s"'), "utf-8")
    ran: list[str] = []

    def run(command: list[str], **_given: Any) -> Any:
        ran.append(" ".join(command))
        is_test = "test -d" in ran[-1]
        return subprocess.CompletedProcess(command, 1 if is_test else 0, "", "")

    monkeypatch.setattr(moving.subprocess, "run", run)
    _move(fleet)
    one, other = f"{tmp_path}/n1/one/", "h2:/srv/s/.moving/one/"
    ssh = "ssh -o BatchMode=yes h2 "
    assert ran[:4] == [
        f"{ssh}test -d /srv/s/one",
        f"{ssh}mkdir -p /srv/s/.moving",
        f"rsync -a -s --delete {one} {other}",
        f"rsync -a -s --delete --checksum --dry-run --itemize-changes {one} {other}",
    ]
    assert ran[4].endswith(" h2:/srv/s/.moving/one/persisted_state.json")
    assert ran[5] == f"{ssh}sync && mv -T /srv/s/.moving/one /srv/s/one && sync"
    assert fleet.ledger.facts_of("one").node == "n2"
    assert os.listdir(tmp_path / "n1") == [".moved"]
