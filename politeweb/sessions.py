"""Sessions of requests that send requests exactly as given, within limits of time."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakSet

import requests
import urllib3
from requests.adapters import HTTPAdapter

from politeweb.connections import IsAllowed, Sockets, abort, pool_classes
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


class BoundedAdapter(HTTPAdapter):
    """An adapter of requests with a time limit for each response.

    Args:
        seconds: The limit, from the beginning of the wait for the first byte.
        is_allowed: Called for each address before it is connected to, but for those of proxies.
    """

    def __init__(self, seconds: float, is_allowed: IsAllowed | None = None) -> None:
        self._sockets: Sockets = WeakSet()
        self._direct = pool_classes(seconds, self._sockets, is_allowed)
        self._to_proxy = pool_classes(seconds, self._sockets)
        super().__init__()

    def abort(self) -> None:
        """Close all connections, so that a waiting thread ends at once."""
        abort(self._sockets)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """See requests."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = self._direct

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> urllib3.ProxyManager:
        """See requests."""
        manager: urllib3.ProxyManager = super().proxy_manager_for(proxy, **kwargs)
        manager.pool_classes_by_scheme = self._to_proxy
        return manager


def bounded(
    session: requests.Session, seconds: float, is_allowed: IsAllowed | None = None
) -> requests.Session:
    """Let a session use a `BoundedAdapter`, and return the session.

    Args:
        seconds: See `BoundedAdapter`.
        is_allowed: Likewise.
    """
    adapter = BoundedAdapter(seconds, is_allowed)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session
