"""What the index costs: filling it, and searching it with nine facets.

The searches run on an index of made-up descriptions, written without records behind
them, so that a million fit; shapes of queries are drawn from the words in it. The
speed of reindexing is that on real Silos: from a warm cache into a fresh index, once of
records with metadata files, which are described, and once of records with manifests alone
to read. What a row costs is told for the first rows and the last, so that growth shows.
"""

import random
import resource
import shutil
from collections.abc import Iterator

from processes import peak_megabytes
from store import (
    BATCH as STORE_BATCH,
)
from store import (
    METADATA,
    STAMP,
    Line,
    identifier,
    ingest,
    milliseconds,
    timed,
)

from recordsilo import Origin, Row, Silo
from recordsilo.index import Entry, ManifestStamp, SearchFilters
from recordsilo.index.catalogue import Catalogue
from recordsilo.index.projection import Text
from recordsilo.index.query import dated

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
        # the most frequent has 2.6 % of all, as "the" has of English words; then it falls off
        return values[(int(30 * self.random.paretovariate(0.8)) - 30) % len(values)]

    def text(self, length: int) -> str:
        return " ".join(self.pick(self.words) for _ in range(length))

    def entry(self, number: int) -> Entry:
        title = self.text(9)
        sets = ("status=pub", f"type={number % 7}", f"subject={number % 40}:{number % 160}")
        seconds = 63_000_000_000 + self.random.randrange(300_000_000)
        row = Row(
            f"oai:eprints.example.org:{number}", dated(seconds), title, sets,
            number % 37 == 0, number % 50 == 0, False, "1", 1, 1,
        )  # fmt: skip
        creators = tuple(dict.fromkeys(self.pick(self.creators) for _ in range(3)))
        subjects = tuple(dict.fromkeys(self.pick(self.subjects) for _ in range(3)))
        return Entry(
            row,
            Text(title, "; ".join(creators), "; ".join(subjects), self.text(60), row.identifier),
            seconds,
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
            words = f'"{self.text(2)}"'
        if shape == 7:
            words = f"{words} -{self.pick(self.words)} {self.pick(self.words)[:4]}*"
        return words, filters


def chunks(world: World, records: int) -> Iterator[list[tuple[Entry, ManifestStamp]]]:
    stamp = ManifestStamp(0, 0, 0)
    for start in range(0, records, BATCH):
        yield [(world.entry(n), stamp) for n in range(start, min(start + BATCH, records))]


def search_speed(records: int, directory: str) -> Iterator[Line]:
    """Write and search an index of so many records."""
    Catalogue._catch_up = lambda _self, _rows: False  # type: ignore[method-assign] # no records
    world = World()
    costs = []
    with Silo(f"{directory}/searched-{records}") as silo:
        for chunk in chunks(world, records):
            with timed() as one:
                silo._catalogue._index.settle(chunk)
            costs.append(one.cpu / len(chunk))
        mean = sum(costs) / len(costs)
        yield Line(f"index, {records:,} rows", f"{1 / mean:,.0f}/s CPU, with full text")
        yield _growth_line(records, costs)
        before = peak_megabytes()
        with timed() as first:
            silo.search("", None, FACETS)
        more = peak_megabytes() - before
        yield Line(
            f"first search, {records:,} records",
            f"{first.wall:.2f} s to load all facet columns, {more:,.0f} MB more at the peak",
        )
        times = sorted(_search_time(silo, world) for _ in range(200))
        yield Line(
            f"search with 9 facets, {records:,} records",
            f"p50 {times[100]:.1f} ms, p95 {times[190]:.1f} ms, worst {times[-1]:.1f} ms",
        )
        yield Line(
            f"first page of a list, {records:,} records",
            f"{milliseconds(lambda: silo.page(limit=50)):.2f} ms",
        )


def _growth_line(records: int, costs: list[float]) -> Line:
    """What a row costs among the first tenth and the last; sums, since blocks fill up by turns."""
    tenth = max(1, len(costs) // 10)
    first, last = (sum(some) / tenth * 1e6 for some in (costs[:tenth], costs[-tenth:]))
    return Line(
        f"CPU for a row, of {records:,}",
        f"{last:.0f} µs in the last tenth",
        f"{first:.0f} µs in the first",
        f"{last / first:.2f}",
    )


def _search_time(silo: Silo, world: World) -> float:
    words, filters = world.query()
    with timed() as spent:
        silo.search(words, filters, FACETS)
    return spent.wall * 1000


def reindex_speed(records: int, directory: str) -> Iterator[Line]:
    """Index real Silos of so many records anew."""
    for name, fill in (("with descriptions", ingest), ("manifests alone", ingest_undescribed)):
        place = f"{directory}/reindexed {name}"
        with Silo(place) as silo:
            fill(silo, records)
        shutil.rmtree(f"{place}/.silo")
        yield _reindexed(name, place, records)
        yield _reindexed(f"{name}, nothing changed", place, records)
        shutil.rmtree(place)


def ingest_undescribed(silo: Silo, records: int) -> None:
    """Records of the same shape, in which no file is marked as metadata."""
    for first in range(0, records, STORE_BATCH):
        numbers = range(first, min(first + STORE_BATCH, records))
        with silo.batch(map(identifier, numbers)) as batch:
            for number in numbers:
                edit = batch.edit(identifier(number))
                origin = Origin("harvest", prefixes={"oai_dc": STAMP}, agent="benchmark")
                edit.add_version("1", date=STAMP, origin=origin, log="Created new data package")
                edit.put("1", "oai_dc", METADATA % number, metadata=False)
                edit.set_metadata("setSpec", ["7374617475733D707562"])


def _reindexed(name: str, place: str, records: int) -> Line:
    before = _seconds_of_children()
    with Silo(place) as silo, timed() as spent:
        silo.reindex()
    beside = _seconds_of_children() - before
    return Line(
        f"reindex {records:,} records, {name}",
        f"{records / spent.wall:,.0f}/s wall",
        f"CPU for a record: {spent.cpu / records * 1e6:.0f} µs here, "
        f"{beside / records * 1e6:.0f} µs in the second process",
    )


def _seconds_of_children() -> float:
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime
