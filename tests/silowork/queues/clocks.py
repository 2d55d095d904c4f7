"""A clock for queues in a file, which a test sets."""

from types import SimpleNamespace


class Clock:
    """The clock of the queues; a wait lets the time pass at once."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    @property
    def module(self) -> SimpleNamespace:
        return SimpleNamespace(time=self.time, monotonic=self.time, sleep=self.sleep)
