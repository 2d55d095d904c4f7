"""Errors of requests: one hierarchy, each message one sentence.

FetchError
├── RequestRefused          invalid arguments; nothing was sent
├── EndpointError           the server or the connection failed
│   ├── EndpointUnreachable   no connection, no response, or a truncated one
│   ├── HTTPStatusError       an HTTP error status
│   ├── RetryLater            the server requests a pause until a deadline
│   ├── ResponseTooLarge      more bytes than allowed
│   ├── ResponseTooSlow       more seconds than allowed
│   ├── RedirectRefused       an invalid or endless redirect, or one to a private address
│   └── MovedElsewhere        a redirect to another host, which the settings do not follow
├── PrivateAddress          a host at an address that is not public (`connections`)
├── FileRefused             a file that cannot be fetched (`files`)
│   └── FileUnavailable       a temporary failure
└── WarcUnreadable          a WARC file that is missing or malformed
"""

from datetime import datetime
from typing import TypeVar


class FetchError(Exception):
    """Base of everything this package raises."""


class RequestRefused(FetchError, ValueError):
    """The arguments are invalid; nothing was sent."""


class EndpointError(FetchError):
    """The server or the connection to it failed.

    Attributes:
        url: The address requested, without credentials.
    """

    def __init__(self, url: str, sentence: str) -> None:
        self.url = url
        super().__init__(sentence)


class EndpointUnreachable(EndpointError):
    """No attempt got a complete response.

    Attributes:
        reason: A description of the last failure.
        attempts: The number of attempts.
    """

    def __init__(self, url: str, reason: str, attempts: int = 1) -> None:
        self.reason = reason
        self.attempts = attempts
        tried = f" after {attempts} attempts" if attempts > 1 else ""
        super().__init__(url, f"{url} gives no answer{tried}: {reason}")


class HTTPStatusError(EndpointError):
    """An HTTP error status without a usable response.

    Attributes:
        status: The status code.
    """

    def __init__(self, url: str, status: int, phrase: str = "", attempts: int = 1) -> None:
        self.status = status
        tried = f", {attempts} times" if attempts > 1 else ""
        super().__init__(url, f"{url} answers HTTP {status} {phrase}".rstrip() + tried)


class RetryLater(EndpointError):
    """The server requests a longer pause than the longest allowed.

    Attributes:
        deadline: Aware UTC; send no request before.
    """

    def __init__(self, url: str, status: int, deadline: datetime) -> None:
        self.status = status
        self.deadline = deadline
        super().__init__(
            url,
            f"{url} answers HTTP {status} and requests a pause until"
            f" {deadline:%Y-%m-%d %H:%M:%S} UTC",
        )


class ResponseTooLarge(EndpointError):
    """A response, encoded or decoded, is larger than allowed, or takes too much memory to read.

    Attributes:
        limit: Bytes allowed.
        memory: Bytes of memory that reading it would take; None if it is too large itself.
    """

    def __init__(self, url: str, limit: int, memory: int | None = None) -> None:
        self.limit = limit
        self.memory = memory
        what = f"more than the {limit:,} bytes allowed for one response"
        if memory is not None:
            what = (
                f"so much markup that reading it would take {memory:,} bytes of memory,"
                f" too many for a limit of {limit:,} bytes per response"
            )
        super().__init__(url, f"{url} sends {what}; --max-response raises the limit")


class ResponseTooSlow(EndpointError):
    """A response is not complete within the time limit.

    Attributes:
        limit: Seconds allowed.
    """

    def __init__(self, url: str, limit: float) -> None:
        self.limit = limit
        super().__init__(url, f"{url} did not finish its response within {limit:g} seconds")


class RedirectRefused(EndpointError):
    """A redirect that is not followed."""

    def __init__(self, url: str, reason: str) -> None:
        self.reason = reason
        super().__init__(url, f"{url} redirects {reason}")


class MovedElsewhere(EndpointError):
    """A redirect to another host, which is not followed (`HttpSettings.stays`).

    Attributes:
        target: The address of the redirect, without credentials.
    """

    def __init__(self, url: str, target: str) -> None:
        self.target = target
        super().__init__(url, f"{url} redirects to {target}")


class WarcUnreadable(FetchError):
    """A file of recorded responses cannot be read."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"{path} {reason}")


Failure = TypeVar("Failure", bound=BaseException)


def without_frames(failure: Failure) -> Failure:
    """Return the failure without its traceback and causes.

    These refer to the bodies of responses, and failures are kept until a harvest ends.
    """
    failure.__traceback__ = failure.__cause__ = failure.__context__ = None
    return failure


def shortened(text: str, length: int = 120) -> str:
    """Return the text, or its beginning and an ellipsis."""
    return text if len(text) <= length else text[: length - 1] + "…"
