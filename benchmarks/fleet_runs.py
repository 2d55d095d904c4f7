"""What a run of a fleet costs, beside a shell loop of `silo harvest` and `silo update`.

    .venv/bin/python benchmarks/fleet_runs.py 200

Endpoints of 20 records each (`--records`), on loopback, served by another process. First all are
harvested, then asked again without anything new: by `silo fleet run`, which stores the records or
keeps the pages only, by a process for each, eight at a time under xargs, and, with `--metha PATH`,
by that metha-sync in the same way. CPU is that of all processes of the harvester, memory the
proportional set size (PSS) of the clock, the warm process and the runs while eight are at work.
At the end, what the fleet costs while nothing is due, with 8 and with 64 slots.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from processes import adopt_orphans, cpu_of, family, measured_family, proportional_megabytes

SILO = str(Path(sys.executable).parent / "silo")
SLOTS = 8
SECONDS_TO_START, SECONDS_IDLE = 5.0, 20.0
DELAY = 0.05
"""Seconds until an answer, as over a network."""
_HEAD = (
    '<?xml version="1.0"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">'
    "<responseDate>2026-01-02T00:00:00Z</responseDate><request>http://x/</request>"
)
_IDENTIFY = (
    "<Identify><repositoryName>R</repositoryName><baseURL>{url}</baseURL>"
    "<protocolVersion>2.0</protocolVersion><adminEmail>a@example.org</adminEmail>"
    "<earliestDatestamp>2020-01-01</earliestDatestamp><deletedRecord>no</deletedRecord>"
    "<granularity>YYYY-MM-DD</granularity></Identify>"
)
_HEADER = "<header><identifier>oai:{0}:{1}</identifier><datestamp>2020-01-01</datestamp></header>"
_PAGE = 100
_FORMATS = (
    "<ListMetadataFormats><metadataFormat><metadataPrefix>oai_dc</metadataPrefix>"
    "<schema>http://www.openarchives.org/OAI/2.0/oai_dc.xsd</schema><metadataNamespace>"
    "http://www.openarchives.org/OAI/2.0/oai_dc/</metadataNamespace></metadataFormat>"
    "</ListMetadataFormats>"
)
_RECORD = (
    f"<record>{_HEADER}"
    '<metadata><oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Title {1} of {0}</dc:title>'
    "<dc:creator>Ames, A.</dc:creator><dc:date>2020</dc:date></oai_dc:dc></metadata></record>"
)


class _Server(ThreadingHTTPServer):
    records = 20
    """Of each repository."""


class _Repository(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        asked = dict(parse_qsl(parts.query))
        time.sleep(DELAY)
        name = parts.path.strip("/")
        if asked.get("verb") == "Identify":
            body = _IDENTIFY.format(url=f"http://{self.headers['Host']}{parts.path}")
        elif asked.get("verb") == "ListMetadataFormats":
            body = _FORMATS
        elif asked.get("from", "") <= "2020-01-01" <= asked.get("until", "9999"):
            verb, form = asked["verb"], _RECORD if asked["verb"] == "ListRecords" else _HEADER
            begin, size = int(asked.get("resumptionToken", 0)), self.server.records
            end = min(begin + _PAGE, size)
            body = "".join(form.format(name, number) for number in range(begin, end))
            if size > _PAGE:
                token = end if end < size else ""
                body += f'<resumptionToken completeListSize="{size}">{token}</resumptionToken>'
            body = f"<{verb}>{body}</{verb}>"
        else:
            body = '<error code="noRecordsMatch"/>'
        content = f"{_HEAD}{body}</OAI-PMH>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/xml")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def serve(port_file: str, records: int) -> None:
    """The process of the repositories."""
    server = _Server(("127.0.0.1", 0), _Repository)
    server.records = records
    Path(port_file).write_text(str(server.server_port), encoding="utf-8")
    server.serve_forever()


def idle(many: str, slots: int) -> tuple[float, float]:
    """Percent of a core, and PSS in MB, of a fleet that has nothing to do."""
    command = [SILO, "fleet", "run", many, "--quiet", "--slots", str(slots)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            time.sleep(SECONDS_TO_START)
            found = family(process.pid)
            before = sum(map(cpu_of, found))
            time.sleep(SECONDS_IDLE)
            used = sum(map(cpu_of, found)) - before
            return 100 * used / SECONDS_IDLE, proportional_megabytes(found)
        finally:
            process.terminate()


def measure(count: int, place: Path, records: int, metha: str | None) -> None:
    served = [str(count), "--serve", str(place / "port"), "--records", str(records)]
    server = subprocess.Popen([sys.executable, __file__, *served])
    try:
        while not (place / "port").exists() or not (place / "port").read_text():
            time.sleep(0.05)
        host = f"http://127.0.0.1:{(place / 'port').read_text()}"
        urls = [f"{host}/r{number}" for number in range(count)]
        loop = place / "loop"
        loop.mkdir()
        fleets = {
            how: made_fleet(str(place / depth), urls, depth)
            for how, depth in (("fleet", "records"), ("fleet, pages only", "pages"))
        }
        xargs = ["xargs", "-r", "-P", str(SLOTS), "-L", "1", SILO]
        rows = [
            ("first harvest", how, measured_family(running(many), beside=server.pid, check=False))
            for how, many in fleets.items()
        ]
        given = "".join(f"{url} {loop}/r{number}\n" for number, url in enumerate(urls))
        rows.append(
            (
                "first harvest",
                "loop",
                measured_family(
                    [*xargs, "harvest", "--quiet"], given, beside=server.pid, check=False
                ),
            )
        )
        syncs = {
            how: [*xargs[:-1], metha, "-q", f"-no-intervals={flag}", "-base-dir", str(place / flag)]
            for how, flag in (("metha", "false"), ("metha -no-intervals", "true"))
            if metha
        }
        given = "\n".join(urls)
        rows += [
            ("first harvest", how, measured_family(one, given, beside=server.pid, check=False))
            for how, one in syncs.items()
        ]
        for how, many in fleets.items():
            ask_again(many)
            rows.append(
                ("nothing new", how, measured_family(running(many), beside=server.pid, check=False))
            )
        given = "".join(f"{loop}/r{number}\n" for number in range(count))
        rows.append(
            (
                "nothing new",
                "loop",
                measured_family(
                    [*xargs, "update", "--quiet"], given, beside=server.pid, check=False
                ),
            )
        )
        given = "\n".join(urls)
        rows += [
            ("nothing new", how, measured_family(one, given, beside=server.pid, check=False))
            for how, one in syncs.items()
        ]
        idles = {slots: idle(fleets["fleet"], slots) for slots in (SLOTS, 8 * SLOTS)}
    finally:
        server.kill()
        server.wait()
    load = os.getloadavg()[0]
    print(f"{count} endpoints of {records:,} records, {SLOTS} at a time, load {load:.1f}")
    print("| | | CPU, ms a run | runs a second | memory, MB |\n|---|---|---|---|---|")
    for what, how, one in rows:
        print(
            f"| {what} | {how} | {1000 * one.cpu / count:,.0f} | {count / one.wall:,.1f} |"
            f" {one.megabytes:,.0f} |"
        )
    for slots, (percent, memory) in idles.items():
        print(f"{slots} slots, nothing due: {percent:.2f} % of a core, {memory:,.0f} MB")


def made_fleet(many: str, urls: list[str], depth: str) -> str:
    """Make a fleet of these repositories; return its directory."""
    subprocess.run([SILO, "fleet", "init", many], check=True, stdout=subprocess.DEVNULL)
    add = [SILO, "fleet", "add", many, "-", "--depth", depth]
    subprocess.run(add, input="\n".join(urls).encode(), check=True, stdout=subprocess.DEVNULL)
    return many


def running(many: str) -> list[str]:
    """The command that runs what is due in a fleet."""
    return [SILO, "fleet", "run", many, "--until-idle", "--quiet", "--slots", str(SLOTS)]


def ask_again(many: str) -> None:
    """Make all endpoints due."""
    from silofleet.fleet import Fleet  # noqa: PLC0415

    with Fleet(many) as fleet:
        fleet.run_now(list(fleet.wishes.endpoints))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("endpoints", type=int, nargs="?", default=200)
    parser.add_argument("--records", type=int, default=_Server.records)
    parser.add_argument("--metha", metavar="PATH", help="a metha-sync to measure, too")
    parser.add_argument("--serve", metavar="FILE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve, arguments.records)
        return
    adopt_orphans()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as place:
        measure(arguments.endpoints, Path(place), arguments.records, arguments.metha)


if __name__ == "__main__":
    main()
