"""A storage root of OCFL, exported by ours and written by ocfl-py: the same objects, the same day.

    .venv/bin/python -m pip install ocfl-py==2.1.0
    .venv/bin/python benchmarks/storage_roots.py --records 1000 5000

Ours is `silo export ocfl` as a whole process: it reads the Silo, plans, writes `silo.json`, keeps
the ledger and flushes all to the disk. ocfl-py gets the content of each version ready in a
directory, writes the objects with their messages and users, and flushes nothing. Then a file of
every record changes, and both write the next version.
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

from infopackages.ocfl.layouts import NAMED, Layout
from recordsilo import Silo


def by_ocfl_py(contents: str, root: str) -> None:
    """Write the objects of `contents`/<n>/v1 …, or add their next version."""
    from ocfl import Object, StorageRoot, VersionMetadata  # noqa: PLC0415 - only in its own process

    if not os.path.exists(root):
        StorageRoot(root, layout_name=NAMED).initialize()
    layout = Layout(NAMED)
    for name in sorted(os.listdir(contents)):
        with open(f"{contents}/{name}/version.json", encoding="utf-8") as file:
            told = json.load(file)
        about = VersionMetadata(
            created=told["created"], message=told["message"], name=told["user"]["name"],
            address=told["user"]["address"],
        )  # fmt: skip
        source, place = f"{contents}/{name}/state", f"{root}/{layout.path(told['id'])}"
        if os.path.exists(place):
            Object().add_version_with_content(place, source, about)
        else:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            Object(identifier=told["id"]).create(srcdir=source, metadata=about, objdir=place)


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
        told["id"] = inventory["id"]
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


def run(records: int, directory: str) -> Iterator[Line]:
    """Measure both over so many records, for their first and their second version."""
    silo_path, ours, theirs = (f"{directory}/{one}" for one in ("silo", "ours", "theirs"))
    measured(PROGRAM, silo_path, str(records))
    for turn in ("first", "second"):
        done = measured("silo", "export", "ocfl", silo_path, ours, "--layout", "0003", "-q")
        contents = f"{directory}/contents"
        assert take_out(ours, contents) == records
        beside = measured(__file__, "--contents", contents, "--root", theirs)
        yield line_of(f"{turn} version, {records:,} records", records, done, beside)
        shutil.rmtree(contents)
        if turn == "first":
            change(silo_path, records)
    for one in (silo_path, ours, theirs):
        shutil.rmtree(one)


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
    parser.add_argument("--contents", help=argparse.SUPPRESS)
    parser.add_argument("--root", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.contents:
        by_ocfl_py(arguments.contents, arguments.root)
        return
    directory = tempfile.mkdtemp(prefix="silo-bench-", dir=arguments.directory)
    try:
        for records in arguments.records:
            for line in run(records, directory):
                print(" | ".join((line.what, line.ours, line.beside, line.ratio)), flush=True)
    finally:
        shutil.rmtree(directory)
    print(f"load {os.getloadavg()[0]:.1f}", file=sys.stderr)


if __name__ == "__main__":
    main()
