"""What it costs to package a checkpoint and to verify it, beside sha512sum and tar of its archives.

    .venv/bin/python benchmarks/packages.py                     1 GB and 100 MB
    .venv/bin/python benchmarks/packages.py --megabytes 200 --runs 1

The archives hold documents of 120 kB that do not compress. Whole processes with their start: `silo
crawl package` copies, reads back, describes, submits, indexes and verifies; `silo crawl verify`
verifies once more. Beside them, in the same run, on the same disk: sha512sum of the archives, and
tar of them into another file, which is flushed. Goals: twice their CPU, 1.3 times their time, and
the same memory for 1 GB as for 100 MB.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from processes import Process, measured, median

from recordsilo import Silo
from silocrawl.paths import archives_directory

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "silocrawl"))
from crawled_pages import crawled

DOCUMENT, ROTATED = 120_000, 250_000_000


@dataclass(frozen=True, slots=True)
class Runs:
    """One after another, so that a neighbour's load is that of all."""

    package: list[Process]
    verify: list[Process]
    bare: list[Process]


def shell(command: str) -> Process:
    """Run a command of others; its memory is not of interest."""
    before, began = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(["/bin/sh", "-ec", command], check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - began, getrusage(RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Process(wall, cpu, 0.0, "")


def run(place: Path, megabytes: int, runs: int) -> Runs:
    """Package the same crawl some times, each time into a new store."""
    found = Runs([], [], [])
    silo, store = place / "silo", place / "store"
    for number in range(runs):
        with Silo(str(silo), "info:"):
            crawled(str(silo), number, megabytes * 1_000_000 // DOCUMENT, DOCUMENT, ROTATED)
        subprocess.run(["/bin/sync"], check=True)
        warcs, tar = archives_directory(str(silo)), place / "bare.tar"
        found.bare.append(shell(
            f"sha512sum {warcs}/*.gz; tar -cf {tar} -C {warcs} .; sync {tar}"
        ))  # fmt: skip
        found.package.append(
            measured("silo", "crawl", "package", str(silo), "--store", str(store), "-q")
        )
        found.verify.append(measured("silo", "crawl", "verify", str(silo), "--store", str(store)))
        for one in (silo, store):
            shutil.rmtree(one)
    return found


def show(what: str, one: Process, bare: Process) -> None:
    print(
        f"{what:28} {one.cpu:7.1f} {one.wall:7.1f} {one.megabytes:7.0f} MB"
        f"   {one.cpu / bare.cpu:5.2f} × CPU {one.wall / bare.wall:5.2f} × time"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--megabytes", type=int, nargs="*", default=[1000, 100])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--directory", help="where to work; by default that of temporary files")
    given = parser.parse_args()
    print(f"{'':28} {'CPU s':>7} {'wall s':>7} {'memory':>10}")
    for megabytes in given.megabytes:
        with tempfile.TemporaryDirectory(dir=given.directory) as place:
            found = run(Path(place), megabytes, given.runs)
        bare = median(found.bare)
        show(f"{megabytes} MB: sha512sum, tar", bare, bare)
        show("  package", median(found.package), bare)
        show("  verify", median(found.verify), bare)


if __name__ == "__main__":
    main()
