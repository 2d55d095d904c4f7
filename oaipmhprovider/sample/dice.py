"""Pseudorandom choices that are the same on every machine and in every version of Python."""

from collections.abc import Sequence
from typing import TypeVar

_T = TypeVar("_T")
_MASK = (1 << 64) - 1


def _mix(number: int, salt: int) -> int:
    """Scatter a number over 64 bits.

    Source: the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable
    pseudorandom number generators", OOPSLA 2014).
    """
    z = (number * 0x9E3779B97F4A7C15 + salt * 0xD1B54A32D192ED03 + 0x632BE59BD9B4E019) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


class Dice:
    """A sequence of choices that depends on two numbers only.

    A linear congruential generator (Knuth's MMIX constants) with a hashed seed, of which the
    upper half of the bits is used. Seeding `random.Random` would take longer than composing a
    record, and its methods have changed between versions of Python.
    """

    __slots__ = ("_state",)

    def __init__(self, number: int, salt: int) -> None:
        self._state = _mix(number, salt)

    def below(self, bound: int) -> int:
        """Return a number from 0 to ``bound`` - 1."""
        self._state = state = (self._state * 6364136223846793005 + 1442695040888963407) & _MASK
        return (state >> 33) % bound

    def chance(self, percent: int) -> bool:
        """Return True with this probability, in percent."""
        return self.below(100) < percent

    def pick(self, choices: Sequence[_T]) -> _T:
        """Return one of several choices."""
        return choices[self.below(len(choices))]

    def several(self, choices: Sequence[_T], count: int) -> list[_T]:
        """Return ``count`` different choices, or all, in any order."""
        rest = list(choices)
        return [rest.pop(self.below(len(rest))) for _ in range(min(count, len(rest)))]
