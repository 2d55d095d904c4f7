"""Looks at all that belongs to the crawls of a Silo, within a few seconds.

What cannot be reached is a condition like any other: nothing here raises because of it.
"""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from silocrawl.amqp.settings import has_amqp
from silocrawl.amqp.watching import look_at_amqp
from silocrawl.conditions import Condition, Word
from silocrawl.heritrix.engines import EnginesInvalid, load_engines
from silocrawl.heritrix.watching import look_at
from silocrawl.in_time import in_time
from silocrawl.packages.watching import look_at_packages, look_at_store
from silocrawl.sharing import has_queues, is_fetched, open_crawl_queues
from silocrawl.status import CrawlStatus, status_of


@dataclass(frozen=True, slots=True)
class Look:
    """A look at something.

    Attributes:
        name, of: Of the condition if it fails.
        work: Gets the time.
    """

    name: str
    of: str
    work: Callable[[datetime], Iterable[Condition]]


def looks_of(silo_path: str) -> list[Look]:
    """What there is to look at beside the queues."""
    looks = [
        Look("packages", "", partial(look_at_packages, silo_path)),
        Look("store", "", partial(look_at_store, silo_path)),
    ]
    if has_amqp(silo_path):
        looks.append(Look("amqp", "", partial(look_at_amqp, silo_path)))
    try:
        engines = load_engines(silo_path)
    except EnginesInvalid as error:
        return [*looks, Look("heritrix", "", partial(_refused, error))]
    return [*looks, *(Look("heritrix", one.name, partial(look_at, one)) for one in engines)]


def _refused(error: Exception, _now: datetime) -> list[Condition]:
    raise error


def look(silo_path: str, now: datetime | None = None) -> CrawlStatus:
    """Look how the crawls of a Silo are, and what works for them elsewhere."""
    now, is_running = now or datetime.now(UTC), is_fetched(silo_path)
    looks = looks_of(silo_path)
    own: list[CrawlStatus] = []

    def of_queues() -> list[Condition]:
        own.append(_of_queues(silo_path, now, is_running=is_running))
        return []

    works: list[Callable[[], list[Condition]]] = [partial(_conditions, one, now) for one in looks]
    (_none, lost), *ended = in_time([of_queues, *works])
    more: list[Condition] = []
    for one, (found, fault) in zip(looks, ended, strict=True):
        more += found or ()
        if fault:
            advice = "see that it runs, and its log"
            more.append(Condition(one.name, Word.ALERT, fault, advice, one.of))
    if lost:
        return status_of(silo_path, None, now, is_running=is_running, more=more, lost=lost)
    return replace(own[0], conditions=(*own[0].conditions, *more))


def _conditions(one: Look, now: datetime) -> list[Condition]:
    return list(one.work(now))


def _of_queues(silo_path: str, now: datetime, *, is_running: bool) -> CrawlStatus:
    is_new = not has_queues(silo_path)
    with nullcontext() if is_new else open_crawl_queues(silo_path, "read") as queues:
        return status_of(silo_path, queues, now, is_running=is_running)
