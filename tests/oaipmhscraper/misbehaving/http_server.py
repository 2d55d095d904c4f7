"""A repository on 127.0.0.1, byte for byte as its replies say; or without any socket."""

import socket
import socketserver
import struct
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from http.client import responses

from misbehaving.repository import Reply, Repository
from oaipmhclient.transport.http_rules import Verdict, judge, unpack_page
from oaipmhprotocol.queries import query_string
from politeweb.answers import Answer, retry_after
from politeweb.codings import CodingBroken
from politeweb.errors import EndpointError, EndpointUnreachable, HTTPStatusError, RetryLater


class MisbehavingServer(socketserver.ThreadingTCPServer):
    """Serves a repository in threads of its own, from construction to `close`.

    Args:
        repository: What is served.
        address: Where, on loopback.

    Attributes:
        repository: As given; what it was asked is in its ``asked``.
    """

    allow_reuse_address = True

    def __init__(self, repository: Repository, address: str = "127.0.0.1") -> None:
        super().__init__((address, 0), _Conversation)
        self.repository = repository
        self.closing = threading.Event()
        self.open_sockets: set[socket.socket] = set()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def port(self) -> int:
        return self.server_address[1]

    @property
    def base_url(self) -> str:
        query = self.repository.base_query
        return f"http://127.0.0.1:{self.port}/oai" + (f"?{query}" if query else "")

    def close(self) -> None:
        """Stop serving, whatever is under way."""
        self.closing.set()
        self.shutdown()
        for one in list(self.open_sockets):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        self.server_close()
        self._thread.join()

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is nothing to tell of; anything else is a bug of ours."""
        import sys  # noqa: PLC0415  # only where something went wrong

        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Conversation(socketserver.StreamRequestHandler):
    """The requests of one connection."""

    server: MisbehavingServer
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.server.open_sockets.add(self.connection)

    def finish(self) -> None:
        self.server.open_sockets.discard(self.connection)
        super().finish()

    def handle(self) -> None:
        on_connection = 0
        while (asked := self._read()) is not None:
            method, target, headers, body = asked
            path, _, query = target.partition("?")
            # A form's arguments count beside those that the address has of its own.
            query = "&".join(filter(None, [query, body]))
            reply = self.server.repository.answer(query, method, path, headers, on_connection)
            closing = self.server.closing.wait(reply.pause)
            # A client may send its next request as soon as it has the last byte of this reply.
            self.server.repository.answered(after_others=reply.after_others)
            if closing or not self._send(reply, headers):
                return
            on_connection += 1

    def _read(self) -> tuple[str, str, dict[str, str], str] | None:
        try:
            first = self.rfile.readline().decode("latin-1").split()
            if len(first) != 3:
                return None
            headers = {}
            while (line := self.rfile.readline().decode("latin-1").strip()) != "":
                name, _, value = line.partition(":")
                headers[name.lower()] = value.strip()
            body = self.rfile.read(int(headers.get("content-length", 0))).decode()
        except OSError:
            return None
        return first[0], first[1], headers, body

    def _send(self, reply: Reply, headers: Mapping[str, str]) -> bool:
        """Send it; return whether the connection stays open."""
        if reply.reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            # The descriptor itself must go now; the reading and writing files share it.
            self.rfile.close()
            self.connection.close()
            return False
        self.wfile.write(_head(reply))
        for piece in _pieces(reply):
            self.wfile.write(piece)
            if reply.drip and self.server.closing.wait(reply.drip):
                return False
        closes = reply.sent is not None or reply.told_length is not None
        return not closes and headers.get("connection", "").lower() != "close"


def _head(reply: Reply) -> bytes:
    lines = [f"HTTP/1.1 {reply.status} {responses.get(reply.status, '')}"]
    lines += [f"{name}: {value}" for name, value in reply.headers]
    if reply.chunked:
        lines.append("Transfer-Encoding: chunked")
    elif reply.told_length is None:
        lines.append(f"Content-Length: {len(reply.body)}")
    elif reply.told_length >= 0:
        lines.append(f"Content-Length: {reply.told_length}")
    else:
        lines.append("Connection: close")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _pieces(reply: Reply) -> Iterator[bytes]:
    body = reply.body if reply.sent is None else reply.body[: reply.sent]
    size = max(1, len(body) // 10) if reply.drip else max(1, min(len(body), 1 << 16))
    for start in range(0, len(body), size):
        piece = body[start : start + size]
        yield b"%x\r\n%b\r\n" % (len(piece), piece) if reply.chunked else piece
    if reply.chunked and reply.sent is None:
        yield b"0\r\n\r\n"


class FunctionTransport:
    """A repository as a transport, with no socket and no pause.

    What a connection's end, a status or a coding would do is decided as over HTTP:
    tried five times, then the error that `HttpTransport` raises.
    """

    base_url = "http://misbehaving.example/oai"

    def __init__(self, repository: Repository) -> None:
        self.repository = repository

    def fetch(self, params: Mapping[str, str]) -> Answer:
        failure: EndpointError | None = None
        for _ in range(5):
            reply = self.repository.answer(query_string(params), path=self.repository.path)
            self.repository.answered()
            try:
                answer = self._received(reply)
            except EndpointUnreachable as error:
                failure = error
                continue
            verdict, _reason = judge(answer, has_answered=True)
            if verdict is Verdict.TAKE:
                return answer
            failure = HTTPStatusError(self.base_url, answer.status)
            if verdict is Verdict.FAIL:
                break
            self._heed(answer)
            if answer.status < 300:
                failure = None
        if failure is not None:
            raise failure
        return answer

    def _received(self, reply: Reply) -> Answer:
        cut = reply.sent is not None and reply.told_length != -1
        if reply.reset or cut:
            raise EndpointUnreachable(self.base_url, "the answer was cut short")
        headers = {name.lower(): value for name, value in reply.headers}
        body = reply.body if reply.sent is None else reply.body[: reply.sent]
        try:
            body = unpack_page(body, headers.get("content-encoding", ""), 1 << 28, self.base_url)
        except CodingBroken as error:
            raise EndpointUnreachable(self.base_url, str(error)) from error
        return Answer(body, self.base_url, reply.status, headers, received=datetime.now(UTC))

    def _heed(self, answer: Answer) -> None:
        now = datetime.now(UTC)
        seconds = retry_after(answer.headers.get("retry-after"), now)
        if answer.status >= 300 and seconds is not None and seconds > 300:
            raise RetryLater(self.base_url, answer.status, now + timedelta(seconds=seconds))
