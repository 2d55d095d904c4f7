"""What an export costs beside the sending: planning, keeping the ledger, finding nothing to do.

The records are real, the target is none: it says of every deposit that it is there. So
what is measured is ours alone, and what a target adds comes on top.

    .venv/bin/python benchmarks/export.py --records 1000 100000

For each size, each in a process of its own, which is measured whole: a dry run of
everything, the run, and the run again, which finds nothing to do and asks nothing; then the
commands that export files and bags, flushed and noted.
"""

import argparse
import shutil
import tempfile
from collections.abc import Iterator

from processes import measured
from store import PROGRAM, Line, line_of

from recordsilo import Silo
from recordsilo.garbage import collect_rarely
from siloexport import Export
from siloexport.targets import DepositJournal
from siloexport.values import (
    Capabilities,
    CreatedThing,
    Deposit,
    Deposited,
    Difference,
    FoundInTarget,
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

    def foresee(self, step: Deposit | Withdrawal, *, is_first: bool) -> str:  # noqa: ARG002 - the interface
        self.asked += 1
        return ""

    def withdraw(self, withdrawal: Withdrawal, journal: DepositJournal) -> Deposited:  # noqa: ARG002 - the interface
        raise AssertionError("no record of the benchmark is deleted")

    def recover(self, left: UnfinishedDeposit) -> Deposited | None:  # noqa: ARG002 - the interface
        self.asked += 1
        return None

    def find(self, identifier: str) -> FoundInTarget | None:  # noqa: ARG002 - the interface
        self.asked += 1
        return None

    def verify(self, deposit: Deposit, held: Held, *, is_head: bool) -> Iterator[Difference]:  # noqa: ARG002 - the interface
        self.asked += 1
        yield from ()

    def rollback(self, created: CreatedThing, *, purge: bool) -> None:  # noqa: ARG002 - the interface
        self.asked += 1


def export(step: str, silo_path: str) -> None:
    """Do one step in this process; print how many records were written, and the target asked."""
    collect_rarely()
    target = Nowhere()
    with Silo(silo_path) as silo:
        report = Export(silo, target).run(dry_run=step == "dry run")
    if not report.whole:
        raise SystemExit(f"the {step} failed: {report.problems[:1]}")
    print(report.written, target.deposits + target.asked)


def run(records: int, directory: str) -> Iterator[Line]:
    """Measure the steps over so many records, and `silo export files` and `bag`."""
    silo_path = f"{directory}/export {records}"
    measured(PROGRAM, silo_path, str(records))
    for step in STEPS:
        done = measured(__file__, "--step", step, "--silo", silo_path)
        written, asked = map(int, done.output.split())
        beside = f"{written:,} to be written, the target asked {asked:,} times"
        yield line_of(f"export, {step}", records, done, beside)
    for kind in ("files", "bag"):
        out = f"{directory}/{kind} {records}"
        for times in ("", ", again"):
            done = measured("silo", "export", kind, silo_path, out)
            yield line_of(f"silo export {kind}{times}", records, done)
        shutil.rmtree(out)
    shutil.rmtree(silo_path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, nargs="*", default=[1000, 10_000])
    parser.add_argument("--directory", help="where to work (default: a temporary directory)")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--silo", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        export(arguments.step, arguments.silo)
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
