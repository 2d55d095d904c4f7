"""HTTP requests to one Fedora server, with errors as exceptions. Knows nothing of records.

Requests are not retried here: the engine retries whole deposits.
"""

import math
import sys
from base64 import b64encode
from collections.abc import Mapping
from typing import IO
from urllib.parse import quote, unquote, urlsplit

from politeweb.settings import HttpSettings
from siloexport.targets.fedora.answers import (
    Departed,
    check,
)
from siloexport.targets.remote.errors import NotThere, RemoteError
from siloexport.targets.remote.server import Body, Server, ServerAnswer

NT = "application/n-triples"
LINK_FORMAT = "application/link-format"
ARCHIVAL_GROUP = "http://fedora.info/definitions/v4/repository#ArchivalGroup"
BINARY = "http://www.w3.org/ns/ldp#NonRDFSource"
_SETTINGS = HttpSettings(connect_timeout=10, read_timeout=300, total_timeout=math.inf)
"""Seconds to connect, and between two bytes of an answer; a commit writes all files."""
_HEADERS = {"User-Agent": "recordsilo", "Accept": "*/*"}
"""If the answer to a write does not match Accept, 6.0.0 makes the resource and answers 406; `*/*`
matches all."""
_SAFE = ":+=,@~"
ADDRESS = f"/{_SAFE}"
"""Characters that are not percent-encoded in an address."""
Auth = tuple[bytes, bytes]


class FedoraClient(Server):
    """Sends requests to the server. Any number of threads may use it; each has its own connection.

    Credentials are sent to one server only: redirects are not followed, and addresses on other
    servers are refused.

    Args:
        url: Any address on the server; all requests use its scheme, host and port.
        auth: User and password; None to send none.
        settings: For timeouts; by default those of an export.
    """

    def __init__(
        self, url: str, auth: Auth | None = None, settings: HttpSettings = _SETTINGS
    ) -> None:
        login = "" if auth is None else f"Basic {b64encode(b':'.join(auth)).decode()}"
        super().__init__(url, login, settings)

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: Body = None,
        *,
        into: IO[bytes] | None = None,
        most: int = sys.maxsize,
    ) -> ServerAnswer:
        """Send one request and read the answer; see `Server.send`.

        Raises:
            RemoteError: The subclass for the cause; `Busy` if there was no answer, `NotOfThisKind`
                if it does not come from Fedora, `OnAnotherServer` if the address is on another
                server.
        """
        head = {**_HEADERS, **(headers or {})}
        answer = super().send(method, url, head, body, into=into, most=most)
        try:
            check(method, url, answer.status, answer.headers, lambda: answer.mask(answer.text))
        except RemoteError as error:
            error.mask(answer.mask)
            raise
        return answer

    def get_if_there(
        self, url: str, headers: Mapping[str, str] | None = None, method: str = "GET"
    ) -> ServerAnswer | None:
        """Send a request as `send`; return None if there is nothing, or only a tombstone.

        Args:
            url: An address on the server.
            method: GET or HEAD.

        Raises:
            RemoteError: As `send`, for other answers.
        """
        try:
            return self.send(method, url, headers)
        except (NotThere, Departed):
            return None


def joined(base: str, *segments: str) -> str:
    """Join path segments to an address, percent-encoded as Fedora writes them."""
    return "/".join([base.rstrip("/"), *(quote(segment, safe=_SAFE) for segment in segments)])


def candidates(url: str) -> list[str]:
    """Return where the repository's root may be, given an address below it.

    These are the addresses above it, then the paths that the war file and the Docker image use.
    """
    parts = urlsplit(url)
    host = f"{parts.scheme}://{parts.netloc}"
    segments = [segment for segment in parts.path.split("/") if segment]
    above = ["/".join([host, *segments[:count]]) for count in range(len(segments), -1, -1)]
    # `…/rest` first, because each wrong candidate costs a request.
    above.sort(key=lambda one: not one.endswith("/rest"))
    whole = "/".join([host, *segments])
    return [*above, f"{whole}/rest", f"{whole}/fcrepo/rest"]


def segments_below(root: str, url: str) -> tuple[str, ...]:
    """Return the decoded path segments from the repository's root to an address."""
    below = urlsplit(url).path.rstrip("/").removeprefix(urlsplit(root).path.rstrip("/"))
    return tuple(unquote(segment) for segment in below.split("/") if segment)
