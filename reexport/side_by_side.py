"""Work done by several threads, its results taken one after the other as it was begun."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Generic, ParamSpec, TypeVar

R = TypeVar("R")
P = ParamSpec("P")
_AHEAD = 2


class SideBySide(Generic[R]):
    """Workers, and the results that were not taken yet: never many, so memory stays flat.

        >>> with SideBySide(jobs) as work:
        ...     for name in names:
        ...         work.begin(fetch, name)
        ...         for found in work.ready():
        ...             print(found)
        ...     for found in work.rest():
        ...         print(found)

    What a piece of work raises is raised where its result is taken; what was not begun
    by then is left undone.
    """

    def __init__(self, jobs: int) -> None:
        self._waiting: deque[Future[R]] = deque()
        self._most = _AHEAD * jobs
        self._pool = ThreadPoolExecutor(jobs, thread_name_prefix="export")

    def __enter__(self) -> "SideBySide[R]":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._pool.shutdown(cancel_futures=kind is not None)

    def begin(self, work: Callable[P, R], *given: P.args, **named: P.kwargs) -> None:
        """Have a piece of work done by the next worker that is free."""
        self._waiting.append(self._pool.submit(work, *given, **named))

    def ready(self) -> Iterator[R]:
        """The results that are there; waits only while too much was begun."""
        while len(self._waiting) > self._most or (self._waiting and self._waiting[0].done()):
            yield self._waiting.popleft().result()

    def rest(self) -> Iterator[R]:
        """All results that were not taken yet."""
        while self._waiting:
            yield self._waiting.popleft().result()
