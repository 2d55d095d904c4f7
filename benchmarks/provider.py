"""What `silo provide` costs, beside the same pages from memory and beside providers of others.

    .venv/bin/python benchmarks/provider.py --records 10000 100000 --directory /var/tmp

For each size: a Silo, provided by a process of its own, whose whole list is asked for page by page,
the first time (files are read) and again (documents were kept): the CPU of the server for a record,
the wait for the first hundred pages and for the last hundred, and its memory. Beside it, in turns:
the same answers from memory, the server of pyoai and oai_repo (in the environments that
``tests/oaipmhscraper/real_servers/install.py`` makes), with their records in memory and from the
files of the Silo. ``--silo`` takes a Silo that is there. Last, our client lists it, pages only.
"""

import argparse
import http.client
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from processes import cpu_of, measured, proportional_megabytes
from store import Line, identifier, ingest

from oaipmhprovider.provider import Settings, respond
from oaipmhprovider.wsgi import utc_now
from politeweb.loopback import LoopbackServer
from recordsilo import Silo
from recordsilo.disk.identifier import ppath
from recordsilo.garbage import collect_rarely
from siloprovider.source import SiloSource
from siloprovider.table_source import Identity

ROOT = Path(__file__).parents[1]
PEERS = ROOT / "benchmarks" / "provider_peers.py"
ENVIRONMENTS = Path(os.environ.get("OAI_PMH_SERVERS") or ROOT / ".venv" / "servers")
PAGE = 100
ENDS = 100
"""Pages at each end whose waits are compared."""
BESIDE = 10_000
"""Records that are listed of the servers beside ours."""
TOKEN = re.compile(rb"<resumptionToken[^>]*>([^<]+)</resumptionToken>")


@dataclass(frozen=True, slots=True)
class Walk:
    """A list, asked for page by page.

    Attributes:
        cpu: Of the server, in seconds.
        waits: Seconds for each page.
        megabytes: Of the server after a tenth of the pages, and at the end.
    """

    records: int
    cpu: float
    waits: list[float]
    megabytes: tuple[float, float]

    @property
    def microseconds(self) -> float:
        return self.cpu / self.records * 1e6

    def end_by_end(self) -> tuple[float, float]:
        """The median wait at the beginning and at the end."""
        return statistics.median(self.waits[:ENDS]), statistics.median(self.waits[-ENDS:])


def walk(url: str, pid: int, records: int, headers: dict[str, str] | None = None) -> Walk:
    """List a repository, from its first page on, on one connection where the server keeps it."""
    at = urlsplit(url)
    connection = http.client.HTTPConnection(at.hostname or "", at.port, timeout=600)
    arguments = {"verb": "ListRecords", "metadataPrefix": "oai_dc"}
    seen, waits, early = 0, [], 0.0
    before = cpu_of(pid)
    while True:
        began = time.perf_counter()
        connection.request("GET", f"{at.path}?{urlencode(arguments)}", headers=headers or {})
        body = connection.getresponse().read()
        waits.append(time.perf_counter() - began)
        seen += body.count(b"</record>") if not headers else PAGE
        if len(waits) == max(1, records // PAGE // 10):
            early = proportional_megabytes([pid])
        found = None if headers else TOKEN.search(body, max(0, len(body) - 2000))
        if found is None or seen >= records:
            break
        token = found[1].decode().replace("&amp;", "&")
        arguments = {"verb": "ListRecords", "resumptionToken": token}
    connection.close()
    assert seen >= records, (seen, records, body[:500])
    return Walk(seen, cpu_of(pid) - before, waits, (early, proportional_megabytes([pid])))


@contextmanager
def served(*command: str) -> Iterator[tuple[str, int]]:
    """The first line of a server's output, and its process."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.terminate()
            process.wait()


def made(path: str, records: int) -> None:
    """A Silo as a harvest makes it."""
    with Silo(path) as silo:
        ingest(silo, records)
        silo.state["base_oai_url"] = "http://eprints.example.org/cgi/oai2"


def from_memory(path: str) -> None:
    """Serve the answers of the first pages of a Silo, made beforehand."""
    collect_rarely()
    bodies = []
    settings = Settings(base_url="http://127.0.0.1/oai", page_size=PAGE)
    identity = Identity("Benchmark", ("a@example.org",))
    with Silo(path, create=False) as silo, SiloSource(silo, identity) as source:
        asked = [("verb", "ListRecords"), ("metadataPrefix", "oai_dc")]
        while len(bodies) < BESIDE // PAGE:
            body = respond(asked, source, utc_now(), settings).body
            if not (found := TOKEN.search(body)):
                bodies.append(body)
                break
            asked = [("verb", "ListRecords"), ("resumptionToken", found[1].decode())]
            number = str(len(bodies) + 1).encode()
            bodies.append(body[: found.start(1)] + number + body[found.end(1) :])

    def app(environ: dict[str, str], start: Callable[..., object]) -> list[bytes]:
        given = parse_qs(environ["QUERY_STRING"])
        body = bodies[int(given.get("resumptionToken", ["0"])[0])]
        start("200 OK", [("Content-Type", "text/xml"), ("Content-Length", str(len(body)))])
        return [body]

    with LoopbackServer(app) as server:
        server.start()
        print(f"{server.url}oai", flush=True)
        while True:
            time.sleep(3600)


def beside(silo: str, directory: str) -> Iterator[tuple[str, Walk]]:
    """The servers beside ours."""
    with served(sys.executable, __file__, "--memory", silo) as (url, pid):
        yield "the same pages from memory", walk(url, pid, BESIDE)
    paths = Path(directory) / "paths.txt"
    places = (f"{silo}/pairtree_root/{ppath(identifier(n))}/__1/oai_dc" for n in range(BESIDE))
    paths.write_text("\n".join(places))
    for name in ("pyoai", "oai_repo"):
        python = ENVIRONMENTS / name / "bin" / "python"
        if not python.exists():
            continue
        for what, more in (("in memory", ()), ("from the files", (str(paths),))):
            command = (str(python), "-W", "ignore", str(PEERS), name, str(BESIDE), *more)
            with served(*command) as (port, pid):
                yield f"{name}, records {what}", walk(f"http://127.0.0.1:{port}/", pid, BESIDE)


def run(silo: str, records: int, directory: str, runs: int) -> Iterator[Line]:
    """Measure one Silo; see the module's docstring."""
    command = (os.path.join(os.path.dirname(sys.executable), "silo"), "provide", silo)
    began = time.perf_counter()
    with served(*command, "--port", "0", "--page-size", str(PAGE)) as (url, pid):
        seconds, cpu = time.perf_counter() - began, cpu_of(pid)
        yield Line(f"{records:,} records, first start", f"{seconds:.1f} s wall, {cpu:.1f} s CPU")
        yield _line(f"{records:,} records, the first time", walk(url, pid, records))
        ours = [walk(url, pid, records) for _ in range(runs)]
        best = min(ours, key=lambda one: one.cpu)
        yield _line(f"{records:,} records, again", best)
        if records >= BESIDE:
            yield from _against(best, silo, directory, runs)
        place = tempfile.mkdtemp(dir=directory)
        cpu = cpu_of(pid)
        options = ("--pages-only", "--max-requests-in-flight", "1", "--quiet")
        done = measured("silo", "harvest", url, f"{place}/copy", *options)
        yield Line(
            f"{records:,} records, listed by silo harvest --pages-only",
            f"{done.speed(records)}",
            f"server, under gzip: {(cpu_of(pid) - cpu) / records * 1e6:.1f} µs CPU a record",
        )


def _against(ours: Walk, silo: str, directory: str, runs: int) -> Iterator[Line]:
    found: dict[str, list[Walk]] = {}
    for _ in range(runs):
        for name, one in beside(silo, directory):
            found.setdefault(name, []).append(one)
    for name, walks in found.items():
        least = min(walks, key=lambda one: one.cpu)
        ratio = least.microseconds / ours.microseconds
        yield Line(name, f"{least.microseconds:.1f} µs CPU a record", "", f"{ratio:.2f} × ours")


def _line(what: str, one: Walk) -> Line:
    first, last = one.end_by_end()
    return Line(
        what,
        f"{one.microseconds:.1f} µs CPU a record",
        f"page of {PAGE}: first {first * 1000:.1f} ms, last {last * 1000:.1f} ms"
        f" ({last / first:.2f})",
        f"{one.megabytes[0]:.0f} MB after a tenth, {one.megabytes[1]:.0f} MB at the end",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, nargs="*", default=[10_000])
    parser.add_argument("--silo", help="a Silo that was made by this, of the first size")
    parser.add_argument("--runs", type=int, default=3, help="runs of each; the least CPU is told")
    parser.add_argument("--directory", help="where to work (default: a temporary directory)")
    parser.add_argument("--memory", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory:
        from_memory(arguments.memory)
        return
    directory = tempfile.mkdtemp(prefix="silo-bench-", dir=arguments.directory)
    try:
        for records in arguments.records:
            silo = arguments.silo or f"{directory}/silo-{records}"
            if not arguments.silo:
                made(silo, records)
            for line in run(silo, records, directory, arguments.runs):
                print(" | ".join((line.what, line.ours, line.beside, line.ratio)), flush=True)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
