"""What the store costs, beside the bare cost of the same work in the same run.

* objects: new ones, group-committed in batches of 100, against a loop that makes
  the same directories and files and calls syncfs as often;
* ingest: the same through `Silo.batch`, with descriptions and the index;
* strict: new records one by one, each flushed before the next; ocfl-py's creates
  (no flush at all) beside it, where it is installed;
* read: a record's file through the interface, against open and read of its manifest
  and that file;
* list: the first page of 50, one from the middle, and `len`.
"""

import contextlib
import importlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from processes import Process, measured

from recordsilo import Origin, RecordEdit, Silo
from recordsilo.disk.atomic_file import Staging, group_barrier
from recordsilo.disk.identifier import clean, ppath
from recordsilo.disk.locks import Locks
from recordsilo.garbage import collect_rarely
from recordsilo.records.commit import commit
from recordsilo.records.place import RecordPlace

PROGRAM = __file__
BATCH = 100
SLICE = 1000
FIRST = 10_000
BESIDE = 100_000
FEW = 300
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


def total(parts: list[Spent]) -> Spent:
    return Spent(sum(part.wall for part in parts), sum(part.cpu for part in parts))


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table: what was measured, the figure, and what it is to be held against."""

    what: str
    ours: str = ""
    beside: str = ""
    ratio: str = ""


def line_of(what: str, records: int, done: Process, beside: str = "") -> Line:
    """A line about a whole process that worked on so many records."""
    return Line(
        f"{what}, {records:,} records",
        f"{done.wall:.1f} s wall, {done.cpu:.1f} s CPU, {done.megabytes:.0f} MB at most",
        beside,
        f"{done.microseconds(records):,.0f} µs CPU a record",
    )


def compared(what: str, records: int, ours: Spent, bare: Spent, beside: str) -> Line:
    return Line(
        what,
        f"{records / ours.wall:,.0f}/s wall, {records / ours.cpu:,.0f}/s CPU",
        f"{beside}: {records / bare.wall:,.0f}/s wall, {records / bare.cpu:,.0f}/s CPU",
        f"{bare.wall / ours.wall:.2f} wall, {bare.cpu / ours.cpu:.2f} CPU",
    )


def identifier(number: int) -> str:
    return f"oai:eprints.example.org:{number}"


def fill(edit: RecordEdit, number: int) -> None:
    origin = Origin("harvest", prefixes={"oai_dc": STAMP}, agent="benchmark")
    edit.add_version("1", date=STAMP, origin=origin, log="Created new data package")
    edit.put("1", "oai_dc", METADATA % number, metadata=True)
    edit.set_metadata("identifier", identifier(number))
    edit.set_metadata("setSpec", ["7374617475733D707562"])


def batches(records: int, start: int) -> Iterator[range]:
    for first in range(start, start + records, BATCH):
        yield range(first, min(first + BATCH, start + records))


def ingest(silo: Silo, records: int, start: int = 0) -> None:
    for numbers in batches(records, start):
        with silo.batch(map(identifier, numbers)) as batch:
            for number in numbers:
                fill(batch.edit(identifier(number)), number)


class Objects:
    """The steps of `Silo.batch`, without descriptions and the index."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.locks, self.staging = Locks(f"{path}/.silo/locks"), Staging(f"{path}/.silo/tmp")

    def ingest(self, records: int, start: int = 0) -> None:
        for numbers in batches(records, start):
            with self.locks.hold(map(identifier, numbers)):
                barrier = group_barrier(self.path)
                edits = []
                for number in numbers:
                    place = self._place(identifier(number))
                    before = place.read_manifest(to_change=True)
                    edits.append(RecordEdit(place, before, self.staging, barrier))
                    fill(edits[-1], number)
                commit(edits, barrier)

    def _place(self, name: str) -> RecordPlace:
        root = f"{self.path}/pairtree_root"
        return RecordPlace(name, f"{root}/{ppath(name)}", root)


def bare_ingest(root: str, records: int, manifest: bytes, start: int = 0) -> None:
    """The same directories and files, the same flushes, and nothing else."""
    barrier = group_barrier(root)
    for numbers in batches(records, start):
        staged = []
        for number in numbers:
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


def strict(silo: Silo, records: int) -> None:
    for number in range(records):
        silo.get_item(f"strict:{number}").put_stream("oai_dc", METADATA % number, True)


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


def ocfl_creates(directory: str, records: int) -> Spent | None:
    """ocfl-py making objects of one file of the same size; it flushes nothing."""
    with contextlib.suppress(ImportError):
        ocfl = importlib.import_module("ocfl")
        source = f"{directory}/ocfl-source"
        os.makedirs(source)
        with open(f"{source}/oai_dc", "wb") as file:
            file.write(METADATA % 1)
        with timed() as spent:
            for number in range(records):
                ocfl.Object(identifier=identifier(number)).create(
                    srcdir=source, objdir=f"{directory}/ocfl-{number}"
                )
        return spent
    return None


def milliseconds(work: Callable[[], object], times: int = 21) -> float:
    found = []
    for _ in range(times):
        with timed() as spent:
            work()
        found.append(spent.wall * 1000)
    return statistics.median(found)


def run(records: int, directory: str) -> Iterator[Line]:
    """Measure with so many records; see the module's docstring."""
    with Silo(f"{directory}/silo") as silo:
        ours = ingested(silo, records, directory)
        yield from ingest_lines(records, *ours)
        yield from _strict_lines(silo, directory, total(ours[0]).wall / records)
        numbers, root = range(min(records, 5000)), f"{directory}/silo/pairtree_root"
        yield read_line(silo, records, numbers, root)
        middle = identifier(records // 2)
        first = milliseconds(lambda: silo.page(limit=50))
        later = milliseconds(lambda: silo.page(limit=50, after=middle))
        length = milliseconds(lambda: len(silo))
        yield Line(
            f"list, of {records:,} records",
            f"first page {first:.2f} ms, in the middle {later:.2f} ms, len {length:.2f} ms",
        )


def ingested(
    silo: Silo, records: int, directory: str
) -> tuple[list[Spent], list[Spent], list[Spent]]:
    """New records whole, as objects, and bare: a slice of each in turn, on the same machine so.

    Returns:
        What was spent on each slice, in order; of objects and bare `BESIDE` records at most.
    """
    with Silo(f"{directory}/objects") as plain:
        objects = Objects(plain.path)
        objects.ingest(1, start=records)
        with open(f"{plain[identifier(records)].path_to_item()}/__manifest.json", "rb") as file:
            manifest = file.read()
    bare_root = f"{directory}/bare"
    os.mkdir(bare_root)
    whole: list[Spent] = []
    alone: list[Spent] = []
    bare: list[Spent] = []
    for start in range(0, records, SLICE):
        some = min(SLICE, records - start)
        with timed() as spent:
            ingest(silo, some, start)
        whole.append(spent)
        if start < BESIDE:
            with timed() as spent:
                objects.ingest(some, start)
            alone.append(spent)
            with timed() as spent:
                bare_ingest(bare_root, some, manifest, start)
            bare.append(spent)
    objects.staging.close()
    return whole, alone, bare


def ingest_lines(
    records: int, whole: list[Spent], alone: list[Spent], bare: list[Spent]
) -> Iterator[Line]:
    beside = min(records, BESIDE)
    what = f"new objects, {beside:,}, without index"
    yield compared(what, beside, total(alone), total(bare), "bare loop")
    what = f"ingest, {beside:,} records"
    yield compared(what, beside, total(whole[: len(bare)]), total(bare), "bare loop")
    if records > FIRST:
        slices = FIRST // SLICE
        first, last = total(whole[:slices]), total(whole[-slices:])
        yield Line(
            f"ingest, the last {FIRST:,} of {records:,} records",
            ratio=f"{last.cpu / first.cpu:.2f} × the CPU seconds of the first {FIRST:,}, "
            f"{last.wall / first.wall:.2f} × the wall's",
        )


def forget_paths() -> None:
    """Both find out where a record lies: neither has it from the other."""
    clean.cache_clear()
    ppath.cache_clear()


def read_line(silo: Silo, records: int, numbers: range, root: str) -> Line:
    bare_read(root, numbers)  # both on a warm cache
    ours: list[Spent] = []
    bare: list[Spent] = []
    for start in range(0, len(numbers), SLICE):
        some = numbers[start : start + SLICE]
        forget_paths()
        with timed() as spent:
            read(silo, some)
        ours.append(spent)
        forget_paths()
        with timed() as spent:
            bare_read(root, some)
        bare.append(spent)
    what = f"read, of {records:,} records"
    return compared(what, len(numbers), total(ours), total(bare), "open and read")


def _strict_lines(silo: Silo, directory: str, seconds_in_groups: float) -> Iterator[Line]:
    with timed() as spent:
        strict(silo, FEW)
    ratio = f"{spent.wall / FEW / seconds_in_groups:.1f} × slower than in groups, wall"
    yield Line("strict, one record at a time", f"{FEW / spent.wall:,.0f}/s wall", ratio=ratio)
    peer = ocfl_creates(directory, FEW)
    if peer is not None:
        rate = f"{FEW / peer.wall:,.0f}/s wall, {FEW / peer.cpu:,.0f}/s CPU"
        yield Line("", "", f"ocfl-py creates, unflushed: {rate}")


def checked(records: int, directory: str) -> Iterator[Line]:
    """`silo check` of so many records: every byte, and the index."""
    path = f"{directory}/checked"
    yield line_of("ingest, the process", records, measured(PROGRAM, path, str(records)))
    yield line_of("silo check", records, measured("silo", "check", path))


if __name__ == "__main__":
    collect_rarely()
    with Silo(sys.argv[1]) as made:
        ingest(made, int(sys.argv[2]))
