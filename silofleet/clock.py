"""The clock of a fleet: it starts what is due on the nodes, and keeps what the runs report.

There is one clock; a lock in the directory says so. It can be killed at any moment: the next
one begins again the runs that were at work, and the harvests go on from their own journals.
"""

import heapq
import logging
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol

from recordsilo.disk.locks import Locks
from silofleet.errors import ClockRunning, EndpointMoving, NoSuchEndpoint, WishesInvalid
from silofleet.fleet import Fleet
from silofleet.ledger import Run
from silofleet.orders import RunOrder
from silofleet.schedule import (
    after,
    back,
    due_of,
    is_count_due,
    is_giant,
    placed,
    room_of,
    startable,
)
from silofleet.values import BeforeRun, Ended, Endpoint, Facts, Node, RunOutcome
from silofleet.wishes import Wishes
from silowork.due.dispatch import AtWork, Room, dispatch
from silowork.due.hours import is_within
from silowork.stop import Stop

SECONDS_BETWEEN_LOOKS = 0.2
BETWEEN_BEATS = timedelta(seconds=10)
BETWEEN_CLEANINGS = timedelta(hours=1)
REST_OF_FULL_DISK = timedelta(minutes=10)
"""How long no run starts on a node whose disk was full."""
REST_OF_UNSENT = timedelta(seconds=30)
"""Pause before a run that could not start is tried again."""
MOST_SKEW = timedelta(minutes=10)
"""How far the machine's clock may be set back before all times are checked."""
NEED = 1_000
"""Records for which a new Silo needs room: half of all repositories have fewer."""
FOR_NODES = timedelta(minutes=1)
"""How long `until_idle` waits for the first node."""
FOR_LAST_RUNS = timedelta(seconds=12)
"""How long a clock that was stopped waits for its own runs, which end within `SECONDS_TO_END`."""
MOST_CUTS = 3
"""After this many cut runs, `until_idle` no longer waits for an endpoint."""

_LONG_AGO = datetime.min.replace(tzinfo=UTC)

logger = logging.getLogger("silofleet")


class Runner(Protocol):
    """Where runs are at work: in processes here, or on nodes that a broker reaches."""

    @property
    def progress(self) -> Mapping[int, tuple[int, int | None]]:
        """Run → records listed so far, and promised; of the runs that are alive."""

    def nodes(self) -> list[Node]:
        """The nodes that are alive."""

    def keeps(self, run: Run) -> bool:
        """Whether a run that an earlier clock started may be at work still, or reported later."""

    def end_own(self) -> set[int]:
        """Ask the runs that end with this clock to end; `finished` returns them then."""

    def start(self, order: RunOrder, node: str) -> None:
        """Start a run on a node.

        Raises:
            OSError: It cannot be started now.
        """

    def finished(self, timeout: float) -> list[tuple[int, Ended]]:
        """Wait until a run has ended, at most for some seconds; return those that have."""


@dataclass(slots=True)
class Summary:
    """What a clock has done.

    Attributes:
        outcomes: Outcome → number of endpoints, by their last run; runs that were cut are
            counted only if nothing followed.
        waiting: Endpoints that were due, and did not run: their host asks for a pause, or no
            disk has room.
        is_idle: Whether every endpoint that was due has had its run.
    """

    outcomes: dict[str, RunOutcome] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    is_idle: bool = False

    @property
    def counts(self) -> Mapping[RunOutcome, int]:
        """Outcome → number of endpoints."""
        return Counter(self.outcomes.values())

    @property
    def is_whole(self) -> bool:
        """Whether everything that was due is whole."""
        return (
            self.is_idle and not self.waiting and set(self.outcomes.values()) <= {RunOutcome.WHOLE}
        )


Shown = Callable[[int, int, int], object]
"""Called with the numbers of endpoints done, due and at work."""


class Clock:
    """Runs a fleet; one thread uses it.

    Args:
        runner: Where its runs are at work.
        clock: The time.
        watch: Called at every look with the time; it must not take long.
        contact: Sent with requests, in place of that of the wishes.
    """

    def __init__(
        self,
        fleet: Fleet,
        runner: Runner,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        watch: Callable[[datetime], object] | None = None,
        contact: str | None = None,
    ) -> None:
        self._fleet, self._runner, self._now, self._watch = fleet, runner, clock, watch
        self._contact = contact
        self._known: dict[str, Facts] = {}
        self._heap: list[tuple[datetime, str]] = []
        self._ready: set[str] = set()
        self._working: dict[int, Run] = {}
        self._asked: set[int] = set()
        self._holds: dict[str, datetime] = {}
        self._placed_since: dict[str, tuple[datetime, int]] = {}
        self._full_until: dict[str, datetime] = {}
        self._seen = -1
        self._wishes, self._fault = Wishes(), ""
        self._is_changed = True
        self._looked = self._last_beat = self._last_cleaning = _LONG_AGO

    def run(self, stop: Stop, *, until_idle: bool = False, shown: Shown | None = None) -> Summary:
        """Start what is due until asked to stop.

        Args:
            stop: Asks it to end; runs at work are then ended by their runner.
            until_idle: End when every endpoint that is due now has had one run.
            shown: Told of the progress.

        Raises:
            ClockRunning: The fleet has a clock already.
        """
        locks = Locks(os.path.join(self._fleet.directory, "fleet", "locks"))
        with locks.hold_name_if_free("clock") as is_free:
            if not is_free:
                raise ClockRunning(self._fleet.directory)
            summary = self._run(stop, until_idle, shown)
            self._fleet.ledger.clock_ended(self._now())
            return summary

    def _run(self, stop: Stop, until_idle: bool, shown: Shown | None) -> Summary:
        self._load()
        self._look()
        summary = Summary()
        wanted = self._ready | {run.endpoint for run in self._working.values()}
        cuts: Counter[str] = Counter()
        total, done, begin = len(wanted), 0, self._now()
        while not stop.asked:
            self._look()
            started = self._start(wanted if until_idle else None)
            if until_idle and not (self._working or started or self._awaits_nodes(begin, wanted)):
                summary.waiting = {name: self._why(name) for name in wanted}
                summary.is_idle = True
                self._keep_up()
                break
            for number, ended in self._runner.finished(SECONDS_BETWEEN_LOOKS):
                name = self._end(number, ended)
                if name:
                    summary.outcomes[name] = ended.outcome
                    cuts[name] += ended.outcome is RunOutcome.CUT
                    if name in wanted and (
                        ended.outcome is not RunOutcome.CUT or cuts[name] > MOST_CUTS
                    ):
                        wanted.discard(name)
                        done += 1
            if shown is not None:
                shown(done, total, len(self._working))
            self._keep_up()
        if stop.asked:
            self._end_own()
        return summary

    def _end_own(self) -> None:
        """End the runs that end with this clock, so that none is said to be at work afterwards."""
        own = self._runner.end_own()
        last = self._now() + FOR_LAST_RUNS
        while own and self._now() < last:
            for number, ended in self._runner.finished(SECONDS_BETWEEN_LOOKS):
                self._end(number, ended)
                own.discard(number)

    def _awaits_nodes(self, begin: datetime, wanted: set[str]) -> bool:
        """Whether something is due, and the first node may still come."""
        if not wanted or self._now() - begin > FOR_NODES or self._runner.nodes():
            return False
        self._is_changed = True
        return True

    # ------------------------------------------------------------------ what is due

    def _load(self) -> None:
        """Read the state; begin again the runs that nobody is at work on."""
        self._seen, _ = self._fleet.ledger.changed_since(-1)
        self._wishes = self._fleet.wishes
        self._mend_times()
        for run in self._fleet.ledger.open_runs():
            self._working[run.number] = run
            if not self._runner.keeps(run):
                self._end(run.number, _cut("the scheduler ended", self._now()))
        self._load_again()

    def _mend_times(self) -> None:
        """After the machine's clock was wrong: what lies in the future is now."""
        now = self._looked = self._now()
        self._last_beat = self._last_cleaning = _LONG_AGO
        self._full_until.clear()
        longest = now + self._wishes.policy.longest_rest
        holds = self._fleet.ledger.holds()
        self._holds = {host: min(until, longest) for host, until in holds.items()}
        for facts in self._fleet.ledger.facts():
            if max(facts.added, facts.started or now, facts.ended or now) > now + MOST_SKEW:
                logger.warning("%s was harvested in the future; it is due now", facts.name)
                self._fleet.ledger.change(facts.name, partial(_not_later, now=now))

    def _look(self) -> None:
        """Take up what others changed, and what has become due."""
        try:
            wishes = self._fleet.wishes
        except (WishesInvalid, FileNotFoundError) as error:  # while somebody edits the file
            if str(error) != self._fault:
                logger.warning("%s; the fleet goes on with what it read before", error)
            wishes, self._fault = self._wishes, str(error)
        else:
            self._fault = ""
        if wishes is not self._wishes:
            self._wishes = wishes
            self._load_again()
        self._seen, changed = self._fleet.ledger.changed_since(self._seen)
        for name in changed:
            self._read_again(name)
        now = self._now()
        if now < self._looked - MOST_SKEW:  # the machine's clock was set back
            self._mend_times()
            self._load_again()
        self._looked = now
        while self._heap and self._heap[0][0] <= now:
            _, name = heapq.heappop(self._heap)
            due = self._due(name)
            if due is None:
                continue
            if due <= now:
                self._ready.add(name)
                self._is_changed = True
            else:
                heapq.heappush(self._heap, (due, name))

    def _load_again(self) -> None:
        self._known = {facts.name: facts for facts in self._fleet.ledger.facts()}
        self._heap, self._ready, self._is_changed = [], set(), True
        for name in self._known:
            self._push(name)

    def _read_again(self, name: str) -> None:
        try:
            self._known[name] = self._fleet.ledger.facts_of(name)
        except NoSuchEndpoint:
            self._known.pop(name, None)
        self._ready.discard(name)
        self._push(name)

    def _push(self, name: str) -> None:
        due = self._due(name)
        if due is not None:
            heapq.heappush(self._heap, (due, name))

    def _due(self, name: str) -> datetime | None:
        facts, wish = self._known.get(name), self._wish(name)
        if facts is None or wish is None:
            return None
        due = due_of(facts, wish)
        held = self._holds.get(facts.host)
        return max(due, held) if due and held and not self._is_free(facts.host) else due

    def _wish(self, name: str) -> Endpoint | None:
        return self._wishes.endpoints.get(name)

    # ------------------------------------------------------------------ starting

    def _start(self, only: set[str] | None) -> int:
        """Start what is due, as far as there are slots; return how many were started.

        Args:
            only: Endpoints that may be started; None for all.
        """
        if not self._is_changed or not self._ready:
            return 0
        self._is_changed = False
        now, policy = self._now(), self._wishes.policy
        nodes = {node.name: node for node in self._runner.nodes()}
        for node in nodes.values():
            self._fleet.ledger.see(node)
        busy = self._busy()
        free = {
            name: node.slots - busy.places.get(name, 0)
            for name, node in nodes.items()
            if room_of(node) * 10 >= policy.reserve and self._full_until.get(name, now) <= now
        }
        place = partial(self._place, self._rooms(nodes.values()))
        room = Room(free, policy.giant_slots, self._holds, self._is_free, place)
        chosen = dispatch(startable(self._due_now(only), policy, now), busy, room, now)
        return sum(self._start_one(name, node, now) for name, node in chosen)

    def _due_now(self, only: set[str] | None) -> list[tuple[Facts, Endpoint]]:
        pairs = []
        for name in self._ready.copy() if only is None else self._ready & only:
            facts, wish = self._known.get(name), self._wish(name)
            if facts is None or wish is None:
                self._ready.discard(name)
            else:
                pairs.append((facts, wish))
        return pairs

    def _rooms(self, nodes: Iterable[Node]) -> dict[str, int]:
        """Open node → records for which its disk has room.

        What was placed on a node since it last reported counts as taken.
        """
        closed = {one.name for one in self._fleet.ledger.nodes() if not one.is_open}
        rooms = {}
        for node in nodes:
            seen, taken = self._placed_since.get(node.name, (node.seen, 0))
            taken = taken if seen == node.seen else 0
            self._placed_since[node.name] = node.seen, taken
            if node.name not in closed:
                rooms[node.name] = room_of(node) - taken
        return rooms

    def _place(self, rooms: dict[str, int], name: str, choice: Collection[str]) -> str:
        """The node for a new Silo, among some; empty if none of them is open and has room."""
        need = max(NEED, self._known[name].promised or 0)
        there = {name: room for name, room in rooms.items() if name in choice}
        node = placed(there, need, self._wishes.policy.reserve)
        if node:
            rooms[node] -= need
            seen, taken = self._placed_since[node]
            self._placed_since[node] = seen, taken + need
        return node

    def _start_one(self, name: str, node: str, now: datetime) -> int:
        try:
            run = self._fleet.ledger.begin(name, node, now)
        except NoSuchEndpoint:  # removed meanwhile
            self._read_again(name)
            return 0
        except EndpointMoving:  # the end of the move makes it due again
            self._ready.discard(name)
            return 0
        self._working[run.number] = run
        self._ready.discard(name)
        facts = self._known[name]
        self._known[name] = facts._replace(run=run.number, node=node, started=now)
        if facts.is_asked:
            self._asked.add(run.number)
        try:
            self._runner.start(self._order(run, facts), node)
        except OSError as error:
            cut = _cut(f"it could not be started: {error}", self._now())
            self._end(run.number, cut, unsent=facts)
            return 0
        return 1

    def _order(self, run: Run, facts: Facts) -> RunOrder:
        wish = self._wishes.endpoints[facts.name]
        return RunOrder(
            run=run.number,
            silo_path=self._fleet.silo_path(facts.name),
            wish=wish,
            epoch=run.epoch,
            only_probe=facts.is_quarantined and not facts.is_asked,
            before=BeforeRun(facts.records, facts.promised, self._wishes.policy.fewer),
            pace=self._fleet.pace_for(wish.url),
            contact=self._contact or self._wishes.policy.contact or None,
            is_counted=is_count_due(facts, self._wishes.policy, self._now()),
        )

    def _busy(self) -> AtWork:
        busy = AtWork(frozenset(run.endpoint for run in self._working.values()))
        for run in self._working.values():
            facts, wish = self._known.get(run.endpoint), self._wish(run.endpoint)
            if facts is None:
                continue
            busy.groups[facts.host] = busy.groups.get(facts.host, 0) + 1
            busy.places[run.node] = busy.places.get(run.node, 0) + 1
            if wish is not None and is_giant(facts, wish, self._wishes.policy):
                busy.large[run.node] = busy.large.get(run.node, 0) + 1
        return busy

    def _is_free(self, host: str) -> bool:
        """Whether a host may have any number of runs at a time: it has no interval."""
        return not self._wishes.interval_of(host)

    # ------------------------------------------------------------------ ends

    def _end(self, number: int, ended: Ended, *, unsent: Facts | None = None) -> str:
        """Keep the end of a run; return the endpoint, or nothing if it is not its current run.

        Args:
            number: Of the run.
            unsent: What was known before a run that could not be started.
        """
        run = self._working.pop(number, None)
        self._is_changed = True
        if run is None:
            return ""
        now = self._now()
        ended = _by_this_clock(ended, run.started, now, self._wishes.policy.longest_rest)
        if ended.is_disk_full:
            self._full_until[run.node] = now + REST_OF_FULL_DISK
        was_asked = number in self._asked
        self._asked.discard(number)

        def change(one: Facts) -> Facts:
            if unsent:  # which says nothing about the endpoint, however often it happens
                before = one._replace(run=0, node=unsent.node, started=unsent.started)
                return before._replace(said=ended.said, due=now + REST_OF_UNSENT)
            found = self._after(one, ended)
            is_begun_again = ended.outcome is RunOutcome.CUT and found.failures == one.failures
            return found._replace(is_asked=one.is_asked and (is_begun_again or not was_asked))

        facts = self._fleet.ledger.end(run, ended, now, change)
        if facts is None:
            return ""
        if ended.hold is not None:
            self._fleet.ledger.hold(facts.host, ended.hold)
            self._holds[facts.host] = ended.hold
        self._known[run.endpoint] = facts
        self._push(run.endpoint)
        if ended.outcome is not RunOutcome.WHOLE:
            logger.info("%s: %s: %s", run.endpoint, ended.outcome.value, ended.said)
        return run.endpoint

    def _after(self, facts: Facts, ended: Ended) -> Facts:
        wish = self._wish(facts.name) or Endpoint(facts.name, "")  # removed meanwhile
        if ended.outcome is RunOutcome.WHOLE and ended.records is None:  # it was only a probe
            return back(facts, ended.at)._replace(run=0, ended=ended.at, said=ended.said)
        has_silo = not facts.epoch and ended.records is not None
        known = after(facts, wish, self._wishes.policy, ended)
        return known._replace(epoch=ended.epoch) if has_silo else known

    def _keep_up(self) -> None:
        """Note now and then that the runs are alive, and forget what is old."""
        now = self._now()
        if now - self._last_beat >= BETWEEN_BEATS:
            self._last_beat = now
            self._is_changed = True
            progress = self._runner.progress
            self._fleet.ledger.beat(((run, *how) for run, how in progress.items()), now)
            for node in self._runner.nodes():
                self._fleet.ledger.see(node)
            self._fleet.ledger.clock_beat(now)
        if self._watch is not None:
            self._watch(now)
        if now - self._last_cleaning >= BETWEEN_CLEANINGS:
            self._last_cleaning = now
            self._fleet.ledger.forget_old(now)

    def _why(self, name: str) -> str:
        """Why an endpoint that is due did not run."""
        facts, wish, now = self._known.get(name), self._wish(name), self._now()
        if facts is None or wish is None:
            return "it was removed"
        if move := self._fleet.ledger.move_of(name):
            return f"its Silo is being moved to {move.target}"
        held = self._holds.get(facts.host)
        if held and held > now:
            return f"its host asks for a pause until {held:%Y-%m-%d %H:%M} UTC"
        if facts.due and facts.due > now:  # it could not be started
            return facts.said
        if not (facts.is_asked or is_within(wish.hours, now)):
            return "its hours are over"
        node, there = facts.node or wish.node, {one.name for one in self._runner.nodes()}
        if node and node not in there:
            return f"its node {node} does not report"
        if not there:
            return "no node reports"
        return f"the disk of {node} has no room" if node else "no disk of an open node has room"


def _not_later(facts: Facts, now: datetime) -> Facts:
    return facts._replace(
        added=min(facts.added, now),
        started=facts.started and min(facts.started, now),
        ended=facts.ended and min(facts.ended, now),
        whole=facts.whole and min(facts.whole, now),
        due=now,
    )


def _by_this_clock(ended: Ended, started: datetime, now: datetime, longest: timedelta) -> Ended:
    """The end of a run by the clock of this machine; that of its node may be wrong by hours.

    A pause is as long as the host asked for, from now on, also if the report came late.
    """
    at = min(max(ended.at, started), now)
    began = ended.began and min(max(ended.began, started), at)
    ended, told_at = ended._replace(at=at, began=began), ended.at
    if ended.hold is None:
        return ended
    pause = max(ended.hold - told_at, timedelta(0))
    return ended._replace(hold=now + min(pause, longest))


def _cut(said: str, at: datetime) -> Ended:
    return Ended(RunOutcome.CUT, said, at)
