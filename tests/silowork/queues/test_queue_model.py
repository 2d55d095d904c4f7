"""Queues in a file do what a list in memory would do, whatever is asked of them, and when."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace

import pytest
from clocks import Clock
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from silowork.queues import sqlite
from silowork.queues.sqlite import WORN, SqliteQueues
from silowork.queues.values import LONGEST_WAIT, Message, MessageState, Queued, QueueSize

LEASE, MOST_TRIES = 60.0, 3
SECONDS = st.sampled_from([0.0, 1.0, 1.0, LEASE - 1, LEASE, LEASE + 1])
WAITS = st.sampled_from([0.0, 0.0, 0.0, -1.0, LEASE])
KEYS = st.sampled_from(["", "k", "l", "m"])


@pytest.fixture
def queues(clock: Clock) -> Iterator[SqliteQueues]:
    with closing(SqliteQueues(":memory:", lease=LEASE, most_tries=MOST_TRIES)) as found:
        yield found


@dataclass
class Expected:
    """A message as it should be; ``lease`` counts its takers."""

    number: int
    key: str
    body: bytes
    due: float
    state: str = "open"
    tries: int = 0
    reason: str = ""
    lease: int = 0


class QueueModel(RuleBasedStateMachine):
    """Takers of one queue, and the list that it should be."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.module = sqlite.time
        sqlite.time = self.clock.module  # type: ignore[assignment]
        self.queues = SqliteQueues(":memory:", lease=LEASE, most_tries=MOST_TRIES)
        self.expected: dict[str, Expected] = {}
        self.held: list[tuple[Queued, int]] = []
        """What takers have, with the lease by which they took it, lost ones included."""
        self.bodies = 0

    def teardown(self) -> None:
        self.queues.close()
        sqlite.time = self.module

    @property
    def now(self) -> float:
        return self.clock.now

    @initialize()
    def begin(self) -> None:
        assert self.queues.take("q") == []

    @rule(keys=st.lists(KEYS, min_size=1, max_size=4), wait=WAITS)
    def put(self, keys: list[str], wait: float) -> None:
        known = {one.key for one in self.expected.values()} - {""}
        new: list[tuple[str, bytes]] = []
        messages = []
        for key in keys:
            self.bodies += 1
            body = b"%d" % self.bodies
            messages.append(Message("q", body, key, wait))
            if key not in known:
                new.append((key, body))
                known |= {key} - {""}
        assert self.queues.put(messages) == len(new)
        states = [MessageState.WAITING, MessageState.LATER]
        found = {one.body: one for state in states for one in self.queues.peek("q", state, 999)}
        for key, body in new:
            number = found[body].number
            self.expected[number] = Expected(int(number), key, body, self.now + wait)

    @rule(seconds=SECONDS)
    def pass_time(self, seconds: float) -> None:
        self.clock.now += seconds

    @precondition(lambda self: self.expected)
    @rule(most=st.integers(1, 3))
    def take(self, most: int) -> None:
        due = [one for one in self.in_order() if one.state == "open" and one.due <= self.now]
        taken: list[Expected] = []
        while due and not taken:
            some, due = due[:most], due[most:]
            for one in some:
                if one.tries >= MOST_TRIES:
                    one.state, one.due, one.reason = "dead", self.now, WORN.format(one.tries)
                    one.lease += 1
                else:
                    one.tries, one.due, one.lease = one.tries + 1, self.now + LEASE, one.lease + 1
                    taken.append(one)
        found = self.queues.take("q", most)
        assert [(one.body, one.tries, one.reason, one.due) for one in found] == [
            (one.body, one.tries, one.reason, one.due) for one in taken
        ]
        self.held += [(mine, one.lease) for mine, one in zip(found, taken, strict=True)]

    def in_order(self) -> list[Expected]:
        return sorted(self.expected.values(), key=lambda one: (one.due, one.number))

    def chosen(self, data: st.DataObject) -> tuple[Queued, Expected | None, bool]:
        """One of what takers have: as they have it, as it should be, and whether it is theirs."""
        at = data.draw(st.integers(0, len(self.held) - 1))
        mine, lease = self.held.pop(at)
        one = self.expected.get(mine.number)
        is_mine = one is not None and one.lease == lease and one.state == "open"
        return mine, one, is_mine

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        mine, one, _ = self.chosen(data)
        self.queues.done([mine])
        if one is not None and not one.key:
            del self.expected[mine.number]
        elif one is not None:
            one.state, one.due, one.reason, one.body = "done", self.now, "", b""
            one.lease += 1

    @precondition(lambda self: self.held)
    @rule(data=st.data(), again=st.none() | SECONDS)
    def failed(self, data: st.DataObject, again: float | None) -> None:
        mine, one, is_mine = self.chosen(data)
        self.queues.failed([mine], "broken", again)
        if one is not None and is_mine:
            is_dead = again is None or one.tries >= MOST_TRIES
            one.state, one.reason = "dead" if is_dead else "open", "broken"
            one.due, one.lease = self.now + (again or 0.0), one.lease + 1

    @precondition(lambda self: self.held)
    @rule(data=st.data(), wait=SECONDS)
    def give_back(self, data: st.DataObject, wait: float) -> None:
        mine, one, is_mine = self.chosen(data)
        self.queues.give_back([mine], wait)
        if one is not None and is_mine:
            one.tries, one.due, one.lease = one.tries - 1, self.now + wait, one.lease + 1

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def renew(self, data: st.DataObject) -> None:
        mine, one, is_mine = self.chosen(data)
        assert self.queues.renew([mine]) == ([mine] if is_mine else [])
        if one is not None and is_mine:
            one.due = self.now + LEASE
            self.held.append((mine, one.lease))

    @precondition(lambda self: any(one.state == "dead" for one in self.expected.values()))
    @rule()
    def revive(self) -> None:
        dead = [one for one in self.expected.values() if one.state == "dead"]
        assert self.queues.revive("q") == len(dead)
        for one in dead:
            one.state, one.due, one.tries = "open", self.now, 0

    @precondition(lambda self: any(one.state == "done" for one in self.expected.values()))
    @rule()
    def forget(self) -> None:
        before = self.now - LEASE
        old = [one for one in self.expected.values() if one.state == "done" and one.due < before]
        assert self.queues.forget("q", before) == len(old)
        for one in old:
            del self.expected[str(one.number)]

    @invariant()
    def what_is_seen_is_what_should_be(self) -> None:
        leased = {mine.number for mine, lease in self.held if self.is_leased(mine, lease)}
        waiting = [one for one in self.in_order() if one.state == "open" and one.due <= self.now]
        undue = [one for one in self.in_order() if one.state == "open" and one.due > self.now]
        states = {
            MessageState.WAITING: waiting,
            MessageState.TAKEN: [one for one in undue if str(one.number) in leased],
            MessageState.LATER: [one for one in undue if str(one.number) not in leased],
            MessageState.DEAD: [one for one in self.in_order() if one.state == "dead"],
        }
        for state, some in states.items():
            seen = self.queues.peek("q", state, 999)
            assert [(one.body, one.key, one.tries, one.reason, one.due) for one in seen] == [
                (one.body, one.key, one.tries, one.reason, one.due) for one in some
            ]
        done = {one.key for one in self.expected.values() if one.state == "done"}
        assert self.queues.done_keys("q", ["k", "l", "m"]) == done
        counts = [len(some) for some in states.values()]
        found = self.queues.sizes().get("q", QueueSize())
        size = replace(found, oldest=0.0)
        assert size == QueueSize(counts[0], counts[2], counts[1], counts[3], len(done))
        assert found.oldest == (self.now - waiting[0].due if waiting else 0.0)

    def is_leased(self, mine: Queued, lease: int) -> bool:
        one = self.expected.get(mine.number)
        return one is not None and one.lease == lease


def test_queues_do_what_a_list_would_do() -> None:
    few = settings(max_examples=settings().max_examples // 2, stateful_step_count=40)
    run_state_machine_as_test(QueueModel, settings=few)


def test_a_lease_ends_at_its_moment(queues: SqliteQueues, clock: Clock) -> None:
    queues.put([Message("q", b"a")])
    queues.take("q")
    clock.now += LEASE - 1
    assert queues.take("q") == []
    clock.now += 1
    (again,) = queues.take("q")
    assert again.tries == 2


def test_no_message_waits_longer_than_the_longest_wait(queues: SqliteQueues, clock: Clock) -> None:
    queues.put([Message("q", b"a", wait=9 * LONGEST_WAIT)])
    for again in (queues.give_back, lambda mine, wait: queues.failed(mine, "busy", wait)):
        assert queues.take("q") == []
        clock.now += LONGEST_WAIT
        mine = queues.take("q")
        assert [one.body for one in mine] == [b"a"]
        again(mine, 9 * LONGEST_WAIT)
    assert queues.take("q") == []


def test_a_renewed_lease_begins_again(queues: SqliteQueues, clock: Clock) -> None:
    queues.put([Message("q", b"a")])
    mine = queues.take("q")
    clock.now += LEASE - 1
    assert queues.renew(mine) == mine
    clock.now += LEASE - 1
    assert queues.take("q") == []
    assert queues.peek("q", MessageState.TAKEN)[0].due == clock.now + 1


def test_a_taker_waits_no_longer_than_it_said(queues: SqliteQueues, clock: Clock) -> None:
    began = clock.now
    assert queues.take("q", wait=30) == []
    assert clock.now == pytest.approx(began + 30)
    queues.put([Message("q", b"a", wait=20)])
    assert [one.body for one in queues.take("q", wait=30)] == [b"a"]
    assert clock.now == pytest.approx(began + 50, abs=0.2)


def test_a_message_with_a_wait_below_zero_comes_before_older_ones(queues: SqliteQueues) -> None:
    queues.put([Message("q", b"old"), Message("q", b"urgent", wait=-1.0)])
    assert [one.body for one in queues.take("q", 2)] == [b"urgent", b"old"]


def test_worn_messages_do_not_keep_a_taker_from_the_others(
    queues: SqliteQueues, clock: Clock
) -> None:
    queues.put([Message("q", b"worn")])
    for _ in range(MOST_TRIES):
        queues.take("q")
        clock.now += LEASE
    queues.put([Message("q", b"good", wait=1)])
    clock.now += 1
    assert [one.body for one in queues.take("q", 1)] == [b"good"]
    assert [one.body for one in queues.peek("q", MessageState.DEAD)] == [b"worn"]


def test_keys_are_remembered_from_when_they_were_done(queues: SqliteQueues, clock: Clock) -> None:
    queues.put([Message("q", b"a", "k")])
    clock.now += 1000
    queues.done(queues.take("q"))
    assert queues.forget("q", clock.now) == 0
    assert queues.forget("q", clock.now + 1) == 1
