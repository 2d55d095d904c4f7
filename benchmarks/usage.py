"""What importing access logs costs, beside GoAccess on the same lines, in one run.

``benchmarks/usage.py``: a million combined lines of a week: 20,000 records, 64,000 addresses, 55 %
robots and machines, 6 % double clicks. ``--millions 10`` for memory and growth, ``--month`` for a
month of daily imports into one Silo. GoAccess is Debian's (``apt-get install goaccess``).
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from processes import Process, measured

from recordsilo import Silo
from usagestats.rules.settings import choose_profile

FIRST = 1_791_763_200
"""2026-10-12, in seconds since 1970."""
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


def make(path: Path, lines: int, *, first: int = FIRST, days: float = 7) -> None:
    """Write a log."""
    dice = random.Random(first)
    addresses = [".".join(str(dice.randrange(1, 255)) for _ in range(4)) for _ in range(60_000)] + [
        f"2001:db8:{dice.randrange(65536):x}::{dice.randrange(65536):x}" for _ in range(4000)
    ]
    agent_of = [dice.choice(PEOPLE) for _ in addresses]
    last = ("", "", 200, "")
    with open(path, "w", encoding="ascii") as log:
        for number in range(lines):
            moment = time.gmtime(first + number * days * 86_400 / lines)
            if number == 0 or dice.random() > 0.06:
                item = 3000 + int(20_000 * dice.random() ** 1.5)
                where = dice.random()
                path_of = f"/{item}/" if where < 0.5 else f"/{item}/1/paper.pdf"
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
                f'{dice.randrange(900_000)} "https://www.example.org/?q={number}" "{agent}"\n'
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


def new_silo(directory: Path) -> str:
    """Make a Silo without records."""
    with Silo(str(directory), "info:") as silo:
        choose_profile(silo.path, "eprints")
        return silo.path


def told(name: str, lines: int, process: Process) -> None:
    """Print what an import cost."""
    print(
        f"{name}: {process.cpu:.1f} CPU s, {process.wall:.1f} s, {process.megabytes:,.0f} MB, "
        f"{lines / process.cpu:,.0f} lines per CPU second",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--millions", type=float, default=1.0)
    parser.add_argument("--month", action="store_true", help="30 daily imports")
    given = parser.parse_args()
    lines = int(given.millions * 1e6)
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        silo = new_silo(directory / "silo")
        print(f"load {os.getloadavg()[0]:.1f}", flush=True)
        if given.month:
            for day in range(30):
                log = directory / "day.log"
                make(log, lines // 30, first=FIRST + 86_400 * day, days=1)
                told(
                    f"day {day + 1}",
                    lines // 30,
                    measured("silo", "usage", "import", silo, str(log)),
                )
            return
        log = directory / "access.log"
        make(log, lines)
        ours = measured("silo", "usage", "import", silo, str(log))
        told("silo usage import", lines, ours)
        print(measured("silo", "usage", "totals", silo).output)
        if shutil.which("goaccess") is None:
            sys.exit("goaccess is not installed: apt-get install goaccess")
        theirs = goaccess(log, directory / "goaccess.json")
        print(f"goaccess: {theirs:.1f} CPU s, {lines / theirs:,.0f} lines per CPU second")
        print(f"ratio {theirs / ours.cpu:.2f}")


if __name__ == "__main__":
    main()
