"""Responses and their headers (pure).

Source: RFC 9110, sections 10.2.3 (Retry-After) and 15.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, decoded.

    Attributes:
        body: The body without its content coding.
        url: The address after redirects, without credentials.
        status: The HTTP status.
        headers: Names are in lower case.
        raw: The body as sent, in its content coding; None if that is unknown, or the same
            as ``body``.
        received: When the last byte arrived, aware UTC; None if unknown.
        cut: Why the body is shorter than announced; empty if it is not.
        recorded: The WARC file's name and the place in it where the exchange was recorded,
            if it was.
    """

    body: bytes
    url: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = field(default=None, repr=False)
    received: datetime | None = None
    cut: str = ""
    recorded: tuple[str, int] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Numbers of requests and bytes so far.

    Attributes:
        sent: Number of requests, including retries and redirects.
        retried: Number of requests that repeated a failed one.
        received: Bytes of bodies, as sent by the server.
    """

    sent: int = 0
    retried: int = 0
    received: int = 0


class AttemptOutcome(Enum):
    """The outcome of an attempt, which shows the server's load."""

    ANSWERED = "answered"
    REFUSED = "refused"
    """429 or 503: too many requests."""
    TIMED_OUT = "timed out"
    FAILED = "failed"
    """Another HTTP error, a broken connection, or a truncated response."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One attempt; used to decide how many requests to send at once.

    Attributes:
        outcome: How it ended.
        seconds: From sending to the last byte, without a pause before.
        received: Bytes of the body, as sent; 0 if there was none.
        status: The HTTP status; None if there was none.
    """

    outcome: AttemptOutcome
    seconds: float
    received: int = 0
    status: int | None = None


BUSY = frozenset({429, 503})
REDIRECTS = frozenset({301, 302, 303, 307, 308})


def retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds to wait by a ``Retry-After`` header; None if it is malformed.

    It is a number or an HTTP-date. A date in the past gives 0.
    """
    text = (value or "").strip()
    if text.isascii() and text.isdigit() and len(text) < 12:
        return float(text)
    moment = http_date(text)
    return None if moment is None else max(0.0, (moment - now).total_seconds())


def http_date(text: str) -> datetime | None:
    """Read an HTTP-date; None if malformed (RFC 9110, section 5.6.7)."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def number_of(text: str | None, *, most_digits: int = 18) -> int | None:
    """Parse a count; None if it is malformed, as the ``-1`` of pycsw 2.6.2 on an empty page.

    Args:
        text: The count.
        most_digits: A longer one is malformed, too.

    Python's `int` refuses some texts that `str.isdigit` allows: ``²``, or 5,000 digits.
    """
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= most_digits else None


def media_type(header: str) -> str:
    """Return a Content-Type header without its parameters, in lower case."""
    return header.partition(";")[0].strip().lower()
