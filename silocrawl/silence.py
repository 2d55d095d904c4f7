"""What a crawl waits for, told if nothing was fetched for a while."""

import time
from collections.abc import Callable, Iterable

SECONDS = 10.0
"""Without anything fetched, before it is told."""
_MOST_HOSTS = 3


class Silence:
    """Tells the hosts that a crawl waits for, each time that they are others.

    Args:
        tell: Gets a sentence's beginning, such as ``waiting for a.example``.
        now: Seconds, of a clock that never goes back.
    """

    def __init__(
        self, tell: Callable[[str], object], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._tell, self._now = tell, now
        self._fetched, self._since, self._said = 0, now(), ""

    def look(self, fetched: int, hosts: Callable[[], Iterable[str]]) -> None:
        """Tell what is waited for, if it is time.

        Args:
            fetched: Addresses that were fetched so far.
            hosts: Called then: those that are waited for.
        """
        now = self._now()
        if fetched != self._fetched:
            self._fetched, self._since = fetched, now
        elif now - self._since >= SECONDS:
            self._since = now
            said = waiting_said(hosts())
            if said and said != self._said:
                self._said = said
                self._tell(said)


def waiting_said(hosts: Iterable[str]) -> str:
    """Name hosts that are waited for, the first of many; empty for none."""
    names = sorted(set(hosts))
    if not names:
        return ""
    more = len(names) - _MOST_HOSTS
    others = f" and {more:,} more" if more > 0 else ""
    return f"waiting for {', '.join(names[:_MOST_HOSTS])}{others}"
