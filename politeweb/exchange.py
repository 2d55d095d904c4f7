"""One exchange: one request for one address, and what came of it.

Nothing is followed, retried or refused here: a redirect is an answer as any other status is, and
a host that does not answer is a value. The caller decides about the next hop. A body goes through
memory in pieces: to whoever takes them, or into a file that is counted and digested meanwhile.

Source: RFC 9110, sections 6 and 15; WARC 1.1 (ISO 28500:2017), section 5.13 (WARC-Truncated).
"""

import http.client
import os
import re
import ssl
import tempfile
import time
from base64 import b32encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from functools import cached_property
from hashlib import sha1
from io import BytesIO
from types import MappingProxyType
from typing import Any, Literal, Self, cast
from urllib.parse import quote, urlsplit
from urllib.request import getproxies
from weakref import WeakSet

import urllib3
from urllib3.util.ssl_ import create_urllib3_context

from politeweb.addresses import Address, without_credentials
from politeweb.closing import Closing
from politeweb.codings import decoded
from politeweb.connections import (
    AnsweringPool,
    ClosedBefore,
    IsAllowed,
    Made,
    PrivateAddress,
    Sockets,
    WireResponse,
    abort,
    pool_classes,
)
from politeweb.errors import RequestRefused
from politeweb.failures import BROKEN, causes_of, is_timeout, reason_of
from politeweb.response_head import ResponseHead
from politeweb.settings import HttpSettings

Truncation = Literal["", "length", "time", "disconnect"]
"""Why a body is not whole, as in WARC-Truncated; empty for a whole one."""
MOST_IN_MEMORY = 1 << 20
"""Bytes of a body above which it is in a file on the disk."""
_PIECE = 65_536
_HOSTS_CONNECTED, _CONNECTIONS_KEPT = 64, 8
_WITHOUT_BODY = frozenset({"GET", "HEAD", "DELETE", "TRACE", "OPTIONS", "CONNECT"})
_IN_TARGETS = "%/?:@!$&'()*+,;=~"
_PERCENT = re.compile("%[0-9A-Fa-f]{2}|%")
_IN_PATH = r"[A-Za-z0-9_.\-/:@!$&'()*+,;=~]"
_USUAL = re.compile(
    r"(https?)://((?:[a-z0-9-]+\.)*[a-z0-9-]+)(?::([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}))?"
    rf"(/{_IN_PATH}*(?:\?(?:{_IN_PATH}|\?)+)?)"
)
"""An address that `_Target` splits as it is; most are such."""


class FailureKind(Enum):
    """Why there is no answer."""

    UNKNOWN_HOST = "unknown host"
    NO_CONNECTION = "no connection"
    """The host refuses connections, or cannot be reached."""
    TLS = "TLS"
    """Its certificate is not valid, or TLS failed otherwise."""
    TIME = "time"
    """No connection, or no complete head, in time."""
    DISCONNECT = "disconnect"
    """The connection was closed before the end of the head."""
    MALFORMED = "malformed"
    """What came is not a head of HTTP/1."""
    PRIVATE = "private"
    """All its addresses are refused; nothing was connected to."""
    PROXY = "proxy"


@dataclass(frozen=True, slots=True)
class NotAnswered:
    """Why there is no answer.

    Attributes:
        reason: In words, without the address.
    """

    kind: FailureKind
    reason: str


@dataclass(frozen=True, slots=True)
class Known:
    """The validators of an answer received before, for a conditional request."""

    etag: str = ""
    last_modified: str = ""

    @property
    def conditions(self) -> dict[str, str]:
        """Return the headers of the conditional request."""
        headers = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in headers.items() if value}


# --------------------------------------------------------------------------- bodies


class StoredBody:
    """A body as sent, without its transfer coding, in memory if it is small, else on the disk.

    Args:
        directory: Of the file, which has no name; by default that of the system for such files.

    Attributes:
        length: Bytes.
        digest: SHA-1 in base 32, as in WARC files.
    """

    def __init__(self, directory: str | None = None) -> None:
        self._file: Any = BytesIO()
        self._directory = directory
        self._sha1 = sha1(usedforsecurity=False)
        self._digest = ""
        self.length = 0

    @property
    def digest(self) -> str:
        """The digest of what was added."""
        if not self._digest:
            self._digest = b32encode(self._sha1.digest()).decode("ascii")
        return self._digest

    def add(self, piece: bytes) -> None:
        """Add a piece.

        Raises:
            OSError: The disk refused.
        """
        if self.length <= MOST_IN_MEMORY < self.length + len(piece):
            begin = self._file.getvalue()
            self._file = tempfile.TemporaryFile(dir=self._directory)  # noqa: SIM115  # see `close`
            self._file.write(begin)
        self._file.write(piece)
        self._sha1.update(piece)
        self._digest = ""
        self.length += len(piece)

    def pieces(self) -> Iterator[bytes]:
        """Yield the body from its beginning, in pieces."""
        self._file.seek(0)
        while piece := self._file.read(_PIECE):
            yield piece

    def close(self) -> None:
        """Delete it."""
        self._file.close()


@dataclass(frozen=True, slots=True)
class Taken(Closing):
    """A whole exchange. Its body is deleted when it is closed, or at the end of a ``with`` block.

    Attributes:
        url: The address as requested: percent-encoded, without credentials and fragment.
        asked: The head of the request as sent, without secrets.
        began: When the request began, aware UTC.
        made: How the connection was made; zeros for one that was used before.
        until_head: Seconds until the head of the response was complete, or the failure.
        seconds: Seconds until the end of the body.
        head: The head of the response; None if there is none.
        body: As sent, without its transfer coding; empty if there is no answer.
        sent: The body of the request.
    """

    url: str
    asked: bytes
    began: datetime
    made: Made
    until_head: float
    seconds: float
    head: ResponseHead | None
    failure: NotAnswered | None
    body: StoredBody = field(compare=False, repr=False)
    truncated: Truncation = ""
    sent: bytes = field(default=b"", repr=False)

    def content(self, limit: int) -> Iterator[bytes]:
        """Yield the body without its content coding, in pieces.

        Args:
            limit: Most bytes of all of them.

        Raises:
            ResponseTooLarge: There would be more.
            CodingBroken: The body is truncated, damaged, or in an unknown coding.
        """
        coding = self.head.get("content-encoding") if self.head is not None else ""
        return decoded(self.body.pieces(), coding, limit, self.url)

    def close(self) -> None:
        """Delete the body."""
        self.body.close()


# --------------------------------------------------------------------------- an answer as it comes


class Incoming(Closing):
    """An answer of which the body has not been read. One thread uses it, and closes it.

    Attributes:
        url, asked, sent, began, made, until_head, head, failure: See `Taken`.
        received: Bytes of pieces so far.
        truncated: Why the body is not whole, once its pieces end.
        reason: In words, why there is no answer, or its body ended early but for its length.
        error: The same as it was raised; None otherwise.
    """

    def __init__(self, url: str, asked: bytes, settings: HttpSettings, sent: bytes = b"") -> None:
        self.url, self.asked, self.sent = url, asked, sent
        self.began, self._start = datetime.now(UTC), time.monotonic()
        self.made = Made()
        self.head: ResponseHead | None = None
        self.failure: NotAnswered | None = None
        self.until_head, self.received = 0.0, 0
        self.truncated: Truncation = ""
        self.reason = ""
        self.error: Exception | None = None
        self._response: WireResponse | None = None
        self._decoded: urllib3.HTTPResponse | None = None
        self._settings = settings

    def has(self, response: WireResponse) -> None:
        """Note the answer."""
        self.until_head = self.seconds
        self.made, self.head, self._response = response.made, response.said, response

    def fails(self, error: Exception) -> None:
        """Note the failure."""
        self.until_head = self.seconds
        self.error, self.reason = error, reason_of(error, self._settings)
        self.failure = NotAnswered(_kind_of(error), self.reason)

    @property
    def seconds(self) -> float:
        """Seconds since the request began."""
        return time.monotonic() - self._start

    def pieces(self, most: int | None = None, *, decode: bool = False) -> Iterator[bytes]:
        """Yield the body as it comes, and close the answer at its end.

        It ends early, which `truncated` says, where the limit or the time of the settings is
        reached, or the connection is closed.

        Args:
            most: Most bytes of all pieces.
            decode: Whether to undo the content coding.
        """
        try:
            while piece := self._piece(decode):
                if most is not None and self.received + len(piece) > most:
                    piece = piece[: most - self.received]
                    self.truncated = "length"
                self.received += len(piece)
                yield piece
                if self.truncated:
                    return
            self._end(is_whole=not self.truncated)
        finally:
            self.close()

    def whole(self, most: int) -> bytes:
        """Return the body as sent, and close the answer; see `pieces`.

        Args:
            most: Most bytes. Of a body that is announced as longer, nothing is returned.
        """
        response = self._response
        if response is None or response.chunked or response.length is None:
            return b"".join(self.pieces(most))
        try:
            if response.length > most:
                self.truncated = "length"
                return b""
            body, error = response.whole()
            self.received = len(body)
            if error is None:
                self._end(is_whole=True)
            else:
                self._breaks(error)
            return body
        finally:
            self.close()

    def _piece(self, decode: bool) -> bytes:
        if self._response is None:
            return b""
        try:
            one = self._response
            return self._decoding(one) if decode else one.read1(_PIECE)
        except BROKEN as error:
            self._breaks(error)
            return b""

    def _breaks(self, error: Exception) -> None:
        """Note why the rest of the body is missing."""
        self.truncated = "time" if is_timeout(error) else "disconnect"
        self.error, self.reason = error, reason_of(error, self._settings)

    def _decoding(self, response: WireResponse) -> bytes:
        """Return the next piece without its content coding."""
        if self._decoded is None:
            coding = {"Content-Encoding": response.said.get("content-encoding")}
            self._decoded = urllib3.HTTPResponse(response, coding, preload_content=False)
        return self._decoded.read1(_PIECE, decode_content=True)

    def close(self) -> None:
        """Close the connection, unless the whole body was read."""
        self._end(is_whole=False)

    def _end(self, *, is_whole: bool) -> None:
        response, self._response = self._response, None
        if response is not None:
            response.end(is_whole=is_whole)


def _kind_of(error: BaseException) -> FailureKind:
    causes = causes_of(error)
    for kind, classes in _KINDS:
        if kind is FailureKind.TIME and is_timeout(error):
            return kind
        if any(isinstance(cause, classes) for cause in causes):
            return kind
    return FailureKind.DISCONNECT


_KINDS: tuple[tuple[FailureKind, tuple[type[BaseException], ...]], ...] = (
    (FailureKind.PRIVATE, (PrivateAddress,)),
    (FailureKind.PROXY, (urllib3.exceptions.ProxyError, urllib3.exceptions.ProxySchemeUnknown)),
    (FailureKind.UNKNOWN_HOST, (urllib3.exceptions.NameResolutionError,)),
    (FailureKind.TIME, ()),
    (FailureKind.NO_CONNECTION, (urllib3.exceptions.NewConnectionError,)),
    (FailureKind.TLS, (urllib3.exceptions.SSLError, ssl.SSLError)),
    (FailureKind.DISCONNECT, (ConnectionError,)),
    (FailureKind.MALFORMED, (http.client.HTTPException, ValueError)),
)
"""In this order: `http.client.RemoteDisconnected` is a `BadStatusLine`, too."""


# --------------------------------------------------------------------------- requests


class Exchanges(Closing):
    """Sends requests, over connections that it keeps; threads may share it.

    Args:
        settings: How to send requests. Their limits of time hold for each exchange, that of size
            for `take`; credentials and secret headers are sent only where they are given.
        is_allowed: Which addresses may be connected to; by default all. Proxies are.
        has_proxies: Whether proxies of the settings or the environment are used.
        resends: Whether a request is sent again if the connection, which was used before, turns
            out to be closed; else that is a failure.

    Raises:
        RequestRefused: The file of certificates does not exist.
    """

    def __init__(
        self,
        settings: HttpSettings | None = None,
        *,
        is_allowed: IsAllowed | None = None,
        has_proxies: bool = True,
        resends: bool = True,
    ) -> None:
        self._settings = settings or HttpSettings()
        if self._settings.ca_file is not None and not os.path.isfile(self._settings.ca_file):
            raise RequestRefused(f"the certificate file {self._settings.ca_file} does not exist")
        self._headers = self._settings.headers
        self._sockets: Sockets = WeakSet()
        seconds, rate = self._settings.total_timeout, self._settings.least_rate
        self._to_proxy = pool_classes(seconds, self._sockets, least_rate=rate)
        self._direct = pool_classes(seconds, self._sockets, is_allowed, least_rate=rate)
        self._managers: dict[tuple[str, bool], urllib3.PoolManager] = {}
        self._resends = resends
        self._has_proxies, self._proxies = has_proxies, dict[tuple[str, str], str]()

    def close(self) -> None:
        """Close the connections that no exchange uses."""
        for manager in self._managers.values():
            manager.clear()

    def abort(self) -> None:
        """Close all connections, so that a waiting thread ends at once."""
        abort(self._sockets)

    def open(
        self,
        url: str,
        headers: Mapping[str, str] = MappingProxyType({}),
        *,
        method: str = "GET",
        known: Known | None = None,
        secrets: Mapping[str, str] = MappingProxyType({}),
        body: bytes = b"",
    ) -> Incoming:
        """Send a request; return its answer with the body unread, or why there is none.

        Args:
            url: The address; credentials in it and a fragment are left out.
            headers: In place of those of the settings with the same names.
            method: Of the request.
            known: Makes the request conditional.
            secrets: Further headers, which are not in `Incoming.asked`.
            body: Of the request.

        Raises:
            RequestRefused: It is not an http or https URL, or a header cannot be sent.
        """
        target = _Target.of(url)
        proxy = self._proxy_of(target, url)
        path = target.url if proxy and target.scheme == "http" else target.path
        said = {"Host": target.host, **self._headers, **headers}
        if known is not None:
            said |= known.conditions
        if body or method not in _WITHOUT_BODY:
            said["Content-Length"] = str(len(body))
        asked = _head_of(method, path, said)
        incoming = Incoming(target.url, asked, self._settings, body)
        try:
            pool, login = self._pool_of(target, proxy)
            unsaid = {**secrets, **login}
            request = _head_of(method, path, said | unsaid) if unsaid else asked
            incoming.has(self._answer(pool, request + body, method))
        except (PrivateAddress, *BROKEN) as error:
            incoming.fails(error)
        return incoming

    def take(
        self,
        url: str,
        headers: Mapping[str, str] = MappingProxyType({}),
        *,
        directory: str | None = None,
        **more: Any,
    ) -> Taken:
        """Send a request, and read its answer up to the limits of the settings.

        Args:
            url: See `open`.
            headers: Likewise.
            directory: See `StoredBody`.
            more: Further arguments of `open`.

        Raises:
            RequestRefused: See `open`.
            OSError: The disk refused the body.
        """
        incoming, body = self.open(url, headers, **more), StoredBody(directory)
        try:
            for piece in incoming.pieces(self._settings.max_response):
                body.add(piece)
        except BaseException:
            body.close()
            raise
        one = incoming
        return Taken(
            one.url, one.asked, one.began, one.made, one.until_head, one.seconds,
            one.head, one.failure, body, one.truncated, one.sent,
        )  # fmt: skip

    # ------------------------------------------------------------------ connections

    def _answer(self, pool: AnsweringPool, request: bytes, method: str) -> WireResponse:
        one = self._settings
        read = min(one.read_timeout, one.total_timeout)
        while True:
            try:
                return pool.answer(request, method, connect=one.connect_timeout, read=read)
            except ClosedBefore:
                if not self._resends:
                    raise

    def _pool_of(self, target: "_Target", proxy: str) -> tuple[AnsweringPool, Mapping[str, str]]:
        """Return the connections to a host, and the headers that its proxy wants."""
        has_tls = "https" in {target.scheme, proxy.partition(":")[0]}
        manager = self._manager_of(proxy, has_tls=has_tls)
        pool = manager.connection_from_host(target.name, target.port, target.scheme)
        login: Mapping[str, str] = {}
        if isinstance(manager, urllib3.ProxyManager) and target.scheme == "http":
            login = manager.proxy_headers
        return cast("AnsweringPool", pool), login

    def _manager_of(self, proxy: str, *, has_tls: bool) -> urllib3.PoolManager:
        if (proxy, has_tls) not in self._managers:
            how: dict[str, Any] = {
                "num_pools": _HOSTS_CONNECTED, "maxsize": _CONNECTIONS_KEPT,
                "ssl_context": self._tls if has_tls else None,
            }  # fmt: skip
            if proxy:
                import requests  # noqa: PLC0415 - see `_proxy_for`

                user = ":".join(requests.utils.get_auth_from_url(proxy)).strip(":")
                login = urllib3.make_headers(proxy_basic_auth=user) if user else None
                made: urllib3.PoolManager = urllib3.ProxyManager(
                    without_credentials(proxy), proxy_headers=login, **how
                )
                made.pool_classes_by_scheme = self._to_proxy
            else:
                made = urllib3.PoolManager(**how)
                made.pool_classes_by_scheme = self._direct
            self._managers[proxy, has_tls] = made
        return self._managers[proxy, has_tls]

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """What is trusted: made once, as reading the certificates takes 20 ms."""
        verify = self._settings.verify
        context = create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED if verify else ssl.CERT_NONE)
        if verify is True:
            given = (os.environ.get(name) for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"))
            verify = next(filter(None, given), "") or _trusted()
        if verify:
            try:
                is_folder = os.path.isdir(verify)
                context.load_verify_locations(*(None, verify) if is_folder else (verify, None))
            except OSError as error:
                raise RequestRefused(
                    f"the certificates in {verify} cannot be read: {error}"
                ) from None
        return context

    def _proxy_of(self, target: "_Target", url: str) -> str:
        """Return the proxy for an address; empty without one."""
        if not self._has_proxies:
            return ""
        place = target.scheme, target.host
        if place not in self._proxies:
            has_some = self._settings.proxies or getproxies()
            self._proxies[place] = _proxy_for(url, self._settings) if has_some else ""
        return self._proxies[place]


def _proxy_for(url: str, settings: HttpSettings) -> str:
    import requests  # noqa: PLC0415 - 20 ms, and few need a proxy

    known = settings.proxies or requests.utils.get_environ_proxies(url, no_proxy=None)
    found = requests.utils.select_proxy(url, known)
    has_scheme = found is None or "://" in found
    return (found or "") if has_scheme else f"http://{found}"


def _trusted() -> str:
    from requests.utils import DEFAULT_CA_BUNDLE_PATH  # noqa: PLC0415 - likewise, for TLS

    return DEFAULT_CA_BUNDLE_PATH


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a request goes.

    Attributes:
        scheme: ``http`` or ``https``.
        name: The host, in ASCII.
        path: Path and query.
    """

    scheme: str
    name: str
    port: int
    path: str

    @classmethod
    def of(cls, url: str) -> Self:
        """Split an address.

        Raises:
            RequestRefused: It is not an http or https URL.
        """
        if usual := _USUAL.fullmatch(url):
            scheme, name, port, path = usual.groups()
            return cls(scheme, name, int(port or (443 if scheme == "https" else 80)), path)
        try:
            parts, parsed = urlsplit(Address.parse(url).url), urllib3.util.parse_url(url)
        except urllib3.exceptions.LocationParseError:
            raise RequestRefused(f"{without_credentials(url)!r} has no valid host") from None
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        path = _PERCENT.sub(lambda sign: sign[0].upper() if len(sign[0]) > 1 else "%25", path)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return cls(parts.scheme, parsed.host or "", port, quote(path, _IN_TARGETS))

    @property
    def url(self) -> str:
        """Return the address as requested."""
        return f"{self.scheme}://{self.host}{self.path}"

    @property
    def host(self) -> str:
        """Return the Host field."""
        usual = 443 if self.scheme == "https" else 80
        return self.name if self.port == usual else f"{self.name}:{self.port}"


def _head_of(method: str, path: str, headers: Mapping[str, str]) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    text = "\r\n".join([*lines, "", ""])
    try:
        head = text.encode("latin-1")
    except UnicodeEncodeError:
        raise RequestRefused("a header has characters that cannot be sent") from None
    if not len(lines) + 1 == head.count(b"\n") == head.count(b"\r"):
        raise RequestRefused("a header has line ends, which cannot be sent")
    return head
