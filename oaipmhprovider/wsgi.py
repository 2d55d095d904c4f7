"""The provider as a WSGI application (OAI-PMH 2.0, section 3.1: HTTP embedding)."""

import gzip
import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from oaipmhprovider.arguments import Arguments
from oaipmhprovider.limits import ClientLimit, client_of
from oaipmhprovider.provider import DEFAULT_SETTINGS, Response, Settings, respond
from oaipmhprovider.source import RecordSource, SourceUnavailable
from politeweb.addresses import is_loopback
from politeweb.codings import accepts_gzip

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

Clock = Callable[[], datetime]

_FORM = "application/x-www-form-urlencoded"
_LONGEST_QUERY = 64 * 1024
_MOST_ARGUMENTS = 100
_WORTH_COMPRESSING = 1024
_SECONDS_UNTIL_AVAILABLE = "60"
_METHODS = ("GET", "HEAD", "POST")
_TAG = re.compile(r'"[^"]*"')

logger = logging.getLogger("oaipmhprovider")


class _HTTPRefusal(Exception):
    """The request cannot be read; has a status, a sentence and headers."""

    def __init__(self, status: str, sentence: str, *headers: tuple[str, str]) -> None:
        self.status = status
        self.sentence = sentence
        self.headers = headers
        super().__init__(sentence)


def utc_now() -> datetime:
    """Return the current time, aware."""
    return datetime.now(UTC)


class ProviderApp:
    """A WSGI application that serves one source at one path.

    It answers GET, HEAD and POST (a form of at most 64 KiB), other methods with 405, and other
    paths with 404. Responses are compressed if the client accepts gzip. While the source is not
    available, or for a client that asks too much, it answers 503 with ``Retry-After`` (section
    3.1.2.2). A response that has no resumption token has an ``ETag`` of what it says apart from its
    date, so that who asks with ``If-None-Match`` gets 304 while nothing has changed. Other
    exceptions of the source are not caught; the server reports them.

    Args:
        limit: How much a client may ask. A program on this machine is not limited; a request from
            there with ``X-Forwarded-For`` comes from a web server in front, for that client.
    """

    def __init__(
        self,
        source: RecordSource,
        settings: Settings = DEFAULT_SETTINGS,
        *,
        path: str = "/oai2",
        clock: Clock = utc_now,
        limit: ClientLimit | None = None,
    ) -> None:
        self.source = source
        self._limit = limit
        self.settings = replace(settings, compression=("gzip",))
        self.path = path
        self.clock = clock

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        try:
            _check_path(environ, self.path)
            if seconds := self.seconds_to_wait(environ):
                after = ("Retry-After", str(seconds))
                raise _HTTPRefusal("503 Service Unavailable", TOO_MUCH, after)
            arguments = _read_arguments(environ)
            response = self._respond(arguments)
        except _HTTPRefusal as refusal:
            body = f"{refusal.sentence}\n".encode()
            headers = [("Content-Type", "text/plain; charset=utf-8"), *refusal.headers]
            start_response(refusal.status, [*headers, ("Content-Length", str(len(body)))])
            return [b"" if environ["REQUEST_METHOD"] == "HEAD" else body]
        headers = [("Vary", "Accept-Encoding")]
        if response.tag:
            headers.append(("ETag", f"W/{response.tag}"))
            known = environ.get("HTTP_IF_NONE_MATCH", "")
            if environ["REQUEST_METHOD"] != "POST" and is_known(known, response.tag):
                start_response("304 Not Modified", headers)
                return [b""]
        headers = [*response.headers, *headers]
        body = response.body
        if len(body) >= _WORTH_COMPRESSING and accepts_gzip(
            environ.get("HTTP_ACCEPT_ENCODING", "")
        ):
            body = gzip.compress(body, compresslevel=1, mtime=0)
            headers.append(("Content-Encoding", "gzip"))
        start_response("200 OK", [*headers, ("Content-Length", str(len(body)))])
        return [b"" if environ["REQUEST_METHOD"] == "HEAD" else body]

    def seconds_to_wait(self, environ: "WSGIEnvironment") -> int:
        """For how long the client of a request has to wait, which counts; 0 if not at all."""
        if self._limit is None:
            return 0
        address = environ.get("REMOTE_ADDR", "")
        is_here = is_loopback(address)
        client = client_of(address, environ.get("HTTP_X_FORWARDED_FOR", ""), is_trusted=is_here)
        return self._limit.seconds_to_wait(client)

    def _respond(self, arguments: Arguments) -> Response:
        try:
            return respond(arguments, self.source, self.clock(), self.settings)
        except SourceUnavailable as error:
            logger.warning("a request was answered with 503: %s", error)
            raise _HTTPRefusal(
                "503 Service Unavailable",
                "The repository cannot be asked now; try again later.",
                ("Retry-After", _SECONDS_UNTIL_AVAILABLE),
            ) from None


TOO_MUCH = "You ask more often than this repository allows; wait as long as Retry-After says."


def is_known(if_none_match: str, tag: str) -> bool:
    """Whether a client has what a tag stands for (RFC 9110, section 13.1.2)."""
    return if_none_match.strip() == "*" or tag in _TAG.findall(if_none_match)


def _check_path(environ: "WSGIEnvironment", path: str) -> None:
    asked = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
    if asked.rstrip("/") != path.rstrip("/"):
        raise _HTTPRefusal("404 Not Found", f"The repository answers at {path}.")


def _read_arguments(environ: "WSGIEnvironment") -> Arguments:
    method = environ["REQUEST_METHOD"]
    if method not in _METHODS:
        raise _HTTPRefusal(
            "405 Method Not Allowed",
            "OAI-PMH requests use GET or POST.",
            ("Allow", ", ".join(_METHODS)),
        )
    arguments = _parse(environ.get("QUERY_STRING", ""))
    return arguments if method != "POST" else [*arguments, *_parse(_read_form(environ))]


def _read_form(environ: "WSGIEnvironment") -> str:
    if environ.get("CONTENT_TYPE", "").partition(";")[0].strip().lower() != _FORM:
        raise _HTTPRefusal("415 Unsupported Media Type", f"Post the arguments as {_FORM}.")
    length = environ.get("CONTENT_LENGTH", "")
    if not (length.isascii() and length.isdecimal()):
        raise _HTTPRefusal("411 Length Required", "A posted form needs a Content-Length.")
    if int(length[:9]) > _LONGEST_QUERY:
        raise _HTTPRefusal(
            "413 Content Too Large",
            f"A form may have at most {_LONGEST_QUERY} bytes.",
            ("Connection", "close"),
        )
    form: bytes = environ["wsgi.input"].read(int(length))
    return form.decode("latin-1")


def _parse(query: str) -> Arguments:
    try:
        return parse_qsl(
            query, keep_blank_values=True, errors="replace", max_num_fields=_MOST_ARGUMENTS
        )
    except ValueError:
        raise _HTTPRefusal("400 Bad Request", "The request has too many arguments.") from None
