"""One Silo through its life: ingest, list, search, check, reindex, each in a process of its own.

    .venv/bin/python benchmarks/million.py 10000 100000 1000000 --directory /var/tmp

Prints, for each size and step, wall and CPU seconds, records a second, and the peak of its
memory. Of the ingest it prints the CPU of the first ten thousand records and of the last, since
no record may cost more because there are many others. At the end it prints what a record costs
in each step at each size. ``--keep`` leaves the Silos.
"""

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable

from processes import measured
from store import Spent, ingest, timed, total

from recordsilo import Silo
from recordsilo.audit.check import Audit
from recordsilo.garbage import collect_rarely
from recordsilo.index import PageRequest

SLICE = 10_000
FACETS = ("set", "year", "type", "language", "publisher", "format", "state", "subject", "creator")


def ingested(path: str, records: int) -> None:
    """New records; told by slices of ten thousand."""
    with Silo(path) as silo:
        spent: list[Spent] = []
        for start in range(0, records, SLICE):
            with timed() as one:
                ingest(silo, min(SLICE, records - start), start)
            spent.append(one)
        first, last = spent[0].cpu, spent[-1].cpu
        middle = sorted(one.cpu for one in spent)[len(spent) // 2]
        print(
            f"  CPU of a slice of {SLICE:,}: first {first:.1f} s, median {middle:.1f} s,"
            f" last {last:.1f} s; all {total(spent).cpu:.0f} s"
        )


def listed(path: str, records: int) -> None:
    """Every page of the list, by cursors."""
    with Silo(path, create=False) as silo:
        seen, after, slowest = 0, None, 0.0
        while True:
            with timed() as one:
                page = silo.page(limit=1000, after=after)
            slowest = max(slowest, one.wall)
            seen += len(page.rows)
            if not page.has_next:
                break
            after = page.rows[-1].identifier
        assert seen == len(silo) == records
        print(f"  slowest page of 1,000: {slowest * 1000:.1f} ms")


def searched(path: str, records: int) -> None:
    """A first search, and some after it, with nine facets."""
    with Silo(path, create=False) as silo:
        with timed() as first:
            silo.search("gene", facets=FACETS)
        times = []
        for number in range(0, records, max(1, records // 50)):
            with timed() as one:
                found = silo.search(f"record {number}", facets=FACETS, page=PageRequest(limit=25))
            assert found.total
            times.append(one.wall)
        times.sort()
        print(f"  first {first.wall:.1f} s; then p50 {times[len(times) // 2] * 1000:.1f} ms,"
              f" slowest {times[-1] * 1000:.1f} ms")  # fmt: skip


def checked(path: str, records: int) -> None:
    """Every file against its digest, and the index with the records; as `silo check` does."""
    collect_rarely()
    steps = findings = 0
    for step in Audit(path).steps():
        steps += step.records
        findings += len(step.findings)
    assert (steps, findings) == (records, 0), (steps, findings)


def reindexed(path: str, records: int) -> None:
    """The index made anew from the manifests and metadata files."""
    shutil.rmtree(f"{path}/.silo")
    with Silo(path, create=False) as silo:
        assert silo.reindex() == records


STEPS: dict[str, Callable[[str, int], None]] = {
    "ingest": ingested,
    "list": listed,
    "search": searched,
    "check": checked,
    "reindex": reindexed,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", type=int, nargs="+")
    parser.add_argument("--directory", help="where to work (default: a temporary directory)")
    parser.add_argument("--keep", action="store_true", help="leave the Silo there")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        STEPS[arguments.step](arguments.directory, *arguments.records)
        return
    costs = [
        lived(records, arguments.directory, keep=arguments.keep) for records in arguments.records
    ]
    print("µs of CPU a record, with the start of the process:")
    for number, step in enumerate(STEPS):
        each = [one[number] for one in costs]
        told = "; ".join(f"{cost:,.0f}" for cost in each)
        print(f"  {step}: {told} ({each[-1] / each[0]:.2f} ×)")


def lived(records: int, directory: str | None, *, keep: bool) -> list[float]:
    """All steps of one Silo; the CPU of a record in each, in µs."""
    path = tempfile.mkdtemp(prefix="silo-million-", dir=directory) + "/silo"
    print(path)
    try:
        return [run_step(step, path, records) for step in STEPS]
    finally:
        if not keep:
            shutil.rmtree(os.path.dirname(path), ignore_errors=True)


def run_step(step: str, path: str, records: int) -> float:
    print(f"{step}, {records:,} records", flush=True)
    done = measured(__file__, str(records), "--directory", path, "--step", step)
    print(done.output, end="")
    print(
        f"  {done.wall:,.0f} s wall, {done.cpu:,.0f} s CPU, {records / done.cpu:,.0f}/s CPU,"
        f" {done.megabytes:.0f} MB at most",
        flush=True,
    )
    return done.microseconds(records)


if __name__ == "__main__":
    main()
