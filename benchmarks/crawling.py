"""What a crawl costs, beside wget on the same pages in the same run; its index, and its steps.

    .venv/bin/python benchmarks/crawling.py                      5,000 pages, without a delay
    .venv/bin/python benchmarks/crawling.py --profile out.prof   where the CPU goes, for pstats

One page links to all others, each of which has 20 links and a text of some kilobytes. Both
follow the links, obey robots.txt and write a WARC file with an index; wget also takes the
addresses from a list, without looking for links. Whole processes with their start; the server
is not counted. Goals: 1.15 times the CPU of wget that follows links; 20,000 index lines a second.
Steps are messages that are taken, worked on and acknowledged without network: addresses that are
not asked for, documents that become their records', and those about which was decided before.
What a browser costs is in rendering.py.
"""

import argparse
import os
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from processes import Process, measured, median
from store import timed

from recordsilo import Silo
from silocrawl.cataloguing import cataloguing_step
from silocrawl.cdxj import Segments, line_of
from silocrawl.crawl_log import CrawlOutcome
from silocrawl.launching import inject
from silocrawl.messages import CATALOGUE
from silocrawl.paths import queues_file
from silocrawl.proposals import ProposalState, proposals
from silocrawl.running import CrawlSettings, CrawlWorker
from silocrawl.scope import Scope, ScopeKind
from silocrawl.targets import CrawlTarget, Limits, add_target
from silowork.due.timetable import Timetable
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.steps import StepWorker
from silowork.queues.values import Message, MessageState
from silowork.stop import Stop

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "silocrawl"))
from crawl_records import put_record
from landing_pages import paper
from site_of_traps import Reply, Site
from site_of_traps import served as served_site

LINKS, TOGETHER = 20, 500


# --------------------------------------------------------------------------- the site


def page_of(number: int, pages: int) -> bytes:
    """The page of a number; 0 links to all, the others to those that follow them."""
    ends = range(1, pages) if number == 0 else range(number + 1, number + 1 + LINKS)
    links = "".join(f'<li><a href="/p/{one % pages}">Page {one % pages}</a></li>' for one in ends)
    text = "<p>No single cause explains what was seen.</p>" * 100
    return (
        f"<!doctype html><html><head><title>Page {number}</title></head>"
        f"<body><ul>{links}</ul>{text}</body></html>"
    ).encode()


class _Handler(socketserver.StreamRequestHandler):
    """Answers as little of HTTP/1.1 as both clients need; connections are kept."""

    def handle(self) -> None:
        while line := self.rfile.readline():
            while self.rfile.readline().strip():
                pass
            path = line.split()[1].decode()
            number = path.removeprefix("/p/")
            is_page = number != path
            body = page_of(int(number), self.server.pages) if is_page else b"none"  # type: ignore[attr-defined]
            status = "200 OK" if is_page else "404 Not Found"
            head = (
                f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            self.wfile.write(head.encode() + body)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


@contextmanager
def served(pages: int) -> Iterator[str]:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.pages = pages  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_address[1]}"
        server.shutdown()


# --------------------------------------------------------------------------- crawlers


def ours(url: str, pages: int, directory: Path, profile: str = "") -> Process:
    place = str(directory / "silo")
    with Silo(place, "info:", identifier_uri_prefix="oai:example.org:"):
        now = datetime.now(UTC).replace(microsecond=0)
        limits = Limits(pages=2 * pages)
        path = Scope(ScopeKind.PATH)
        when = Timetable(once=now)
        one = CrawlTarget("t", when, f"{url}/p/0", scope=path, limits=limits, made=now)
        add_target(place, one)
    given = ["crawl", "run", place, "--until-idle", "--private", "--interval", "0", "-q"]
    if profile:
        program = [
            "-m",
            "cProfile",
            "-o",
            profile,
            os.path.join(os.path.dirname(sys.executable), "silo"),
        ]
        subprocess.run([sys.executable, *program, *given], check=True)
        return Process(1, 1, 1, "")
    done = measured("silo", *given)
    lines = sum(len(one.read_text().splitlines()) for one in directory.glob("silo/crawling/logs/*"))
    assert lines == pages, lines
    return done


def wget(url: str, pages: int, directory: Path, *, follows: bool) -> Process:
    """Run wget; it ends with 8 where an address, as robots.txt, was answered 404."""
    addresses = directory / "addresses"
    addresses.write_text("".join(f"{url}/p/{one}\n" for one in range(pages)))
    how = ["-r", "-l", "inf", "-np", f"{url}/p/0"] if follows else ["-i", str(addresses)]
    command = ["wget", "-q", "--delete-after", "--warc-file", str(directory / "w"), "--warc-cdx"]
    began = time.perf_counter()
    with subprocess.Popen([*command, "-P", str(directory / "files"), *how]) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in {0, 8}, process.returncode
    assert len((directory / "w.cdx").read_text().splitlines()) > pages
    cpu = used.ru_utime + used.ru_stime
    return Process(time.perf_counter() - began, cpu, used.ru_maxrss / 1024, "")


# --------------------------------------------------------------------------- the index


def index_lines(lines: int, directory: Path) -> str:
    """Lines made, written in batches as a crawl does, and merged."""
    segments = Segments(str(directory / "index"))
    with timed() as spent:
        for first in range(0, lines, TOGETHER):
            segments.add(
                line_of(outcome(number), 1_000) for number in range(first, first + TOGETHER)
            )
    return f"{lines / spent.wall:,.0f}/s wall, {lines / spent.cpu:,.0f}/s CPU"


def outcome(number: int) -> CrawlOutcome:
    return CrawlOutcome(
        timestamp="20261124120000", url=f"http://h{number % 97}.example.org/p/{number}",
        status_code=200, mimetype="text/html", content_digest="sha1:" + "A" * 32, size=6_000,
        warc_filename="20261124T120000.000000Z-00001.warc.gz", warc_offset=number * 1_000,
    )  # fmt: skip


# --------------------------------------------------------------------------- the steps


@contextmanager
def counting_cpu(what: str, messages: int) -> Iterator[None]:
    """Print how many messages a second of CPU, that of children included, and of wall time."""
    began, before = time.perf_counter(), sum(os.times()[:4])
    yield
    wall, cpu = time.perf_counter() - began, sum(os.times()[:4]) - before
    print(f"{messages:6,} {what}: {messages / wall:,.0f}/s wall, {messages / cpu:,.0f}/s CPU")


def steps(addresses: int, documents: int, directory: Path) -> None:
    """Measure messages of ``uris-to-crawl`` and of ``documents-to-catalogue``."""
    place, settings = str(directory / "steps"), CrawlSettings(interval=0.0, is_private=True)
    deep = "/a" * 21
    with Silo(place, "info:", identifier_uri_prefix="oai:example.org:") as silo:
        os.makedirs(os.path.dirname(queues_file(place)))
        with SqliteQueues(queues_file(place)) as queues:
            traps = [f"http://h{one % 97}.example.org{deep}/{one}" for one in range(addresses)]
            inject(queues, traps, force=False)
            with counting_cpu("addresses that are not asked for", addresses):
                done = CrawlWorker(silo, queues, settings).run(Stop(), until_idle=True)
            assert done.fetched == addresses, done
            fetch_papers(silo, queues, documents, settings)
            messages = queues.peek(CATALOGUE, MessageState.WAITING, documents)
            assert len(messages) == documents, len(messages)
            worker = StepWorker(queues, [cataloguing_step(place)], Stop())
            with counting_cpu("documents that are attached", documents):
                _work_all(worker)
            assert (
                sum(one.state is ProposalState.ATTACHED for one in proposals(place, None))
                == documents
            )
            queues.put(Message(CATALOGUE, one.body, f"again {one.number}") for one in messages)
            with counting_cpu("documents that were decided about", documents):
                _work_all(worker)


def _work_all(worker: StepWorker) -> None:
    while (done := worker.work_once()) is not None:
        assert (done.failed, done.later) == (0, 0), done


def fetch_papers(silo: Silo, queues: SqliteQueues, papers: int, settings: CrawlSettings) -> None:
    """Fetch a document for each of some records, whose links lead to them."""
    site = Site()
    with served_site(site):
        for number in range(papers):
            title, doi = f"On the number {number} and its place among others", f"10.1234/{number}"
            content = paper(title, doi)
            site.pages[f"/{number}.pdf"] = Reply(200, content, {"Content-Type": "application/pdf"})
            links = (f"{site.url}/{number}.pdf", f"doi:{doi}")
            put_record(silo, str(number), *links, title=title)
        now = datetime.now(UTC).replace(microsecond=0)
        add_target(silo.path, CrawlTarget("papers", Timetable(once=now), made=now))
        CrawlWorker(silo, queues, settings).run(Stop(), until_idle=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--steps", type=int, default=20_000, help="addresses that are not fetched")
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--directory", help="where to work (default: a temporary directory)")
    parser.add_argument("--profile", default="", help="write a profile of one crawl, and end")
    given = parser.parse_args()
    found: dict[str, list[Process]] = {}
    with tempfile.TemporaryDirectory(dir=given.directory) as place, served(given.pages) as url:
        for run in range(given.runs):
            directory = Path(place, str(run))
            for name in ("silo", "wget -r", "wget -i"):
                (directory / name).mkdir(parents=True)
            found.setdefault("silo", []).append(
                ours(url, given.pages, directory / "silo", given.profile)
            )
            if given.profile:
                return
            for name, follows in (("wget -r", True), ("wget -i", False)):
                one = wget(url, given.pages, directory / name, follows=follows)
                found.setdefault(name, []).append(one)
        print(f"{given.lines:,} index lines: {index_lines(given.lines, Path(place))}")
        steps(given.steps, given.documents, Path(place))
    if not found:
        return
    mine = median(found["silo"])
    for name, runs in found.items():
        one = median(runs)
        print(
            f"{name:8} {one.cpu / given.pages * 1e3:6.2f} ms CPU a page, {one.speed(given.pages)},"
            f" {one.megabytes:,.0f} MB; silo: {mine.cpu / one.cpu:.2f} times the CPU"
        )


if __name__ == "__main__":
    main()
