"""A job's progress as server-sent events: one each time it changed, until it is over.

A stream holds a thread of the server, so there are few of them, and each ends after some
seconds; a browser then asks again by itself. Who gets none asks for the page's JSON.

Source: WHATWG HTML, section 9.2, "Server-sent events".
"""

import json
import threading
import time
from collections.abc import Callable, Iterator

from silowork.errors import JobsError
from silowork.ledger import JobLedger

CLOSING = threading.Event()
"""Set when the server is about to end: streams end too."""
MOST_STREAMS = 3
SECONDS_OF_A_STREAM = 20.0
SECONDS_BETWEEN_LOOKS = 0.4
_RETRY = b"retry: 1000\n\n"
_streams = threading.BoundedSemaphore(MOST_STREAMS)


class JobEvents:
    """The body of a stream; whoever sends it closes it.

    Raises (on making):
        TooManyStreams: Others have them all.
    """

    def __init__(
        self,
        ledger: JobLedger,
        job_id: str,
        closing: threading.Event,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not _streams.acquire(blocking=False):
            raise TooManyStreams
        self._is_open = True
        self._pieces = _pieces(ledger, job_id, closing, clock)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._pieces)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let another have the stream; harmless when done twice."""
        if self._is_open:
            self._is_open = False
            _streams.release()


class TooManyStreams(Exception):
    """All streams are taken."""


def _pieces(
    ledger: JobLedger, job_id: str, closing: threading.Event, clock: Callable[[], float]
) -> Iterator[bytes]:
    yield _RETRY
    end, seen = clock() + SECONDS_OF_A_STREAM, -1
    while clock() < end:
        try:
            job = ledger.job(job_id)
        except JobsError:
            return
        if job.revision != seen:
            seen = job.revision
            yield b"data: " + json.dumps(job.to_json()).encode() + b"\n\n"
        else:
            yield b":\n\n"  # nothing new; a client that went away is noticed by writing
        if job.is_over or closing.wait(SECONDS_BETWEEN_LOOKS):
            return
