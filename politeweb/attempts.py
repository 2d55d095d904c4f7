"""Repeat attempts that failed temporarily: how often, and after which pauses.

The caller decides which failures are temporary, and raises `Passing` for them.

Source: RFC 9110, section 10.2.3 (Retry-After).
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from politeweb.answers import retry_after
from politeweb.errors import FetchError, RetryLater
from politeweb.settings import HttpSettings

T = TypeVar("T")


class Passing(Exception):
    """A temporary failure.

    Args:
        error: Raised after the last attempt.
        reason: A description of the failure.
        url: Address of the server that failed, without credentials.
        status: The HTTP status; None if there was no response.
        retry_after: The ``Retry-After`` header.
    """

    def __init__(
        self,
        error: FetchError,
        reason: str,
        *,
        url: str,
        status: int | None = None,
        retry_after: str | None = None,
    ) -> None:
        self.error = error
        self.reason = reason
        self.url = url
        self.status = status
        self.retry_after = retry_after
        super().__init__(reason)


def attempted(
    attempt: Callable[[int], T],
    pause: Callable[[Passing, float], None],
    settings: HttpSettings,
    *,
    now: Callable[[], datetime],
    random: Callable[[], float],
    attempts: int | None = None,
) -> T:
    """Call a function with 1, 2, 3 … until it succeeds or the attempts are used up.

    Args:
        attempt: Raises `Passing` after a temporary failure.
        pause: Called with each failure and the seconds to wait before the next attempt.
        settings: The number of attempts, and the longest pause.
        now: Returns the current time, aware.
        random: Returns numbers in [0, 1).
        attempts: Their number, instead of that of the settings.

    Raises:
        RetryLater: The server requests a longer pause than allowed, or one after the last
            attempt.
        FetchError: The error of the last failure.
    """
    most = settings.attempts if attempts is None else attempts
    for number in range(1, most + 1):
        is_last = number == most
        try:
            return attempt(number)
        except Passing as failure:
            asked = retry_after(failure.retry_after, now())
            if asked is not None and (is_last or asked > settings.longest_pause):
                raise _later(failure, asked, now()) from failure
            if is_last:
                raise failure.error from failure
            if asked is None:
                asked = backoff(number, settings.first_pause, settings.longest_pause, random)
            pause(failure, asked)
    raise AssertionError("HttpSettings refuses less than one attempt")


def _later(failure: Passing, seconds: float, now: datetime) -> RetryLater:
    try:
        deadline = now + timedelta(seconds=seconds)
    except OverflowError:
        deadline = datetime.max.replace(tzinfo=UTC)
    return RetryLater(failure.url, failure.status or 0, deadline)


def backoff(attempt: int, base: float, cap: float, random: Callable[[], float]) -> float:
    """Return the seconds before the next attempt: doubling from ``base``, half of it random.

    Args:
        attempt: Number of failed attempts, from 1.
        base: Seconds after the first.
        cap: The longest pause.
        random: Returns numbers in [0, 1).
    """
    full = min(cap, base * 2.0 ** min(attempt - 1, 32))
    return full * (0.5 + random() / 2)
