"""What the index costs: filling it, and searching it with nine facets.

    .venv/bin/python benchmarks/search.py [--records 100000] [--directory DIR] [--reindex N]

The searches run on an index of made-up descriptions, written without records behind
them, so that a million fit; shapes of queries are drawn from the words in it. The
index's own speed (`--reindex`) is measured on a real Silo of N records: from a warm
cache into a fresh index, with descriptions and full text, and without.
"""

import argparse
import random
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator

from store import ingest, timed

from recordsilo import Row, Silo
from recordsilo.catalogue import Catalogue
from recordsilo.index import Entry, ManifestStamp, SearchFilters, projection
from recordsilo.index.projection import Text

FACETS = (
    "set",
    "year",
    "type",
    "language",
    "publisher",
    "deleted",
    "curated",
    "subject",
    "creator",
)
BATCH = 2000


class World:
    """Words, names and subjects with the frequencies of real ones: few common, many rare."""

    def __init__(self) -> None:
        self.random = random.Random(7)
        self.words = [f"w{number}" for number in range(60_000)]
        self.creators = [f"Name{number}, A." for number in range(80_000)]
        self.subjects = [f"Subject {number}" for number in range(5_000)]
        self.publishers = [f"Press {number}" for number in range(800)]

    def pick(self, values: list[str]) -> str:
        return values[int(self.random.paretovariate(0.8)) % len(values)]

    def text(self, length: int) -> str:
        return " ".join(self.pick(self.words) for _ in range(length))

    def entry(self, number: int) -> Entry:
        title = self.text(9)
        sets = ("status=pub", f"type={number % 7}", f"subject={number % 40}:{number % 160}")
        row = Row(
            f"oai:eprints.example.org:{number}", "2024-06-24T00:00:00", title, sets,
            number % 37 == 0, number % 50 == 0, False, "1", 1, 1,
        )  # fmt: skip
        creators = tuple(dict.fromkeys(self.pick(self.creators) for _ in range(3)))
        subjects = tuple(dict.fromkeys(self.pick(self.subjects) for _ in range(3)))
        return Entry(
            row,
            Text(title, "; ".join(creators), "; ".join(subjects), self.text(60), row.identifier),
            63_000_000_000 + self.random.randrange(300_000_000),
            {
                "set": sets,
                "year": (str(1990 + number % 34),),
                "type": (f"Type {number % 9}",),
                "language": (("eng", "deu", "fra", "spa")[number % 17 % 4],),
                "publisher": (self.pick(self.publishers),),
                "subject": subjects,
                "creator": creators,
            },
            False,
        )

    def query(self) -> tuple[str, SearchFilters]:
        """One of the shapes that people use."""
        filters = SearchFilters()
        shape = self.random.randrange(8)
        words = self.text(1 + shape % 3)
        if shape in {3, 4}:
            words = ""
        if shape in {2, 3, 5}:
            filters = SearchFilters(values={"year": [str(1990 + self.random.randrange(34))]})
        if shape == 4:
            filters = SearchFilters(
                values={"type": [f"Type {self.random.randrange(9)}"]}, flags={"deleted": False}
            )
        if shape == 6:
            words = f'"{words}"'
        if shape == 7:
            words = f"{words} -{self.pick(self.words)} {self.pick(self.words)[:4]}*"
        return words, filters


def chunks(world: World, records: int) -> Iterator[list[tuple[Entry, ManifestStamp]]]:
    stamp = ManifestStamp(0, 0, 0)
    for start in range(0, records, BATCH):
        yield [(world.entry(n), stamp) for n in range(start, min(start + BATCH, records))]


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def search_speed(records: int, directory: str) -> None:
    Catalogue._catch_up = lambda _self, _rows: False  # type: ignore[method-assign] # no records
    world = World()
    spent = 0.0
    with Silo(f"{directory}/searched") as silo:
        for chunk in chunks(world, records):
            with timed() as one:
                silo._catalogue._index.settle(chunk)
            spent += one.cpu
        print(f"{records:,} records\nwrite    {records / spent:,.0f} rows/s CPU, with full text")
        before = peak_megabytes()
        with timed() as first:
            silo.search("", None, FACETS)
        print(
            f"load     facet columns, subjects and creators among them: {first.wall:.2f} s, "
            f"{peak_megabytes() - before:,.0f} MB more at the peak"
        )
        times = []
        for _ in range(200):
            words, filters = world.query()
            with timed() as one:
                silo.search(words, filters, FACETS)
            times.append(one.wall * 1000)
        times.sort()
        print(
            f"search   9 facets, 25 rows: p50 {statistics.median(times):.1f} ms, "
            f"p95 {times[int(len(times) * 0.95)]:.1f} ms, worst {times[-1]:.1f} ms"
        )
        pages = sorted(page_time(silo) for _ in range(50))
        print(f"list     first page of all: p50 {pages[25]:.2f} ms, p95 {pages[47]:.2f} ms")


def page_time(silo: Silo) -> float:
    start = time.perf_counter()
    silo.page(limit=50)
    return (time.perf_counter() - start) * 1000


def reindex_speed(records: int, directory: str) -> None:
    with Silo(f"{directory}/real") as silo:
        ingest(silo, records)
    for name, without_descriptions in (("with descriptions", False), ("from manifests", True)):
        shutil.rmtree(f"{directory}/real/.silo")
        with Silo(f"{directory}/real") as silo:
            if without_descriptions:
                projection.describe = lambda _name, _content: None
            with timed() as spent:
                silo.reindex()
        print(
            f"reindex  {name}: {records / spent.wall:,.0f}/s wall, {records / spent.cpu:,.0f}/s CPU"
        )
    with Silo(f"{directory}/real") as silo, timed() as spent:
        silo.reindex()
    print(f"reindex  nothing changed: {records / spent.wall:,.0f}/s wall")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--reindex", type=int, default=20_000)
    parser.add_argument("--directory", help="where to work (default: a temporary directory)")
    arguments = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="silo-bench-", dir=arguments.directory)
    try:
        if arguments.reindex:
            reindex_speed(arguments.reindex, directory)
        if arguments.records:
            search_speed(arguments.records, directory)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
