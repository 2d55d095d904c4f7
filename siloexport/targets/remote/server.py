"""HTTP requests to one server: its addresses only, no redirects, limits on time and size.

Requests are not retried here: the engine retries whole deposits.
"""

import math
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO

import requests
from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from politeweb.addresses import is_loopback, without_credentials
from politeweb.answers import REDIRECTS, http_date, media_type, retry_after
from politeweb.failures import BROKEN, reason_of
from politeweb.sessions import PlainSession, bounded, keep_header, sent
from politeweb.settings import HttpSettings, own_name
from recordsilo.closing import Closing
from siloexport.errors import CredentialsRefused, TargetUnusable
from siloexport.targets.remote.errors import (
    Busy,
    ChangedMeanwhile,
    Denied,
    NoRoom,
    NotOfThisKind,
    NotSupported,
    NotThere,
    OnAnotherServer,
    Refused,
    RemoteError,
)
from siloexport.targets.remote.masking import Mask, mask_of

SETTINGS = HttpSettings(connect_timeout=10, read_timeout=300, total_timeout=3600, netrc=False)
"""Seconds to connect, between two bytes, and for one answer: a server may unpack what it got."""
MOST = 16 << 20
"""Bytes of an answer that is read into memory."""
_PIECE = 1 << 16
_PORTS = {"http": 80, "https": 443}
_BY_STATUS: dict[int, type[RemoteError]] = {
    401: Denied, 403: Denied, 404: NotThere, 405: NotSupported, 406: NotSupported,
    410: NotThere, 412: ChangedMeanwhile, 501: NotSupported, 507: NoRoom,
}  # fmt: skip
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
Body = bytes | Iterable[bytes] | None


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """An answer; names of headers may be looked up in any case.

    Attributes:
        mask: Replaces the secrets of the request in what is said of the answer.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    mask: Mask = field(default=str, repr=False, compare=False)

    @property
    def media_type(self) -> str:
        """Its media type without parameters."""
        return media_type(self.headers.get("Content-Type", ""))

    @property
    def text(self) -> str:
        """Its body as text."""
        return self.body.decode("utf-8", "replace")

    @property
    def is_html(self) -> bool:
        """Whether it is a page for people."""
        return self.media_type in {"text/html", "application/xhtml+xml"}


class Server(Closing):
    """Sends requests to one server. Threads may share it; each has its own connection.

    Args:
        url: Any address on the server; all requests use its scheme, host and port.
        authorization: The header ``Authorization``; ``""`` to send none.
        settings: For timeouts.

    Attributes:
        mask: Replaces the secrets in a text by ``***``.
    """

    def __init__(
        self, url: str, authorization: str = "", settings: HttpSettings = SETTINGS
    ) -> None:
        self._origin = origin(url)
        self._settings = settings
        self._own = threading.local()
        self._sessions: list[requests.Session] = []
        self._lock = threading.Lock()
        self._authorization = {"Authorization": authorization} if authorization else {}
        self.mask = mask_of(authorization)

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            for session in self._sessions:
                session.close()
            self._sessions.clear()
            self._own = threading.local()

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._own, "session", None)
        if session is None:
            session = self._own.session = PlainSession()
            if math.isfinite(seconds := self._settings.total_timeout):
                bounded(session, seconds)
            with self._lock:
                self._sessions.append(session)
        return session

    def check_address(self, url: str) -> None:
        """Check that an address is on the server; called before every request.

        Raises:
            OnAnotherServer: Its scheme, host or port differs. An address of an answer may have
                the credentials in it, which are masked.
        """
        if self._origin is None or origin(url) != self._origin:
            raise OnAnotherServer(self.mask(url))

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: Body = None,
        *,
        into: IO[bytes] | None = None,
        most: int = MOST,
    ) -> ServerAnswer:
        """Send one request and read the answer, whatever its status.

        Args:
            url: An address on the server.
            body: Bytes, or an iterable of bytes with a length.
            into: Gets the body of an answer 200 instead of `ServerAnswer.body`.
            most: Bytes of a body that are read; more are an error.

        Raises:
            Busy: There was no answer, or it is too long.
            OnAnotherServer: The address is on another server; nothing was sent.
        """
        self.check_address(url)
        head = {"User-Agent": own_name(), "Accept": "*/*", **(headers or {})}
        try:
            answer = sent(
                self._session(), self._settings, method, url,
                headers=head | self._authorization, auth=keep_header, body=body,
            )  # fmt: skip
            with answer:
                taken = into if into is not None and answer.status_code == 200 else None
                content = _read(answer, url, most, taken)
        except (requests.RequestException, UnicodeError, *BROKEN) as error:
            reason = self.mask(reason_of(error, self._settings))
            raise Busy(0, self.mask(url), reason) from error
        return ServerAnswer(url, answer.status_code, answer.headers, content, self.mask)


def _read(answer: requests.Response, url: str, most: int, into: IO[bytes] | None) -> bytes:
    """Read a body, decoded, up to a limit."""
    pieces, read = [], 0
    for piece in answer.iter_content(_PIECE):
        read += len(piece)
        if read > most:
            raise NotOfThisKind(answer.status_code, url, f"the answer has more than {most:,} bytes")
        if into is None:
            pieces.append(piece)
        else:
            into.write(piece)
    return b"".join(pieces)


def failure(answer: ServerAnswer, said: str = "") -> RemoteError:
    """Return the error for an answer that is not one of success.

    Args:
        answer: Of any status.
        said: The server's own words, if they could be read from the body.
    """
    status, url = answer.status, answer.mask(answer.url)
    if status < 400:
        return NotOfThisKind(status, url, not_expected(answer))
    reason = answer.mask(said)[:500] or line_of(answer)
    if status in _BUSY:
        now = http_date(answer.headers.get("Date", "")) or datetime.now(UTC)
        return Busy(status, url, reason, retry_after(answer.headers.get("Retry-After"), now))
    return _BY_STATUS.get(status, Refused)(status, url, reason)


def not_expected(answer: ServerAnswer) -> str:
    """Describe an answer that no such server would give."""
    where = answer.headers.get("Location")
    if where and answer.status in REDIRECTS:
        where = answer.mask(where)
        return f"is not the expected answer: it redirects to {where}; is the address right?"
    kind = answer.mask(answer.media_type) or "an empty page"
    text = line_of(answer) if answer.is_html else ""
    return f"is not the expected answer: {kind}" + (f' "{text}"' if text else "")


def line_of(answer: ServerAnswer) -> str:
    """Return the first 200 characters of a body, without the mark-up of pages."""
    body = answer.body[:20_000].decode("utf-8", "replace")
    if answer.is_html or "<html" in body[:200].lower():
        title = re.search(r"<title>(.*?)</title>", body, re.IGNORECASE | re.DOTALL)
        body = title[1] if title else ""
    return answer.mask(" ".join(body.split()))[:200]


def origin(url: str) -> tuple[str, str, int] | None:
    """Return scheme, host and port as urllib3 will use them; None for an invalid address."""
    try:
        parts = parse_url(url)
    except LocationParseError:
        return None
    if parts.scheme not in _PORTS or not parts.host or parts.auth:
        return None
    return parts.scheme, parts.host, parts.port or _PORTS[parts.scheme]


def checked_address(url: str, *, plain: bool = False) -> str:
    """Check the address of a target.

    Args:
        url: From a person.
        plain: Whether http without TLS is allowed; on this machine it always is.

    Raises:
        CredentialsRefused: It contains credentials.
        TargetUnusable: It is no address of http or https, or would send secrets in the clear.
    """
    shown = without_credentials(url)
    if shown != url:
        raise CredentialsRefused(
            "the address contains credentials, which others could read; put them into a file"
        )
    found = origin(url)
    if found is None or not url.isascii() or not url.isprintable() or "#" in url:
        raise TargetUnusable(f"{shown!r} is not an http or https URL")
    scheme, host, _port = found
    if scheme == "http" and not plain and not is_loopback(host.strip("[]")):
        raise TargetUnusable(
            f"{shown} would send the credentials unencrypted; use https, or say that you want "
            "this (--plain-http)"
        )
    return url
