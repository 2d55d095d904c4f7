"""What can go wrong between here and a server: one tree, each message one sentence.

FetchError
├── RequestRefused          the caller's arguments, before anything is sent
├── EndpointError           the server, or the way to it
│   ├── EndpointUnreachable   no connection, no answer, an answer cut short
│   ├── HTTPStatusError       an HTTP error status
│   ├── RetryLater            the server asks to be left alone until a deadline
│   ├── ResponseTooLarge      more bytes than were allowed
│   ├── ResponseTooSlow       more seconds than were allowed
│   └── RedirectRefused       a redirect to nowhere, for ever, out of HTTP, or inwards
├── PrivateAddress          a host at an address that is not public (`public_hosts`)
├── FileRefused             a file that cannot be fetched (`files`)
│   └── FileUnavailable       not now; it may work another time
└── WarcUnreadable          a WARC file that is missing or malformed
"""

from datetime import datetime
from typing import TypeVar


class FetchError(Exception):
    """Base of everything this package raises."""


class RequestRefused(FetchError, ValueError):
    """The arguments make no valid request; nothing was sent."""


class EndpointError(FetchError):
    """The server, or the way to it, failed.

    Attributes:
        url: What was asked for, without credentials.
    """

    def __init__(self, url: str, sentence: str) -> None:
        self.url = url
        super().__init__(sentence)


class EndpointUnreachable(EndpointError):
    """No whole answer came, however often it was tried.

    Attributes:
        reason: The last failure, in words.
        attempts: How often it was tried.
    """

    def __init__(self, url: str, reason: str, attempts: int = 1) -> None:
        self.reason = reason
        self.attempts = attempts
        tried = f" after {attempts} attempts" if attempts > 1 else ""
        super().__init__(url, f"{url} gives no answer{tried}: {reason}")


class HTTPStatusError(EndpointError):
    """An HTTP error status, and no usable answer with it.

    Attributes:
        status: The status code.
    """

    def __init__(self, url: str, status: int, phrase: str = "", attempts: int = 1) -> None:
        self.status = status
        tried = f", {attempts} times" if attempts > 1 else ""
        super().__init__(url, f"{url} answers HTTP {status} {phrase}".rstrip() + tried)


class RetryLater(EndpointError):
    """The server asks for a longer pause than one waits for.

    Attributes:
        deadline: Aware UTC; not to be asked before.
    """

    def __init__(self, url: str, status: int, deadline: datetime) -> None:
        self.status = status
        self.deadline = deadline
        super().__init__(
            url,
            f"{url} answers HTTP {status} and asks not to be called again before"
            f" {deadline:%Y-%m-%d %H:%M:%S} UTC",
        )


class ResponseTooLarge(EndpointError):
    """An answer, as sent or unpacked, is larger than allowed, or takes too much memory to read.

    Attributes:
        limit: Bytes allowed.
        memory: Bytes of memory that reading it would take; None where it is too large itself.
    """

    def __init__(self, url: str, limit: int, memory: int | None = None) -> None:
        self.limit = limit
        self.memory = memory
        what = f"more than the {limit:,} bytes allowed for one answer"
        if memory is not None:
            what = (
                f"so much markup that reading it would take {memory:,} bytes of memory,"
                f" too many where an answer may have {limit:,} bytes"
            )
        super().__init__(url, f"{url} sends {what}; --max-response raises the limit")


class ResponseTooSlow(EndpointError):
    """An answer is not complete within the time allowed.

    Attributes:
        limit: Seconds allowed.
    """

    def __init__(self, url: str, limit: float) -> None:
        self.limit = limit
        super().__init__(url, f"{url} did not finish its answer within {limit:g} seconds")


class RedirectRefused(EndpointError):
    """A redirect that is not followed.

    Attributes:
        reason: Why not, in words.
    """

    def __init__(self, url: str, reason: str) -> None:
        self.reason = reason
        super().__init__(url, f"{url} redirects {reason}")


class WarcUnreadable(FetchError):
    """A file of recorded responses cannot be read.

    Attributes:
        path: Which.
    """

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"{path} {reason}")


Failure = TypeVar("Failure", bound=BaseException)


def without_frames(failure: Failure) -> Failure:
    """The failure without the frames that it passed and the errors that caused it.

    They hold the bodies of answers, and failures are kept until a harvest ends.
    """
    failure.__traceback__ = failure.__cause__ = failure.__context__ = None
    return failure


def shortened(text: str, length: int = 120) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= length else text[: length - 1] + "…"
