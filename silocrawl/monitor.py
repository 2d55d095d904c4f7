"""Looks at all that belongs to the crawls of a Silo, within a few seconds.

What cannot be reached is a condition like any other: nothing here raises because of it.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Generic, TypeVar

from crawlmatch.errors import CrawlError
from recordsilo.errors import RecordSiloError
from silocrawl.conditions import Condition, Word
from silocrawl.sharing import has_queues, is_fetched, open_crawl_queues
from silocrawl.status import CrawlStatus, status_of
from silowork.errors import JobsError

SECONDS_OF_A_LOOK = 5.0
FAULTS = (RecordSiloError, CrawlError, JobsError, OSError, ValueError)
"""What a look may meet; all say in a sentence what is wrong."""
Look = Callable[[str, datetime], Sequence[Condition]]
"""Gets the Silo and the time."""
LOOKS: Mapping[str, Look] = {}
"""Name of a condition → what looks for it, and for those that belong to it."""
T = TypeVar("T")


def look(silo_path: str, now: datetime | None = None) -> CrawlStatus:
    """Look how the crawls of a Silo are, and what works for them elsewhere.

    Args:
        silo_path: The Silo.
        now: The time.
    """
    now = now or datetime.now(UTC)
    end = time.monotonic() + SECONDS_OF_A_LOOK
    others = {name: _Looking(partial(one, silo_path, now)) for name, one in LOOKS.items()}
    is_running = is_fetched(silo_path)
    own = _Looking(partial(_of_queues, silo_path, now, is_running=is_running))
    more: list[Condition] = []
    for name, one in others.items():
        one.wait(end)
        more += one.found or ()
        if one.fault:
            more.append(Condition(name, Word.ALERT, one.fault, "see that it runs, and its log"))
    own.wait(end)
    if own.found is None:
        return status_of(silo_path, None, now, is_running=is_running, more=more, lost=own.fault)
    return replace(own.found, conditions=(*own.found.conditions, *more))


def _of_queues(silo_path: str, now: datetime, *, is_running: bool) -> CrawlStatus:
    is_new = not has_queues(silo_path)
    with nullcontext() if is_new else open_crawl_queues(silo_path, "read") as queues:
        return status_of(silo_path, queues, now, is_running=is_running)


class _Looking(Generic[T]):
    """A look in a thread of its own, for which nobody waits too long."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self.found: T | None = None
        self.fault = f"no answer within {SECONDS_OF_A_LOOK:g} seconds"
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.found, self.fault = self._work(), ""
        except FAULTS as error:
            self.fault = str(error)

    def wait(self, end: float) -> None:
        self._thread.join(max(0.0, end - time.monotonic()))
