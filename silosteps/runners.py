"""Do the same work for many inputs, in this process or in several.

A job may run twice, on this machine or another, so it must write the same output under the same
name each time. Then any queue with at-least-once delivery can run it too.
"""

import multiprocessing
import pickle
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from recordsilo.child_process import end_with_parent
from silosteps.errors import WorkerDied

Job = TypeVar("Job")
Result = TypeVar("Result")


def in_order(
    task: Callable[[Job], Result], jobs: Iterable[Job], *, processes: int = 1
) -> Iterator[Result]:
    """Do each job; yield the results in the order of the jobs.

    A job is taken from the iterable when it starts, at most two per process ahead of the next
    result, so neither jobs nor results accumulate.

    Args:
        task: The function to call; with several processes, a function of a module.
        jobs: Its arguments.
        processes: Their number; 1 does the work in this process.

    Raises:
        Exception: What the task raised, as in this process.
        WorkerDied: A process was killed. Results before it are valid; the jobs
            after it may be done or not.
    """
    if processes == 1:
        yield from map(task, jobs)
        return
    context = multiprocessing.get_context("spawn")
    waiting: deque[Future[Result | _Failed]] = deque()
    with ProcessPoolExecutor(processes, context, initializer=_begin_process) as pool:
        try:
            for job in jobs:
                with _held_back(signal.SIGINT):
                    waiting.append(pool.submit(_tried, task, job))
                if len(waiting) > 2 * processes:
                    yield _result(waiting.popleft())
            while waiting:
                yield _result(waiting.popleft())
        except BrokenProcessPool as error:
            raise WorkerDied(
                "a process that worked on an input was killed; run the command again to continue"
            ) from error
        finally:
            for future in waiting:
                future.cancel()


@dataclass(frozen=True, slots=True)
class _Failed:
    """An error on its way between processes, made again without its own ``__init__``.

    By itself, one whose ``__init__`` has other arguments than its text cannot be read there, which
    looks as if the process had died.
    """

    error: Exception

    def __reduce__(self) -> tuple[Any, ...]:
        return _failed, self.error.__reduce__()[:3]


def _failed(
    kind: type[Exception], args: tuple[Any, ...], facts: Mapping[str, Any] | None = None
) -> _Failed:
    error = kind.__new__(kind, *args)
    base: Any = next(one for one in kind.__mro__ if one.__module__ == "builtins")
    base.__init__(error, *args)
    error.__dict__.update(facts or {})
    return _Failed(error)


def _tried(task: Callable[[Job], Result], job: Job) -> Result | _Failed:
    try:
        return task(job)
    except Exception as error:
        if _is_portable(error):
            raise
        return _Failed(error)


def _is_portable(error: Exception) -> bool:
    try:
        return str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301  # our own
    except (TypeError, ValueError, AttributeError, pickle.PickleError):
        return False


def _result(done: "Future[Result | _Failed]") -> Result:
    found = done.result()
    if isinstance(found, _Failed):
        raise found.error
    return found


@contextmanager
def _held_back(number: signal.Signals) -> Iterator[None]:
    """Let a signal wait; processes that are started meanwhile hold it back until they are ready."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_process() -> None:
    """Let this process end with the one that started it, and by Ctrl-C without a traceback."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    end_with_parent(parent.join, signal.SIG_DFL, seconds=0)
