"""Ask again where that may help: how often, and after how long a pause.

What is worth another attempt is for the caller to say: it raises `Passing`.

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
    """An attempt failed in a way that may pass.

    Args:
        error: What is raised if it does not.
        reason: The failure in words.
        url: Of the server that failed, without credentials.
        status: Of HTTP; None where no answer came.
        retry_after: The answer's ``Retry-After``.
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
) -> T:
    """Call a function with 1, 2, 3 … until it brings something, or nothing helps.

    Args:
        attempt: Raises `Passing` for what is worth another attempt.
        pause: Told of each failure, and the seconds to wait before the next attempt.
        settings: How often, and how long pauses may be.
        now: A clock, aware.
        random: Gives numbers in [0, 1).

    Raises:
        RetryLater: The server asks for a longer pause than allowed, or for one after the
            last attempt.
        FetchError: That of the last failure.
    """
    for number in range(1, settings.attempts + 1):
        is_last = number == settings.attempts
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
    """Seconds before the next attempt: doubling from ``base``, half of it left to chance.

    Args:
        attempt: How many attempts have failed, from 1.
        base: Seconds after the first.
        cap: The longest pause.
        random: Gives numbers in [0, 1).
    """
    full = min(cap, base * 2.0 ** min(attempt - 1, 32))
    return full * (0.5 + random() / 2)
