"""Run work in several threads and take the results in the order in which it began."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Generic, ParamSpec, TypeVar

R = TypeVar("R")
P = ParamSpec("P")
_AHEAD = 2


class Workers(Generic[R]):
    """Worker threads, and the results not taken yet; their number is bounded, so memory is too.

        >>> with Workers(jobs) as work:
        ...     for name in names:
        ...         work.begin(fetch, name)
        ...         for found in work.ready():
        ...             print(found)
        ...     for found in work.rest():
        ...         print(found)

    An exception in a piece of work is raised when its result is taken; work that has not begun
    by then is cancelled. An exception waits for the work under way; an interruption
    (`KeyboardInterrupt`) does not, because a target that hangs may hold it for minutes.
    """

    def __init__(self, jobs: int) -> None:
        self._waiting: deque[Future[R]] = deque()
        self._most = _AHEAD * jobs
        self._begun: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        # Daemon threads, so that the process can end while one hangs.
        self._workers = [
            Thread(target=_work, args=(self._begun,), name=f"export_{number}", daemon=True)
            for number in range(jobs)
        ]
        for worker in self._workers:
            worker.start()

    def __enter__(self) -> "Workers[R]":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_exception: object) -> None:
        if kind is not None:
            for future in self._waiting:
                future.cancel()
        for _ in self._workers:
            self._begun.put(None)
        if kind is None or issubclass(kind, Exception):
            for worker in self._workers:
                worker.join()

    def begin(self, work: Callable[P, R], *given: P.args, **named: P.kwargs) -> None:
        """Give a piece of work to the next free worker.

        Args:
            work: The function to call.
            given: Its positional arguments.
            named: Its keyword arguments.
        """
        future: Future[R] = Future()
        self._waiting.append(future)
        self._begun.put(partial(_do, future, partial(work, *given, **named)))

    def ready(self) -> Iterator[R]:
        """Yield the results that are ready; wait only if too many are pending."""
        while len(self._waiting) > self._most or (self._waiting and self._waiting[0].done()):
            yield self.take()

    def __len__(self) -> int:
        """Return how many results were not taken yet."""
        return len(self._waiting)

    def take(self) -> R:
        """Wait for the next result and return it."""
        return self._waiting.popleft().result()

    def rest(self) -> Iterator[R]:
        """Yield all results that were not taken yet."""
        while self._waiting:
            yield self.take()


def _work(begun: "SimpleQueue[Callable[[], None] | None]") -> None:
    while (piece := begun.get()) is not None:
        piece()


def _do(future: Future[R], piece: Callable[[], R]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(piece())
    except BaseException as error:  # noqa: BLE001 - raised where the result is taken
        future.set_exception(error)
