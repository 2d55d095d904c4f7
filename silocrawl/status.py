"""How the crawls of a Silo are: one word for each thing that somebody may have to look at.

The command, the page and the metrics say the same.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from politeweb.file_pace import resting_hosts
from recordsilo.wording import counted
from silocrawl.conditions import Condition, Word, good, of_space
from silocrawl.errors import TargetRefused
from silocrawl.launching import due_of
from silocrawl.messages import ALL_QUEUES, CATALOGUE, CHECK, CRAWL, QUEUES, RENDER, TO_CHECK
from silocrawl.paths import archives_directory
from silocrawl.targets import CrawlTarget, load_targets
from silowork.queues.values import Queues, QueueSize

SECONDS_OVERDUE, SECONDS_BECALMED, SECONDS_OLD = 3_600, 3_600, 86_400
"""After which a launch is overdue, a queue is becalmed if nobody takes from it, and it is old."""


@dataclass(frozen=True, slots=True)
class CrawlStatus:
    """How the crawls of a Silo are.

    Attributes:
        conditions: Those of the targets, the messages, the launches, the queue and the disk, and
            of what else there is.
        queues: The size of each queue, in the order of the steps; empty if they are out of reach.
        targets: How many can be read.
        overdue: Names of targets whose launch nobody did in time.
        free: Bytes of the disk.
        resting: Hosts that asked to be left alone, and for how many seconds, the longest first.
    """

    conditions: tuple[Condition, ...]
    queues: Mapping[str, QueueSize]
    targets: int
    overdue: tuple[str, ...]
    free: int
    resting: tuple[tuple[str, float], ...]

    @property
    def is_good(self) -> bool:
        """Whether nothing waits for anybody."""
        return all(one.word is Word.GOOD for one in self.conditions)


def status_of(
    silo_path: str,
    queues: Queues | None,
    now: datetime | None = None,
    *,
    is_running: bool = False,
    more: Iterable[Condition] = (),
    lost: str = "",
) -> CrawlStatus:
    """Look how the crawls of a Silo are.

    Args:
        queues: Its queues; None if nothing was launched.
        is_running: Whether a crawl runs here, which takes from all of its queues.
        more: Conditions of other things.
        lost: Why its queues are out of reach; empty if they are not.
    """
    now = now or datetime.now(UTC)
    targets, refused = load_targets(silo_path)
    known = dict(queues.sizes()) if queues is not None else {}
    ordered = [*QUEUES, *(name for name in ALL_QUEUES if name in known), *sorted(known)]
    sizes = {name: known.get(name, QueueSize()) for name in ordered}
    overdue = tuple(one.name for one in targets if not lost and _is_overdue(queues, one, now))
    disk = os.statvfs(silo_path)
    free = disk.f_bavail * disk.f_frsize
    conditions = (
        _of_targets(refused),
        *((_lost(lost),) if lost else (_of_messages(sizes), _of_launches(len(targets), overdue))),
        *(() if lost else (_of_queue(sizes, is_running=is_running),)),
        *_disks(silo_path, free),
        *more,
    )
    resting = tuple(resting_hosts(os.path.join(silo_path, ".silo"), now.timestamp()))
    sizes = {} if lost else sizes
    return CrawlStatus(conditions, sizes, len(targets), overdue, free, resting)


def _is_overdue(queues: Queues | None, target: CrawlTarget, now: datetime) -> bool:
    due = due_of(queues, target)
    return due is not None and (now - due).total_seconds() > SECONDS_OVERDUE


def _lost(reason: str) -> Condition:
    return Condition("queue", Word.ALERT, reason, "start what has the queues, or see its log")


def _of_targets(refused: list[TargetRefused]) -> Condition:
    if not refused:
        return good("targets", "all can be read")
    return Condition("targets", Word.ALERT, "; ".join(map(str, refused)), "mend these files")


def _of_messages(sizes: Mapping[str, QueueSize]) -> Condition:
    dead = {name: one.dead for name, one in sizes.items() if one.dead}
    if not dead:
        return good("messages", "none failed")
    said = ", ".join(f"{number:,} of {name}" for name, number in dead.items())
    advice = f"see silo crawl queue dead DIR {next(iter(dead))}, then silo crawl queue retry"
    return Condition("messages", Word.ALERT, f"{said} failed too often", advice)


def _of_launches(targets: int, overdue: tuple[str, ...]) -> Condition:
    if overdue:
        said = f"{len(overdue):,} overdue: {', '.join(overdue[:5])}"
        return Condition("launches", Word.WARNING, said, "start silo crawl run")
    said = counted(targets, "target") if targets else "no targets; see silo crawl target add"
    return good("launches", said)


def _of_queue(sizes: Mapping[str, QueueSize], *, is_running: bool) -> Condition:
    waiting, rendered, checked = sizes[CRAWL], sizes[RENDER], sizes[CHECK]
    documents = sizes[CATALOGUE]
    said = f"{waiting.waiting:,} wait to be fetched, {checked.later:,} to be checked"
    said += f", {rendered.waiting:,} to be rendered" if rendered.waiting else ""
    said += f", {documents.alive:,} to be catalogued" if documents.alive else ""
    becalmed = [name for name, one in sizes.items() if _is_becalmed(name, one)]
    if becalmed and not is_running:
        said += f"; becalmed, as nobody takes from them: {', '.join(becalmed)}"
        return Condition("queue", Word.WARNING, said, "start silo crawl run")
    if max(waiting.oldest, rendered.oldest, documents.oldest) > SECONDS_OLD:
        said += "; the oldest for more than a day"
        advice = "more threads, or a look at hosts that rest, may help (silo crawl queue peek)"
        return Condition("queue", Word.WARNING, said, advice)
    return good("queue", said)


def _is_becalmed(name: str, size: QueueSize) -> bool:
    """Whether nobody takes what waits; what only looks again later may wait for the next run."""
    is_old = size.waiting > 0 and size.oldest > SECONDS_BECALMED
    return is_old and not size.taken and name not in {CHECK, TO_CHECK}


def _disks(silo_path: str, free: int) -> Iterable[Condition]:
    yield of_space("disk", free)
    archives = archives_directory(silo_path)
    if os.path.isdir(archives) and os.stat(archives).st_dev != os.stat(silo_path).st_dev:
        disk = os.statvfs(archives)
        yield of_space("disk", disk.f_bavail * disk.f_frsize, "archives")
