"""Sessions of requests that change nothing of what is asked, and who is told a password."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import requests

Auth = tuple[str, str] | Callable[[requests.PreparedRequest], requests.PreparedRequest] | None
"""User and password; None has requests look in ``~/.netrc``."""


def keep_header(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """An `Auth` that leaves the headers as they are; ``~/.netrc`` is not looked at."""
    return request


class PlainSession(requests.Session):
    """A session that sends a query as given, and never looks at redirects.

    Each request to a host is sent with the same ``proxies``, ``verify`` and ``cert``.
    """

    def __init__(self) -> None:
        super().__init__()
        self._environment: dict[tuple[str, str], Any] = {}

    def get_redirect_target(self, resp: requests.Response) -> None:
        """None.

        Even where it is not to follow them, requests would read a redirect's whole
        body, however large, and stumble over a malformed address.
        """
        del resp

    def prepare_request(self, request: requests.Request) -> requests.PreparedRequest:
        """Requests would undo percent-encodings that mean the same to most servers, not to all."""
        prepared = super().prepare_request(request)
        _, mark, query = str(request.url).partition("?")
        prepared.url = str(prepared.url).partition("?")[0] + mark + query
        return prepared

    def merge_environment_settings(self, url: Any, *settings: Any) -> Any:
        """Looked up once for each host: requests goes twice through the whole environment."""
        place = urlsplit(str(url))[:2]
        if place not in self._environment:
            self._environment[place] = super().merge_environment_settings(url, *settings)
        return dict(self._environment[place])
