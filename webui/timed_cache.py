"""Cache results that take long to compute, for some time and for each Silo."""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from recordsilo import Silo

T = TypeVar("T")
LONGEST = 600.0
"""Maximum seconds for which a result is cached while its stamp is unchanged."""
FACTOR = 20
"""A result is cached for this multiple of its computing time, so fast results are always new."""


@dataclass(frozen=True, slots=True)
class _Kept(Generic[T]):
    answer: T
    good_until: float
    best_before: float
    stamp: object | None


class TimedCache(Generic[T]):
    """Results by key; they are dropped when the Silo is closed."""

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[Silo, dict[Hashable, _Kept[T]]] = WeakKeyDictionary()

    def get(
        self, silo: Silo, key: Hashable, find: Callable[[], T], stamp: object | None = None
    ) -> T:
        """Return the result for a key; compute it if none is cached.

        Args:
            stamp: A value such as `Silo.index_stamp`: while it is unchanged, the result
                is cached for `LONGEST`.
        """
        kept = self._kept.setdefault(silo, {})
        began = time.monotonic()
        one = kept.get(key)
        if one is not None and (
            began < one.good_until
            or (stamp is not None and stamp == one.stamp and began < one.best_before)
        ):
            return one.answer
        answer = find()
        ended = time.monotonic()
        kept[key] = _Kept(answer, ended + FACTOR * (ended - began), ended + LONGEST, stamp)
        return answer

    def peek(self, silo: Silo, key: Hashable) -> T | None:
        """Return the last result for a key, however old; None if there is none."""
        one = self._kept.get(silo, {}).get(key)
        return None if one is None else one.answer

    def forget(self, silo: Silo) -> None:
        """Drop all results, because something was changed."""
        self._kept.pop(silo, None)
