"""When the next request may go to a host: one pace for every thread that asks it.

A server that asks one connection to wait means the client, not the connection.
"""

import threading
import time
from collections.abc import Callable


class Pace:
    """A least interval between requests, and holds that a server asked for.

    Shared by transports and threads.

    Args:
        interval: Least seconds between the starts of two requests.
        monotonic: A clock in seconds that never goes back.
    """

    def __init__(
        self, interval: float = 0.0, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.interval = interval
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._next = float("-inf")
        self._held_until = float("-inf")

    def reserve(self) -> float:
        """Book the next turn; return the seconds until then, which the caller sleeps."""
        with self._lock:
            now = self._monotonic()
            due = max(now, self._next, self._held_until)
            self._next = due + self.interval
            return due - now

    def hold(self, seconds: float) -> None:
        """Give nobody a turn for so many seconds; turns booked before, and a longer hold, stay."""
        with self._lock:
            self._held_until = max(self._held_until, self._monotonic() + seconds)
