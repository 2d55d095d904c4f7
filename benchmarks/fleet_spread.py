"""One large repository, harvested by windows, with its requests sent by 1, 2 and 4 nodes.

    .venv/bin/python benchmarks/fleet_spread.py

The repository has a page of 20 records for each of 120 days, an interval of 0.05 s, and answers
after 0.5 s. Each node reaches it by a line of its own, a proxy. In the first part a line carries
any number of answers at a time, in the second part one, as a narrow line does. Pages a second are
counted from the first list request to the last, by the clock of the lines. Needs redis-server.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from datetime import UTC, date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Semaphore, Thread
from urllib.parse import parse_qsl, urlsplit

import redis

from silofleet.broker import NODES

SILO = str(Path(sys.executable).parent / "silo")
HOST = "repo.example.org"
DAYS, WINDOW, EACH_DAY = 120, 5, 20
SECONDS, INTERVAL = 0.5, 0.05
TODAY = datetime.now(UTC).date()
FIRST = TODAY - timedelta(days=DAYS - 1)
_HEAD = (
    '<?xml version="1.0"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">'
    "<responseDate>{now}T00:00:00Z</responseDate><request>http://x/</request>"
)
_IDENTIFY = (
    "<Identify><repositoryName>R</repositoryName><baseURL>http://x/</baseURL>"
    "<protocolVersion>2.0</protocolVersion><adminEmail>a@example.org</adminEmail>"
    "<earliestDatestamp>{first}</earliestDatestamp><deletedRecord>no</deletedRecord>"
    "<granularity>YYYY-MM-DD</granularity></Identify>"
)
_HEADER = (
    "<header><identifier>oai:x:{day}:{number}</identifier><datestamp>{day}</datestamp></header>"
)
_RECORD = (
    f"<record>{_HEADER}"
    '<metadata><oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Title {number} of {day}</dc:title>'
    "</oai_dc:dc></metadata></record>"
)


def answer(asked: dict[str, str]) -> str:
    """The content of a response."""
    if asked.get("verb") == "Identify":
        return _IDENTIFY.format(first=FIRST)
    verb = asked.get("verb")
    if verb not in {"ListRecords", "ListIdentifiers"}:
        return '<error code="noRecordsMatch"/>'
    token = asked.get("resumptionToken", "")
    begin, end, size = token.split("~") if token else ("", "", "")
    day = date.fromisoformat(begin or asked.get("from", FIRST.isoformat()))
    until = date.fromisoformat(end or asked.get("until", TODAY.isoformat()))
    day, until = max(day, FIRST), min(until, TODAY)
    size = size or str(((until - day).days + 1) * EACH_DAY)
    if day > until:
        return '<error code="noRecordsMatch"/>'
    item = _RECORD if verb == "ListRecords" else _HEADER
    items = "".join(item.format(day=day, number=number) for number in range(EACH_DAY))
    token = f"{day + timedelta(days=1)}~{until}~{size}" if day < until else ""
    more = f'<resumptionToken completeListSize="{size}">{token}</resumptionToken>'
    return f"<{verb}>{items}{more}</{verb}>"


def measure(nodes: int, *, narrow: bool, spread: bool) -> float:
    """Harvest once; return the pages a second."""
    moments: list[float] = []

    def handler(line: Semaphore) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                asked = dict(parse_qsl(urlsplit(self.path).query))
                if asked["verb"] == "ListRecords":
                    moments.append(time.monotonic())
                content = (_HEAD.format(now=TODAY) + answer(asked) + "</OAI-PMH>").encode()
                with line:
                    time.sleep(SECONDS)
                self.send_response(200)
                self.send_header("Content-Type", "text/xml")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR"))))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        broker, many = f"redis://127.0.0.1:{port}/0", str(place / "many")
        _started(stack, ["redis-server", "--port", str(port), "--save", "", "--dir", str(place)])
        _silo("init", many)
        _silo("add", many, f"http://{HOST}/oai", "--name", "big", "--window", f"{WINDOW}d",
              *(["--spread"] if spread else []))  # fmt: skip
        with (place / "many" / "fleet" / "endpoints.toml").open("a") as file:
            file.write(f'\n[hosts."{HOST}"]\ninterval = {INTERVAL}\n')
        for number in range(nodes):
            line = Semaphore(1 if narrow else 99)
            server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), handler(line)))
            server.daemon_threads = True
            Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
            worker = [SILO, "fleet", "worker", str(place / f"n{number}"), "--node", f"n{number}"]
            proxy = {"http_proxy": f"http://127.0.0.1:{server.server_port}", "no_proxy": ""}
            _started(stack, [*worker, "--broker", broker], os.environ | proxy)
        with redis.Redis(port=port) as client:
            while client.hlen(NODES) < nodes:
                time.sleep(0.1)
        _silo("run", many, "--until-idle", "--quiet", "--broker", broker)
        shown = _silo("show", many, "big")
    said = next(one for one in shown.splitlines() if one.startswith("said"))
    assert f"{DAYS * EACH_DAY:,} records listed" in said, shown
    print(f"  {said.removeprefix('said').strip()}", file=sys.stderr)
    return (len(moments) - 1) / (max(moments) - min(moments))


def _silo(*arguments: str) -> str:
    done = subprocess.run([SILO, "fleet", *arguments], check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"silo fleet {arguments[0]}: {done.stdout}{done.stderr}")
    return done.stdout


def _started(
    stack: ExitStack, command: list[str], environment: dict[str, str] | None = None
) -> None:
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )

    def end() -> None:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(15)
        process.kill()
        process.wait()

    stack.callback(end)


def main() -> None:
    print("| lines | spread | nodes | pages a second |\n|---|---|---|---|", flush=True)
    for narrow in (False, True):
        rows = [(1, False), (1, True), (2, True), (4, True)]
        for nodes, spread in rows:
            rate = measure(nodes, narrow=narrow, spread=spread)
            line, said = "narrow" if narrow else "wide", "yes" if spread else "no"
            print(f"| {line} | {said} | {nodes} | {rate:.1f} |", flush=True)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
