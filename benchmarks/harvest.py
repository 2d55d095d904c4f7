"""What a harvest costs, beside the raw costs of the same work and beside other harvesters.

* into the Silo with index and WARC, against the sum of what cannot be saved, measured in the
  same run: one parse of each page, the same directories and files with the same flushes, one
  full-text insert a record, one gzip of the page;
* pages only, and iterating without any store, against sickle and oaipmh-scythe;
* with latency, against one page at a time;
* peak memory, and the cost of a record in a small and in a large harvest.

The server is a process of its own with pages that cost it next to nothing; each client is
one, too, so that its CPU seconds and its memory are its own.
"""

import argparse
import contextlib
import importlib
import json
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from lxml import etree
from store import Line, timed

from recordsilo.disk.atomic_file import Barrier, group_barrier
from recordsilo.disk.identifier import ppath

FIRST = datetime(2015, 1, 1, tzinfo=UTC)
STEP = timedelta(seconds=997)
ABSTRACTS = 500
RECORD = (
    b"<record><header><identifier>oai:eprints.example.org:%d</identifier><datestamp>%s</datestamp>"
    b"<setSpec>7374617475733D707562</setSpec></header><metadata><oai_dc:dc"
    b' xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"'
    b' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>On what was seen, part %d</dc:title>'
    b"<dc:creator>Adeyemi, Fiona</dc:creator><dc:subject>gene regulation</dc:subject>"
    b"<dc:description>%s</dc:description><dc:date>2024</dc:date>"
    b"<dc:type>Article</dc:type><dc:identifier>http://eprints.example.org/%d/1/a.pdf"
    b"</dc:identifier></oai_dc:dc></metadata></record>"
)
METADATA = RECORD[RECORD.index(b"<metadata>") : -len(b"</record>")]
ENVELOPE = (
    b'<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">'
    b"<responseDate>2026-01-01T00:00:00Z</responseDate><request>http://127.0.0.1/oai</request>"
    b"%s</OAI-PMH>"
)
IDENTIFY = (
    b"<Identify><repositoryName>Benchmark</repositoryName><baseURL>http://127.0.0.1/oai</baseURL>"
    b"<protocolVersion>2.0</protocolVersion><adminEmail>a@example.org</adminEmail>"
    b"<earliestDatestamp>2015-01-01T00:00:00Z</earliestDatestamp><deletedRecord>no</deletedRecord>"
    b"<granularity>YYYY-MM-DDThh:mm:ssZ</granularity></Identify>"
)


# --------------------------------------------------------------------------- the server


@dataclass(frozen=True, slots=True)
class Repository:
    """Records in the order of their datestamps, `STEP` apart."""

    records: int
    page_size: int
    latency: float

    def answer(self, query: str) -> bytes:
        asked = {name: values[0] for name, values in parse_qs(query).items()}
        if asked["verb"] == "Identify":
            return ENVELOPE % IDENTIFY
        time.sleep(self.latency)
        if token := asked.get("resumptionToken"):
            begin, first, end = map(int, token.split("-"))
        else:
            begin = first = self._number(asked.get("from"), 0)
            end = self._number(asked.get("until"), self.records, past=1)
        return ENVELOPE % self._page(asked["verb"].encode(), begin, first, min(end, self.records))

    def page(self, number: int) -> bytes:
        """A page of the whole list."""
        at = number * self.page_size
        return ENVELOPE % self._page(b"ListRecords", at, 0, self.records)

    def _number(self, date: str | None, default: int, past: int = 0) -> int:
        if date is None:
            return default
        moment = datetime.strptime(date, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
        steps, rest = divmod(moment - FIRST, STEP)
        return max(0, steps + (past or bool(rest)))

    def _page(self, verb: bytes, at: int, first: int, end: int) -> bytes:
        if at >= end:
            return b'<error code="noRecordsMatch"/>'
        last = min(at + self.page_size, end)
        token = f"{last}-{first}-{end}" if last < end else ""
        records = b"".join(map(record, range(at, last)))
        size = end - first
        return (
            b"<%s>%s" % (verb, records)
            + f'<resumptionToken completeListSize="{size}">{token}</resumptionToken>'.encode()
            + b"</%s>" % verb
        )


def record(number: int) -> bytes:
    stamp = (FIRST + number * STEP).strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    return RECORD % (number, stamp, number, abstract(number), number)


def abstract(number: int) -> bytes:
    """One of `ABSTRACTS` texts of 240 words, few common and many rare."""
    return _abstracts()[number % ABSTRACTS]


@cache
def _abstracts() -> list[bytes]:
    dice = random.Random(7)
    words = [f"{dice.choice('bcdfglmnprst')}{number:x}ation" for number in range(20_000)]

    def word() -> str:
        return words[(int(30 * dice.paretovariate(0.8)) - 30) % len(words)]

    return [" ".join(word() for _ in range(240)).encode() for _ in range(ABSTRACTS)]


def serve(repository: Repository) -> None:
    """Serve until stdin ends; the port is the first line on stdout."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = repository.answer(urlsplit(self.path).query)
            head = (
                f"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            self.wfile.write(head.encode() + body)

        def log_message(self, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        print(server.server_address[1], flush=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdin.read()
        server.shutdown()


@contextmanager
def served(repository: Repository) -> Iterator[str]:
    """The base URL of a server process."""
    given = [str(repository.records), str(repository.page_size), str(repository.latency)]
    command = [sys.executable, __file__, "--serve", *given]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/oai"
        assert process.stdin
        process.stdin.close()
        process.wait()


# --------------------------------------------------------------------------- the clients


def harvest(url: str, directory: str, **options: object) -> int:
    from oaipmhscraper.harvests.job import HarvestOptions  # noqa: PLC0415 # the others do not pay for it
    from oaipmhscraper.scraper import OAIPMHScraper  # noqa: PLC0415

    with OAIPMHScraper(directory, url, quiet=True) as scraper:
        receipt = scraper.harvest(["oai_dc"], options=HarvestOptions(**options))
    assert receipt.whole, receipt.text()
    return receipt.counts.listed


def iterated(url: str) -> int:
    from oaipmhscraper import Client  # noqa: PLC0415

    with Client(url) as client:
        return sum(1 for _ in client.list_records("oai_dc"))


def iterated_by(module: str, name: str, **how: object) -> Callable[[str, str], int]:
    def work(url: str, _directory: str) -> int:
        reader = getattr(importlib.import_module(module), name)(url)
        method = getattr(reader, "ListRecords", None) or reader.list_records
        return sum(1 for _ in method(**how))

    return work


CLIENTS: dict[str, Callable[[str, str], int]] = {
    "silo": lambda url, directory: harvest(url, directory, max_in_flight=1),
    "silo, two processes": lambda url, directory: harvest(
        url, directory, max_in_flight=1, apart_from=0
    ),
    "silo, no WARC": lambda url, directory: harvest(url, directory, max_in_flight=1, warc=False),
    "silo, in parallel": harvest,
    "pages only": lambda url, directory: harvest(url, directory, max_in_flight=1, pages_only=True),
    "pages only, in parallel": lambda url, directory: harvest(url, directory, pages_only=True),
    "iterated": lambda url, _directory: iterated(url),
    "sickle": iterated_by("sickle", "Sickle", metadataPrefix="oai_dc"),
    "oaipmh-scythe": iterated_by("oaipmh_scythe", "Scythe", metadata_prefix="oai_dc"),
}


MODULES = {"sickle": "sickle", "oaipmh-scythe": "oaipmh_scythe"}


@dataclass(frozen=True, slots=True)
class Run:
    """One client's run; memory in MB at its peak."""

    records: int
    wall: float
    cpu: float
    memory: float

    @property
    def speed(self) -> str:
        return f"{self.records / self.wall:,.0f}/s wall, {self.records / self.cpu:,.0f}/s CPU"


def measured(client: str, url: str, directory: str) -> Run:
    """Run a client in a process of its own."""
    place = tempfile.mkdtemp(dir=directory)
    command = [sys.executable, __file__, "--client", client, url, f"{place}/silo"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    shutil.rmtree(place)
    return Run(**json.loads(done.stdout.splitlines()[-1]))


def run_client(client: str, url: str, directory: str) -> None:
    importlib.import_module(MODULES.get(client, "oaipmhscraper.scraper"))
    before = cpu_of_tree()
    start = time.perf_counter()
    records = CLIENTS[client](url, directory)
    wall = time.perf_counter() - start
    cpu = cpu_of_tree() - before
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps({"records": records, "wall": wall, "cpu": cpu, "memory": after.ru_maxrss / 1024})
    )


def cpu_of_tree() -> float:
    """CPU seconds of this process, and of the processes that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


# --------------------------------------------------------------------------- raw costs


def raw_costs(repository: Repository, directory: str) -> dict[str, float]:
    """CPU seconds of what no harvester that keeps the same can save, part by part."""
    pages = range(-(-repository.records // repository.page_size))
    root = tempfile.mkdtemp(dir=directory)
    manifest = os.urandom(1100).hex().encode()[:1100]
    barrier = group_barrier(root)
    database = sqlite3.connect(f"{root}/text.sqlite", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute(
        "CREATE VIRTUAL TABLE text USING fts5(title, creators, subjects, other, content='')"
    )
    spent = dict.fromkeys(("parse", "files", "full text", "gzip"), 0.0)

    def timed_part(
        name: str, work: Callable[[bytes, range], object], body: bytes, at: range
    ) -> None:
        with timed() as part:
            work(body, at)
        spent[name] += part.cpu

    parts: dict[str, Callable[[bytes, range], object]] = {
        "parse": lambda body, _: etree.fromstring(body),
        "files": lambda _, at: _write_files(root, at, manifest, barrier),
        "full text": lambda _, at: _write_text(database, at),
        "gzip": lambda body, _: zlib.compress(body, 1),
    }
    for number in pages:
        begin = number * repository.page_size
        at = range(begin, min(begin + repository.page_size, repository.records))
        body = repository.page(number)
        for name, work in parts.items():
            timed_part(name, work, body, at)
    database.close()
    shutil.rmtree(root)
    return spent


def _write_files(root: str, numbers: range, manifest: bytes, barrier: Barrier) -> None:
    staged = []
    for number in numbers:
        directory = f"{root}/{ppath(f'oai:eprints.example.org:{number}')}"
        os.makedirs(f"{directory}/__1")
        with open(f"{directory}/__1/oai_dc", "wb") as file:
            file.write(METADATA % (number, abstract(number), number))
        with open(f"{directory}/__manifest.json.new", "wb") as file:
            file.write(manifest)
        staged.append(directory)
    barrier.flush()
    for directory in staged:
        os.rename(f"{directory}/__manifest.json.new", f"{directory}/__manifest.json")
    barrier.flush()


def _write_text(database: sqlite3.Connection, numbers: range) -> None:
    rows = [
        (
            number + 1,
            f"On what was seen, part {number}",
            "Adeyemi, Fiona",
            "gene regulation",
            abstract(number).decode(),
        )
        for number in numbers
    ]
    database.execute("BEGIN")
    database.executemany(
        "INSERT INTO text (rowid, title, creators, subjects, other) VALUES (?, ?, ?, ?, ?)", rows
    )
    database.execute("COMMIT")


# --------------------------------------------------------------------------- the table


def run(records: int, directory: str, page_size: int = 250) -> Iterator[Line]:
    """Measure a harvest of so many records; see the module's docstring."""
    repository = Repository(records, page_size, 0.0)
    raw = raw_costs(repository, directory)
    with served(repository) as url:
        ours = measured("silo", url, directory)
        yield _against_raw(ours, raw)
        yield Line(f"harvest, {records:,} records", f"{ours.memory:,.0f} MB peak memory")
        apart = measured("silo, two processes", url, directory)
        yield Line(
            f"harvest by two processes, {records:,} records",
            apart.speed,
            f"by one: {ours.speed}",
            f"{ours.wall / apart.wall:.2f} × faster, wall; {apart.cpu / ours.cpu:.2f} × the CPU",
        )
        bare = measured("silo, no WARC", url, directory)
        share = (ours.cpu - bare.cpu) / ours.cpu
        yield Line(
            f"harvest without WARC, {records:,} records",
            bare.speed,
            "",
            f"WARC costs {share:.0%} of CPU",
        )
        peers = {}
        for name in ("sickle", "oaipmh-scythe"):
            with contextlib.suppress(subprocess.CalledProcessError):
                peers[name] = measured(name, url, directory)
        for client in ("pages only", "iterated"):
            yield _against_peers(client, measured(client, url, directory), peers)
    few = min(records, 10_000)
    if few < records:
        with served(Repository(few, page_size, 0.0)) as url:
            small = measured("silo", url, directory)
        ratio = (ours.cpu / ours.records) / (small.cpu / small.records)
        yield Line(
            f"harvest, a record of {records:,}",
            f"{ours.cpu / ours.records * 1e6:,.0f} µs CPU",
            f"of {few:,}: {small.cpu / small.records * 1e6:,.0f} µs",
            f"{ratio:.2f} CPU",
        )


def _against_raw(ours: Run, raw: dict[str, float]) -> Line:
    parts = ", ".join(f"{name} {cpu / ours.records * 1e6:,.0f}" for name, cpu in raw.items())
    return Line(
        f"harvest with index and WARC, {ours.records:,} records",
        f"{ours.speed} ({ours.cpu / ours.records * 1e6:,.0f} µs CPU a record)",
        f"raw costs, µs a record: {parts}",
        f"{ours.cpu / sum(raw.values()):.2f} × the raw costs, CPU",
    )


def _against_peers(client: str, ours: Run, peers: dict[str, Run]) -> Line:
    return Line(
        f"{client}, {ours.records:,} records",
        ours.speed,
        "; ".join(f"{name} iterating: {run.speed}" for name, run in peers.items()),
        ", ".join(
            f"{(ours.records / ours.cpu) / (run.records / run.cpu):.1f} × {name}, CPU"
            for name, run in peers.items()
        ),
    )


def latency(waiting: float, directory: str) -> Iterator[Line]:
    """Harvests that wait so many seconds in all, in parallel and one page at a time."""
    for seconds, page_size, client in (
        (0.05, 25, "silo"),
        (0.05, 100, "pages only"),
        (0.5, 100, "silo"),
        (0.5, 100, "pages only"),
    ):
        pages = round(waiting / seconds)
        with served(Repository(pages * page_size, page_size, seconds)) as url:
            one = measured(client, url, directory)
            many = measured(f"{client}, in parallel", url, directory)
        yield Line(
            f"{client}, {pages} pages of {page_size}, {seconds * 1000:.0f} ms each",
            f"{many.wall:.1f} s wall",
            f"one at a time: {one.wall:.1f} s",
            f"{one.wall / many.wall:.1f} × faster",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, nargs="*", default=[10_000])
    parser.add_argument("--waiting", type=float, default=30.0, help="seconds of latency in all")
    parser.add_argument("--page-size", type=int, default=250)
    parser.add_argument("--directory", help="where to work (default: a temporary directory)")
    parser.add_argument("--serve", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--client", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        records, page_size, seconds = arguments.serve
        serve(Repository(int(records), int(page_size), float(seconds)))
    elif arguments.client:
        run_client(*arguments.client)
    else:
        _print_all(arguments)


def _print_all(arguments: argparse.Namespace) -> None:
    directory = tempfile.mkdtemp(prefix="silo-bench-", dir=arguments.directory)
    try:
        for records in arguments.records:
            for line in run(records, directory, arguments.page_size):
                print(" | ".join((line.what, line.ours, line.beside, line.ratio)), flush=True)
        if arguments.waiting:
            for line in latency(arguments.waiting, directory):
                print(" | ".join((line.what, line.ours, line.beside, line.ratio)), flush=True)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
