"""Read the request in a log line: RFC 9112, section 3 (pure)."""

import re
from typing import NamedTuple

_USUAL = re.compile(r"([A-Z]+) (/[^ ?#]*)(?:\?([^ #]*))?(?:#[^ ]*)? HTTP/[^ ]*")
"""Of nearly all requests; it gives what the steps of `read_request` give."""
_PLAIN = re.compile(rb"[A-Z]+ (/[!\"$->@-~]*)(?:\?[!\"$-~]*)? HTTP/[!-~]*")
"""Of most of them, in bytes: of printable ASCII, without a fragment."""
_HOST = re.compile(r"https?://([^/?]*)", re.IGNORECASE)


class RequestLine(NamedTuple):
    """A request line.

    Attributes:
        method: Such as ``GET``; ``""`` if the line is no HTTP request.
        path: As sent, without query, scheme and host.
        query: What follows the first ``?``.
        host: The host in an absolute address, or ``""``.
    """

    method: str
    path: str
    query: str = ""
    host: str = ""


NONE = RequestLine("", "")


def read_request(text: str) -> RequestLine:
    """Read ``GET /path?query HTTP/1.1``; the version may be missing (HTTP/0.9)."""
    if usual := _USUAL.fullmatch(text):
        return RequestLine(usual[1], usual[2], usual[3] or "")
    method, _, rest = text.partition(" ")
    target, _, version = rest.rpartition(" ")
    if not version.startswith("HTTP/"):
        target = rest
    if not (method.isascii() and method.isupper() and method.isalpha()):
        return NONE
    return read_target(method, target)


def plain_path(line: bytes) -> str:
    """Return the path of a plain request line; ``""`` if `read_request` has to read it."""
    plain = _PLAIN.fullmatch(line)
    return plain[1].decode("ascii") if plain else ""


def read_target(method: str, target: str) -> RequestLine:
    """Split the target of a request into path, query and host."""
    host = ""
    if not target.startswith("/") and (found := _HOST.match(target)):
        host, target = found[1], target[found.end() :] or "/"
    path, _, query = target.partition("#")[0].partition("?")
    return RequestLine(method, path, query, host) if path.startswith("/") else NONE
