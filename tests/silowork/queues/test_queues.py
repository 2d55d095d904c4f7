"""What every store of queues does: the suite that each one passes."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from stores import Opened
from waiting import wait_until

from silowork.queues.values import Message, MessageState, Queued, Queues, QueueSize

SOON = 0.05
"""A lease that is over at once."""


def put(queues: Queues, *bodies: bytes, queue: str = "q") -> None:
    queues.put([Message(queue, body) for body in bodies])


def bodies(messages: list[Queued]) -> list[bytes]:
    return [one.body for one in messages]


def peeked(queues: Queues, state: MessageState, queue: str = "q") -> list[bytes]:
    return bodies(queues.peek(queue, state))


def size(queues: Queues, queue: str = "q") -> tuple[int, int, int, int, int]:
    """Waiting, later, taken, dead, done."""
    found = queues.sizes().get(queue, QueueSize())
    return found.waiting, found.later, found.taken, found.dead, found.done


# --------------------------------------------------------------------------- put and take


def test_messages_are_taken_in_the_order_in_which_they_were_put(queues: Queues) -> None:
    put(queues, b"a", b"b")
    put(queues, b"c\0\xff")
    put(queues, b"other", queue="another")
    assert bodies(queues.take("q", 2)) == [b"a", b"b"]
    assert bodies(queues.take("q", 9)) == [b"c\0\xff"]
    assert queues.take("q") == []
    assert queues.take("nobody put anything here") == []


def test_what_was_taken_is_described(queues: Queues) -> None:
    queues.put([Message("q", b"body", "kéy \0 :*")])
    (one,) = queues.take("q")
    assert (one.queue, one.key, one.body, one.tries, one.reason) == (
        "q",
        "kéy \0 :*",
        b"body",
        1,
        "",
    )


def test_a_known_key_is_ignored_also_when_it_is_done(queues: Queues, opened: Opened) -> None:
    assert queues.put([Message("q", b"a", "k"), Message("q", b"b", "k")]) == 1
    assert opened().put([Message("q", b"c", "k"), Message("q", b"d", "l")]) == 1
    taken = queues.take("q", 9)
    assert bodies(taken) == [b"a", b"d"]
    assert queues.put([Message("q", b"e", "k")]) == 0
    queues.done(taken)
    assert queues.put([Message("q", b"f", "k"), Message("r", b"g", "k")]) == 1
    assert size(queues) == (0, 0, 0, 0, 2)


def test_messages_without_a_key_are_never_ignored(queues: Queues) -> None:
    assert queues.put([Message("q", b"a"), Message("q", b"a")]) == 2
    queues.done(queues.take("q", 2))
    assert queues.put([Message("q", b"a")]) == 1
    assert queues.put([]) == 0
    assert size(queues) == (1, 0, 0, 0, 0)


def test_a_message_may_wait_before_it_is_taken(queues: Queues) -> None:
    queues.put(
        [Message("q", b"late", "k", wait=3600), Message("q", b"now"), Message("q", b"", "k")]
    )
    assert bodies(queues.take("q", 9)) == [b"now"]
    assert peeked(queues, MessageState.LATER) == [b"late"]
    assert size(queues) == (0, 1, 1, 0, 0)
    queues.put([Message("q", b"soon", wait=SOON)])
    wait_until(lambda: peeked(queues, MessageState.WAITING) == [b"soon"])
    assert peeked(queues, MessageState.LATER) == [b"late"]
    assert bodies(queues.take("q", 9, wait=60)) == [b"soon"]


def test_a_taker_waits_for_a_message(queues: Queues, opened: Opened) -> None:
    with ThreadPoolExecutor(1) as threads:
        taking = threads.submit(opened().take, "q", 1, 60)
        put(queues, b"a")
        assert bodies(taking.result(60)) == [b"a"]


def test_a_mark_is_set_with_the_messages_before_it(queues: Queues, opened: Opened) -> None:
    assert queues.mark("log") == ""
    queues.put([Message("q", b"a")], mark=("log", "17"))
    queues.put([], mark=("other", "é"))
    assert (opened().mark("log"), queues.mark("other")) == ("17", "é")


# --------------------------------------------------------------------------- leases


def test_two_takers_never_hold_the_same_message(queues: Queues, opened: Opened) -> None:
    put(queues, *(b"%d" % number for number in range(200)))
    users = [opened() for _ in range(4)]

    def work(user: Queues) -> list[bytes]:
        found = list[bytes]()
        while some := user.take("q", 3):
            found += bodies(some)
        return found

    with ThreadPoolExecutor(8) as threads:
        found = [one for some in threads.map(work, users * 2) for one in some]
    assert sorted(found, key=int) == [b"%d" % number for number in range(200)]


def test_a_message_whose_lease_is_over_is_taken_again(opened: Opened) -> None:
    dead, living = opened(lease=SOON), opened(lease=SOON)
    put(dead, b"a")
    dead.take("q")
    (again,) = living.take("q", wait=60)
    assert (again.body, again.tries) == (b"a", 2)


def test_a_taker_that_lost_its_lease_only_may_be_done(opened: Opened) -> None:
    slow, other = opened(lease=SOON), opened(lease=SOON)
    slow.put([Message("q", b"a", "k")])
    mine = slow.take("q")
    theirs = other.take("q", wait=60)
    assert slow.renew(mine) == []
    slow.failed(mine, "too late", None)
    slow.give_back(mine)
    assert slow.held(mine) == mine
    assert other.renew(theirs) == theirs
    slow.done(mine, [Message("r", b"", "k")])
    assert other.held(theirs) == slow.held(mine) == []
    other.done(theirs, [Message("r", b"", "k")])
    assert size(other) == (0, 0, 0, 0, 1)
    assert size(other, "r") == (1, 0, 0, 0, 0)


def test_a_message_that_is_new_is_not_taken_for_one_that_is_done(opened: Opened) -> None:
    slow, other = opened(lease=SOON), opened(lease=SOON)
    put(slow, b"a")
    mine = slow.take("q")
    other.done(other.take("q", wait=60))
    put(other, b"b")
    slow.done(mine)
    assert bodies(other.take("q")) == [b"b"]


@pytest.mark.long
def test_a_lease_that_is_renewed_does_not_end(opened: Opened) -> None:
    mine, other = opened(lease=5), opened(lease=5)
    put(mine, b"a")
    taken, end = mine.take("q"), time.monotonic() + 7
    while time.monotonic() < end:
        assert mine.renew(taken) == taken
        assert other.take("q", wait=0.3) == []


def test_what_is_given_back_is_as_before(queues: Queues, opened: Opened) -> None:
    put(queues, b"a")
    queues.give_back(queues.take("q"))
    (one,) = opened().take("q")
    assert (one.tries, one.reason) == (1, "")


def test_the_keys_of_what_is_done_are_known_until_they_are_forgotten(queues: Queues) -> None:
    queues.put([Message("q", b"", key) for key in ("a", "b", "c")])
    queues.done(queues.take("q"))
    queues.failed(queues.take("q"), "broken", None)
    asked = ["a", "b", "c", "never put"]
    assert queues.done_keys("q", asked) == {"a"}
    assert queues.done_keys("r", asked) == queues.done_keys("q", []) == set()
    queues.forget("q", time.time() + 60)
    assert queues.done_keys("q", asked) == set()


def test_what_is_given_back_for_later_waits_and_is_as_before(queues: Queues) -> None:
    queues.put([Message("q", b"a", "k")])
    queues.failed(queues.take("q"), "busy")
    queues.give_back(queues.take("q"), 1.0)
    assert queues.take("q") == []
    assert size(queues)[:2] == (0, 1)
    (one,) = queues.take("q", wait=60)
    assert (one.key, one.body, one.tries, one.reason) == ("k", b"a", 2, "busy")
    assert queues.put([Message("q", b"a", "k")]) == 0


# --------------------------------------------------------------------------- done and failed


def test_what_follows_is_put_with_the_acknowledgement(queues: Queues) -> None:
    queues.put([Message("q", b"a", "k"), Message("q", b"b", "l")])
    taken = queues.take("q", 2)
    queues.done(taken[:1], [Message("r", b"1", "k"), Message("r", b"2", "l"), Message("s", b"3")])
    assert size(queues) == (0, 0, 1, 0, 1)
    assert bodies(queues.take("r", 9)) == [b"1", b"2"]
    assert bodies(queues.take("s", 9)) == [b"3"]
    queues.done([], [Message("s", b"4")])
    assert bodies(queues.take("s", 9)) == [b"4"]


def test_a_failed_message_comes_again_with_its_reason(queues: Queues, opened: Opened) -> None:
    queues.put([Message("q", b"a", "k")])
    queues.failed(queues.take("q"), "503 — try later")
    (one,) = opened().take("q")
    assert (one.key, one.body, one.tries, one.reason) == ("k", b"a", 2, "503 — try later")
    assert queues.put([Message("q", b"b", "k")]) == 0


def test_a_failed_message_comes_again_after_a_while(queues: Queues) -> None:
    put(queues, b"a", b"b")
    first, second = queues.take("q", 2)
    queues.failed([first], "slow", 3600)
    queues.failed([second], "quick", SOON)
    assert bodies(queues.take("q", wait=60)) == [b"b"]
    assert [(one.body, one.reason) for one in queues.peek("q", MessageState.LATER)] == [
        (b"a", "slow")
    ]


def test_a_message_that_failed_too_often_is_a_dead_letter(opened: Opened) -> None:
    queues = opened(most_tries=3)
    queues.put([Message("q", b"a", "k")])
    for number in range(3):
        assert size(queues) == (1, 0, 0, 0, 0)
        queues.failed(queues.take("q"), f"reason {number}")
    assert queues.take("q") == []
    assert [(one.body, one.tries, one.reason) for one in queues.peek("q", MessageState.DEAD)] == [
        (b"a", 3, "reason 2")
    ]
    assert queues.put([Message("q", b"b", "k")]) == 0
    assert size(queues) == (0, 0, 0, 1, 0)


def test_a_message_that_is_refused_is_a_dead_letter_at_once(opened: Opened) -> None:
    queues = opened(most_tries=0)
    put(queues, b"a", b"b")
    first, second = queues.take("q", 2)
    queues.failed([first], "410 Gone", None)
    queues.failed([second], "503")
    assert peeked(queues, MessageState.DEAD) == [b"a"]
    assert peeked(queues, MessageState.WAITING) == [b"b"]


def test_what_nobody_can_work_on_is_put_among_the_dead_letters(queues: Queues) -> None:
    letter = Message("q", b"{", "k", reason="it is not JSON")
    assert queues.put([letter, Message("q", b"a")]) == 2
    assert queues.put([letter]) == 0
    assert bodies(queues.take("q", 9)) == [b"a"]
    (dead,) = queues.peek("q", MessageState.DEAD)
    assert (dead.body, dead.key, dead.tries, dead.reason) == (b"{", "k", 0, "it is not JSON")
    assert queues.revive("q") == 1
    assert bodies(queues.take("q", 9)) == [b"{"]


def test_a_message_that_ends_its_takers_is_a_dead_letter(opened: Opened) -> None:
    queues = opened(lease=SOON, most_tries=2)
    put(queues, b"poison")
    for tries in (1, 2):
        assert [one.tries for one in queues.take("q", wait=60)] == [tries]
    put(queues, b"good")
    assert bodies(queues.take("q", wait=60)) == [b"good"]
    wait_until(lambda: queues.take("q") or peeked(queues, MessageState.DEAD))
    (one,) = [one for one in queues.peek("q", MessageState.DEAD) if one.body == b"poison"]
    assert one.reason == "it was taken 2 times, and its takers never said how it ended"


def test_dead_letters_are_revived(opened: Opened) -> None:
    queues = opened(most_tries=1)
    queues.put([Message("q", b"%d" % number, str(number)) for number in range(4)])
    queues.failed(queues.take("q", 4), "x")
    letters = queues.peek("q", MessageState.DEAD)
    assert queues.revive("q", [letters[1].number, letters[1].number, "0-77"][:1]) == 1
    (one,) = queues.take("q", 9)
    assert (one.body, one.key, one.tries) == (b"1", "1", 1)
    assert queues.revive("q") == 3
    assert queues.revive("q") == queues.revive("nothing") == 0
    assert sorted(bodies(queues.take("q", 9))) == [b"0", b"2", b"3"]
    assert size(queues) == (0, 0, 4, 0, 0)


# --------------------------------------------------------------------------- looked at


def test_to_peek_changes_nothing(queues: Queues) -> None:
    put(queues, *(b"%d" % number for number in range(5)))
    for _ in range(3):
        first = queues.peek("q", most=2)
        rest = queues.peek("q", after=first[-1])
        assert bodies(first + rest) == [b"0", b"1", b"2", b"3", b"4"]
    taken = queues.take("q", 2)
    assert [one.tries for one in taken] == [1, 1]
    assert peeked(queues, MessageState.TAKEN) == [b"0", b"1"]
    assert peeked(queues, MessageState.WAITING) == [b"2", b"3", b"4"]
    assert bodies(queues.peek("q", MessageState.TAKEN, after=taken[0])) == [b"1"]
    assert queues.peek("nothing") == []


@pytest.mark.parametrize("state", [MessageState.LATER, MessageState.DEAD])
def test_later_and_dead_ones_are_peeked_in_parts(queues: Queues, state: MessageState) -> None:
    queues.put([Message("q", b"%d" % number, wait=0.0) for number in range(5)])
    again = 3600.0 if state is MessageState.LATER else None
    for one in queues.take("q", 5):
        queues.failed([one], "x", again)
    first = queues.peek("q", state, most=3)
    rest = queues.peek("q", state, after=first[-1])
    assert [one.due for one in first] == sorted(one.due for one in first)
    assert abs(first[0].due - time.time() - (again or 0.0)) < 600
    assert bodies(first + rest) == [b"0", b"1", b"2", b"3", b"4"]


def test_the_sizes_of_all_queues(queues: Queues) -> None:
    assert queues.sizes() == {}
    put(queues, b"a")
    put(queues, b"b", b"c", queue="r")
    time.sleep(0.02)
    found = queues.sizes()
    assert {name: one.waiting for name, one in found.items()} == {"q": 1, "r": 2}
    assert 0.01 < found["q"].oldest < 60


def test_keys_are_forgotten(queues: Queues) -> None:
    queues.put([Message("q", b"", "done"), Message("q", b"", "open")])
    queues.done(queues.take("q"))
    assert queues.forget("q", time.time() - 3600) == 0
    assert queues.forget("q", time.time() + 3600) == 1
    assert queues.put([Message("q", b"", "done"), Message("q", b"", "open")]) == 1


def test_many_threads_share_one_user(queues: Queues) -> None:
    def work(number: int) -> bytes:
        queues.put([Message("q", b"%d" % number, str(number // 2))])
        (one,) = queues.take("q", wait=60)
        queues.done([one], [Message("r", one.body, one.key)])
        return one.key.encode()

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(work, range(0, 200, 2)))
    assert size(queues) == (0, 0, 0, 0, 100)
    assert size(queues, "r") == (100, 0, 0, 0, 0)
