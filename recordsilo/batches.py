"""Values in lists of a size, for what is asked or written together."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield `size` values at a time, and the rest; `itertools.batched` of Python 3.12."""
    rest = iter(values)
    while some := list(islice(rest, size)):
        yield some
