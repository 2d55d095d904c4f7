"""What HTTP means for a harvest, decided without a socket (pure).

Source: OAI-PMH 2.0, sections 3.1.1, 3.1.2.1 and 3.1.2.2; RFC 9110, sections
8.4 (content codings), 10.2.3 (Retry-After) and 15.
"""

import re
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit, urlunsplit

from oaipmhprotocol.words import Argument
from oaipmhscraper.errors import RequestRefused, ResponseTooLarge
from oaipmhscraper.requests_and_pages import query_string
from recordsilo.formats.documents import MEMORY_FACTOR, memory_to_read

# --------------------------------------------------------------------------- addresses


@dataclass(frozen=True, slots=True)
class BaseURL:
    """A repository's base URL, without what is no part of it.

    Attributes:
        url: Scheme, host, path, and a query of its own such as ``?page=oai``.
        auth: User and password that stood in it; never shown, logged or stored.
    """

    url: str
    auth: tuple[str, str] | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, text: str) -> "BaseURL":
        """Read what a person pasted.

        A request pasted whole (``…?verb=Identify``) loses its OAI-PMH arguments,
        any other query stays; fragments and surrounding blanks go.

        Raises:
            RequestRefused: Not an http or https URL with a host.
        """
        parts = _split(text.strip())
        userinfo, at, host = parts.netloc.rpartition("@")
        user, _, password = userinfo.partition(":")
        url = urlunsplit((parts.scheme.lower(), host, parts.path, _own_query(parts.query), ""))
        return cls(url, (unquote(user), unquote(password)) if at else None)

    def request_url(self, params: Mapping[str, str]) -> str:
        """The URL of a GET request."""
        return with_query(self.url, params)

    def shares_credentials_with(self, url: str) -> bool:
        """Whether a redirect's target may be told user and password: same host, not less safe."""
        here, there = urlsplit(self.url), urlsplit(url)
        if here.hostname != there.hostname:
            return False
        return (here.scheme, here.port) == (there.scheme, there.port) or (
            here.scheme == "http" and there.scheme == "https"
        )


def _split(text: str) -> SplitResult:
    try:
        text.encode()  # half of a surrogate pair is a ValueError, too
        parts = urlsplit(text)
        port_is_sound = parts.port is None or parts.port >= 0
    except ValueError:
        port_is_sound = False
    if not port_is_sound or parts.scheme.lower() not in {"http", "https"} or not parts.hostname:
        raise RequestRefused(f"{without_credentials(text)!r} is not an http or https URL")
    return parts


_ARGUMENTS = frozenset(argument.value for argument in Argument)


def _own_query(query: str) -> str:
    names = {name for name, _ in parse_qsl(query, keep_blank_values=True)}
    if Argument.VERB.value not in names:
        return query
    kept = [part for part in query.split("&") if part.partition("=")[0] not in _ARGUMENTS]
    return "&".join(kept)


def with_query(url: str, params: Mapping[str, str]) -> str:
    """Add parameters to a URL that may have a query already."""
    return f"{url}{'&' if urlsplit(url).query else '?'}{query_string(params)}"


_USERINFO = re.compile(r"(?<=//)[^/?#\s]*@")


def without_credentials(text: str) -> str:
    """Any text with ``user:password@`` taken out of the URLs in it."""
    return _USERINFO.sub("", text)


# --------------------------------------------------------------------------- answers


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
    """One attempt to be answered, as one who sets the tempo wants to know it.

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


class Verdict(Enum):
    """What to do with an answer."""

    TAKE = "take"
    TRY_AGAIN = "try again"
    FAIL = "fail"


def judge(answer: Answer, *, has_answered: bool) -> tuple[Verdict, str]:
    """Decide about an answer; return the verdict and, unless taken, a reason in words.

    Whatever its status, a whole OAI-PMH answer is one: Zenodo sends errors as
    422, PMC as 404. A page without one is a passing disturbance (maintenance,
    firewall) only where the endpoint has answered before; else it is told at once.

    A body that ends as it should is whole, whatever length was announced for it.

    Args:
        answer: Status and body.
        has_answered: Whether OAI-PMH came from this endpoint already.
    """
    oai, whole = begins_as_oai(answer.body), _ends_as_oai(answer.body)
    if oai and whole:
        return Verdict.TAKE, ""
    if answer.status in {408, 429} or answer.status >= 500:
        return Verdict.TRY_AGAIN, f"HTTP {answer.status}"
    if answer.status >= 300:
        return Verdict.FAIL, f"HTTP {answer.status}"
    if answer.cut:
        return Verdict.TRY_AGAIN, answer.cut
    if oai:
        return Verdict.TRY_AGAIN, f"an answer cut short after {len(answer.body):,} bytes"
    if has_answered:
        return Verdict.TRY_AGAIN, "an answer that is not OAI-PMH"
    return Verdict.TAKE, ""


_ROOT = re.compile(rb"<(?:[\w.-]+:)?OAI-PMH[\s>/]")
_END = re.compile(rb"</(?:[\w.-]+:)?OAI-PMH\s*>")


def begins_as_oai(body: bytes) -> bool:
    """Whether the root element begins near the start."""
    return bool(_ROOT.search(body, 0, 8192))


def _ends_as_oai(body: bytes) -> bool:
    return bool(_END.search(body, max(0, len(body) - 8192)))


def retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds to wait by a ``Retry-After`` header: a number, or an HTTP date; None if neither.

    A deadline that has passed is 0.
    """
    text = (value or "").strip()
    if text.isascii() and text.isdigit() and len(text) < 12:
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


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


# --------------------------------------------------------------------------- content codings


_ALWAYS_READ = 16 << 20
"""Bytes of memory that any answer may take to read, however small the limit is."""


class CodingBroken(Exception):
    """A packed body does not unpack: cut short, damaged, or packed in an unknown way.

    Attributes:
        got: What could be unpacked before that.
    """

    def __init__(self, reason: str, got: bytes = b"") -> None:
        self.got = got
        super().__init__(reason)


def unpack(raw: bytes, content_encoding: str, limit: int, url: str) -> bytes:
    """Undo content codings, never beyond ``limit`` bytes.

    Gzip is recognised by its first bytes as well: some servers send it without
    saying so, others say so and do not.

    Raises:
        ResponseTooLarge: More than ``limit`` bytes would come out, or what comes out would
            take more than `MEMORY_FACTOR` times as much memory to read.
        CodingBroken: The packed bytes end early, are damaged or unknown.
    """
    try:
        body = _unpacked(raw, content_encoding, limit, url)
    except CodingBroken as broken:
        _check_memory(broken.got, limit, url)
        raise
    _check_memory(body, limit, url)
    return body


def _check_memory(body: bytes, limit: int, url: str) -> None:
    memory = memory_to_read(body)
    if memory > MEMORY_FACTOR * limit and memory > _ALWAYS_READ:
        raise ResponseTooLarge(url, limit, memory)


def _unpacked(raw: bytes, content_encoding: str, limit: int, url: str) -> bytes:
    codings = [name.strip().lower() for name in content_encoding.split(",") if name.strip()]
    if len(codings) > 3:
        raise CodingBroken(f"{len(codings)} content codings")
    for coding in reversed(codings):
        raw = _undo(coding, raw, limit, url)
    if raw.startswith(b"\x1f\x8b"):
        raw = _inflate(raw, 31, limit, url)
    if len(raw) > limit:
        raise ResponseTooLarge(url, limit)
    return raw


def _undo(coding: str, raw: bytes, limit: int, url: str) -> bytes:
    if coding in {"gzip", "x-gzip"}:
        return _inflate(raw, 31, limit, url) if raw.startswith(b"\x1f\x8b") else raw
    if coding == "deflate":
        is_zlib = len(raw) > 1 and raw[0] & 15 == 8 and (raw[0] << 8 | raw[1]) % 31 == 0
        return _inflate(raw, 15 if is_zlib else -15, limit, url)
    if coding == "identity":
        return raw
    raise CodingBroken(f"the content coding {coding}, which was not asked for")


def _inflate(raw: bytes, window: int, limit: int, url: str) -> bytes:
    out = bytearray()
    while raw:
        stream = zlib.decompressobj(window)
        try:
            out += stream.decompress(raw, limit + 1 - len(out))
        except zlib.error as error:
            out += _before_damage(raw, window, limit + 1 - len(out))
            raise CodingBroken(f"a packed answer that is damaged ({error})", bytes(out)) from None
        if len(out) > limit:
            raise ResponseTooLarge(url, limit)
        if not stream.eof:
            raise CodingBroken("a packed answer that was cut short", bytes(out))
        raw = stream.unused_data if stream.unused_data.startswith(b"\x1f\x8b") else b""
    return bytes(out)


def _before_damage(raw: bytes, window: int, limit: int) -> bytes:
    """What unpacks before the damage; zlib gives nothing of a piece that has it."""
    stream = zlib.decompressobj(window)
    out = bytearray()
    with suppress(zlib.error):
        for start in range(0, len(raw), 512):
            out += stream.decompress(raw[start : start + 512])
            if len(out) >= limit:
                break
    return bytes(out[:limit])
