"""Connections on which no answer, head or body, takes longer than allowed.

A timeout of a socket is for one silence: a server that sends a byte of a header a
minute is never silent, and a head may have megabytes. So the reading itself looks
at the clock.
"""

import http.client
import io
import socket
import time
from typing import Any, cast

import requests
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


def _response_class(seconds: float) -> type[http.client.HTTPResponse]:
    class Response(http.client.HTTPResponse):
        def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
            super().__init__(sock, *args, **kwargs)
            raw = self.fp.detach()
            self.fp = io.BufferedReader(_Bounded(raw, seconds))

    return Response


def _pool_classes(seconds: float) -> dict[str, type[urllib3.HTTPConnectionPool]]:
    response = _response_class(seconds)
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
        self._classes = _pool_classes(seconds)
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """As requests does."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = self._classes

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> urllib3.ProxyManager:
        """As requests does."""
        manager: urllib3.ProxyManager = super().proxy_manager_for(proxy, **kwargs)
        manager.pool_classes_by_scheme = self._classes
        return manager


def bounded(session: requests.Session, seconds: float) -> requests.Session:
    """Let a session's every answer end after so many seconds; return the session."""
    adapter = BoundedAdapter(seconds)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session
