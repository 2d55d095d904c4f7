"""Writers are killed at random moments: nothing unreadable, nothing acknowledged lost."""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from recordsilo import Silo, atomic_file
from recordsilo.walk import walk_records

SCRIPT = Path(__file__).with_name("crash_writer.py")
WRITERS = ("a", "b")
_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

Known = dict[str, int]


def content(number: int) -> bytes:
    return b"%d " % number * (number % 4000 + 1)


@pytest.fixture
def directory() -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir=_MEMORY) as path:
        yield path


def check_every_record(silo: Silo) -> None:
    problems: list[tuple[str, str]] = []
    walked = sorted(walk_records(f"{silo.path}/pairtree_root", lambda *p: problems.append(p)))
    assert problems == []
    assert list(silo) == walked
    assert len(silo) == len(walked)
    for identifier in walked:
        record = silo[identifier]
        row = silo.row(identifier)
        assert (row.revision, row.versions) == (record.revision, len(record.versions))
        for version in record.versions:
            for path in record.paths(version):
                with record.get_stream(path, version) as stream:
                    found = atomic_file.digest_of(stream)
                info = record.file_info(path, version)
                assert (found.sha256, found.size) == (info.sha256, info.size)


def value_of(silo: Silo, kind: str, identifier: str, name: str = "f") -> int | None:
    if identifier not in silo:
        return None
    record = silo[identifier]
    if kind == "version":
        return 1 if name in record.versions else None
    if name not in record.paths("1"):
        return None
    with record.get_stream(name, "1") as stream:
        found = stream.read()
    number = int(found.split()[0])
    assert found == content(number)
    return number


def settle(silo: Silo, notes: str, known: Known) -> int:
    """Compare with what a writer noted; what it began may be done or not.

    Returns:
        How many operations it had acknowledged.
    """
    begun: list[tuple[list[str], int | None]] = []
    acknowledged = 0
    with open(notes, encoding="utf-8") as file:
        for line in file:
            change = json.loads(line)
            if change:
                begun = change
                continue
            acknowledged += 1
            for key, value in begun:
                known[json.dumps(key)] = value  # type: ignore[assignment]
            begun = []
    last = {json.dumps(key): value for key, value in begun}
    for key in {*known, *last}:
        found = value_of(silo, *json.loads(key))
        allowed = [known.get(key)] + ([last[key]] if key in last else [])
        assert found in allowed, key
        if key in last:
            known[key] = found  # type: ignore[assignment]
    for key in [key for key, value in known.items() if value is None]:
        del known[key]
    os.unlink(notes)
    with open(notes + ".known", "w", encoding="utf-8") as file:
        json.dump(known, file)
    return acknowledged


def torture(directory: str, rounds: int, seed: int) -> int:
    """Kill two writers in each round; gives how many operations were acknowledged."""
    path = f"{directory}/silo"
    with Silo(path) as silo:
        len(silo)
    chance = random.Random(seed)
    known: dict[str, Known] = {name: {} for name in WRITERS}
    for name in WRITERS:
        Path(f"{directory}/{name}.known").write_text("{}", encoding="utf-8")
    acknowledged = 0
    with subprocess.Popen(
        [sys.executable, str(SCRIPT), path],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as forker:  # fmt: skip
        assert forker.stdin
        assert forker.stdout
        for _ in range(rounds):
            pids = []
            for name in WRITERS:
                print(name, chance.getrandbits(32), f"{directory}/{name}", file=forker.stdin)
                forker.stdin.flush()
                pids.append(int(forker.stdout.readline()))
            for pid in pids:
                time.sleep(chance.uniform(0.01, 0.12))
                os.kill(pid, signal.SIGKILL)
            print(file=forker.stdin, flush=True)
            assert forker.stdout.readline() == "0\n", "a writer failed before it was killed"
            with Silo(path, create=False) as silo:
                check_every_record(silo)
                for name in WRITERS:
                    notes = f"{directory}/{name}"
                    Path(notes).touch()
                    acknowledged += settle(silo, notes, known[name])
        forker.stdin.close()
    sweep_all(path)
    return acknowledged


def sweep_all(path: str) -> None:
    """The next write of each record leaves nothing of the killed ones."""
    with Silo(path, create=False) as silo:
        for identifier in silo:
            record = silo[identifier]
            record.metadata["swept"] = True
            record.create_new_version("last")
            record.del_version("last")
        check_every_record(silo)
        listed = {
            os.path.realpath(os.path.join(record.path_to_item(), f"__{version}"))
            for record in silo.iteritems()
            for version in record.versions
        }
    for below, directories, files in os.walk(f"{path}/pairtree_root"):
        own = [name for name in directories if name.startswith("__") and len(name) > 2]
        assert all(os.path.realpath(os.path.join(below, name)) in listed for name in own)
        assert not [name for name in files if name.endswith((".tmp", ".new", ".deleted"))]
    assert os.listdir(f"{path}/.silo/tmp") == []


def test_killed_writers_leave_every_record_whole_and_lose_nothing_acknowledged(
    directory: str,
) -> None:
    assert torture(directory, rounds=25, seed=20101) > 25


@pytest.mark.slow
def test_two_thousand_killed_writers_leave_every_record_whole(directory: str) -> None:
    assert torture(directory, rounds=1000, seed=int.from_bytes(os.urandom(4))) > 1000
