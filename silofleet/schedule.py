"""When the runs of a fleet are due, in which state an endpoint is, and what starts now (pure).

The clock and the simulator of the tests decide by these functions; none of them reads the clock
or a file. Hours are those in which a run may *start*; one that has started goes on.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime, time, timedelta
from functools import cache, lru_cache
from zoneinfo import ZoneInfo

from politeweb.addresses import host_of
from silofleet.values import (
    KEPT_OUTCOMES,
    Busy,
    Ended,
    Endpoint,
    Facts,
    Hours,
    Node,
    Outcome,
    Policy,
    State,
)
from silowork.schedule import rest_after, share_of

__all__ = [
    "after",
    "back",
    "dispatch",
    "due_of",
    "host_of",
    "is_count_due",
    "is_giant",
    "is_within",
    "opening",
    "placed",
    "quarantined",
    "room_of",
    "state_of",
]

INODES, BYTES = 5, 24_000
"""That a record takes on a disk: measured with real oai_dc on ext4 were 4.9 and 24 KB."""
_DAY = timedelta(days=1)
_BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
MOST_CUTS = 5
"""Runs in a row that ended without a result (cut or held), before they rest like failures."""
_CONCLUSIVE = {one.letter: one for one in Outcome if one not in {Outcome.HELD, Outcome.CUT}}


# --------------------------------------------------------------------------- hosts


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
    outcome, failures, at = ended.outcome, facts.failures, ended.at
    letter = outcome.letter
    outcomes = (facts.outcomes + letter)[-KEPT_OUTCOMES:]
    start = ended.began or facts.started or at
    interval, promised, moved_to = facts.interval, facts.promised, facts.moved_to
    whole, is_quarantined = facts.whole, facts.is_quarantined
    if letter in "wps":  # it answered
        failures, is_quarantined, moved_to = 0, False, ""
        if outcome is Outcome.WHOLE:
            whole = at
            promised = promised if ended.promised is None else ended.promised
            interval = _adapted(facts, wish, policy, ended.changed > 0) if wish.adaptive else None
        elif outcome is Outcome.PARTIAL and ended.promised is not None:
            promised = max(promised or 0, ended.promised)
        factor = 1 + policy.jitter * (2 * share_of(facts.name, start) - 1)
        due = start + timedelta((interval or wish.every) / _DAY * factor)
    else:
        excess = len(outcomes) - len(outcomes.rstrip("ch")) - MOST_CUTS
        rest = rest_after(max(1, excess), policy.first_rest, policy.longest_rest)
        if outcome is Outcome.HELD:
            due = max(ended.hold or at + rest, at + rest if excess > 0 else at)
        elif outcome is Outcome.CUT and (excess <= 0 or ended.is_disk_full):
            due = at
        else:
            failures += 1
            is_quarantined = is_quarantined or failures >= policy.most_failures
            rest = rest_after(failures, policy.first_rest, policy.longest_rest)
            due = at + (policy.probe_every if is_quarantined else rest)
            moved_to = ended.moved_to or moved_to
    records = facts.records if ended.records is None else ended.records
    return Facts(  # by position, and not by _replace(): half the time of this function
        *facts[:5],  # name, host, added, node, epoch
        0,
        start,
        at,
        outcome,
        ended.said,
        failures,
        whole,
        records,
        promised,
        due,
        interval,
        is_quarantined,
        moved_to,
        False,
        outcomes,
    )


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
    last = facts.started if facts.outcome is Outcome.WHOLE else facts.whole
    if not every or last is None:
        return False
    first = _first_count(facts.name, every)
    return (now - first) // every > (last - first) // every


@cache
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


@lru_cache(1_000)
def _time_of_day(moment: datetime, zone: str) -> time:
    """The local time; the same moment is asked for all endpoints that are due."""
    return moment.astimezone(_zone(zone)).time()


def is_within(hours: Hours | None, moment: datetime) -> bool:
    """Whether a run may start at a moment: at or after the beginning, before the end."""
    if hours is None or hours.begin == hours.end:
        return True
    local = _time_of_day(moment, hours.zone)
    if hours.begin < hours.end:
        return hours.begin <= local < hours.end
    return local >= hours.begin or local < hours.end


def opening(hours: Hours | None, moment: datetime) -> datetime:
    """The first moment from this one on that lies within the hours.

    A beginning that daylight saving skips is the same distance after the change of the clocks;
    of one that comes twice, both count.
    """
    if hours is None or is_within(hours, moment):
        return moment
    zone = _zone(hours.zone)
    day = moment.astimezone(zone).date()
    for number in range(4):
        begin = datetime.combine(day + timedelta(days=number), hours.begin, zone)
        for fold in (0, 1):
            opening = begin.replace(fold=fold).astimezone(UTC)
            if opening >= moment and is_within(hours, opening):
                return opening
    raise AssertionError("every hour of a day comes again")


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
        (last is Outcome.BLOCKED, State.BLOCKED),
        (facts.moved_to or (facts.failures and last is Outcome.MOVED), State.MOVED),
        (facts.failures or last is Outcome.FAILED, State.FAILING),
        (last is Outcome.SUSPICIOUS, State.SUSPICIOUS),
        (last is Outcome.PARTIAL, State.PARTIAL),
        (facts.outcome is None, State.NEW),
        (last is not Outcome.WHOLE or (due and due <= now), State.DUE),
    )
    return next((state for applies, state in claims if applies), State.WHOLE)


# --------------------------------------------------------------------------- what starts now


def is_giant(facts: Facts, wish: Endpoint, policy: Policy) -> bool:
    """Whether the runs of an endpoint have a lane of their own."""
    most = policy.giant_from
    return wish.is_giant or facts.records >= most or (facts.promised or 0) >= most


def dispatch(  # noqa: PLR0917  # all that a decision takes
    due: Iterable[tuple[Facts, Endpoint]],
    busy: Busy,
    holds: Mapping[str, datetime],
    free: Mapping[str, int],
    policy: Policy,
    now: datetime,
    unlimited: Callable[[str], bool],
    place: Callable[[Facts, Collection[str]], str],
) -> list[tuple[str, str]]:
    """Choose the runs to start now, those that a person asked for first, then the most overdue.

    An endpoint, and a host unless it is unlimited, has one run at a time; a held host none. A
    node starts no more than its free slots, and giants only in their lane, which leaves one
    slot to the others. What is not chosen stays due.

    Args:
        due: Endpoints that may be due; those that are not due at `now`, or out of their hours,
            are left out.
        busy: What is at work.
        holds: Host → until when it asked not to be called.
        free: Node → free slots; a lost or closed node is not in it.
        policy: Lanes of giants.
        now: The time.
        unlimited: Whether a host may have any number of runs.
        place: Chooses the node for an endpoint without one, of some; empty if it is none of them.

    Returns:
        Pairs of endpoint and node, in order.

    Cost: one sort of `due`, and a look at each until no slot is free; 1 µs an endpoint. So give
    what is due by a heap or an index of due times, never the whole fleet, and leave out the
    endpoints of hosts that are held for long.
    """
    left = {node: slots for node, slots in free.items() if slots > 0}
    hosts: set[str] = set()
    endpoints: set[str] = set()
    giants = dict(busy.giants)
    chosen = []
    for facts, wish in sorted(due, key=_urgency):
        if not left:
            break
        name, host, node = facts.name, facts.host, facts.node or wish.node
        if (node and node not in left) or name in endpoints or name in busy.endpoints:
            continue
        if host in hosts or (busy.hosts.get(host) and not unlimited(host)):
            continue
        if host in holds and holds[host] > now:
            continue
        moment = _due_at_any_hour(facts, wish)
        if moment is None or moment > now or not (facts.is_asked or is_within(wish.hours, now)):
            continue
        choice = [node] if node else list(left)
        if needs_lane := is_giant(facts, wish, policy):
            lanes = {one: max(1, free[one] + busy.nodes.get(one, 0) - 1) for one in choice}
            most = policy.giant_slots
            choice = [one for one in choice if giants.get(one, 0) < min(most, lanes[one])]
        node = node or place(facts, choice)
        if node not in choice:
            continue
        giants[node] = giants.get(node, 0) + needs_lane
        chosen.append((name, node))
        endpoints.add(name)
        if not unlimited(host):
            hosts.add(host)
        left[node] -= 1
        if not left[node]:
            del left[node]
    return chosen


def _urgency(pair: tuple[Facts, Endpoint]) -> tuple[bool, datetime, str]:
    facts = pair[0]
    return (not facts.is_asked, facts.due or facts.added, facts.name)


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
