"""What a host asks of robots: which addresses to leave alone, and how often to come.

Source: RFC 9309, sections 2.2 and 2.3.1; Crawl-delay is an extension most hosts mean.
"""

from collections.abc import Callable
from urllib.parse import urlsplit, urlunsplit
from urllib.robotparser import RobotFileParser

LONGEST_DELAY = 60.0
"""Seconds; a longer Crawl-delay is meant for others than one who fetches a list of files."""

FetchText = Callable[[str], str | None]
"""URL of a robots.txt → its text; "" where there is none, None where the host does not answer."""


class Robots:
    """The rules of every host met, each asked for once.

    Args:
        fetch: Gets a robots.txt.
        agent: The product name in our User-Agent.
    """

    def __init__(self, fetch: FetchText, agent: str = "recordsilo") -> None:
        self._fetch = fetch
        self._agent = agent
        self._known: dict[tuple[str, str], RobotFileParser | None] = {}

    def answered(self, url: str) -> bool:
        """Whether the host of an address told its rules, or that it has none."""
        return self._rules(url) is not None

    def allows(self, url: str) -> bool:
        """Whether an address may be fetched; none may be of a host that does not answer."""
        rules = self._rules(url)
        try:
            return rules is not None and rules.can_fetch(self._agent, url)
        except ValueError:  # the host, with its percent-encoding undone, is no host
            return False

    def delay(self, url: str) -> float:
        """Seconds between two requests that the host asks for; 0 where it asks for none."""
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
    """The rules; lines that `RobotFileParser` fails on (``Crawl-delay: ²``) are left out."""
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
