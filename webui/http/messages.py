"""A request and its answer as values, and what the headers of a request ask for (pure).

Source: RFC 9110; PEP 3333 for the environ.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, BinaryIO, Protocol
from urllib.parse import parse_qsl, quote

from webui.http.errors import BadRequest, PreconditionFailed

SAFE_METHODS = frozenset({"GET", "HEAD"})
JSON = "application/json"
HTML = "text/html"
AWAIT_BODY = "webui.await_body"
"""In an environ whose body has not come: ``Callable[[str], None]``, which takes the
directory in which the body may be kept until the request is handled again."""


class Streamed(Protocol):
    """A body sent piece by piece; closed by whoever sends it, also when it is not sent."""

    def __iter__(self) -> Iterator[bytes]: ...
    def __next__(self) -> bytes: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Request:
    """One request.

    Attributes:
        raw_path: The path below where the application is mounted, still percent-encoded:
            only there is ``%2F`` in an identifier told from a slash between segments.
        query: Last value of each name.
        pairs: All names and values, in order.
        headers: Names in lower case.
        body: Not read yet; nobody has looked at its length.
        remote_addr: Where the client is; behind a trusted proxy as that says.
        by_proxy: Whether a trusted proxy sent it.
        await_body: See `AWAIT_BODY`; None where the body has come.
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


@dataclass(frozen=True, slots=True)
class Response:
    """One answer; ``content_length`` is given where the body is streamed."""

    status: int = 200
    body: bytes | Streamed = b""
    content_type: str = "text/plain; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)
    content_length: int | None = None


def from_environ(environ: Mapping[str, Any]) -> Request:
    """The request of a WSGI environ.

    Raises:
        BadRequest: The query is not UTF-8, or has very many fields.
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
    """The path as sent, still percent-encoded.

    cheroot gives the target in REQUEST_URI; elsewhere RAW_URI has it. Without either,
    PATH_INFO is taken, where ``%2F`` can no longer be told from ``/``.
    """
    target = environ.get("REQUEST_URI") or environ.get("RAW_URI") or environ.get("PATH_INFO", "")
    return str(target).partition("?")[0] or "/"


def mounted(environ: Mapping[str, Any]) -> tuple[str, str]:
    """Where the application is mounted, and the path below that; both percent-encoded.

    The first is as it was sent, so that links lead to the address that was asked for;
    it is empty at the root, and has no slash at its end.
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
    """The fields of a query or of a form's urlencoded body; the last of a name wins.

    Raises:
        BadRequest: Not UTF-8, or more than `most` fields.
    """
    return dict(parse_pairs(text, most))


def parse_pairs(text: str, most: int = 100) -> tuple[tuple[str, str], ...]:
    """The fields of a query in order, repeated names as often as they come.

    Raises:
        BadRequest: See `parse_fields`.
    """
    try:
        return tuple(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=most))
    except ValueError:
        raise BadRequest("The fields of this request cannot be read as UTF-8 text.") from None


def prefers_json(method: str, accept: str) -> bool:
    """Whether a program asks: by Accept, or with a change that does not say it takes HTML.

    ``Accept: */*`` reads a page with GET and gets JSON for a change, which is what
    curl and requests send.
    """
    accepted = dict(_accepted(accept))
    if method not in SAFE_METHODS and HTML not in accepted:
        return True
    return accepted.get(JSON, 0.0) > accepted.get(HTML, 0.0)


def _accepted(accept: str) -> Iterable[tuple[str, float]]:
    for part in accept.split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        weights = [p[2:] for p in parameters if p.lower().startswith("q=")]
        try:
            yield name.lower(), float(weights[0]) if weights else 1.0
        except ValueError:
            continue


_TAG = re.compile(r'(?P<weak>W/)?(?P<opaque>"[^"]*")')
_REVISION = re.compile(r'"([0-9]{1,15})(?:-[0-9a-f]{16})?"')


def entity_tags(header: str, *, weak: bool) -> frozenset[str]:
    """The entity tags of If-Match or If-None-Match, without ``W/``.

    Args:
        header: A list of tags; a tag may hold commas.
        weak: Whether weak tags count: they do for If-None-Match, never for If-Match.

    Source: RFC 9110, sections 8.8.3.2, 13.1.1 and 13.1.2.
    """
    return frozenset(tag["opaque"] for tag in _TAG.finditer(header) if weak or not tag["weak"])


def expected_revisions(if_match: str) -> frozenset[int] | None:
    """The revisions an If-Match header allows; None for ``*`` or no header.

    A tag is a revision alone, or as `tagged` gives it. Tags that are neither never match.
    """
    if if_match.strip() in {"", "*"}:
        return None
    found = map(_REVISION.fullmatch, entity_tags(if_match, weak=False))
    return frozenset(int(one[1]) for one in found if one)


def revision_tag(revision: int) -> str:
    """A record's revision as an entity tag."""
    return f'"{revision}"'


def tagged(headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:
    """Headers whose ETag, where it is a revision, has a digest of the body behind it.

    A page says more than the record at that revision: who looks at it, names of sets,
    files that were changed with other tools.
    """
    if not _REVISION.fullmatch(headers.get("ETag", "")):
        return headers
    digest = hashlib.sha256(body).hexdigest()[:16]
    return {**headers, "ETag": f'{headers["ETag"][:-1]}-{digest}"'}


def conditional(request: Request, response: Response) -> Response:
    """What a client gets that has, or expects, a certain state of what it reads.

    If-Modified-Since has no say, since no answer has a date of change (RFC 9110,
    section 13.1.3).

    Raises:
        PreconditionFailed: It is not in the state that If-Match expects.

    Source: RFC 9110, section 13.2.2.
    """
    tag = response.headers.get("ETag")
    if tag is None or not request.is_safe or response.status != HTTPStatus.OK:
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
    """Whether If-None-Match names what is there; ``*`` names anything."""
    known = request.headers.get("if-none-match", "").strip()
    return known == "*" or tag in entity_tags(known, weak=True)


def _names(tag: str) -> set[str]:
    """A tag, and the revision alone where it begins with one."""
    revision = _REVISION.fullmatch(tag)
    return {tag, f'"{revision[1]}"'} if revision else {tag}


def _close(response: Response) -> None:
    if not isinstance(response.body, bytes):
        response.body.close()


def cookie(request: Request, name: str) -> str:
    """What a cookie says; empty where there is none."""
    for pair in request.headers.get("cookie", "").split(";"):
        found, _, value = pair.strip().partition("=")
        if found == name:
            return value
    return ""


def redirect(location: str, status: HTTPStatus = HTTPStatus.SEE_OTHER) -> Response:
    """An answer that leads elsewhere."""
    return Response(status, headers={"Location": location})
