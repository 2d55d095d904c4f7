"""The same work over many inputs: in this process, or in several beside it.

A job may be carried out twice, on this machine or another: what it writes has to be the
same then, under the same name. So any queue that delivers at least once can run it too.
"""

import multiprocessing
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
    """Do each job; the results in the jobs' order.

    Jobs are taken as they are begun, at most two for each process ahead of the result
    that is waited for, so neither jobs nor results pile up.

    Args:
        task: A function of a module, where there is more than one process.
        processes: 1 does it here.

    Raises:
        WorkerDied: A process was killed. Results before it are sound; the jobs after it
            may be done or not.
    """
    if processes == 1:
        yield from map(task, jobs)
        return
    context = multiprocessing.get_context("spawn")
    waiting: deque[Future[Result]] = deque()
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        try:
            for job in jobs:
                waiting.append(pool.submit(task, job))
                if len(waiting) > 2 * processes:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as error:
            raise WorkerDied(
                "a process that worked on an input was killed; the same command goes on"
            ) from error
        finally:
            for future in waiting:
                future.cancel()
