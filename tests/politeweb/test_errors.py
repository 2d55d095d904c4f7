"""Errors: one sentence each, with its facts as attributes."""

from datetime import UTC, datetime

import pytest

from politeweb.closing import Closing
from politeweb.errors import (
    EndpointError,
    EndpointUnreachable,
    FetchError,
    HTTPStatusError,
    MovedElsewhere,
    RedirectRefused,
    RequestRefused,
    ResponseTooLarge,
    ResponseTooSlow,
    RetryLater,
    WarcUnreadable,
    shortened,
    without_frames,
)

URL = "https://r.example/oai"
MARKUP = "so much markup that reading it would take 9,000 bytes of memory"
RAISE = "--max-response raises the limit"
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (EndpointUnreachable(URL, "cut short"), f"{URL} gives no answer: cut short"),
        (EndpointUnreachable(URL, "x", 3), f"{URL} gives no answer after 3 attempts: x"),
        (HTTPStatusError(URL, 404, "Not Found"), f"{URL} answers HTTP 404 Not Found"),
        (HTTPStatusError(URL, 500, "", 2), f"{URL} answers HTTP 500, 2 times"),
        (
            RetryLater(URL, 503, NOON),
            f"{URL} answers HTTP 503 and requests a pause until 2026-11-22 12:00:00 UTC",
        ),
        (
            ResponseTooLarge(URL, 64_000),
            f"{URL} sends more than the 64,000 bytes allowed for one response; {RAISE}",
        ),
        (
            ResponseTooLarge(URL, 1_000, memory=9_000),
            f"{URL} sends {MARKUP}, too many for a limit of 1,000 bytes per response; {RAISE}",
        ),
        (ResponseTooSlow(URL, 1.5), f"{URL} did not finish its response within 1.5 seconds"),
        (RedirectRefused(URL, "in a circle"), f"{URL} redirects in a circle"),
        (MovedElsewhere(URL, "https://b.example/"), f"{URL} redirects to https://b.example/"),
    ],
)
def test_what_failed_is_one_sentence_about_an_address(error: EndpointError, sentence: str) -> None:
    assert str(error) == sentence
    assert error.url == URL
    assert isinstance(error, FetchError)


def test_facts_are_attributes() -> None:
    assert EndpointUnreachable(URL, "cut short", 3).attempts == 3
    assert EndpointUnreachable(URL, "cut short").reason == "cut short"
    assert HTTPStatusError(URL, 404).status == 404
    later = RetryLater(URL, 429, NOON)
    assert (later.status, later.deadline) == (429, NOON)
    large = ResponseTooLarge(URL, 10, memory=90)
    assert (large.limit, large.memory) == (10, 90)
    assert ResponseTooLarge(URL, 10).memory is None
    assert ResponseTooSlow(URL, 3.0).limit == 3.0
    assert RedirectRefused(URL, "nowhere").reason == "nowhere"
    assert MovedElsewhere(URL, "https://b.example/").target == "https://b.example/"
    assert WarcUnreadable("/a.warc", "is empty").path == "/a.warc"
    assert str(WarcUnreadable("/a.warc", "is empty")) == "/a.warc is empty"
    assert issubclass(RequestRefused, ValueError)


def test_a_failure_that_is_kept_holds_no_frames() -> None:
    body = "a large body"

    def fail() -> None:
        try:
            raise ValueError(body)
        except ValueError as error:
            raise HTTPStatusError(URL, 500) from error

    with pytest.raises(HTTPStatusError) as raised:
        fail()
    kept = without_frames(raised.value)
    assert kept is raised.value
    assert (kept.__traceback__, kept.__cause__, kept.__context__) == (None, None, None)


def test_a_text_is_shortened_only_if_it_is_too_long() -> None:
    assert shortened("x" * 120) == "x" * 120
    assert shortened("x" * 121) == "x" * 119 + "…"
    assert shortened("abcdef", 4) == "abc…"
    assert shortened("abcd", 4) == "abcd"


def test_what_a_block_closes_is_closed_after_an_error_too() -> None:
    class Door(Closing):
        is_closed = False

        def close(self) -> None:
            self.is_closed = True

    def within(door: Door) -> None:
        with door as opened:
            assert opened is door
            assert not door.is_closed
            raise ValueError

    door = Door()
    with pytest.raises(ValueError):
        within(door)
    assert door.is_closed
