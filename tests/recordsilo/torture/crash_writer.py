"""A process to be killed: forks writers on demand, each of which notes what it began and did.

    python crash_writer.py SILO < lines of "number seed notes-file"  > lines of "pid"

An empty line waits for all writers to end. A note is a line of JSON, ``[[key, value], …]``
before an operation that gives keys these values, ``[]`` after it was acknowledged.
"""

import json
import os
import random
import sys
import traceback
from collections.abc import Callable, Iterator

from recordsilo import Origin, Silo

Change = list[tuple[list[str], int | None]]
Step = tuple[Change, Callable[[], object]]
SHARED = ["shared", "shared/nested", "sha"]


def content(number: int) -> bytes:
    return b"%d " % number * (number % 4000 + 1)


class Writer:
    """Does random things to records, and knows what is there of its own."""

    def __init__(self, silo: Silo, name: str, seed: int, known: dict[str, int]) -> None:
        self.silo, self.name, self.known = silo, name, known
        self.random = random.Random(seed)

    def steps(self) -> Iterator[Step]:
        kinds = [self.put, self.put, self.drop, self.version, self.own, self.own, self.batch]
        kinds += [self.rename, self.replace]
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
            return [(["record", identifier], None)], lambda: self.silo.del_item(identifier)
        return [(["record", identifier], number)], lambda: self.silo.get_item(
            identifier
        ).put_stream("f", content(number))

    def batch(self) -> Step:
        number = self.number()
        identifiers = [f"batch-{self.name}-{n}" for n in self.random.sample(range(6), 4)]

        def make() -> None:
            with self.silo.batch(identifiers) as batch:
                for identifier in identifiers:
                    edit = batch.edit(identifier)
                    if not edit.exists:
                        edit.add_version("1", date="2004-06-24", origin=Origin("harvest"))
                    edit.put("1", "f", content(number))

        return [(["record", identifier], number) for identifier in identifiers], make


def read_notes(path: str) -> dict[str, int]:
    """What is there for sure; the caller has settled what was begun and not acknowledged."""
    with open(path, encoding="utf-8") as file:
        return dict(json.load(file))


def write(silo_path: str, name: str, seed: int, notes: str) -> None:
    known = read_notes(notes + ".known")
    fd = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    silo = Silo(silo_path, create=False)
    for change, act in Writer(silo, name, seed, known).steps():
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
            name, seed, notes = line.split()
            pid = os.fork()
            if pid == 0:
                try:
                    write(sys.argv[1], name, int(seed), notes)
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
