"""The progress of jobs as server-sent events, one for each change.

A stream holds a thread of the server and one of the places of `webui.http.streams`, so there
are few of them, and each ends after some seconds, or when its jobs are over; the browser then
opens another. A browser that gets none requests the page's JSON every few seconds.

Source: WHATWG HTML, section 9.2, "Server-sent events".
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from silowork.errors import JobsError
from silowork.ledger import JobLedger
from silowork.values import State
from webui.job_times import blocker
from webui.job_view import job_json

CLOSING = threading.Event()
"""Set when the server is about to stop; then streams end."""
MOST_STREAMS = 3
SECONDS_OF_A_STREAM = 20.0
FIRST_PAUSE, SECONDS_BETWEEN_LOOKS = 0.05, 0.4
"""Between two looks: short at first, because most jobs are, then twice as long each time."""
_RETRY = b"retry: 1000\n\n"
_streams = threading.BoundedSemaphore(MOST_STREAMS)


@dataclass(frozen=True, slots=True)
class Seen:
    """The state found in the ledger.

    Attributes:
        mark: Differs if something has changed.
        is_over: Whether nothing will change any more.
        told: The event's JSON values.
    """

    mark: object
    is_over: bool
    told: Mapping[str, Any]


Look = Callable[[], Seen]


def one_job(ledger: JobLedger, job_id: str) -> Look:
    """Read the state of one job."""

    def look() -> Seen:
        job = ledger.job(job_id)
        active = ledger.active() if job.state is State.QUEUED else []
        ahead = blocker(job, active)
        mark = (job.revision, ahead and ahead.job_id)
        return Seen(mark, job.is_over, job_json(job, active=active))

    return look


def active_jobs(ledger: JobLedger) -> Look:
    """Read the state of the jobs that wait or run."""

    def look() -> Seen:
        jobs = ledger.active()
        mark = [(job.job_id, job.revision) for job in jobs]
        return Seen(mark, not jobs, {"jobs": [job_json(job, active=jobs) for job in jobs]})

    return look


class JobEvents:
    """The body of a stream; the server closes it.

    Raises (when created):
        TooManyStreams: All streams are in use.
    """

    def __init__(
        self,
        look: Look,
        closing: threading.Event,
    ) -> None:
        if not _streams.acquire(blocking=False):
            raise TooManyStreams
        self._is_open = True
        self._pieces = _pieces(look, closing, time.monotonic)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._pieces)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the stream; may be called twice."""
        if self._is_open:
            self._is_open = False
            _streams.release()


class TooManyStreams(Exception):
    """All streams are in use."""


def _pieces(look: Look, closing: threading.Event, clock: Callable[[], float]) -> Iterator[bytes]:
    yield _RETRY
    end, mark, pause = clock() + SECONDS_OF_A_STREAM, object(), FIRST_PAUSE
    while clock() < end:
        try:
            seen = look()
        except JobsError:
            return
        if seen.mark != mark:
            mark = seen.mark
            yield b"data: " + json.dumps(seen.told).encode() + b"\n\n"
        else:
            yield b":\n\n"  # nothing new; a client that went away is noticed by writing
        if seen.is_over or closing.wait(pause):
            return
        pause = min(2 * pause, SECONDS_BETWEEN_LOOKS)
