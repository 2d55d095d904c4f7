"""The pace of a host, shared by the nodes of a fleet through a Redis.

One call of a script reserves a turn, by the clock of the Redis. While the Redis cannot be
reached, a node goes at the pace of one of all nodes, so that together they are not faster.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from politeweb.pace import Pace, Turns
from politeweb.shared_pace import LONGEST_PAUSE, MOST_WAITING, FilePace
from silofleet.errors import BrokerUnreachable
from silofleet.hosts import PaceSpec
from silofleet.redis_client import redis_at, unreachable

_SCRIPT = (Path(__file__).parent / "pace.lua").read_text(encoding="utf-8")


def pace_of(spec: PaceSpec) -> Turns:
    """Return the pace of a host: of this run alone, of this machine, or of all nodes."""
    if not spec.interval or not spec.place:
        return Pace(spec.interval)
    if "://" in spec.place:
        return RedisPace(spec)
    return FilePace(spec.place, spec.host, spec.interval)


class RedisPace:
    """The pace of a host; threads may share it.

    Args:
        spec: Its place is the URL of a Redis.
        is_bound: Whether to give no turn while the Redis cannot be reached.
        sleep: Used while the Redis cannot be reached.
    """

    def __init__(
        self,
        spec: PaceSpec,
        *,
        is_bound: bool = False,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._redis = redis_at(spec.place)
        self._script = self._redis.register_script(_SCRIPT)
        self._key, self.interval = f"fleet:host:{spec.host}", spec.interval
        self._turns, self._is_bound, self._sleep = spec.turns, is_bound, sleep
        self._alone = Pace(spec.interval * max(spec.nodes, spec.turns))
        self._lock = threading.Lock()
        self._is_ahead = False  # a request was sent of which the Redis does not know

    def reserve(self) -> float:
        """Reserve the next turn; return the seconds until then.

        Raises:
            BrokerUnreachable: The Redis cannot be reached, and gives the only turns.
        """
        try:
            return self._reserve()
        except BrokerUnreachable:
            if self._is_bound:
                raise
        with self._lock:  # one thread after the other: alone, no turn is given ahead
            wait = max(self._alone.reserve(), self._turns * self.interval)
            self._sleep(wait)
            try:
                return self._reserve()
            except BrokerUnreachable:
                self._is_ahead = True
                return 0.0

    def _reserve(self) -> float:
        if self._is_ahead:
            self._ask("hold", self.interval)
            self._is_ahead = False
        wait = self._ask("reserve", self.interval)
        self._alone.hold(wait + self._alone.interval)
        return wait

    def hold(self, seconds: float) -> None:
        """Give no turns for some seconds; longer pauses stay."""
        self._alone.hold(seconds)
        try:
            self._ask("hold", min(seconds, LONGEST_PAUSE))
        except BrokerUnreachable:
            return

    @unreachable
    def _ask(self, what: str, seconds: float) -> float:
        longest = int(LONGEST_PAUSE * 1000)
        given = [what, int(seconds * 1000), self._turns, longest, MOST_WAITING]
        return int(self._script(keys=[self._key], args=given)) / 1000
