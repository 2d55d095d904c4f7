"""Bytes sent to the page's server."""

import errno
import logging
import os
import re
import socket
from collections.abc import Hashable, Iterable

from fuzzing.target import Target

from fuzz_targets.rules import DC
from recordsilo import Silo
from webui.app import create_app
from webui.http.intake import LARGEST_HEAD
from webui.server import PageServer
from webui.site import SiteSettings

_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3}) ")
_HEAD_END = re.compile(rb"\n\r?\n")
_FILE = b"/records/oai+x+1/versions/1/files/oai_dc"
_CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
_ALLOWED = {501, 505}
"""What else is told by a 5xx: a transfer coding and a version of HTTP that nobody knows."""


class Heads(Target):
    promise = (
        "Whatever bytes are sent, the server answers with HTTP or not at all, says nothing of "
        "an error of its own, and answers the next one; heads that are too long are refused."
    )
    words = (
        b"GET ", b"HEAD ", b"OPTIONS ", b"/records", b"/search?q=", b"*", b"http://a/",
        b" HTTP/1.1",        b" HTTP/1.0", b" HTTP/9.9", b" HTTP/0.9", b"\r\n", b"\n", b"\r",
        b"\r\n\r\n", b"Host: ",
        b"127.0.0.1", b"Connection: close", b"Connection: keep-alive", b"Content-Length: ", b"-1",
        b"Transfer-Encoding: chunked", b"0\r\n\r\n", b"ffffffffffffffff\r\n",
        b"Expect: 100-continue",        b"Cookie: ", b"Range: bytes=", b"Accept: ",
        b"application/json", b": ", b"\x00", b"\xff",
        b" \t", b"%00", b"%", b"Upgrade: h2c", b"Accept-Encoding: gzip;q=",
    )  # fmt: skip
    largest = LARGEST_HEAD + 4096
    iterations = 60

    def __init__(self, scratch: str) -> None:
        super().__init__(scratch)
        self._silo = Silo(os.path.join(scratch, "silo"))
        self._silo.get_item("oai:x:1").put_stream("oai_dc", DC, "1", True)
        self._log = _Errors()
        logging.getLogger("webui").addHandler(self._log)
        self._server = PageServer(create_app(self._silo, SiteSettings(by_worker=True)))

    def close(self) -> None:
        self._server.close()
        logging.getLogger("webui").removeHandler(self._log)
        self._silo.close()

    def seeds(self) -> Iterable[bytes]:
        host = b"Host: 127.0.0.1\r\n"
        return [
            b"GET /records HTTP/1.1\r\n" + host + b"Accept: application/json\r\n\r\n",
            b"GET /robots.txt HTTP/1.0\r\n\r\n",
            (b"GET /robots.txt HTTP/1.1\r\n" + host + b"\r\n") * 2,
            b"POST /nowhere HTTP/1.1\r\n" + host + b"Content-Length: 3\r\n\r\na=b",
            b"POST /nowhere HTTP/1.1\r\n" + host + _CHUNKED + b"3\r\na=b\r\n0\r\n\r\n",
            b"GET /robots.txt HTTP/1.1\r\n" + host + b"X: " + b"x" * LARGEST_HEAD + b"\r\n\r\n",
            b"GET " + _FILE + b" HTTP/1.1\r\n" + host + b"Range: bytes=1-5\r\n\r\n",
        ]  # fmt: skip

    def check(self, data: bytes) -> Hashable:
        self._log.told.clear()
        answer = self._sent(data)
        found = [int(code) for code in _STATUS.findall(answer)]
        assert not answer or found, answer[:200]
        assert all(code < 500 or code in _ALLOWED for code in found), answer[:500]
        assert not self._log.told, self._log.told
        end = _HEAD_END.search(data)
        if (end.end() if end else len(data)) > LARGEST_HEAD:
            assert found[:1] in ([], [431]), found
        return tuple(found[:4])

    def _sent(self, data: bytes) -> bytes:
        received = []
        with socket.create_connection(("127.0.0.1", self._server.port), timeout=20) as link:
            try:
                link.sendall(data)
                link.shutdown(socket.SHUT_WR)
                while piece := link.recv(1 << 16):
                    received.append(piece)
            except OSError as error:
                if error.errno not in {errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN}:
                    raise  # else it had enough
        return b"".join(received)


class _Errors(logging.Handler):
    """What the server logs as an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(self.format(record))
