"""Which of the addresses that are held here is fetched next (pure but for the turns of hosts).

One address of a host is fetched at a time. The host's next turn is reserved when the one before
has ended, so a thread that is given an address may send its request at once. A turn that no
thread was free to use is over: others that share the host have theirs.
"""

import heapq
from collections import defaultdict, deque
from collections.abc import Callable
from typing import NamedTuple

from politeweb.addresses import host_of
from politeweb.pace import Turns
from silocrawl.messages import Address
from silowork.queues.values import Queued

LATEST, SECONDS_LATE = 0.25, 0.25
"""The part of an interval, and the least seconds, after which a turn is over."""


class Held(NamedTuple):
    """A message that was taken, and what it says."""

    message: Queued
    address: Address

    @property
    def host(self) -> str:
        """Whose turn it needs."""
        return host_of(self.address.url)


class Frontier:
    """The addresses that are held; one thread at a time uses it.

    Args:
        turns: Host → what gives its turns.
        now: Seconds, of a clock that never goes back.
    """

    def __init__(self, turns: Callable[[Held], Turns], now: Callable[[], float]) -> None:
        self._turns, self._now = turns, now
        self._waiting: dict[str, deque[Held]] = defaultdict(deque)
        self._ready: list[tuple[float, str]] = []
        self._known: dict[str, Held] = {}
        self._busy: set[str] = set()
        self._late: set[str] = set()  # they missed a turn; none is given up twice in a row

    def __len__(self) -> int:
        return len(self._known)

    @property
    def messages(self) -> list[Queued]:
        """All that are held, those being fetched among them."""
        return [one.message for one in self._known.values()]

    @property
    def hosts(self) -> set[str]:
        """Of all that are held."""
        return {one.host for one in self._known.values()}

    def add(self, one: Held) -> None:
        """Hold a message."""
        host = one.host
        self._known[one.message.number] = one
        is_idle = not self._waiting[host] and host not in self._busy
        self._waiting[host].append(one)
        if is_idle:
            self._reserve(host)

    def next(self) -> Held | float:
        """Return the next address to be fetched, or the seconds until there may be one."""
        while self._ready:
            now = self._now()
            moment, host = self._ready[0]
            if moment > now:
                return min(moment - now, 1.0)
            heapq.heappop(self._ready)
            turns = self._turns(self._waiting[host][0])
            late = max(turns.interval * LATEST, SECONDS_LATE)
            if now - moment > late and host not in self._late and (wait := turns.reserve()) > 0:
                self._late.add(host)
                heapq.heappush(self._ready, (now + wait, host))
                continue
            self._late.discard(host)
            self._busy.add(host)
            return self._waiting[host].popleft()
        return 1.0

    def ended(self, one: Held, *, is_asked: bool = True) -> None:
        """Note that an address is no longer being fetched; it is held until it is released.

        Args:
            one: The address.
            is_asked: Whether its host was; if not, the turn is left to its next address.
        """
        host = one.host
        self._busy.discard(host)
        if self._waiting[host] and is_asked:
            self._reserve(host)
        elif self._waiting[host]:
            heapq.heappush(self._ready, (self._now(), host))
        else:
            del self._waiting[host]

    def release(self, one: Held) -> None:
        """Forget a message that was acknowledged."""
        self._known.pop(one.message.number, None)

    def surplus(self, most: int) -> dict[str, list[Held]]:
        """Remove what a host has beyond some addresses; return it by host."""
        found: dict[str, list[Held]] = {}
        for host, waiting in self._waiting.items():
            while len(waiting) > most:
                one = waiting.pop()
                self.release(one)
                found.setdefault(host, []).append(one)
        return found

    def _reserve(self, host: str) -> None:
        wait = self._turns(self._waiting[host][0]).reserve()
        heapq.heappush(self._ready, (self._now() + wait, host))
