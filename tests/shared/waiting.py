"""Waiting for what other threads and processes do."""

import time
from collections.abc import Callable


def wait_until(
    is_so: Callable[[], object], seconds: float = 120.0, *, between: float = 0.02
) -> None:
    """Wait until something is so.

    Args:
        is_so: Says whether it is.
        seconds: Until it fails; more than a busy machine takes.
        between: Seconds between two looks.
    """
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, f"it did not come about within {seconds:.0f} s"
        time.sleep(between)
