"""Feed the index of all Silos with what changed in each Silo since it was last fed.

Killed at any moment, the next feeding continues where the last commit was. A damaged index, or
one of another release, is rebuilt; until the new one is whole, the old one answers.
"""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from recordsilo import Granary
from recordsilo.disk import atomic_file
from recordsilo.disk.locks import Locks
from recordsilo.errors import RecordSiloError
from silofleet.search.errors import FeedingBusy, IndexNotWritten, IndexUnusable
from silofleet.search.index import (
    Opened,
    fields_of_packages,
    key_of,
    loaded,
    place_of,
    translated_errors,
)
from silofleet.search.values import Missing

_MEMORY = 128 << 20
"""Bytes of documents that tantivy gathers before it writes them."""
_COMMIT_AFTER = 100_000
"""Documents; a kill costs feeding so many again."""
_NEW, _OLD = ".new", ".old"

Progress = Callable[[int], None]
"""Takes the number of records fed so far."""


@dataclass(slots=True)
class Fed:
    """What a feeding did.

    Attributes:
        silos: Those that were looked at.
        changed: Those of them that had changed.
        written, removed: Records.
        anew: Why the whole index was rebuilt; empty if it was not.
        missing: Silos that could not be read; what the index had of them, it has still.
    """

    silos: int = 0
    changed: int = 0
    written: int = 0
    removed: int = 0
    anew: str = ""
    missing: tuple[Missing, ...] = ()


def feed(
    granary: Granary, *, only: str = "", rebuild: bool = False, progress: Progress | None = None
) -> Fed:
    """Bring the index of all Silos in step; it is made if there is none.

    Args:
        only: The Silo that is looked at; by default all.
        rebuild: Whether to make it again from all records.
        progress: Called now and then.

    Raises:
        FeedingBusy: Another process feeds it.
        IndexNotWritten: It cannot be written, for example because the disk is full.
        PackageMissing: tantivy is not installed.
        OSError: The directory cannot be written.
    """
    loaded()  # first, so that a feeding that is impossible leaves no directory
    path = place_of(granary.dir_of_silos)
    parent = os.path.dirname(path)
    atomic_file.make_parents(f"{path}/x")
    with Locks(parent).hold_name_if_free("feeding.lock") as free:
        if not free:
            raise FeedingBusy(path)
        _sweep(path)
        why = "asked for" if rebuild else ""
        if not why:
            try:
                opened = Opened(path, create=True)
            except IndexUnusable as error:
                why = error.reason
            else:
                lacking = sorted({"changed", *fields_of_packages()} - opened.fields)
                if not lacking:
                    return _Feeder(granary, opened, progress, only).run()
                why = f"it has no field {lacking[0]!r} yet"
        return _anew(granary, path, why, progress)


def _anew(granary: Granary, path: str, why: str, progress: Progress | None) -> Fed:
    """Make the index again beside the old one, and put it in its place."""
    os.mkdir(path + _NEW)
    try:
        with _not_written():
            opened = Opened(path + _NEW, create=True)
        fed = _Feeder(granary, opened, progress).run()
    except BaseException:
        shutil.rmtree(path + _NEW)
        raise
    os.rename(path, path + _OLD)
    os.rename(path + _NEW, path)
    atomic_file.flush_directory(os.path.dirname(path))
    _sweep(path)
    fed.anew = why
    return fed


@contextlib.contextmanager
def _not_written() -> Iterator[None]:
    """Raise what goes wrong with an index that is sound as `IndexNotWritten`."""
    try:
        yield
    except IndexUnusable as error:
        disk = os.statvfs(os.path.dirname(error.path))
        free = disk.f_bavail * disk.f_frsize
        raise IndexNotWritten(error.path, error.reason, free) from error


def _sweep(path: str) -> None:
    """Delete what a killed rebuild left, and the indexes of other releases."""
    parent, own = os.path.split(path)
    if not os.listdir(path) and os.path.isdir(path + _OLD):
        os.rmdir(path)  # killed between the two renames
        os.rename(path + _OLD, path)
    for name in os.listdir(parent):
        if name != own and os.path.isdir(place := os.path.join(parent, name)):
            shutil.rmtree(place)


class _Feeder:
    def __init__(
        self, granary: Granary, opened: Opened, progress: Progress | None, only: str = ""
    ) -> None:
        self._only = only
        self._granary, self._opened, self._progress = granary, opened, progress
        self._fed = Fed()
        self._waiting = 0

    def run(self) -> Fed:
        with _not_written():
            return self._run()

    def _run(self) -> Fed:
        fed, names = self._fed, self._granary.silos
        missing: list[Missing] = []
        with translated_errors(self._opened.path):
            writer = self._opened.index.writer(_MEMORY, 1)
            try:
                writer.garbage_collect_files()  # a killed one may have left files in the way
                for name in sorted({*self._opened.marks} - {*names}):
                    self._forget(writer, name)
                    fed.changed += 1
                for name in (one for one in names if self._only in ("", one)):
                    fed.silos += 1
                    try:
                        self._feed_one(writer, name)
                    except IndexUnusable:
                        raise
                    except (RecordSiloError, OSError) as error:
                        missing.append(Missing(name, str(error)))
                self._commit(writer)
            finally:
                writer.wait_merging_threads()
        fed.missing = tuple(missing)
        return fed

    def _feed_one(self, writer: Any, name: str) -> None:
        mark = self._opened.marks.get(name, "")
        with self._granary.get_silo(name, create=False) as silo:
            changes = silo.changes(mark)
            if changes.mark == mark:
                return
            self._fed.changed += 1
            if changes.is_whole:
                self._forget(writer, name)
            for number in changes.gone:
                writer.delete_documents_by_term("key", key_of(name, number))
                self._fed.removed += 1
            for number, entry in silo.changed_entries(changes):
                if not changes.is_whole:
                    writer.delete_documents_by_term("key", key_of(name, number))
                writer.add_document(self._opened.document(name, number, entry))
                self._fed.written += 1
                self._waiting += 1
                if self._waiting >= _COMMIT_AFTER:
                    self._commit(writer)
                if self._progress and self._fed.written % 1000 == 0:
                    self._progress(self._fed.written)
        writer.delete_documents_by_term("key", key_of(name))
        writer.add_document(self._opened.mark(name, changes.mark))
        if self._progress:
            self._progress(self._fed.written)

    @staticmethod
    def _forget(writer: Any, name: str) -> None:
        """Remove the records of a Silo, and its mark."""
        writer.delete_documents_by_term("silo", name)
        writer.delete_documents_by_term("key", key_of(name))

    def _commit(self, writer: Any) -> None:
        writer.commit()
        self._waiting = 0
