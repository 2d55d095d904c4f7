"""Many readers of the page while a bulk edit runs: the page, the edit and they, a process each.

    .venv/bin/python benchmarks/readers.py 5000

The same edit runs first with nobody reading. An answer that is not 200, and a connection
that breaks, count as failed.
"""

import argparse
import contextlib
import http.client
import itertools
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator

from page import together
from store import Line, identifier, ingest, timed

from recordsilo import Silo
from silocuration.batch.job import job_reports, undo_job
from silocuration.editing.rule_files import RuleSet, save_rules
from silocuration.editing.rules import Replace
from webui import urls

READERS = 50
RULES = RuleSet("bench", rules=(Replace("type", "Article", "article"),))
APPLY = "from silocuration.commands.edits import rules; rules()"
SERVE = """
import sys
from recordsilo import Silo
from webui.app import create_app
from webui.server import PageServer
with Silo(sys.argv[1], create=False) as silo, PageServer(create_app(silo)) as server:
    print(server.port, flush=True)
    sys.stdin.read()
"""


def run(records: int, directory: str) -> Iterator[Line]:
    """Change all records of a Silo unread, take it back, and change them while they are read."""
    path = f"{directory}/readers-{records}"
    with Silo(path) as silo:
        ingest(silo, records)
        save_rules(path, "bench", RULES)
        with timed() as alone:
            apply(path)
        undo_job(silo, next(job_reports(silo)).job_id, agent="benchmark")
    with page_beside(path) as port:
        crowd = Crowd(port, records)
        with timed() as read:
            crowd.read_while(lambda: apply(path))
    times = sorted(crowd.times)
    what = f"{READERS} readers during a bulk edit of {records:,} records"
    yield Line(
        what,
        f"{len(times):,} pages, {len(crowd.failed)} failed",
        f"p50 {times[len(times) // 2]:.0f} ms, p95 {times[int(len(times) * 0.95)]:.0f} ms, "
        f"worst {times[-1]:.0f} ms",
        f"the edit {records / read.wall:,.0f}/s, unread {records / alone.wall:,.0f}/s",
    )
    for reason in sorted(set(crowd.failed))[:5]:
        yield Line(reason)


def apply(path: str) -> None:
    """Apply the rule, as its command does."""
    subprocess.run([sys.executable, "-c", APPLY, "apply", path, "bench", "-q"], check=True)


@contextlib.contextmanager
def page_beside(path: str) -> Iterator[int]:
    """The page of a Silo in a process of its own: the port it is at."""
    command = [sys.executable, "-c", SERVE, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.stdin.close()


class Crowd:
    """Readers, each with a connection of its own.

    Attributes:
        times: Milliseconds of waiting for each page.
        failed: What went wrong.
    """

    def __init__(self, port: int, records: int) -> None:
        self._port, self._records = port, records
        self.times: list[float] = []
        self.failed: list[str] = []

    def read_while(self, work: Callable[[], None]) -> None:
        """Read until the work is done, and every page once at least."""
        is_over = threading.Event()

        def act() -> None:
            try:
                work()
            finally:
                is_over.set()

        readers = [lambda n=n: self._read(n, is_over) for n in range(READERS)]
        together([act, *readers])

    def _read(self, first: int, is_over: threading.Event) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=300)
        for number in itertools.cycle(range(first, self._records, READERS)):
            for path in pages_of(identifier(number)):
                self._ask(connection, path)
            if is_over.is_set():
                break
        connection.close()

    def _ask(self, connection: http.client.HTTPConnection, path: str) -> None:
        began = time.perf_counter()
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.failed.append(f"{path}: {error!r}")
            return
        self.times.append((time.perf_counter() - began) * 1000)
        if answer.status != 200:
            self.failed.append(f"{path}: {answer.status} {body[:200]!r}")


def pages_of(name: str) -> Iterable[str]:
    """What a reader looks at in turn: lists, a search, a record, its file, the job."""
    return (
        urls.search(),
        urls.records(**{"from": name}),
        urls.search([("q", "gene regulation"), ("open", "subject")]),
        urls.record(name),
        urls.twin(urls.record(name)),
        urls.file(name, "1", "oai_dc"),
        urls.BULK_JOBS,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", type=int, nargs="?", default=5000)
    with tempfile.TemporaryDirectory(prefix="silo-readers-") as directory:
        for line in run(parser.parse_args().records, directory):
            told = filter(None, (line.what, line.ours, line.beside, line.ratio))
            print(" | ".join(told), flush=True)


if __name__ == "__main__":
    main()
