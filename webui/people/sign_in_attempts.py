"""Limits on sign-in attempts.

Attempts are counted by name and address together, by address alone, and by name alone. The
last limit is high: otherwise anyone could lock out another user by trying their name.
"""

import ipaddress
import threading
import time
from collections.abc import Callable
from http import HTTPStatus

from webui.http.errors import WebError
from webui.words.texts import counted

WINDOW = 900.0
BY_BOTH, BY_ADDRESS, BY_NAME = 5, 30, 100
"""Maximum attempts within `WINDOW` seconds."""
_MOST_KEYS = 20_000

Key = tuple[str, str]


class TooManyAttempts(WebError):
    """Too many attempts to sign in."""

    status = HTTPStatus.TOO_MANY_REQUESTS
    code = "too_many_attempts"

    def __init__(self, seconds: float) -> None:
        whole = max(1, round(seconds))
        minutes = -(-whole // 60)
        super().__init__(
            counted(
                "Too many attempts to sign in. Try again in {n} minute.",
                "Too many attempts to sign in. Try again in {n} minutes.",
                minutes,
            ),
            {"Retry-After": str(whole)},
        )


class Attempts:
    """The attempts of the last quarter of an hour, in this process only."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._times: dict[Key, list[float]] = {}

    def note(self, name: str, address: str) -> None:
        """Count an attempt before it is checked, so simultaneous attempts count as well.

        Raises:
            TooManyAttempts: There were too many; do not check this one.
        """
        now, network = self._clock(), _network(address)
        limits = {(name, network): BY_BOTH, ("", network): BY_ADDRESS, (name, ""): BY_NAME}
        with self._lock:
            for key, most in limits.items():
                times = [one for one in self._times.get(key, ()) if one > now - WINDOW]
                if len(times) >= most:
                    raise TooManyAttempts(times[-most] + WINDOW - now)
            self._make_room(now)
            for key in limits:
                times = [one for one in self._times.get(key, ()) if one > now - WINDOW]
                self._times[key] = [*times, now]

    def forget(self, name: str, address: str) -> None:
        """Forget earlier attempts of this user and address after a successful one."""
        with self._lock:
            network = _network(address)
            self._times.pop((name, network), None)
            for key in (("", network), (name, "")):
                if times := self._times.get(key):
                    times.pop()

    def _make_room(self, now: float) -> None:
        """Keep the table small, however many attempts there are."""
        if len(self._times) < _MOST_KEYS:
            return
        latest = {key: times[-1] if times else 0.0 for key, times in self._times.items()}
        for key in sorted(latest, key=latest.__getitem__):
            if latest[key] > now - WINDOW and len(self._times) < _MOST_KEYS // 2:
                return
            del self._times[key]


def _network(address: str) -> str:
    """Return the address, or the network of an IPv6 address, which one person usually controls."""
    try:
        known = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv6Address):
        mapped = known.ipv4_mapped
        return str(mapped or ipaddress.ip_network((known, 64), strict=False))
    return str(known)
