"""Interpret Fedora's answers: status and body → error; headers, time maps → values. Pure.

Source: docs/fedora-servers.md, "Status codes"; Fedora API specification, Memento (RFC 7089).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from politeweb.answers import http_date, retry_after
from siloexport.targets.remote.errors import (
    Busy,
    ChangedMeanwhile,
    Denied,
    NoRoom,
    NotOfThisKind,
    NotThere,
    Refused,
    RemoteError,
)

TOMBSTONE = "hasTombstone"
TRANSACTIONS = "http://fedora.info/definitions/v4/transaction#endpoint"


class Departed(RemoteError):
    """410: a tombstone, or something below one.

    Attributes:
        tombstone: Its address if the answer links to it; else ``""``.
    """

    def __init__(self, status: int, url: str, reason: str, tombstone: str = "") -> None:
        super().__init__(status, url, reason)
        self.tombstone = tombstone


class MatchWanted(RemoteError):
    """428: the server requires If-Match to replace something (``putRequiresIfMatch``)."""


class Locked(RemoteError):
    """409: another transaction holds the object."""


class TransactionLost(RemoteError):
    """409: the transaction failed, expired, or is unknown."""


class DigestMismatch(RemoteError):
    """409: what arrived does not have the digest in the request."""


_BY_STATUS: dict[int, type[RemoteError]] = {
    401: Denied, 403: Denied, 404: NotThere, 412: ChangedMeanwhile,
    428: MatchWanted, 507: NoRoom,
}  # fmt: skip
_BUSY = frozenset({408, 429, 500, 502, 503, 504})
_READS = frozenset({"GET", "HEAD"})
_WRITTEN = frozenset({201, 204})
_DONE = {
    "GET": frozenset({200}), "HEAD": frozenset({200}), "DELETE": frozenset({204}),
    "PUT": _WRITTEN, "POST": _WRITTEN,
}  # fmt: skip
"""Method → the statuses with which Fedora reports success."""
_LDP = "http://www.w3.org/ns/ldp#"


def check(
    method: str, url: str, status: int, headers: Mapping[str, str], body: Callable[[], str]
) -> None:
    """Accept only an answer in which Fedora reports success.

    Every resource of Fedora has its LDP type in a Link header (6.0.0 to 7.0.0); Fedora's own
    404 and 410 are HTML only if HTML was asked for.

    Args:
        url: Of the request.
        status: HTTP status of the answer.
        headers: Of the answer.
        body: Reads the body; not called if the answer is accepted.

    Raises:
        RemoteError: The subclass for the cause; `NotOfThisKind` if the answer does not come from
            Fedora.
    """
    is_html = "text/html" in headers.get("Content-Type", "").lower()
    if status >= 400 and not (is_html and status in {404, 410} and method != "DELETE"):
        raise cause(status, url, headers, body())
    is_done = status in _DONE[method] or (status == 204 and method == "GET" and "/fcr:tx/" in url)
    if method in _READS and "/fcr:tx/" not in url:
        types = linked(headers.get("Link", ""), "type")
        is_done = is_done and any(one.startswith(_LDP) for one in types)
    if not is_done:
        raise NotOfThisKind(status, url, _of_others(headers, body()))


def _of_others(headers: Mapping[str, str], body: str) -> str:
    """Describe an answer that does not come from Fedora."""
    if where := headers.get("Location"):
        return f"is not Fedora's answer: it redirects to {where}; is the address right?"
    kind = headers.get("Content-Type", "").partition(";")[0] or "an empty page"
    said = _line(body)
    return f"is not Fedora's answer: {kind}" + (f' "{said}"' if said else "")


def cause(status: int, url: str, headers: Mapping[str, str], body: str) -> RemoteError:
    """Return the error for an answer.

    Args:
        status: HTTP status, 400 or more.
        url: Of the request.
        headers: Of the answer.
        body: Of the answer.
    """
    reason = _line(body)
    if status in _BUSY:
        now = http_date(headers.get("Date", "")) or datetime.now(UTC)
        return Busy(status, url, reason, retry_after(headers.get("Retry-After"), now))
    if status == 410:
        tombstones = linked(headers.get("Link", ""), TOMBSTONE)
        return Departed(status, url, reason, tombstones[0] if tombstones else "")
    if status == 409:
        return _conflict(url, headers, body, reason)
    return _BY_STATUS.get(status, Refused)(status, url, reason)


def _conflict(url: str, headers: Mapping[str, str], body: str, reason: str) -> RemoteError:
    """Distinguish the kinds of 409.

    6.0.0 answers all as plain text; later versions answer a lock as JSON.
    """
    if "json" in headers.get("Content-Type", "") or "being updated by another" in body:
        return Locked(409, url, reason)
    if re.search(r"\btransaction\b", body, re.IGNORECASE):
        return TransactionLost(409, url, reason)
    if "checksum" in body.lower():
        return DigestMismatch(409, url, reason)
    return Refused(409, url, reason)


def _line(body: str) -> str:
    """Return the first 200 characters of a message, without the mark-up of error pages."""
    if "<html" in body[:200].lower():
        title = re.search(r"<title>(.*?)</title>", body, re.IGNORECASE | re.DOTALL)
        body = title[1] if title else ""
    return " ".join(body.split())[:200]


_LINK = re.compile(r'<([^<>]*)>((?:\s*;\s*[\w-]+\s*=\s*(?:"[^"]*"|[^",;\s]+))*)')
_PARAMETER = re.compile(r';\s*([\w-]+)\s*=\s*(?:"([^"]*)"|([^",;\s]+))')


def links(header: str) -> list[tuple[str, dict[str, str]]]:
    """Parse a Link header or a body in ``application/link-format``: (target, parameters)."""
    return [
        (target, {name: quoted or plain for name, quoted, plain in _PARAMETER.findall(rest)})
        for target, rest in _LINK.findall(header)
    ]


def linked(header: str, relation: str) -> tuple[str, ...]:
    """Return the targets of one relation, in order."""
    return tuple(target for target, about in links(header) if about.get("rel") == relation)


@dataclass(frozen=True, slots=True)
class Memento:
    """A version in Fedora; ``stamp`` is its time in seconds, ``yyyyMMddHHmmss`` in UTC."""

    uri: str
    stamp: str


def mementos(time_map: str) -> tuple[Memento, ...]:
    """Return the versions in a time map, the oldest first.

    6.0.0 lists two commits in the same second twice, under the same address.
    """
    found = [Memento(uri, stamp_in(uri)) for uri in linked(time_map, "memento")]
    return tuple(sorted(found, key=lambda memento: memento.stamp))


def stamp_in(memento_uri: str) -> str:
    """Return ``20261121221628`` for ``…/fcr:versions/20261121221628``."""
    return memento_uri.rsplit("/", 1)[-1]


def digests(header: str) -> dict[str, str]:
    """Parse a Digest header: algorithm → value; Fedora writes the values in hex."""
    pairs = (part.strip().partition("=") for part in header.split(",") if "=" in part)
    return {name.lower(): value.lower() for name, _, value in pairs}
