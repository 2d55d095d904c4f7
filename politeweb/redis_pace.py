"""The pace of a host, shared by several machines through a Redis.

One call of a script reserves a turn, by the clock of the Redis. While the Redis cannot be
reached, a process goes at the pace of one of all nodes, so that together they are not faster.
"""

import threading
import time
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from politeweb.errors import RequestRefused
from politeweb.pace import LONGEST_PAUSE, MOST_WAITING, Pace

KEY = "pace:"
"""The key of a host begins with this."""
SECONDS_TO_ANSWER = 10.0


class PaceUnknown(Exception):
    """The Redis that gives the turns of a host cannot be reached."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the Redis that gives hosts their turns cannot be reached: {reason}")


class RedisPace:
    """The pace of a host; threads may share it.

    Args:
        url: Of the Redis.
        interval: Least seconds between the starts of two requests.
        nodes: How many machines share the host, for when the Redis cannot be reached.
        turns: How many turns may be given ahead; after so many intervals, all of them are over.
        decides: Whether the interval is noted in the Redis. One that does not decide goes no
            faster than the one that does.
        is_bound: Whether to give no turn while the Redis cannot be reached.
        sleep: Used while the Redis cannot be reached.

    Raises:
        RequestRefused: The URL is wrong, or the package redis is not installed.
    """

    def __init__(
        self,
        url: str,
        host: str,
        interval: float,
        *,
        nodes: int = 1,
        turns: int = 1,
        decides: bool = True,
        is_bound: bool = False,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._errors, self._script = _script_at(url)
        self._key, self.interval = f"{KEY}{host}", interval
        self._turns, self._decides = turns, decides
        self._is_bound, self._sleep = is_bound, sleep
        self._alone = Pace(interval * max(nodes, turns))
        self._lock = threading.Lock()
        self._is_ahead = False  # a request was sent of which the Redis does not know

    def reserve(self) -> float:
        """Reserve the next turn; return the seconds until then.

        Raises:
            PaceUnknown: The Redis cannot be reached, and gives the only turns.
        """
        try:
            return self._reserve()
        except PaceUnknown:
            if self._is_bound:
                raise
        with self._lock:  # one thread after the other: alone, no turn is given ahead
            wait = max(self._alone.reserve(), self._turns * self.interval)
            self._sleep(wait)
            try:
                return self._reserve()
            except PaceUnknown:
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
        except PaceUnknown:
            return

    def _ask(self, what: str, seconds: float) -> float:
        longest, decides = int(LONGEST_PAUSE * 1000), int(self._decides)
        given = [what, int(seconds * 1000), self._turns, longest, MOST_WAITING, decides]
        try:
            return int(self._script(keys=[self._key], args=given)) / 1000
        except self._errors as error:
            raise PaceUnknown(str(error) or type(error).__name__) from None


@lru_cache(8)  # hosts share the connections
def _script_at(url: str) -> tuple[tuple[type[Exception], ...], Any]:
    """Return the errors of the Redis at a URL, and the script; connects to nothing yet."""
    try:
        redis = import_module("redis")
        client = redis.Redis.from_url(
            url, socket_timeout=SECONDS_TO_ANSWER, socket_connect_timeout=SECONDS_TO_ANSWER
        )
    except ImportError:
        raise RequestRefused("turns from a Redis need the package redis") from None
    except ValueError as error:
        raise RequestRefused(f"the address of the Redis is wrong: {error}") from None
    script = (Path(__file__).parent / "pace.lua").read_text(encoding="utf-8")
    return (redis.RedisError, OSError), client.register_script(script)
