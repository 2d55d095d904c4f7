"""What the store costs, beside the bare cost of the same work in the same run.

    .venv/bin/python benchmarks/store.py [--records 10000] [--directory DIR]

* ingest: new records, group-committed in batches of 100, against a loop that makes
  the same directories and files and calls syncfs as often;
* read: a record's file through the interface, against open and read of its manifest
  and that file;
* list: the first page of 50, and `len`, which have to cost the same at any size.

Times are CPU seconds and wall seconds of this process; the ratio is what counts.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from recordsilo import Origin, Silo
from recordsilo.atomic_file import group_barrier
from recordsilo.identifier import ppath

BATCH = 100
STAMP = "2024-06-24T00:00:00"
METADATA = (
    b'<metadata xmlns="http://www.openarchives.org/OAI/2.0/"><oai_dc:dc '
    b'xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    b'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Record %d</dc:title>'
    b"<dc:creator>Adeyemi, Fiona</dc:creator><dc:subject>gene regulation</dc:subject>"
    b"<dc:description>" + b"No single cause explains what was seen. " * 30 + b"</dc:description>"
    b"<dc:date>2024</dc:date><dc:type>Article</dc:type></oai_dc:dc></metadata>"
)


@dataclass(slots=True)
class Spent:
    """Seconds of one piece of work."""

    wall: float = 0.0
    cpu: float = 0.0


@contextmanager
def timed() -> Iterator[Spent]:
    spent = Spent()
    wall, cpu = time.perf_counter(), time.process_time()
    yield spent
    spent.wall, spent.cpu = time.perf_counter() - wall, time.process_time() - cpu


def identifier(number: int) -> str:
    return f"oai:eprints.example.org:{number}"


def ingest(silo: Silo, records: int) -> None:
    for start in range(0, records, BATCH):
        numbers = range(start, min(start + BATCH, records))
        with silo.batch(map(identifier, numbers)) as batch:
            for number in numbers:
                edit = batch.edit(identifier(number))
                origin = Origin("harvest", prefixes={"oai_dc": STAMP}, agent="benchmark")
                edit.add_version("1", date=STAMP, origin=origin, log="Created new data package")
                edit.put("1", "oai_dc", METADATA % number, metadata=True)
                edit.set_metadata("identifier", identifier(number))
                edit.set_metadata("setSpec", ["7374617475733D707562"])


def bare_ingest(root: str, records: int, manifest: bytes) -> None:
    """The same directories and files, the same flushes, and nothing else."""
    barrier = group_barrier(root)
    for start in range(0, records, BATCH):
        staged = []
        for number in range(start, min(start + BATCH, records)):
            directory = f"{root}/{ppath(identifier(number))}"
            os.makedirs(f"{directory}/__1")
            with open(f"{directory}/__1/oai_dc", "wb") as file:
                file.write(METADATA % number)
            with open(f"{directory}/__manifest.json.new", "wb") as file:
                file.write(manifest)
            staged.append(directory)
        barrier.flush()
        for directory in staged:
            os.rename(f"{directory}/__manifest.json.new", f"{directory}/__manifest.json")
        barrier.flush()


def read(silo: Silo, numbers: range) -> None:
    for number in numbers:
        with silo[identifier(number)].get_stream("oai_dc") as file:
            file.read()


def bare_read(root: str, numbers: range) -> None:
    for number in numbers:
        directory = f"{root}/{ppath(identifier(number))}"
        with open(f"{directory}/__manifest.json", "rb") as file:
            json.loads(file.read())
        with open(f"{directory}/__1/oai_dc", "rb") as file:
            file.read()


def milliseconds(work: Callable[[], object], times: int = 20) -> float:
    best = []
    for _ in range(times):
        with timed() as spent:
            work()
        best.append(spent.wall * 1000)
    return sorted(best)[times // 2]


def show(name: str, records: int, ours: Spent, bare: Spent) -> None:
    print(
        f"{name:<8} {records / ours.wall:>9,.0f}/s wall {records / ours.cpu:>9,.0f}/s CPU   "
        f"bare {records / bare.wall:>9,.0f}/s wall {records / bare.cpu:>9,.0f}/s CPU   "
        f"ratio {bare.wall / ours.wall:.2f} wall, {bare.cpu / ours.cpu:.2f} CPU"
    )


def run(records: int, directory: str) -> None:
    with Silo(f"{directory}/silo") as silo:
        with timed() as ours:
            ingest(silo, records)
        place = silo[identifier(0)].path_to_item()
        with open(f"{place}/__manifest.json", "rb") as file:
            manifest = file.read()
        bare_root = f"{directory}/bare"
        os.mkdir(bare_root)
        with timed() as bare:
            bare_ingest(bare_root, records, manifest)
        print(f"{records:,} records")
        show("ingest", records, ours, bare)
        some = range(min(records, 5000))
        with timed() as ours:
            read(silo, some)
        with timed() as bare:
            bare_read(f"{directory}/silo/pairtree_root", some)
        show("read", len(some), ours, bare)
        middle = identifier(records // 2)
        first = milliseconds(lambda: silo.page(limit=50))
        later = milliseconds(lambda: silo.page(limit=50, after=middle))
        length = milliseconds(lambda: len(silo))
        print(f"list     page {first:.2f} ms, in the middle {later:.2f} ms; len {length:.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--directory", help="where to work (default: a temporary directory)")
    arguments = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="silo-bench-", dir=arguments.directory)
    try:
        run(arguments.records, directory)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
