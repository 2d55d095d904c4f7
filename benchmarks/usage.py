"""What importing access logs costs, beside GoAccess on the same lines, in one run.

``benchmarks/usage.py``: combined lines of a week, a log each of 300,000, a million and three
million: 20,000 records whose addresses have UUIDs, each with up to four datastreams, found by
patterns of the Silo's own; 64,000 addresses, 55 % robots and machines, 6 % double clicks. Both
programs read each log in turn, `--rounds` times; the medians are told. ``--month`` is a month of
daily imports into one Silo, ``--own`` a log in which each line has an address, path and program of
its own. GoAccess is Debian's (``apt-get install goaccess``).
"""

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

from processes import Process, measured, median

from recordsilo import Silo

FIRST = 1_791_763_200
"""2026-10-12, in seconds since 1970."""
RECORDS, HELD = 20_000, 2000
"""Records that the log has, and that the Silo has."""
DATASTREAMS = ("THUMBNAIL", "ATTACHMENT01", "MODS", "THESIS01")
SETTINGS = r"""
[[pattern]]
path = '^/objects/(?P<id>uuid(?:%3[Aa]|:)[0-9a-f-]{36})/datastreams/(?P<file>[A-Z]{6,10}\d+)'
record = "{id}"
kind = "download"

[[pattern]]
path = '^/objects/(?P<id>uuid(?:%3[Aa]|:)[0-9a-f-]{36})/?$'
record = "{id}"
kind = "view"
"""
ROBOTS = (
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "Mozilla/5.0 AppleWebKit/537.36 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
    "Sogou web spider/4.0",
    "curl/8.5.0",
)
PEOPLE = [
    f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    f"Chrome/{version}.0.{build}.0 Safari/537.36"
    for version in range(100, 140)
    for build in range(10)
]


def identifiers() -> list[str]:
    """Return the identifiers of the records."""
    dice = random.Random(20_000)
    return [f"uuid:{uuid.UUID(int=dice.getrandbits(128), version=4)}" for _ in range(RECORDS)]


def make(path: Path, lines: int, *, first: int = FIRST, days: float = 7) -> None:
    """Write a log."""
    dice = random.Random(first)
    addresses = [".".join(str(dice.randrange(1, 255)) for _ in range(4)) for _ in range(60_000)] + [
        f"2001:db8:{dice.randrange(65536):x}::{dice.randrange(65536):x}" for _ in range(4000)
    ]
    agent_of = [dice.choice(PEOPLE) for _ in addresses]
    records = identifiers()
    last = ("", "", 200, "")
    with open(path, "w", encoding="ascii") as log:
        for number in range(lines):
            moment = time.gmtime(first + number * days * 86_400 / lines)
            if number == 0 or dice.random() > 0.06:
                record = records[int(RECORDS * dice.random() ** 1.5)]
                where = dice.random()
                path_of = f"/objects/{record.replace(':', '%3A')}"
                if where >= 0.5:
                    path_of = f"/objects/{record}/datastreams/{dice.choice(DATASTREAMS)}"
                if where > 0.9:
                    path_of = f"/style/{dice.randrange(40)}.css"
                client = int(dice.random() ** 2 * len(addresses))
                agent = dice.choice(ROBOTS) if dice.random() < 0.55 else agent_of[client]
                status = dice.choices((200, 304, 206, 404, 302, 500), (86, 5, 3, 3, 2, 1))[0]
                last = (addresses[client], path_of, status, agent)
            address, path_of, status, agent = last
            at = time.strftime("%d/%b/%Y:%H:%M:%S +0000", moment)
            log.write(
                f'{address} - - [{at}] "GET {path_of} HTTP/1.1" {status} '
                f'{dice.randrange(900_000)} "-" "{agent}"\n'
            )


def make_own(path: Path, lines: int) -> None:
    """Write a log in which nothing repeats but the time."""
    with open(path, "w", encoding="ascii") as log:
        for number in range(lines):
            named = f"/objects/uuid%3A{uuid.UUID(int=number)}"
            address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
            log.write(
                f'{address} - - [12/Oct/2026:10:00:00 +0000] "GET {named} HTTP/1.1" 200 1 "-" '
                f'"Mozilla/5.0 (X11; Linux x86_64; rv:{number}.0) Firefox/{number}"\n'
            )


def goaccess(log: Path, out: Path) -> float:
    """Return the CPU seconds of GoAccess."""
    command = ["goaccess", str(log), "--log-format=COMBINED", "-o", str(out), "--no-progress"]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise SystemExit(f"goaccess failed with {running.returncode}")
    return used.ru_utime + used.ru_stime


def new_silo(directory: Path) -> Path:
    """Make a Silo with some of the records, an index, and patterns of its own."""
    with Silo(str(directory), "info:") as silo:
        for identifier in identifiers()[:HELD]:
            silo.get_item(identifier).sync()
        path = Path(silo.path)
    measured("silo", "reindex", str(path))
    return path


def without_usage(silo: Path) -> None:
    """Leave of a Silo's usage the settings only."""
    shutil.rmtree(silo / "usage", ignore_errors=True)
    for path in silo.glob(".silo/usage.sqlite*"):
        path.unlink()
    (silo / "usage").mkdir()
    (silo / "usage" / "usage.toml").write_text(SETTINGS, encoding="utf-8")


def told(name: str, lines: int, runs: list[Process]) -> Process:
    """Print what imports of the same lines cost; return the median."""
    found = median(runs)
    each = ", ".join(f"{one.cpu:.2f}" for one in runs)
    print(
        f"{name}: {found.cpu:.2f} CPU s ({each}), {found.wall:.1f} s, {found.megabytes:,.0f} MB, "
        f"{lines / found.cpu:,.0f} lines per CPU second",
        flush=True,
    )
    return found


def beside(directory: Path, silo: Path, log: Path, lines: int, rounds: int) -> None:
    """Import a log, and read it by GoAccess, in turn."""
    ours, theirs = [], []
    for _ in range(rounds):
        theirs.append(goaccess(log, directory / "goaccess.json"))
        without_usage(silo)
        ours.append(measured("silo", "usage", "import", str(silo), str(log)))
    found = told(f"{lines:,} lines, silo usage import", lines, ours)
    again = measured("silo", "usage", "import", str(silo), str(log))
    each = ", ".join(f"{one:.2f}" for one in theirs)
    other = statistics.median(theirs)
    print(f"goaccess: {other:.2f} CPU s ({each}), {lines / other:,.0f} lines per CPU second")
    print(f"ratio {other / found.cpu:.2f}; nothing new {again.cpu:.2f} CPU s", flush=True)
    print(measured("silo", "usage", "totals", str(silo)).output, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lines", type=int, nargs="+", default=[300_000, 1_000_000, 3_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--month", action="store_true", help="30 daily imports of the first")
    parser.add_argument("--own", action="store_true", help="lines in which nothing repeats")
    given = parser.parse_args()
    if shutil.which("goaccess") is None:
        sys.exit("goaccess is not installed: apt-get install goaccess")
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        silo, log = new_silo(directory / "silo"), directory / "access.log"
        without_usage(silo)
        print(f"load {os.getloadavg()[0]:.1f}", flush=True)
        for lines in given.lines:
            if given.month:
                for day in range(30):
                    make(log, lines // 30, first=FIRST + 86_400 * day, days=1)
                    run = measured("silo", "usage", "import", str(silo), str(log))
                    told(f"day {day + 1}", lines // 30, [run])
                continue
            (make_own if given.own else make)(log, lines)
            beside(directory, silo, log, lines, given.rounds)


if __name__ == "__main__":
    main()
