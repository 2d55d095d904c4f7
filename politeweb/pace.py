"""The turns of the requests to a host: what gives them, and those of one process.

A request to wait applies to the client, not to a single connection. `politeweb.shared_pace`
has the turns that processes and machines share.
"""

import threading
import time
from collections.abc import Callable
from typing import Protocol
from urllib.parse import urlsplit

LONGEST_PAUSE = 86_400.0
"""Seconds for which a host is paused at most, where turns are shared by a clock."""
MOST_WAITING = 64
"""Nobody waits for more shared turns of a host than this, even if the clock was set back."""


class Turns(Protocol):
    """Gives the requests to a host their turns; threads may share it."""

    @property
    def interval(self) -> float:
        """Least seconds between the starts of two requests."""

    def reserve(self) -> float:
        """Reserve the next turn; return the seconds until then, for which the caller must sleep."""

    def hold(self, seconds: float) -> None:
        """Give no turns for some seconds; existing reservations and longer pauses stay."""


class Pace:
    """A minimum interval between requests, and pauses that a server requested.

    Transports and threads may share it.

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
        """Reserve the next turn; return the seconds until then, for which the caller must sleep."""
        with self._lock:
            now = self._monotonic()
            due = max(now, self._next, self._held_until)
            self._next = due + self.interval
            return due - now

    def hold(self, seconds: float) -> None:
        """Give no turns for some seconds; existing reservations and longer pauses stay."""
        with self._lock:
            self._held_until = max(self._held_until, self._monotonic() + seconds)


OpenTurns = Callable[[str, float], Turns]
"""(URL, least seconds between two requests) → what gives its host's requests their turns."""


def own_turns() -> OpenTurns:
    """Return an `OpenTurns` that is not shared: a `Pace` for each host."""
    paces: dict[str, Pace] = {}

    def turns(url: str, interval: float) -> Turns:
        pace = paces.setdefault(urlsplit(url).netloc, Pace())
        pace.interval = interval
        return pace

    return turns
