"""Round numbers for axes, and short ones for their labels (pure)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from webui.words.texts import numeral

_FAR = 50
"""Number of empty years that separate an outlier from the other years."""


def round_step(span: float, most: int) -> float:
    """The smallest of 1, 2, 5, 10, 20, 50 … that divides a span into at most ``most`` parts."""
    least = max(span / most, 1)
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * 0.999999)


def ticks(top: float, most: int = 4) -> tuple[float, ...]:
    """Round numbers from 0 to the first that is at least ``top``."""
    step = round_step(top, most)
    return tuple(step * i for i in range(max(1, math.ceil(top / step - 1e-9)) + 1))


def short(number: float) -> str:
    """A number in at most five characters: 950, 1.2k, 25k, 3M."""
    for power, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= power:
            return numeral(float(f"{number / power:.1f}"[:4])) + letter
    return numeral(float(f"{number:g}"))


@dataclass(frozen=True, slots=True)
class Bin:
    """A range of years, and the counts in it.

    Attributes:
        first, last: Both included.
    """

    first: int
    last: int
    count: int

    @property
    def label(self) -> str:
        """One year, or the first and the last."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


@dataclass(frozen=True, slots=True)
class Binned:
    """Counts by year, in consecutive bins of equal width.

    Attributes:
        before, after: The counts outside the bins: at most one record in 200 on
            either side, and only years far from all others, such as 1 or 9999.
    """

    bins: tuple[Bin, ...]
    before: int = 0
    after: int = 0


def binned(counts: Mapping[int, int], most: int = 100) -> Binned:
    """Counts by year as at most ``most`` + 1 bins; years without records count 0."""
    years = sorted(year for year, count in counts.items() if count)
    if not years:
        return Binned(())
    first, last = years[0], years[-1]
    if last - first >= most:
        first, last = _usual(counts, years)
    width = int(round_step(last - first + 1, most))
    start = first - first % width if width > 1 else first
    sums = [0] * ((last - start) // width + 1)
    for year in years:
        if first <= year <= last:
            sums[(year - start) // width] += counts[year]
    bins = (
        Bin(start + i * width, start + (i + 1) * width - 1, count) for i, count in enumerate(sums)
    )
    return Binned(
        tuple(bins),
        sum(counts[year] for year in years if year < first),
        sum(counts[year] for year in years if year > last),
    )


def _usual(counts: Mapping[int, int], years: list[int]) -> tuple[int, int]:
    """The first and the last year, without those that are rare and far from all others."""
    rare = sum(counts[year] for year in years) / 200
    return _first_usual(counts, years, rare), _first_usual(counts, years[::-1], rare)


def _first_usual(counts: Mapping[int, int], years: list[int], rare: float) -> int:
    usual, passed = years[0], 0
    for year, following in pairwise(years):
        passed += counts[year]
        if passed > rare:
            break
        if abs(following - year) > _FAR:
            usual = following
    return usual
