"""The outcomes of a link, and what to do about each (pure)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

NEXT_STEPS = "crawlmatch.next_steps"
"""The group of entry points that name `NextSteps`."""

OWN = "own"
"""The name of the crawl by `silo crawl run`, which brings documents to their records itself."""


@dataclass(frozen=True, slots=True)
class NextSteps:
    """What a package knows of the links of a crawl that lead to full texts, beyond their outcomes.

    Attributes:
        name: Of the crawl, and of the entry point.
        of: Gets the Silo's directory, the identifiers of records and an address that they link to;
            returns what became of its documents and what to do next, or "" if it knows nothing.
    """

    name: str
    of: Callable[[str, Sequence[str], str], str]


class LinkOutcome(StrEnum):
    """The outcome of a seed row; every row has exactly one."""

    FULLTEXT = "fulltext"
    DUPLICATE = "fulltext-duplicate"
    LANDING = "landing-only"
    WRONG_TYPE = "wrong-type"
    EMPTY = "empty"
    COOKIE_WALL = "cookie-wall"
    DEFENCE = "robot-defence"
    LOOP = "redirect-loop"
    UNCAPTURED = "redirect-uncaptured"
    CLIENT_ERROR = "http-4xx"
    SERVER_ERROR = "http-5xx"
    RATE_LIMITED = "rate-limited"
    UNREACHABLE = "unreachable"
    ROBOTS = "robots"
    NOT_ATTEMPTED = "not-attempted"
    BAD_URL = "bad-url"
    OUT_OF_SCOPE = "out-of-scope"

    @property
    def meaning(self) -> str:
        """Return what it means."""
        return _TOLD[self][0]

    @property
    def next_step(self) -> str:
        """Return what to do about it."""
        return _TOLD[self][1]

    def next_step_in(self, crawl: str) -> str:
        """Return what to do about it in a crawl of this name."""
        return _TOLD_OF_OWN.get(self, self.next_step) if crawl == OWN else self.next_step


_TOLD = {
    LinkOutcome.FULLTEXT: (
        "full text fetched",
        "done; silo crawl attach adds the file to the record",
    ),
    LinkOutcome.DUPLICATE: (
        "full text unchanged since the last crawl",
        "nothing to do; the bytes are in the earlier crawl",
    ),
    LinkOutcome.LANDING: (
        "web page without a full text",
        "check whether the page links to a document, and let the crawl follow such links",
    ),
    LinkOutcome.WRONG_TYPE: (
        "neither a full text nor a web page",
        "check its media type; if you want it, add it to full_texts",
    ),
    LinkOutcome.EMPTY: (
        "empty response",
        "try again; if it recurs, tell the repository",
    ),
    LinkOutcome.COOKIE_WALL: (
        "cookies or sign-in required",
        "crawl with cookies or from a network with access, or look for a free copy",
    ),
    LinkOutcome.DEFENCE: (
        "blocked by a robot defence",
        "ask the publisher to let the crawler in, or crawl more slowly; do not correct the link",
    ),
    LinkOutcome.LOOP: (
        "endless redirects",
        "try with cookies; if it recurs, correct the link",
    ),
    LinkOutcome.UNCAPTURED: (
        "redirected to an unknown address",
        "give the index or the WARCs of this crawl or of an earlier one, or crawl the target",
    ),
    LinkOutcome.CLIENT_ERROR: ("page not found", "correct the link"),
    LinkOutcome.SERVER_ERROR: ("server error", "try again"),
    LinkOutcome.RATE_LIMITED: ("too many requests", "try again, more slowly"),
    LinkOutcome.UNREACHABLE: (
        "server unreachable",
        "try again; if it recurs, correct the link",
    ),
    LinkOutcome.ROBOTS: ("excluded by robots.txt", "ask the repository"),
    LinkOutcome.NOT_ATTEMPTED: ("not fetched", "add it to the seeds of the next crawl"),
    LinkOutcome.BAD_URL: ("invalid address", "correct the link"),
    LinkOutcome.OUT_OF_SCOPE: (
        "excluded by the settings of the crawl",
        "widen the scope of the crawl",
    ),
}

_TOLD_OF_OWN = {
    LinkOutcome.FULLTEXT: (
        "nothing to do; silo crawl run attaches the document to its record, or proposes it for"
        " review"
    ),
    LinkOutcome.NOT_ATTEMPTED: "nothing to do; silo crawl run fetches it when its target is due",
}
