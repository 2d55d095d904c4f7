"""What a crawl match costs: CPU seconds, memory, bytes written, and the split by step.

    .venv/bin/python benchmarks/crawl.py                      1 million lines, 250,000 seeds
    .venv/bin/python benchmarks/crawl.py --millions 4         more of them
    .venv/bin/python benchmarks/crawl.py --keep DIR           keep what was made up, for another run
    .venv/bin/python benchmarks/crawl.py --arabesque FILE     beside arabesque.py, in turn

The crawl is made up (tests/crawlmatch/known_truth.py): its outcomes are known, and all of them are
compared. Lines are those of Heritrix with logExtraInfo, of about 350 bytes; the index has a line
for each that was answered. It is matched with the whole index, and with those of its lines alone on
which outcomes depend (one for 75 lines of the log). arabesque reads no index.
"""

import argparse
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "crawlmatch"))

from known_truth import CASES, crawls, detailed, indexed  # noqa: E402
from processes import peak_megabytes  # noqa: E402

from crawlmatch.matching import MatchRequest, match_into  # noqa: E402
from silosteps.engine import Engine  # noqa: E402

COMMON = (
    ("direct",) * 14 + ("one_redirect",) * 9 + ("landing_page_with_link",) * 10
    + ("landing_page_alone",) * 14 + ("answered_404",) * 8 + ("not_attempted",) * 8
    + ("several_identifiers",) * 4
)  # fmt: skip
LEFT_OUT = {
    "deep_hop_path", "endless_redirects",  # have many lines each
    "empty", "bad_lines", "not_modified_and_nothing_said", "bad_url",  # end arabesque
}  # fmt: skip
KINDS = COMMON + tuple(kind for kind in CASES if kind not in LEFT_OUT)
AT_ONCE = 100_000
INDEXES = ("few.cdx", "all.cdx")


def make(directory: Path, millions: float) -> None:
    """Write log, indexes, seeds and what is true, so many million lines of log."""
    lines = seeds = number = 0
    with ExitStack() as opened:
        files = {
            name: opened.enter_context(open(directory / name, "w"))
            for name in ("log", *INDEXES, "seeds", "truth")
        }
        while lines < millions * 1e6:
            count = AT_ONCE if millions > 2 else 10_000
            crawl = crawls(count, kinds=KINDS, noise=3, first=number)
            number += AT_ONCE
            written = {
                "log": detailed(crawl.lines),
                "few.cdx": crawl.cdx,
                "all.cdx": indexed(crawl, redirects=True),
                "seeds": (f"{url}\t{identifier}" for url, identifier in crawl.seeds),
                "truth": (
                    f"{url}\t{identifier}\t{truth.outcome}\t{'|'.join(sorted(truth.finals))}"
                    for (url, identifier), truth in crawl.truth.items()
                ),
            }
            for name, rows in written.items():
                files[name].writelines(f"{row}\n" for row in rows)
            lines += len(crawl.lines)
            seeds += len(crawl.seeds)
            print(f"made up {lines:,} lines, {seeds:,} seed rows", file=sys.stderr, flush=True)


def run(directory: Path, index: str, memory: str | None, *, tables: bool, steps: int) -> None:
    """Match, in this process, and print what it cost."""
    spent: dict[str, float] = defaultdict(float)
    bare = Engine.run

    def timed(self: Engine, step: str, **values: object) -> Engine:
        begun = cpu()
        bare(self, step, **values)
        spent[step] += cpu() - begun
        return self

    Engine.run = timed  # type: ignore[method-assign]
    begun, wall = cpu(), time.monotonic()
    request = MatchRequest(
        [str(directory / "log"), str(directory / index)], seeds=[str(directory / "seeds")]
    )
    limit = {"memory": memory} if memory else {}
    receipt = match_into(str(directory / "out"), request, tables=tables, **limit)
    used, wall = cpu() - begun, time.monotonic() - wall
    lines = sum(one.lines for one in receipt.inputs if one.kind == "crawl log")
    entries = sum(one.lines for one in receipt.inputs if one.kind == "index")
    print(
        f"{used:.2f} CPU s, {wall:.1f} s, {peak_megabytes():,.0f} MB, {written():,.0f} MB written:"
        f" {lines:,} lines, {entries:,} of the index, {receipt.seed_rows:,} seed rows,"
        f" {used / lines * 1e6:.2f} CPU s a million lines"
    )
    for step, seconds in sorted(spent.items(), key=lambda one: -one[1])[:steps]:
        print(f"{seconds:8.2f}  {step}")
    if steps:
        print(f"{used - sum(spent.values()):8.2f}  Python: lines, forms of addresses, SQLite")


def written() -> float:
    """Megabytes that this process wrote to the medium, or will."""
    with open("/proc/self/io", encoding="ascii") as file:
        return int(next(one.split()[1] for one in file if one.startswith("write_bytes"))) / 1e6


def cpu() -> float:
    """CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def wrong(directory: Path, database: Path) -> tuple[int, int]:
    """How many seed rows there are, and of how many the outcome or the ends are not right."""
    connection = sqlite3.connect(database)
    connection.execute(
        "CREATE TEMP TABLE truth (url TEXT, identifier TEXT, outcome TEXT, finals TEXT,"
        " PRIMARY KEY (url, identifier)) WITHOUT ROWID"
    )
    with open(directory / "truth", newline="\n") as file:
        connection.executemany(
            "INSERT INTO truth VALUES (?, ?, ?, ?)",
            (line.rstrip("\n").split("\t") for line in file),
        )
    (rows,) = connection.execute("SELECT count(*) FROM truth").fetchone()
    (right,) = connection.execute(
        "SELECT count(*) FROM truth JOIN (SELECT initial_url, identifier, outcome,"
        " coalesce(group_concat(final_url, '|'), '') AS finals FROM"
        " (SELECT * FROM crawl_result ORDER BY initial_url, identifier, final_url)"
        " GROUP BY initial_url, identifier) AS r ON r.initial_url = url"
        " AND r.identifier = truth.identifier AND r.outcome = truth.outcome"
        " AND r.finals = truth.finals"
    ).fetchone()
    connection.close()
    return rows, rows - right


def arabesque(program: Path, directory: Path) -> tuple[float, str]:
    """Let arabesque match the log and the seeds; its CPU seconds, and a line about them."""
    database = directory / "out" / "arabesque.sqlite"
    command = [sys.executable, program, "everything", directory / "log", directory / "seeds"]
    begun = time.monotonic()
    running = subprocess.Popen(
        [*command, database], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise SystemExit(f"arabesque failed with {running.returncode}")
    spent, wall = used.ru_utime + used.ru_stime, time.monotonic() - begun
    return spent, f"{spent:.2f} CPU s, {wall:.1f} s, {used.ru_maxrss / 1024:,.0f} MB"


def matched(directory: Path, index: str, options: list[str]) -> tuple[float, str]:
    """Match in a process of its own, so that its memory is that of the match alone."""
    command = [sys.executable, __file__, "--run", str(directory), "--index", index, *options]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.rstrip()
    rows, bad = wrong(directory, directory / "out" / "crawl_result.sqlite")
    return float(told.split()[0]), f"{told}\n{rows - bad:,} of {rows:,} seed rows are right"


def beside(directory: Path, given: argparse.Namespace, options: list[str]) -> None:
    """Run all in turn, and print each run and the medians."""
    spent: dict[str, list[float]] = defaultdict(list)
    for _ in range(given.rounds):
        for name in (*INDEXES, *(["arabesque"] if given.arabesque else [])):
            shutil.rmtree(directory / "out", ignore_errors=True)
            (directory / "out").mkdir()
            if name == "arabesque":
                cpu_seconds, told = arabesque(given.arabesque, directory)
            else:
                cpu_seconds, told = matched(directory, name, options)
            spent[name].append(cpu_seconds)
            print(f"{name}: {told}", flush=True)
    for name, seconds in spent.items():
        print(f"{name}: median {statistics.median(seconds):.2f} CPU s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--millions", type=float, default=1.0)
    parser.add_argument("--memory", help="of the engine; what is usual without it")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--steps", type=int, default=12, help="how many to print")
    parser.add_argument("--arabesque", type=Path, help="arabesque.py")
    parser.add_argument("--sqlite-only", action="store_true", help="without Parquet")
    parser.add_argument("--index", default=INDEXES[0], help=argparse.SUPPRESS)
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        tables = not given.sqlite_only
        run(given.run, given.index, given.memory, tables=tables, steps=given.steps)
        return
    options = ["--steps", str(given.steps), *(["--sqlite-only"] if given.sqlite_only else [])]
    options += ["--memory", given.memory] if given.memory else []
    if given.keep:
        given.keep.mkdir(exist_ok=True, parents=True)
    with tempfile.TemporaryDirectory(dir=given.keep) as scratch:
        directory = given.keep or Path(scratch)
        if not (directory / "truth").exists():
            make(directory, given.millions)
        beside(directory, given, options)


if __name__ == "__main__":
    main()
