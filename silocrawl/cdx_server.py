"""Answers the queries of `silocrawl.cdx_query` over HTTP, as a WSGI application."""

import logging
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qsl

from silocrawl.cdx_query import CaptureIndex, QueryRefused, answer, query_of

PATHS = frozenset({"/", "/own", "/own/cdx"})
"""As a server of its own, as a collection of OutbackCDX, and as one of pywb."""
_OWN_NAMES = frozenset({"127.0.0.1", "localhost"})
"""Of the server; a page elsewhere could give its own name the address of this machine."""
_MOST_PARAMETERS, _LONGEST_QUERY = 50, 16_000

Start = Callable[[str, list[tuple[str, str]]], Any]
logger = logging.getLogger(__name__)


class CdxApp:
    """Answers GET and HEAD; what is wrong with a request is said in a sentence.

    Args:
        index: The index, which may grow.
    """

    def __init__(self, index: CaptureIndex) -> None:
        self._index = index

    def __call__(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        """Answer a request (PEP 3333)."""
        status, kind, body = self._answer(environ)
        headers = [("Content-Type", f"{kind}; charset=utf-8"), ("Content-Length", str(len(body)))]
        start(status, [*headers, ("X-Content-Type-Options", "nosniff")])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    def _answer(self, environ: dict[str, Any]) -> tuple[str, str, bytes]:
        if (refused := _refusal(environ)) is not None:
            return refused
        try:
            query = query_of(_parameters(environ.get("QUERY_STRING", "")))
            lines = answer(query, self._index)
        except QueryRefused as error:
            return _sentence("400 Bad Request", str(error))
        except (OSError, ValueError) as error:
            logger.exception("%s", environ.get("QUERY_STRING", ""))
            return _sentence("500 Internal Server Error", f"the index cannot be read: {error}")
        kind = "application/x-ndjson" if query.is_json else "text/plain"
        return "200 OK", kind, "".join(lines).encode()


def _refusal(environ: dict[str, Any]) -> tuple[str, str, bytes] | None:
    name = environ.get("HTTP_HOST", "localhost").partition(":")[0].lower()
    if name not in _OWN_NAMES:
        return _sentence("403 Forbidden", "ask by the name 127.0.0.1 or localhost")
    if environ["REQUEST_METHOD"] not in {"GET", "HEAD"}:
        return _sentence("405 Method Not Allowed", "lines can only be asked for: GET")
    if environ.get("PATH_INFO", "/").rstrip("/") not in PATHS | {""}:
        return _sentence("404 Not Found", "queries are answered at /?url=https://example.org/")
    return None


def _parameters(query: str) -> list[tuple[str, str]]:
    if len(query) > _LONGEST_QUERY:
        raise QueryRefused(f"the query is longer than {_LONGEST_QUERY:,} characters")
    try:
        return parse_qsl(query, errors="strict", max_num_fields=_MOST_PARAMETERS)
    except ValueError as error:
        raise QueryRefused(f"the query cannot be read: {error}") from None


def _sentence(status: str, text: str) -> tuple[str, str, bytes]:
    return status, "text/plain", f"{text}\n".encode(errors="replace")
