"""Eight processes change the same fifty records: every change is consistent with earlier ones.

A record's changes, put in the order of their revisions, are carried out on a model.
Each has to be possible there, and at the end the model has to be what is stored.
"""

import fcntl
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from memory import MEMORY
from ordeal import check_every_record, find_no_damage

from recordsilo import Silo

SCRIPT = Path(__file__).with_name("history_writer.py")
PROCESSES = 8

Event = dict[str, Any]


class Model:
    """A record as it ought to be after some changes; an impossible one is an error."""

    def __init__(self) -> None:
        self.versions: dict[str, dict[str, str]] = {"1": {}}
        self.cursor = "1"
        self.metadata: dict[str, Any] = {}

    def create(self, path: str, content: str) -> None:
        self.metadata["life"] = content
        self.put("1", path, content)

    def put(self, version: str, path: str, content: str) -> None:
        self.versions[version][path] = content

    def drop(self, version: str, path: str) -> None:
        del self.versions[version][path]

    def rename_file(self, version: str, path: str, new: str) -> None:
        assert new not in self.versions[version]
        self.versions[version][new] = self.versions[version].pop(path)

    def copy(self, path: str, source: str, target: str) -> None:
        self.versions[target][path] = self.versions[source][path]

    def clone(self, source: str, new: str) -> None:
        assert new not in self.versions
        self.versions[new] = dict(self.versions[source])
        self.cursor = new

    def drop_version(self, version: str) -> None:
        del self.versions[version]
        if self.cursor == version:
            self.cursor = list(self.versions)[-1]

    def rename_version(self, version: str, new: str) -> None:
        assert version in self.versions
        assert new not in self.versions
        self.versions = {new if v == version else v: files for v, files in self.versions.items()}
        self.cursor = new

    def note(self, key: str, value: str) -> None:
        self.metadata[key] = value

    def count(self, number: int) -> None:
        assert number == self.metadata.get("count", 0) + 1, "an update is lost"
        self.metadata["count"] = number


def replay(events: list[Event]) -> Model:
    """Carry out the changes of one life of a record."""
    events.sort(key=lambda event: event["revision"])
    for expected, event in enumerate(events, 1):
        around = [e for e in events if abs(e["revision"] - expected) < 2]
        assert event["revision"] == expected, f"revision {expected} is not made once: {around}"
    assert events[0]["op"] == "create"
    latest = 0
    model = Model()
    for event in events:
        latest = max(latest, event["begin"])
        assert latest <= event["end"], f"{event} was told to be made before an earlier one began"
        getattr(model, event["op"])(*event["args"])
    return model


def stored(silo: Silo, identifier: str) -> Model:
    record = silo[identifier]
    found = Model()
    found.versions = {}
    for version in record.versions:
        files = found.versions[version] = {}
        for path in record.paths(version):
            with record.get_stream(path, version) as stream:
                files[path] = stream.read().decode()
    found.cursor, found.metadata = record.currentversion, record.metadata
    return found


def check_record(silo: Silo, identifier: str, events: list[Event]) -> None:
    """One life at most goes on; each other one ended with a deletion at its last revision."""
    lives: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        if event["op"] != "delete":
            lives[event["life"]].append(event)
    models = {life: replay(changes) for life, changes in lives.items()}
    living = silo[identifier].metadata["life"] if identifier in silo else None
    ends = Counter(len(changes) for life, changes in lives.items() if life != living)
    assert ends == Counter(event["revision"] for event in events if event["op"] == "delete")
    if living is not None:
        found = stored(silo, identifier)
        expected = models[living]
        assert list(found.versions.items()) == list(expected.versions.items())
        assert (found.cursor, found.metadata) == (expected.cursor, expected.metadata)
        assert silo[identifier].revision == len(lives[living])


def check_no_lock_is_held(path: str) -> None:
    locks = os.listdir(f"{path}/.silo/locks")
    assert locks
    for name in locks:
        with open(f"{path}/.silo/locks/{name}", "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def write_histories(directory: str, count: int) -> list[Event]:
    with Silo(f"{directory}/silo") as silo:
        len(silo)
    notes = [f"{directory}/{name}" for name in range(PROCESSES)]
    writers = [
        subprocess.Popen(
            [sys.executable, "-W", "error", str(SCRIPT), f"{directory}/silo",
             os.path.basename(file), str(count), file]
        )
        for file in notes
    ]  # fmt: skip
    assert [writer.wait(3600) for writer in writers] == [0] * PROCESSES
    lines = itertools.chain.from_iterable(Path(n).read_text().splitlines() for n in notes)
    return [json.loads(line) for line in lines]


def check_histories(directory: str, count: int) -> Counter[str]:
    """How often which change was made."""
    events = write_histories(directory, count)
    assert len(events) >= PROCESSES * count
    by_record: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        by_record[event["record"]].append(event)
    path = f"{directory}/silo"
    with Silo(path, create=False) as silo:
        for identifier, those in by_record.items():
            check_record(silo, identifier, those)
        assert set(silo) <= set(by_record)
        check_every_record(silo)
    check_no_lock_is_held(path)
    assert find_no_damage(path) == set()
    return Counter(event["op"] for event in events)


@pytest.fixture
def directory() -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir=MEMORY) as path:
        yield path


@pytest.mark.long
def test_every_change_of_eight_processes_is_explained_by_those_before_it(directory: str) -> None:
    made = check_histories(directory, 100)
    assert len(made) == 11


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_every_one_of_sixteen_thousand_changes_is_explained(directory: str) -> None:
    made = check_histories(directory, 2000)
    print(f"\n{made.total():,} changes by {PROCESSES} processes: {dict(made.most_common())}")
