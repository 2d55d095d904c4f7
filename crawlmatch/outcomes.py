"""What may come of a link, and what to do next about each (pure)."""

from enum import StrEnum


class Outcome(StrEnum):
    """The outcome of a seed row; every row has exactly one."""

    FULLTEXT = "fulltext"
    DUPLICATE = "fulltext-duplicate"
    LANDING = "landing-only"
    WRONG_TYPE = "wrong-type"
    EMPTY = "empty"
    COOKIE_WALL = "cookie-wall"
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
        """What it says of the link."""
        return _TOLD[self][0]

    @property
    def next_step(self) -> str:
        """What to do about it."""
        return _TOLD[self][1]


_TOLD = {
    Outcome.FULLTEXT: (
        "a full text was fetched",
        "nothing; silo crawl attach puts it into the record",
    ),
    Outcome.DUPLICATE: (
        "the full text was fetched again and is the one held before",
        "nothing; the bytes are in the earlier crawl",
    ),
    Outcome.LANDING: (
        "a web page came, and no full text was found from it",
        "look whether the page has a document, and let the crawl follow such links",
    ),
    Outcome.WRONG_TYPE: (
        "something came that is neither a full text nor a web page",
        "look at its media type; if it is what you want, name it in full_texts",
    ),
    Outcome.EMPTY: (
        "what came has no content, or too little to be a document",
        "try again; if it stays so, tell the repository",
    ),
    Outcome.COOKIE_WALL: (
        "the way ends at a page that wants cookies or a password",
        "crawl with cookies or from a network that is let in, or look for a free copy",
    ),
    Outcome.LOOP: (
        "the redirects lead back to where they were, or do not end",
        "try with cookies; if it stays so, correct the link",
    ),
    Outcome.UNCAPTURED: (
        "it redirects to an address that no input has",
        "give the index or the WARCs of this crawl or of an earlier one, or crawl the target",
    ),
    Outcome.CLIENT_ERROR: ("the server says that there is no such page", "correct the link"),
    Outcome.SERVER_ERROR: ("the server failed", "try again"),
    Outcome.RATE_LIMITED: ("the server asks for fewer requests", "try again, more slowly"),
    Outcome.UNREACHABLE: (
        "the server could not be reached",
        "try again; if it stays so, correct the link",
    ),
    Outcome.ROBOTS: ("robots.txt closes it to crawlers", "ask the repository"),
    Outcome.NOT_ATTEMPTED: ("nobody tried", "add it to the seeds of the next crawl"),
    Outcome.BAD_URL: ("it is no address that can be fetched", "correct the link"),
    Outcome.OUT_OF_SCOPE: (
        "the crawl's own settings left it out",
        "widen the scope of the crawl",
    ),
}
