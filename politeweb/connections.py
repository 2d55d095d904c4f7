"""Connections with a time limit for each response, headers included, and to allowed addresses only.

The timeout of a socket limits one wait. A server that sends one byte of a header per minute never
exceeds it, and headers may have megabytes. So each read checks the time.

An address is checked before it is connected to, and the connection is made to that very address:
a host name cannot change its address in between. A proxy, if used, is responsible itself.
"""

import http.client
import io
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast
from weakref import WeakSet

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import (
    ConnectTimeoutError,
    IncompleteRead,
    NameResolutionError,
    NewConnectionError,
    ProxyError,
    SSLError,
)
from urllib3.util.connection import create_connection
from urllib3.util.ssl_match_hostname import CertificateError

from politeweb.answers import number_of
from politeweb.errors import FetchError
from politeweb.response_head import ResponseHead

IsAllowed = Callable[[str, int, str], bool]
"""(host as in the URL, port, address to connect to) → whether it is allowed."""
Sockets = WeakSet[socket.socket]
Pools = dict[str, type[urllib3.HTTPConnectionPool]]
_LONGEST_LINE, _MOST_FIELDS, _MOST_INTERIM = 65_536, 100, 100
_LONGEST_HEAD = 512 * 1024
"""Bytes of all heads of a response. Readers of WARC files take 1 MiB, and what is recorded may be
longer than what was received."""
_STATUS_LINE = re.compile(rb"(HTTP/(?:1\.[0-9]+|0\.9))\s+([1-9][0-9]{2})(?:\s(.*))?", re.DOTALL)
_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,15}")
SECONDS_OF_RATE = 60.0
"""Over which the rate of an answer is measured; waiting for its first byte is not counted."""


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


class MalformedResponse(http.client.HTTPException):
    """A response is not HTTP/1; the message says in words what is wrong with it."""


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
    """Reads a socket until a deadline, and no slower than a rate; else raises TimeoutError.

    Attributes:
        keeps_error: Whether an error is kept and ends what is read, instead of being raised.
        error: The error that was kept.
    """

    def __init__(
        self, raw: io.RawIOBase, sock: socket.socket, seconds: float, least_rate: float
    ) -> None:
        self._raw, self._sock, self._patience = raw, sock, sock.gettimeout()
        self._deadline = time.monotonic() + seconds
        self._least_rate, self._since, self._received = least_rate, float("inf"), 0
        self.keeps_error, self.error = False, cast("OSError | None", None)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        try:
            return self._read(buffer)
        except OSError as error:
            if not self.keeps_error:
                raise
            self.error = error
            return 0

    def _read(self, buffer: Any) -> int | None:
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
        self._room = _LONGEST_HEAD

    def begin_head(self) -> None:
        """Forget the head of an interim response."""
        self._head = []

    def readline(self, size: int | None = -1, /) -> bytes:
        """Read a line.

        Raises:
            MalformedResponse: It is within the head, which is too long.
        """
        most = _LONGEST_LINE + 1
        line = super().readline(most if size is None or size < 0 else min(size, most))
        if self._head is not None:
            self._head.append(line)
            self._room -= len(line)
            if self._room < 0:
                raise MalformedResponse(f"its head is longer than {_LONGEST_HEAD:,} bytes")
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


class WireResponse(http.client.HTTPResponse):
    """A response that is read within limits, which a subclass has: its head once, then its body.

    `http.client` reads heads with the parser of e-mails, and urllib3 copies what that found; both
    together take longer than all the rest of a request. They also take what is no head of HTTP/1.

    Attributes:
        said: The head.
        made: How the connection was made.
    """

    seconds: ClassVar[float]
    least_rate: ClassVar[float]
    sockets: ClassVar[Sockets]
    said: ResponseHead
    made: Made
    _pool: "AnsweringPool"
    _connection: "_Watched"

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        self.sockets.add(sock)
        super().__init__(sock, *args, **kwargs)
        self._bounded = _Bounded(self.fp.detach(), sock, self.seconds, self.least_rate)
        self.fp = self._reader = _HeadReader(self._bounded)

    def begin(self) -> None:
        """Read the head, after those of interim responses (RFC 9110, section 15.2).

        Raises:
            http.client.HTTPException: It is malformed, or the connection was closed.
            OSError: The connection broke, or the time is over.
        """
        for _ in range(_MOST_INTERIM + 1):
            self._reader.begin_head()
            version, status, self.reason = self._read_status()
            self._read_fields()
            if status >= 200 or status == 101:
                break
        else:
            raise MalformedResponse(f"more than {_MOST_INTERIM} interim responses precede it")
        self.version = 10 if version in {"HTTP/1.0", "HTTP/0.9"} else 11
        self.code = self.status = status
        self.headers = self.said = ResponseHead(status, self._reader.end_head())  # type: ignore[assignment]
        self._frame()

    def _read_status(self) -> tuple[str, int, str]:
        line = self._reader.readline()
        if not line:
            raise http.client.RemoteDisconnected("the connection was closed without a response")
        if len(line) > _LONGEST_LINE:
            raise MalformedResponse(f"its first line is longer than {_LONGEST_LINE:,} bytes")
        found = _STATUS_LINE.fullmatch(line)
        if found is None:
            raise MalformedResponse("its first line is no status line of HTTP/1")
        version, status, reason = found.groups(b"")
        return version.decode("ascii"), int(status), reason.decode("latin-1").strip()

    def _read_fields(self) -> None:
        for _ in range(_MOST_FIELDS + 1):
            line = self._reader.readline()
            if len(line) > _LONGEST_LINE:
                raise MalformedResponse(f"a header is longer than {_LONGEST_LINE:,} bytes")
            if line in {b"\r\n", b"\n", b""}:
                return
        raise MalformedResponse(f"it has more than {_MOST_FIELDS} headers")

    def _frame(self) -> None:
        """Find out where the body ends (RFC 9112, section 6.3).

        A transfer coding below ``chunked`` stays in the body.
        """
        is_headed = self._method == "HEAD"  # type: ignore[attr-defined]
        has_body = not (is_headed or self.status < 200 or self.status in {204, 304})
        codings = [*_values(self.said.get("transfer-encoding"))] if has_body else []
        codings = [one for one in codings if one != "identity"]
        self.chunked, self.chunk_left = codings[-1:] == ["chunked"], None
        self.length = None if has_body else 0
        if has_body and not codings:
            self.length = _length(self.said.get("content-length"))
        ends = self.status < 200 or self._check_close()  # type: ignore[attr-defined]
        self.will_close = ends or not (self.chunked or self.length is not None)

    def _read_next_chunk_size(self) -> int:
        """Read the size of a chunk, which `http.client` would take with signs and underscores."""
        line = self.fp.readline(_LONGEST_LINE)
        size = line.partition(b";")[0].strip(b" \t\r\n")
        if not line.endswith(b"\n"):
            raise ValueError("the connection was closed within the size of a chunk")
        if not _CHUNK_SIZE.fullmatch(size):
            raise MalformedResponse("the size of a chunk is no hexadecimal number")
        return int(size, 16)

    def given(self, pool: "AnsweringPool", connection: "_Watched") -> None:
        """Note whose connection it is."""
        self._pool, self._connection = pool, connection

    def read1(self, n: int = -1) -> bytes:
        """Return the next piece of the body; empty at its end.

        Raises:
            http.client.IncompleteRead: It is not whole; urllib3's is one, too.
            OSError: The connection broke, or the time is over.
        """
        piece = super().read1(n)
        if not piece and self.length and not self.chunked:
            raise IncompleteRead(0, self.length)
        return piece

    def whole(self) -> tuple[bytes, Exception | None]:
        """Return a body of which the length is announced, and why the rest of it is missing.

        It is received into the memory where it stays, instead of into pieces that are joined.
        """
        announced = self.length or 0
        self._bounded.keeps_error = True
        body = self.fp.read(announced)
        self.length = announced - len(body)
        missing = IncompleteRead(len(body), self.length) if self.length else None
        return body, self._bounded.error or missing

    def end(self, *, is_whole: bool) -> None:
        """Keep the connection for the next request, or close it if the body was not all read."""
        self.close()
        if self.will_close or not is_whole:
            self._connection.close()
        self._pool.take_back(self._connection)


class _Response(WireResponse):
    """A response for urllib3."""

    def begin(self) -> None:
        """Read the head; see `WireResponse.begin`."""
        super().begin()
        self.headers = self.msg = http.client.HTTPMessage()
        for name, value in self.said.texts:
            self.msg[name] = value


def _values(text: str) -> list[str]:
    return [one.strip().lower() for one in text.split(",") if one.strip()]


def _length(text: str) -> int | None:
    """The number of bytes that a head announces; None without one.

    Raises:
        MalformedResponse: It announces several, or what is no number.
    """
    found = set(_values(text))
    if len(found) > 1:
        raise MalformedResponse("it announces several lengths of its content")
    length = number_of(next(iter(found), ""))
    if found and length is None:
        raise MalformedResponse("its Content-Length is no number")
    return length


# --------------------------------------------------------------------------- connections


class _Watched(HTTPConnection):
    """Connects to allowed addresses, and says of each response how its connection was made."""

    is_allowed: ClassVar[IsAllowed | None] = None
    answer_class: ClassVar[type[WireResponse]]
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
        with self._watched():
            response = super().getresponse()
        response.made = self._used()  # type: ignore[attr-defined]
        response.head = response._original_response.said.raw  # type: ignore[attr-defined, union-attr]
        return response

    def answer(self, request: bytes, method: str, seconds: float) -> WireResponse:
        """Send a request over the open connection, and return the response with its head.

        Args:
            request: Its head and body.
            seconds: Without a byte.
        """
        with suppress(BrokenPipeError, ConnectionResetError):  # an answer may have come before
            self.sock.sendall(request)
        if self.sock.gettimeout() != seconds:
            self.sock.settimeout(seconds)
        found = self.answer_class(self.sock, method=method)
        try:
            with self._watched():
                found.begin()
        except BaseException:
            found.close()
            raise
        found.made = self._used()
        return found

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except (http.client.RemoteDisconnected, ConnectionError) as error:
            if self._is_used and not isinstance(error, ClosedBefore):
                raise ClosedBefore(str(error)) from error
            raise

    def _used(self) -> Made:
        made = Made(self.made.address) if self._is_used else self.made
        self._is_used = True
        return made


class _WatchedSecure(_Watched, HTTPSConnection):
    def connect(self) -> None:
        """Connect, and note how long TLS took."""
        begin = time.monotonic()
        super().connect()
        made = self.made
        seconds = time.monotonic() - begin - made.resolving - made.connecting
        self.made = replace(made, securing=seconds)


class AnsweringPool(urllib3.HTTPConnectionPool):
    """Keeps the connections to a host, and sends requests over them."""

    def answer(self, request: bytes, method: str, *, connect: float, read: float) -> WireResponse:
        """Send a request as it is, and return the response with its head.

        It does what `urlopen` does, but for what no request here needs, in a third of the time.

        Args:
            request: Its head and body.
            connect: Seconds to connect.
            read: Seconds without a byte.

        Raises:
            OSError, urllib3.exceptions.HTTPError, http.client.HTTPException: There is none.
        """
        connection = cast("_Watched", self._get_conn())
        try:
            self._connect(connection, connect)
            found = connection.answer(request, method, read)
        except BaseException as error:
            connection.close()
            self._put_conn(None)
            if isinstance(error, (ssl.SSLError, CertificateError)):
                raise SSLError(error) from error
            raise
        found.given(self, connection)
        return found

    def _connect(self, connection: "_Watched", seconds: float) -> None:
        connection.timeout = seconds
        try:
            if self.proxy is not None and connection.is_closed:
                self._prepare_proxy(connection)
            self._validate_conn(connection)
            if connection.is_closed:
                connection.connect()
        except (OSError, urllib3.exceptions.HTTPError, CertificateError) as error:
            if connection.proxy and not connection.has_connected_to_proxy:
                raise ProxyError("Unable to connect to proxy", error) from error
            raise

    def take_back(self, connection: "_Watched") -> None:
        """Keep a connection for the next request."""
        self._put_conn(connection)


class _SecureAnsweringPool(AnsweringPool, urllib3.HTTPSConnectionPool):
    """Likewise, with TLS."""


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
    limits = {"seconds": seconds, "sockets": sockets, "least_rate": least_rate}
    own = {
        "response_class": type("Response", (_Response,), limits),
        "answer_class": type("Wire", (WireResponse,), limits),
        "is_allowed": None if is_allowed is None else staticmethod(is_allowed),
    }
    plain = type("Plain", (_Watched,), own)
    secure = type("Secure", (_WatchedSecure,), own)
    return {
        "http": type("PlainPool", (AnsweringPool,), {"ConnectionCls": plain}),
        "https": type("SecurePool", (_SecureAnsweringPool,), {"ConnectionCls": secure}),
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
