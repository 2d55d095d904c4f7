"""Looks at all that belongs to the crawls of a Silo, within a few seconds.

What cannot be reached is a condition like any other: nothing here raises because of it.
"""

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Generic, TypeVar

from crawlmatch.errors import CrawlError
from recordsilo.errors import RecordSiloError
from silocrawl.conditions import Condition, Word
from silocrawl.heritrix.engines import EnginesInvalid, load_engines
from silocrawl.heritrix.watching import look_at
from silocrawl.sharing import has_queues, is_fetched, open_crawl_queues
from silocrawl.status import CrawlStatus, status_of
from silowork.errors import JobsError

SECONDS_OF_A_LOOK = 5.0
FAULTS = (RecordSiloError, CrawlError, JobsError, OSError, ValueError)
"""What a look may meet; all say in a sentence what is wrong."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Look:
    """A look at something, in a thread of its own.

    Attributes:
        name, of: Of the condition if it fails.
        work: Gets the time.
    """

    name: str
    of: str
    work: Callable[[datetime], Iterable[Condition]]


def looks_of(silo_path: str) -> list[Look]:
    """What there is to look at beside the queues."""
    try:
        engines = load_engines(silo_path)
    except EnginesInvalid as error:
        return [Look("heritrix", "", partial(_refused, error))]
    return [Look("heritrix", one.name, partial(look_at, one)) for one in engines]


def _refused(error: Exception, _now: datetime) -> list[Condition]:
    raise error


def look(silo_path: str, now: datetime | None = None) -> CrawlStatus:
    """Look how the crawls of a Silo are, and what works for them elsewhere.

    Args:
        silo_path: The Silo.
        now: The time.
    """
    now = now or datetime.now(UTC)
    end = time.monotonic() + SECONDS_OF_A_LOOK
    others = [(one, _Looking(partial(_found, one, now))) for one in looks_of(silo_path)]
    is_running = is_fetched(silo_path)
    own = _Looking(partial(_of_queues, silo_path, now, is_running=is_running))
    more: list[Condition] = []
    for one, looking in others:
        looking.wait(end)
        more += looking.found or ()
        if looking.fault:
            advice = "see that it runs, and its log"
            more.append(Condition(one.name, Word.ALERT, looking.fault, advice, one.of))
    own.wait(end)
    if own.found is None:
        return status_of(silo_path, None, now, is_running=is_running, more=more, lost=own.fault)
    return replace(own.found, conditions=(*own.found.conditions, *more))


def _found(one: Look, now: datetime) -> list[Condition]:
    return list(one.work(now))


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
