"""Our own crawl as a job: whether it runs, how fast, what waits, and the end of its log."""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from recordsilo.disk.regular_file import end_of
from silocrawl.messages import CRAWL, gist_of
from silocrawl.moments import logged
from silocrawl.packages.own_checkpoints import checkpoint_names
from silocrawl.paths import log_files
from silocrawl.sharing import broker_of, is_fetched
from silowork.queues.values import Queues, QueueSize

MOST_PEEKED, MOST_HOSTS, TAIL = 2_000, 20, 20
"""Addresses that wait next, of which hosts are told; hosts; lines of the log."""
_RATE_OVER = timedelta(minutes=5)
_END_OF_LOG = 256 << 10
_MOST_LOGS = 8


@dataclass(frozen=True, slots=True)
class OwnJob:
    """Our own crawl at one moment.

    Attributes:
        is_running: Whether a process fetches for this Silo; None if its queues are shared, so
            that processes elsewhere may.
        rate: Addresses a second with an outcome, over the last minutes; 0 if it does not run.
        sizes: The sizes of its queues.
        hosts: Hosts of the addresses that wait next, with their number, the most first.
        tail: The last lines of the newest log, the newest first.
        log: The name of that log; empty for none.
        checkpoint: The name of the newest checkpoint; empty for none.
    """

    is_running: bool | None
    rate: float
    sizes: Mapping[str, QueueSize]
    hosts: tuple[tuple[str, int], ...]
    tail: tuple[str, ...]
    log: str
    checkpoint: str

    @property
    def state(self) -> str:
        """In a word."""
        return {None: "shared", True: "running", False: "idle"}[self.is_running]


def own_job(silo_path: str, queues: Queues | None, now: datetime) -> OwnJob:
    """Look at our own crawl.

    Args:
        queues: Its queues; None if nothing was launched.

    Cost: reads at most 256 KiB of each of the newest logs, and 2,000 messages.
    """
    ends = [(path, _end_of(path)) for path in _newest_logs(silo_path)]
    peeked = queues.peek(CRAWL, most=MOST_PEEKED) if queues is not None else []
    hosts = Counter(urlsplit(gist_of(one.body).url).netloc for one in peeked)
    newest, lines = ends[0] if ends else ("", [])
    is_running = None if broker_of(silo_path) else is_fetched(silo_path)
    recent = sum(_is_recent(line, now) for _path, some in ends for line in some)
    names = checkpoint_names(silo_path)
    return OwnJob(
        is_running,
        recent / _RATE_OVER.total_seconds() if is_running is not False else 0.0,
        queues.sizes() if queues is not None else {},
        tuple(hosts.most_common(MOST_HOSTS)),
        tuple(reversed(lines[-TAIL:])),
        os.path.basename(newest),
        names[-1] if names else "",
    )


def _newest_logs(silo_path: str) -> list[str]:
    logs = [one for one in log_files(silo_path) if not os.path.islink(one) and os.path.isfile(one)]
    return sorted(logs, key=lambda one: (os.path.getmtime(one), one), reverse=True)[:_MOST_LOGS]


def _end_of(path: str) -> list[str]:
    """The last whole lines of a log."""
    content = end_of(path, _END_OF_LOG)
    lines = content.decode("utf-8", "replace").split("\n")[:-1]
    return lines[1:] if len(content) == _END_OF_LOG else lines


def _is_recent(line: str, now: datetime) -> bool:
    at = logged(line)
    return at is not None and abs(now - at) <= _RATE_OVER
