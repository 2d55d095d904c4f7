"""Moves the Silo of an endpoint from one node to another.

The ledger knows that a move has begun, so no run of the endpoint starts before it has ended. It
can be killed at any step; the same command goes on:

1. the Silo is copied to ``.moving/NAME`` beside the Silos of the other node, and compared;
2. the copy gets the next epoch, and its place;
3. the ledger gets the new node and the epoch; runs of the old epoch are refused from then on;
4. the old Silo is renamed to ``.moved/NAME-<time>``. A person deletes it.

Nodes that share a directory only change the ledger.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from recordsilo.disk.locks import Locks
from recordsilo.errors import RecordSiloError
from recordsilo.wording import counted
from silofleet.errors import EndpointMoving, FleetRefused, NoConnection
from silofleet.fleet import LOCAL, Fleet
from silofleet.ledger import SiloMove
from silofleet.run import EPOCH
from silofleet.schedule import room_of
from silofleet.silo_directories import STAGED, SiloDirectory, compare, copy

KEPT = ".moved"
MOVED = "fleet_moved"
"""Key of a Silo's state: when the move began that brought it here."""

Told = Callable[[str], object]


def place_of(fleet: Fleet, node: str) -> SiloDirectory:
    """The directory of a node's Silos.

    Raises:
        FleetRefused: The wishes do not say it.
    """
    given = fleet.wishes.nodes.get(node, {}).get("granary", "")
    if not given and node == LOCAL:
        return SiloDirectory("", os.path.abspath(fleet.directory))
    host, colon, path = given.partition(":")
    if given.startswith("/"):
        return SiloDirectory("", given)
    if colon and host and not host.startswith("-") and path.startswith("/"):
        return SiloDirectory(host, path)
    raise FleetRefused(
        f"where the node {node} has its Silos is not known; write into endpoints.toml:"
        f' [nodes.{node}] granary = "/path", or "host:/path" for another machine'
    )


def move(fleet: Fleet, name: str, target: str, told: Told) -> str | None:
    """Move the Silo of an endpoint, or go on with that.

    Args:
        name: The endpoint.
        target: The node.
        told: Told in words what is being done.

    Returns:
        Where the old Silo is kept; None if there was none.

    Raises:
        FleetRefused: It cannot be moved; the Silo is where it was.
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
            f"the disk of the node {target} has no room for {counted(facts.records, 'record')}"
        )


def _moved(
    fleet: Fleet, going: SiloMove, places: tuple[SiloDirectory, SiloDirectory], told: Told
) -> str | None:
    name, (source, target) = going.endpoint, places
    has_silo = fleet.ledger.facts_of(name).epoch >= going.epoch  # killed after the switch
    if not has_silo and source != target:
        try:
            has_silo = _prepared(fleet, going, source, target, told)
        except Exception as error:
            _give_up(fleet, going, target, told, is_reached=not isinstance(error, NoConnection))
            if isinstance(error, FleetRefused | RecordSiloError | OSError):
                raise FleetRefused(f"nothing was moved: {error}") from error
            raise
    told(f"{name} is on {going.target} from now on")
    fleet.ledger.switch(going, has_silo=has_silo)
    wish = fleet.wishes.endpoints[name]
    if wish.node and wish.node != going.target:
        fleet.change(name, node=going.target)
    kept = _set_aside(source, going, told) if has_silo else None
    fleet.ledger.end_move(name)
    return kept


def _prepared(
    fleet: Fleet, going: SiloMove, source: SiloDirectory, target: SiloDirectory, told: Told
) -> bool:
    """Copy the Silo to its place, with the next epoch; return whether there is one.

    Raises:
        FleetRefused: It cannot be copied, or there should be one.
    """
    name = going.endpoint
    for place in (source, target):
        if not place.has():
            raise FleetRefused(f"there is no directory {place}; is its disk mounted?")
    if not source.has(name):
        if fleet.ledger.facts_of(name).epoch:
            raise FleetRefused(
                f"there is no Silo {source.at(name)}; to begin again without it, remove and add"
                f" {name}"
            )
        return False
    if link := source.link_in(name):
        raise FleetRefused(
            f"{link} is a symbolic link, which may lead nowhere on {going.target}; put what it"
            " leads to in its place"
        )
    if target.has(name):
        if target.state(name).get(MOVED) == going.began.isoformat():
            return True  # killed after the copy got its place
        old = f"{KEPT}/{name}-{_now():%Y%m%dT%H%M%SZ}-before"
        told(f"{target.at(name)} is there already, and is kept as {target.at(old)}")
        target.set_aside(name, old)
    with _alone(source, name):
        told(f"copying {source.at(name)} to {going.target}")
        target.begin()
        copy(source, target, name)
        told("comparing the copy")
        compare(source, target, name)
        news = {EPOCH: going.epoch, MOVED: going.began.isoformat()}
        target.settle(name, {**source.state(name), **news})
    return True


@contextmanager
def _alone(source: SiloDirectory, name: str) -> Iterator[None]:
    """No harvest of the Silo meanwhile, if its disk is here."""
    if source.host:
        yield
        return
    with Locks.of_silo(source.at(name)).hold_name_if_free("harvester") as is_free:
        if not is_free:
            raise FleetRefused(f"a harvest of {name} is at work; wait until it ends")
        yield


def _set_aside(source: SiloDirectory, going: SiloMove, told: Told) -> str:
    """Rename the old Silo; return where it is."""
    name = going.endpoint
    kept = f"{KEPT}/{name}-{going.began:%Y%m%dT%H%M%SZ}"
    try:
        if source.has(name):
            source.set_aside(name, kept)
    except (FleetRefused, OSError) as error:
        told(f"the old Silo keeps its name: {error}")
        return source.at(name)
    return source.at(kept)


def _give_up(
    fleet: Fleet, going: SiloMove, target: SiloDirectory, told: Told, *, is_reached: bool
) -> None:
    """Leave the Silo where it is, and delete what was copied, if its machine is reached."""
    name = going.endpoint
    staged = target.at(STAGED, name)
    try:
        if is_reached:
            target.clear(name)
        else:
            told(f"what was copied, if anything, stays in {staged}; the same command goes on")
    except (FleetRefused, OSError) as error:
        told(f"what was copied stays in {staged}: {error}")
    fleet.ledger.end_move(name)


def _now() -> datetime:
    return datetime.now(UTC)
