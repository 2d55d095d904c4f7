"""Works on the messages of queues, in warm children: small steps, as a job is for minutes of work.

A child takes some messages, works on one after another, and acknowledges them together, with what
follows from them. A message that ends its child, or takes too long, is told again, and is a dead
letter after some tries. Those that were taken with it would be, too; so what was taken before is
worked on alone.
"""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait

from recordsilo.child_process import SECONDS_TO_END
from silowork.errors import JobsError
from silowork.queues.values import Message, Queued, Queues
from silowork.stop import Stop
from silowork.warm_children import ChildEnded, Parent, WarmChild, warm

SECONDS_BETWEEN_RENEWALS = 10.0
_SECONDS_BETWEEN_LOOKS = 0.2
_SECONDS_BETWEEN_SIZES = 0.5
_SECONDS_AFTER_A_FAULT = 2.0
_SECONDS_AFTER_AN_END = 0.2
_LONGEST_PAUSE = 3600.0
_MOST_THAT_NEVER_BEGAN = 3
_MOST_OF_A_CHILD = 2000
"""Messages after which a child is replaced, so that no memory is lost for long."""

_BEGUN, _AS_ASKED = "begun", "ended with 0"

logger = logging.getLogger("silowork")


class ChildrenEnd(JobsError):
    """Child after child ends before it has begun to work."""

    def __init__(self, how: str) -> None:
        super().__init__(
            f"the messages wait, as each process that is to work on them {how} at once;"
            " what it printed says why"
        )


class MessageRefused(Exception):
    """A message that nobody can work on, however often; the text says why."""


class MessageFailed(Exception):
    """A message whose work failed for a reason that its text says; it comes again after a while."""


class MessageLater(Exception):
    """A message that cannot be worked on now, which is no failure: it comes again after a while.

    Attributes:
        seconds: So long it waits.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"in {seconds:g} seconds")


@dataclass(frozen=True, slots=True)
class QueueStep:
    """What is done with the messages of a queue.

    Attributes:
        queue: Its name.
        work: A function of a module, or a partial one. What it returns is put when the message is
            acknowledged. If it raises `MessageRefused`, the message is a dead letter; after
            `MessageLater`, `MessageFailed` and any other exception it comes again.
        most: Messages that are taken and acknowledged at once: as many as take a second or so.
        seconds: For one message; a child that takes longer ends.
        pause: Seconds before a message that failed comes again; twice as many after each failure.
    """

    queue: str
    work: Callable[[Queued], Iterable[Message]]
    most: int = 10
    seconds: float = 60.0
    pause: float = 10.0


@dataclass(frozen=True, slots=True)
class StepsDone:
    """What a child did with some messages of a queue.

    Attributes:
        failed: Messages that failed or were refused.
        later: Messages that were put off.
    """

    queue: str
    done: int
    failed: int = 0
    later: int = 0


def run_steps(
    opened: Callable[[], Queues],
    steps: Sequence[QueueStep],
    children: int,
    stop: Stop,
    told: Callable[[StepsDone], object] = lambda _: None,
    *,
    until_empty: bool = False,
) -> None:
    """Work on all that comes, until stopped; a child that ends is replaced.

    Args:
        opened: Opens the store of the queues; can be pickled.
        steps: Those that come first are looked at first.
        children: How many.
        stop: Messages at work are given back.
        told: Called in this process after some messages.
        until_empty: End when only dead letters are left in the queues of the steps.

    Raises:
        ChildrenEnd: Children end before they have begun to work.
        JobsError, OSError: With `until_empty`, the store cannot be used.
        OSError: No process can be started.
    """
    warm(*{getattr(step.work, "func", step.work).__module__ for step in steps})
    crew = _Crew(told)
    looked = time.monotonic()
    try:
        while not stop.asked:
            if until_empty and time.monotonic() - looked > _SECONDS_BETWEEN_SIZES:
                looked = time.monotonic()
                if _are_empty(opened, steps):
                    break
            while len(crew.working) < children:
                crew.working.append(WarmChild(_work, opened, tuple(steps)))
            if not crew.hear(_SECONDS_BETWEEN_LOOKS):
                stop.wait(_SECONDS_AFTER_AN_END)
    finally:
        crew.end()


class _Crew:
    """The children at work."""

    def __init__(self, told: Callable[[StepsDone], object]) -> None:
        self._told = told
        self.working: list[WarmChild] = []
        self._begun: set[WarmChild] = set()
        self._never_began = 0

    def hear(self, seconds: float) -> bool:
        """Tell what they do; return whether all are well.

        Raises:
            ChildrenEnd: See `run_steps`.
        """
        pipes = {child.fileno(): child for child in self.working}
        is_well = True
        for pipe in wait(list(pipes), seconds):
            child = pipes[pipe]  # type: ignore[index]  # of descriptors only
            try:
                self._tell(child)
            except ChildEnded as how:
                self._part_with(child, str(how))
                is_well = is_well and str(how) == _AS_ASKED
        return is_well

    def _tell(self, child: WarmChild) -> None:
        for said in child.heard():
            if said == _BEGUN:
                self._begun.add(child)
            else:
                self._told(said)

    def _part_with(self, child: WarmChild, how: str) -> None:
        if how != _AS_ASKED:
            logger.warning("a process that works on messages %s", how)
        child.join()
        self.working.remove(child)
        self._never_began = 0 if child in self._begun else self._never_began + 1
        self._begun.discard(child)
        if self._never_began == _MOST_THAT_NEVER_BEGAN:
            raise ChildrenEnd(how)

    def end(self) -> None:
        """Ask all to end, and tell what they did."""
        for child in self.working:
            child.ask_to_end()
        for child in self.working:
            with contextlib.suppress(ChildEnded):
                while wait([child.fileno()], SECONDS_TO_END):
                    self._tell(child)
            child.join()


def _are_empty(opened: Callable[[], Queues], steps: Sequence[QueueStep]) -> bool:
    """Whether all queues are empty; looks twice, as a message may go from one to another."""
    names = {step.queue for step in steps}
    with opened() as queues:
        return not any(
            size.alive for _ in range(2) for name, size in queues.sizes().items() if name in names
        )


# --------------------------------------------------------------------------- in a child


def _work(parent: Parent, opened: Callable[[], Queues], steps: Sequence[QueueStep]) -> None:
    """Work on messages in this process, until it is time for another one."""
    problem, left = "", _MOST_OF_A_CHILD
    parent.say(_BEGUN)
    with opened() as queues:
        worker = StepWorker(queues, steps, parent.stop)
        threading.Thread(target=worker.watch, daemon=True).start()
        while not parent.stop.asked and left > 0:
            try:
                done = worker.work_once()
            except Exception as error:  # noqa: BLE001  # of the store, which may answer again
                if str(error) != problem:
                    problem = str(error)
                    logger.warning("%s; trying again until it answers", problem)
                parent.stop.wait(_SECONDS_AFTER_A_FAULT)
            else:
                if done is None:
                    parent.stop.wait(_SECONDS_BETWEEN_LOOKS)
                else:
                    left -= done.done + done.failed + done.later
                    parent.say(done)


class StepWorker:
    """Works on messages in this thread, while `watch` in another one renews their leases.

    Args:
        queues: The store.
        steps: Those that come first are looked at first.
        stop: Interrupts the work if it is asked by a signal; messages are given back.
    """

    def __init__(self, queues: Queues, steps: Sequence[QueueStep], stop: Stop) -> None:
        self._queues, self._steps, self._stop = queues, steps, stop
        self._taken: list[Queued] = []
        self._current, self._late = "", float("inf")
        self._one_by_one = False

    def work_once(self) -> StepsDone | None:
        """Work on some messages of the first queue that has any; None if none has."""
        for step in self._steps:
            if self._stop.asked:
                break
            if taken := self._take(step):
                self._taken = taken
                try:
                    return self._work(step, taken)
                finally:
                    self._taken, self._late = [], float("inf")
        return None

    def _take(self, step: QueueStep) -> list[Queued]:
        """Take new messages, or one that was taken before, which may be what ended its child."""
        taken = self._queues.take(step.queue, 1 if self._one_by_one else step.most)
        again = next((one for one in taken if one.tries > 1), None)
        self._one_by_one = again is not None
        if again is None:
            return taken
        self._queues.give_back([one for one in taken if one is not again])
        return [again]

    def _work(self, step: QueueStep, taken: list[Queued]) -> StepsDone:
        done, following, ended, later = list[Queued](), list[Message](), 0, 0
        try:
            with self._stop.interrupting():
                for one in taken:
                    self._current = f"{step.queue}, message {one.key or one.number}"
                    self._late = time.monotonic() + step.seconds
                    try:
                        then = self._follow(step, one)
                    except MessageLater as error:
                        self._queues.give_back([one], error.seconds)
                        later += 1
                    else:
                        if then is not None:
                            done.append(one)
                            following += then
                    ended += 1
        except KeyboardInterrupt:
            self._queues.give_back(taken[ended:])
        self._queues.done(done, following)
        return StepsDone(step.queue, len(done), ended - len(done) - later, later)

    def _follow(self, step: QueueStep, message: Queued) -> list[Message] | None:
        """Return what follows from a message; None if it failed."""
        try:
            return list(step.work(message))
        except MessageLater:
            raise
        except MessageRefused as error:
            self._queues.failed([message], str(error), None)
        except Exception as error:  # what strangers sent may fail in any way
            is_said = isinstance(error, MessageFailed)
            reason = str(error) if is_said else f"{type(error).__name__}: {error}"
            is_fault = not is_said and not isinstance(error, OSError)
            logger.warning("%s: %s", self._current, reason, exc_info=is_fault)
            pause = min(step.pause * 2.0 ** min(message.tries - 1, 20), _LONGEST_PAUSE)
            self._queues.failed([message], reason, pause)
        return None

    def watch(self) -> None:
        """Renew the leases of the messages at work; end this process if one takes too long."""
        renewed = time.monotonic()
        while not self._stop.wait(_SECONDS_BETWEEN_LOOKS):
            now = time.monotonic()
            if now > self._late:
                logger.error("%s takes too long; its process ends", self._current)
                os._exit(os.EX_SOFTWARE)
            if now - renewed > SECONDS_BETWEEN_RENEWALS:
                renewed = now
                with contextlib.suppress(Exception):  # the worker hears of it
                    self._queues.renew(self._taken)
