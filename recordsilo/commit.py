"""How a change is written: the one path of every change (docs/format.md, section of that name).

1. what the last commit left pending is carried out;
2. new versions are renamed in, new content of existing versions is moved beside
   its place under a staged name, and the next manifest is staged: nothing of it is
   listed, so none of it exists yet;
3. first barrier; then the staged manifest is renamed over the old: the commit;
4. second barrier; then the renames and unlinks that the manifest calls pending.
"""

import contextlib
import os
import stat
from collections.abc import Sequence
from dataclasses import replace

from recordsilo import atomic_file
from recordsilo.atomic_file import Barrier, Staging
from recordsilo.edit import RecordEdit
from recordsilo.errors import FileInTheWay, FileNotInVersion
from recordsilo.manifest import FORMAT, Manifest, Pending
from recordsilo.manifest_json import to_json
from recordsilo.names import (
    DELETED_MANIFEST,
    MANIFEST_NAME,
    STAGED_MANIFEST,
    STAGED_PREFIX,
    STAGED_SUFFIX,
    is_staged,
    version_dirname,
)
from recordsilo.place import RecordPlace


class _Committal:
    """One record's way through the steps."""

    def __init__(self, edit: RecordEdit) -> None:
        self.edit = edit
        self._moved_in: list[str] = []
        self._published = False

    def prepare(self) -> None:
        """Steps 1 and 2: everything on disk that the commit needs, none of it listed."""
        directory = self.edit.place.dirpath
        if self.edit.before is None:
            atomic_file.make_directories(directory, self.edit.place.root, self.edit.barrier)
            self._name_all_directories()
            self._sweep_unfinished()
        else:
            finish_pending(self.edit.before, directory, self.edit.barrier, self.edit.staging)
            self._digest_what_2010_left()
        for target in [target for _, target in self.edit.renames]:
            self.edit.staging.discard(f"{directory}/{target}")
        pending = self._move_arrivals_in()
        self.edit.manifest = replace(
            self.edit.manifest,
            revision=(self.edit.before.revision if self.edit.before else 0) + 1,
            format=FORMAT,
            pending=pending,
        )
        self._stage_manifest()
        self._move_directories_in()

    def publish(self) -> None:
        """Step 3: the commit."""
        directory = self.edit.place.dirpath
        atomic_file.move(
            f"{directory}/{STAGED_MANIFEST}", f"{directory}/{MANIFEST_NAME}", self.edit.barrier
        )
        self._published = True

    def finish(self) -> None:
        """Step 4: what the manifest calls pending; a later writer repeats it if need be."""
        finish_pending(
            self.edit.manifest, self.edit.place.dirpath, self.edit.barrier, self.edit.staging
        )

    def roll_back(self) -> None:
        """Remove what `prepare` moved in; nothing to do once published."""
        if self._published:
            return
        self.edit.discard()
        for path in self._moved_in:
            with contextlib.suppress(OSError):
                self.edit.staging.discard(path)
        with contextlib.suppress(OSError):
            atomic_file.remove_tree(f"{self.edit.place.dirpath}/{STAGED_MANIFEST}")
            if self.edit.before is None:
                atomic_file.prune_upwards(self.edit.place.dirpath, self.edit.place.root)

    def _name_all_directories(self) -> None:
        """A new record's whole path is flushed: another writer may have made parents just now."""
        path = self.edit.place.dirpath
        while path != self.edit.place.root:
            self.edit.barrier.directory_changed(path)
            path = os.path.dirname(path)
        self.edit.barrier.directory_changed(path)

    def _sweep_unfinished(self) -> None:
        """Versions left by a killed creation or deletion of this record."""
        with os.scandir(self.edit.place.dirpath) as entries:
            leftovers = [entry.path for entry in entries if entry.name.startswith("__")]
        for path in sorted(leftovers):  # the mark of the unfinished work goes last
            if not path.endswith((STAGED_MANIFEST, DELETED_MANIFEST)):
                self.edit.staging.discard(path)
        atomic_file.unlink(f"{self.edit.place.dirpath}/{DELETED_MANIFEST}", self.edit.barrier)

    def _digest_what_2010_left(self) -> None:
        for version in self.edit.manifest.versions:
            for path in [p for p, digest in (version.digests or {}).items() if digest is None]:
                with (
                    contextlib.suppress(FileNotInVersion),
                    self.edit.place.open(self.edit.manifest, version.name, path) as file,
                ):
                    digest = atomic_file.digest_of(file)
                    listed = self.edit.manifest.version(version.name)
                    self.edit.manifest = self.edit.manifest.with_version(
                        listed.with_file(path, digest, metadata=None)
                    )

    def _move_arrivals_in(self) -> Pending:
        directory = self.edit.place.dirpath
        renames = list(self.edit.renames)
        swept: set[str] = set()
        for number, (target, staged) in enumerate(self.edit.arrivals.items()):
            version = target.partition("/")[0]
            if version not in swept:
                swept.add(version)
                atomic_file.make_directories(f"{directory}/{version}", directory, self.edit.barrier)
                self._sweep_staged(f"{directory}/{version}")
            beside = f"{version}/{STAGED_PREFIX}{os.path.basename(staged)}-{number}{STAGED_SUFFIX}"
            atomic_file.move(staged, f"{directory}/{beside}", self.edit.barrier)
            self._moved_in.append(f"{directory}/{beside}")
            self._clear_way(f"{directory}/{version}", f"{directory}/{target}")
            renames.append((beside, target))
        removals = (_removal(directory, path) for path in self.edit.removals)
        return Pending(tuple(renames), tuple(entry for entry in removals if entry))

    def _clear_way(self, version_directory: str, target: str) -> None:
        """See that the later rename to ``target`` cannot fail for what lies on the disk."""
        parent = os.path.dirname(target)
        try:
            if parent != version_directory:
                atomic_file.make_directories(parent, version_directory, self.edit.barrier)
                inside = os.path.realpath(version_directory) + "/"
                if not os.path.realpath(parent).startswith(inside):
                    raise NotADirectoryError(parent)
            if os.path.isdir(target) and not os.path.islink(target):
                os.rmdir(target)
        except OSError:
            version = os.path.basename(version_directory).removeprefix("__")
            path = target.removeprefix(version_directory + "/")
            raise FileInTheWay(self.edit.identifier, version, path) from None

    def _sweep_staged(self, directory: str) -> None:
        with os.scandir(directory) as entries:
            leftovers = [entry.path for entry in entries if is_staged(entry.name)]
        for path in leftovers:
            atomic_file.unlink(path, self.edit.barrier)

    def _stage_manifest(self) -> None:
        directory = self.edit.place.dirpath
        content = to_json(self.edit.manifest)
        for _ in range(100):
            try:
                atomic_file.write_over(f"{directory}/{STAGED_MANIFEST}", content, self.edit.barrier)
                break
            except FileNotFoundError:  # a deletion nearby pruned the still empty directory
                atomic_file.make_directories(directory, self.edit.place.root, self.edit.barrier)
        self.edit.barrier.directory_changed(directory)

    def _move_directories_in(self) -> None:
        for version, staged in self.edit.new_directories.items():
            target = f"{self.edit.place.dirpath}/{version_dirname(version)}"
            self._flush_tree(staged)
            try:
                atomic_file.move(staged, target, self.edit.barrier)
            except OSError:  # a killed writer left one there that no manifest lists
                self.edit.staging.discard(target)
                atomic_file.move(staged, target, self.edit.barrier)
            self._moved_in.append(target)
            self.edit.barrier.directory_changed(target)

    def _flush_tree(self, directory: str) -> None:
        if isinstance(self.edit.barrier, atomic_file.StrictBarrier):
            for below, _, _ in os.walk(directory):
                atomic_file.flush_directory(below)


def _removal(directory: str, path: str) -> tuple[str, int, int] | None:
    try:
        found = os.lstat(f"{directory}/{path}")
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        return (path, -1, -1)
    return (path, found.st_size, found.st_mtime_ns)


def finish_pending(manifest: Manifest, directory: str, barrier: Barrier, staging: Staging) -> None:
    """Carry out what a manifest calls pending; done already is no error."""
    for source, target in manifest.pending.renames:
        with contextlib.suppress(FileNotFoundError):
            atomic_file.move(f"{directory}/{source}", f"{directory}/{target}", barrier)
        barrier.directory_changed(os.path.dirname(f"{directory}/{target}"))
    for path, size, mtime in manifest.pending.unlinks:
        if _removal(directory, path) != (path, size, mtime):
            continue
        if size >= 0:
            atomic_file.unlink(f"{directory}/{path}", barrier)
        elif "/" in path:
            with contextlib.suppress(OSError):  # somebody put a file there since
                os.rmdir(f"{directory}/{path}")
        elif not any(path == version_dirname(name) for name in manifest.version_names):
            staging.discard(f"{directory}/{path}")


def commit(edits: Sequence[RecordEdit], barrier: Barrier) -> None:
    """Commit some records' edits as one group, under their locks.

    Raises:
        OSError: The disk refused. Before the first barrier passed, all records are as
            they were. Later, those whose manifest was renamed are in their new state,
            which is not known to be on the medium.
    """
    steps = [_Committal(edit) for edit in edits]
    try:
        for step in steps:
            step.prepare()
        barrier.flush()
        for step in steps:
            step.publish()
    except BaseException:
        for step in steps:
            step.roll_back()
        raise
    barrier.flush()
    for step in steps:
        step.finish()


def delete_record(place: RecordPlace, barrier: Barrier, staging: Staging) -> None:
    """Delete a record, under its lock: the rename of its manifest is the commit.

    Records nested below its directory stay.
    """
    directory = place.dirpath
    marker = f"{directory}/{DELETED_MANIFEST}"
    atomic_file.move(f"{directory}/{MANIFEST_NAME}", marker, barrier)
    barrier.flush()
    with os.scandir(directory) as entries:
        names = sorted(entry.name for entry in entries if entry.name.startswith("__"))
    for name in names:
        if name != DELETED_MANIFEST:
            staging.discard(f"{directory}/{name}")
    atomic_file.unlink(marker, barrier)
    atomic_file.prune_upwards(directory, place.root)
