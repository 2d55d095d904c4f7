"""Answers that are sent piece by piece: how many at a time, and what others still get."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from recordsilo import Silo
from webui import urls
from webui.http.errors import ServerBusy
from webui.http.messages import Response
from webui.http.streams import MOST_OF_ONE, MOST_STREAMED, SMALL, placed

from .conftest import PLAIN

LARGE = 8 * 1024 * 1024


class Body:
    """A body of some blocks that notes whether it was closed."""

    def __init__(self, *blocks: bytes) -> None:
        self._blocks = iter(blocks)
        self.is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        return next(self._blocks)

    def close(self) -> None:
        self.is_closed = True


CLIENTS = [f"client {number // MOST_OF_ONE}" for number in range(MOST_STREAMED)]
"""Who occupies all places: no client more than it may."""


def large(client: str) -> Any:
    return placed(Response(body=Body(b"x" * SMALL, b"y", b"z")), client).body


def test_a_small_body_is_sent_at_once_and_takes_no_place() -> None:
    bodies = [Body(b"a", b"b") for _ in range(MOST_STREAMED + 1)]
    for body in bodies:
        assert placed(Response(body=body, content_length=3), "one").body == b"ab"
    assert all(body.is_closed for body in bodies)


def test_a_large_body_takes_a_place_until_it_is_closed() -> None:
    with ExitStack() as open_ones:
        bodies = [large(client) for client in CLIENTS]
        for one in bodies:
            open_ones.callback(one.close)
        refused = Body(b"x" * SMALL, b"y")
        with pytest.raises(ServerBusy) as told:
            placed(Response(body=refused), "another")
        assert refused.is_closed
        assert int(told.value.headers["Retry-After"]) > 0
        assert b"".join(bodies[0]) == b"x" * SMALL + b"yz"
        bodies[0].close()
        bodies[0].close()
        large("another").close()


def test_one_client_leaves_places_to_others() -> None:
    with ExitStack() as open_ones:
        for _ in range(MOST_OF_ONE):
            open_ones.callback(large("one").close)
        refused = Body(b"x" * SMALL, b"y")
        with pytest.raises(
            ServerBusy, match=f"^{MOST_OF_ONE} downloads to your address are running"
        ):
            placed(Response(body=refused), "one")
        assert refused.is_closed
        large("another").close()
    large("one").close()


def test_what_happens_now_is_not_gathered_before_it_is_sent() -> None:
    body = placed(Response(body=Body(b"a", b"b"), is_live=True), "one").body
    assert list(body) == [b"a", b"b"]
    body.close()


def test_slow_readers_of_large_files_leave_the_page_to_others(client: Any, silo: Silo) -> None:
    record = silo[PLAIN]
    record.clone_version("1", "workingcopy", agent="ada")
    record.put_stream("big.bin", b"x" * LARGE)
    big = urls.file(PLAIN, "workingcopy", "big.bin")
    with ExitStack() as readers:
        for number in range(MOST_STREAMED):
            own = (f"127.0.0.{1 + number // MOST_OF_ONE}", 0)
            one = readers.enter_context(
                socket.create_connection(("127.0.0.1", client.port), source_address=own)
            )
            one.sendall(f"GET {big} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert one.recv(12) == b"HTTP/1.1 200"
        refused = client.get(big)
        assert (refused.status, refused.headers["Retry-After"]) == (503, "10")
        assert f"{MOST_OF_ONE} downloads to your address are running" in refused.text
        sheet = client.get("/bulk/sheet.csv")  # refused before all records are read for it
        assert (sheet.status, sheet.headers["Retry-After"]) == (503, "10")
        for path in ("/", "/search", "/search/results.csv", urls.file(PLAIN, "1", "oai_dc")):
            assert client.get(path).status == 200
        assert client.ask("HEAD", big).headers["Content-Length"] == str(LARGE)
    assert client.ask("HEAD", "/bulk/sheet.csv").status == 200
    assert client.get("/bulk/sheet.csv").status == 200
