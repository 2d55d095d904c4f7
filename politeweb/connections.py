"""Connections with a time limit for each response, headers included, and to allowed addresses only.

The timeout of a socket limits one wait. A server that sends one byte of a header per minute never
exceeds it, and headers may have megabytes. So each read checks the time.

An address is checked before it is connected to, and the connection is made to that very address:
a host name cannot change its address in between. A proxy, if used, is responsible itself.
"""

import http.client
import io
import logging
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast
from weakref import WeakSet

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.util.connection import create_connection

from politeweb.errors import FetchError

IsAllowed = Callable[[str, int, str], bool]
"""(host as in the URL, port, address to connect to) → whether it is allowed."""
Sockets = WeakSet[socket.socket]
Pools = dict[str, type[urllib3.HTTPConnectionPool]]
_LONGEST_LINE = 65_536
SECONDS_OF_RATE = 60.0
"""Over which the rate of an answer is measured; waiting for its first byte is not counted."""


def _as_sentence(record: logging.LogRecord) -> bool:
    """Leave out the traceback that urllib3 logs with a malformed header."""
    record.exc_info = None
    return True


logging.getLogger("urllib3.connection").addFilter(_as_sentence)


class PrivateAddress(FetchError):
    """A host has an address that is not public.

    Attributes:
        host: As in the URL.
    """

    def __init__(self, host: str) -> None:
        self.host = host
        super().__init__(f"{host} has an address that is not public")


class TooSlow(TimeoutError):
    """An answer comes, but below the least rate."""


class ClosedBefore(http.client.RemoteDisconnected):
    """A connection that was used before was closed before this response: send it again."""


@dataclass(frozen=True, slots=True)
class Made:
    """How a connection was made.

    Attributes:
        address: The IP address connected to; empty if a proxy connects.
        resolving: Seconds to find the addresses of the host.
        connecting: Seconds to connect.
        securing: Seconds for TLS, and for the tunnel through a proxy.
    """

    address: str = ""
    resolving: float = 0.0
    connecting: float = 0.0
    securing: float = 0.0


# --------------------------------------------------------------------------- responses


class _Bounded(io.RawIOBase):
    """Reads a socket until a deadline, and no slower than a rate; else raises TimeoutError."""

    def __init__(
        self, raw: io.RawIOBase, sock: socket.socket, seconds: float, least_rate: float
    ) -> None:
        self._raw, self._sock, self._patience = raw, sock, sock.gettimeout()
        self._deadline = time.monotonic() + seconds
        self._least_rate, self._since, self._received = least_rate, float("inf"), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        now = time.monotonic()
        left = self._deadline - now
        if left <= 0:
            raise TimeoutError("the response took too long")
        if now - self._since >= SECONDS_OF_RATE:
            if self._received < self._least_rate * (now - self._since):
                raise TooSlow("the response came too slowly")
            self._since, self._received = now, 0
        if self._patience is None or self._patience > left:
            self._sock.settimeout(left)
        count = cast("int | None", self._raw.readinto(buffer))
        if not self._received:
            self._since = min(self._since, time.monotonic())
        self._received += count or 0
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _HeadReader(io.BufferedReader):
    """Reads a response; keeps the lines of its last head, and none that has no end."""

    def __init__(self, raw: io.RawIOBase) -> None:
        super().__init__(raw)
        self._head: list[bytes] | None = []

    def readline(self, size: int | None = -1, /) -> bytes:
        most = _LONGEST_LINE + 1
        line = super().readline(most if size is None or size < 0 else min(size, most))
        if self._head is not None:
            if line.startswith(b"HTTP/"):
                self._head.clear()
            self._head.append(line)
        return line

    def end_head(self) -> bytes:
        """Return the head.

        Raises:
            http.client.RemoteDisconnected: It has no end.
        """
        lines, self._head = self._head or [], None
        if not lines or lines[-1] not in {b"\r\n", b"\n"}:
            raise http.client.RemoteDisconnected("the connection was closed within the headers")
        return b"".join(lines)


def _response_class(
    seconds: float, sockets: Sockets, least_rate: float
) -> type[http.client.HTTPResponse]:
    class Response(http.client.HTTPResponse):
        head = b""

        def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
            sockets.add(sock)
            super().__init__(sock, *args, **kwargs)
            self.fp = self._reader = _HeadReader(
                _Bounded(self.fp.detach(), sock, seconds, least_rate)
            )

        def begin(self) -> None:
            super().begin()
            self.head = self._reader.end_head()

    return Response


# --------------------------------------------------------------------------- connections


class _Watched(HTTPConnection):
    """Connects to allowed addresses, and says of each response how its connection was made."""

    is_allowed: ClassVar[IsAllowed | None] = None
    made = Made()
    _is_used = False

    def _new_conn(self) -> socket.socket:
        begin = time.monotonic()
        addresses = self._addresses()
        resolved = time.monotonic()
        self._is_used = False
        sock = self._connected(addresses)
        address = "" if self.proxy else sock.getpeername()[0]
        self.made = Made(address, resolved - begin, time.monotonic() - resolved)
        return sock

    def _addresses(self) -> list[str]:
        try:
            found = socket.getaddrinfo(self._dns_host.strip("[]"), self.port, 0, socket.SOCK_STREAM)
        except UnicodeError:
            message = f"{self.host!r} is not a host name"
            raise urllib3.exceptions.LocationParseError(message) from None
        except socket.gaierror as error:
            raise NameResolutionError(self.host, self, error) from error
        addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
        check = type(self).is_allowed
        allowed = [one for one in addresses if check is None or check(self.host, self.port, one)]
        if not allowed:
            raise PrivateAddress(self.host)
        return allowed

    def _connected(self, addresses: list[str]) -> socket.socket:
        failure: OSError | None = None
        for address in addresses:
            try:
                return create_connection(
                    (address, self.port), self.timeout, self.source_address, self.socket_options
                )
            except OSError as error:
                failure = error
        if isinstance(failure, TimeoutError):
            said = f"Connection to {self.host} timed out. (connect timeout={self.timeout})"
            raise ConnectTimeoutError(self, said) from failure
        said = f"Failed to establish a new connection: {failure}"
        raise NewConnectionError(self, said) from failure

    def getresponse(self) -> Any:
        """Return the response, with its head as received, and how the connection was made."""
        try:
            response = super().getresponse()
        except (http.client.RemoteDisconnected, ConnectionError) as error:
            if self._is_used and not isinstance(error, ClosedBefore):
                raise ClosedBefore(str(error)) from error
            raise
        response.made = Made(self.made.address) if self._is_used else self.made  # type: ignore[attr-defined]
        response.head = response._original_response.head  # type: ignore[attr-defined, union-attr]
        self._is_used = True
        return response


class _WatchedSecure(_Watched, HTTPSConnection):
    def connect(self) -> None:
        """Connect, and note how long TLS took."""
        begin = time.monotonic()
        super().connect()
        made = self.made
        seconds = time.monotonic() - begin - made.resolving - made.connecting
        self.made = replace(made, securing=seconds)


def pool_classes(
    seconds: float,
    sockets: Sockets,
    is_allowed: IsAllowed | None = None,
    *,
    least_rate: float = 0.0,
) -> Pools:
    """Return the classes of pools of connections for urllib3, by scheme.

    Args:
        seconds: The limit of a response, from the beginning of the wait for its first byte.
        sockets: Gets the sockets of connections that are open.
        is_allowed: Called for each address, before it is connected to.
        least_rate: Bytes a second; see `SECONDS_OF_RATE`.
    """
    own = {
        "response_class": _response_class(seconds, sockets, least_rate),
        "is_allowed": None if is_allowed is None else staticmethod(is_allowed),
    }
    plain = type("Plain", (_Watched,), own)
    secure = type("Secure", (_WatchedSecure,), own)
    return {
        "http": type("PlainPool", (urllib3.HTTPConnectionPool,), {"ConnectionCls": plain}),
        "https": type("SecurePool", (urllib3.HTTPSConnectionPool,), {"ConnectionCls": secure}),
    }


def _now_in(sockets: Sockets) -> list[socket.socket]:
    while True:
        try:
            return list(sockets)
        except RuntimeError:  # another thread has just connected
            continue


def abort(sockets: Sockets) -> None:
    """Close all connections, so that a waiting thread ends at once."""
    for sock in _now_in(sockets):
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


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
