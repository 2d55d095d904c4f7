"""The CDX server over HTTP, and its command."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from test_cdx_query import CAPTURES, outcome

from politeweb.loopback import LoopbackServer
from recordsilo import Silo
from silocrawl.cdx_server import CdxApp
from silocrawl.cdxj import Segments, line_of
from silocrawl.paths import index_directory

SILO = [sys.executable, "-c", "from recordsilo.cli import main; main()"]


@pytest.fixture
def index(silo: Silo) -> Segments:
    made = Segments(index_directory(silo.path))
    made.add([line_of(outcome(*one), 9) for one in CAPTURES])
    return made


@pytest.fixture
def url(index: Segments) -> Iterator[str]:
    with LoopbackServer(CdxApp(index)) as server:
        yield server.start().url


def test_it_answers_at_the_places_of_pywb_and_outbackcdx(url: str, index: Segments) -> None:
    for place in ("", "own", "own/cdx", "own/"):
        answer = requests.get(f"{url}{place}", {"url": "example.org", "limit": "1"}, timeout=60)
        assert answer.text.startswith("org,example)/ 20240101000000 ")
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    index.add([line_of(outcome("https://new.example/", "20260101000000", 200, "a/b"), 9)])
    assert "new.example" in requests.get(f"{url}?url=new.example", timeout=60).text


@pytest.mark.parametrize(
    ("query", "code", "said"),
    [
        ("", 400, "url is missing, as in ?url=https://example.org/\n"),
        ("?url=%ff", 400, "the query cannot be read"),
        ("?" + "a=1&" * 60, 400, "the query cannot be read"),
        ("?url=" + "a" * 20_000, 400, "the query is longer"),
        ("elsewhere?url=a", 404, "queries are answered at"),
    ],
)
def test_bad_requests_get_a_sentence(url: str, query: str, code: int, said: str) -> None:
    answer = requests.get(url + query, timeout=60)
    assert (answer.status_code, answer.text[: len(said)]) == (code, said)


def test_other_methods_and_other_names_are_refused(url: str) -> None:
    assert requests.post(f"{url}?url=a", timeout=60).status_code == 405
    assert requests.head(f"{url}?url=a", timeout=60).status_code == 200
    answer = requests.get(f"{url}?url=a", headers={"Host": "evil.example"}, timeout=60)
    assert answer.status_code == 403


def test_an_index_that_cannot_be_read_is_an_error_of_the_server(url: str, index: Segments) -> None:
    Path(index.directory, "000002-0.cdxj").write_text("org,example)/ 2024\n")
    answer = requests.get(f"{url}?url=example.org", timeout=60)
    assert answer.status_code == 500
    assert "the index cannot be read" in answer.text


@pytest.mark.long
def test_the_command_serves_until_it_is_told_to_end(silo: Silo, index: Segments) -> None:
    assert index.names()
    command = [*SILO, "crawl", "cdx-server", silo.path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[6]
            assert process.stdout.readline() == f"Ask for an address: {url}?url=example.org/*\n"
            assert requests.get(f"{url}?url=example.org", timeout=60).text.count("\n") == 3
            taken = url.rpartition(":")[2].partition("/")[0]
            command += ["--port", taken]
            second = subprocess.run(command, check=False, capture_output=True, text=True)
            assert second.returncode == 2
            assert second.stderr == (
                f"silo: port {taken} of 127.0.0.1 is taken by another program;"
                " name another --port\n"
            )
        finally:
            process.terminate()
        assert process.wait(60) == 0
