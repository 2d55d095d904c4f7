"""Whether a page is what was asked for, and if not, what is wrong with it (pure).

Source: OAI-PMH 2.0, sections 2.5, 2.7.1, 3.5 and 3.6.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from oaipmhprotocol import Header, NoRecordsMatch
from oaipmhscraper.errors import PageUnreadable, TokenLoopError
from oaipmhscraper.recovery import Failure, failure_of
from oaipmhscraper.requests_and_pages import ListPage
from oaipmhscraper.walk.listed_pages import Item, OneIdentifier, OutsideWindow
from oaipmhscraper.walk.page_facts import (
    are_outside,
    digest_of,
    headers_of,
    is_remembered,
    share_one_identifier,
)
from oaipmhscraper.walk.values import Position
from oaipmhscraper.windows import Window

STALLED = 3
"""Pages in a row without a new identifier that make a circle."""
EMPTY = 100
"""Empty pages in a row that have a token: DSpace sends some where it hides items."""

Judgement = tuple[Failure | None, Exception | None]
"""What is wrong, and the same as an exception; None, None: nothing."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a page is held against.

    Attributes:
        position: Where the walk stands before the page.
        window: Within which its datestamps are expected; open where that is not said.
        stalled: How many pages in a row brought no new identifier.
        empty: How many pages in a row were empty.
        base_url: Of the endpoint, for messages.
    """

    position: Position
    window: Window
    stalled: int
    empty: int
    base_url: str


def judged(page: ListPage[Item], expected: Expectation) -> Judgement:
    """What is wrong with a page, if anything."""
    headers = headers_of(page)
    if not headers and not page.set_aside:
        return _judged_empty(page, expected)
    if share_one_identifier(page):
        sentence = f"{len(headers)} records have the identifier {headers[0].identifier}"
        return Failure.ONE_IDENTIFIER, OneIdentifier(sentence)
    if _is_circle(headers, expected):
        return _circle(expected, "gives the same page again")
    if are_outside(headers, expected.window):
        sentence = f"most records listed for {expected.window} have other datestamps"
        return Failure.OUTSIDE, OutsideWindow(sentence)
    return _judged_end(page, expected)


def _judged_empty(page: ListPage[Item], expected: Expectation) -> Judgement:
    if page.errors:
        return failure_of(page.errors[0]), page.errors[0]
    token = page.next_token
    if expected.position.token is None and token is None and not page.end_lost:
        return Failure.NO_RECORDS, NoRecordsMatch("an empty list")
    if expected.empty >= EMPTY or (token is not None and _was_sent(token, expected.position)):
        return _circle(expected, "gives empty pages")
    return _judged_end(page, expected)


def _judged_end(page: ListPage[Item], expected: Expectation) -> Judgement:
    if page.end_lost:
        return Failure.CUT, PageUnreadable("is cut short", expected.base_url)
    return None, None


def _circle(expected: Expectation, what: str) -> Judgement:
    return Failure.CIRCLE, TokenLoopError(expected.position.token or "", what)


def _is_circle(headers: Sequence[Header], expected: Expectation) -> bool:
    if not headers:
        return False
    digest = digest_of([header.identifier for header in headers])
    return is_remembered(expected.position.seen, digest) or expected.stalled >= STALLED


def _was_sent(token: str, position: Position) -> bool:
    return token == position.token or is_remembered(position.sent, digest_of([token]))
