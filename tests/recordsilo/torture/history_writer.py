"""One of several writers of the same records; it logs each acknowledged change.

    python history_writer.py SILO NAME COUNT NOTES

A note is a line of JSON, an `Event`. What the store refuses is not noted.
"""

import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any

from recordsilo import HarvestedRecord, Origin, Silo
from recordsilo.errors import (
    FileInTheWay,
    FileNotInVersion,
    LastVersion,
    MetadataConflict,
    RecordGone,
    RecordNotFound,
    RevisionConflict,
    VersionExists,
    VersionNotFound,
)

RECORDS = [f"record:{number}" for number in range(50)]
REFUSED = (
    FileInTheWay, FileNotInVersion, LastVersion, MetadataConflict, RecordNotFound, RevisionConflict,
    VersionExists, VersionNotFound,
)  # fmt: skip
"""What a change may meet with, since it was decided on by what a handle showed a while ago."""

Event = dict[str, Any]
"""``op`` and ``args``; ``record``, and the ``life`` of it, from its making to its deletion;
``revision`` after it (the last one, for a deletion); ``begin`` and ``end``, monotonic, in ns."""


class Writer:
    """Changes records at random, half of the time through a handle that is behind."""

    def __init__(self, silo: Silo, name: str, note: Callable[[Event], None]) -> None:
        self.silo, self.name, self.note = silo, name, note
        self.random = random.Random(name)
        self.handles: dict[str, HarvestedRecord] = {}
        self.number = 0

    def unique(self) -> str:
        self.number += 1
        return f"{self.name}-{self.number}"

    def step(self) -> bool:
        """Try one change; False if it was refused."""
        identifier = self.random.choice(RECORDS)
        single = [self.put, self.put, self.drop, self.rename_file, self.copy, self.clone]
        single += [self.drop_version, self.rename_version, self.set_note, self.count, self.delete]
        act = self.random.choice(single)
        try:
            if self.random.random() < 0.1:
                self.batch()
                return True
            handle = self.handles.get(identifier)
            if handle is None or act == self.delete or self.random.random() < 0.5:
                handle = self.silo.get_item(identifier)
            if not handle.exists:
                act = self.create
            begin = time.monotonic_ns()
            op, args = act(handle)
            end = time.monotonic_ns()
        except REFUSED:
            self.handles.pop(identifier, None)
            return False
        if op == "delete":
            self.handles.pop(identifier, None)
        else:
            self.handles[identifier] = handle
        self.note(
            {"op": op, "args": args, "record": identifier, "life": handle.metadata["life"],
             "revision": handle.revision, "begin": begin, "end": end}
        )  # fmt: skip
        return True

    # -- single changes; each gives what it was and with what ---------------------------------

    def version_of(self, handle: HarvestedRecord) -> str:
        return self.random.choice(handle.versions)

    def path(self) -> str:
        return self.random.choice(["f", "g", "d/f", "d/g"])

    def create(self, handle: HarvestedRecord) -> tuple[str, list[Any]]:
        path, content = self.path(), self.unique()
        handle.metadata["life"] = content
        handle.put_stream(path, content, "1")
        return "create", [path, content]

    def put(self, handle: HarvestedRecord) -> tuple[str, list[Any]]:
        version, path, content = self.version_of(handle), self.path(), self.unique()
        handle.put_stream(path, content, version)
        return "put", [version, path, content]

    def drop(self, handle: HarvestedRecord) -> tuple[str, list[Any]]:
        version, path = self.version_of(handle), self.path()
        handle.del_stream(path, version)
        return "drop", [version, path]

    def rename_file(self, handle: HarvestedRecord) -> tuple[str, list[Any]]:
        version, path, new = self.version_of(handle), self.path(), self.path()
        handle.rename_stream(path, new, version)
        return "rename_file", [version, path, new]

    def copy(self, handle: HarvestedRecord) -> tuple[str, list[Any]]:
        path, source, target = self.path(), self.version_of(handle), self.version_of(handle)
        handle.copy_file_between_versions(path, source, target)
        return "copy", [path, source, target]

    def clone(self, handle: HarvestedRecord) -> tuple[str, list[Any]]:
        source, new = self.version_of(handle), f"v{self.random.randrange(5)}"
        self.random.choice([handle.clone_version, handle.clone_version_delta])(source, new)
        return "clone", [source, new]

    def drop_version(self, handle: HarvestedRecord) -> tuple[str, list[Any]]:
        version = self.version_of(handle)
        handle.del_version(version)
        return "drop_version", [version]

    def rename_version(self, handle: HarvestedRecord) -> tuple[str, list[Any]]:
        version, new = self.version_of(handle), f"v{self.random.randrange(5)}"
        handle.rename_version(version, new)
        return "rename_version", [version, new]

    def set_note(self, handle: HarvestedRecord) -> tuple[str, list[Any]]:
        key, value = self.random.choice(["x", "y"]), self.unique()
        handle.metadata[key] = value
        handle.sync()
        return "note", [key, value]

    def count(self, handle: HarvestedRecord) -> tuple[str, list[Any]]:
        """One more than was read; only if nothing came between.

        A record made anew counts its revisions from 1 again. Should it be at the same
        one as the record that the handle knew, and at the same number already, then
        there is nothing to be written.
        """
        number, before = handle.metadata.get("count", 0) + 1, handle.revision
        handle.metadata["count"] = number
        handle.sync(if_revision=before)
        if handle.revision == before:
            raise RecordGone(handle.item_id, self.silo.path)
        return "count", [number]

    def delete(self, handle: HarvestedRecord) -> tuple[str, list[Any]]:
        self.silo.del_item(handle.item_id, if_revision=handle.revision)
        return "delete", []

    # -- several at once ----------------------------------------------------------------------

    def batch(self) -> None:
        begin = time.monotonic_ns()
        events: list[Event] = []
        chosen = self.random.sample(RECORDS, 4)
        with self.silo.batch(chosen) as batch:
            edits = [batch.edit(identifier) for identifier in chosen]
            for edit in edits:
                path, content = self.path(), self.unique()
                op, args = "create", [path, content]
                if edit.exists:
                    op, args = "put", [edit.manifest.current_version, path, content]
                else:
                    edit.add_version("1", date="2004-06-24", origin=Origin("local"))
                    edit.set_metadata("life", content)
                edit.put(edit.manifest.current_version, path, content.encode())
                events.append({"op": op, "args": args, "record": edit.identifier, "begin": begin})
        end = time.monotonic_ns()
        for edit, event in zip(edits, events, strict=True):
            found = edit.manifest
            seen = {"life": found.metadata["life"], "revision": found.revision, "end": end}
            self.note(event | seen)


def main() -> None:
    path, name, count, notes = sys.argv[1:]
    with Silo(path, create=False) as silo, open(notes, "w", encoding="utf-8") as file:
        writer = Writer(silo, name, lambda event: print(json.dumps(event), file=file))
        done = 0
        while done < int(count):
            done += writer.step()


if __name__ == "__main__":
    main()
