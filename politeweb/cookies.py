"""Cookies that servers set, and that are sent back to them (RFC 6265)."""

from email.message import Message
from http.cookiejar import CookieJar
from typing import Any, cast
from urllib.request import Request

from politeweb.response_head import ResponseHead


class Cookies:
    """The cookies of one client; threads may share them."""

    def __init__(self) -> None:
        self._jar = CookieJar()

    def header(self, url: str) -> dict[str, str]:
        """Return the header with the cookies for an http or https address; empty without any."""
        request = Request(url)  # noqa: S310 - it is not opened
        self._jar.add_cookie_header(request)
        found = request.get_header("Cookie")
        return {} if found is None else {"Cookie": found}

    def take(self, url: str, head: ResponseHead) -> None:
        """Keep the cookies that a response from this address sets."""
        request = Request(url)  # noqa: S310 - likewise
        self._jar.extract_cookies(cast("Any", _Said(head)), request)


class _Said:
    """A response as `http.cookiejar` reads it."""

    def __init__(self, head: ResponseHead) -> None:
        self._fields = Message()
        for name, value in head.texts:
            self._fields[name] = value

    def info(self) -> Message:
        return self._fields
