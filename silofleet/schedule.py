"""When the runs of a fleet are due, in which state an endpoint is, and what starts now (pure).

The clock and the simulator of the tests decide by these functions, which bring what is known of
an endpoint to `silowork.due`; none of them reads the clock or a file.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache

from silofleet.values import KEPT_OUTCOMES, Ended, Endpoint, Facts, Node, Policy, RunOutcome, State
from silowork.due.dispatch import Due
from silowork.due.hours import is_within, opening
from silowork.due.rests import Again, Rests, after_cut, after_failure, after_pause, after_success
from silowork.due.timetable import share_of

INODES, BYTES = 5, 24_000
"""That a record takes on a disk: measured with real oai_dc on ext4 were 4.9 and 24 KB."""
_BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
MOST_FRUITLESS = 5
"""Runs in a row that ended without a result (cut or held), before they rest like failures."""
_CONCLUSIVE = {
    one.letter: one for one in RunOutcome if one not in {RunOutcome.HELD, RunOutcome.CUT}
}


# --------------------------------------------------------------------------- when


def after(facts: Facts, wish: Endpoint, policy: Policy, ended: Ended) -> Facts:
    """Return the facts after a run.

    * The next run is counted from the start of this one, with a jitter; missed runs are one.
    * After a failure it comes later and later; after too many, the endpoint is quarantined and
      asked seldom. The first run that is answered ends the quarantine.
    * A pause that the host asked for, and a run that was cut, are no failures. After too many
      in a row they rest all the same, and cuts then count: a run that always crashes, or a host
      that always asks for a moment, does not keep a slot busy. A full disk is never a failure.
    * After a suspicious run the list before it stays the measure.
    """
    outcome, at, start = ended.outcome, ended.at, ended.began or facts.started or ended.at
    outcomes = (facts.outcomes + outcome.letter)[-KEPT_OUTCOMES:]
    interval, promised, whole = facts.interval, facts.promised, facts.whole
    moved_to = facts.moved_to
    before = Again(at, facts.failures, facts.is_quarantined)
    if outcome.letter in "wps":  # it answered
        moved_to = ""
        if outcome is RunOutcome.WHOLE:
            whole = at
            promised = promised if ended.promised is None else ended.promised
            interval = _adapted(facts, wish, policy, ended.changed > 0) if wish.adaptive else None
        elif outcome is RunOutcome.PARTIAL and ended.promised is not None:
            promised = max(promised or 0, ended.promised)
        again = after_success(facts.name, start, interval or wish.every, policy.jitter)
    else:
        again = _after_nothing(before, _rests(policy), ended, outcomes)
        moved_to = ended.moved_to or moved_to if again.failures > facts.failures else moved_to
    records = facts.records if ended.records is None else ended.records
    return Facts(  # by position, and not by _replace(): half the time of this function
        *facts[:5],  # name, host, added, node, epoch
        0,
        start,
        at,
        outcome,
        ended.said,
        again.failures,
        whole,
        records,
        promised,
        again.due,
        interval,
        again.is_quarantined,
        moved_to,
        False,
        outcomes,
    )


def _rests(policy: Policy) -> Rests:
    return Rests(
        policy.first_rest,
        policy.longest_rest,
        policy.most_failures,
        policy.probe_every,
        MOST_FRUITLESS,
    )


def _after_nothing(before: Again, rests: Rests, ended: Ended, outcomes: str) -> Again:
    """What follows from a run that brought no answer."""
    fruitless = len(outcomes) - len(outcomes.rstrip("ch"))
    if ended.outcome is RunOutcome.HELD:
        return after_pause(rests, before, ended.at, ended.hold, fruitless)
    if ended.is_disk_full and ended.outcome is RunOutcome.CUT:
        return before._replace(due=ended.at)
    if ended.outcome is RunOutcome.CUT:
        return after_cut(rests, before, ended.at, fruitless)
    return after_failure(rests, before, ended.at)


def _adapted(facts: Facts, wish: Endpoint, policy: Policy, has_changed: bool) -> timedelta:
    """Half the interval after a run that brought changes, half as much again after others."""
    interval = (facts.interval or wish.every) * (0.5 if has_changed else 1.5)
    shortest, longest = min(policy.shortest, wish.every), max(policy.longest, wish.every)
    return min(max(interval, shortest), longest)


def back(facts: Facts, at: datetime) -> Facts:
    """Return the facts after a quarantined endpoint answered Identify, or a person released it."""
    return facts._replace(failures=0, is_quarantined=False, due=at)


def quarantined(facts: Facts, policy: Policy, at: datetime) -> Facts:
    """Return the facts after a person put an endpoint into quarantine."""
    return facts._replace(is_quarantined=True, due=at + policy.probe_every)


def due_of(facts: Facts, wish: Endpoint) -> datetime | None:
    """Return when an endpoint may start: its due time, moved into its hours.

    None while it is paused or at work. A run that a person asked for is due since the last one
    ended, paused or not, and at any hour. Endpoints that are quarantined or moved are due, too:
    the address may answer again.
    """
    due = _due_at_any_hour(facts, wish)
    return due if due is None or not wish.hours or facts.is_asked else opening(wish.hours, due)


def _due_at_any_hour(facts: Facts, wish: Endpoint) -> datetime | None:
    if facts.run:
        return None
    if facts.is_asked:
        return facts.ended or facts.added
    return None if wish.is_paused else facts.due or facts.added


@cache
def _first_count(name: str, every: timedelta) -> datetime:
    return _BEGIN + share_of(name, _BEGIN) * every


def is_count_due(facts: Facts, policy: Policy, now: datetime) -> bool:
    """Whether the run that starts now also asks how many records the repository lists.

    Of each interval, one moment is that of an endpoint, by a hash of its name. The first run
    after it asks, and those after that until one is whole.
    """
    every = policy.count_every
    last = facts.started if facts.outcome is RunOutcome.WHOLE else facts.whole
    if not every or last is None:
        return False
    first = _first_count(facts.name, every)
    return (now - first) // every > (last - first) // every


# --------------------------------------------------------------------------- states


def state_of(
    facts: Facts, wish: Endpoint, now: datetime, lost_nodes: Collection[str] = ()
) -> State:
    """Return the state of an endpoint, the first that applies in the order of `State`.

    Runs that were cut or held say nothing about the repository; the run before them counts.
    """
    last = _CONCLUSIVE.get(facts.outcomes.rstrip("ch")[-1:])
    due = due_of(facts, wish)
    claims = (
        (wish.is_paused, State.PAUSED),
        (facts.run, State.RUNNING),
        (lost_nodes and (facts.node or wish.node) in lost_nodes, State.LOST),
        (facts.is_quarantined, State.QUARANTINED),
        (last is RunOutcome.BLOCKED, State.BLOCKED),
        (facts.moved_to or (facts.failures and last is RunOutcome.MOVED), State.MOVED),
        (facts.failures or last is RunOutcome.FAILED, State.FAILING),
        (last is RunOutcome.SUSPICIOUS, State.SUSPICIOUS),
        (last is RunOutcome.PARTIAL, State.PARTIAL),
        (facts.outcome is None, State.NEW),
        (last is not RunOutcome.WHOLE or (due and due <= now), State.DUE),
    )
    return next((state for applies, state in claims if applies), State.WHOLE)


# --------------------------------------------------------------------------- what starts now


def is_giant(facts: Facts, wish: Endpoint, policy: Policy) -> bool:
    """Whether the runs of an endpoint have a lane of their own."""
    most = policy.giant_from
    return wish.is_giant or facts.records >= most or (facts.promised or 0) >= most


def startable(
    pairs: Iterable[tuple[Facts, Endpoint]], policy: Policy, now: datetime
) -> Iterator[Due]:
    """Yield those of some endpoints that may start now: due, or asked for, within their hours."""
    for facts, wish in pairs:
        moment = _due_at_any_hour(facts, wish)
        if moment is None or moment > now or not (facts.is_asked or is_within(wish.hours, now)):
            continue
        yield Due(
            not facts.is_asked,
            facts.due or facts.added,
            facts.name,
            facts.host,
            facts.node or wish.node,
            is_giant(facts, wish, policy),
        )


# --------------------------------------------------------------------------- where


def room_of(node: Node) -> int:
    """Return how many more records the disk of a node holds, by inodes and by bytes."""
    return min(node.free_inodes // INODES, node.free_bytes // BYTES)


def placed(rooms: Mapping[str, int], need: int, reserve: int) -> str:
    """Choose the node for a new Silo: the one with most room.

    Args:
        rooms: Node → how many more records its disk holds; see `room_of`.
        need: About how many records it will have.
        reserve: Records for which room must remain after that, so that the Silos can grow.

    Returns:
        Its name; empty if no node has room.
    """
    node = max(rooms, key=lambda one: (rooms[one], one), default="")
    return node if node and rooms[node] - need >= reserve else ""
