"""What a worker does with messages that fail, are refused, or ended the process before it."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from clocks import Clock

from silowork.queues.sqlite import SqliteQueues
from silowork.queues.steps import (
    MessageFailed,
    MessageLater,
    MessageRefused,
    QueueStep,
    StepsDone,
    StepWorker,
)
from silowork.queues.values import Message, MessageState, Queued
from silowork.stop import Stop

LEASE = 60.0
Work = Callable[[Queued], list[Message]]


@pytest.fixture
def queues(clock: Clock) -> Iterator[SqliteQueues]:
    with closing(SqliteQueues(":memory:", lease=LEASE, most_tries=0)) as found:
        yield found


def put(queues: SqliteQueues, *bodies: bytes, queue: str = "q") -> None:
    queues.put([Message(queue, body) for body in bodies])


def raising(error: Exception) -> Work:
    def work(_message: Queued) -> list[Message]:
        raise error

    return work


def worker(queues: SqliteQueues, work: Work, **more: float) -> StepWorker:
    return StepWorker(queues, [QueueStep("q", work, **more)], Stop())  # type: ignore[arg-type]


def letters(queues: SqliteQueues) -> list[tuple[bytes, str]]:
    return [(one.body, one.reason) for one in queues.peek("q", MessageState.DEAD)]


def test_the_pause_after_a_failure_doubles_up_to_an_hour(
    queues: SqliteQueues, clock: Clock
) -> None:
    put(queues, b"a")
    one = worker(queues, raising(MessageFailed("it is busy")), pause=10.0)
    pauses = []
    for _ in range(30):
        assert one.work_once() == StepsDone("q", 0, 1)
        (failed,) = queues.peek("q", MessageState.LATER)
        assert failed.reason == "it is busy"
        pauses.append(failed.due - clock.now)
        assert one.work_once() is None, "not before its pause is over"
        clock.now = failed.due
    assert pauses[:9] == [10, 20, 40, 80, 160, 320, 640, 1280, 2560]
    assert set(pauses[9:]) == {3600}


@pytest.mark.parametrize(
    ("error", "reason", "has_place"),
    [
        (MessageFailed("it is busy"), "it is busy", False),
        (OSError("no answer"), "OSError: no answer", False),
        (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero", True),
    ],
)
def test_only_of_a_fault_the_log_has_the_place(
    queues: SqliteQueues,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    reason: str,
    *,
    has_place: bool,
) -> None:
    queues.put([Message("q", b"a", "key 7")])
    worker(queues, raising(error)).work_once()
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage() == f"q, message key 7: {reason}"
    assert bool(record.exc_info) == has_place


def test_what_is_refused_is_a_dead_letter_without_a_word(
    queues: SqliteQueues, caplog: pytest.LogCaptureFixture
) -> None:
    put(queues, b"a")
    assert worker(queues, raising(MessageRefused("it is no JSON"))).work_once() == StepsDone(
        "q", 0, 1
    )
    assert letters(queues) == [(b"a", "it is no JSON")]
    assert caplog.records == []


def test_what_is_put_off_waits_as_long_as_was_said(queues: SqliteQueues, clock: Clock) -> None:
    put(queues, b"a")
    one = worker(queues, raising(MessageLater(300.0)), pause=10.0)
    for _ in range(3):
        assert one.work_once() == StepsDone("q", 0, 0, 1)
        (later,) = queues.peek("q", MessageState.LATER)
        assert (later.due - clock.now, later.tries, later.reason) == (300, 0, "")
        clock.now += 300
    assert str(MessageLater(300.0)) == "in 300 seconds"


def test_messages_that_a_dead_process_had_are_worked_on_one_by_one(
    queues: SqliteQueues, clock: Clock
) -> None:
    put(queues, b"1", b"2", b"3", b"4", b"5")
    queues.take("q", 3)  # by a process that dies
    clock.now += LEASE
    seen: list[bytes] = []

    def work(message: Queued) -> list[Message]:
        seen.append(message.body)
        return []

    one = worker(queues, work, most=10)
    assert [one.work_once() for _ in range(5)] == [StepsDone("q", 1)] * 5
    assert sorted(seen) == [b"1", b"2", b"3", b"4", b"5"]
    put(queues, b"6", b"7")
    assert one.work_once() == StepsDone("q", 2), "it is over"


def test_what_follows_is_put_when_the_messages_are_acknowledged(queues: SqliteQueues) -> None:
    put(queues, b"a", b"b", b"bad", b"c")

    def work(message: Queued) -> list[Message]:
        if message.body == b"bad":
            raise MessageRefused("bad")
        assert queues.peek("r") == [], "nothing follows yet"
        return [Message("r", message.body.upper(), message.body.decode())]

    assert worker(queues, work).work_once() == StepsDone("q", 3, 1)
    assert [one.body for one in queues.take("r", 9)] == [b"A", b"B", b"C"]
    assert queues.sizes()["q"].alive == 0


def test_the_first_queue_with_messages_is_worked_on(queues: SqliteQueues) -> None:
    put(queues, b"late", queue="second")
    steps = [QueueStep(name, lambda _message: []) for name in ("first", "second")]
    one = StepWorker(queues, steps, Stop())
    assert one.work_once() == StepsDone("second", 1)
    put(queues, b"1", queue="second")
    put(queues, b"2", queue="first")
    assert [one.work_once(), one.work_once(), one.work_once()] == [
        StepsDone("first", 1), StepsDone("second", 1), None,
    ]  # fmt: skip


def test_no_more_are_taken_at_once_than_the_step_says(queues: SqliteQueues) -> None:
    put(queues, *(b"%d" % number for number in range(7)))
    one = worker(queues, lambda _message: [], most=3)
    done = [found.done for found in iter(one.work_once, None)]
    assert done == [3, 3, 1]


def test_work_that_was_asked_to_stop_takes_nothing(queues: SqliteQueues) -> None:
    put(queues, b"a")
    stop = Stop()
    stop.ask()
    assert StepWorker(queues, [QueueStep("q", lambda _message: [])], stop).work_once() is None
    assert queues.sizes()["q"].waiting == 1


def test_messages_at_work_are_given_back_as_they_were_when_a_signal_comes(
    queues: SqliteQueues,
) -> None:
    put(queues, b"a", b"b", b"c")
    stop = Stop()

    def work(message: Queued) -> list[Message]:
        if message.body == b"b":
            with stop.on_signals():
                stop.on_signal(15, None)
        return []

    one = StepWorker(queues, [QueueStep("q", work)], stop)
    assert one.work_once() == StepsDone("q", 1)
    left = queues.peek("q")
    assert [(one.body, one.tries) for one in left] == [(b"b", 0), (b"c", 0)]


def test_a_message_that_takes_too_long_ends_its_process(
    queues: SqliteQueues, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Ended(BaseException):
        """The process ended."""

    def end(code: int) -> None:
        raise Ended(code)

    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr("silowork.queues.steps._SECONDS_BETWEEN_LOOKS", 0.001)
    queues.put([Message("q", b"a", "k")])
    found: list[int] = []

    def work(_message: Queued) -> list[Message]:
        try:
            one.watch()
        except Ended as ended:
            found.append(int(ended.args[0]))
        return []

    one = worker(queues, work, seconds=0.0)
    one.work_once()
    assert found == [os.EX_SOFTWARE]
    assert caplog.messages == ["q, message k takes too long; its process ends"]
