"""The step of ``uris-to-index``: outcomes of Heritrix become lines of our logs and of our index.

Log, index, and last the acknowledgement with the documents that follow: after a kill, messages
come again. Their lines are then among the last ones of the logs, as only one process of a Silo
does this step, and are not written twice; a line of the index that is there twice is one.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import BinaryIO
from urllib.parse import urljoin

from crawlmatch.warcs import DAMAGED
from recordsilo.disk.atomic_file import append_lines
from recordsilo.disk.locks import Locks
from recordsilo.disk.regular_file import end_of
from silocrawl.cataloguing import documents_of
from silocrawl.cdxj import Segments, line_of
from silocrawl.crawl_log import CrawlOutcome
from silocrawl.errors import CrawlingError, MessageInvalid, TargetRefused
from silocrawl.heritrix.noted import Noted, noted, places_in
from silocrawl.heritrix.outcomes import Crawled, crawled_of, log_line, without_extra
from silocrawl.messages import INDEX, CrawlAddress
from silocrawl.paths import index_directory, log_file
from silocrawl.places import Places, note_places
from silocrawl.sharing import open_own_queues
from silocrawl.taking_in import LONGEST_URL, capture_at, outcome_of
from silocrawl.targets import load_target
from silowork.errors import JobsError
from silowork.queues.values import Message, MessageState, Queued, Queues
from silowork.stop import Stop, working

MOST_TOGETHER = 500
SECONDS_OF_PATIENCE, SECONDS_UNTIL_NEXT_LOOK = 60.0, 3.0
"""How long a record is waited for that the log tells of and the disk has not yet got."""
SECONDS_OF_MEMORY = 60 * 86_400.0
"""How long it is remembered which outcomes were told."""
_ALIVE = MessageState.WAITING, MessageState.LATER, MessageState.TAKEN
_LOCK, _SECONDS_BETWEEN_LOOKS, _SECONDS_AFTER_A_FAULT = "index", 1.0, 10.0
_MOST_READ = 16 << 20
"""Bytes at the end of a log that may have lines of killed processes, each of which had written at
most `MOST_TOGETHER` that it did not acknowledge. What they had comes first."""

logger = logging.getLogger("silocrawl")


class _Later(Exception):
    """A record that is not on the disk yet."""


@dataclass(frozen=True, slots=True)
class _Result:
    """What becomes of a message.

    Attributes:
        log: The line of the log.
        path: The log.
        index: The line of the index; empty if it gets none.
        documents: The messages that follow.
    """

    log: bytes
    path: str
    index: str
    documents: list[Message]


class Indexer:
    """Works on the queue; one process of a Silo does, in one thread.

    Args:
        queues: Those of this machine.
        now: Seconds since 1970.
    """

    def __init__(
        self, silo_path: str, queues: Queues, now: Callable[[], float] = time.time
    ) -> None:
        self._silo_path, self._queues, self._now = silo_path, queues, now
        self._segments = Segments(index_directory(silo_path), silo_path)
        self._places = Places.of_silo(silo_path)
        self._written: dict[str, set[bytes]] = {}
        while taken := queues.peek(INDEX, MessageState.TAKEN, MOST_TOGETHER):
            queues.give_back(taken, -SECONDS_OF_MEMORY)  # a killed process had them: they are first
        queues.forget(INDEX, now() - SECONDS_OF_MEMORY)

    def work_once(self) -> int:
        """Work on some messages; return how many were taken.

        Raises:
            CrawlingError, OSError: They come again.
        """
        taken = self._queues.take(INDEX, MOST_TOGETHER)
        done: list[tuple[Queued, _Result]] = []
        later: list[Queued] = []
        with ExitStack() as stack:
            work = _Batch(self._silo_path, self._queues, self._places, self._now(), stack)
            for message in taken:
                try:
                    done.append((message, work.result_of(crawled_of(message.body))))
                except MessageInvalid as error:
                    self._queues.failed([message], str(error), None)
                except _Later:
                    later.append(message)
        self._write_logs(one for _, one in done)
        self._segments.add(one.index for _, one in done if one.index)
        if done:
            documents = [message for _, one in done for message in one.documents]
            self._queues.done([message for message, _ in done], documents)
        if later:
            self._queues.give_back(later, SECONDS_UNTIL_NEXT_LOOK)
        return len(taken)

    def _write_logs(self, results: Iterator[_Result]) -> None:
        lines: dict[str, list[bytes]] = {}
        for one in results:
            if one.path not in self._written:
                self._written[one.path] = set(map(without_extra, _last_lines(one.path)))
            if without_extra(one.log) not in self._written[one.path]:
                lines.setdefault(one.path, []).append(one.log)
        for path, some in lines.items():
            append_lines(path, some, self._silo_path)


def _last_lines(path: str) -> list[bytes]:
    """The last lines of a log, at least those that a killed process may have written in vain."""
    try:
        return end_of(path, _MOST_READ).split(b"\n")
    except FileNotFoundError:
        return []


class _Batch:
    """Some messages, and the archives that are open for them."""

    def __init__(
        self, silo_path: str, queues: Queues, places: Places, now: float, stack: ExitStack
    ) -> None:
        self._silo_path, self._queues, self._places = silo_path, queues, places
        self._now, self._stack = now, stack
        self._jobs: dict[str, Noted] = {}
        self._files: dict[str, BinaryIO | None] = {}

    def result_of(self, one: Crawled) -> _Result:
        """Look what becomes of an outcome.

        Raises:
            _Later: Its record is not there yet.
        """
        if one.job not in self._jobs:
            self._jobs[one.job] = noted(self._queues, one.job)
        job = self._jobs[one.job]
        outcome, length = self._archived(one, job)
        index = ""
        if outcome is not None and len(one.url) <= LONGEST_URL:
            with suppress(ValueError):  # an address that no index can have
                index = line_of(outcome, length)
        launch = self._launch_of(one, job)
        log = log_line(one, outcome.redirect if outcome is not None else "")
        path = log_file(self._silo_path, launch or "heritrix")
        found = self._documents(one, outcome, job, launch) if outcome is not None else []
        return _Result(log.encode().removesuffix(b"\n"), path, index, found)

    def _archived(self, one: Crawled, job: Noted) -> tuple[CrawlOutcome | None, int]:
        """What the record of an outcome says, and its length; -1 if the file is elsewhere."""
        if not one.is_archived:
            return None, -1
        file = self._file(one, job)
        if file is None:
            self._have_patience(one)
            return _without_record(one), -1
        try:
            found = capture_at(file, one.offset)
            if found is None or found.url != one.url:
                raise ValueError(f"no record of {one.url} is there")
        except (*DAMAGED, OSError) as error:
            self._have_patience(one)
            logger.warning("%s, byte %d, is not indexed: %s", one.warc, one.offset, error)
            return None, -1
        redirect = ""
        with suppress(ValueError):
            redirect = urljoin(found.url, found.redirect)[:LONGEST_URL] if found.redirect else ""
        return outcome_of(found, one.warc, redirect), found.length

    def _have_patience(self, one: Crawled) -> None:
        told = datetime.strptime(f"{one.when[:19]}+0000", "%Y-%m-%dT%H:%M:%S%z").timestamp()
        if self._now - told < SECONDS_OF_PATIENCE:
            raise _Later

    def _file(self, one: Crawled, job: Noted) -> BinaryIO | None:
        """The archive of an outcome, or None if nobody knows where it is."""
        if one.warc not in self._files:
            self._files[one.warc] = self._opened(one.warc)
            places = places_in(job.directory, one.launch, one.warc) if job.directory else ()
            if self._files[one.warc] is None and places:
                note_places(self._silo_path, {one.warc: places})
                self._files[one.warc] = self._opened(one.warc)
        return self._files[one.warc]

    def _opened(self, name: str) -> BinaryIO | None:
        with suppress(FileNotFoundError):
            return self._stack.enter_context(self._places.open(name))
        return None

    def _launch_of(self, one: Crawled, job: Noted) -> str:
        name = job.target or one.job
        moment = f"{one.launch[:8]}T{one.launch[8:]}Z"
        return f"{name}/{moment}" if name and one.launch else name

    def _documents(
        self, one: Crawled, outcome: CrawlOutcome, job: Noted, launch: str
    ) -> list[Message]:
        """The message of a document of a watched target; those of records follow from matches."""
        if not job.target:
            return []
        try:
            target = load_target(self._silo_path, job.target)
        except TargetRefused:
            return []
        seed = one.seed or target.url
        launch = launch if "/" in launch else f"{job.target}/{one.timestamp[:8]}T000000Z"
        address = CrawlAddress(one.url, seed, launch, page=one.via)
        return documents_of(address, replace(outcome, size=max(one.size, 0), seed=seed), target)


def _without_record(one: Crawled) -> CrawlOutcome:
    """What the log alone says of an archived address."""
    return CrawlOutcome(
        one.timestamp, one.url, one.status, one.mimetype or "unknown", one.digest,
        warc_filename=one.warc, warc_offset=one.offset, annotations=one.annotations,
    )  # fmt: skip


# --------------------------------------------------------------------------- running


def index_all(silo_path: str, stop: Stop) -> int:
    """Index what is queued, unless another process does; return how many outcomes were done.

    Waits for records that are not on the disk yet.

    Raises:
        CrawlingError, OSError: The Silo cannot be written.
    """
    done = 0
    with Locks.of_silo(silo_path).hold_name_if_free(_LOCK) as is_mine:
        if is_mine:
            with open_own_queues(silo_path) as queues:
                indexer = Indexer(silo_path, queues)
                while not stop.asked and any(queues.peek(INDEX, one, 1) for one in _ALIVE):
                    if taken := indexer.work_once():
                        done += taken
                    else:
                        stop.wait(_SECONDS_BETWEEN_LOOKS)
    return done


def indexing(silo_path: str) -> AbstractContextManager[None]:
    """Index in a thread what comes while the block runs."""
    return working(partial(_index_until, silo_path), "indexer")


def _index_until(silo_path: str, stop: Stop) -> None:
    while not stop.asked:
        pause = _SECONDS_BETWEEN_LOOKS
        try:
            with (
                Locks.of_silo(silo_path).hold_name_if_free(_LOCK) as is_mine,
                open_own_queues(silo_path) as queues,
            ):
                indexer = Indexer(silo_path, queues) if is_mine else None
                while indexer is not None and not stop.asked:
                    if not indexer.work_once():
                        stop.wait(_SECONDS_BETWEEN_LOOKS)
        except (CrawlingError, JobsError, OSError) as error:
            logger.warning("outcomes of Heritrix are not indexed: %s", error)
            pause = _SECONDS_AFTER_A_FAULT
        stop.wait(pause)
