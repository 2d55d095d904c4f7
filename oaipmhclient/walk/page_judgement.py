"""Whether a page is what was asked for, and if not, what is wrong with it (pure).

Source: OAI-PMH 2.0, sections 2.5, 2.7.1, 3.5 and 3.6.
"""

from dataclasses import dataclass, replace

from oaipmhclient.errors import PageUnreadable, TokenLoopError
from oaipmhclient.pages.requests_and_pages import ListPage
from oaipmhclient.walk.listed_pages import Item, ListBarren, OneIdentifier, OutsideWindow
from oaipmhclient.walk.page_facts import (
    are_outside,
    digest_of,
    headers_of,
    is_remembered,
    names_on,
    share_one_identifier,
)
from oaipmhclient.walk.recovery import Failure, failure_of
from oaipmhclient.walk.values import Position
from oaipmhclient.walk.windows import Window
from oaipmhprotocol import NoRecordsMatch

STALLED = 3
"""Pages in a row without a new identifier that make a circle."""
EMPTY = 100
"""Empty pages in a row that are followed: DSpace sends some where it hides items."""
EMPTY_PROMISED = 1_000
"""The same where the repository promises more records than came so far."""
UNUSABLE = 10
"""Pages in a row that are followed though nothing on them has an identifier."""

Judgement = tuple[Failure | None, Exception | None]
"""What is wrong, and the same as an exception; None, None: nothing."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a page is held against.

    Attributes:
        position: Where the walk stands before the page.
        window: Within which its datestamps are expected; open where that is not said.
        barren: The pages since the last new identifier.
        base_url: Of the endpoint, for messages.
    """

    position: Position
    window: Window
    barren: "Barren"
    base_url: str


@dataclass(frozen=True, slots=True)
class Barren:
    """Pages since the last one that brought a new identifier, by what was on them.

    Attributes:
        known: Records that had come before.
        unusable: Records without an identifier only.
        empty: Nothing.
    """

    known: int = 0
    unusable: int = 0
    empty: int = 0

    def plus(self, page: ListPage[Item]) -> "Barren":
        """With one more page without a new identifier."""
        if page.items:
            return replace(self, known=self.known + 1)
        if page.set_aside:
            return replace(self, unusable=self.unusable + 1)
        return replace(self, empty=self.empty + 1)


def judged(page: ListPage[Item], expected: Expectation, *, has_news: bool) -> Judgement:
    """What is wrong with a page, if anything.

    Args:
        page: As read.
        expected: What it is held against.
        has_news: Whether it brings an identifier that did not come before.
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


def _most_empty(position: Position) -> int:
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


def _is_seen(page: ListPage[Item], position: Position) -> bool:
    names = names_on(page)
    return bool(names) and is_remembered(position.seen, digest_of(names))


def was_sent(token: str, position: Position) -> bool:
    """Whether a token is one that the walk sent already."""
    return token == position.token or is_remembered(position.sent, digest_of([token]))
