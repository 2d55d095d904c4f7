"""Moves the Silo of an endpoint from one node to another.

The ledger knows that a move has begun, so no run of the endpoint starts before it has ended. It
can be killed at any step; the same command goes on:

1. the Silo is copied to ``.moving/NAME`` beside the Silos of the other node, and compared;
2. the copy gets the next epoch, and its place;
3. the ledger gets the new node and the epoch; runs of the old epoch are refused from then on;
4. the old Silo is renamed to ``.moved/NAME-<time>``. A person deletes it.

Nodes that share a directory only change the ledger. Of others, one at least has its Silos on a
disk of this machine; the other is reached by rsync and ssh.
"""

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from recordsilo import Silo
from recordsilo.audit import Audit, Severity
from recordsilo.disk.atomic_file import flush_directory, make_parents, remove_tree
from recordsilo.disk.locks import Locks
from recordsilo.state import STATE_FILE, PersistentState
from silofleet.errors import EndpointMoving, FleetRefused
from silofleet.fleet import LOCAL, Fleet
from silofleet.ledger import Move
from silofleet.run import EPOCH
from silofleet.schedule import room_of

STAGED, KEPT = ".moving", ".moved"
MOVED = "fleet_moved"
"""Key of a Silo's state: when the move began that brought it here."""
_RSYNC = ("rsync", "-a", "-s", "--delete")
_SSH = ("ssh", "-o", "BatchMode=yes")

Told = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Place:
    """A directory of Silos.

    Attributes:
        host: As ssh knows it; empty for this machine.
        path: The directory.
    """

    host: str
    path: str

    def at(self, *names: str) -> str:
        """A path in it, as rsync takes it."""
        path = os.path.join(self.path, *names)
        return f"{self.host}:{path}" if self.host else path

    def has(self, *names: str) -> bool:
        """Whether there is a directory of that name."""
        path = os.path.join(self.path, *names)
        if not self.host:
            return os.path.isdir(path)
        return _ran([*_SSH, self.host, shlex.join(["test", "-d", path])], codes=(0, 1)).code == 0

    def make(self, name: str) -> None:
        """Make a directory in it."""
        path = os.path.join(self.path, name)
        if self.host:
            _ran([*_SSH, self.host, shlex.join(["mkdir", "-p", path])])
        else:
            os.makedirs(path, exist_ok=True)

    def rename(self, name: str, other: str) -> None:
        """Rename a directory in it, on the medium, too."""
        old, new = os.path.join(self.path, name), os.path.join(self.path, other)
        if self.host:
            _ran([*_SSH, self.host, f"sync && {shlex.join(['mv', '-T', old, new])} && sync"])
            return
        make_parents(new)
        os.rename(old, new)
        flush_directory(os.path.dirname(new))
        flush_directory(self.path)


def place_of(fleet: Fleet, node: str) -> Place:
    """The directory of a node's Silos.

    Raises:
        FleetRefused: The wishes do not say it.
    """
    given = fleet.wishes.nodes.get(node, {}).get("granary", "")
    if not given and node == LOCAL:
        return Place("", os.path.abspath(fleet.directory))
    host, colon, path = given.partition(":")
    if given.startswith("/"):
        return Place("", given)
    if colon and host and not host.startswith("-") and path.startswith("/"):
        return Place(host, path)
    raise FleetRefused(
        f"where the node {node} has its Silos is not known; write into endpoints.toml:"
        f' [nodes.{node}] granary = "/path", or "host:/path" for another machine'
    )


def move(fleet: Fleet, name: str, target: str, told: Told) -> str | None:
    """Move the Silo of an endpoint, or go on with that.

    Args:
        fleet: The fleet.
        name: The endpoint.
        target: The node.
        told: Told in words what is being done.

    Returns:
        Where the old Silo is kept; None if there was none.

    Raises:
        FleetRefused: It cannot be moved; the Silo is where it was.
        OSError: A disk refuses the end of the move; the same call goes on.
    """
    name = fleet.name_of(name)
    locks = Locks(os.path.join(fleet.directory, "fleet", "locks"))
    with locks.hold_name_if_free("moving") as is_free:
        if not is_free:
            raise FleetRefused("another process is moving a Silo of this fleet; wait until it ends")
        going = fleet.ledger.move_of(name)
        facts = fleet.ledger.facts_of(name)
        if going and going.target != target:
            raise EndpointMoving(name, going.target)
        source = going.source if going else facts.node or LOCAL
        if going is None:
            _check(fleet, name, source, target)
        places = place_of(fleet, source), place_of(fleet, target)
        if places[0].host and places[1].host:
            raise FleetRefused(
                f"neither {source} nor {target} is on this machine; run the command on one of them,"
                f" or move it to the node {LOCAL} before"
            )
        return _moved(fleet, fleet.ledger.begin_move(name, source, target, _now()), places, told)


def _check(fleet: Fleet, name: str, source: str, target: str) -> None:
    now, facts = _now(), fleet.ledger.facts_of(name)
    nodes = {node.name: node for node in fleet.ledger.nodes()}
    if target == source:
        raise FleetRefused(f"the Silo of {name} is on {target} already")
    if target not in nodes or target in fleet.lost_nodes(now):
        raise FleetRefused(f"the node {target} does not report; start its worker, and try again")
    if room_of(nodes[target]) - facts.records < fleet.wishes.policy.reserve:
        raise FleetRefused(
            f"the disk of the node {target} has no room for {facts.records:,} records"
        )


def _moved(fleet: Fleet, going: Move, places: tuple[Place, Place], told: Told) -> str | None:
    name, (source, target) = going.endpoint, places
    kept = f"{KEPT}/{name}-{going.began:%Y%m%dT%H%M%SZ}"
    is_switched = fleet.ledger.facts_of(name).epoch >= going.epoch
    has_silo = source != target and (is_switched or source.has(name))
    if not is_switched and has_silo:
        try:
            _prepare(going, source, target, told)
        except Exception as error:
            _give_up(fleet, going, target)
            if isinstance(error, OSError):
                raise FleetRefused(f"nothing was moved: {error}") from error
            raise
    told(f"{name} is on {going.target} from now on")
    fleet.ledger.switch(going, has_silo=has_silo)
    wish = fleet.wishes.endpoints[name]
    if wish.node and wish.node != going.target:
        fleet.change(name, node=going.target)
    if has_silo and source.has(name):
        source.make(KEPT)
        source.rename(name, kept)
    fleet.ledger.end_move(name)
    return source.at(kept) if has_silo else None


def _prepare(going: Move, source: Place, target: Place, told: Told) -> None:
    """Copy the Silo to its place, with the next epoch."""
    name, staged = going.endpoint, f"{STAGED}/{going.endpoint}"
    if target.has(name):
        if not target.host and _is_of(target.at(name), going):
            return  # killed after the copy got its place
        old = f"{KEPT}/{name}-{_now():%Y%m%dT%H%M%SZ}-before"
        told(f"{target.at(name)} is there already, and is kept as {target.at(old)}")
        target.make(KEPT)
        target.rename(name, old)
    with _alone(source, name):
        told(f"copying {source.at(name)} to {going.target}")
        target.make(STAGED)
        _copy(source, target, name)
        told("comparing the copy")
        _compare(source, target, name)
        _set_epoch(source, target, going)
    target.rename(staged, name)


@contextmanager
def _alone(source: Place, name: str) -> Iterator[None]:
    """No harvest of the Silo meanwhile, if its disk is here."""
    if source.host:
        yield
        return
    locks = Locks(os.path.join(source.at(name), ".silo", "locks"))
    with locks.hold_name_if_free("harvester") as is_free:
        if not is_free:
            raise FleetRefused(f"a harvest of {name} is at work; wait until it ends")
        yield


def _copy(source: Place, target: Place, name: str) -> None:
    old, new = source.at(name), target.at(STAGED, name)
    if source.host or target.host:
        _ran([*_RSYNC, f"{old}/", f"{new}/"])
        return
    _copy_tree(old, new)
    os.sync()


def _copy_tree(old: str, new: str) -> int:
    """Copy what differs in size or time, and delete what is gone; return how many files."""
    count = 0

    def copy_changed(one: str, other: str) -> None:
        nonlocal count
        if _stamp(one) != _stamp(other):
            count += 1
            shutil.copy2(one, other)

    try:
        shutil.copytree(old, new, symlinks=True, copy_function=copy_changed, dirs_exist_ok=True)
    except shutil.Error as error:
        raise OSError(str(error.args[0][0][2])) from None
    for directory, below, files in os.walk(new, topdown=False):
        same = os.path.join(old, os.path.relpath(directory, new))
        for one in (*below, *files):
            if not os.path.lexists(os.path.join(same, one)):
                path = os.path.join(directory, one)
                (os.unlink if one in files or os.path.islink(path) else remove_tree)(path)
    return count


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_size, found.st_mtime_ns


def _compare(source: Place, target: Place, name: str) -> None:
    old, new = source.at(name), target.at(STAGED, name)
    if source.host or target.host:
        check = [*_RSYNC, "--checksum", "--dry-run", "--itemize-changes", f"{old}/", f"{new}/"]
        if different := _ran(check).out.strip():
            first = different.splitlines()[0]
            raise FleetRefused(f"the copy differs ({first}); somebody changes {name}; try again")
    elif _copy_tree(old, new):
        raise FleetRefused(f"somebody changes {name} at this moment; try again")
    if target.host:
        return
    if found := _damage(new) - (set() if source.host else _damage(old)):
        raise FleetRefused(f"the copy of {name} is damaged: {min(found)}")
    if not source.host and _count(new) != _count(old):
        raise FleetRefused(f"the copy has {_count(new):,} records of {_count(old):,}")


def _damage(path: str) -> set[str]:
    found = Audit(path).findings()
    return {f"{one.code} {one.path}" for one in found if one.severity is Severity.DAMAGE}


def _count(path: str) -> int:
    with Silo(path, create=False) as silo:
        return silo.count()


def _is_of(path: str, going: Move) -> bool:
    """Whether a Silo is the whole copy that this move made, and no other."""
    return PersistentState(path, create=False).get(MOVED) == going.began.isoformat()


def _set_epoch(source: Place, target: Place, going: Move) -> None:
    """Write the epoch into the copy only."""
    staged = target.at(STAGED, going.endpoint)
    if not target.host:
        state = PersistentState(staged, create=False)
        state[EPOCH], state[MOVED] = going.epoch, going.began.isoformat()
        state.sync()
        return
    state = PersistentState(source.at(going.endpoint), create=False)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, STATE_FILE)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**state.state, EPOCH: going.epoch}, file)
        _ran(["rsync", "-s", "--checksum", path, f"{staged}/{STATE_FILE}"])


def _give_up(fleet: Fleet, going: Move, target: Place) -> None:
    """Leave the Silo where it is; what was copied here is deleted."""
    staged = target.at(STAGED, going.endpoint)
    if not target.host and os.path.isdir(staged):
        remove_tree(staged)
    fleet.ledger.end_move(going.endpoint)


@dataclass(frozen=True, slots=True)
class _Ran:
    code: int
    out: str


def _ran(command: list[str], codes: tuple[int, ...] = (0,)) -> _Ran:
    try:
        done = subprocess.run(  # noqa: S603  # our own words and the paths of the wishes
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise FleetRefused(
            f"{command[0]} is not installed; a move to or from another machine needs it"
        ) from None
    if done.returncode not in codes:
        said = " ".join(done.stderr.split())[-300:] or f"it ended with {done.returncode}"
        raise FleetRefused(f"{command[0]}: {said}")
    return _Ran(done.returncode, done.stdout)


def _now() -> datetime:
    return datetime.now(UTC)
