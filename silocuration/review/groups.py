"""Groups of works that are probably one, out of candidates (pure).

Works are in one group only if each two of them are alike: so two with different DOIs never
meet by way of a third that has none.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from silocuration.review.candidates import LARGEST
from silocuration.review.persons import person
from silocuration.review.same_work import Frequency, WorkDescription, likeness

Described = Callable[[Sequence[int]], Mapping[int, WorkDescription]]
"""Describes works by number; those that do not count are left out."""
_AT_ONCE = 500
"""Works that are described at once."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Works that are probably one.

    Attributes:
        numbers: Two or more, ascending.
        likeness: Of the two that are most alike.
    """

    numbers: tuple[int, ...]
    likeness: float


def groups_of(
    blocks: Iterable[Sequence[int]], describe: Described, frequency: Frequency
) -> list[Alike]:
    """Compare the works of each block; return those that are alike, the surest first."""
    pairs: dict[tuple[int, int], float] = {}
    works: dict[int, WorkDescription] = {}
    remaining = iter(blocks)
    while some := _next(remaining):
        described = describe([*{number for block in some for number in block}])
        for block in some:
            for one, other in _pairs([n for n in block if n in described], described):
                sure = likeness(described[one], described[other], frequency)
                if sure:
                    pairs[one, other] = sure
                    works |= {one: described[one], other: described[other]}
    return _joined(pairs, lambda one, other: likeness(works[one], works[other], frequency))


def _next(blocks: Iterable[Sequence[int]]) -> list[Sequence[int]]:
    found: list[Sequence[int]] = []
    for block in blocks:
        found.append(block)
        if sum(map(len, islice(found, _AT_ONCE))) >= _AT_ONCE:
            break
    return found


def _pairs(block: Sequence[int], works: Mapping[int, WorkDescription]) -> Iterable[tuple[int, int]]:
    """The pairs of a block, the smaller number first; of a large one, those with a creator."""
    if len(block) <= LARGEST:
        return combinations(sorted(block), 2)
    by_person: dict[str, list[int]] = defaultdict(list)
    for number in block:
        for surname in {person(name).surname for name in works[number].creators}:
            by_person[surname].append(number)
    small = (sorted(some) for some in by_person.values() if len(some) <= LARGEST)
    return {pair for some in small for pair in combinations(some, 2)}


def _joined(
    pairs: Mapping[tuple[int, int], float], sure: Callable[[int, int], float]
) -> list[Alike]:
    group_of: dict[int, list[int]] = {}
    surest: dict[int, float] = {}
    for (one, other), found in sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0])):
        mine, theirs = group_of.get(one, [one]), group_of.get(other, [other])
        if mine is theirs or not all(
            pairs.get((min(a, b), max(a, b))) or sure(a, b) for a in mine for b in theirs
        ):
            continue
        joined = sorted({*mine, *theirs})
        best = max(found, *(surest.get(number, 0.0) for number in (mine[0], theirs[0])))
        for number in joined:
            group_of[number], surest[number] = joined, best
    groups = {id(group): group for group in group_of.values()}.values()
    alike = [Alike(tuple(group), surest[group[0]]) for group in groups]
    return sorted(alike, key=lambda one: (-one.likeness, one.numbers))
