"""Answers to HEAD have no body: it would be taken for the beginning of the next answer."""

import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from copies import copy_of

from recordsilo import Granary, Silo
from silofleet.fleet import Fleet, make_fleet
from silofleet.values import Endpoint
from webui.app import create_app
from webui.http.security import LOOPBACK_ONLY
from webui.multi_silo import Shelf
from webui.people.authentication import Gate
from webui.server import PageServer
from webui.site import SiteSettings

OF_SILO = ["/", "/records", "/search", "/search/results.csv", "/jobs", "/jobs/events", "/sign-in",
           "/static/page.css", "/robots.txt", "/openapi.json", "/records/nobody", "/sign-out",
           "/bulk/sheet.csv", "/search/files.zip", "/quality?start=x", "/%ff?%ff"]  # fmt: skip
OF_SHELF = ["/", "/silos", "/silos.json", "/sign-in", "/sign-in.json", "/sign-out",
            "/static/page.css", "/static/none.css", "/fleet", "/fleet.json", "/fleet.csv",
            "/fleet/ames", "/fleet/ames.json", "/fleet/nobody", "/fleet?state=x", "/metrics",
            "/search", "/search.json?q=x", "/search?start=x", "/nowhere", "/nowhere.json",
            "/silos/first", "/silos/none/", "/?start=x", "/?%ff",
            *(f"/silos/first{path}" for path in OF_SILO)]  # fmt: skip
LAST = "/static/page.css"


def _head_then_get(port: int, path: str) -> tuple[bytes, bytes]:
    """The answers to HEAD of a path and to GET of a style sheet, on one connection."""
    heads = f"HEAD {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last = f"GET {LAST} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall((heads + last).encode())
        came = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, rest = came.partition(b"\r\n\r\n")
    return head, rest


def _check(port: int, path: str) -> int:
    """Check the next answer on the connection; return the status of the answer to HEAD."""
    head, following = _head_then_get(port, path)
    assert re.match(rb"HTTP/1\.1 \d{3} ", head), path
    if b"connection: close" in head.lower():
        assert not following, path
    else:
        assert following.startswith(b"HTTP/1.1 200 OK\r\n"), (path, following[:80])
        body = following.partition(b"\r\n\r\n")[2]
        assert re.search(rb"(?i)content-length: %d\b" % len(body), following), path
    return int(head[9:12])


@pytest.fixture
def shelf_of(harvested: str, tmp_path: Path, stage: Any) -> Iterator[Callable[[bool], int]]:
    """Show a fleet; returns the port."""
    directory = str(tmp_path / "many")
    make_fleet(directory)
    with Fleet(directory) as fleet:
        fleet.add([Endpoint("ames", "http://ames.example.org/oai")])
    copy_of(harvested, Path(directory, "first"))
    shown: list[Shelf] = []

    def show(sign_in: bool) -> int:
        gate = Gate.of(directory, "a.curator", sign_in=sign_in)

        def app(silo: Silo) -> Any:
            return create_app(silo, SiteSettings(on_shelf=True, sign_in=sign_in), gate.below())

        shown.append(Shelf(Granary(directory, create=False), app, LOOPBACK_ONLY, gate))
        stage.app = shown[-1]
        return int(stage.server.port)

    yield show
    for shelf in shown:
        shelf.close()


@pytest.mark.parametrize("sign_in", [False, True], ids=["open", "sign-in"])
def test_the_answer_after_head_is_whole_in_a_directory_of_silos(
    shelf_of: Callable[[bool], int], sign_in: bool
) -> None:
    port = shelf_of(sign_in)
    statuses = {_check(port, path) for path in OF_SHELF}
    assert statuses == (
        {200, 303, 400, 401, 404, 405} if sign_in else {200, 303, 308, 400, 404, 405}
    )


def test_the_answer_after_head_is_whole_in_a_silo(client: Any) -> None:
    assert {_check(client.port, path) for path in OF_SILO} == {200, 303, 400, 404, 405}


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_an_answer_that_may_have_no_body_has_none(status: str) -> None:
    def app(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        is_first = environ["PATH_INFO"] != LAST
        start_response(status if is_first else "200 OK", [("Content-Length", "5")])
        return [b"right" if not is_first else b"wrong"]

    with PageServer(app) as server:
        _check(server.port, "/")
        asked = f"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET {LAST} HTTP/1.1\r\nHost: a\r\n\r\n"
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            connection.sendall(asked.encode())
            came = b""
            while not came.endswith(b"right"):
                block = connection.recv(65536)
                assert block, came
                came += block
    assert b"wrong" not in came
