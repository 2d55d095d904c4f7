"""A site under a path of its own: its addresses get that path as they leave.

A site writes its addresses from ``/`` on. What goes out under ``/silos/<name>`` is put
right where an address can stand and nowhere else: in attributes of HTML, members of
JSON that are addresses, Location, and the path of cookies. Texts of records cannot be
taken for one of these: a quotation mark in them is escaped in both.

Source: PEP 3333, "URL Reconstruction" (SCRIPT_NAME).
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

App = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

_ATTRIBUTE = re.compile(rb'(\s(?:href|action|src|formaction|data-[a-z]+)=")/(?!/)')
_MEMBER = re.compile(rb'("(?:url|next|previous|action|href|location|events)": ?")/(?!/)')
_COOKIE_PATH = re.compile(r"(;\s*Path=)/", re.IGNORECASE)
_REWRITTEN = {"text/html": _ATTRIBUTE, "application/json": _MEMBER, "application/jsonl": _MEMBER}


class Mounted:
    """A WSGI application under a prefix.

    Args:
        app: Answers from ``/`` on.
        prefix: Without a slash at its end, percent-encoded.
    """

    def __init__(self, app: App, prefix: str) -> None:
        self._app, self._prefix = app, prefix

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        """Answer a request whose target begins with the prefix."""
        rewritten: list[re.Pattern[bytes]] = []

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            kind = {name.lower(): value for name, value in headers}.get("content-type", "")
            if pattern := _REWRITTEN.get(kind.partition(";")[0].strip()):
                rewritten.append(pattern)
                headers = [one for one in headers if one[0].lower() != "content-length"]
            return start_response(status, [self._header(*one) for one in headers], *more)

        answer = self._app(self._inner(environ), start)
        return _Body(answer, rewritten, self._prefix.encode("ascii"))

    def _inner(self, environ: dict[str, Any]) -> dict[str, Any]:
        """The request as the site sees it."""
        inner = dict(environ)
        for name in ("REQUEST_URI", "RAW_URI"):
            if target := str(environ.get(name) or ""):
                inner[name] = target.removeprefix(self._prefix) or "/"
        parts = str(environ.get("PATH_INFO", "")).split("/", 3)
        inner["PATH_INFO"] = "/" + (parts[3] if len(parts) > 3 else "")
        inner["SCRIPT_NAME"] = ""
        return inner

    def _header(self, name: str, value: str) -> tuple[str, str]:
        if name.lower() == "location" and value.startswith("/") and not value.startswith("//"):
            return name, self._prefix + value
        if name.lower() == "set-cookie":
            return name, _COOKIE_PATH.sub(rf"\1{self._prefix}/", value)
        return name, value


class _Body:
    """An answer with its addresses put right, piece by piece; pieces end where values do."""

    def __init__(
        self, answer: Iterable[bytes], rewritten: list[re.Pattern[bytes]], prefix: bytes
    ) -> None:
        self._answer, self._rewritten = answer, rewritten
        self._new = rb"\g<1>" + prefix.replace(b"\\", rb"\\") + b"/"

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._answer:  # headers are known once the first piece is
            yield self._rewritten[0].sub(self._new, piece) if self._rewritten else piece

    def close(self) -> None:
        """Close the answer."""
        close = getattr(self._answer, "close", None)
        if close is not None:
            close()
