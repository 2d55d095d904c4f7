"""Steps are done in warm children, each message until it is done, refused or dead."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
import step_work
from stores import Opened, store_at
from waiting import wait_until

from silowork.queues import steps
from silowork.queues.steps import (
    ChildrenEnd,
    MessageLater,
    QueueStep,
    StepsDone,
    StepWorker,
    run_steps,
)
from silowork.queues.values import Message, MessageState, Queued, Queues, QueueSize
from silowork.stop import Stop
from silowork.warm_children import warm

STORES = ["sqlite", pytest.param("redis", marks=pytest.mark.long)]
pytestmark = pytest.mark.parametrize("store", STORES)
DOUBLE = QueueStep("numbers", step_work.double, most=4, pause=0.01)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """What the steps wrote."""
    path = tmp_path / "notes"
    path.touch()
    return path


@contextmanager
def running(
    address: str, some: Sequence[QueueStep], children: int = 2, **named: float
) -> Iterator[list[StepsDone]]:
    """Steps that are done meanwhile, and what is told of them."""
    told, stop = list[StepsDone](), Stop()
    opened = partial(store_at, address, **named)
    warm(step_work.__name__)
    thread = threading.Thread(target=run_steps, args=(opened, some, children, stop, told.append))
    thread.start()
    try:
        yield told
    finally:
        stop.ask()
        thread.join(60)
        assert not thread.is_alive()


def noting(notes: Path) -> QueueStep:
    return QueueStep("doubled", partial(step_work.note, str(notes)))


def waiting(notes: Path, seconds: float = 600.0) -> QueueStep:
    return QueueStep("q", partial(step_work.wait, str(notes)), seconds=seconds)


def numbers(queues: Queues, *some: int) -> None:
    queues.put(Message("numbers", b"%d" % one, str(one)) for one in some)


def size(queues: Queues, queue: str) -> QueueSize:
    return queues.sizes().get(queue, QueueSize())


def test_messages_go_through_all_steps(address: str, queues: Queues, notes: Path) -> None:
    numbers(queues, *range(100))
    with running(address, [noting(notes), DOUBLE]) as told:
        wait_until(lambda: sum(one.done for one in told) == 200)
    found = [line.split() for line in notes.read_text().splitlines()]
    assert sorted(int(number) for number, _ in found) == list(range(0, 200, 2))
    assert str(os.getpid()) not in {process for _, process in found}
    assert size(queues, "numbers") == size(queues, "doubled") == QueueSize(done=100)


def test_steps_end_when_nothing_is_left(address: str, queues: Queues, notes: Path) -> None:
    numbers(queues, 1, 404, 503)
    told = list[StepsDone]()
    opened = partial(store_at, address)
    warm(step_work.__name__)
    run_steps(opened, [noting(notes), DOUBLE], 2, Stop(), told.append, until_empty=True)
    assert sum(one.done for one in told) == 4
    assert size(queues, "numbers") == QueueSize(dead=1, done=2)
    assert size(queues, "doubled") == QueueSize(done=2)


def test_children_that_end_before_they_work_are_told_and_not_replaced_for_ever(
    address: str, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers(queues, 1)
    monkeypatch.setattr(steps, "_work", step_work.end_at_once)
    with pytest.raises(ChildrenEnd, match="ended with 3 at once"):
        run_steps(partial(store_at, address), [DOUBLE], 2, Stop(), until_empty=True)
    assert size(queues, "numbers").waiting == 1


def test_what_fails_comes_again_and_what_is_refused_does_not(opened: Opened) -> None:
    queues = opened()
    numbers(queues, 1, 404, 503, 2)
    worker = StepWorker(queues, [DOUBLE], Stop())
    assert worker.work_once() == StepsDone("numbers", 2, 2)
    wait_until(lambda: size(queues, "numbers").waiting)
    (failed,) = queues.peek("numbers") or queues.peek("numbers", MessageState.LATER)
    assert failed.reason == "OSError: it does not answer"
    assert worker.work_once() == StepsDone("numbers", 1, 0)
    assert worker.work_once() is None
    assert [(one.body, one.reason) for one in queues.peek("numbers", MessageState.DEAD)] == [
        (b"404", "there is no such page")
    ]
    assert [one.body for one in queues.take("doubled", 9)] == [b"2", b"4", b"1006"]


def test_a_message_that_is_put_off_has_not_failed(queues: Queues) -> None:
    pauses = iter([0.05])

    def work(message: Queued) -> list[Message]:
        if message.key == "429" and (seconds := next(pauses, 0)):
            raise MessageLater(seconds)
        return []

    numbers(queues, 429, 2)
    worker = StepWorker(queues, [QueueStep("numbers", work)], Stop())
    assert worker.work_once() == StepsDone("numbers", 1, 0, 1)
    wait_until(lambda: queues.peek("numbers"))
    assert [(one.tries, one.reason) for one in queues.peek("numbers")] == [(0, "")]
    assert worker.work_once() == StepsDone("numbers", 1)


def test_a_message_that_kills_its_children_becomes_a_dead_letter_and_no_other_does(
    address: str, opened: Opened
) -> None:
    queues = opened(lease=0.3, most_tries=4)  # on a busy machine, others lose a lease, too
    numbers(queues, 1, 2, 666, 3, 4)
    with running(address, [DOUBLE], lease=0.3, most_tries=4):
        wait_until(lambda: size(queues, "numbers").dead)
        wait_until(lambda: size(queues, "doubled").waiting == 4)
    assert [one.body for one in queues.peek("numbers", MessageState.DEAD)] == [b"666"]


def test_a_message_that_takes_too_long_ends_its_child(
    address: str, opened: Opened, notes: Path
) -> None:
    queues = opened(lease=0.5, most_tries=1)
    queues.put([Message("q", b"7")])
    with running(address, [waiting(notes, 0.1)], 1, lease=0.5, most_tries=1):
        wait_until(lambda: size(queues, "q").dead)
    assert len(notes.read_text().splitlines()) == 1


def test_messages_at_work_are_given_back_when_the_worker_is_stopped(
    address: str, queues: Queues, notes: Path
) -> None:
    queues.put([Message("q", b"7", "k"), Message("q", b"8", "l")])
    with running(address, [waiting(notes)], 1):
        wait_until(notes.read_text)
    assert size(queues, "q").waiting == 2
    assert [one.tries for one in queues.take("q", 2)] == [1, 1]


def test_a_child_that_is_killed_is_replaced(address: str, opened: Opened, notes: Path) -> None:
    queues = opened(lease=0.3)
    queues.put([Message("doubled", b"1")])
    with running(address, [noting(notes)], 1, lease=0.3):
        wait_until(notes.read_text)
        os.kill(int(notes.read_text().split()[1]), signal.SIGKILL)
        queues.put([Message("doubled", b"2")])
        wait_until(lambda: "2 " in notes.read_text())


@pytest.mark.long
def test_leases_are_renewed_while_messages_are_at_work(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "SECONDS_BETWEEN_RENEWALS", 0.1)
    queues, other, is_free = opened(lease=4), opened(lease=4), threading.Event()

    def work(_: object) -> Callable[[], None] | list[Message]:
        assert is_free.wait(60)
        return []

    queues.put([Message("q", b"")])
    stop = Stop()
    worker = StepWorker(queues, [QueueStep("q", work)], stop)  # type: ignore[arg-type]
    for target in (worker.watch, worker.work_once):
        threading.Thread(target=target, daemon=True).start()
    wait_until(lambda: size(queues, "q").taken)
    assert other.take("q", wait=6) == []
    is_free.set()
    wait_until(lambda: size(queues, "q") == QueueSize())
    stop.ask()
