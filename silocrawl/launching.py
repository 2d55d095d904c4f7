"""Launches: the seeds of the targets that are due become messages, each once.

A message has the name and the time of its launch in its key, and the mark that the launch
was is set with the last of them; so a launch that was killed is done again, and adds what is
missing. The links of records that were stored or changed since join the last launch.
"""

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from crawlmatch.errors import BadAddress
from crawlmatch.record_links import links_of_records
from recordsilo import Silo
from recordsilo.batches import batched
from recordsilo.errors import RecordSiloError
from recordsilo.selection import Selection
from silocrawl.addresses import bare_with_scheme, fetched_form
from silocrawl.errors import TargetRefused
from silocrawl.messages import CHECK, CRAWL, LAUNCH_FORM, RENDER, CrawlAddress, message_of
from silocrawl.targets import CrawlTarget, load_target, target_names
from silowork.due.timetable import Past, next_due
from silowork.queues.values import Queues

_BACKWARDS = timedelta(hours=1)
"""How far a clock may be set back without effect; a later time than that was never true."""
SECONDS_UNTIL_CHECK = 3_600.0
"""After which a launched address is expected in the index."""
_TOGETHER = 1_000

logger = logging.getLogger("silocrawl")


@dataclass(frozen=True, slots=True)
class Launched:
    """What is known of a target's launches.

    Attributes:
        due: When the last one was due; None if there was none.
        started: When it was done.
        seen: What of the Silo's changes its seeds include; see `Silo.changes`.
    """

    due: datetime | None = None
    started: datetime | None = None
    seen: str = ""

    @classmethod
    def of(cls, mark: str) -> "Launched":
        """Read a mark; an empty or invalid one is that of a target that was never launched."""
        try:
            due, started, seen = json.loads(mark)
            return cls(datetime.fromisoformat(due), datetime.fromisoformat(started), str(seen))
        except (ValueError, TypeError, LookupError, RecursionError):
            return cls()

    def mark(self) -> str:
        """Return the text that `of` reads."""
        assert self.due is not None
        assert self.started is not None
        return json.dumps([self.due.isoformat(), self.started.isoformat(), self.seen])


@dataclass(frozen=True, slots=True)
class Launch:
    """What a look at a target did.

    Attributes:
        target: Its name.
        due: When the launch was due.
        seeds: How many addresses were put into the queue.
        refused: How many links cannot be fetched; they are outcomes, not seeds.
        is_joined: Whether the seeds joined an earlier launch.
    """

    target: str
    due: datetime
    seeds: int
    refused: int = 0
    is_joined: bool = False


def launched(queues: Queues | None, name: str) -> Launched:
    """Return what is known of a target's launches; without queues, there were none."""
    return Launched.of(queues.mark(launched_mark(name)) if queues is not None else "")


def due_of(
    queues: Queues | None, target: CrawlTarget, now: datetime | None = None
) -> datetime | None:
    """Return when a target is due next; None if it is paused or over.

    The first launch is that of its beginning, also if it was made some seconds later.

    Args:
        now: Aware. If the last launch lies after it, the clock was wrong then, and the next is due.
    """
    since = (target.when.begin or target.made) - timedelta(seconds=1)
    started = launched(queues, target.name).started
    if now is None or started is None or started <= now + _BACKWARDS:
        return next_due(target.when, Past(since, started), target.name)
    first = next_due(target.when, Past(since), target.name)
    return max(now.replace(microsecond=0), first) if first is not None else None


def launch_name(target: str, due: datetime) -> str:
    """The name of a launch, as in messages and logs."""
    return f"{target}/{due.astimezone(UTC):{LAUNCH_FORM}}"


def launch_due(
    silo: Silo, queues: Queues, now: datetime | None = None, told: set[str] | None = None
) -> list[Launch]:
    """Launch every target that is due, and the seeds that are new to the others.

    A target that cannot be read is logged and does not hold up the others.

    Args:
        now: Aware; by default, this moment.
        told: What was logged or said before, and is not logged again; it grows.
    """
    found = []
    told = set() if told is None else told
    for name in target_names(silo.path):
        try:
            target = load_target(silo.path, name)
            done = _launch_if_due(silo, queues, target, now or datetime.now(UTC))
        except RecordSiloError as error:
            said = str(error)
            said = said if isinstance(error, TargetRefused) else f"the target {name}: {said}"
            if said not in told:
                logger.warning("%s", said)
            told.add(said)
        else:
            found += [done] if done is not None else []
    return found


def launch_now(
    silo: Silo, queues: Queues, target: CrawlTarget, now: datetime | None = None
) -> Launch:
    """Launch a target, due or not, paused or not."""
    now = (now or datetime.now(UTC)).replace(microsecond=0)
    return _launch(silo, queues, target, now, now)


def _launch_if_due(silo: Silo, queues: Queues, target: CrawlTarget, now: datetime) -> Launch | None:
    due = due_of(queues, target, now)
    if due is not None and due <= now:
        return _launch(silo, queues, target, due, now)
    return None if target.when.is_paused else _join(silo, queues, target)


def _launch(
    silo: Silo, queues: Queues, target: CrawlTarget, due: datetime, now: datetime
) -> Launch:
    seen = "" if target.url else silo.changes().mark
    seeds = _Seeds(silo, target, target.select)
    put = _put(queues, target, due, seeds, Launched(due, now, seen))
    return Launch(target.name, due, put, seeds.refused)


def _join(silo: Silo, queues: Queues, target: CrawlTarget) -> Launch | None:
    """Put the links of records that changed since the last launch."""
    last = launched(queues, target.name)
    if last.due is None or target.url:
        return None
    changes = silo.changes(last.seen)
    if changes.mark == last.seen:
        return None
    select: Selection | None = target.select
    if not changes.is_whole:
        changed = tuple(entry.row.identifier for _, entry in silo.changed_entries(changes))
        changed = tuple(one for one in changed if one in silo)
        mine, named = target.select, set(target.select.identifiers)
        if named:
            changed = tuple(one for one in changed if one in named)
        select = Selection(mine.query, mine.filters, changed) if changed else None
    seeds = _Seeds(silo, target, select)
    put = _put(queues, target, last.due, seeds, Launched(last.due, last.started, changes.mark))
    return Launch(target.name, last.due, put, seeds.refused, is_joined=True) if put else None


class _Seeds:
    """The addresses of a target, in the form in which they are fetched."""

    def __init__(self, silo: Silo, target: CrawlTarget, select: Selection | None) -> None:
        self._silo, self._target, self._select = silo, target, select
        self.refused = 0

    def __iter__(self) -> Iterator[tuple[str, str]]:
        if self._target.url:
            yield fetched_form(self._target.url), ""
        elif self._select is not None:
            for link in links_of_records(self._silo, self._select):
                try:
                    url = fetched_form(link.url)
                except BadAddress:
                    self.refused += 1
                else:
                    if url.startswith(("http://", "https://")):
                        yield url, link.identifier
                    else:
                        self.refused += 1


def _put(
    queues: Queues,
    target: CrawlTarget,
    due: datetime,
    seeds: Iterable[tuple[str, str]],
    after: Launched,
) -> int:
    launch = launch_name(target.name, due)
    queue = RENDER if target.is_rendered else CRAWL
    put = 0
    for some in batched(seeds, _TOGETHER):
        addresses = [CrawlAddress(url, url, launch, record, via=url) for url, record in some]
        put += queues.put(message_of(one, queue) for one in addresses)
        queues.put(message_of(one, CHECK, wait=SECONDS_UNTIL_CHECK) for one in addresses)
    queues.put((), mark=(launched_mark(target.name), after.mark()))
    return put


def inject(
    queues: Queues,
    urls: Sequence[str],
    *,
    force: bool,
    source: str = "",
    queue: str = CRAWL,
) -> int:
    """Put single addresses; return how many were new.

    Args:
        urls: Addresses of http or https.
        force: Fetch them although they were injected before.
        source: The seed they are said to come from; by default each itself.
        queue: Where to: to be fetched, or to be rendered.

    Raises:
        BadAddress: One cannot be fetched; nothing was put.
    """
    for one in (*urls, source):
        if meant := bare_with_scheme(one):
            raise BadAddress(one, f"it has no http:// or https://; write {meant}")
    known, seed = [fetched_form(one) for one in urls], fetched_form(source) if source else ""
    for one in known:
        if one.partition(":")[0] not in {"http", "https"}:
            raise BadAddress(one, "it is not an address of http or https")
    addresses = (CrawlAddress(one, seed or one, via=one, is_forced=force) for one in known)
    return queues.put(message_of(one, queue) for one in addresses)


def launched_mark(name: str) -> str:
    """The name of the mark that says what is known of a target's launches."""
    return f"launched {name}"
