"""Obey robots.txt: which addresses to skip, and how often to send requests.

Source: RFC 9309, sections 2.2 and 2.3.1; Crawl-delay is a common extension.
"""

from collections.abc import Callable
from urllib.parse import urlsplit, urlunsplit
from urllib.robotparser import RobotFileParser

LONGEST_DELAY = 60.0
"""Longest Crawl-delay to obey, in seconds; longer ones are meant for crawlers of whole sites."""

FetchText = Callable[[str], str | None]
"""URL of a robots.txt → its text; "" if there is none, None if the host does not answer."""


class Robots:
    """The rules of all hosts, each requested once.

    Args:
        fetch: Requests a robots.txt.
        agent: The product name in our User-Agent.
    """

    def __init__(self, fetch: FetchText, agent: str = "recordsilo") -> None:
        self._fetch = fetch
        self._agent = agent
        self._known: dict[tuple[str, str], RobotFileParser | None] = {}

    def answered(self, url: str) -> bool:
        """Whether the host of an address answered the request for robots.txt."""
        return self._rules(url) is not None

    def allows(self, url: str) -> bool:
        """Whether an address may be fetched; False if its host does not answer."""
        rules = self._rules(url)
        try:
            return rules is not None and rules.can_fetch(self._agent, url)
        except ValueError:  # the percent-decoded host is invalid
            return False

    def delay(self, url: str) -> float:
        """Return the host's Crawl-delay in seconds; 0 if there is none."""
        rules = self._rules(url)
        asked = rules.crawl_delay(self._agent) if rules is not None else None
        return float(min(int(asked or 0), LONGEST_DELAY))

    def _rules(self, url: str) -> RobotFileParser | None:
        parts = urlsplit(url)
        key = (parts.scheme, parts.netloc)
        if key not in self._known:
            text = self._fetch(urlunsplit((*key, "/robots.txt", "", "")))
            self._known[key] = None if text is None else _parsed(text)
        return self._known[key]


def _parsed(text: str) -> RobotFileParser:
    """Parse the rules, without lines that make `RobotFileParser` fail (``Crawl-delay: ²``)."""
    rules, lines = RobotFileParser(), text.splitlines()
    try:
        rules.parse(lines)
    except ValueError:
        rules = RobotFileParser()
        rules.parse(line for line in lines if _is_readable(line))
    return rules


def _is_readable(line: str) -> bool:
    try:
        RobotFileParser().parse(("User-agent: *", line))
    except ValueError:
        return False
    return True
