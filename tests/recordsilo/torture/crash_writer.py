"""A process to be killed: forks writers on demand; each logs what it starts and finishes.

    python crash_writer.py SILO < lines of "name seed notes-file grade"  > lines of "pid"

An empty line waits for all writers to end. A note is a line of JSON, ``[[key, value], …]``
before an operation that gives keys these values, ``[]`` after it was acknowledged.
The grade is ``strict`` (single changes, each flushed by itself), ``group`` (batches,
one flush for all their records), ``both``, or ``careless``: both, and nothing is flushed.
"""

import json
import os
import random
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from recordsilo import Origin, Silo
from recordsilo.disk import atomic_file
from recordsilo.records.batch import Batch

sys.path.append(str(Path(__file__).parents[2] / "shared"))
from first_states import first_state

Change = list[tuple[list[str], int | None]]
Step = tuple[Change, Callable[[], object]]
SHARED = ["shared", "shared/nested", "sha"]
DATE = "2004-06-24"


def content(number: int) -> bytes:
    """What is put for a number: up to 28 kB, told apart from every other number's."""
    return b"%d " % number * (number % 4000 + 1)


class Writer:
    """Does random things to records, and knows what is there of its own."""

    def __init__(self, silo: Silo, name: str, seed: int, known: dict[str, int]) -> None:
        self.silo, self.name, self.known = silo, name, known
        self.random = random.Random(seed)

    def steps(self, grade: str) -> Iterator[Step]:
        strict = [self.put, self.put, self.drop, self.version, self.own, self.own, self.rename]
        strict += [self.replace, self.rename_file, self.note, self.grow, self.forget]
        group = [self.batch, self.batch, self.batch_files, self.turn, self.page, self.page]
        kinds = {"strict": strict, "group": group}.get(grade, strict + group)
        while True:
            if step := self.random.choice(kinds)():
                yield step

    def number(self) -> int:
        return self.random.randrange(1, 10**6)

    def has(self, *key: str) -> bool:
        return json.dumps(key) in self.known

    def put(self) -> Step:
        record, path = self.random.choice(SHARED), f"{self.name}/{self.random.randrange(3)}"
        number = self.number()
        return [(["file", record, path], number)], lambda: self.silo.get_item(record).put_stream(
            path, content(number), "1"
        )

    def drop(self) -> Step | None:
        record, path = self.random.choice(SHARED), f"{self.name}/{self.random.randrange(3)}"
        if not self.has("file", record, path):
            return None
        return [(["file", record, path], None)], lambda: self.silo[record].del_stream(path, "1")

    def version(self) -> Step | None:
        record, version = self.random.choice(SHARED), f"v{self.name}{self.random.randrange(2)}"
        if self.has("version", record, version):
            return [(["version", record, version], None)], lambda: self.silo[record].del_version(
                version
            )
        if record not in self.silo:
            return None
        clone = self.random.choice(["clone_version", "clone_version_delta"])

        def make() -> None:
            handle = self.silo[record]
            getattr(handle, clone)("1", version)
            handle.set_version_cursor("1")
            handle.sync()

        return [(["version", record, version], 1)], make

    def rename(self) -> Step | None:
        record = self.random.choice(SHARED)
        old, new = (f"v{self.name}{n}" for n in self.random.sample(range(2), 2))
        if not self.has("version", record, old) or self.has("version", record, new):
            return None
        change: Change = [(["version", record, old], None), (["version", record, new], 1)]

        def make() -> None:
            handle = self.silo[record]
            handle.rename_version(old, new)
            handle.set_version_cursor("1")
            handle.sync()

        return change, make

    def replace(self) -> Step:
        identifier, number = f"own-{self.name}-r", self.number()

        def make() -> None:
            source = f"{self.silo.path}.{self.name}.{number}"
            os.mkdir(source)
            with open(f"{source}/f", "wb") as file:
                file.write(content(number))
            self.silo.get_item(identifier).move_directory_as_new_version(source, "1", force=True)

        return [(["record", identifier], number)], make

    def own(self) -> Step:
        identifier, number = f"own-{self.name}-{self.random.randrange(3)}", self.number()
        if self.has("record", identifier) and self.random.random() < 0.4:
            gone: Change = [(["record", identifier], None)]
            if self.random.random() < 0.5:
                return gone, lambda: self.silo.del_item(identifier)
            gone.append((["removed", identifier], 1))
            return gone, lambda: self.silo.del_item(identifier, remember=True)
        if identifier in self.silo.removed():  # it is made anew only after that
            return [(["removed", identifier], None)], lambda: self.silo.restore_removed(
                [identifier]
            )
        return [(["record", identifier], number)], lambda: self.silo.get_item(
            identifier
        ).put_stream("f", content(number))

    def forget(self) -> Step | None:
        identifier = f"own-{self.name}-{self.random.randrange(3)}"
        if not self.has("removed", identifier):
            return None
        return [(["removed", identifier], None)], lambda: self.silo.restore_removed([identifier])

    def rename_file(self) -> Step | None:
        record = self.random.choice(SHARED)
        old, new = (f"{self.name}/{n}" for n in self.random.sample(range(3), 2))
        if not self.has("file", record, old) or self.has("file", record, new):
            return None
        number = self.known[json.dumps(["file", record, old])]
        change: Change = [(["file", record, old], None), (["file", record, new], number)]
        return change, lambda: self.silo[record].rename_stream(old, new, "1")

    def note(self) -> Step | None:
        record, key, number = self.random.choice(SHARED), f"note-{self.name}", self.number()
        if record not in self.silo:
            return None

        def make() -> None:
            handle = self.silo[record]
            handle.metadata[key] = number
            handle.sync()

        return [(["metadata", record, key], number)], make

    def grow(self) -> Step:
        """The next version, of what is in the last, by copies or links; the first one goes."""
        identifier, number = f"own-{self.name}-g", self.number()
        act = self.random.choice(["increment_version", "increment_version_delta"])

        def make() -> None:
            handle = self.silo.get_item(identifier)
            if handle.exists:
                getattr(handle, act)(clone_previous_version=True)
            handle.put_stream("f", content(number))
            if len(handle.versions) > 3:
                handle.del_version(handle.versions[0])

        return [(["current", identifier], number)], make

    def batch(self) -> Step:
        number = self.number()
        identifiers = [f"batch-{self.name}-{n}" for n in self.random.sample(range(6), 4)]

        def make() -> None:
            with self.silo.batch(identifiers) as batch:
                for identifier in identifiers:
                    edit = batch.edit(identifier)
                    if not edit.exists:
                        edit.add_version("1", date=DATE, origin=Origin("harvest"))
                    edit.put("1", "f", content(number))

        return [(["record", identifier], number) for identifier in identifiers], make

    def page(self) -> Step:
        """Some records are written in one step; if most are there already, one of them goes."""
        number = self.number()
        some = [f"page-{self.name}-{n}" for n in self.random.sample(range(24), 6)]
        new = [one for one in some if not self.has("record", one)]
        if len(new) < 3:
            gone = next(one for one in some if one not in new)
            return [(["record", gone], None)], lambda: self.silo.del_item(gone)

        def make() -> None:
            with self.silo.batch(new) as batch:
                for one in new:
                    assert batch.create(one, partial(first_state, one, content(number))) or (
                        self.redone(batch, one, number)
                    )

        return [(["record", identifier], number) for identifier in new], make

    def redone(self, batch: Batch, identifier: str, number: int) -> bool:
        """Write a record whose place is not vacant: remains of a killed writer, or a way."""
        edit = batch.edit(identifier)
        edit.add_version("1", date=DATE, origin=Origin("harvest", agent="a test", date=DATE))
        edit.put("1", "f", content(number), allow_frozen=True)
        return True

    def batch_files(self) -> Step:
        """A second file is put into some records, and taken out of those that have it."""
        number = self.number()
        identifiers = [f"files-{self.name}-{n}" for n in self.random.sample(range(6), 4)]
        had = {i: self.has("file", i, "g") for i in identifiers}

        def make() -> None:
            with self.silo.batch(identifiers) as batch:
                for identifier in identifiers:
                    edit = batch.edit(identifier)
                    if not edit.exists:
                        edit.add_version("1", date=DATE, origin=Origin("harvest"))
                    if had[identifier]:
                        edit.delete("1", "g")
                    else:
                        edit.put("1", "g", content(number), metadata=True)
                    edit.set_metadata("last", number)

        change: Change = [(["file", i, "g"], None if had[i] else number) for i in identifiers]
        return change + [(["metadata", i, "last"], number) for i in identifiers], make

    def turn(self) -> Step:
        """Some records get one version more, with a new file, and lose their first."""
        number = self.number()
        identifiers = [f"turn-{self.name}-{n}" for n in self.random.sample(range(6), 4)]

        def make() -> None:
            with self.silo.batch(identifiers) as batch:
                for identifier in identifiers:
                    edit = batch.edit(identifier)
                    names = edit.manifest.version_names
                    new = str(int(names[-1]) + 1) if names else "1"
                    edit.add_version(new, date=DATE, origin=Origin("local"))
                    edit.put(new, "f", content(number))
                    if len(names) > 2:
                        edit.remove_version(names[0])

        return [(["current", identifier], number) for identifier in identifiers], make


def read_notes(path: str) -> dict[str, int]:
    """What is there for sure; the caller has settled what was begun and not acknowledged."""
    with open(path, encoding="utf-8") as file:
        return dict(json.load(file))


def write(silo_path: str, name: str, seed: int, notes: str, grade: str) -> None:
    if grade == "careless":
        atomic_file.flush_fd = lambda fd: None
        atomic_file.GroupBarrier.flush = lambda self: None  # type: ignore[method-assign]
    known = read_notes(notes + ".known")
    fd = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    silo = Silo(silo_path, create=False)
    for change, act in Writer(silo, name, seed, known).steps(grade):
        os.write(fd, json.dumps(change).encode() + b"\n")
        act()
        os.write(fd, b"[]\n")
        for key, value in change:
            if value is None:
                known.pop(json.dumps(key), None)
            else:
                known[json.dumps(key)] = value


def main() -> None:
    for line in sys.stdin:
        if line.strip():
            name, seed, notes, grade = line.split()
            pid = os.fork()
            if pid == 0:
                try:
                    write(sys.argv[1], name, int(seed), notes, grade)
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(1)
        else:
            pid = 0
            while True:
                try:
                    _, status = os.wait()
                except ChildProcessError:
                    break
                if not os.WIFSIGNALED(status):
                    pid = -1  # a writer failed of itself; its traceback is on stderr
        print(pid, flush=True)


if __name__ == "__main__":
    main()
