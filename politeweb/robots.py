"""Obey robots.txt: which addresses to skip, and how often to send requests.

Source: RFC 9309, sections 2.2, 2.3.1 and 2.4; Crawl-delay is a common extension.
"""

import time
from collections.abc import Callable
from urllib.parse import urlsplit, urlunsplit

from protego import Protego

LONGEST_DELAY = 60.0
"""Longest Crawl-delay to obey, in seconds; longer ones are meant for crawlers of whole sites."""
SECONDS_KEPT, SECONDS_UNTIL_ASKED_AGAIN = 86_400.0, 600.0
"""How long rules hold, and how long a host that did not answer is left alone."""

FetchText = Callable[[str], str | None]
"""URL of a robots.txt → its text; "" if there is none, None if the host does not answer."""
_AGENT = "recordsilo"
"""The product name in our User-Agent."""


class Robots:
    """The rules of all hosts, each requested once a day; threads may share it.

    Args:
        fetch: Requests a robots.txt.
        monotonic: A clock in seconds that never goes back.
    """

    def __init__(
        self,
        fetch: FetchText,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetch, self._monotonic = fetch, monotonic
        self._known: dict[tuple[str, str], tuple[float, Protego | None]] = {}

    def answered(self, url: str) -> bool:
        """Whether the host of an address answered the request for robots.txt."""
        return self._rules(url) is not None

    def allows(self, url: str) -> bool:
        """Whether an address may be fetched; False if its host does not answer."""
        rules = self._rules(url)
        return rules is not None and bool(rules.can_fetch(url, _AGENT))

    def delay(self, url: str) -> float:
        """Return the host's Crawl-delay in seconds; 0 if there is none."""
        rules = self._rules(url)
        asked = rules.crawl_delay(_AGENT) if rules is not None else None
        return min(max(0.0, asked or 0.0), LONGEST_DELAY)

    def _rules(self, url: str) -> Protego | None:
        parts = urlsplit(url)
        key = (parts.scheme, parts.netloc)
        now = self._monotonic()
        until, rules = self._known.get(key, (float("-inf"), None))
        if until <= now:
            text = self._fetch(urlunsplit((*key, "/robots.txt", "", "")))
            rules = None if text is None else Protego.parse(text)
            until = now + (SECONDS_UNTIL_ASKED_AGAIN if rules is None else SECONDS_KEPT)
            self._known[key] = until, rules
        return rules
