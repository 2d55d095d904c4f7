"""Answers that take long to find, kept for some time and for each Silo."""

import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from recordsilo import Silo

T = TypeVar("T")
FACTOR = 20
"""An answer is kept so many times as long as finding it took: what is quick is always new."""


class TimedCache(Generic[T]):
    """Answers by key; a Silo that is closed takes its answers with it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: WeakKeyDictionary[Silo, dict[Hashable, tuple[float, T]]] = WeakKeyDictionary()

    def get(self, silo: Silo, key: Hashable, find: Callable[[], T]) -> T:
        """The answer for a key, found now if none is kept."""
        kept = self._kept.setdefault(silo, {})
        began = self._clock()
        good_until, answer = kept.get(key, (float("-inf"), None))
        if answer is not None and began < good_until:
            return answer
        answer = find()
        ended = self._clock()
        kept[key] = (ended + FACTOR * (ended - began), answer)
        return answer

    def forget(self, silo: Silo) -> None:
        """Find everything anew: something was changed."""
        self._kept.pop(silo, None)
