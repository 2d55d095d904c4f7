"""What became of the links of the targets: our own logs, matched as those of others are."""

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from functools import partial

from crawlmatch.crawls import match_into_silo
from crawlmatch.kept import Crawl
from crawlmatch.matching import MatchRequest
from crawlmatch.outcomes import OWN
from crawlmatch.record_links import links_of_records
from recordsilo import Silo
from recordsilo.disk.regular_file import open_regular
from recordsilo.errors import RecordSiloError
from silocrawl.addresses import without_login
from silocrawl.errors import CrawlingError
from silocrawl.paths import log_files
from silocrawl.targets import CrawlTarget, load_targets
from silosteps.errors import StepsError
from silowork.errors import JobsError
from silowork.stop import Stop, working

SECONDS_BETWEEN_LOOKS, SECONDS_OF_QUIET, SECONDS_BETWEEN_MATCHES = 5.0, 60.0, 3_600.0

logger = logging.getLogger("silocrawl")


def match_own_logs(silo: Silo) -> Crawl | None:
    """Match the logs of all launches with the seeds of all targets.

    Every seed has one outcome; the counts add up to the number of seeds. The seeds of a target that
    cannot be read are not among them.

    Returns:
        None if nothing was fetched.

    Raises:
        CrawlingError, RecordSiloError: The logs cannot be read.
    """
    logs = log_files(silo.path)
    if not logs:
        return None
    for one in logs:
        try:
            open_regular(one).close()  # a pipe would be waited for
        except OSError as error:
            raise CrawlingError(f"the crawl log {one} cannot be read: {error.strerror}") from None
    targets, _ = load_targets(silo.path)
    request = MatchRequest(inputs=logs, seed_rows=tuple(dict.fromkeys(_seeds(silo, targets))))
    kept, _ = match_into_silo(silo.path, OWN, request)
    return kept


def matching(silo_path: str, told: Callable[[Crawl], object]) -> AbstractContextManager[None]:
    """Match the logs in a thread while the block runs: when they rest, and each hour in between.

    A match that has begun is waited for.

    Args:
        told: Called in the thread with each crawl that was matched.
    """
    return working(partial(_match_until, silo_path, told))


def _match_until(silo_path: str, told: Callable[[Crawl], object], stop: Stop) -> None:
    matched = seen = -1
    changed = began = time.monotonic()
    while not stop.wait(SECONDS_BETWEEN_LOOKS):
        size, now = _size_of_logs(silo_path), time.monotonic()
        if size == matched:
            began = now
            continue
        if size != seen:
            seen, changed = size, now
        if now - changed >= SECONDS_OF_QUIET or now - began >= SECONDS_BETWEEN_MATCHES:
            matched, began = size, now
            _match(silo_path, told)


def _size_of_logs(silo_path: str) -> int:
    size = 0
    for path in log_files(silo_path):
        with suppress(FileNotFoundError):
            size += os.path.getsize(path)
    return size


def _match(silo_path: str, told: Callable[[Crawl], object]) -> None:
    try:
        with Silo(silo_path, create=False) as silo:
            if (kept := match_own_logs(silo)) is not None:
                told(kept)
    except (CrawlingError, RecordSiloError, StepsError, JobsError, OSError) as error:
        logger.warning("the outcomes of the crawl are not brought up to date: %s", error)


def _seeds(silo: Silo, targets: list[CrawlTarget]) -> Iterator[tuple[str, str]]:
    for target in targets:
        if target.url:
            yield without_login(target.url), ""
        else:
            for link in links_of_records(silo, target.select):
                yield without_login(link.url), link.identifier
