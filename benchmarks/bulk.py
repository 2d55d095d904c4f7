"""Bulk edits and clusters: what a job costs beside writing the same new versions bare.

    .venv/bin/python benchmarks/bulk.py 10000

* preview, apply, undo: a rule over all records, group-durable, in records a second;
* beside apply: a bare loop that makes the same directory and file for each record and
  replaces its manifest by a renamed one, with as many syncfs;
* clusters: of 100,000 values, by each method.
"""

import argparse
import os
import random
import tempfile
from collections.abc import Iterator

from processes import measured
from store import Line, ingest, line_of, timed

from recordsilo import Silo
from recordsilo.disk.atomic_file import group_barrier
from silocuration.batch.job import PAGE, create_job, preview, run_job, undo_job
from silocuration.batch.specs import rules_job
from silocuration.editing.rule_files import RuleSet, save_rules
from silocuration.editing.rules import Replace
from silocuration.review.clusters import Method, clusters

RULES = RuleSet("bench", rules=(Replace("type", "Article", "article"),))


def bare(root: str, records: int, metadata: bytes, manifest: bytes) -> None:
    """A directory with a file, and a file renamed over another, for each record."""
    for start in range(0, records, PAGE):
        names = [f"{root}/{n:08d}" for n in range(start, min(start + PAGE, records))]
        for name in names:
            os.mkdir(f"{name}/__workingcopy")
            for path, content in ((f"{name}/__workingcopy/oai_dc", metadata),
                                  (f"{name}/new", manifest)):  # fmt: skip
                with open(path, "wb") as file:
                    file.write(content)
        group_barrier(root).flush()
        for name in names:
            os.rename(f"{name}/new", f"{name}/__manifest.json")
        group_barrier(root).flush()


def run(records: int, directory: str) -> Iterator[Line]:
    with Silo(f"{directory}/silo") as silo:
        ingest(silo, records)
        spec = rules_job(RULES)
        with timed() as looking:
            assert preview(silo, spec).changed == records
        job = create_job(silo, spec, agent="bench")
        with timed() as applying:
            run_job(silo, job)
        record = next(iter(silo.iteritems()))
        with record.get_stream("oai_dc") as stream:
            metadata = stream.read()
        with open(f"{record.path_to_item()}/__manifest.json", "rb") as file:
            manifest = file.read()
        with timed() as undoing:
            undo_job(silo, job, agent="bench")
    root = f"{directory}/bare"
    os.mkdir(root)
    for number in range(records):
        os.mkdir(f"{root}/{number:08d}")
    with timed() as loop:
        bare(root, records, metadata, manifest)

    def rate(wall: float, cpu: float) -> str:
        return f"{records / wall:,.0f}/s wall, {records / cpu:,.0f}/s CPU"

    yield Line(f"preview of a rule, {records:,} records", rate(looking.wall, looking.cpu))
    yield Line(
        f"bulk edit, {records:,} records", rate(applying.wall, applying.cpu),
        f"bare loop: {rate(loop.wall, loop.cpu)}",
        f"{loop.wall / applying.wall:.2f} wall, {loop.cpu / applying.cpu:.2f} CPU",
    )  # fmt: skip
    yield from _whole(records, directory)
    yield Line(f"undo of it, {records:,} records", rate(undoing.wall, undoing.cpu))
    values = made_values(100_000)
    for method in Method:
        with timed() as spent:
            found = len(clusters(values, method))
        took = f"{spent.wall:.1f} s wall, {spent.cpu:.1f} s CPU, {found:,} clusters"
        yield Line(f"clusters by {method}, 100,000 values", took)


def _whole(records: int, directory: str) -> Iterator[Line]:
    """The commands, in processes of their own."""
    path = f"{directory}/silo"
    with Silo(path) as silo:
        save_rules(silo.path, "bench", RULES)
    done = measured("silo", "rules", "apply", path, "bench", "--quiet")
    yield line_of("silo rules apply", records, done)


def made_values(number: int) -> dict[str, int]:
    """Names and subjects, a tenth of them with a letter changed."""
    rng = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(20_000)]
    values: dict[str, int] = {}
    while len(values) < number:
        name = ", ".join(rng.sample(words, 2)).title()
        value = name if rng.random() < 0.7 else " ".join(rng.sample(words, rng.randint(1, 5)))
        values[value] = rng.randint(1, 50)
        if rng.random() < 0.1:
            at = rng.randrange(len(value))
            values[value[:at] + "x" + value[at + 1 :]] = 1
    return values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", type=int, nargs="?", default=10_000)
    with tempfile.TemporaryDirectory(prefix="silo-bench-") as directory:
        for line in run(parser.parse_args().records, directory):
            print(" | ".join((line.what, line.ours, line.beside, line.ratio)), flush=True)


if __name__ == "__main__":
    main()
