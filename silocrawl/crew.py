"""The threads that fetch: those that a slow host holds have others in their place.

A host may send a gigabyte in an hour. Were the number of threads fixed, as many such hosts would
stop a crawl.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS_UNTIL_SLOW = 10.0
"""After which a thread that fetches an address has another in its place."""
MOST_TIMES = 4
"""As many times the wished number of threads there are at most."""


class Crew:
    """Threads that do the same work until it ends.

    Args:
        work: What a thread does. It calls `busy` for what may take long, and returns when there
            is no more to do, or when `has_surplus`.
        size: How many threads are to be there that nothing slow holds.
        now: Seconds, of a clock that never goes back.
    """

    def __init__(
        self, work: Callable[[], object], size: int, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._work, self._size, self._now = work, size, now
        self._lock = threading.Lock()
        self._threads: set[threading.Thread] = set()
        self._since: dict[threading.Thread, float] = {}
        self._number = 0

    @property
    def is_empty(self) -> bool:
        """Whether all threads have ended."""
        with self._lock:
            return not self._threads

    def fill(self) -> None:
        """Start the threads that are lacking."""
        with self._lock:
            while self._lacking() > 0 and len(self._threads) < MOST_TIMES * self._size:
                name = f"fetcher-{self._number}"
                self._number += 1
                one = threading.Thread(target=self._run, name=name, daemon=True)
                self._threads.add(one)
                one.start()

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Note that the thread may be held from now on, until the block ends."""
        mine = threading.current_thread()
        self._since[mine] = self._now()
        try:
            yield
        finally:
            del self._since[mine]

    def has_surplus(self) -> bool:
        """Whether there are more threads than needed; the caller should end then."""
        with self._lock:
            if self._lacking() >= 0:
                return False
            self._threads.discard(threading.current_thread())
            return True

    def _lacking(self) -> int:
        late = self._now() - SECONDS_UNTIL_SLOW
        slow = sum(since <= late for since in list(self._since.values()))
        return self._size + slow - len(self._threads)

    def _run(self) -> None:
        try:
            self._work()
        finally:
            with self._lock:
                self._threads.discard(threading.current_thread())
