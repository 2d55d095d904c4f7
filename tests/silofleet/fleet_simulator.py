"""A year of an imaginary fleet by the functions of `silofleet.schedule`, in about a minute.

The repositories are made up after what is known of real ones: three quarters share a host, a few
hosts have very many, a seventh never answers, sizes and answer times are skewed (sources in
docs/fleet-simulator.md). Everything that a run takes is drawn; everything that is decided, is
decided by the schedule. The simulator checks each start by its own books, so a mistake of the
schedule shows.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import Any

from politeweb.addresses import host_of
from silofleet.schedule import after, due_of, is_count_due, placed, startable
from silofleet.values import Ended, Endpoint, Facts, Policy, RunOutcome
from silowork.due.dispatch import AtWork, Room, dispatch
from silowork.due.hours import Hours, is_within, opening

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE, HOUR, DAY = (timedelta(minutes=one) for one in (1, 60, 24 * 60))
TICK, TICKS = 2 * MINUTE, 24 * 30
"""The clock looks so often; what happens in between waits for the next look."""
LEASE = 2 * MINUTE
"""Pause before the runs of a lost node are cut."""
PATIENCE = 2 * DAY
"""An endpoint that may start, but waits longer in the queue, starves."""
LONG_PATIENCE = 20 * DAY
"""That of first harvests, which list everything, and of giants."""
PAGE = 100
_ZONES = ("Europe/London", "America/New_York", "Asia/Jakarta", "Australia/Sydney", "UTC")
_ODD = (
    (0.004, RunOutcome.FAILED),
    (0.0045, RunOutcome.BLOCKED),
    (0.0055, RunOutcome.PARTIAL),
    (0.0056, RunOutcome.SUSPICIOUS),
    (0.0066, RunOutcome.HELD),
    (0.0070, RunOutcome.CUT),
    (0.0071, RunOutcome.MOVED),
)
"""Of the runs of a repository that is there: up to which draw they end in which odd way."""
_ODDS, _WHOLE, _FAILED = _ODD[-1][0], RunOutcome.WHOLE, RunOutcome.FAILED


@dataclass(frozen=True, slots=True)
class Plan:
    """What is simulated.

    Attributes:
        endpoints: How many.
        days: How long.
        nodes: How many; each is lost now and then.
        slots: Of each node.
        dead: Share of endpoints that do not answer; a fifth of them begins to, some day.
        with_hours: Share of endpoints with hours of their own.
        adaptive: Whether all intervals are adaptive.
        policy: The rules.
        seed: Of all draws.
    """

    endpoints: int = 10_000
    days: int = 365
    nodes: int = 4
    slots: int = 16
    dead: float = 0.15
    with_hours: float = 0.1
    adaptive: bool = False
    policy: Policy = field(default_factory=Policy)
    seed: int = 1


@dataclass(slots=True, eq=False)
class _One:
    """An endpoint, and how its repository behaves.

    Attributes:
        size: Its records.
        latency: Seconds from request to request, the pause of the host included.
        brief: What a run without much news takes: two requests.
        answers: From when on it does.
        left: Of a run that was cut, the time that it still takes.
        ended: How the run at work will end.
        since: Since when it may start.
    """

    facts: Facts
    wish: Endpoint
    size: int
    latency: float
    answers: datetime
    left: timedelta | None = None
    ended: Ended | None = None
    since: datetime = BEGIN
    brief: timedelta = field(init=False)

    def __post_init__(self) -> None:
        self.brief = timedelta(seconds=2 * self.latency)

    @property
    def patience(self) -> timedelta:
        """How long it may wait."""
        return LONG_PATIENCE if self.facts.whole is None or self.wish.is_giant else PATIENCE


def _overdue(one: _One) -> tuple[datetime, str]:
    return one.facts.due or one.facts.added, one.facts.name


@dataclass(slots=True)
class Report:
    """What happened.

    Attributes:
        outcomes: Runs by the letter of how they ended.
        requests, vain: All, and those of runs that failed.
        busy: Time of all runs together.
        waits: The longest of updates, of first harvests and of giants, from the due time, in
            the hours, to the start; not counted is the time in which the node was lost or the
            host had asked for a pause.
        violations: Sentences on what must not happen.
        quarantined: Endpoints at the end.
        never: Living endpoints that never had a whole harvest.
        lost: How often a node was lost.
        most_busy: Most runs at a time.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    vain: int = 0
    busy: timedelta = timedelta(0)
    waits: dict[str, timedelta] = field(
        default_factory=lambda: dict.fromkeys(("updates", "first harvests", "giants"), 0 * DAY)
    )
    violations: list[str] = field(default_factory=list)
    quarantined: int = 0
    never: int = 0
    lost: int = 0
    most_busy: int = 0

    @property
    def runs(self) -> int:
        """How many."""
        return self.outcomes.total()


def simulate(plan: Plan) -> Report:
    """Run the fleet of a plan.

    Cost: some 15 to 18 µs of CPU a run.
    """
    return _Simulation(plan).run()


class _Simulation:
    """The books of the imaginary clock.

    An endpoint is in one place: `dues` or `ends` (lists for each tick), `ready` (may start, but
    for slots and lanes), `behind` (its host is busy), or `parked` (its node is lost).
    """

    def __init__(self, plan: Plan) -> None:
        self.plan, self.policy = plan, plan.policy
        self.draw = random.Random(plan.seed)  # a simulation
        self.end = BEGIN + plan.days * DAY
        self.report = Report()
        self.dues: list[list[_One]] = [[] for _ in range(plan.days * TICKS + 1)]
        self.ends: list[list[tuple[_One, Ended]]] = [[] for _ in self.dues]
        self.ready: dict[tuple[str, bool], list[_One]] = defaultdict(list)
        self.behind: dict[str, list[_One]] = {}
        self.parked: dict[str, list[_One]] = defaultdict(list)
        self.running: dict[str, _One] = {}
        self.hosts: dict[str, int] = {}
        self.holds: dict[str, datetime] = {}
        self.nodes: Counter[str] = Counter()
        self.giants: Counter[str] = Counter()
        self.free = {f"n{number}": plan.slots for number in range(plan.nodes)}
        self.losses = sorted(self._losses(), reverse=True)
        self.all = {one.facts.name: one for one in self._endpoints()}
        for one in self.all.values():
            self._queue(one)

    # ------------------------------------------------------------------ the world

    def _losses(self) -> Iterator[tuple[datetime, str, bool]]:
        """When each node is lost and back: about four times a year, for up to three days."""
        for node in self.free:
            moment = BEGIN + self.draw.expovariate(4 / 365) * DAY
            while moment < self.end:
                back = moment + self.draw.uniform(0.1, 72) * HOUR
                yield moment, node, False
                yield back, node, True
                moment = back + self.draw.expovariate(4 / 365) * DAY

    def _endpoints(self) -> Iterator[_One]:
        draw, plan = self.draw, self.plan
        room = dict.fromkeys(self.free, 80_000_000)
        for number, host in enumerate(_hosts(plan.endpoints, draw)):
            size = min(int(draw.lognormvariate(6.96, 2.3)) + 1, 20_000_000)
            answers = BEGIN
            if draw.random() < plan.dead:
                answers = BEGIN + draw.random() * 5 * plan.days * DAY
            wish = Endpoint(
                f"e{number}",
                f"https://{host}/{number}/oai",
                hours=_hours(draw) if draw.random() < plan.with_hours else None,
                is_giant=size >= self.policy.giant_from,
                adaptive=plan.adaptive,
            )
            node = placed(room, size, self.policy.reserve) or "n0"
            room[node] -= size
            facts = Facts(wish.name, host_of(wish.url), BEGIN, node=node, due=BEGIN)
            yield _One(
                facts, wish, size, max(1.0, min(draw.lognormvariate(-0.5, 1.0), 30.0)), answers
            )

    def _drawn(self, one: _One, now: datetime) -> tuple[int, Ended]:
        """The requests of a run, and how it ends."""
        draw, odd = self.draw, self.draw.random()
        if one.answers > now:
            took = timedelta(seconds=min(2 * draw.expovariate(0.1), 120.0))
            return 2, Ended(RunOutcome.FAILED, "no answer", now + took, began=now)
        promised = None if one.facts.whole else one.size
        changed = promised or int(draw.expovariate(2500 / one.size))
        requests = 2 + changed // PAGE
        if is_count_due(one.facts, self.policy, now):
            requests += 1
        took = one.left or (
            one.brief if requests == 2 else timedelta(seconds=requests * one.latency)
        )
        one.left, outcome, hold = None, _WHOLE, None
        if odd < _ODDS:
            outcome = next(found for bound, found in _ODD if odd < bound)
            if outcome is RunOutcome.CUT:
                one.left = took = took * 0.5
            elif outcome.letter not in "wps":
                requests, took = 1, timedelta(seconds=one.latency)
            if outcome is RunOutcome.HELD:
                hold = now + took + draw.uniform(0.1, 24) * HOUR
        return requests, Ended(
            outcome, "", now + took, one.size, promised, changed, hold, began=now
        )

    # ------------------------------------------------------------------ the clock

    def run(self) -> Report:
        """Go from tick to tick; return the report."""
        for tick, (ends, dues) in enumerate(zip(self.ends, self.dues, strict=True)):
            now = BEGIN + tick * TICK
            while self.losses and self.losses[-1][0] <= now:
                self._lose_or_find(*self.losses.pop())
            for one, ended in ends:
                if one.ended is ended:
                    self._end(one, ended)
            for one in dues:
                self._make_ready(one)
            self.ends[tick], self.dues[tick] = [], []
            if self.ready:
                self._start(now)
        self._close()
        return self.report

    def _lose_or_find(self, moment: datetime, node: str, is_back: bool) -> None:
        if is_back:
            self.free[node] = self.plan.slots - self.nodes[node]
            for one in self.parked.pop(node, ()):
                one.since = max(one.since, moment)
                self._make_ready(one)
            return
        self.report.lost += 1
        del self.free[node]
        for is_giant in (False, True):
            self.parked[node] += self.ready.pop((node, is_giant), ())
        for one in self.running.values():
            ended = one.ended
            if one.facts.node == node and ended and ended.at > moment + LEASE:
                one.left = ended.at - moment
                self._expect(one, Ended(RunOutcome.CUT, "", moment + LEASE, began=ended.began))

    def _end(self, one: _One, ended: Ended) -> None:
        facts, wish, node = one.facts, one.wish, one.facts.node
        host = facts.host
        self.report.outcomes[ended.outcome.letter] += 1
        del self.running[facts.name]
        self.hosts.pop(host, None)
        self.nodes[node] -= 1
        if wish.is_giant:
            self.giants[node] -= 1
        if node in self.free:
            self.free[node] += 1
        if ended.hold:
            self.holds[host] = ended.hold
        one.ended, one.facts = None, after(facts, wish, self.policy, ended)
        self._queue(one)
        if host in self.behind:
            for other in self.behind.pop(host):
                self._make_ready(other)

    def _queue(self, one: _One) -> None:
        due = due_of(one.facts, one.wish)
        if due is not None:
            one.since = due
            self._wait(one, due)

    def _wait(self, one: _One, until: datetime) -> None:
        if until <= self.end:
            self.dues[_tick(until)].append(one)

    def _make_ready(self, one: _One) -> None:
        node, host = one.facts.node, one.facts.host
        if node not in self.free:
            self.parked[node].append(one)
        elif host in self.hosts:
            self.behind.setdefault(host, []).append(one)
        else:
            self.ready[node, one.wish.is_giant].append(one)

    def _start(self, now: datetime) -> None:
        """Offer the most overdue of each lane; what may not start now waits for its reason."""
        offered: list[_One] = []
        for (node, is_giant), queue in self.ready.items():
            most = self.policy.giant_slots if is_giant else 3 * self.free[node]
            if len(queue) <= most:
                offered += queue
                queue.clear()
            elif most:
                queue.sort(key=_overdue, reverse=True)
                offered += queue[-most:]
                del queue[-most:]
        if not offered:
            return
        busy = AtWork(frozenset(self.running), self.hosts, self.nodes, self.giants)
        pairs = [(one.facts, one.wish) for one in offered]
        room = Room(self.free, self.policy.giant_slots, self.holds, _limited, _nowhere)
        chosen = dispatch(startable(pairs, self.policy, now), busy, room, now)
        for name, node in chosen:
            self._begin(self.all[name], node, now)
        self.report.most_busy = max(self.report.most_busy, len(self.running))
        for one in offered:
            if one.ended:
                continue
            hold = self.holds.get(one.facts.host, BEGIN)
            if hold > now:
                one.since = max(one.since, hold)
                self._wait(one, hold)
            elif one.wish.hours and not is_within(one.wish.hours, now):
                self._wait(one, opening(one.wish.hours, now))
            else:
                self._make_ready(one)

    def _begin(self, one: _One, node: str, now: datetime) -> None:
        facts, wish, report = one.facts, one.wish, self.report
        waited = now - one.since
        self._check(one, node, now, waited)
        kind = "giants" if wish.is_giant else "updates" if facts.whole else "first harvests"
        report.waits[kind] = max(report.waits[kind], waited)
        requests, ended = self._drawn(one, now)
        report.requests += requests
        if ended.outcome is _FAILED:
            report.vain += requests
        self.running[facts.name], self.hosts[facts.host] = one, 1
        self._expect(one, ended)
        report.busy += ended.at - now
        self.free[node] -= 1
        self.nodes[node] += 1
        if wish.is_giant:
            self.giants[node] += 1

    def _expect(self, one: _One, ended: Ended) -> None:
        one.ended = ended
        if ended.at <= self.end:
            self.ends[_tick(ended.at)].append((one, ended))

    # ------------------------------------------------------------------ what must not happen

    def _check(self, one: _One, node: str, now: datetime, waited: timedelta) -> None:
        facts, hours = one.facts, one.wish.hours
        name, host, due = facts.name, facts.host, facts.due
        hold = self.holds.get(host)
        wrong = (
            (name in self.running and "it runs already")
            or (host in self.hosts and "its host is busy")
            or (hold and hold > now and "its host asked for a pause")
            or (hours and not is_within(hours, now) and "its hours are over")
            or (self.free.get(node, 0) < 1 and "its node has no free slot")
            or (node != facts.node and "its Silo is on another node")
            or ((due is None or due > now) and "it is not due")
            or (waited > PATIENCE and waited > one.patience and "it starved")
        )
        if wrong:
            self.report.violations.append(f"{now:%Y-%m-%d %H:%M} {name}: {wrong}")

    def _close(self) -> None:
        """Count what is left, and who still waits."""
        report = self.report
        waiting = [one for queue in self.ready.values() for one in queue]
        waiting += [one for queue in self.behind.values() for one in queue]
        starved = [one for one in waiting if self.end - one.since > one.patience]
        report.violations += [f"{one.facts.name}: it still waits" for one in starved]
        report.quarantined = sum(one.facts.is_quarantined for one in self.all.values())
        report.never = sum(
            one.facts.whole is None and not one.facts.is_quarantined
            for one in self.all.values()
            if one.answers < self.end - 60 * DAY
        )


def _tick(moment: datetime) -> int:
    """The first tick at or after a moment."""
    since = moment - BEGIN
    seconds = since.days * 86_400 + since.seconds + (since.microseconds > 0)
    return -(-seconds // TICK.seconds)


def _limited(_host: str) -> bool:
    return False


def _nowhere(_name: str, _nodes: Collection[str]) -> str:
    """All Silos have their places."""
    return ""


def _hosts(endpoints: int, draw: random.Random) -> Iterator[str]:
    """Hosts of endpoints: a quarter alone, the others on hosts with 2 to 152 of them."""
    left, number, size = endpoints, 0, min(152, endpoints // 10)
    while left > 0:
        size = min(size, left)
        for _ in range(size):
            yield f"host{number}.example"
        left, number = left - size, number + 1
        if draw.random() < 0.25 / (0.25 + 0.75 / 3.6):
            size = 1
        else:
            size = min(int(1.55 * draw.paretovariate(1.8)) + 1, 152)


def _hours(draw: random.Random) -> Hours:
    begin, length = draw.randrange(24), draw.randrange(4, 13)
    return Hours(time(begin), time((begin + length) % 24), draw.choice(_ZONES))


def table(plan: Plan, report: Report) -> list[tuple[str, str]]:
    """The figures of a report, as rows."""
    days = plan.days

    def each_day(number: Any) -> str:
        return f"{number / days:,.0f}"

    return [
        ("endpoints, nodes, slots", f"{plan.endpoints:,}, {plan.nodes}, {plan.slots} each"),
        ("days", f"{days:,}"),
        ("runs", f"{report.runs:,}"),
        *((f"… {one}", f"{report.outcomes[one.letter]:,}") for one in RunOutcome),
        ("requests a day", each_day(report.requests)),
        ("failed requests a day", each_day(report.vain)),
        ("slots busy on average", f"{report.busy / (days * DAY):.1f}"),
        ("most slots busy", f"{report.most_busy}"),
        ("nodes lost", f"{report.lost}"),
        *(
            (f"longest wait of {kind}", f"{wait / HOUR:.1f} h")
            for kind, wait in report.waits.items()
        ),
        ("quarantined at the end", f"{report.quarantined:,}"),
        ("living endpoints without a whole harvest", f"{report.never:,}"),
        ("violations", f"{len(report.violations):,}"),
    ]
