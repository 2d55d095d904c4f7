"""How many examples a property is tried on: all in CI, a tenth while one works."""

from hypothesis import settings


def examples(full: int) -> int:
    """`full` under the profile `ci`; a tenth of it, but at least 25, under `default`."""
    few = settings().max_examples
    return full if few == 100 else min(full, max(few, full // 10))
