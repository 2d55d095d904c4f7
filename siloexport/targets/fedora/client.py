"""HTTP to one Fedora: sends, and raises what an answer means. Knows no records.

Nothing is sent twice here: what is retried is a whole deposit, which the engine does.
"""

import threading
from collections.abc import Iterable, Mapping
from types import TracebackType
from urllib.parse import quote, unquote, urlsplit

import requests
from requests.auth import HTTPBasicAuth
from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from politeweb.failures import reason_of
from politeweb.sessions import PlainSession, sent
from politeweb.settings import HttpSettings
from siloexport.targets.fedora.answers import Busy, Departed, Elsewhere, NotThere, check

NT = "application/n-triples"
LINK_FORMAT = "application/link-format"
ARCHIVAL_GROUP = "http://fedora.info/definitions/v4/repository#ArchivalGroup"
BINARY = "http://www.w3.org/ns/ldp#NonRDFSource"
_SETTINGS = HttpSettings(connect_timeout=10, read_timeout=300)
"""Seconds to connect, and between two bytes of an answer: a commit writes every file of it."""
_HEADERS = {"User-Agent": "recordsilo", "Accept": "*/*"}
"""On writes an Accept that the answer does not match is answered 406 after the resource was made
(6.0.0); `*/*` matches all."""
_PORTS = {"http": 80, "https": 443}
_SAFE = ":+=,@~"
ADDRESS = f"/{_SAFE}"
"""What is not percent-encoded in an address."""
Auth = tuple[bytes, bytes]
Body = bytes | Iterable[bytes] | None


class FedoraClient:
    """Requests to the server, by any number of threads; each has a connection of its own.

    Credentials go to one server only: redirections are not followed, and addresses of
    other servers, whoever names them, are refused.

    Args:
        url: Any address of the server; its scheme, host and port are those of all requests.
        auth: User and password; None leaves it to the user's netrc.
    """

    def __init__(self, url: str, auth: Auth | None = None) -> None:
        self._origin = _origin(url)
        self._auth = auth
        self._own = threading.local()
        self._sessions: list[requests.Session] = []
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            for session in self._sessions:
                session.close()
            self._sessions.clear()
            self._own = threading.local()

    def __enter__(self) -> "FedoraClient":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._own, "session", None)
        if session is None:
            session = self._own.session = PlainSession()
            with self._lock:
                self._sessions.append(session)
        return session

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: Body = None,
    ) -> requests.Response:
        """Send one request and read the answer.

        Raises:
            FedoraError: The subclass for the answer's cause; `Busy` for no answer,
                `NotFedora` for one that is not Fedora's, `Elsewhere` for an address of
                another server.
        """
        self.check_address(url)
        try:
            answer = sent(
                self._session(),
                _SETTINGS,
                method,
                url,
                headers={**_HEADERS, **(headers or {})},
                auth=None if self._auth is None else HTTPBasicAuth(*self._auth),
                body=body,
            )
            answer.content  # noqa: B018 - read here, where it may fail
        except (requests.RequestException, UnicodeError) as error:
            raise Busy(0, url, reason_of(error, _SETTINGS)) from error
        check(method, url, answer.status_code, answer.headers, lambda: answer.text)
        return answer

    def check_address(self, url: str) -> None:
        """Refuse an address of another server; called before every request.

        Raises:
            Elsewhere: Scheme, host or port differ.
        """
        if self._origin is None or _origin(url) != self._origin:
            raise Elsewhere(url)

    def get_if_there(
        self, url: str, headers: Mapping[str, str] | None = None, method: str = "GET"
    ) -> requests.Response | None:
        """As `send`; None where nothing is there, or only a tombstone."""
        try:
            return self.send(method, url, headers)
        except (NotThere, Departed):
            return None


def _origin(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port as urllib3 will use them; None for no address of HTTP."""
    try:
        parts = parse_url(url)
    except LocationParseError:
        return None
    if parts.scheme not in _PORTS or not parts.host:
        return None
    return parts.scheme, parts.host, parts.port or _PORTS[parts.scheme]


def joined(base: str, *segments: str) -> str:
    """An address below another; segments are percent-encoded as Fedora itself writes them."""
    return "/".join([base.rstrip("/"), *(quote(segment, safe=_SAFE) for segment in segments)])


def candidates(url: str) -> list[str]:
    """Where the repository's root may be, of which an address below it is known.

    The addresses above it, then the places where the war and the Docker image put it.
    """
    parts = urlsplit(url)
    host = f"{parts.scheme}://{parts.netloc}"
    segments = [segment for segment in parts.path.split("/") if segment]
    above = ["/".join([host, *segments[:count]]) for count in range(len(segments), -1, -1)]
    # `…/rest` first: asking for a container that is not there costs an answer each.
    above.sort(key=lambda one: not one.endswith("/rest"))
    whole = "/".join([host, *segments])
    return [*above, f"{whole}/rest", f"{whole}/fcrepo/rest"]


def segments_below(root: str, url: str) -> tuple[str, ...]:
    """The path from the repository's root to an address, decoded."""
    below = urlsplit(url).path.rstrip("/").removeprefix(urlsplit(root).path.rstrip("/"))
    return tuple(unquote(segment) for segment in below.split("/") if segment)
