"""The provider as a WSGI application (OAI-PMH 2.0, section 3.1: HTTP embedding)."""

import gzip
import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from oaipmhprovider.arguments import Arguments
from oaipmhprovider.provider import DEFAULT_SETTINGS, Response, Settings, respond
from oaipmhprovider.source import RecordSource, SourceUnavailable
from politeweb.codings import accepts_gzip

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

Clock = Callable[[], datetime]

_FORM = "application/x-www-form-urlencoded"
_LONGEST_QUERY = 64 * 1024
_MOST_ARGUMENTS = 100
_WORTH_COMPRESSING = 1024
_SECONDS_UNTIL_AVAILABLE = "60"

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

    It answers GET and POST (a form of at most 64 KiB), other methods with 405, and other paths
    with 404. Responses are compressed if the client accepts gzip. While the source is not
    available, it answers 503 with ``Retry-After`` (section 3.1.2.2). Other exceptions of the source
    are not caught; the server reports them.
    """

    def __init__(
        self,
        source: RecordSource,
        settings: Settings = DEFAULT_SETTINGS,
        *,
        path: str = "/oai2",
        clock: Clock = utc_now,
    ) -> None:
        self.source = source
        self.settings = replace(settings, compression=("gzip",))
        self.path = path
        self.clock = clock

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        try:
            _check_path(environ, self.path)
            arguments = _read_arguments(environ)
            response = self._respond(arguments)
        except _HTTPRefusal as refusal:
            body = f"{refusal.sentence}\n".encode()
            headers = [("Content-Type", "text/plain; charset=utf-8"), *refusal.headers]
            start_response(refusal.status, [*headers, ("Content-Length", str(len(body)))])
            return [b"" if environ["REQUEST_METHOD"] == "HEAD" else body]
        headers = [*response.headers, ("Vary", "Accept-Encoding")]
        body = response.body
        if len(body) >= _WORTH_COMPRESSING and accepts_gzip(
            environ.get("HTTP_ACCEPT_ENCODING", "")
        ):
            body = gzip.compress(body, compresslevel=1, mtime=0)
            headers.append(("Content-Encoding", "gzip"))
        start_response("200 OK", [*headers, ("Content-Length", str(len(body)))])
        return [body]

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


def _check_path(environ: "WSGIEnvironment", path: str) -> None:
    asked = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
    if asked.rstrip("/") != path.rstrip("/"):
        raise _HTTPRefusal("404 Not Found", f"The repository answers at {path}.")


def _read_arguments(environ: "WSGIEnvironment") -> Arguments:
    method = environ["REQUEST_METHOD"]
    if method not in ("GET", "POST"):
        raise _HTTPRefusal(
            "405 Method Not Allowed", "OAI-PMH requests use GET or POST.", ("Allow", "GET, POST")
        )
    arguments = _parse(environ.get("QUERY_STRING", ""))
    return arguments if method == "GET" else [*arguments, *_parse(_read_form(environ))]


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
