"""The loops: a worker that takes lines from the queue, and one that follows a file."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from silowork.stop import Stop
from usagestats.live.entries import QueueEntry
from usagestats.live.line_processor import LineProcessor
from usagestats.live.queue import Queue, QueueUnusable
from usagestats.live.tail import FilePosition, tail

_FIRST, _MOST = 64, 2000
"""Entries to take at once: at first, and at most."""
_FEW, _MANY = 1 << 20, 4 << 20
"""Bytes up to which more entries are taken at once, and from which on fewer."""
_SECONDS_BETWEEN_TRIES = 2.0
_FULL = 10_000
_SECONDS_FULL = 1.0
logger = logging.getLogger("usagestats")


@dataclass(frozen=True, slots=True)
class Intervals:
    """How often what is done.

    Attributes:
        gather: Seconds for which lines gather before they are worked on together.
        count: Seconds between two counts.
        idle: End after so many seconds without lines; None: never.
    """

    gather: float = 1.0
    count: float = 60.0
    idle: float | None = None


class _Counting:
    """Counts from time to time."""

    def __init__(self, processor: LineProcessor, seconds: float) -> None:
        self._processor, self._seconds = processor, seconds
        self._due = time.monotonic() + seconds
        self._has_changed = True

    def changed(self) -> None:
        """Note that lines were taken."""
        self._has_changed = True

    def maybe(self) -> None:
        """Count, if it is time."""
        if time.monotonic() >= self._due:
            self.now()

    def now(self) -> None:
        """Count, if there is anything to count."""
        if self._has_changed:
            self._processor.count()
            self._has_changed = False
        self._due = time.monotonic() + self._seconds


def run_worker(
    queue: Queue, processor: LineProcessor, stop: Stop, intervals: Intervals
) -> Counter[str]:
    """Take lines from the queue until stopped; return how many of each kind there were.

    While Redis cannot be reached, it waits and tries again; each reason is logged once.
    """
    told: Counter[str] = Counter()
    counting = _Counting(processor, intervals.count)
    last, most, problem = time.monotonic(), _FIRST, ""
    while not stop.asked:
        try:
            if entries := queue.take(most, 0.5):
                if len(entries) < most and intervals.gather:
                    stop.wait(intervals.gather)
                    entries += queue.take(most - len(entries), 0)
                most = _next_most(most, entries)
                told += processor.take(entries, held=queue.held)
                counting.changed()
                queue.done(entries)
                processor.acknowledged(entries)
                last = time.monotonic()
            elif intervals.idle is not None and time.monotonic() - last > intervals.idle:
                break
            problem = ""
        except QueueUnusable as error:
            if intervals.idle is not None:
                raise
            if str(error) != problem:
                problem = str(error)
                logger.warning("%s; trying again until it answers", problem)
            stop.wait(_SECONDS_BETWEEN_TRIES)
        counting.maybe()
    counting.now()
    return told


def _next_most(most: int, entries: Sequence[QueueEntry]) -> int:
    size = sum(len(line) for one in entries for line in one.lines)
    if len(entries) >= most and size < _FEW:
        return min(most * 2, _MOST)
    return max(1, most // 2) if size > _MANY else most


def follow_into_queue(
    path: str,
    queue: Queue,
    log_format: str,
    stop: Stop,
    *,
    until_end: bool,
    lost: Callable[[], None],
) -> int:
    """Put the lines of a file into the queue as they come; return how many there were."""
    lines = 0
    start = FilePosition.of(queue.position(path))
    for some, position in tail(path, start, _waiting(stop), until_end=until_end, lost=lost):
        while queue.length() > _FULL and not stop.wait(_SECONDS_FULL):
            pass
        if stop.asked:
            break
        queue.add(some, log_format, path, position.as_json())
        lines += len(some)
    return lines


def follow_here(
    path: str, processor: LineProcessor, log_format: str, stop: Stop, intervals: Intervals, *,
    until_end: bool, lost: Callable[[], None],
) -> Counter[str]:  # fmt: skip
    """Work on the lines of a file as they come, without a queue; return how many of each kind."""
    told: Counter[str] = Counter()
    counting = _Counting(processor, intervals.count)

    def wait() -> bool:
        counting.maybe()
        return stop.wait(max(0.1, min(intervals.gather, 0.5)))

    start = FilePosition.of(processor.position(path))
    for some, position in tail(path, start, wait, until_end=until_end, lost=lost):
        entry = QueueEntry(f"{path}:{position.inode}:{position.offset}", tuple(some), log_format)
        told += processor.take([entry] if some else [], (path, position.as_json()))
        if some:
            counting.changed()
        counting.maybe()
        if stop.asked:
            break
    counting.now()
    return told


def _waiting(stop: Stop) -> Callable[[], bool]:
    return lambda: stop.wait(0.3)
