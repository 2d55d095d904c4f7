"""RecordEdit: a record's next state, built under its lock; `commit` writes it.

Nothing here is visible to a reader: files of new versions are held in memory or in the
staging directory, and changes to files of existing versions are only noted.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, BinaryIO

from recordsilo.disk import atomic_file
from recordsilo.disk.atomic_file import Barrier, Staged, Staging
from recordsilo.disk.digest import Digest
from recordsilo.disk.names import (
    MANIFEST_NAME,
    check_path,
    check_version_name,
    version_dirname,
)
from recordsilo.disk.stamps import modified
from recordsilo.errors import (
    DirectoryNotEmpty,
    FileDamaged,
    FileInTheWay,
    FileNotInVersion,
    FormatTooNew,
    VersionExists,
    VersionFrozen,
    VersionStateError,
)
from recordsilo.formats.documents import DocumentBytes
from recordsilo.records.history import history_after
from recordsilo.records.manifest import (
    FORMAT,
    STATES,
    Manifest,
    Origin,
    Version,
    altered,
    date_text,
    is_frozen,
    now_text,
)
from recordsilo.records.manifest_plain import DEEPEST, is_deep
from recordsilo.records.place import RecordPlace

_SMALL = 64 << 10
"""Bytes up to which a file that was read is kept, because it may be read for the index too."""


class RecordEdit:
    """One record's next state, built under its lock; nothing is visible until `commit`.

    Attributes:
        manifest: The state so far. It starts as `before`, or without versions for a
            record that does not exist yet.
        before: The manifest read under the lock, or None.
        agent: Who makes the changes that name nobody.
        new_versions: Name → the staging directory that its files are written to; None while
            all its files are held in memory (`held_files`).

    Args:
        before: See the attribute.
        staging: Where files are staged.
        barrier: Makes the staged files durable.

    Raises:
        FormatTooNew: A later release wrote the record.
    """

    def __init__(
        self,
        place: RecordPlace,
        before: Manifest | None,
        staging: Staging,
        barrier: Barrier,
    ) -> None:
        if before is not None and before.format > FORMAT:
            raise FormatTooNew(place.identifier, before.format, FORMAT)
        self.place, self.before = place, before
        self.manifest = before or Manifest(item_id=place.identifier, date="", revision=1)
        self.staging, self.barrier = staging, barrier
        self.agent = ""
        self.new_versions: dict[str, str | None] = {}
        self.arrivals: dict[str, str] = {}  # target below the record → staged file
        self.renames: list[tuple[str, str]] = []
        self.removals: dict[str, None] = {}
        self._contents: dict[tuple[str, str], bytes] = {}
        self._retyped = False
        self._moment = ""

    @classmethod
    def of_new(
        cls,
        place: RecordPlace,
        manifest: Manifest,
        contents: Mapping[str, bytes],
        staging: Staging,
        barrier: Barrier,
    ) -> "RecordEdit":
        """The edit that creates a record with one version, whose whole state is known.

        It is the same as that of `add_version`, `put` and `set_metadata`, in a fraction of
        the time.

        Args:
            place: The record's place, without a record.
            manifest: Its state, with the digests of its files.
            contents: The path of each file → its content.
            staging, barrier: See `RecordEdit`.
        """
        edit = cls(place, None, staging, barrier)
        name = manifest.current_version
        edit.manifest = manifest
        edit.new_versions[name] = None
        edit._contents = {(name, check_path(path)): held for path, held in contents.items()}
        return edit

    def as_edit(self) -> "RecordEdit":
        """Itself; see `Creation.as_edit`."""
        return self

    @property
    def identifier(self) -> str:
        """The record's identifier."""
        return self.place.identifier

    @property
    def exists(self) -> bool:
        """Whether the record was there before this edit."""
        return self.before is not None

    @property
    def changed(self) -> bool:
        """Whether there is anything to commit; a record needs a version to exist."""
        if self.before is None:
            return bool(self.manifest.versions)
        return self.manifest != self.before or self._retyped

    def seal(self) -> None:
        """Set the revision, the format and the time that the state is written with.

        The time is that of the first call: what is indexed says the same as what is written.
        """
        revision = (self.before.revision if self.before else 0) + 1
        self._moment = self._moment or time_of_change()
        found = (self.manifest.revision, self.manifest.format, self.manifest.changed)
        if found != (revision, FORMAT, self._moment):
            history = self.manifest.history
            if self.before is not None:
                path = f"{self.place.dirpath}/{MANIFEST_NAME}"
                written = "" if self.before.changed else modified(path)
                sealed = revision, self._moment
                history = history_after(self.before, self.manifest, sealed, self.agent, written)
            self.manifest = altered(
                self.manifest,
                revision=revision,
                format=FORMAT,
                changed=self._moment,
                history=history,
            )

    def discard(self) -> None:
        """Remove what was staged; the state is not committed."""
        for path in (*self.new_versions.values(), *self.arrivals.values()):
            with contextlib.suppress(OSError):
                if path is not None:
                    self.staging.discard(path)

    # -- versions -----------------------------------------------------------------------

    def add_version(
        self,
        name: str,
        *,
        date: str,
        origin: Origin,
        log: str | None = None,
        move_cursor: bool = True,
    ) -> None:
        """Add an empty version at the end.

        Args:
            name: A name that no version has.
            date: In the 2010 form.
            origin: Where it comes from.
            log: The first line of its log.
            move_cursor: Whether it becomes the current version.

        Raises:
            VersionExists: The name is taken.
            VersionNameError: The name is invalid.
        """
        self._begin_version(name)
        version = Version(name, _date_kept(date), origin, log=() if log is None else (log,))
        self._show_version(version, move_cursor=move_cursor)

    def _begin_version(self, name: str) -> None:
        check_version_name(name)
        if self.manifest.has(name):
            raise VersionExists(self.identifier, name)
        self.new_versions[name] = None
        self.removals.pop(version_dirname(name), None)

    def _show_version(self, version: Version, *, move_cursor: bool = True) -> None:
        to_be_current = move_cursor or not self.manifest.current_version
        self.manifest = self.manifest.with_version(version, to_be_current=to_be_current)

    def grow(self, name: str) -> str:
        """The staging directory of a new version; files held in memory are written there."""
        if (directory := self.new_versions[name]) is None:
            directory = self.staging.new_directory()
            for path, content in self.held_files(name):
                atomic_file.make_parents(f"{directory}/{path}")
                atomic_file.write_new(f"{directory}/{path}", (content,), self.barrier)
            self.new_versions[name] = directory
        return directory

    def held_files(self, name: str) -> list[tuple[str, bytes]]:
        """The paths and contents of a new version that is held in memory."""
        return [(path, held) for (version, path), held in self._contents.items() if version == name]

    def derive_version(
        self,
        original: str,
        new: str,
        *,
        date: str,
        origin: Origin,
        log: str,
        exclude: Iterable[str] = (),
        linked: Iterable[str] = (),
    ) -> None:
        """Add a version with the files of another, each copied, or hard-linked if ``linked``.

        Its state is ``in work``, whatever the state of the other version.

        Args:
            exclude: Paths, or top-level directories, to omit.
            linked: Paths to link instead of copying; ``"."`` for all.
        """
        source = self.manifest.version(original)
        left_out, links = frozenset(exclude), frozenset(linked)
        self._begin_version(new)
        version = Version(new, _date_kept(date), origin, log=(log,), state="in work")
        for path, known in (source.digests or {}).items():
            if path in left_out or path.split("/")[0] in left_out:
                continue
            link = "." in links or path in links
            digest = self._derive_file(original, new, path, known, link=link)
            version = version.with_file(path, digest, metadata=path in source.metadata_files)
        for empty in source.subdir:
            if empty not in version.files and empty not in left_out:
                atomic_file.make_parents(f"{self.grow(new)}/{empty}/")
                version = replace(
                    version, files=(*version.files, empty), subdir=(*version.subdir, empty)
                )
        self._show_version(version)

    def _derive_file(
        self, original: str, new: str, path: str, known: Digest | None, *, link: bool
    ) -> Digest:
        target = f"{self.grow(new)}/{path}"
        atomic_file.make_parents(target)
        with self.open(original, path) as source:
            if link and atomic_file.link_new(os.path.realpath(source.name), target):
                return known or atomic_file.digest_of(source)
            digest = atomic_file.copy_new(source, target, self.barrier)
        if known and digest != known and is_frozen(self.manifest, original):
            raise FileDamaged(self.identifier, original, path)
        return digest

    def adopt_version(
        self,
        name: str,
        directory: str,
        paths: Sequence[str],
        *,
        date: str,
        origin: Origin,
        log: str,
        force: bool = False,
    ) -> None:
        """Add a version from a staged directory that holds its files, complete and flushed.

        Args:
            force: Replace a version of that name.
        """
        if force and self.manifest.has(name):
            self.check_writable(name)
            self._forget(name)
        self.add_version(name, date=date, origin=origin, log=log)
        self.new_versions[name] = directory
        version = self.manifest.version(name)
        for path in paths:
            with open(f"{directory}/{path}", "rb") as file:
                version = version.with_file(path, atomic_file.digest_of(file), metadata=None)
        self.manifest = self.manifest.with_version(version)

    def remove_version(self, name: str) -> None:
        """Remove a version; a cursor on it moves to the last version.

        Raises:
            VersionFrozen: It is kept as harvested.
        """
        self.check_writable(name)
        self._forget(name)
        if self.manifest.current_version == name:
            self.move_cursor(self.manifest.versions[-1].name)

    def _forget(self, name: str) -> None:
        rest = tuple(v for v in self.manifest.versions if v.name != name)
        self.manifest = replace(self.manifest, versions=rest)
        self._forget_files_of(name)
        if staged := self.new_versions.pop(name, None):
            self.staging.discard(staged)
        if self.before is not None and self.before.has(name):
            self.removals[version_dirname(name)] = None

    def _forget_files_of(self, version: str) -> None:
        below = version_dirname(version) + "/"
        for target in [target for target in self.arrivals if target.startswith(below)]:
            atomic_file.remove_tree(self.arrivals.pop(target))
        self.removals = {path: None for path in self.removals if not path.startswith(below)}
        self._contents = {key: c for key, c in self._contents.items() if key[0] != version}

    def rename_version(self, original: str, new: str) -> None:
        """Give a version another name, in its place in the order; clones of it follow.

        It must be the only change of its edit.

        Raises:
            VersionExists: The name is taken.
            VersionFrozen: It is kept as harvested.
        """
        assert not self.changed
        check_version_name(new)
        self.check_writable(original)
        if self.manifest.has(new):
            raise VersionExists(self.identifier, new)
        renamed = (
            replace(
                _derived_from_renamed(v, original, new), name=new if v.name == original else v.name
            )
            for v in self.manifest.versions
        )
        self.manifest = replace(self.manifest, versions=tuple(renamed))
        if self.manifest.current_version == original:
            self.move_cursor(new)
        self._contents.clear()
        self.renames.append((version_dirname(original), version_dirname(new)))

    def move_cursor(self, name: str) -> None:
        """Set the current version.

        Raises:
            VersionNotFound: There is no such version.
        """
        self.manifest = self.manifest.with_cursor(name)

    def set_date(self, name: str, date: str) -> None:
        """Set a version's date, and the record's if the version is current."""
        self.check_writable(name)
        version = replace(self.manifest.version(name), date=date_text(date))
        self.manifest = self.manifest.with_version(version)
        self.move_cursor(self.manifest.current_version)

    def set_origin(self, name: str, origin: Origin) -> None:
        """Record where a version came from, for example a newer datestamp of a prefix."""
        self.manifest = self.manifest.with_version(
            replace(self.manifest.version(name), origin=origin)
        )

    def set_state(self, name: str, state: str | None) -> None:
        """Set the state of a version's curation, frozen or not; None for no state.

        Raises:
            VersionStateError: It is not one of `STATES`.
        """
        if state is not None and state not in STATES:
            raise VersionStateError(state, STATES)
        version = replace(self.manifest.version(name), state=state)
        self.manifest = self.manifest.with_version(version)

    def log(self, name: str, text: str) -> None:
        """Add a line to a version's log."""
        self.manifest = self.manifest.with_version(self.manifest.version(name).with_log(text))

    def set_metadata(self, key: str, value: Any) -> None:
        """Set a key of the record's ``metadata`` to a JSON value.

        Raises:
            ValueError: The value is nested too deeply for a manifest.
        """
        if is_deep([[value]]):
            raise ValueError(f"metadata nests {DEEPEST - 2} levels deep at most")
        if key in self.manifest.metadata:
            if json.dumps(self.manifest.metadata[key]) == json.dumps(value):
                return
            self._retyped = True  # 1 == True == 1.0, but they differ in JSON
        self.manifest = altered(self.manifest, metadata={**self.manifest.metadata, key: value})

    def del_metadata(self, key: str) -> None:
        """Remove a key from the record's ``metadata``, if present."""
        rest = {k: v for k, v in self.manifest.metadata.items() if k != key}
        self.manifest = replace(self.manifest, metadata=rest)

    def check_writable(self, name: str) -> None:
        """Raise an error if a version cannot be changed.

        Raises:
            VersionFrozen: It is kept as harvested, and this edit did not add it.
            VersionNotFound: There is no such version.
        """
        if name not in self.new_versions and is_frozen(self.manifest, name):
            raise VersionFrozen(self.identifier, name)

    # -- files --------------------------------------------------------------------------

    def put(
        self,
        version: str,
        path: str,
        source: bytes | Staged,
        *,
        metadata: bool | None = None,
        allow_frozen: bool = False,
    ) -> None:
        """Put a file into a version, replacing any of that name.

        Args:
            source: The content, or a file in this process's staging directory, which
                is moved into the version.
            metadata: Whether it is metadata; None keeps what it was.
            allow_frozen: Allow a new file in a frozen version: the harvester may add another
                format, and the document fetcher the files behind the record's links.

        Raises:
            FileInTheWay: There is a file where a directory is needed, or the reverse.
            VersionFrozen: The version is kept as harvested.
        """
        check_path(path)
        listed = self.manifest.version(version)
        if not (allow_frozen and path not in listed.paths):
            self.check_writable(version)
        self._check_way(listed, path)
        if isinstance(source, bytes) and self.new_versions.get(version, "") is None:
            digest = atomic_file.digest_of_bytes(source)
        else:
            digest = self._put_staged(version, path, source)
        self._contents.pop((version, path), None)
        if isinstance(source, bytes):
            self._contents[version, path] = source
        self.manifest = self.manifest.with_version(
            listed.with_file(path, digest, metadata=metadata)
        )

    def _put_staged(self, version: str, path: str, source: bytes | Staged) -> Digest:
        if isinstance(source, bytes):
            staged = self.staging.new_path()
            source = Staged(staged, atomic_file.write_new(staged, (source,), self.barrier))
        self._place(version, path, source.path)
        return source.digest

    def _place(self, version: str, path: str, staged: str) -> None:
        if version in self.new_versions:
            atomic_file.move_staged(staged, f"{self.grow(version)}/{path}")
            return
        target = f"{version_dirname(version)}/{path}"
        self.removals.pop(target, None)
        if earlier := self.arrivals.get(target):
            atomic_file.remove_tree(earlier)
        self.arrivals[target] = staged

    def _check_way(self, listed: Version, path: str) -> None:
        if not listed.has_room_for(path):
            raise FileInTheWay(self.identifier, listed.name, path)

    def accept(self, version: str, path: str) -> None:
        """Record a file of a curated version that was edited or added on disk by other means.

        Raises:
            VersionFrozen: The version is a harvested one.
            FileNotInVersion: There is no such file on disk.
        """
        check_path(path)
        listed = self.manifest.version(version)
        if not listed.is_curated:
            raise VersionFrozen(self.identifier, version)
        if path not in listed.paths:
            self._check_way(listed, path)
        accepted = self.manifest.with_version(listed.with_file(path, None, metadata=None))
        with self.place.open(accepted, version, path) as file:
            self.barrier.file_written(file.fileno())
            digest = atomic_file.digest_of(file)
        self._contents.pop((version, path), None)
        self.manifest = accepted.with_version(listed.with_file(path, digest, metadata=None))

    def delete(self, version: str, path: str) -> None:
        """Remove a file, or an empty top-level directory, from a version.

        Raises:
            FileNotInVersion: The version has no such file or directory.
            DirectoryNotEmpty: The directory has files.
            VersionFrozen: The version is kept as harvested.
        """
        listed = self.manifest.version(version)
        self.check_writable(version)
        if path not in listed.paths:
            if path not in listed.subdir:
                raise FileNotInVersion(self.identifier, version, path, has=listed.paths)
            if any(p.startswith(path + "/") for p in listed.paths):
                raise DirectoryNotEmpty(self.identifier, version, path)
        self._remove(version, path)
        self._contents.pop((version, path), None)
        self.manifest = self.manifest.with_version(listed.without_file(path))

    def _remove(self, version: str, path: str) -> None:
        if version in self.new_versions:  # empty directories of a new version stay
            atomic_file.remove_tree(f"{self.grow(version)}/{path}")
            return
        target = f"{version_dirname(version)}/{path}"
        if arrived := self.arrivals.pop(target, None):
            atomic_file.remove_tree(arrived)
        self.removals[target] = None

    def rename(self, version: str, path: str, new_path: str) -> None:
        """Give a file of a version another path; it stays metadata if it was.

        Args:
            path: The file's current path.
            new_path: A path that no file has.

        Raises:
            FileInTheWay: The new path is taken.
        """
        listed = self.manifest.version(version)
        if new_path in listed.paths:
            raise FileInTheWay(self.identifier, version, new_path)
        self.check_writable(version)
        self._check_way(listed, check_path(new_path))
        metadata = path in listed.metadata_files
        self.put(version, new_path, self._staged_copy(version, path), metadata=metadata)
        self.delete(version, path)

    def copy(self, version: str, path: str, target: str) -> None:
        """Copy a file into another version, replacing any of that name; metadata stays metadata.

        Args:
            version: The version that has the file.
            path: Within both versions.
            target: The version that gets the copy.
        """
        metadata = path in self.manifest.version(version).metadata_files
        self.check_writable(target)
        self.put(target, path, self._staged_copy(version, path), metadata=metadata or None)

    def _staged_copy(self, version: str, path: str) -> Staged:
        staged = self.staging.new_path()
        with self.open(version, path) as source:
            return Staged(staged, atomic_file.copy_new(source, staged, self.barrier))

    def open(self, version: str, path: str) -> BinaryIO:
        """Open a file for reading, with the changes of this edit so far."""
        if version in self.new_versions:
            return open(f"{self.grow(version)}/{path}", "rb")
        if arrived := self.arrivals.get(f"{version_dirname(version)}/{path}"):
            return open(arrived, "rb")
        return self.place.open(*self._on_disk(version), path)

    def _on_disk(self, version: str) -> tuple[Manifest, str]:
        """A version as it is on disk until the commit: a renamed one is under its old name."""
        for source, target in self.renames:
            if target == version_dirname(version) and self.before is not None:
                return self.before, source.removeprefix(version_dirname(""))
        return self.manifest, version

    def read(self, version: str, path: str) -> bytes:
        """A file's content, with the changes of this edit so far; a small file is read once."""
        if (content := self._contents.get((version, path))) is not None:
            return content
        if version in self.new_versions or f"{version_dirname(version)}/{path}" in self.arrivals:
            with self.open(version, path) as file:
                return file.read()
        content = self.place.content(*self._on_disk(version), path)
        if len(content) <= _SMALL:
            content = self._contents[version, path] = DocumentBytes(content)
        return content


def _date_kept(date: str) -> str:
    """A version's date in the 2010 form; an invalid date of an old manifest is kept unchanged."""
    try:
        return date_text(date)
    except ValueError:
        return date


def _derived_from_renamed(version: Version, original: str, new: str) -> Version:
    if version.origin.of != original:
        return version
    return replace(version, origin=replace(version.origin, of=new))


def time_of_change() -> str:
    """The time now, as a manifest that is written now has it; see `RecordEdit.seal`."""
    return now_text()


def new_origin(kind: str, *, of: str | None = None, agent: str = "", message: str = "") -> Origin:
    """The origin of a version created here, now.

    Args:
        kind: ``clone`` or ``local``.
        of: For a clone, the version it was copied from.
    """
    assert kind in {"clone", "local"}
    return Origin(
        "clone" if kind == "clone" else "local",
        of=of,
        agent=agent,
        message=message,
        date=now_text(),
    )
