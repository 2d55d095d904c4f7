"""What a harvest costs, beside the raw costs of the same work and beside other harvesters.

* into the Silo with index and WARC, against the sum of what cannot be saved, measured in the
  same run: one parse of each page, the same directories and files with the same flushes, one
  full-text insert a record, one gzip of the page;
* pages only, and iterating without any store, against sickle and oaipmh-scythe;
* with latency, against one page at a time;
* peak memory, and the cost of a record in a small and in a large harvest.

The server is a process of its own with pages that cost it next to nothing; each client is
one, too, which is measured whole, its start included.
"""

import argparse
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from lxml import etree
from processes import Process, measured, median
from store import Line, timed

from recordsilo.disk.atomic_file import Barrier, group_barrier
from recordsilo.disk.identifier import ppath

CLIENTS = os.path.join(os.path.dirname(__file__), "clients.py")
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
SHORT = {
    "Identify": IDENTIFY,
    "ListSets": b"<ListSets><set><setSpec>7374617475733D707562</setSpec>"
    b"<setName>Published</setName></set></ListSets>",
    "ListMetadataFormats": b"<ListMetadataFormats><metadataFormat>"
    b"<metadataPrefix>oai_dc</metadataPrefix>"
    b"<schema>http://www.openarchives.org/OAI/2.0/oai_dc.xsd</schema>"
    b"<metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</metadataNamespace>"
    b"</metadataFormat></ListMetadataFormats>",
}
"""The answers to verbs that list no records."""


# --------------------------------------------------------------------------- the server


@dataclass(frozen=True, slots=True)
class Repository:
    """Records in the order of their datestamps, `STEP` apart."""

    records: int
    page_size: int
    latency: float

    def answer(self, query: str) -> bytes:
        asked = {name: values[0] for name, values in parse_qs(query).items()}
        if asked["verb"] in SHORT:
            return ENVELOPE % SHORT[asked["verb"]]
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


PEERS = ("sickle", "oaipmh-scythe")
STORING = ("silo", "silo, two processes", "silo, no WARC")
FETCHING = ("pages only", "iterated")
ONE = ("--max-requests-in-flight", "1")
TOGETHER = (*ONE, "--one-process")
COMMANDS = {
    "silo": TOGETHER,
    "silo, two processes": (*ONE, "--two-processes"),
    "silo, no WARC": (*TOGETHER, "--no-warc"),
    "silo, in parallel": (),
    "pages only": (*ONE, "--pages-only"),
    "pages only, in parallel": ("--pages-only",),
}
"""Options of `silo harvest`; other clients are programs of ``clients.py``."""


def run_of(client: str, url: str, directory: str) -> Process:
    """Run a client in a process of its own, its start included.

    Its Silo stays until all is measured: for a minute after files were deleted, ext4 without a
    journal takes up to four times the CPU to create others, because it passes over their inodes
    (``recently_deleted``). Measure on a file system with a journal, as users have.

    Raises:
        subprocess.CalledProcessError: It failed, or is not installed.
    """
    if client not in COMMANDS:
        return measured(CLIENTS, client, url)
    place = tempfile.mkdtemp(dir=directory)
    return measured("silo", "harvest", url, f"{place}/silo", "--quiet", *COMMANDS[client])


def medians(clients: Iterable[str], url: str, directory: str, runs: int) -> dict[str, Process]:
    """The median run of each client, without peers that are not installed; they take turns."""
    found: dict[str, list[Process]] = {}
    for client in [*clients] * runs:
        try:
            found.setdefault(client, []).append(run_of(client, url, directory))
        except subprocess.CalledProcessError:
            if client not in PEERS:
                raise
            del found[client]
    return {client: median(each) for client, each in found.items()}


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


def run(records: int, directory: str, page_size: int = 250, runs: int = 1) -> Iterator[Line]:
    """Measure harvests of so many records; see the module's docstring."""
    repository = Repository(records, page_size, 0.0)
    raw = raw_costs(repository, directory)
    with served(repository) as url:
        found = medians([*STORING, *FETCHING, *PEERS], url, directory, runs)
    ours, apart, bare = (found[name] for name in STORING)
    peers = {name: found[name] for name in PEERS if name in found}
    yield _against_raw(records, ours, raw, peers)
    yield Line(f"harvest, {records:,} records", f"{ours.megabytes:,.0f} MB peak memory")
    yield Line(
        f"harvest by two processes, {records:,} records",
        apart.speed(records),
        f"by one: {ours.speed(records)}",
        f"{ours.wall / apart.wall:.2f} × faster, wall; {apart.cpu / ours.cpu:.2f} × the CPU",
    )
    yield Line(
        f"harvest without WARC, {records:,} records",
        bare.speed(records),
        "",
        f"WARC costs {(ours.cpu - bare.cpu) / ours.cpu:.0%} of CPU",
    )
    for client in FETCHING:
        yield _against_peers(client, records, found[client], peers)
    few = min(records, 10_000)
    if few < records:
        with served(Repository(few, page_size, 0.0)) as url:
            small = medians(["silo"], url, directory, runs)["silo"]
        ratio = ours.microseconds(records) / small.microseconds(few)
        yield Line(
            f"harvest, a record of {records:,}",
            f"{ours.microseconds(records):,.0f} µs CPU",
            f"of {few:,}: {small.microseconds(few):,.0f} µs",
            f"{ratio:.2f} CPU",
        )


def _against_raw(
    records: int, ours: Process, raw: dict[str, float], peers: dict[str, Process]
) -> Line:
    parts = ", ".join(f"{name} {cpu / records * 1e6:,.0f}" for name, cpu in raw.items())
    return Line(
        f"harvest with index and WARC, {records:,} records",
        f"{ours.speed(records)} ({ours.microseconds(records):,.0f} µs CPU a record)",
        f"raw costs, µs a record: {parts}{''.join(f'; {told}' for told in _told(records, peers))}",
        ", ".join(
            [f"{ours.cpu / sum(raw.values()):.2f} × the raw costs, CPU", *_ratios(ours, peers)]
        ),
    )


def _against_peers(client: str, records: int, ours: Process, peers: dict[str, Process]) -> Line:
    return Line(
        f"{client}, {records:,} records",
        ours.speed(records),
        "; ".join(_told(records, peers)),
        ", ".join(_ratios(ours, peers)),
    )


def _told(records: int, peers: dict[str, Process]) -> list[str]:
    return [f"{name} iterating: {run.speed(records)}" for name, run in peers.items()]


def _ratios(ours: Process, peers: dict[str, Process]) -> list[str]:
    return [f"{run.cpu / ours.cpu:.2f} × {name}, CPU" for name, run in peers.items()]


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
            one = run_of(client, url, directory)
            many = run_of(f"{client}, in parallel", url, directory)
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
    parser.add_argument("--runs", type=int, default=1, help="runs of each; the median is told")
    parser.add_argument("--directory", help="where to work (default: a temporary directory)")
    parser.add_argument("--serve", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        records, page_size, seconds = arguments.serve
        serve(Repository(int(records), int(page_size), float(seconds)))
    else:
        _print_all(arguments)


def _print_all(arguments: argparse.Namespace) -> None:
    directory = tempfile.mkdtemp(prefix="silo-bench-", dir=arguments.directory)
    try:
        for records in arguments.records:
            for line in run(records, directory, arguments.page_size, arguments.runs):
                print(" | ".join((line.what, line.ours, line.beside, line.ratio)), flush=True)
        if arguments.waiting:
            for line in latency(arguments.waiting, directory):
                print(" | ".join((line.what, line.ours, line.beside, line.ratio)), flush=True)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
