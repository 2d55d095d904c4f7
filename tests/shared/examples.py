"""How much of a test runs: of its examples and of its members.

`make test` tries few examples and few members, `make test-all` (CI) all examples and some more
members, `make slow` the members that are left.
"""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings


def examples(full: int, *, least: int = 25) -> int:
    """`full` under Hypothesis's profile `ci`; a tenth of it, but at least `least`, else."""
    is_full = settings().max_examples == 100
    return full if is_full else min(full, max(least, full // 10))


def family(members: Iterable[Any], keep: int) -> list[Any]:
    """What `parametrize` takes: of all members, `keep` in even steps; of the others, a third is
    `long` and the rest `slow`.

    A member that is a tuple has the values of several arguments.
    """
    listed = list(members)
    kept = {number * len(listed) // keep for number in range(keep)}
    others = [number for number in range(len(listed)) if number not in kept]
    long = set(others[::3])

    def marked(number: int) -> Any:
        member = listed[number]
        values = member if isinstance(member, tuple) else (member,)
        mark = pytest.mark.long if number in long else pytest.mark.slow
        return pytest.param(*values, marks=mark)

    return [one if number in kept else marked(number) for number, one in enumerate(listed)]
