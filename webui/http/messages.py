"""Requests and answers as values, and the meaning of request headers (pure).

Source: RFC 9110; PEP 3333 for the environ.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, BinaryIO, Protocol
from urllib.parse import parse_qsl, quote

from webui.http.errors import BadRequest, PreconditionFailed
from webui.words.texts import numeral

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
SAFE_METHODS = frozenset({"GET", "HEAD"})
JSON = "application/json"
HTML = "text/html"
AWAIT_BODY = "webui.await_body"
"""Environ key, if the body has not been received: a ``Callable[[str], None]`` that takes the
directory for the body and has the request handled again when the body is complete."""

MAX_START = 10_000_000
"""Largest position in a list that an address may name."""


class Streamed(Protocol):
    """A body that is sent piece by piece; the server closes it, even if it is not sent."""

    def __iter__(self) -> Iterator[bytes]: ...
    def __next__(self) -> bytes: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Request:
    """One request.

    Attributes:
        raw_path: The path below where the application is mounted, still percent-encoded:
            only there can ``%2F`` in an identifier be distinguished from a slash.
        query: Last value of each name.
        pairs: All names and values, in order.
        headers: Names in lower case.
        body: Not read yet; its length has not been checked.
        remote_addr: The client's address; behind a trusted proxy, the one that it states.
        by_proxy: Whether a trusted proxy sent it.
        await_body: See `AWAIT_BODY`; None if the body has been received.
    """

    method: str
    raw_path: str
    headers: Mapping[str, str]
    body: BinaryIO
    query: Mapping[str, str] = field(default_factory=dict)
    pairs: tuple[tuple[str, str], ...] = ()
    remote_addr: str = ""
    scheme: str = "http"
    by_proxy: bool = False
    await_body: Callable[[str], None] | None = None

    @property
    def is_safe(self) -> bool:
        """Whether the method only reads."""
        return self.method in SAFE_METHODS

    @property
    def start(self) -> int:
        """The position in a list that the address names; 0 if it names none.

        Raises:
            BadRequest: It is not a number.
        """
        number = whole_number(self.query.get("start") or "0", 0, MAX_START)
        if number is None:
            raise BadRequest("The position in the list (start) must be a number.")
        return number


@dataclass(frozen=True, slots=True)
class Response:
    """One answer.

    Attributes:
        content_length: Of a streamed body, if it is known.
        is_live: Whether a streamed body occupies a place before any of it is read: it tells what
            happens now, or its beginning takes long to make.
    """

    status: int = 200
    body: bytes | Streamed = b""
    content_type: str = "text/plain; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)
    content_length: int | None = None
    is_live: bool = False


def from_environ(environ: Mapping[str, Any]) -> Request:
    """Return the request of a WSGI environ.

    Raises:
        BadRequest: The query is not UTF-8, or has too many fields.
    """
    pairs = parse_pairs(str(environ.get("QUERY_STRING", "")))
    return Request(
        method=str(environ["REQUEST_METHOD"]),
        raw_path=mounted(environ)[1],
        headers=dict(_headers(environ)),
        body=environ["wsgi.input"],
        query=dict(pairs),
        pairs=pairs,
        remote_addr=str(environ.get("REMOTE_ADDR", "")),
        scheme=str(environ.get("wsgi.url_scheme", "http")),
        await_body=environ.get(AWAIT_BODY),
    )


def target_path(environ: Mapping[str, Any]) -> str:
    """Return the path as sent, still percent-encoded.

    cheroot gives the target in REQUEST_URI; elsewhere RAW_URI has it. Without either,
    PATH_INFO is used, where ``%2F`` can no longer be distinguished from ``/``.
    """
    target = environ.get("REQUEST_URI") or environ.get("RAW_URI") or environ.get("PATH_INFO", "")
    return str(target).partition("?")[0] or "/"


def mounted(environ: Mapping[str, Any]) -> tuple[str, str]:
    """Return the application's mount point and the path below it, both percent-encoded.

    The mount point is kept as it was sent, so that links use the requested address; it is
    empty at the root, and has no slash at its end.
    """
    script = str(environ.get("SCRIPT_NAME") or "").rstrip("/")
    path = target_path(environ)
    if not script or not (environ.get("REQUEST_URI") or environ.get("RAW_URI")):
        return quote(script, encoding="latin-1"), path
    parts = path.split("/")
    count = script.count("/") + 1
    return "/".join(parts[:count]), "/" + "/".join(parts[count:])


def _headers(environ: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for key, value in environ.items():
        if key.startswith("HTTP_"):
            yield key[5:].replace("_", "-").lower(), str(value)
        elif key in {"CONTENT_TYPE", "CONTENT_LENGTH"}:
            yield key.replace("_", "-").lower(), str(value)


def parse_fields(text: str, most: int = 100) -> dict[str, str]:
    """Parse a query or a form's urlencoded body; the last value of a name counts.

    Raises:
        BadRequest: Not UTF-8, or more than `most` fields.
    """
    return dict(parse_pairs(text, most))


def parse_pairs(text: str, most: int = 100) -> tuple[tuple[str, str], ...]:
    """Parse a query into pairs in order, including repeated names.

    Raises:
        BadRequest: See `parse_fields`.
    """
    try:
        return tuple(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=most))
    except UnicodeDecodeError:
        raise BadRequest("The fields of this request cannot be read as UTF-8 text.") from None
    except ValueError:
        raise BadRequest("A request has at most {most} fields.", most=numeral(most)) from None


def whole_number(text: str, least: int, most: int) -> int | None:
    """Return a number of an address or a form; None if malformed, out of bounds, or too long.

    Python's `int` refuses 5,000 digits, and ``²``, which `str.isdigit` allows.
    """
    is_number = text.isascii() and text.isdigit() and len(text) < 16
    return int(text) if is_number and least <= int(text) <= most else None


def prefers_json(method: str, accept: str) -> bool:
    """Whether the client wants JSON: by Accept, or by a change that does not accept HTML.

    With ``Accept: */*``, which curl and requests send, GET returns a page and a change
    returns JSON.
    """
    given = dict(weighted(accept))
    if method not in SAFE_METHODS and HTML not in given:
        return True
    return given.get(JSON, 0.0) > given.get(HTML, 0.0)


def weighted(accept: str) -> Iterable[tuple[str, float]]:
    """Yield each value of an Accept header, in lower case, with its weight.

    Source: RFC 9110, section 12.4.2.
    """
    for part in accept.split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        weights = [p[2:] for p in parameters if p.lower().startswith("q=")]
        try:
            yield name.lower(), float(weights[0]) if weights else 1.0
        except ValueError:
            continue


GZIP_TAG = "-gz"
"""What the tag of an answer under gzip ends in."""
_TAG = re.compile(r'(?P<weak>W/)?(?P<opaque>"[^"]*")')
REVISION = re.compile(r'"([0-9]{1,15})(?:-[0-9a-f]{16})?"')


def entity_tags(header: str, *, weak: bool) -> frozenset[str]:
    """Return the entity tags of If-Match or If-None-Match, without ``W/`` and `GZIP_TAG`.

    Args:
        header: A list of tags; a tag may hold commas.
        weak: Whether weak tags are included: for If-None-Match, never for If-Match.

    Source: RFC 9110, sections 8.8.3.2, 13.1.1 and 13.1.2.
    """
    tags = (tag["opaque"] for tag in _TAG.finditer(header) if weak or not tag["weak"])
    return frozenset(map(_plain, tags))


def _plain(tag: str) -> str:
    """The tag of an answer without its coding."""
    return tag.removesuffix(f'{GZIP_TAG}"') + '"' if tag.endswith(f'{GZIP_TAG}"') else tag


def expected_revisions(if_match: str) -> frozenset[int] | None:
    """Return the revisions an If-Match header allows; None for ``*`` or no header.

    A tag is a revision alone, or as made by `webui.http.coding`. Other tags never match.
    """
    if if_match.strip() in {"", "*"}:
        return None
    found = map(REVISION.fullmatch, entity_tags(if_match, weak=False))
    return frozenset(int(one[1]) for one in found if one)


def revision_tag(revision: int) -> str:
    """Return a record's revision as an entity tag."""
    return f'"{revision}"'


def conditional(request: Request, response: Response) -> Response:
    """Apply If-Match and If-None-Match to an answer.

    If-Modified-Since is ignored, because no answer has Last-Modified (RFC 9110, section 13.1.3).

    Raises:
        PreconditionFailed: If-Match does not match the present state.

    Source: RFC 9110, section 13.2.2.
    """
    tag = _plain(response.headers.get("ETag", "")).removeprefix("W/")
    if not tag or not request.is_safe or response.status != HTTPStatus.OK:
        return response
    expected = request.headers.get("if-match", "*").strip()
    if expected != "*" and not _names(tag) & entity_tags(expected, weak=False):
        _close(response)
        raise PreconditionFailed("This has changed since the revision in If-Match. Read it again.")
    if not is_known(request, tag):
        return response
    _close(response)
    kept = {name: response.headers[name] for name in _OF_304 if name in response.headers}
    return Response(HTTPStatus.NOT_MODIFIED, headers=kept)


_OF_304 = ("ETag", "Cache-Control")


def is_known(request: Request, tag: str) -> bool:
    """Whether If-None-Match matches the answer; ``*`` matches anything."""
    known = request.headers.get("if-none-match", "").strip()
    return known == "*" or tag in entity_tags(known, weak=True)


def _names(tag: str) -> set[str]:
    """Return a tag, and also its revision alone if it begins with one."""
    revision = REVISION.fullmatch(tag)
    return {tag, f'"{revision[1]}"'} if revision else {tag}


def _close(response: Response) -> None:
    if not isinstance(response.body, bytes):
        response.body.close()


def cookie(request: Request, name: str) -> str:
    """Return the value of a cookie; empty if there is none."""
    return cookie_in(request.headers.get("cookie", ""), name)


def cookie_in(header: str, name: str) -> str:
    """Return the value of a cookie in a Cookie header; empty if there is none."""
    for pair in header.split(";"):
        found, _, value = pair.strip().partition("=")
        if found == name:
            return value
    return ""


def redirect(location: str, status: HTTPStatus = HTTPStatus.SEE_OTHER) -> Response:
    """Return a redirect."""
    return Response(status, headers={"Location": location})
