"""What an export costs beside the sending: planning, keeping the ledger, finding nothing to do.

The records are real, the target is none: it says of every deposit that it is there. So
what is measured is ours alone, and what a target adds comes on top.

    .venv/bin/python benchmarks/export.py --records 1000 100000

For each size, each in a process of its own, whose peak memory is told: a dry run of
everything, the run, and the run again, which finds nothing to do and asks nothing.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

from store import Line, ingest, peak_megabytes, timed

from recordsilo import Silo
from siloexport import Export
from siloexport.targets import DepositJournal
from siloexport.values import (
    Capabilities,
    CreatedThing,
    Deposit,
    Deposited,
    Difference,
    Found,
    Held,
    UnfinishedDeposit,
    Withdrawal,
)

STEPS = ("dry run", "run", "run with nothing to do")


class Nowhere:
    """A target that keeps nothing, and counts what it is asked."""

    key = shown = "nowhere"
    crosswalk = ""
    capabilities = Capabilities(each_version=True)

    def __init__(self) -> None:
        self.deposits = self.asked = 0

    def probe(self) -> None:
        """Nothing to look at."""

    def prepare(self) -> None:
        """Nothing to make."""

    def deposit(self, deposit: Deposit, journal: DepositJournal) -> Deposited:
        self.deposits += 1
        journal.opened(transaction="1")
        journal.committing()
        return Deposited(deposit.identifier, "", deposit.key, (deposit.identifier,))

    def withdraw(self, withdrawal: Withdrawal, journal: DepositJournal) -> Deposited:  # noqa: ARG002 - the interface
        raise AssertionError("no record of the benchmark is deleted")

    def recover(self, left: UnfinishedDeposit) -> Deposited | None:  # noqa: ARG002 - the interface
        self.asked += 1
        return None

    def find(self, identifier: str) -> Found | None:  # noqa: ARG002 - the interface
        self.asked += 1
        return None

    def verify(self, deposit: Deposit, held: Held, *, is_head: bool) -> Iterator[Difference]:  # noqa: ARG002 - the interface
        self.asked += 1
        yield from ()

    def rollback(self, created: CreatedThing, *, purge: bool) -> None:  # noqa: ARG002 - the interface
        self.asked += 1


@dataclass(frozen=True, slots=True)
class Measured:
    """One step over so many records, in a process of its own."""

    step: str
    records: int
    written: int
    asked: int
    wall: float
    cpu: float
    megabytes: float


def measure(step: str, silo_path: str) -> Measured:
    """Do one step in this process."""
    target = Nowhere()
    with Silo(silo_path) as silo:
        export = Export(silo, target)
        with timed() as spent:
            report = export.run(dry_run=step == "dry run")
    if not report.whole:
        raise SystemExit(f"the {step} failed: {report.problems[:1]}")
    asked = target.deposits + target.asked
    return Measured(
        step, report.records, report.written, asked, spent.wall, spent.cpu, peak_megabytes()
    )


def _beside(step: str, silo_path: str) -> Measured:
    """Do one step in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--step", step, "--silo", silo_path],
        check=True,
        capture_output=True,
        text=True,
    )
    return Measured(**json.loads(done.stdout))


def run(records: int, directory: str) -> Iterator[Line]:
    """Measure the steps over so many records."""
    silo_path = f"{directory}/export {records}"
    with Silo(silo_path) as silo:
        ingest(silo, records)
    for step in STEPS:
        found = _beside(step, silo_path)
        yield Line(
            f"export, {step}, {found.records:,} records",
            f"{found.wall:.1f} s wall, {found.cpu:.1f} s CPU, {found.megabytes:.0f} MB at most",
            f"{found.written:,} to be written, the target asked {found.asked:,} times",
            f"{found.cpu / found.records * 1e6:.0f} µs CPU a record",
        )
    shutil.rmtree(silo_path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, nargs="*", default=[1000, 10_000])
    parser.add_argument("--directory", help="where to work (default: a temporary directory)")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--silo", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        found = measure(arguments.step, arguments.silo)
        print(json.dumps({name: getattr(found, name) for name in Measured.__slots__}))
        return
    directory = tempfile.mkdtemp(prefix="silo-bench-", dir=arguments.directory)
    try:
        for records in arguments.records:
            for line in run(records, directory):
                print(" | ".join((line.what, line.ours, line.beside, line.ratio)), flush=True)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
