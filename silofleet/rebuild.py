"""Rebuild the facts of a fleet from the receipts in its Silos.

On each node, `silos_of` reads what its Silos say; at the clock, `rebuild` makes the ledger again
from that. What no receipt says is lost: failures, quarantines and pauses that hosts asked for.
"""

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from oaipmhprotocol.datestamps import datestamp_or_none
from oaipmhscraper.errors import ScraperError
from oaipmhscraper.harvests.past_harvests import PastHarvest, harvests_of
from oaipmhscraper.receipt import Counts
from recordsilo import Granary
from recordsilo.disk.atomic_file import remove_tree
from recordsilo.disk.locks import Locks
from recordsilo.errors import RecordSiloError
from silofleet.errors import ClockRunning, FleetRefused, FleetStateUnreadable
from silofleet.fields import whole_number
from silofleet.fleet import LOCAL, facts_of
from silofleet.ledger import FleetLedger
from silofleet.run import EPOCH
from silofleet.schedule import after
from silofleet.values import KEPT_OUTCOMES, Ended, Endpoint, Facts, Policy, RunOutcome
from silofleet.wishes import load_wishes, wishes_path

_MALFORMED = (
    ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError,
)  # fmt: skip
_OUTCOMES = {
    "whole": RunOutcome.WHOLE, "incomplete": RunOutcome.PARTIAL, "open": RunOutcome.PARTIAL,
    "running": RunOutcome.PARTIAL,
}  # fmt: skip


def silos_of(granary: str, node: str = LOCAL) -> Iterator[dict[str, Any]]:
    """Yield what the Silos of a directory say of their harvests, as JSON values.

    Args:
        node: Name of the node whose it is.

    Yields:
        ``name``, ``node``, ``epoch``, ``records``, and ``harvests``: the newest, oldest first,
        each with ``outcome``, ``started``, ``ended`` and ``promised``; or ``problem``, why a
        Silo cannot be read.
    """
    found = Granary(granary, create=False)
    for name in found.silos:
        try:
            with found.get_silo(name, create=False) as silo:
                past = harvests_of(silo.path, newest=KEPT_OUTCOMES)
                one = {
                    "name": name,
                    "node": node,
                    "epoch": int(silo.state.get(EPOCH) or 1),
                    "records": silo.count(),
                    "harvests": [_harvest(harvest) for harvest in past],
                }
            _check(one)
        except (RecordSiloError, ScraperError, OSError) as error:
            one = {"name": name, "node": node, "problem": str(error)}
        except _MALFORMED as error:
            why = f"a receipt or the state of its Silo is malformed: {error!r}"
            one = {"name": name, "node": node, "problem": why}
        yield one


def _harvest(past: PastHarvest) -> dict[str, Any]:
    lists = past.receipt.get("lists") or []
    full = [one for one in lists if one.get("from") is None and not one.get("owed")]
    counts = [Counts.from_json(one.get("counts") or {}) for one in full]
    sizes = [max(one.promised or 0, one.distinct) for one in counts]
    return {
        "outcome": _OUTCOMES[past.state].value,
        "started": past.receipt.get("started"),
        "ended": past.receipt.get("ended"),
        "promised": max(sizes) if sizes else None,
    }


def rebuild(directory: str, found: Iterable[Mapping[str, Any]]) -> tuple[int, list[str]]:
    """Make the ledger of a fleet again.

    Args:
        directory: The fleet.
        found: From `silos_of`, of every node.

    Returns:
        How many endpoints have a Silo, and sentences on what could not be used.

    Raises:
        FleetRefused: There are no wishes, a Silo is being moved, or a node that has Silos by
            the state that there is has given nothing.
        ClockRunning: The fleet is at work.
        WishesInvalid: The wishes cannot be read.
    """
    if not os.path.exists(wishes_path(directory)):
        raise FleetRefused(
            f"{wishes_path(directory)} is missing; copy it there, or begin a new fleet:"
            f" silo fleet init {directory}"
        )
    locks = Locks(os.path.join(directory, "fleet", "locks"))
    with (
        locks.hold_name_if_free("clock") as has_no_clock,
        locks.hold_name_if_free("moving") as has_no_move,
    ):
        if not has_no_clock:
            raise ClockRunning(directory)
        if not has_no_move:  # it would end in the state that there was
            raise FleetRefused("a Silo of this fleet is being moved; wait until that has ended")
        wishes, now = load_wishes(directory), datetime.now(UTC)
        facts = {name: facts_of(one, now) for name, one in wishes.endpoints.items()}
        problems: list[str] = []
        known: set[str] = set()
        nodes = {LOCAL}
        for one in found:
            name = str(one.get("name"))
            nodes.add(str(one.get("node")))
            if one.get("problem"):
                problems.append(f"{name}: {one['problem']}")
            elif name not in facts:
                problems.append(f"{name} on {one.get('node')} is not an endpoint of the fleet")
            elif name in known and int(one["epoch"]) <= facts[name].epoch:
                problems.append(f"{name} is on {facts[name].node} and on {one['node']}")
            else:
                known.add(name)
                facts[name] = _facts(facts[name], wishes.endpoints[name], wishes.policy, one, now)
        _refuse_silent(directory, facts.keys() - known, nodes)
        _make_again(directory, facts.values())
    return len(known), problems


def _refuse_silent(directory: str, names: Collection[str], nodes: Collection[str]) -> None:
    """Refuse to forget where Silos are: their endpoints would be harvested again elsewhere.

    Args:
        directory: The fleet.
        names: Endpoints of which no receipt was given.
        nodes: Those that gave receipts.
    """
    path = os.path.join(directory, "fleet", "fleet.sqlite")
    if not os.path.exists(path):
        return
    try:
        with FleetLedger(directory) as ledger:
            before = ledger.facts(names)
    except (FleetStateUnreadable, OSError):  # the reason for a rebuild
        return
    silent = Counter(one.node for one in before if one.node and one.whole)
    for node in sorted(silent.keys() - set(nodes)):
        silos = "a Silo" if silent[node] == 1 else f"{silent[node]:,} Silos"
        raise FleetRefused(
            f"the node {node} has {silos} of this fleet, and no receipts of it are given; print"
            f" them there: silo fleet receipts GRANARY --node {node}; if its Silos are gone, move"
            f" {path} away before"
        )


def _facts(
    new: Facts, wish: Endpoint, policy: Policy, found: Mapping[str, Any], now: datetime
) -> Facts:
    """The facts of an endpoint; what lies in the future, by a clock that was wrong, is now."""
    facts = new._replace(
        node=str(found["node"]), epoch=int(found["epoch"]), records=int(found["records"])
    )
    for outcome, started, ended, promised in map(_read, found["harvests"]):
        if ended is not None:
            end = Ended(outcome, "from its receipt", min(ended, now), facts.records, promised)
            begun = facts._replace(started=started and min(started, now))
            facts = after(begun, wish, policy, end)
    return facts


def _read(
    harvest: Mapping[str, Any],
) -> tuple[RunOutcome, datetime | None, datetime | None, int | None]:
    """Outcome, begin, end and promised records of what `_harvest` wrote."""
    outcome, promised = RunOutcome(harvest["outcome"]), harvest["promised"]
    started, ended = datestamp_or_none(harvest["started"]), datestamp_or_none(harvest["ended"])
    return outcome, started, ended, None if promised is None else whole_number(promised)


def read_found(lines: Iterable[str], where: str) -> Iterator[dict[str, Any]]:
    """Read the lines that `silo fleet receipts` printed.

    Raises:
        FleetRefused: A line does not come from that command.
    """
    for number, line in enumerate(lines, 1):
        try:
            one = json.loads(line)
            if not one.get("problem"):
                _check(one)
        except _MALFORMED:
            raise FleetRefused(
                f"{where}, line {number}, does not come from silo fleet receipts"
            ) from None
        yield one


def _check(one: Mapping[str, Any]) -> None:
    """Check the types; raise one of `_MALFORMED`."""
    str(one["node"]), whole_number(one["epoch"]), whole_number(one["records"])
    for harvest in one["harvests"]:
        _read(harvest)


def path_before(directory: str) -> str:
    """Path of the ledger that there was before the last rebuild; it is missing if none was."""
    return os.path.join(directory, "fleet", "fleet.sqlite.before-rebuild")


def _make_again(directory: str, facts: Iterable[Facts]) -> None:
    """Put a new ledger in the place of the one that there is, which gets another name.

    The new one is whole before that, so that a full disk or a kill loses nothing.
    """
    path = os.path.join(directory, "fleet", "fleet.sqlite")
    before = path_before(directory)
    staged = os.path.join(directory, "fleet", ".rebuild")
    remove_tree(staged)  # of a kill
    try:
        os.makedirs(os.path.join(staged, "fleet"))
        with FleetLedger(staged, "create") as ledger:
            ledger.add(facts)
            ledger.fold_log()
        with suppress(FleetStateUnreadable, OSError), FleetLedger(directory) as ledger:
            ledger.fold_log()
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.unlink(before + suffix)
        for suffix in ("", "-wal"):
            with suppress(FileNotFoundError):
                os.link(path + suffix, before + suffix)
        for suffix in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.unlink(path + suffix)
        os.replace(os.path.join(staged, "fleet", "fleet.sqlite"), path)
    finally:
        remove_tree(staged)
