"""A Silo moves to, from and between machines that are reached by ssh: real ones, on loopback."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from killing import KILLED, exit_code_of
from ssh_machines import MISSING, Machine, is_alive, reachable, session_of
from two_nodes import check_moved, check_unmoved, fleet_of_two_nodes
from waiting import wait_until

from recordsilo import Silo
from recordsilo.state import STATE_FILE
from silofleet import moving, silo_directories
from silofleet.errors import EndpointMoving, FleetRefused
from silofleet.fleet import Fleet
from silofleet.ledger import FleetLedger

pytestmark = pytest.mark.long

WAYS = [("", "n2"), ("n1", ""), ("n1", "n2"), ("n1", "n1")]
"""Hosts of the nodes n1 and n2; empty for the machine of the clock."""


class Rig:
    """Three machines, and a directory with a fleet."""

    def __init__(self, directory: Path, clock: Machine, n1: Machine, n2: Machine) -> None:
        self.directory, self.clock, self.n1, self.n2 = directory, clock, n1, n2

    @contextmanager
    def fleet(self, hosts: tuple[str, str] = ("n1", "n2")) -> Iterator[Fleet]:
        with fleet_of_two_nodes(self.directory, hosts=hosts) as fleet:
            yield fleet

    @property
    def old(self) -> Path:
        return self.directory / "n1" / "one"

    def command(self) -> "subprocess.Popen[str]":
        """A move in a process of its own."""
        silo = str(Path(sys.executable).with_name("silo"))
        words = [silo, "fleet", "move", str(self.directory / "many"), "one", "--to", "n2"]
        return subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    if MISSING:
        reason = f"{', '.join(MISSING)} not installed"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    clock, n1, n2 = (Machine(tmp_path / "machines", name) for name in ("clock", "n1", "n2"))
    for user, host in ((clock, n1), (clock, n2), (n1, n2)):
        user.knows(host)
    monkeypatch.setenv("PATH", f"{clock.bin}:{os.environ['PATH']}")
    directory = tmp_path / "it's an \u00f6dd 'place'"
    directory.mkdir()
    with reachable([n1, n2]):
        yield Rig(directory, clock, n1, n2)
        for machine in (clock, n1, n2):
            machine.release_all()


def _move(fleet: Fleet, target: str = "n2") -> str | None:
    return moving.move(fleet, "one", target, lambda _said: None)


def _is_moved_if_free(fleet: Fleet) -> bool:
    """Move the Silo, unless an earlier copy is still at work."""
    try:
        _move(fleet)
    except FleetRefused as error:
        if "another copy is being written" not in str(error):
            raise
        return False
    return True


def _put_odd_files(silo: Path) -> None:
    """Files with odd names, rights and times, two of them one file."""
    below = silo / "curation" / "d ir"
    below.mkdir(parents=True)
    for name in ("a 'b\" c", "-rf *", "l1\nl2", "\u00e4\u0303 \\", "x-shm", "$(id);`id`"):
        (below / name).write_text(name, "utf-8")
    (below / "read-only").write_bytes(b"\0" * 9000)
    (below / "read-only").chmod(0o444)
    os.utime(below / "read-only", ns=(10**18, 10**18 + 123_456_789))
    os.link(below / "read-only", silo / "curation" / "linked")


def _tree(silo: Path) -> dict[str, Any]:
    """What is known of each file but the state."""
    found: dict[str, Any] = {}
    first: dict[int, str] = {}
    for path in sorted(silo.rglob("*")):
        name = str(path.relative_to(silo))
        stat = path.lstat()
        if path.is_file() and name != STATE_FILE and not name.startswith(".silo/locks"):
            one = first.setdefault(stat.st_ino, name)
            found[name] = (stat.st_mode, stat.st_mtime_ns, path.read_bytes(), one)
    return found


@pytest.mark.parametrize("hosts", [*WAYS, ("", "")])
def test_a_silo_moves_with_all_its_files(rig: Rig, hosts: tuple[str, str]) -> None:
    with rig.fleet(hosts) as fleet:
        _put_odd_files(rig.old)
        before = _tree(rig.old)
        kept = _move(fleet)
        after = _tree(rig.directory / "n2" / "one")
        assert len(before) > 20
        assert after == before
        check_moved(fleet, rig.directory)
    assert kept is not None
    assert kept.startswith(f"{hosts[0]}:" if hosts[0] else "/")


@pytest.mark.parametrize("old", [pytest.param("n1", marks=pytest.mark.slow), "n2"])
def test_an_rsync_that_sends_no_errors_with_the_data_moves_a_silo(rig: Rig, old: str) -> None:
    refused = (
        'case " $* " in *" --stderr=client "*|*" --no-msgs2stderr "*) '
        'echo "rsync: --no-msgs2stderr: unknown option" >&2; exit 1; esac'
    )
    getattr(rig, old).program("rsync", f'{refused}; exec {shutil.which("rsync")} "$@"')
    with rig.fleet() as fleet:
        _move(fleet)
        check_moved(fleet, rig.directory)


@pytest.mark.parametrize("hosts", [pytest.param(("n1", "n2"), marks=pytest.mark.slow), ("n1", "")])
def test_a_move_that_is_killed_at_any_step_goes_on(rig: Rig, hosts: tuple[str, str]) -> None:
    program = str(Path(__file__).parent / "killed_move.py")
    with rig.fleet(hosts) as fleet:
        number = 1
        while exit_code_of(program, fleet.directory, str(number)) == KILLED:
            number += 1
        assert number > 8
        check_moved(fleet, rig.directory)


@pytest.mark.parametrize("step", ["copy", "compare", "settle", "switch", "set_aside", "end_move"])
def test_a_move_goes_on_after_each_step(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    owner: Any = moving
    if step in {"settle", "set_aside"}:
        owner = silo_directories.SiloDirectory
    elif step in {"switch", "end_move"}:
        owner = FleetLedger

    def killed(*_arguments: Any, **_named: Any) -> None:
        raise KeyboardInterrupt

    with rig.fleet() as fleet:
        with monkeypatch.context() as patch:
            patch.setattr(owner, step, killed)
            with pytest.raises(KeyboardInterrupt):
                _move(fleet)
        with pytest.raises(EndpointMoving):
            _move(fleet, "n1")
        _move(fleet)
        check_moved(fleet, rig.directory)


@pytest.mark.parametrize("hosts", [("", "n2"), ("n1", "n2"), ("n1", "")])
def test_a_killed_command_leaves_a_copy_at_work_which_the_next_one_waits_for(
    rig: Rig, hosts: tuple[str, str]
) -> None:
    writer = rig.n2 if hosts[1] else rig.clock
    held = writer.hold("rsync")
    with rig.fleet(hosts) as fleet:
        command = rig.command()
        copying = held.pid()
        command.kill()
        command.communicate()
        assert fleet.ledger.move_of("one")
        assert is_alive(copying)
        with pytest.raises(FleetRefused, match="another copy is being written"):
            _move(fleet)
        held.release()
        wait_until(lambda: _is_moved_if_free(fleet))
        check_moved(fleet, rig.directory)


@pytest.mark.parametrize("hosts", [("", "n2"), ("n1", "n2")])
def test_a_killed_rsync_leaves_the_silo_where_it_is(rig: Rig, hosts: tuple[str, str]) -> None:
    held = rig.n2.hold("rsync")
    with rig.fleet(hosts) as fleet:
        command = rig.command()
        os.kill(held.pid(), signal.SIGKILL)
        _, said = command.communicate()
        assert "nothing was moved: " in said
        assert command.returncode == 2
        check_unmoved(fleet, rig.directory)
        held.release()
        wait_until(lambda: _is_moved_if_free(fleet))
        check_moved(fleet, rig.directory)


@pytest.mark.parametrize(("hosts", "lost", "said"), [
    (("", "n2"), "n2", "ssh to n2 fails"), (("n1", "n2"), "n2", "ssh from n1 to n2 fails"),
    (("n1", "n2"), "n1", "ssh to n1 fails"),
])  # fmt: skip
def test_a_lost_connection_leaves_the_silo_where_it_is(
    rig: Rig, hosts: tuple[str, str], lost: str, said: str
) -> None:
    held = (rig.n1 if lost == "n1" else rig.n2).hold("rsync")
    with rig.fleet(hosts) as fleet:
        command = rig.command()
        copying = held.pid()
        os.kill(session_of(copying), signal.SIGKILL)
        _, printed = command.communicate()
        assert said in printed
        assert "the same command goes on" in printed
        assert command.returncode == 2
        check_unmoved(fleet, rig.directory)
        held.release()
        wait_until(lambda: _is_moved_if_free(fleet))
        check_moved(fleet, rig.directory)


@pytest.mark.parametrize("hosts", [("", "n2"), ("n1", "n2")])
def test_a_full_disk_there_leaves_the_silo_where_it_is(rig: Rig, hosts: tuple[str, str]) -> None:
    with rig.fleet(hosts) as fleet:
        (rig.old / "curation").mkdir(exist_ok=True)
        (rig.old / "curation" / "large").write_bytes(os.urandom(3 << 20))
        small = str(rig.directory / "n2")
        mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", small]
        if subprocess.run(mount, check=False).returncode:
            pytest.skip("a disk of 2 MB cannot be mounted here")
        try:
            with pytest.raises(FleetRefused, match=r"nothing was moved: .*No space left"):
                _move(fleet)
            check_unmoved(fleet, rig.directory)
        finally:
            subprocess.run(["umount", small], check=True)
        _move(fleet)
        check_moved(fleet, rig.directory)


@pytest.mark.parametrize("hosts", [("", "n2"), ("n1", "")])
@pytest.mark.parametrize("node", ["n1", "n2"])
def test_a_directory_that_is_missing_is_not_made(
    rig: Rig, hosts: tuple[str, str], node: str
) -> None:
    with rig.fleet(hosts) as fleet:
        (rig.directory / node).rename(rig.directory / "unmounted")
        with pytest.raises(FleetRefused, match=f"no directory .*/{node}; is its disk mounted"):
            _move(fleet)
        (rig.directory / "unmounted").rename(rig.directory / node)
        check_unmoved(fleet, rig.directory)


@pytest.mark.parametrize("hosts", WAYS)
def test_a_link_that_would_lead_nowhere_is_not_copied(rig: Rig, hosts: tuple[str, str]) -> None:
    with rig.fleet(hosts) as fleet:
        link = rig.directory / "n1" / "one" / "harvests"
        link.symlink_to(rig.directory)
        with pytest.raises(FleetRefused, match=f"{link} is a symbolic link"):
            _move(fleet)
        link.unlink()
        check_unmoved(fleet, rig.directory)


@pytest.mark.parametrize(("user", "key", "host", "said"), [
    ("clock", False, True, r'ssh to n2 fails: .*Permission denied.*; "ssh n2 true" must'),
    ("clock", True, False, r"ssh to n2 fails: Host key verification failed"),
    ("n1", False, True, r'from n1 to n2 fails: .*Permission denied.*; there, "ssh n2 true"'),
    ("n1", True, False, r"from n1 to n2 fails: Host key verification failed"),
])  # fmt: skip
def test_a_machine_that_cannot_log_in_says_so_and_asks_nothing(
    rig: Rig, user: str, key: bool, host: bool, said: str
) -> None:
    machine = rig.clock if user == "clock" else rig.n1
    machine.config.write_text("", "utf-8")
    if machine is rig.clock:
        machine.knows(rig.n1)
    authorized = rig.n2.bin.parent / "authorized_keys"
    lines = authorized.read_text("utf-8").splitlines(keepends=True)
    authorized.write_text(lines[1 if user == "clock" else 0], "utf-8")
    machine.knows(rig.n2, key=key, host=host)
    with rig.fleet() as fleet:
        with pytest.raises(FleetRefused, match=said):
            _move(fleet)
        check_unmoved(fleet, rig.directory)


def test_a_machine_that_does_not_answer_is_given_up(rig: Rig) -> None:
    silent = Machine(rig.directory / "machines", "n3")
    with rig.fleet(("", "n3")) as fleet, socket.socket() as listening:
        listening.bind(("127.0.0.1", silent.port))
        listening.listen()
        rig.clock.knows(silent, key=False)
        rig.clock.ssh("-o", "ConnectTimeout=1")
        rig.clock.program(
            "ssh", f'exec /usr/bin/ssh -o ConnectTimeout=1 -F "{rig.clock.config}" "$@"'
        )
        with pytest.raises(FleetRefused, match=r"ssh to n3 fails: .*tim(ed out|eout)"):
            _move(fleet)
        check_unmoved(fleet, rig.directory)


@pytest.mark.parametrize("hosts", [("n1", ""), ("n1", "n2"), ("", "")])
def test_what_changes_during_the_copy_stops_the_move(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, hosts: tuple[str, str]
) -> None:
    with rig.fleet(hosts) as fleet:

        def copy(*given: Any) -> None:
            silo_directories.copy(*given)
            (rig.old / "new").touch()

        with monkeypatch.context() as patch:
            patch.setattr(moving, "copy", copy)
            with pytest.raises(FleetRefused, match=r"the copy differs.*new"):
                _move(fleet)
        check_unmoved(fleet, rig.directory)
        _move(fleet)
        check_moved(fleet, rig.directory)


@pytest.mark.parametrize("hosts", [("n1", "n2"), ("", "")])
def test_a_silo_moves_while_a_page_reads_it(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, hosts: tuple[str, str]
) -> None:
    def copy(*given: Any) -> None:
        assert len(reader) == 5
        silo_directories.copy(*given)
        with Silo(str(rig.old), create=False) as other:
            assert other.search("title:1").total

    monkeypatch.setattr(moving, "copy", copy)
    with rig.fleet(hosts) as fleet, Silo(str(rig.old), create=False) as reader:
        _move(fleet)
        check_moved(fleet, rig.directory)


def test_a_move_ends_if_the_old_machine_is_lost_after_the_switch(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch = FleetLedger.switch

    def lost(*given: Any, **named: Any) -> None:
        switch(*given, **named)
        rig.clock.config.write_text("", "utf-8")

    monkeypatch.setattr(FleetLedger, "switch", lost)
    with rig.fleet() as fleet:
        told: list[str] = []
        assert moving.move(fleet, "one", "n2", told.append) == f"n1:{rig.old}"
        assert told[-1].startswith("the old Silo keeps its name: ssh to n1 fails")
        assert (fleet.ledger.facts_of("one").node, fleet.ledger.move_of("one")) == ("n2", None)
