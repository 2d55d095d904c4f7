"""The pace of a host, shared by the nodes of a fleet through a Redis.

One call of a script reserves a turn, by the clock of the Redis. While the Redis cannot be
reached, a node goes at the pace of one of all nodes, so that together they are not faster.
"""

from pathlib import Path

from politeweb.pace import Pace, Turns
from silofleet.errors import BrokerUnreachable
from silofleet.hosts import LONGEST_PAUSE, FilePace, PaceSpec
from silofleet.redis_client import redis_at, unreachable

_SCRIPT = (Path(__file__).parent / "pace.lua").read_text(encoding="utf-8")


def pace_of(spec: PaceSpec) -> Turns:
    """Return the pace of a host: of this run alone, of this machine, or of all nodes."""
    if not spec.interval or not spec.place:
        return Pace(spec.interval)
    if "://" in spec.place:
        return RedisPace(spec.place, spec.host, spec.interval, spec.nodes)
    return FilePace(spec.place, spec.host, spec.interval)


class RedisPace:
    """The pace of a host.

    Args:
        url: Of the Redis.
        host: The host.
        interval: Least seconds between the starts of two requests.
        nodes: How many nodes share the host.
    """

    def __init__(self, url: str, host: str, interval: float, nodes: int) -> None:
        self._redis = redis_at(url)
        self._script = self._redis.register_script(_SCRIPT)
        self._key, self.interval = f"fleet:host:{host}", interval
        self._alone = Pace(interval * nodes)

    def reserve(self) -> float:
        """Reserve the next turn; return the seconds until then."""
        try:
            wait = self._ask("reserve", self.interval)
        except BrokerUnreachable:
            return max(self._alone.reserve(), self.interval)
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
        return int(self._script(keys=[self._key], args=[what, int(seconds * 1000)])) / 1000
