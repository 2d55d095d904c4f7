"""Connections with a time limit for each response, headers included.

The timeout of a socket limits one wait. A server that sends one byte of a header per minute never
exceeds it, and headers may have megabytes. So each read checks the time.
"""

import http.client
import io
import logging
import socket
import time
from contextlib import suppress
from typing import Any, cast
from weakref import WeakSet

import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection


def _as_sentence(record: logging.LogRecord) -> bool:
    """Leave out the traceback that urllib3 logs with a malformed header."""
    record.exc_info = None
    return True


logging.getLogger("urllib3.connection").addFilter(_as_sentence)


class _Bounded(io.RawIOBase):
    """Reads a socket until a deadline; raises TimeoutError after it."""

    def __init__(self, raw: io.RawIOBase, seconds: float) -> None:
        self._raw = raw
        self._deadline = time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        if time.monotonic() > self._deadline:
            raise TimeoutError("the response took too long")
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
    """An adapter of requests with a time limit for each response.

    Args:
        seconds: The limit, from the beginning of the wait for the first byte.
    """

    def __init__(self, seconds: float) -> None:
        self._sockets: Sockets = WeakSet()
        self._classes = _pool_classes(seconds, self._sockets)
        super().__init__()

    def abort(self) -> None:
        """Close all connections, so that a waiting thread ends at once."""
        for sock in list(self._sockets):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """See requests."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = self._classes

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> urllib3.ProxyManager:
        """See requests."""
        manager: urllib3.ProxyManager = super().proxy_manager_for(proxy, **kwargs)
        manager.pool_classes_by_scheme = self._classes
        return manager
