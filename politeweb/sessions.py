"""Requests that change nothing of what is asked, and who is told a password."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import requests

from politeweb.addresses import Address
from politeweb.settings import HttpSettings

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


def sent(
    session: requests.Session,
    settings: HttpSettings,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    auth: Auth,
    body: Any = None,
) -> requests.Response:
    """Send one request; return its answer with the body unread. Redirects are not followed.

    Args:
        session: A `PlainSession`.
        settings: Times, certificates and proxies; credentials and headers are not taken from it.
        method: Of HTTP.
        url: Where to.
        headers: All that are sent.
        auth: Of this request.
        body: As requests takes one.

    Raises:
        requests.RequestException, urllib3.exceptions.HTTPError, OSError: See `failures`.
    """
    return session.request(
        method,
        url,
        data=body,
        headers=dict(headers),
        auth=auth,
        timeout=(settings.connect_timeout, min(settings.read_timeout, settings.total_timeout)),
        allow_redirects=False,
        stream=True,
        verify=settings.verify,
        proxies=settings.proxies,
    )


def with_credentials(
    headers: Mapping[str, str], url: str, home: Address | None, settings: HttpSettings, other: Auth
) -> tuple[dict[str, str], Auth]:
    """The headers and the `Auth` of a request: secrets go to the host they are meant for.

    Args:
        headers: Those without a secret.
        url: Where the request goes.
        home: The address that the credentials are for.
        settings: Has credentials, too; those in ``home`` count first.
        other: For requests to other hosts.
    """
    found, auth = dict(headers), other
    if home is not None and home.shares_credentials_with(url):
        found |= dict(settings.secret_headers)
        auth = home.auth or settings.auth
    if any(name.lower() == "authorization" for name in found):
        auth = keep_header
    return found, auth


def location_of(response: requests.Response) -> str | None:
    """Where an answer redirects to, as sent; None where it does not."""
    if response.status_code not in {301, 302, 303, 307, 308}:
        return None
    return response.headers.get("location") or None
