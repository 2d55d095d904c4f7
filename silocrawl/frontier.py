"""Which of the addresses that are held here is fetched next (pure but for the turns of hosts).

One address of a host is fetched at a time. The host's next turn is reserved when the one before
has ended, so a thread that is given an address may send its request at once. A turn that no
thread was free to use is over: others that share the host have theirs.
"""

import heapq
from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

from politeweb.addresses import host_of
from politeweb.pace import Turns
from recordsilo.batches import batched
from silocrawl.messages import CrawlAddress
from silowork.queues.values import Queued

LATEST, SECONDS_LATE = 0.25, 0.25
"""The part of an interval, and the least seconds, after which a turn is over."""
QUICKEST, LONGEST_AWAY = 0.001, 600.0
"""Seconds of an address where nothing is known of its host; and for which one is given back."""
LEAST_KNOWN = 100
"""Addresses of a host after which it is known how long one takes."""


class HeldMessage(NamedTuple):
    """A message that was taken.

    Attributes:
        address: What it says.
        host: Whose turn it needs.
    """

    message: Queued
    address: CrawlAddress
    host: str

    @classmethod
    def of(cls, message: Queued, address: CrawlAddress) -> "HeldMessage":
        """A message, and what it says."""
        return cls(message, address, host_of(address.url))


class _HostQueue:
    """The addresses of a host that wait, and how quickly they are fetched.

    Attributes:
        since, ended: From when on addresses have waited, and how many were fetched since.
        away_until: When the last of those that were given back comes again.
    """

    __slots__ = ("away_until", "ended", "since", "waiting")

    def __init__(self, now: float) -> None:
        self.waiting: deque[HeldMessage] = deque()
        self.since, self.ended, self.away_until = now, 0, now

    def seconds_each(self, interval: float, now: float) -> float:
        """Seconds of an address; of the first ones nothing follows, as they are slow to begin."""
        is_known = self.ended >= LEAST_KNOWN
        return interval or ((now - self.since) / self.ended if is_known else QUICKEST)


class Frontier:
    """The addresses that are held; one thread at a time uses it.

    Args:
        turns: Host → what gives its turns.
        now: Seconds, of a clock that never goes back.
    """

    def __init__(self, turns: Callable[[HeldMessage], Turns], now: Callable[[], float]) -> None:
        self._turns, self._now = turns, now
        self._lines: dict[str, _HostQueue] = {}
        self._ready: list[tuple[float, str]] = []
        self._known: dict[str, HeldMessage] = {}
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

    @property
    def has_more(self) -> bool:
        """Whether a turn of a host is reserved that nobody has used yet."""
        return bool(self._ready)

    def add(self, one: HeldMessage) -> None:
        """Hold a message."""
        self._known[one.message.number] = one
        line = self._lines.get(one.host)
        if line is None:
            line = self._lines[one.host] = _HostQueue(self._now())
        line.waiting.append(one)
        if len(line.waiting) == 1 and one.host not in self._busy:
            self._reserve(one.host)

    def next(self) -> HeldMessage | float:
        """Return the next address to be fetched, or the seconds until there may be one."""
        while self._ready:
            now = self._now()
            moment, host = self._ready[0]
            if moment > now:
                return min(moment - now, 1.0)
            heapq.heappop(self._ready)
            waiting = self._lines[host].waiting
            turns = self._turns(waiting[0])
            late = max(turns.interval * LATEST, SECONDS_LATE)
            if now - moment > late and host not in self._late and (wait := turns.reserve()) > 0:
                self._late.add(host)
                heapq.heappush(self._ready, (now + wait, host))
                continue
            self._late.discard(host)
            self._busy.add(host)
            return waiting.popleft()
        return 1.0

    def ended(self, one: HeldMessage, *, is_asked: bool = True) -> None:
        """Note that an address is no longer being fetched; it is held until it is released.

        Args:
            one: The address.
            is_asked: Whether its host was; if not, the turn is left to its next address.
        """
        line = self._lines[one.host]
        line.ended += 1
        self._busy.discard(one.host)
        if line.waiting and is_asked:
            self._reserve(one.host)
        elif line.waiting:
            heapq.heappush(self._ready, (self._now(), one.host))
        else:
            del self._lines[one.host]

    def release(self, one: HeldMessage) -> None:
        """Forget a message that was acknowledged."""
        self._known.pop(one.message.number, None)

    def surplus(self, most: int) -> list[tuple[float, list[HeldMessage]]]:
        """Remove what hosts have beyond some addresses each.

        Returns:
            Addresses of a host each, and the seconds after which it will need them.
        """
        return [
            part
            for line in self._lines.values()
            if len(line.waiting) > most
            for part in self._parted(line, most)
        ]

    def _parted(self, line: _HostQueue, most: int) -> Iterator[tuple[float, list[HeldMessage]]]:
        now, some = self._now(), max(1, most // 2)
        each = line.seconds_each(self._turns(line.waiting[0]).interval, now)
        begin = max(now + some * each, line.away_until)
        rest = [line.waiting.pop() for _ in range(len(line.waiting) - most)][::-1]
        for part in batched(rest, some):
            for one in part:
                self.release(one)
            yield min(begin - now, LONGEST_AWAY), part
            begin += len(part) * each
        line.away_until = min(begin, now + LONGEST_AWAY)

    def _reserve(self, host: str) -> None:
        wait = self._turns(self._lines[host].waiting[0]).reserve()
        heapq.heappush(self._ready, (self._now() + wait, host))
