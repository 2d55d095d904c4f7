"""How many requests a client may make: each gets turns at a rate, and some at once.

A client that asks one request after the other is not slowed down by this as long as it stays below
the rate; one that asks too much is told when to come again (OAI-PMH 2.0, section 3.1.2.2).
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

MOST_CLIENTS = 10_000
"""Clients that are remembered; of more, those that asked longest ago begin anew."""


class ClientLimit:
    """Counts the requests of each client. Any thread may use it.

    Args:
        per_minute: How many requests a client may make in a minute, and so many at once after a
            minute of silence; 0 for any number.
        clock: Seconds, rising.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute, self._clock = per_minute, clock
        self._known: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def seconds_to_wait(self, client: str) -> int:
        """Count a request.

        Returns:
            0 if it may be answered; else after how many seconds the next one may. A request that
            is not answered costs nothing, so that who waits that long is answered.
        """
        if not self._per_minute or not client:
            return 0
        rate = self._per_minute / 60
        with self._lock:
            now = self._clock()
            left, at = self._known.pop(client, (float(self._per_minute), now))
            left = min(float(self._per_minute), left + (now - at) * rate)
            wait = 0 if left >= 1 else math.ceil((1 - left) / rate)
            self._known[client] = (left if wait else left - 1, now)
            while len(self._known) > MOST_CLIENTS:
                self._known.popitem(last=False)
        return wait


def client_of(remote_addr: str, forwarded_for: str, *, is_trusted: bool) -> str:
    """Who asks.

    Args:
        remote_addr: The address of the connection.
        forwarded_for: The header ``X-Forwarded-For``; a web server appends the address it saw.
        is_trusted: Whether the header is believed: it comes from a web server of one's own.

    Returns:
        Empty for a program on this machine, which is not limited.
    """
    if is_trusted:
        return forwarded_for.rpartition(",")[2].strip()
    return remote_addr
