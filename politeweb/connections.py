"""Connections on which no answer, head or body, takes longer than allowed.

A timeout of a socket is for one silence: a server that sends a byte of a header a
minute is never silent, and a head may have megabytes. So the reading itself looks
at the clock.
"""

import http.client
import io
import socket
import time
from contextlib import suppress
from typing import Any, cast
from weakref import WeakSet

import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection


class _Bounded(io.RawIOBase):
    """A socket's bytes until a deadline; TimeoutError after it."""

    def __init__(self, raw: io.RawIOBase, seconds: float) -> None:
        self._raw = raw
        self._deadline = time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        if time.monotonic() > self._deadline:
            raise TimeoutError("the answer took too long")
        return cast("int | None", self._raw.readinto(buffer))

    def close(self) -> None:
        self._raw.close()
        super().close()


Sockets = WeakSet[socket.socket]


def _response_class(seconds: float, sockets: Sockets) -> type[http.client.HTTPResponse]:
    class Response(http.client.HTTPResponse):
        def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
            sockets.add(sock)
            super().__init__(sock, *args, **kwargs)
            raw = self.fp.detach()
            self.fp = io.BufferedReader(_Bounded(raw, seconds))

    return Response


def _pool_classes(seconds: float, sockets: Sockets) -> dict[str, type[urllib3.HTTPConnectionPool]]:
    response = _response_class(seconds, sockets)
    plain = type("Plain", (HTTPConnection,), {"response_class": response})
    secure = type("Secure", (HTTPSConnection,), {"response_class": response})
    return {
        "http": type("PlainPool", (urllib3.HTTPConnectionPool,), {"ConnectionCls": plain}),
        "https": type("SecurePool", (urllib3.HTTPSConnectionPool,), {"ConnectionCls": secure}),
    }


class BoundedAdapter(HTTPAdapter):
    """The way of requests to a host or a proxy, with an end to every answer.

    Args:
        seconds: For an answer, from when its first byte is waited for.
    """

    def __init__(self, seconds: float) -> None:
        self._sockets: Sockets = WeakSet()
        self._classes = _pool_classes(seconds, self._sockets)
        super().__init__()

    def abort(self) -> None:
        """Cut all connections, so that a thread that waits for an answer ends at once."""
        for sock in list(self._sockets):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """As requests does."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = self._classes

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> urllib3.ProxyManager:
        """As requests does."""
        manager: urllib3.ProxyManager = super().proxy_manager_for(proxy, **kwargs)
        manager.pool_classes_by_scheme = self._classes
        return manager
