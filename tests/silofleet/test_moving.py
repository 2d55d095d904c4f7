"""A Silo moves to another node: killed at any step it goes on, and nothing is lost."""

import errno
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from killing import KILLED, exit_code_of
from two_nodes import RECORDS, check_moved, fleet_of_two_nodes

from oaipmhprovider.server import SampleServer
from recordsilo import Silo
from recordsilo.disk.locks import Locks
from silofleet import moving, silo_directories
from silofleet.errors import EndpointMoving, FleetRefused
from silofleet.fleet import Fleet
from silofleet.ledger import FleetLedger
from silofleet.orders import RunOrder
from silofleet.run import EPOCH, carry_out
from silofleet.silo_directories import SiloDirectory
from silofleet.values import Endpoint, Node, RunOutcome
from silofleet.wishes import wishes_path

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    with fleet_of_two_nodes(tmp_path) as found:
        yield found


def _move(fleet: Fleet, target: str = "n2") -> str | None:
    return moving.move(fleet, "one", target, lambda _said: None)


def test_a_silo_moves_with_the_next_epoch_and_the_old_one_is_kept(
    fleet: Fleet, tmp_path: Path
) -> None:
    kept = _move(fleet)
    assert kept is not None
    assert kept.startswith(str(tmp_path / "n1" / ".moved" / "one-"))
    check_moved(fleet, tmp_path)
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
    check_moved(fleet, tmp_path)


@pytest.mark.parametrize("step", ["copy", "compare", "settle", "switch", "end_move"])
def test_a_move_goes_on_after_each_step(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    owner: Any = {"settle": SiloDirectory, "switch": FleetLedger, "end_move": FleetLedger}.get(
        step, moving
    )

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
    check_moved(fleet, tmp_path)


def test_a_full_disk_leaves_the_silo_where_it_is(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, left = silo_directories.shutil.copy2, 3

    def copy2(one: str, other: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, "No space left on device", other)
        real(one, other)

    with monkeypatch.context() as patch:
        patch.setattr(silo_directories.shutil, "copy2", copy2)
        with pytest.raises(FleetRefused, match=r"nothing was moved.*No space"):
            _move(fleet)
    assert fleet.ledger.move_of("one") is None
    assert list((tmp_path / "n2" / ".moving").iterdir()) == []
    with Silo(str(tmp_path / "n1" / "one"), create=False) as silo:
        assert len(silo) == RECORDS
    _move(fleet)
    check_moved(fleet, tmp_path)


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
    check_moved(fleet, tmp_path)
    assert [one.name for one in (tmp_path / "n2" / ".moved").glob("one-*-before")]


def test_runs_of_the_old_node_and_of_the_old_epoch_are_refused(
    fleet: Fleet, tmp_path: Path
) -> None:
    _move(fleet)
    with SampleServer(size=5) as sample:
        for node, epoch, said in (
            ("n1", 1, "not on this node"), ("n1", 2, "not on this node"), ("n2", 1, "the epoch 2"),
        ):  # fmt: skip
            order = RunOrder(
                1, str(tmp_path / node / "one"), Endpoint("one", sample.base_url), epoch
            )
            ended = carry_out(order, lambda _receipt: None)
            assert ended.outcome is RunOutcome.CUT
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
    note = tmp_path / "n1" / "one" / "note"
    note.symlink_to(tmp_path)
    with pytest.raises(FleetRefused, match=f"{note} is a symbolic link"):
        _move(fleet)
    note.unlink()
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


def test_a_silo_that_is_gone_is_not_taken_for_one_that_never_was(
    fleet: Fleet, tmp_path: Path
) -> None:
    (tmp_path / "n1" / "one").rename(tmp_path / "gone")
    with pytest.raises(FleetRefused, match=r"there is no Silo .*n1/one"):
        _move(fleet)
    assert fleet.ledger.facts_of("one").node == "n1"
    fleet.ledger.change("one", lambda facts: facts._replace(epoch=0))
    assert _move(fleet) is None
    assert fleet.ledger.facts_of("one").node == "n2"
