"""How the crawls of a Silo are: one word for each thing that somebody may have to look at.

The command, the page and the metrics say the same.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from politeweb.file_pace import resting_hosts
from recordsilo.wording import counted
from silocrawl.errors import TargetRefused
from silocrawl.launching import due_of
from silocrawl.messages import CATALOGUE, CHECK, CRAWL, QUEUES, RENDER
from silocrawl.targets import Target, load_targets
from silowork.queues.values import Queues, QueueSize

SECONDS_OVERDUE, SECONDS_OLD = 3_600, 86_400
"""After which a launch is overdue, and the queue of addresses is old."""
LITTLE, VERY_LITTLE = 10**10, 10**9
"""Free bytes of the disk below which there is a warning, and an alert."""


class Word(StrEnum):
    """How something is."""

    GOOD = "good"
    WARNING = "warning"
    """It waits for somebody, but nothing is lost."""
    ALERT = "alert"


@dataclass(frozen=True, slots=True)
class Condition:
    """How one thing is, in a word and in words."""

    name: str
    word: Word
    said: str


@dataclass(frozen=True, slots=True)
class CrawlStatus:
    """How the crawls of a Silo are.

    Attributes:
        conditions: Those of the targets, the messages, the launches, the queue and the disk.
        queues: The size of each queue, in the order of the steps.
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


def status_of(silo_path: str, queues: Queues | None, now: datetime | None = None) -> CrawlStatus:
    """Look how the crawls of a Silo are.

    Args:
        silo_path: The Silo.
        queues: Its queues; None if nothing was launched.
        now: The time.
    """
    now = now or datetime.now(UTC)
    targets, refused = load_targets(silo_path)
    known = dict(queues.sizes()) if queues is not None else {}
    sizes = {name: known.get(name, QueueSize()) for name in [*QUEUES, *sorted(known)]}
    overdue = tuple(one.name for one in targets if _is_overdue(queues, one, now))
    disk = os.statvfs(silo_path)
    free = disk.f_bavail * disk.f_frsize
    conditions = (
        _of_targets(refused),
        _of_messages(sizes),
        _of_launches(len(targets), overdue),
        _of_queue(sizes),
        _of_disk(free),
    )
    resting = tuple(resting_hosts(os.path.join(silo_path, ".silo"), now.timestamp()))
    return CrawlStatus(conditions, sizes, len(targets), overdue, free, resting)


def _is_overdue(queues: Queues | None, target: Target, now: datetime) -> bool:
    due = due_of(queues, target)
    return due is not None and (now - due).total_seconds() > SECONDS_OVERDUE


def _of_targets(refused: list[TargetRefused]) -> Condition:
    said = "; ".join(map(str, refused)) or "all can be read"
    return Condition("targets", Word.ALERT if refused else Word.GOOD, said)


def _of_messages(sizes: Mapping[str, QueueSize]) -> Condition:
    dead = sum(one.dead for one in sizes.values())
    said = f"{dead:,} failed too often" if dead else "none failed"
    return Condition("messages", Word.ALERT if dead else Word.GOOD, said)


def _of_launches(targets: int, overdue: tuple[str, ...]) -> Condition:
    if overdue:
        said = f"{len(overdue):,} overdue: {', '.join(overdue[:5])}"
        return Condition("launches", Word.WARNING, said)
    said = counted(targets, "target") if targets else "no targets; see silo crawl target add"
    return Condition("launches", Word.GOOD, said)


def _of_queue(sizes: Mapping[str, QueueSize]) -> Condition:
    waiting, rendered, checked = sizes[CRAWL], sizes[RENDER], sizes[CHECK]
    documents = sizes[CATALOGUE]
    said = f"{waiting.waiting:,} wait to be fetched, {checked.later:,} to be checked"
    said += f", {rendered.waiting:,} to be rendered" if rendered.waiting else ""
    said += f", {documents.alive:,} to be catalogued" if documents.alive else ""
    oldest = max(waiting.oldest, rendered.oldest, documents.oldest)
    return Condition("queue", Word.WARNING if oldest > SECONDS_OLD else Word.GOOD, said)


def _of_disk(free: int) -> Condition:
    word = Word.ALERT if free < VERY_LITTLE else Word.WARNING if free < LITTLE else Word.GOOD
    return Condition("disk", word, f"{free / 1e9:,.1f} GB free")
