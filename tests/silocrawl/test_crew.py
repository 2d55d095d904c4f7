"""Threads that slow work holds have others in their place, and no more than needed."""

import threading
from collections import deque
from contextlib import suppress

from waiting import wait_until

from silocrawl.crew import MOST_TIMES, SECONDS_UNTIL_SLOW, Crew


class Work:
    """Work that each thread does until it is released; the clock is the test's."""

    def __init__(self, size: int) -> None:
        self.moment = 0.0
        self.begun: deque[threading.Event] = deque()
        self.ended: list[str] = []
        self.crew = Crew(self._do, size, lambda: self.moment)

    def _do(self) -> None:
        while not self.crew.has_surplus():
            with self.crew.busy():
                mine = threading.Event()
                self.begun.append(mine)
                mine.wait(60)
        self.ended.append(threading.current_thread().name)

    def begin(self, threads: int) -> None:
        """Start what is lacking, and expect so many to have begun since the first."""
        self.crew.fill()
        wait_until(lambda: len(self.begun) >= threads)
        assert len(self.begun) == threads

    def release(self) -> None:
        with suppress(IndexError):
            self.begun.popleft().set()


def test_slow_work_is_done_beside_the_rest() -> None:
    work = Work(2)
    work.begin(2)
    work.begin(2)  # nothing is slow yet
    for times in (2, 3, 4, MOST_TIMES):
        work.moment += SECONDS_UNTIL_SLOW
        work.begin(2 * times)


def test_threads_that_are_no_longer_needed_end() -> None:
    work = Work(1)
    work.begin(1)
    work.moment += SECONDS_UNTIL_SLOW
    work.begin(2)
    work.release()  # the slow one; the other is not slow yet
    wait_until(lambda: work.ended)
    assert work.ended == ["fetcher-0"]
    assert not work.crew.is_empty
