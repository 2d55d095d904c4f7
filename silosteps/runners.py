"""Do the same work for many inputs, in this process or in several.

A job may run twice, on this machine or another, so it must write the same output under the same
name each time. Then any queue with at-least-once delivery can run it too.
"""

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

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
        WorkerDied: A process was killed. Results before it are valid; the jobs
            after it may be done or not.
    """
    if processes == 1:
        yield from map(task, jobs)
        return
    context = multiprocessing.get_context("spawn")
    waiting: deque[Future[Result]] = deque()
    with ProcessPoolExecutor(processes, context, initializer=_end_with_parent) as pool:
        try:
            for job in jobs:
                waiting.append(pool.submit(task, job))
                if len(waiting) > 2 * processes:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as error:
            raise WorkerDied(
                "a process that worked on an input was killed; run the command again to continue"
            ) from error
        finally:
            for future in waiting:
                future.cancel()


def _end_with_parent() -> None:
    """End this process when the one that started it is killed; by itself it would wait for ever."""
    threading.Thread(target=_wait_and_end, daemon=True).start()


def _wait_and_end() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(os.EX_TEMPFAIL)
