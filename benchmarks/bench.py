"""All benchmarks, printed as they go and written as a table into docs/benchmarks.md.

    .venv/bin/python benchmarks/bench.py --records 10000 100000 --search 300000 1000000

Leave sizes out to take the small ones. Nothing else should run on the machine.
"""

import argparse
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import bulk
import export
import harvest
import search
import store
from store import Line

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
TABLE = re.compile(r"(?<=<!-- table -->\n).*?(?=<!-- end of table -->)", re.DOTALL)


def measured(arguments: argparse.Namespace, directory: str) -> Iterator[Line]:
    for records in arguments.records:
        place = tempfile.mkdtemp(dir=directory)
        yield from store.run(records, place)
        shutil.rmtree(place)
    for records in arguments.check:
        place = tempfile.mkdtemp(dir=directory)
        yield from store.checked(records, place)
        shutil.rmtree(place)
    for records in arguments.harvest:
        yield from harvest.run(records, directory)
    if arguments.waiting:
        yield from harvest.latency(arguments.waiting, directory)
    for records in arguments.reindex:
        yield from search.reindex_speed(records, directory)
    for records in arguments.search:
        yield from search.search_speed(records, directory)
    for records in arguments.bulk:
        place = tempfile.mkdtemp(dir=directory)
        yield from bulk.run(records, place)
        shutil.rmtree(place)
    for records in arguments.export:
        yield from export.run(records, directory)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, nargs="*", default=[10_000])
    parser.add_argument("--check", type=int, nargs="*", default=[10_000])
    parser.add_argument("--harvest", type=int, nargs="*", default=[10_000])
    parser.add_argument("--waiting", type=float, default=30.0)
    parser.add_argument("--reindex", type=int, nargs="*", default=[20_000])
    parser.add_argument("--search", type=int, nargs="*", default=[100_000])
    parser.add_argument("--bulk", type=int, nargs="*", default=[10_000])
    parser.add_argument("--export", type=int, nargs="*", default=[1000, 10_000])
    parser.add_argument("--directory", help="where to work (default: a temporary directory)")
    parser.add_argument("--no-page", action="store_true", help="leave docs/benchmarks.md alone")
    arguments = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="silo-bench-", dir=arguments.directory)
    lines = []
    try:
        for line in measured(arguments, directory):
            print(" | ".join((line.what, line.ours, line.beside, line.ratio)), flush=True)
            lines.append(f"| {line.what} | {line.ours} | {line.beside} | {line.ratio} |\n")
    finally:
        shutil.rmtree(directory)
    if not arguments.no_page:
        write_page(lines)


def write_page(lines: list[str]) -> None:
    load = os.getloadavg()[1]
    head = (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, load average over the last 5 minutes {load:.1f}.\n\n"
        "| what | ours | beside it | ratio |\n|---|---|---|---|\n"
    )
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TABLE.sub(lambda _: head + "".join(lines), page), encoding="utf-8")


if __name__ == "__main__":
    main()
