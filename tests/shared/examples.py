"""The number of examples of a test: all in CI and `make test-all`, fewer in `make test`."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings


def examples(full: int, *, least: int = 25) -> int:
    """`full` under Hypothesis's profile `ci`; a tenth of it, but at least `least`, else."""
    is_full = settings().max_examples == 100
    return full if is_full else min(full, max(least, full // 10))


def family(members: Iterable[Any], keep: int) -> list[Any]:
    """What `parametrize` takes: of all members, `keep` in even steps; the others are `long`.

    A member that is a tuple has the values of several arguments.
    """
    listed = list(members)
    kept = {number * len(listed) // keep for number in range(keep)}

    def long(member: Any) -> Any:
        values = member if isinstance(member, tuple) else (member,)
        return pytest.param(*values, marks=pytest.mark.long)

    return [one if number in kept else long(one) for number, one in enumerate(listed)]
