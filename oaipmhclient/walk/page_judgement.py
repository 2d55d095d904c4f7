"""Judge whether a page answers the request, and if not, what is wrong with it (pure).

Source: OAI-PMH 2.0, sections 2.5, 2.7.1, 3.5 and 3.6.
"""

from dataclasses import dataclass, replace

from oaipmhclient.errors import PageUnreadable, TokenLoopError
from oaipmhclient.pages.requests_and_pages import ListPage
from oaipmhclient.walk.listed_pages import ListBarren, OneIdentifier, OutsideWindow
from oaipmhclient.walk.page_facts import (
    are_outside,
    digest_of,
    headers_of,
    is_remembered,
    names_on,
    share_one_identifier,
)
from oaipmhclient.walk.recovery import Failure, failure_of
from oaipmhclient.walk.values import Item, WindowPosition
from oaipmhclient.walk.windows import Window
from oaipmhprotocol import NoRecordsMatch

STALLED = 3
"""Successive pages without a new identifier that count as a loop."""
EMPTY = 100
"""Most successive empty pages to follow; DSpace sends some if it hides items."""
EMPTY_PROMISED = 1_000
"""The same if the repository promises more records than were received."""
UNUSABLE = 10
"""Most successive pages to follow on which no record has an identifier."""

Judgement = tuple[Failure | None, Exception | None]
"""What is wrong, and the same as an exception; (None, None) if nothing is."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """The expectations of a page.

    Attributes:
        position: The position of the walk before the page.
        window: The expected range of its datestamps; open if unknown.
        barren: The pages since the last new identifier.
        base_url: Of the endpoint, for messages.
    """

    position: WindowPosition
    window: Window
    barren: "Barren"
    base_url: str


@dataclass(frozen=True, slots=True)
class Barren:
    """Numbers of pages since the last new identifier, by their content.

    Attributes:
        known: With records received before.
        unusable: With only records without an identifier.
        empty: Without records.
    """

    known: int = 0
    unusable: int = 0
    empty: int = 0

    def plus(self, page: ListPage[Item]) -> "Barren":
        """Return the numbers with one more page without a new identifier."""
        if page.items:
            return replace(self, known=self.known + 1)
        if page.set_aside:
            return replace(self, unusable=self.unusable + 1)
        return replace(self, empty=self.empty + 1)


def judged(page: ListPage[Item], expected: Expectation, *, has_news: bool) -> Judgement:
    """Return what is wrong with a page, if anything.

    Args:
        page: As read.
        has_news: Whether it has a new identifier.
    """
    headers = headers_of(page)
    if not headers and not page.set_aside:
        return _judged_empty(page, expected)
    if not headers and not has_news and expected.barren.unusable >= UNUSABLE:
        return _barren(Failure.UNUSABLE_PAGES, expected, "no usable record")
    if share_one_identifier(page):
        sentence = f"{len(headers)} records have the identifier {headers[0].identifier}"
        return Failure.ONE_IDENTIFIER, OneIdentifier(sentence)
    is_stalled = expected.barren.known >= STALLED and not has_news
    if is_stalled or _is_seen(page, expected.position):
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
    if token is not None and was_sent(token, expected.position):
        return _circle(expected, "gives empty pages")
    if expected.barren.empty >= _most_empty(expected.position):
        return _barren(Failure.EMPTY_PAGES, expected, "no record")
    return _judged_end(page, expected)


def _most_empty(position: WindowPosition) -> int:
    return EMPTY_PROMISED if position.listed < (position.promised or 0) else EMPTY


def _judged_end(page: ListPage[Item], expected: Expectation) -> Judgement:
    if page.end_lost:
        return Failure.CUT, PageUnreadable("is cut short", expected.base_url)
    return None, None


def _circle(expected: Expectation, what: str) -> Judgement:
    return Failure.CIRCLE, TokenLoopError(expected.position.token or "", what)


def _barren(failure: Failure, expected: Expectation, lack: str) -> Judgement:
    count = expected.barren.unusable if failure is Failure.UNUSABLE_PAGES else expected.barren.empty
    return failure, ListBarren(count + 1, lack)


def _is_seen(page: ListPage[Item], position: WindowPosition) -> bool:
    names = names_on(page)
    return bool(names) and is_remembered(position.seen, digest_of(names))


def was_sent(token: str, position: WindowPosition) -> bool:
    """Whether the walk already sent a token."""
    return token == position.token or is_remembered(position.sent, digest_of([token]))
