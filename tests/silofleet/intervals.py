"""Whether a host was asked too soon, on a machine that may be busy."""

import time
from threading import Event, Thread
from typing import Self


class Delays(Thread):
    """Measures for how many seconds the machine, if it is busy, lets a thread wait."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.longest, self._is_over = 0.0, Event()

    def run(self) -> None:
        begin = time.monotonic()
        while not self._is_over.wait(0.01):
            end = time.monotonic()
            self.longest, begin = max(self.longest, end - begin - 0.01), end

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._is_over.set()
        self.join()


def check_interval(host: str, asked: list[float], interval: float, delays: Delays) -> None:
    """Check that no number of requests came sooner than their intervals allow.

    Args:
        host: For the message.
        asked: Moments of its requests.
        interval: Of the host, in seconds.
        delays: Of the time of the requests: one may be delayed more than a later one.
    """
    latest, delay = float("-inf"), 0.05 + 2 * delays.longest
    for number, moment in enumerate(asked):
        turn = moment - number * interval
        assert turn > latest - delay, (host, number, turn - latest)
        latest = max(latest, turn)
