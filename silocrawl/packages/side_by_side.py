"""Does the same with several WARC files at a time, in threads: to copy, compare and hash.

Reading, writing and hashing do not hold the interpreter, so two files take little more time than
one, where the machine has two processors.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from typing import TypeVar

from silocrawl.packages.values import Told

A = TypeVar("A")
B = TypeVar("B")


class _Left(Exception):
    """Nobody waits for the result any more."""


def side_by_side(
    work: Callable[[A, Told], B], items: Sequence[A], threads: int, told: Told
) -> Iterator[B]:
    """Yield what was made of each item, in their order; begin with more of them before that.

    After the first failure, or when the caller goes, what others are at ends with its next piece.

    Args:
        work: Makes it; gets what it tells the bytes to that it has worked on.
        items: What it is made of.
        threads: How many are worked on at a time.
        told: Is told by one thread at a time.

    Raises:
        Exception: What `work` raised.
    """
    left, lock = Event(), Lock()

    def tell(size: int) -> None:
        if left.is_set():
            raise _Left
        with lock:
            told(size)

    with ThreadPoolExecutor(threads) as pool:
        try:
            yield from pool.map(lambda one: work(one, tell), items)
        finally:
            left.set()
