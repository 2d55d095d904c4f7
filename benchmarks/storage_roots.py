"""A storage root of OCFL, exported by ours and written by ocfl-py: the same objects, the same day.

    .venv/bin/python -m pip install ocfl-py==2.1.0
    .venv/bin/python benchmarks/storage_roots.py --records 1000 5000

Ours is `silo export ocfl` as a whole process: it reads the Silo, plans, writes `silo.json`, keeps
the ledger and flushes all to the disk. ocfl-py gets the content of each version ready in a
directory, writes the objects with their messages and users, and flushes nothing. Then a file of
every record changes, and both write the next version. Each is repeated in turns, and the least CPU
is told. The first run compiles modules, as pip does when it installs them.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator

from processes import Process, measured
from store import PROGRAM, Line, identifier

from recordsilo import Silo
from siloexport.ledger import EXPORTS

PEER = os.path.join(os.path.dirname(__file__), "storage_roots_peer.py")


def take_out(root: str, contents: str) -> int:
    """Put the files of the newest version of each object into a directory of its own."""
    number = 0
    for below, _, names in os.walk(root):
        if "0=ocfl_object_1.1" not in names:
            continue
        number += 1
        with open(f"{below}/inventory.json", encoding="utf-8") as file:
            inventory = json.load(file)
        version = inventory["versions"][inventory["head"]]
        told = {key: version[key] for key in ("created", "message", "user")}
        told["id"], told["path"] = inventory["id"], os.path.relpath(below, root)
        for digest, paths in version["state"].items():
            for path in paths:
                place = f"{contents}/{number}/state/{path}"
                os.makedirs(os.path.dirname(place), exist_ok=True)
                shutil.copyfile(f"{below}/{inventory['manifest'][digest][0]}", place)
        with open(f"{contents}/{number}/version.json", "w", encoding="utf-8") as file:
            json.dump(told, file)
    return number


def change(silo_path: str, records: int) -> None:
    """Give each record a working copy with another file."""
    with Silo(silo_path) as silo:
        for number in range(records):
            record = silo[identifier(number)]
            record.clone_version(record.currentversion, "workingcopy", message="licence")
            record.put_stream("licence.txt", "CC BY 4.0")


def run(records: int, directory: str, runs: int) -> Iterator[Line]:
    """Measure both over so many records, for their first and their second version."""
    silo_path = f"{directory}/silo"
    measured(PROGRAM, silo_path, str(records))
    ours, theirs = f"{directory}/ours", f"{directory}/theirs"
    written = (f"{silo_path}/{EXPORTS}", ours, theirs)
    for turn in ("first", "second"):
        before = [_copy(one) for one in written]
        done, beside = [], []
        for _ in range(runs):
            for one, path in zip(before, written, strict=True):
                _restore(one, path)
            done.append(
                measured("silo", "export", "ocfl", silo_path, ours, "--layout", "0003", "-q")
            )
            contents = f"{directory}/contents"
            assert take_out(ours, contents) == records
            beside.append(measured(PEER, contents, theirs))
            shutil.rmtree(contents)
        least, other = (min(some, key=lambda one: one.cpu) for some in (done, beside))
        yield line_of(f"{turn} version, {records:,} records", records, least, other)
        for one in before:
            shutil.rmtree(one, ignore_errors=True)
        if turn == "first":
            change(silo_path, records)
    for one in (silo_path, ours, theirs):
        shutil.rmtree(one)


def _copy(path: str) -> str:
    """Copy a tree, if it exists; returns the path of the copy."""
    if os.path.exists(path):
        shutil.copytree(path, f"{path}-before")
    return f"{path}-before"


def _restore(before: str, path: str) -> None:
    """Make a tree as it was."""
    shutil.rmtree(path, ignore_errors=True)
    if os.path.exists(before):
        shutil.copytree(before, path)


def line_of(what: str, records: int, ours: Process, theirs: Process) -> Line:
    return Line(
        what,
        f"{ours.speed(records)}, {ours.megabytes:.0f} MB",
        f"ocfl-py: {theirs.speed(records)}, {theirs.megabytes:.0f} MB",
        f"{theirs.wall / ours.wall:.2f} wall, {theirs.cpu / ours.cpu:.2f} CPU",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, nargs="*", default=[1000])
    parser.add_argument("--directory", help="where to work (default: a temporary directory)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each; the least CPU is told")
    arguments = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="silo-bench-", dir=arguments.directory)
    try:
        for records in arguments.records:
            for line in run(records, directory, arguments.runs):
                print(" | ".join((line.what, line.ours, line.beside, line.ratio)), flush=True)
    finally:
        shutil.rmtree(directory)
    print(f"load {os.getloadavg()[0]:.1f}", file=sys.stderr)


if __name__ == "__main__":
    main()
