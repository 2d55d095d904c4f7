"""Send requests exactly as given, and credentials only to their host."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import requests

from politeweb.addresses import Address
from politeweb.answers import REDIRECTS
from politeweb.settings import HttpSettings

Auth = tuple[str, str] | Callable[[requests.PreparedRequest], requests.PreparedRequest] | None
"""User and password; None lets requests read ``~/.netrc``."""


def keep_header(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """An `Auth` that does not change the headers, and prevents the use of ``~/.netrc``."""
    return request


class PlainSession(requests.Session):
    """A session that sends queries unchanged and ignores redirects.

    All requests to a host have the same ``proxies``, ``verify`` and ``cert``.
    """

    def __init__(self) -> None:
        super().__init__()
        self._environment: dict[tuple[str, str], Any] = {}

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Return None.

        Otherwise requests reads a redirect's whole body, and fails at a malformed address, even
        if it does not follow redirects.
        """
        del resp

    def prepare_request(self, request: requests.Request) -> requests.PreparedRequest:
        """Restore the URL: requests decodes percent-encodings that some servers need."""
        prepared = super().prepare_request(request)
        _, mark, query = str(request.url).partition("?")
        prepared.url = str(prepared.url).partition("?")[0] + mark + query
        return prepared

    def merge_environment_settings(self, url: Any, *settings: Any) -> Any:
        """Cache the result per host, because requests reads the whole environment twice."""
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
    """Send a request; return its response with the body unread. Redirects are not followed.

    Args:
        session: A `PlainSession`.
        settings: For timeouts, certificates and proxies, but not credentials and headers.
        headers: All headers.
        auth: The credentials.
        body: As requests accepts it.

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
    headers: Mapping[str, str], url: str, home: Address, settings: HttpSettings
) -> tuple[dict[str, str], Auth]:
    """Return the headers and the `Auth` of a request, with secrets only for their own host.

    Args:
        headers: The headers without secrets.
        url: The address of the request.
        home: The address that the credentials are for.
        settings: May have credentials too; those in ``home`` take precedence.
    """
    found: dict[str, str] = dict(headers)
    auth: Auth = None
    if home.shares_credentials_with(url):
        found |= dict(settings.secret_headers)
        auth = home.auth or settings.auth
    if any(name.lower() == "authorization" for name in found) or not (auth or settings.netrc):
        auth = keep_header
    return found, auth


def secrets_for(url: str, home: Address | None, settings: HttpSettings) -> dict[str, str]:
    """Return the headers with secrets for a request; none for other hosts than ``home``'s.

    Args:
        url: The address of the request.
        home: See `with_credentials`.
        settings: Likewise.
    """
    if home is None or not home.shares_credentials_with(url):
        return {}
    found = dict(settings.secret_headers)
    netrc = requests.utils.get_netrc_auth(url) if settings.netrc else None
    auth = home.auth or settings.auth or netrc
    if auth and not any(name.lower() == "authorization" for name in found):
        login = ":".join(auth).encode("utf-8")
        found["Authorization"] = f"Basic {b64encode(login).decode('ascii')}"
    return found


def has_login(url: str) -> bool:
    """Whether ``~/.netrc`` has a user and password for the host of an address."""
    return requests.utils.get_netrc_auth(url) is not None


def location_of(response: requests.Response) -> str | None:
    """Return the target of a redirect as sent; None if the response is not a redirect."""
    if response.status_code not in REDIRECTS:
        return None
    return response.headers.get("location") or None
