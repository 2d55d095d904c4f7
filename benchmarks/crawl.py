"""What a crawl match costs: CPU seconds, memory, and the split by step.

    .venv/bin/python benchmarks/crawl.py                      1 million lines, 250,000 seeds
    .venv/bin/python benchmarks/crawl.py --millions 16.7      as large as the largest known
    .venv/bin/python benchmarks/crawl.py --keep DIR           keep what was made up, for another run

The crawl is made up (tests/crawlmatch/known_truth.py): its outcomes are known, and all of
them are compared. Goals: 1 million lines in 10 CPU seconds and 1 GB with the SQLite table
written; 16.7 million in 190 and 6 GB.
"""

import argparse
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "crawlmatch"))

from known_truth import CASES, crawls  # noqa: E402
from processes import peak_megabytes  # noqa: E402

from crawlmatch.matching import MatchRequest, match_into  # noqa: E402
from silosteps.engine import Engine  # noqa: E402

COMMON = (
    ("direct",) * 14 + ("one_redirect",) * 9 + ("landing_page_with_link",) * 10
    + ("landing_page_alone",) * 14 + ("answered_404",) * 8 + ("not_attempted",) * 8
    + ("several_identifiers",) * 4
)  # fmt: skip
KINDS = COMMON + tuple(k for k in CASES if k not in {"deep_hop_path", "endless_redirects"})
AT_ONCE = 100_000


def make(directory: Path, millions: float) -> None:
    """Write log, index, seeds and what is true, so many million lines of log."""
    lines = seeds = number = 0
    with ExitStack() as opened:
        files = {
            name: opened.enter_context(open(directory / name, "w"))
            for name in ("log", "cdx", "seeds", "truth")
        }
        while lines < millions * 1e6:
            crawl = crawls(AT_ONCE if millions > 2 else 10_000, kinds=KINDS, noise=3, first=number)
            number += AT_ONCE
            files["log"].writelines(f"{line}\n" for line in crawl.lines)
            files["cdx"].writelines(f"{line}\n" for line in crawl.cdx)
            files["seeds"].writelines(f"{url}\t{identifier}\n" for url, identifier in crawl.seeds)
            for (url, identifier), truth in crawl.truth.items():
                told = "|".join(sorted(truth.finals))
                files["truth"].write(f"{url}\t{identifier}\t{truth.outcome}\t{told}\n")
            lines += len(crawl.lines)
            seeds += len(crawl.seeds)
            print(f"made up {lines:,} lines, {seeds:,} seed rows", file=sys.stderr, flush=True)


def run(directory: Path, out: Path, memory: str, *, tables: bool) -> None:
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
        [str(directory / "log"), str(directory / "cdx")], seeds=[str(directory / "seeds")]
    )
    receipt = match_into(str(out), request, memory=memory, tables=tables)
    used, wall = cpu() - begun, time.monotonic() - wall
    lines = sum(one.lines for one in receipt.inputs if one.kind == "crawl log")
    peak = peak_megabytes()
    print(
        f"{lines:,} lines, {receipt.seed_rows:,} seed rows: {used:.1f} CPU s, {wall:.1f} s,"
        f" {peak:,.0f} MB, {used / lines * 1e6:.2f} CPU s a million lines"
    )
    for step, seconds in sorted(spent.items(), key=lambda one: -one[1])[:14]:
        print(f"{seconds:8.2f}  {step}")
    print(f"{used - sum(spent.values()):8.2f}  Python: lines, forms of addresses, SQLite")


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--millions", type=float, default=1.0)
    parser.add_argument("--memory", default="")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--sqlite-only", action="store_true", help="without Parquet")
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    memory = given.memory or ("600MB" if given.millions <= 2 else "4800MB")
    if given.keep:
        given.keep.mkdir(exist_ok=True, parents=True)
    with tempfile.TemporaryDirectory(dir=given.keep) as scratch:
        if given.run:
            run(given.run, given.run / "out", memory, tables=not given.sqlite_only)
            return
        directory = given.keep or Path(scratch)
        if not (directory / "truth").exists():
            make(directory, given.millions)
        (directory / "out").mkdir(exist_ok=True)
        for old in (directory / "out").iterdir():
            old.unlink()
        # A process of its own, so that its memory is that of the match alone.
        command = [sys.executable, __file__, "--run", str(directory), "--memory", memory]
        subprocess.run(command + ["--sqlite-only"] * given.sqlite_only, check=True)
        rows, bad = wrong(directory, directory / "out" / "crawl_result.sqlite")
        print(f"{rows - bad:,} of {rows:,} seed rows are right")


if __name__ == "__main__":
    main()
