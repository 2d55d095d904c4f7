"""Write changes to disk; every change takes this path (docs/format-writing.md).

1. the pending work of the last commit is completed;
2. the next manifest is staged, new content of existing versions is moved beside its
   place under a staged name, and new versions are renamed into place, or written there
   from memory; readers see none of it, because no manifest lists it yet;
3. first barrier; then the staged manifest is renamed over the old one, which commits;
4. second barrier; then the renames and unlinks that the manifest lists as pending.
"""

import contextlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Protocol

from recordsilo.disk import atomic_file
from recordsilo.disk.atomic_file import Barrier, Staging
from recordsilo.disk.names import (
    DELETED_MANIFEST,
    MANIFEST_NAME,
    PREVIOUS_MANIFEST,
    STAGED_MANIFEST,
    STAGED_PREFIX,
    STAGED_SUFFIX,
    is_own,
    is_staged,
    version_dirname,
)
from recordsilo.errors import FileInTheWay, FileNotInVersion, ManifestUnreadable
from recordsilo.records.edit import RecordEdit
from recordsilo.records.manifest import Manifest, Pending, altered, is_frozen
from recordsilo.records.manifest_json import to_json
from recordsilo.records.place import RecordPlace

READ_ONLY = 0o444
"""Permissions of files that are kept as harvested; nothing relies on them."""


class _Committal:
    """The commit of one record, step by step."""

    def __init__(self, edit: RecordEdit) -> None:
        self.edit = edit
        self._staged_files: dict[str, str] = {}  # staged name below the record → file to move in
        self._staged_versions: dict[str, str] = {}  # directory below the record → the one to move
        self._held_versions: list[str] = []  # names of those held in memory
        self._moved_in: list[str] = []
        self._staging_begun = self._staging_done = False

    def prepare(self) -> None:
        """Steps 1 and 2: put everything on disk that the commit needs, listed nowhere yet."""
        directory = self.edit.place.dirpath
        if self.edit.before is None:
            make_place(self.edit.place, self.edit.barrier, self.edit.staging)
        else:
            self._sweep_broken_off(self.edit.before)
            finish_pending(self.edit.before, directory, self.edit.barrier, self.edit.staging)
            self._digest_what_2010_left()
            self._keep_previous()
        for _, target in self.edit.renames:
            self.edit.staging.discard(f"{directory}/{target}")
        self.edit.seal()
        pending = self._plan()
        if pending != self.edit.manifest.pending:
            self.edit.manifest = altered(self.edit.manifest, pending=pending)
        self._stage_manifest()
        self._move_files_in()
        self._move_versions_in()
        self._write_versions_in()

    def publish(self) -> None:
        """Step 3: the commit."""
        directory = self.edit.place.dirpath
        atomic_file.move(
            f"{directory}/{STAGED_MANIFEST}", f"{directory}/{MANIFEST_NAME}", self.edit.barrier
        )

    def finish(self) -> None:
        """Step 4: complete the manifest's pending work; a later writer repeats it if necessary.

        Then files that are kept as harvested from now on are made read-only, if this user
        may do that. It guards against editors; the store does not rely on it.
        """
        directory = self.edit.place.dirpath
        finish_pending(self.edit.manifest, directory, self.edit.barrier, self.edit.staging)
        written = frozenset(self._held_versions)  # read-only from the start, if frozen
        for path in newly_frozen(self.edit.before, self.edit.manifest, written):
            with contextlib.suppress(OSError):
                atomic_file.protect(f"{directory}/{path}")

    def roll_back(self) -> None:
        """Remove what `prepare` moved in; does nothing once published.

        If that fails, the staged manifest stays. It tells the next writer what to sweep,
        and readers that the record does not exist yet.
        """
        staged_manifest = f"{self.edit.place.dirpath}/{STAGED_MANIFEST}"
        if self._staging_done and not os.path.lexists(staged_manifest):
            return  # already renamed into place
        self.edit.discard()
        with contextlib.suppress(OSError):
            for path in self._moved_in:
                self.edit.staging.discard(path)
            if self._staging_begun:
                atomic_file.remove_tree(staged_manifest)
            if self.edit.before is None:
                atomic_file.prune_upwards(self.edit.place.dirpath, self.edit.place.root)

    def _sweep_broken_off(self, before: Manifest) -> None:
        """Remove what a killed writer had moved in for a manifest it never committed."""
        directory = self.edit.place.dirpath
        try:
            staged = self.edit.place.read_staged()
        except ManifestUnreadable:  # a power cut can lose it and keep later writes
            for path in _staged_files(directory, before):
                self.edit.staging.discard(path)
            return
        if staged is None or staged.revision != before.revision + 1:
            return
        names = [version_dirname(n) for n in staged.version_names if not before.has(n)]
        names += [source for source, _ in staged.pending.renames if _is_staged_place(source)]
        for name in names:
            self.edit.staging.discard(f"{directory}/{name}")
        for _, target in staged.pending.renames:
            _prune_what_never_came(directory, target, before)

    def _keep_previous(self) -> None:
        """Give the manifest that is about to be replaced a second name.

        Both names then have the same file; the barrier flushes them with the directory.
        """
        directory = self.edit.place.dirpath
        previous = f"{directory}/{PREVIOUS_MANIFEST}"
        try:
            atomic_file.duplicate(f"{directory}/{MANIFEST_NAME}", previous)
        except FileExistsError:
            atomic_file.remove_tree(previous)
            atomic_file.duplicate(f"{directory}/{MANIFEST_NAME}", previous)

    def _digest_what_2010_left(self) -> None:
        for version in self.edit.manifest.versions:
            digests = version.digests or {}
            if None not in digests.values():  # as of nearly all
                continue
            for path in [path for path, digest in digests.items() if digest is None]:
                with (
                    contextlib.suppress(FileNotInVersion),
                    self.edit.place.open(self.edit.manifest, version.name, path) as file,
                ):
                    digest = atomic_file.digest_of(file)
                    listed = self.edit.manifest.version(version.name)
                    self.edit.manifest = self.edit.manifest.with_version(
                        listed.with_file(path, digest, metadata=None)
                    )

    def _plan(self) -> Pending:
        """Where the staged files and versions are moved to, and what is pending afterwards."""
        renames = list(self.edit.renames)
        for target, staged in self.edit.arrivals.items():
            beside = f"{target.partition('/')[0]}/{_staged_name(staged)}"
            self._staged_files[beside] = staged
            renames.append((beside, target))
        for version, directory in self.edit.new_versions.items():
            place = version_dirname(version)
            if self.edit.before is not None and self.edit.before.has(version):  # replaces it
                grown = self.edit.grow(version)
                beside = version_dirname(_staged_name(grown))
                renames.append((beside, place))
                self._staged_versions[beside] = grown
            elif directory is None:
                self._held_versions.append(version)
            else:
                self._staged_versions[place] = directory
        removals = (_removal(self.edit.place.dirpath, path) for path in self.edit.removals)
        return Pending(tuple(renames), tuple(entry for entry in removals if entry))

    def _stage_manifest(self) -> None:
        content = to_json(self.edit.manifest)
        self._staging_begun = True
        stage_manifest(self.edit.place, content, self.edit.barrier)
        self._staging_done = True

    def _move_files_in(self) -> None:
        directory = self.edit.place.dirpath
        for version in {beside.partition("/")[0] for beside in self._staged_files}:
            if os.path.islink(f"{directory}/{version}"):
                raise self._in_the_way(version)
            atomic_file.make_directories(f"{directory}/{version}", directory, self.edit.barrier)
            self._sweep_staged(f"{directory}/{version}")
        for beside, staged in self._staged_files.items():
            self._moved_in.append(f"{directory}/{beside}")
            atomic_file.move(staged, f"{directory}/{beside}", self.edit.barrier)
        for target in self.edit.arrivals:
            self._clear_way(target)

    def _clear_way(self, target: str) -> None:
        """Make sure that nothing on disk makes the later rename to ``target`` fail."""
        version = f"{self.edit.place.dirpath}/{target.partition('/')[0]}"
        place = f"{self.edit.place.dirpath}/{target}"
        parent = os.path.dirname(place)
        if parent != version:
            try:
                atomic_file.make_directories(parent, version, self.edit.barrier)
            except (FileExistsError, NotADirectoryError):
                raise self._in_the_way(target) from None
            if not os.path.realpath(parent).startswith(os.path.realpath(version) + "/"):
                raise self._in_the_way(target)
        is_directory = os.path.isdir(place) and not os.path.islink(place)
        if is_directory and not atomic_file.remove_empty_tree(place):
            raise self._in_the_way(target)

    def _in_the_way(self, target: str) -> FileInTheWay:
        version, _, path = target.partition("/")
        return FileInTheWay(self.edit.identifier, version.removeprefix("__"), path or version)

    def _sweep_staged(self, directory: str) -> None:
        with os.scandir(directory) as entries:
            leftovers = [entry.path for entry in entries if is_staged(entry.name)]
        for path in leftovers:
            atomic_file.unlink(path, self.edit.barrier)

    def _move_versions_in(self) -> None:
        for place, staged in self._staged_versions.items():
            target = f"{self.edit.place.dirpath}/{place}"
            self._flush_tree(staged)
            self.edit.staging.discard(target)  # if it exists, no manifest lists it
            self._moved_in.append(target)
            atomic_file.move(staged, target, self.edit.barrier)
            self.edit.barrier.directory_changed(target)

    def _write_versions_in(self) -> None:
        directory = self.edit.place.dirpath
        for version in self._held_versions:
            target = f"{directory}/{version_dirname(version)}"
            self._moved_in.append(target)
            files, barrier = self.edit.held_files(version), self.edit.barrier
            mode = READ_ONLY if is_frozen(self.edit.manifest, version) else 0o644
            try:
                atomic_file.write_version(target, files, barrier, mode)
            except FileExistsError:
                self.edit.staging.discard(target)  # no manifest lists it
                atomic_file.write_version(target, files, barrier, mode)
            self.edit.barrier.directory_changed(directory)

    def _flush_tree(self, directory: str) -> None:
        if isinstance(self.edit.barrier, atomic_file.StrictBarrier):
            for below, _, _ in os.walk(directory):
                atomic_file.flush_directory(below)


def make_place(place: RecordPlace, barrier: Barrier, staging: Staging) -> None:
    """Create a new record's directory; an existing one may hold leftovers of a stopped writer."""
    if not atomic_file.make_directories(place.dirpath, place.root, barrier):
        sweep_absent(place, staging)
        atomic_file.make_directories(place.dirpath, place.root, barrier)
    name_all_directories(place, barrier)


def name_all_directories(place: RecordPlace, barrier: Barrier) -> None:
    """Flush a new record's whole path, as another writer may have just created its parents.

    A group's barrier flushes the whole file system, and needs no names.
    """
    if not isinstance(barrier, atomic_file.StrictBarrier):
        return
    path = place.dirpath
    while path != place.root:
        barrier.directory_changed(path)
        path = os.path.dirname(path)
    barrier.directory_changed(path)


def stage_manifest(place: RecordPlace, content: bytes, barrier: Barrier) -> None:
    """Write a manifest that no reader sees yet."""
    directory = place.dirpath
    for _ in range(100):
        try:
            atomic_file.write_over(f"{directory}/{STAGED_MANIFEST}", content, barrier)
            break
        except FileNotFoundError:  # another deletion pruned the still empty directory
            atomic_file.make_directories(directory, place.root, barrier)
    barrier.directory_changed(directory)


def newly_frozen(
    before: Manifest | None, after: Manifest, written: Collection[str] = ()
) -> Iterator[str]:
    """Files of versions that a change freezes, including files added to a frozen version.

    A frozen version is kept as harvested.

    Args:
        written: Versions to leave out.
    """
    for version in after.versions:
        if version.name in written or not is_frozen(after, version.name):
            continue
        known: Iterable[str] = ()
        if before is not None and _was_settled(before, after, version.name):
            known = frozenset(before.version(version.name).paths)
        yield from (
            f"{version_dirname(version.name)}/{path}" for path in version.paths if path not in known
        )


def _was_settled(before: Manifest, after: Manifest, name: str) -> bool:
    """Whether a frozen version's files are read-only already, as far as that was possible.

    Earlier releases stored them writable, and protected them when a later version was made.
    """
    if not before.has(name) or not is_frozen(before, name):
        return False
    return before.versions[-1].name != name or after.versions[-1].name == name


def _staged_name(staged: str) -> str:
    """A unique name under which a staged file or directory is moved in."""
    directory, _, name = staged.rpartition("/")
    return f"{STAGED_PREFIX}{os.path.basename(directory)}-{name}{STAGED_SUFFIX}"


def _is_staged_place(path: str) -> bool:
    return is_staged(path.rpartition("/")[2].removeprefix("__"))


def _removal(directory: str, path: str) -> tuple[str, int, int] | None:
    try:
        found = os.lstat(f"{directory}/{path}")
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISDIR(found.st_mode):
        return (path, -1, -1)
    return (path, found.st_size, found.st_mtime_ns)


def _staged_files(directory: str, before: Manifest) -> list[str]:
    """Staged files in a record that are not part of its manifest's pending work."""
    pending = {source for source, _ in before.pending.renames}
    places = ["", *(f"{version_dirname(name)}/" for name in before.version_names)]
    found = []
    for place in places:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found += [place + name for name in os.listdir(f"{directory}/{place}")]
    return [
        f"{directory}/{path}" for path in found if _is_staged_place(path) and path not in pending
    ]


def _prune_what_never_came(directory: str, target: str, before: Manifest) -> None:
    """Remove the empty directories made for a file that did not arrive."""
    version, _, path = target.partition("/")
    name = version.removeprefix("__")
    listed = before.version(name).subdir if before.has(name) else ()
    if "/" in path and path.partition("/")[0] not in listed:
        parent = os.path.dirname(f"{directory}/{target}")
        atomic_file.prune_upwards(parent, f"{directory}/{version}")


def finish_pending(manifest: Manifest, directory: str, barrier: Barrier, staging: Staging) -> None:
    """Complete the pending work of a manifest; work already done is skipped.

    Args:
        manifest: As committed.
        directory: The record's directory.
        barrier: Notes which directories change.
        staging: Where removed versions are moved to and deleted.
    """
    for source, target in manifest.pending.renames:
        if "/" not in target and os.path.lexists(f"{directory}/{source}"):
            staging.discard(f"{directory}/{target}")  # the version it replaces
        with contextlib.suppress(FileNotFoundError):
            atomic_file.move(f"{directory}/{source}", f"{directory}/{target}", barrier)
        barrier.directory_changed(os.path.dirname(f"{directory}/{target}"))
    for path, size, mtime in manifest.pending.unlinks:
        barrier.directory_changed(os.path.dirname(f"{directory}/{path}"))
        if _removal(directory, path) != (path, size, mtime):
            continue
        if size >= 0:
            atomic_file.unlink(f"{directory}/{path}", barrier)
        elif "/" in path:  # keep what was put there since
            atomic_file.remove_empty_tree(f"{directory}/{path}")
        elif not any(path == version_dirname(name) for name in manifest.version_names):
            staging.discard(f"{directory}/{path}")


class Step(Protocol):
    """The commit of one record, in the steps of `commit`."""

    def prepare(self) -> None:
        """Put everything on disk that the commit needs, listed nowhere yet."""

    def publish(self) -> None:
        """Rename the manifest, which commits."""

    def finish(self) -> None:
        """Do what the manifest lists as pending."""

    def roll_back(self) -> None:
        """Remove what `prepare` moved in; does nothing once published."""


def commit(changes: Sequence[RecordEdit | Step], barrier: Barrier) -> None:
    """Commit the changes of several records as one group, under their locks.

    Args:
        changes: The edits of records, and new ones that know their steps.
        barrier: Flushed before and after the manifests are renamed.

    Raises:
        OSError: A disk operation failed. Before the first barrier, all records are
            unchanged. After it, those whose manifest was renamed are in their new state,
            which may not be on the medium yet.
    """
    steps = [_Committal(one) if isinstance(one, RecordEdit) else one for one in changes]
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
    """Delete a record, under its lock; the rename of its manifest commits.

    Records nested below its directory stay.

    Args:
        barrier: Flushed between the rename and the deletion.
        staging: Where its versions are moved to and deleted.
    """
    directory = place.dirpath
    marker = f"{directory}/{DELETED_MANIFEST}"
    atomic_file.move(f"{directory}/{MANIFEST_NAME}", marker, barrier)
    barrier.flush()
    sweep_absent(place, staging)


def sweep_absent(place: RecordPlace, staging: Staging) -> None:
    """Remove what a deletion or an interrupted creation left of a record; under its lock."""
    directory = place.dirpath
    marks = (STAGED_MANIFEST, DELETED_MANIFEST)
    try:
        names = os.listdir(directory)
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in [name for name in names if is_own(name) and name not in marks]:
        staging.discard(f"{directory}/{name}")
    for mark in marks:  # last, because they show that the rest is not a record
        atomic_file.remove_tree(f"{directory}/{mark}")
    atomic_file.prune_upwards(directory, place.root)
