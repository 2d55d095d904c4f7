"""Rules for OAI-PMH over HTTP (pure).

Source: OAI-PMH 2.0, sections 3.1.1, 3.1.2.1 and 3.1.2.2.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from oaipmhprotocol.queries import query_string
from oaipmhprotocol.words import Argument
from politeweb.addresses import Address
from politeweb.answers import Answer
from politeweb.codings import CodingBroken, unpack
from politeweb.errors import ResponseTooLarge

# --------------------------------------------------------------------------- addresses


@dataclass(frozen=True, slots=True)
class BaseURL(Address):
    """A repository's base URL; a query of its own such as ``?page=oai`` is part of it."""

    @staticmethod
    def kept_query(query: str) -> str:
        """Return the query without OAI-PMH arguments, which a pasted request may have."""
        names = {name for name, _ in parse_qsl(query, keep_blank_values=True)}
        if Argument.VERB.value not in names:
            return query
        kept = [part for part in query.split("&") if part.partition("=")[0] not in _ARGUMENTS]
        return "&".join(kept)

    def request_url(self, params: Mapping[str, str]) -> str:
        """Return the URL of a GET request."""
        return with_query(self.url, params)


def is_same_place(url: str, other: str) -> bool:
    """Whether two base URLs differ at most by a slash at the end of their paths."""
    return _without_slash(url) == _without_slash(other)


def spelled_as(url: str, location: str) -> str:
    """Return a location of the same place with the slash at its end that a URL has, or without."""
    path = urlsplit(url).path
    ending = path[len(path.rstrip("/")) :]
    parts = urlsplit(_without_slash(location))
    return urlunsplit(parts._replace(path=parts.path + ending))


def _without_slash(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/")))


_ARGUMENTS = frozenset(argument.value for argument in Argument)


def with_query(url: str, params: Mapping[str, str]) -> str:
    """Add parameters to a URL that may have a query already."""
    return f"{url}{'&' if urlsplit(url).query else '?'}{query_string(params)}"


# --------------------------------------------------------------------------- answers


class Verdict(Enum):
    """What to do with a response."""

    TAKE = "take"
    TRY_AGAIN = "try again"
    FAIL = "fail"


def judge(answer: Answer, *, has_answered: bool) -> tuple[Verdict, str]:
    """Decide about a response; return the verdict and, unless accepted, a reason.

    A complete OAI-PMH response is accepted with any status: Zenodo sends errors as 422, PMC as
    404. Another page is treated as temporary (maintenance, firewall) only if the endpoint has
    answered before; otherwise it is an error at once. A body with its proper end is complete,
    whatever length was announced.

    Args:
        answer: Status and body.
        has_answered: Whether this endpoint has sent an OAI-PMH response before.
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
        return Verdict.TRY_AGAIN, f"a response cut short after {len(answer.body):,} bytes"
    if has_answered:
        return Verdict.TRY_AGAIN, "a response that is not OAI-PMH"
    return Verdict.TAKE, ""


_ROOT = re.compile(rb"<(?:[\w.-]+:)?OAI-PMH[\s>/]")
_END = re.compile(rb"</(?:[\w.-]+:)?OAI-PMH\s*>")


def begins_as_oai(body: bytes) -> bool:
    """Whether the root element begins near the start."""
    return bool(_ROOT.search(body, 0, 8192))


def _ends_as_oai(body: bytes) -> bool:
    return bool(_END.search(body, max(0, len(body) - 8192)))


# --------------------------------------------------------------------------- memory

MEMORY_FACTOR = 8
"""Most memory for reading a response, as a multiple of the largest size of a response."""
_NODE_BYTES = 520
"""For each ``<`` and ``=``: libxml2 2.14 takes 120 bytes for ``<a/>``, 240 for ``<a/>x``, 250
for an attribute; with Python's objects, a harvest was measured to take up to 520."""


_ALWAYS_READ = 16 << 20
"""Bytes of memory that reading a response may always take, however small the limit is."""


def unpack_page(raw: bytes, content_encoding: str, limit: int, url: str) -> bytes:
    """Decode bytes that will be parsed; see `unpack`.

    Raises:
        ResponseTooLarge: Also if parsing the result would take more than `MEMORY_FACTOR`
            times ``limit`` bytes of memory.
        CodingBroken: See `unpack`.
    """
    try:
        body = unpack(raw, content_encoding, limit, url)
    except CodingBroken as broken:
        _check_memory(broken.got, limit, url)
        raise
    _check_memory(body, limit, url)
    return body


def memory_to_read(body: bytes) -> int:
    """Estimate, without parsing, the most memory in bytes that reading a response takes.

    Malformed text is counted as repaired, with five letters for each bare ``&``. The store has
    the same rule for its files, because it must be able to read them again.

    Cost: three passes at the speed of memory.
    """
    nodes = body.count(b"<") + body.count(b"=")
    return 4 * len(body) + 20 * body.count(b"&") + _NODE_BYTES * nodes


_MOST_FOR_A_BYTE = memory_to_read(b"<")
"""A response of so few bytes that each might be the dearest need not be counted."""


def _check_memory(body: bytes, limit: int, url: str) -> None:
    most = max(MEMORY_FACTOR * limit, _ALWAYS_READ)
    if len(body) * _MOST_FOR_A_BYTE > most and (memory := memory_to_read(body)) > most:
        raise ResponseTooLarge(url, limit, memory)
