"""The creation of a record whose manifest is already made, with the steps of `commit`.

It does to the disk what the edit of such a record would, in the same order, but needs no values
in between. Most records of a first harvest are made so.
"""

import contextlib
import os
from typing import Any, NamedTuple

from recordsilo.disk import atomic_file
from recordsilo.disk.atomic_file import Barrier, Staging
from recordsilo.disk.names import MANIFEST_NAME, STAGED_MANIFEST, version_dirname
from recordsilo.records.commit import (
    READ_ONLY,
    make_place,
    name_all_directories,
    stage_manifest,
)
from recordsilo.records.edit import RecordEdit
from recordsilo.records.manifest_json import from_json
from recordsilo.records.place import RecordPlace

_DIRECTORY = version_dirname("1")


class FirstState(NamedTuple):
    """A new record with one harvested version, ``1``, which has one file.

    Attributes:
        manifest: Its bytes, as they are written.
        path: The file's path, without directories.
        content: The file's bytes.
        row: What the index stores of it, without the stamp of its manifest.
    """

    manifest: bytes
    path: str
    content: bytes
    row: Any


class Creation:
    """Creates one record, step by step; see `recordsilo.records.commit`.

    Attributes:
        state: What is written.
        stamp: Time, size and inode of the manifest, once it is prepared.

    Args:
        place: The record's place, which was vacant under its lock.
        state: See the attribute.
        staging: Where remains of stopped writers are moved to.
        barrier: Makes the files durable.
    """

    def __init__(
        self, place: RecordPlace, state: FirstState, staging: Staging, barrier: Barrier
    ) -> None:
        self._place, self.state = place, state
        self._staging, self._barrier = staging, barrier
        self._is_begun = self._is_done = False
        self.stamp = (0, 0, 0)

    @property
    def identifier(self) -> str:
        """The record's identifier."""
        return self._place.identifier

    def as_edit(self) -> RecordEdit:
        """The edit that would create the same record."""
        manifest = from_json(self.state.manifest, MANIFEST_NAME)
        contents = {self.state.path: self.state.content}
        return RecordEdit.of_new(self._place, manifest, contents, self._staging, self._barrier)

    changed = True
    """See `RecordEdit.changed`."""

    def seal(self) -> None:
        """The state is final."""

    def discard(self) -> None:
        """Nothing is on disk before `prepare`."""

    def prepare(self) -> None:
        """Write the record, with its manifest under the staged name."""
        place, barrier = self._place, self._barrier
        is_new = atomic_file.make_directories(place.dirpath, place.root, barrier)
        name_all_directories(place, barrier)
        self._is_begun = True
        found = (self._written() if is_new else None) or self._written_anew()
        barrier.directory_changed(place.dirpath)
        self._is_done = True
        self.stamp = (found.st_mtime_ns, found.st_size, found.st_ino)

    def _written(self) -> os.stat_result | None:
        """Write into the new directory; None if something is in the way, or it is gone again."""
        directory, state = self._place.dirpath, self.state
        try:
            return atomic_file.write_record(
                (f"{directory}/{STAGED_MANIFEST}", state.manifest),
                (f"{directory}/{_DIRECTORY}/{state.path}", state.content),
                self._barrier,
                READ_ONLY,
            )
        except (FileExistsError, FileNotFoundError):
            return None

    def _written_anew(self) -> os.stat_result:
        """Sweep what a stopped writer left, and write as an edit does."""
        place, barrier, state = self._place, self._barrier, self.state
        make_place(place, barrier, self._staging)
        stage_manifest(place, state.manifest, barrier)
        files = [(state.path, state.content)]
        atomic_file.write_version(f"{place.dirpath}/{_DIRECTORY}", files, barrier, READ_ONLY)
        return os.stat(f"{place.dirpath}/{STAGED_MANIFEST}")

    def publish(self) -> None:
        """Rename the manifest, which commits."""
        directory = self._place.dirpath
        staged = f"{directory}/{STAGED_MANIFEST}"
        atomic_file.move(staged, f"{directory}/{MANIFEST_NAME}", self._barrier)

    def finish(self) -> None:
        """Nothing is pending, and the file is read-only from the start."""

    def roll_back(self) -> None:
        """Remove what was written; does nothing once published."""
        directory = self._place.dirpath
        staged = f"{directory}/{STAGED_MANIFEST}"
        if self._is_done and not os.path.lexists(staged):
            return
        with contextlib.suppress(OSError):
            if self._is_begun:
                self._staging.discard(f"{directory}/{_DIRECTORY}")
                atomic_file.remove_tree(staged)
            atomic_file.prune_upwards(directory, self._place.root)
