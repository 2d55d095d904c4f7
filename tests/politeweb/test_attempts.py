"""What is retried, after which pause, and what is raised when nothing helps."""

from datetime import UTC, datetime

import pytest

from politeweb.attempts import Passing, attempted, backoff
from politeweb.errors import EndpointUnreachable, RetryLater
from politeweb.settings import HttpSettings

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
SETTINGS = HttpSettings(attempts=3, first_pause=2.0, longest_pause=60.0)


def failing(*asked: str | None):
    """Fails once for each argument, its Retry-After; then returns the attempt's number."""

    def attempt(number: int) -> int:
        if number > len(asked):
            return number
        error = EndpointUnreachable("http://r.example/", "busy", number)
        raise Passing(error, "busy", url=error.url, status=503, retry_after=asked[number - 1])

    return attempt


def run(attempt) -> tuple[int, list[float]]:
    pauses: list[float] = []
    found = attempted(
        attempt,
        lambda _failure, seconds: pauses.append(seconds),
        SETTINGS,
        now=lambda: NOW,
        random=lambda: 1.0,
    )
    return found, pauses


def test_pauses_double_unless_the_server_names_one():
    assert run(failing()) == (1, [])
    assert run(failing(None, None)) == (3, [2.0, 4.0])
    assert run(failing("7", "Sun, 22 Nov 2026 12:00:30 GMT")) == (3, [7.0, 30.0])


def test_the_last_failure_is_raised():
    with pytest.raises(EndpointUnreachable, match="after 3 attempts"):
        run(failing(None, None, None))


@pytest.mark.parametrize("asked", [("61",), (None, None, "5")])
def test_a_pause_too_long_or_after_the_last_attempt_is_told(asked):
    with pytest.raises(RetryLater) as told:
        run(failing(*asked))
    assert (told.value.deadline - NOW).total_seconds() == float(asked[-1])
    assert told.value.status == 503


def test_what_does_not_pass_is_not_retried():
    calls = []

    def attempt(number: int) -> int:
        calls.append(number)
        raise ValueError

    with pytest.raises(ValueError):
        run(attempt)
    assert calls == [1]


def test_pauses_double_up_to_the_cap_with_half_of_each_left_to_chance():
    assert [backoff(n, 1, 10, lambda: 1.0) for n in range(1, 6)] == [1, 2, 4, 8, 10]
    assert [backoff(n, 1, 10, lambda: 0.0) for n in range(1, 4)] == [0.5, 1, 2]
    assert backoff(10_000, 1, 10, lambda: 1.0) == 10
