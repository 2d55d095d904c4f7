"""The page, from a request to its last byte: search, record, start page, many readers at once.

    .venv/bin/python benchmarks/page.py 300000 1000000 --directory /var/tmp

The index is filled with made-up descriptions (see search.py) and a few hundred records
that are really there, so that their pages can be asked for. The server is a process of its
own, as behind `silo serve`; beside what a reader waits for stands the CPU of the thread
that answers, which other work on the machine does not blur so much, and that without the
search itself. Half of the searches have filters of the facets: several values, excluded ones,
ranges of years. Every page counts all facets that are open at first, and draws the histogram.
With ``--keep`` the Silos stay in the directory, and are used again. With ``--pages`` each kind
of page is asked for by itself, twenty times one after another, and a table is printed; the
activity log has as many lines as there are records then.
"""

import argparse
import contextlib
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from search import World, chunks
from store import Line, identifier, ingest

from recordsilo import Silo
from recordsilo.index.catalogue import Catalogue
from silocuration.activity import ACTIVITY
from webui import urls
from webui.app import create_app
from webui.server import PageServer, long_lived

RECORDS = 200
READERS = 50
ASKED_BY_EACH = 10
SPENT = "X-Spent-Milliseconds"
TICKS = os.sysconf("SC_CLK_TCK")


# -- the server, in a process of its own ---------------------------------------------------


def serve(directory: str) -> None:
    """Serve a Silo until standard input ends; the port is the first line that is printed."""
    _without_records()
    with Silo(directory, create=False) as silo:
        app = _timing(silo, create_app(silo))
        with long_lived(), PageServer(app) as server:
            print(server.port, flush=True)
            sys.stdin.read()


def _timing(silo: Silo, app: Any) -> Any:
    """The application, that tells in a header its CPU for an answer, and its searches'."""
    spent = threading.local()
    search = silo.search

    def timed_search(*given: Any, **named: Any) -> Any:
        began = time.thread_time()
        try:
            return search(*given, **named)
        finally:
            spent.seconds += time.thread_time() - began

    silo.search = timed_search  # type: ignore[method-assign]

    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        began, spent.seconds = time.thread_time(), 0.0

        def begin(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            told = (time.thread_time() - began, spent.seconds)
            header = (SPENT, " ".join(f"{seconds * 1000:.2f}" for seconds in told))
            return start(status, [*headers, header], *more)

        return app(environ, begin)

    return answer


def _without_records() -> None:
    """No row of the index is held against its record: most have none."""
    Catalogue._catch_up = lambda _self, _rows: False  # type: ignore[assignment, method-assign]


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs."""

    port: int
    pid: int

    def cpu(self) -> float:
        """Seconds of CPU it has spent (proc(5), "/proc/[pid]/stat", fields 14 and 15)."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


@contextlib.contextmanager
def served(directory: str) -> Iterator[Served]:
    """A server of a Silo for as long as the block lasts."""
    command = [sys.executable, __file__, "--serve", directory]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        yield Served(int(process.stdout.readline()), process.pid)
        process.communicate()  # ends its standard input


# -- who asks ------------------------------------------------------------------------------


class Reader:
    """Asks one server over one connection."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)

    def get(self, path: str) -> tuple[float, float, float]:
        """Fetch a page; milliseconds of waiting, of the answer's CPU, and of its search's.

        Raises:
            AssertionError: The answer is no page.
        """
        began = time.perf_counter()
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        body = answer.read()
        assert answer.status == 200, (path, answer.status, body[:300])
        waited = (time.perf_counter() - began) * 1000
        whole, search = map(float, answer.headers[SPENT].split())
        return waited, whole, search

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def page_speed(records: int, directory: str) -> Iterator[Line]:
    """Serve a Silo of so many records, and ask."""
    world = _make(records, directory)
    place = f"{directory}/page-{records}"
    with served(place) as server:
        yield _first(server, f"{records:,} records, from the rows or the file")
    with served(place) as server:
        yield _first(server, f"{records:,} records, from the file")
    with served(place) as server:
        yield from _asked(server, world, records)


def _make(records: int, directory: str) -> World:
    """The Silo, unless it is there; and the words in it."""
    _without_records()
    world = World()
    place = f"{directory}/page-{records}"
    if not os.path.exists(place):
        with Silo(place) as silo:
            for chunk in chunks(world, records):
                silo._catalogue._index.settle(chunk)
            ingest(silo, RECORDS, records)
    return world


def _asked(server: Served, world: World, records: int) -> Iterator[Line]:
    reader = Reader(server.port)
    of = f"{records:,} records"
    for word in ("", "w1"):  # what the first of these loads is not counted
        reader.get(f"/search?q={word}")
    there = [urls.record(identifier(records + number)) for number in range(RECORDS)]
    for what, paths in (
        ("search page", [_search(world) for _ in range(400)]),
        ("record page", there),
        ("start page", ["/search"] * 200),
    ):
        yield _line(f"{what}, {of}", server, reader, paths)
    reader.close()
    yield _crowd(server, world, there, of)


def _first(server: Served, of: str) -> Line:
    reader = Reader(server.port)
    waited, spent, _ = reader.get("/search")
    reader.close()
    return Line(f"first search page, {of}", f"{waited / 1000:.2f} s", f"CPU {spent / 1000:.2f} s")


def _search(world: World) -> str:
    """A search as people make them; every other one has filters of the facets too."""
    words, filters = world.query()
    flags = [(name, str(value).lower()) for name, value in filters.flags.items()]
    values = [(name, value) for name, some in filters.values.items() for value in some]
    year, kinds = 1990 + world.random.randrange(34), [f"Type {n}" for n in range(9)]
    chosen = (
        [("year", f"{year}..{year + world.random.randrange(12)}")],
        [("type", kind) for kind in world.random.sample(kinds, 3)],
        [("type!", world.random.choice(kinds)), ("set", f"type={year % 7}")],
        [("language!", "eng"), ("subject", world.pick(world.subjects)), ("year", f"{year}..")],
    )
    more = chosen[world.random.randrange(4)] if world.random.random() < 0.5 else []
    return "/search?" + urlencode([("q", words), *flags, *values, *more])


def _line(what: str, server: Served, reader: Reader, paths: Iterable[str]) -> Line:
    before = server.cpu()
    times = [reader.get(path) for path in paths]
    spent = (server.cpu() - before) / len(times) * 1000
    without = [whole - search for _, whole, search in times]
    searched = any(search for *_, search in times)
    return Line(
        what,
        _percentiles([waited for waited, *_ in times]),
        f"CPU {_percentiles([whole for _, whole, _ in times])}"
        + (f"; without the search {_percentiles(without)}" if searched else ""),
        f"the whole server: {spent:.1f} ms of CPU each",
    )


def _percentiles(times: list[float]) -> str:
    times = sorted(times)
    p95 = times[int(len(times) * 0.95)]
    return f"p50 {times[len(times) // 2]:.1f} ms, p95 {p95:.1f} ms, worst {times[-1]:.1f} ms"


def _crowd(server: Served, world: World, there: list[str], of: str) -> Line:
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
        reader = Reader(server.port)
        for path in paths:
            try:
                times.append(reader.get(path)[0])
            except (AssertionError, OSError, http.client.HTTPException) as error:
                failed.append(repr(error))
        reader.close()

    began = time.perf_counter()
    together(lambda paths=paths: read(paths) for paths in lists)  # type: ignore[misc]
    seconds, asked = time.perf_counter() - began, READERS * ASKED_BY_EACH
    return Line(
        f"{READERS} readers at once, {of}",
        f"{asked / seconds:,.0f} pages/s, {len(failed)} failed",
        _percentiles(times),
    )


def together(work: Iterable[Callable[[], None]]) -> None:
    """Do pieces of work, a thread for each; wait for all of them."""
    threads = [threading.Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# -- each kind of page --------------------------------------------------------------------

TIMES = 20
PAGES = {
    "home": "/",
    "search": "/search",
    "search, one word": "/search?q=w{n}",
    "search, two words": "/search?q=w{n}+w1",
    "search, by title": "/search?sort=title&q=w{n}",
    "all by title": "/search?sort=title",
    "a set": "/search?set=type%3D{digit}",
    "a set, as JSON": "/records.json?set=type%3D{digit}",
    "all values of a field": "/search/values?field=subject",
    "record": "{record}",
    "record, from a search": "{record}?from=q%3Dw1",
    "record, as JSON": "{record}.json",
    "quality": "/quality",
    "quality of a set": "/quality?set=type%3D{digit}",
    "clusters": "/clusters?field=publisher",
    "activity": "/activity",
    "activity of one record": "/activity?record=oai%3Aeprints.example.org%3A{n}",
    "sets": "/sets",
    "jobs": "/jobs",
    "harvests": "/harvests",
    "rules": "/rules",
    "source changes": "/upstream",
    "saved searches": "/searches",
    "selection": "/selection",
    "usage": "/usage",
    "crawls": "/crawls",
    "probable duplicates": "/quality/duplicates",
}
"""What a page is → its address; the numbers differ each time."""


def each_page(records: int, directory: str) -> Iterator[str]:
    """Ask for each kind of page by itself; the rows of a table in Markdown."""
    place = f"{directory}/page-{records}"
    there = [urls.record(identifier(records + number)) for number in range(RECORDS)]
    _log_changes(place, records)
    yield f"| page, {records:,} records | first ms | p50 | p95 | CPU p50 | CPU p95 |"
    yield "|---|---|---|---|---|---|"
    with served(place) as server:
        reader = Reader(server.port)
        for what, address in PAGES.items():
            try:
                if what == "probable duplicates":
                    _await_duplicates(server.port)
                    reader = Reader(server.port)  # the other has been closed meanwhile
                asked = [
                    reader.get(address.format(n=n + 2, digit=n % 7, record=there[n]))
                    for n in range(TIMES + 1)
                ]
            except AssertionError as error:
                yield f"| {what} | {error} |"
                continue
            (first, *_), *rest = asked
            columns = (sorted(one[column] for one in rest) for column in (0, 1))
            told = (some[int(len(some) * part)] for some in columns for part in (0.5, 0.95))
            yield f"| {what} | {first:.0f} | {' | '.join(f'{one:.0f}' for one in told)} |"
        reader.close()


def _await_duplicates(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    began = time.monotonic()
    while time.monotonic() - began < 1800:
        connection.request("GET", "/quality/duplicates.json")
        if json.loads(connection.getresponse().read())["found"]:
            break
        time.sleep(2)
    connection.close()


def _log_changes(place: str, lines: int) -> None:
    """An activity log of so many lines, the last third of one batch edit; in the last month."""
    path = f"{place}/{ACTIVITY}/2024-11.jsonl"
    if os.path.exists(path):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        for number in range(lines):
            one = {
                "date": f"2024-11-{1 + number * 27 // lines:02}T00:{number // 60 % 60:02}:00Z",
                "agent": ("vera", "cara", "mona")[number % 3],
                "action": "edit" if number < lines * 2 / 3 else "bulk",
                "identifier": identifier(number * 7919 % lines),
                "version": "workingcopy",
                "what": "subject",
                "old": f"Subject {number % 4999}",
                "new": f"Subject {number % 4998}",
            }
            job = {} if number < lines * 2 / 3 else {"job": "20241128-abc"}
            file.write(json.dumps(one | job) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", type=int, nargs="*", default=[100_000])
    parser.add_argument("--directory", help="where to work (default: a temporary directory)")
    parser.add_argument("--keep", action="store_true", help="leave the Silos there, use them again")
    parser.add_argument("--pages", action="store_true", help="ask for each kind of page by itself")
    parser.add_argument("--serve", metavar="SILO", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
        return
    kept = arguments.directory if arguments.keep else None
    directory = kept or tempfile.mkdtemp(prefix="silo-page-", dir=arguments.directory)
    try:
        for records in arguments.records:
            if arguments.pages:
                _make(records, directory)
                for row in each_page(records, directory):
                    print(row, flush=True)
                continue
            for line in page_speed(records, directory):
                print(" | ".join((line.what, line.ours, line.beside, line.ratio)), flush=True)
    finally:
        if not kept:
            shutil.rmtree(directory)


if __name__ == "__main__":
    main()
