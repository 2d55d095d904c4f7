"""Several looks at once, each in a thread of its own, for which nobody waits too long."""

import threading
import time
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from crawlmatch.errors import CrawlError
from recordsilo.errors import RecordSiloError
from silowork.errors import JobsError

SECONDS_OF_A_LOOK = 5.0
FAULTS = (RecordSiloError, CrawlError, JobsError, OSError, ValueError)
"""What a look may meet; all say in a sentence what is wrong."""
T = TypeVar("T")


def in_time(looks: Iterable[Callable[[], T]]) -> list[tuple[T | None, str]]:
    """Do all looks at once.

    Returns:
        What each has found, and "", or None, and why: it failed, or has not ended in time.
    """
    end = time.monotonic() + SECONDS_OF_A_LOOK
    begun = [_Looking(one) for one in looks]
    return [one.ended(end) for one in begun]


class _Looking(Generic[T]):
    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._found: tuple[T | None, str] = None, f"no answer within {SECONDS_OF_A_LOOK:g} seconds"
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._found = self._work(), ""
        except FAULTS as error:
            self._found = None, str(error)

    def ended(self, end: float) -> tuple[T | None, str]:
        self._thread.join(max(0.0, end - time.monotonic()))
        return self._found
