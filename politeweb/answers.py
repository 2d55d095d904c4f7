"""What comes back for a request, and what its headers say (pure).

Source: RFC 9110, sections 10.2.3 (Retry-After) and 15.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one request, unpacked.

    Attributes:
        body: The body without its content coding.
        url: Where the answer came from in the end, without credentials.
        status: The HTTP status.
        headers: Names are in lower case.
        raw: The body as sent, in its content coding; None where that is not known,
            or where it is the body itself.
        received: When the last byte came, aware UTC; None where that is not known.
        cut: Why the body is less than was announced, in words; empty where it is not.
    """

    body: bytes
    url: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = field(default=None, repr=False)
    received: datetime | None = None
    cut: str = ""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What was sent and received so far.

    Attributes:
        sent: Requests, retries and redirects included.
        retried: How many of them repeated one that failed.
        received: Bytes of bodies, as sent by the server.
    """

    sent: int = 0
    retried: int = 0
    received: int = 0


class Outcome(Enum):
    """What an attempt tells of the server's load."""

    ANSWERED = "answered"
    REFUSED = "refused"
    """429 or 503: too many requests."""
    TIMED_OUT = "timed out"
    FAILED = "failed"
    """Another HTTP error, a connection that broke, an answer cut short."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One attempt to be answered, for whoever sets how many requests are sent at once.

    Attributes:
        outcome: How it ended.
        seconds: From sending to the last byte, without any wait before.
        received: Bytes of the body, as sent; 0 where none came.
        status: The HTTP status; None where none came.
    """

    outcome: Outcome
    seconds: float
    received: int = 0
    status: int | None = None


BUSY = frozenset({429, 503})


def retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds to wait by a ``Retry-After`` header: a number, or an HTTP date; None if neither.

    A deadline that has passed is 0.
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


def number_of(text: str | None) -> int | None:
    """A count as servers write it, or None; pycsw 2.6.2 sends ``-1`` on an empty page.

    Python's `int` refuses what `str.isdigit` allows: ``²``, or 5,000 digits.
    """
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def media_type(header: str) -> str:
    """A Content-Type header without its parameters, in lower case."""
    return header.partition(";")[0].strip().lower()
