"""The page, from a request to its last byte: search, record, start page, many readers at once.

    .venv/bin/python benchmarks/page.py 300000 1000000 --directory /var/tmp

The index is filled with made-up descriptions (see search.py) and a few hundred records
that are really there, so that their pages can be asked for. Server and clients share
this process and its lock, so what is told is more than a browser waits for.
"""

import argparse
import http.client
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import urlencode

from search import Catalogue, World, chunks
from store import Line, identifier, ingest, timed

from recordsilo import Silo
from webui import urls
from webui.app import create_app
from webui.server import PageServer

RECORDS = 200
READERS = 50
ASKED_BY_EACH = 10


class Reader:
    """Asks one server over one connection."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def get(self, path: str) -> float:
        """Fetch a page; milliseconds of waiting.

        Raises:
            AssertionError: The answer is no page.
        """
        began = time.perf_counter()
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        body = answer.read()
        assert answer.status == 200, (path, answer.status, body[:300])
        return (time.perf_counter() - began) * 1000

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def page_speed(records: int, directory: str) -> Iterator[Line]:
    """Serve a Silo of so many records, and ask."""
    Catalogue._catch_up = lambda _self, _rows: False  # type: ignore[method-assign] # no records
    world = World()
    with Silo(f"{directory}/page-{records}") as silo:
        for chunk in chunks(world, records):
            silo._catalogue._index.settle(chunk)
        ingest(silo, RECORDS, records)
        server = PageServer(create_app(silo))
        try:
            yield from _asked(server.port, world, records)
        finally:
            server.close()


def _asked(port: int, world: World, records: int) -> Iterator[Line]:
    reader = Reader(port)
    of = f"{records:,} records"
    yield Line(f"first search page, {of}", f"{reader.get('/search?open=subject') / 1000:.2f} s")
    reader.get("/search?open=subject&open=creator")
    yield _line(f"search page, {of}", reader, (_search(world) for _ in range(200)))
    more = (("open", "subject"), ("open", "creator"))
    yield _line(
        f"search page with subjects and creators, {of}",
        reader,
        (_search(world, more) for _ in range(200)),
    )
    there = [urls.record(identifier(records + number)) for number in range(RECORDS)]
    yield _line(f"record page, {of}", reader, there)
    yield _line(f"start page, {of}", reader, ["/records"] * 100)
    reader.close()
    yield _crowd(port, world, there, of)


def _search(world: World, more: tuple[tuple[str, str], ...] = ()) -> str:
    words, filters = world.query()
    flags = [(name, str(value).lower()) for name, value in filters.flags.items()]
    values = [(name, value) for name, some in filters.values.items() for value in some]
    return "/search?" + urlencode([("q", words), *flags, *values, *more])


def _line(what: str, reader: Reader, paths: Iterable[str]) -> Line:
    with timed() as spent:
        times = sorted(reader.get(path) for path in paths)
    return Line(what, _percentiles(times), f"CPU {spent.cpu / len(times) * 1000:.1f} ms each")


def _percentiles(times: list[float]) -> str:
    p95 = times[int(len(times) * 0.95)]
    return f"p50 {times[len(times) // 2]:.1f} ms, p95 {p95:.1f} ms, worst {times[-1]:.1f} ms"


def _crowd(port: int, world: World, there: list[str], of: str) -> Line:
    """Many readers, each with a connection of its own; an answer that is none counts."""
    times: list[float] = []
    failed: list[str] = []
    lists = [
        [
            _search(world) if turn % 2 else there[(n + turn) % RECORDS]
            for turn in range(ASKED_BY_EACH)
        ]
        for n in range(READERS)
    ]

    def read(paths: list[str]) -> None:
        reader = Reader(port)
        for path in paths:
            try:
                times.append(reader.get(path))
            except (AssertionError, OSError, http.client.HTTPException) as error:
                failed.append(repr(error))
        reader.close()

    with timed() as spent:
        _together(lambda paths=paths: read(paths) for paths in lists)  # type: ignore[misc]
    asked = READERS * ASKED_BY_EACH
    return Line(
        f"{READERS} readers at once, {of}",
        f"{asked / spent.wall:,.0f} pages/s, {len(failed)} failed",
        _percentiles(sorted(times)),
    )


def _together(work: Iterable[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", type=int, nargs="*", default=[100_000])
    parser.add_argument("--directory", help="where to work (default: a temporary directory)")
    arguments = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="silo-page-", dir=arguments.directory)
    try:
        for records in arguments.records:
            for line in page_speed(records, directory):
                print(" | ".join((line.what, line.ours, line.beside)), flush=True)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
