"""HarvestedRecord: the versions and files of one identifier (the 2010 class of that name)."""

import hashlib
import logging
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, BinaryIO, TypeVar, Unpack

from recordsilo.disk import atomic_file
from recordsilo.disk.atomic_file import Staged, StrictBarrier
from recordsilo.disk.names import check_path, check_version_name, name_after
from recordsilo.errors import (
    FileNotInVersion,
    KeyUnknown,
    LastVersion,
    NotCopied,
    PathNameError,
    VersionExists,
    VersionFrozen,
)
from recordsilo.records.described_record import DescribedRecord
from recordsilo.records.differences import Differences
from recordsilo.records.edit import RecordEdit
from recordsilo.records.manifest import (
    Manifest,
    Origin,
    Version,
    altered,
    date_text,
    is_frozen,
    now_text,
    upstream_newer,
)
from recordsilo.records.manifest_json import to_2010
from recordsilo.records.place import RecordPlace
from recordsilo.records.record_changes import (
    FIRST_LOG,
    Note,
    NoteKeywords,
    QueuedFile,
    RecordChanges,
    RecordKeeper,
    takes_note,
)
from recordsilo.records.record_view import FileInfo, RecordView
from recordsilo.records.streams import (
    Source,
    WriteableStream,
    chunks,
    plain_files,
    read_metadata,
)

logger = logging.getLogger("RecordSilo")
T = TypeVar("T")


class HarvestedRecord(DescribedRecord):
    """A record of a Silo: named versions, each with files, and a cursor on one of them.

        >>> record = silo.get_item("oai:eprints.example.org:6102")
        >>> record.put_stream("oai_dc", "<dc>…</dc>", metadata=True)
        >>> record.clone_version("1", "workingcopy", message="correct the title")
        'workingcopy'
        >>> record.versions, record.currentversion, record.files
        (['1', 'workingcopy'], 'workingcopy', ['oai_dc'])

    `Silo.get_item` and ``silo[identifier]`` return one. A record that does not exist
    yet is written by its first change, or by `sync`.

    A handle shows the record as it was when the handle was created, last wrote or was
    `revert`\\ ed, and reads without a lock. A method that changes something reads the
    record again under its lock, applies the change to it, and commits durably or not at
    all, so two handles that change different things lose nothing.

    Every method that changes something takes, by keyword:

    * ``agent``: who, or which program; by default the operating system's user;
    * ``message``: why; both are stored in the version's log or its origin;
    * ``if_revision``: write only if the record is at this `revision`, else raise
      `RevisionConflict` and write nothing.

    Where a method takes a version, the default is the one the cursor is on. The record is
    also a read-only mapping of the keys of `manifest`.

    Args:
        found: Its manifest; None for a new record.
        date: The date of a new record's first version; by default now.
        startversion: The name of a new record's first version.

    Source:  docs/format.md; the interface of RecordSilo 0.4.16 (2010).
    """

    def __init__(
        self,
        silo: RecordKeeper,
        place: RecordPlace,
        found: Manifest | None,
        *,
        date: datetime | str | None = None,
        startversion: str = "1",
    ) -> None:
        first = check_version_name(startversion)
        when = date_text(date) if date else None
        if found is None:
            when = when or now_text()
            version = Version(first, when, Origin("local"), log=(FIRST_LOG,))
            found = Manifest(place.identifier, when, first, (version,))
        self._silo, self._place = silo, place
        self._changes = RecordChanges(silo, place, found)

    # -- what it is -----------------------------------------------------------------------

    @property
    def item_id(self) -> str:
        """The identifier, in full."""
        return self._place.identifier

    @property
    def identifier(self) -> str:
        """The identifier, in full; the same as `item_id`, the name of 2010."""
        return self._place.identifier

    @property
    def uri(self) -> str:
        """The Silo's ``uri_base`` followed by the identifier, as in 2010."""
        return f"{self._silo.state.get('uri_base') or ''}{self.item_id}"

    @property
    def exists(self) -> bool:
        """Whether the record was on disk when this handle last looked."""
        return self._manifest.is_stored

    @property
    def revision(self) -> int:
        """A number that each write increases; 0 if unwritten, or last written in 2010."""
        return self._manifest.revision

    @property
    def manifest(self) -> dict[str, Any]:
        """The record's state as a new dict with the keys of 2010; see also `state`."""
        return to_2010(altered(self.state, metadata=self.metadata))

    @property
    def state(self) -> Manifest:
        """The record's state, with this handle's cursor and metadata, as a `Manifest`."""
        return self._changes.state

    @property
    def _manifest(self) -> Manifest:
        return self._changes.seen

    @property
    def _view(self) -> RecordView:
        return RecordView(self._place, self._changes.seen)

    def _version(self, name: str | None = None) -> Version:
        changes = self._changes
        if name is None:
            name = changes.cursor or changes.seen.current_version
        return changes.seen.version(str(name))

    @property
    def metadata(self) -> dict[str, Any]:
        """Notes about the record: a dict of JSON values; `sync` stores changes to it."""
        return self._changes.metadata

    @metadata.setter
    def metadata(self, members: dict[str, Any]) -> None:
        self._changes.metadata = members

    @property
    def has_unstored_files(self) -> bool:
        """Whether files were put with ``sync=False`` that `sync` has not stored."""
        return bool(self._changes.queued)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy it by its Silo's path; a copy, also in another process, shows what this handle does.

        Raises:
            NotCopied: It has unstored files.
        """
        if self.has_unstored_files:
            raise NotCopied(self.item_id)
        return _handled_again, (self._silo, *self._changes.kept)

    def __repr__(self) -> str:
        return repr(self.manifest)  # as in 2010

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def __len__(self) -> int:
        return len(self._manifest.versions)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self.manifest)

    def __contains__(self, key: object) -> bool:
        return key in self.manifest

    def __getitem__(self, key: str) -> Any:
        members = self.manifest
        if key not in members:
            is_property = isinstance(getattr(type(self), str(key), None), property)
            raise KeyUnknown(key, members, is_property=is_property)
        return members[key]

    def keys(self) -> list[str]:
        """The keys of `manifest`."""
        return list(self.manifest)

    def has_key(self, key: str) -> bool:
        """Whether `manifest` has the key."""
        return key in self

    def items(self) -> list[tuple[str, Any]]:
        """The items of `manifest`."""
        return list(self.manifest.items())

    def values(self) -> list[Any]:
        """The values of `manifest`."""
        return list(self.manifest.values())

    def __eq__(self, other: object) -> bool:
        """Whether both are handles on one record, of one Silo, at one time."""
        if not isinstance(other, HarvestedRecord):
            return NotImplemented
        return self._place.key == other._place.key

    def __hash__(self) -> int:
        return hash(self._place.key)

    # -- storing and reading again ----------------------------------------------------------

    def _note(self, keywords: NoteKeywords) -> Note:
        return Note(self._silo.agent, **keywords)

    def _change(self, act: Callable[[RecordEdit], T], note: Note) -> T:
        """Apply a change; every change by this handle goes through here."""
        return self._changes.commit(act, note.if_revision)

    @takes_note
    def sync(self, **note: Unpack[NoteKeywords]) -> None:
        """Store the metadata, the cursor, and the files put with ``sync=False``.

        Raises:
            MetadataConflict: Another process has meanwhile set the same key of metadata to
                a different value; nothing is stored.
        """
        noted = self._note(note)

        def act(edit: RecordEdit) -> None:
            if edit.changed and (noted.agent or noted.message):
                edit.log(edit.manifest.current_version, noted.line("Synced"))

        self._change(act, noted)

    def revert(self) -> None:
        """Read the record again, discarding changes that are not stored.

        Raises:
            RecordGone: It was deleted meanwhile.
        """
        self._changes.revert()

    revert_manifest = revert

    # -- versions ---------------------------------------------------------------------------

    @property
    def versions(self) -> list[str]:
        """The versions' names, in the order made."""
        return list(self._manifest.version_names)

    def get_versions(self) -> list[str]:
        """The versions' names, in the order made."""
        return self.versions

    @property
    def currentversion(self) -> str:
        """The version the cursor is on."""
        return self._changes.cursor or self._manifest.current_version

    def get_version_cursor(self) -> str:
        """The version the cursor is on."""
        return self.currentversion

    def set_version_cursor(self, version: str) -> bool:
        """Move the cursor of this handle; the next change or `sync` stores it.

        Returns:
            True; or False, with an ERROR on the logger ``RecordSilo``, if there is
            no such version.
        """
        if not self._manifest.has(str(version)):
            logger.error("Version %s does not exist", version)
            return False
        self._changes.cursor = str(version)
        return True

    @property
    def date(self) -> str:
        """The date of the cursor's version, in the 2010 form."""
        return self._version().date

    def version_date(self, version: str | None = None) -> str:
        """A version's date, in the 2010 form."""
        return self._version(version).date

    @property
    def versionlog(self) -> list[str]:
        """The log of the cursor's version."""
        return list(self._version().log)

    def version_log(self, version: str | None = None) -> list[str]:
        """A version's log."""
        return list(self._version(version).log)

    def origin(self, version: str | None = None) -> Origin:
        """Where a version came from."""
        return self._version(version).origin

    def version_state(self, version: str | None = None) -> str | None:
        """The state a curator gave a version: ``in work``, ``ready``, ``withheld``, or None."""
        return self._version(version).state

    def version_is_curated(self, version: str | None = None) -> bool:
        """Whether a version was made by people here, not by a harvest or an import."""
        return self._version(version).is_curated

    def is_frozen(self, version: str | None = None) -> bool:
        """Whether a version is kept as harvested and refuses changes."""
        return is_frozen(self._manifest, self._version(version).name)

    def upstream_newer(self) -> bool:
        """Whether a newer version was harvested than the one the cursor's was made from."""
        return upstream_newer(self.state)

    @takes_note
    def create_new_version(
        self, version: str, date: datetime | str | None = None, **note: Unpack[NoteKeywords]
    ) -> None:
        """Add an empty version; the cursor moves to it.

        Args:
            date: By default the record's date.

        Raises:
            VersionExists, VersionNameError: Nothing is written.
        """
        noted, name = self._note(note), check_version_name(version)
        origin = noted.origin("local")

        def act(edit: RecordEdit) -> None:
            when = date_text(date) if date is not None else edit.manifest.date
            edit.add_version(name, date=when, origin=origin, log="Created new version")

        self._change(act, noted)

    @takes_note
    def increment_version(
        self,
        date: datetime | str | None = None,
        clone_previous_version: bool = False,
        **note: Unpack[NoteKeywords],
    ) -> str:
        """Add a version with the next number, empty or as a copy of the cursor's; move the cursor.

        Args:
            date: By default now.

        Returns:
            Its name: the next unused number after the cursor's; if the cursor's name is
            not a number, that name and ``_new``.
        """
        return self._increment(date, clone_previous_version, (), self._note(note))

    @takes_note
    def increment_version_delta(
        self,
        date: datetime | str | None = None,
        clone_previous_version: bool = False,
        copy_filenames: Collection[str] = (),
        copy_extensions: Collection[str] = (),
        **note: Unpack[NoteKeywords],
    ) -> str:
        """As `increment_version`, files hard-linked as `clone_version_delta` does.

        Args:
            date: By default now.
            clone_previous_version: Copy the cursor's version; else the new one is empty.
            copy_filenames: Paths to copy instead of linking.
            copy_extensions: File name endings to copy instead of linking.
        """
        linked = self._linked(self.currentversion, copy_filenames, copy_extensions)
        return self._increment(date, clone_previous_version, linked, self._note(note))

    def _increment(
        self, date: datetime | str | None, clone: bool, linked: Collection[str], note: Note
    ) -> str:
        when = date_text(date) if date is not None else now_text()

        def act(edit: RecordEdit) -> str:
            previous = edit.manifest.current_version
            name = name_after(previous, edit.manifest.version_names)
            log = f"Version number incremented from {previous} to {name}"
            if clone:
                origin = note.origin("clone", previous)
                edit.derive_version(
                    previous, name, date=when, origin=origin, log=log, linked=linked
                )
            else:
                edit.add_version(name, date=when, origin=note.origin("local"), log=log)
            return name

        return self._change(act, note)

    @takes_note
    def clone_version(
        self,
        original_version: str,
        new_version: str,
        exclude_filenames: Collection[str] = (),
        **note: Unpack[NoteKeywords],
    ) -> str:
        """Copy a version byte for byte under a new name; move the cursor to it.

        The files of the copy may be changed through this interface or with any editor; the
        original is not affected. The copy is built in a staging directory and renamed into
        place before the manifest is replaced, so that after a crash the manifest lists
        either no new version or a complete one.

        Args:
            original_version: Existing name, e.g. ``"1"``; the clone gets its date.
            new_version: Unused name; becomes the directory ``__<new_version>``.
            exclude_filenames: Paths within the version, or top-level directories.

        Returns:
            ``new_version``.

        Raises:
            VersionNotFound: There is no such original; nothing is written.
            VersionExists: The name is taken; nothing is written.
            FileNotInVersion: A file of the original is missing on disk, or is a
                dangling link (`DanglingLink`); nothing is written.
            FileDamaged: A file of a harvested original is not the one that was harvested;
                nothing is written.
            SiloNotWritable, OSError: A disk operation failed; the record is unchanged.

        Cost: reads and writes every byte, unless the file system has reflinks;
            `clone_version_delta` links instead.
        Source: docs/format-manifest.md, "Versions".
        """
        noted = self._note(note)
        return self._clone(original_version, new_version, exclude_filenames, (), noted)

    @takes_note
    def clone_version_delta(
        self,
        original_version: str,
        new_version: str,
        copy_filenames: Collection[str] = (),
        copy_extensions: Collection[str] = (),
        **note: Unpack[NoteKeywords],
    ) -> str:
        """As `clone_version`, with hard links instead of copies, for large files.

        A write through this interface never changes the other version; an editor that
        writes in place does. Files are copied if the file system has no hard links.

        Args:
            copy_filenames: Paths to copy instead of linking.
            copy_extensions: File name endings (``".xml"``, ``"xml"``) to copy instead of linking.
        """
        linked = self._linked(original_version, copy_filenames, copy_extensions)
        return self._clone(original_version, new_version, (), linked, self._note(note))

    def _linked(
        self, version: str, copy_filenames: Collection[str], copy_extensions: Collection[str]
    ) -> list[str]:
        endings = tuple("." + ending.lstrip(".") for ending in copy_extensions)
        return [
            path
            for path in self._version(version).paths
            if path not in copy_filenames and not (endings and path.endswith(endings))
        ]

    def _clone(
        self, original: str, new: str, exclude: Collection[str], linked: Collection[str], note: Note
    ) -> str:
        original, new = str(original), check_version_name(new)
        origin, log = note.origin("clone", original), f"Version {new} cloned from {original}"

        def act(edit: RecordEdit) -> str:
            when = edit.manifest.version(original).date
            edit.derive_version(
                original, new, date=when, origin=origin, log=log, exclude=exclude, linked=linked
            )
            return new

        return self._change(act, note)

    @takes_note
    def rename_version(
        self, original_version: str, new_version: str, **note: Unpack[NoteKeywords]
    ) -> str:
        """Rename a version, keeping its place in the order; the cursor moves to it.

        Returns:
            The new name.

        Raises:
            VersionNotFound, VersionExists, VersionNameError: Nothing is changed.
            VersionFrozen: The version is kept as harvested.
        """
        original, new = str(original_version), check_version_name(new_version)
        noted = self._note(note)
        if self._manifest.has(new):
            raise VersionExists(self.item_id, new)
        self.sync(if_revision=noted.if_revision)
        expected = None if noted.if_revision is None else self.revision

        def act(edit: RecordEdit) -> str:
            edit.rename_version(original, new)
            edit.move_cursor(new)
            edit.log(new, noted.line(f"Version {original} renamed to {new}"))
            return new

        return self._change(act, replace(noted, if_revision=expected))

    @takes_note
    def del_version(self, version: str, **note: Unpack[NoteKeywords]) -> None:
        """Delete a version with its files; a cursor on it moves to the last version.

        Raises:
            VersionNotFound: There is no such version.
            VersionFrozen: The version is kept as harvested.
            LastVersion: A record keeps at least one; delete the record instead.
        """
        self.del_versions([version], **note)

    @takes_note
    def del_versions(self, versions: Sequence[str], **note: Unpack[NoteKeywords]) -> list[None]:
        """Delete several versions, all or none; see `del_version`.

        Raises:
            VersionNotFound, VersionFrozen, LastVersion: Nothing is deleted.
        """
        noted, names = self._note(note), [self._version(name).name for name in versions]

        def act(edit: RecordEdit) -> None:
            for name in names:
                if edit.manifest.version_names == (name,):
                    raise LastVersion(self.item_id, name)
                edit.remove_version(name)
                edit.log(edit.manifest.current_version, noted.line(f"Deleted version {name}"))

        self._change(act, noted)
        return [None] * len(names)

    @takes_note
    def set_version_date(
        self, version: str, date: datetime | str, **note: Unpack[NoteKeywords]
    ) -> bool:
        """Set a version's date.

        Returns:
            True.

        Raises:
            VersionNotFound, VersionFrozen: Nothing is changed.
        """
        noted, name, when = self._note(note), self._version(version).name, date_text(date)

        def act(edit: RecordEdit) -> None:
            edit.set_date(name, when)
            edit.log(name, noted.line(f"Dated {when}"))

        self._change(act, noted)
        return True

    @takes_note
    def set_version_state(
        self, version: str, state: str | None, **note: Unpack[NoteKeywords]
    ) -> None:
        """Set the state of a version's curation; a frozen version has one too.

        Args:
            state: ``"in work"``, ``"ready"``, ``"withheld"``, or None.

        Raises:
            VersionNotFound: There is no such version.
            VersionStateError: Unknown state; nothing is changed.
        """
        noted, name = self._note(note), self._version(version).name

        def act(edit: RecordEdit) -> None:
            if edit.manifest.version(name).state == state:
                return
            edit.set_state(name, state)
            edit.log(name, noted.line(f"State set to {state or 'none'}", signed=True))

        self._change(act, noted)

    @takes_note
    def move_directory_as_new_version(
        self,
        src: str,
        version: str | None = None,
        force: bool = False,
        date: datetime | str | None = None,
        log: str = "Directory contents",
        **note: Unpack[NoteKeywords],
    ) -> str:
        """Create a version from a directory's content, and remove the directory.

        Args:
            src: A directory of plain files and directories; links and special files are
                refused.
            version: Its name; by default the next number, as `increment_version` gives.
            force: Replace a version of that name atomically.
            date: By default now.
            log: The version's first log line.

        Returns:
            The version's name; the cursor is on it.

        Raises:
            PathNameError, SourceFailed: The directory holds something that a version cannot
                hold, or is part of this Silo; nothing is moved.
            VersionFrozen: The version of that name is kept as harvested.
            FileNotFoundError, NotADirectoryError: ``src`` is not a directory.
            VersionExists: The name is taken, and ``force`` is false.
        """
        noted, paths = self._note(note), plain_files(src)
        if f"{os.path.realpath(src)}/".startswith(f"{os.path.realpath(self._silo.path)}/"):
            raise PathNameError(src, "it is the Silo's own directory, and it would be removed")
        given = None if version is None else check_version_name(version)
        when = date_text(date) if date is not None else now_text()
        origin = noted.origin("local")

        def act(edit: RecordEdit) -> str:
            names = edit.manifest.version_names
            new = given or name_after(edit.manifest.current_version, names)
            if force and new in names:
                edit.check_writable(new)
            edit.adopt_version(new, staged, paths, date=when, origin=origin, log=log, force=force)
            return new

        with self._silo.writing():
            staged = self._silo.staging.new_directory()
        try:
            with self._silo.writing():
                _copy_all(src, paths, staged)
            new = self._change(act, noted)
        except BaseException:
            self._silo.staging.discard(staged)
            raise
        atomic_file.remove_tree(os.path.abspath(src))
        return new

    # -- files, read ------------------------------------------------------------------------

    @property
    def files(self) -> list[str]:
        """Top-level names in the cursor's version, including directories, in the order put."""
        return list(self._version().files)

    @property
    def metadata_files(self) -> dict[str, list[str]]:
        """Version → the names that were put as metadata."""
        return {v.name: list(v.metadata_files) for v in self._manifest.versions}

    def paths(self, version: str | None = None) -> list[str]:
        """The path of every file in a version, in the order put."""
        return list(self._version(version).paths)

    def isfile(self, filepath: str, version: str | None = None) -> bool:
        """Whether a version has such a file."""
        return filepath in self._version(version).paths

    def isdir(self, filepath: str, version: str | None = None) -> bool:
        """Whether a version has such a directory."""
        listed = self._version(version)
        return filepath in listed.subdir or any(p.startswith(filepath + "/") for p in listed.paths)

    def get_stream(
        self, filename: str, version: str | None = None, writeable: bool = False
    ) -> BinaryIO:
        """Open a file of a version: binary, a context manager.

        Args:
            filename: Path within the version.
            version: By default the cursor's.
            writeable: Return a staged copy instead. Reading begins at its start, writing
                appends (``seek`` and ``truncate`` to replace the content). Closing it puts
                it into the version, as `put_stream` does and with its errors; an exception in
                its ``with`` block discards it.

        Raises:
            FileNotInVersion: The version has no such file, or it is missing on disk.
            DanglingLink: It is a link to a file that does not exist.
            VersionFrozen: ``writeable`` is true, and the version is kept as harvested.
        """
        name = self._version(version).name
        if writeable:
            return self._writeable_copy(filename, name)
        return self._view.open(name, filename)

    def read(self, version: str, path: str) -> bytes:
        """The content of a file of a version.

        Raises:
            FileNotInVersion, DanglingLink, FileUnreadable: See `get_stream`.
        """
        return self._view.read(self._version(version).name, path)

    def file_info(self, path: str, version: str | None = None) -> FileInfo:
        """Size, digest and kind of a file.

        Raises:
            FileNotInVersion: The version has no such file, or it is missing on disk.
            DanglingLink: It is a link to a file that does not exist.
        """
        return self._view.info(self._version(version).name, path)

    def stat(self, filepath: str, version: str | None = None) -> os.stat_result:
        """``os.stat`` of a file or directory of a version.

        Raises:
            FileNotInVersion: The version has no such file or directory.
        """
        if self.isdir(filepath, version):
            return os.stat(self.to_dirpath(filepath, version))
        return self._view.stat(self._version(version).name, filepath)

    def list_parts(self, subpath: str = "", detailed: bool = False) -> list[str] | dict[str, Any]:
        """The names in a directory of the cursor's version; ``detailed``: with their ``os.stat``.

        Raises:
            FileNotInVersion: There is no such directory.
        """
        version = self._version().name
        if subpath and not self.isdir(subpath):
            raise FileNotInVersion(self.item_id, version, subpath)
        names = self._view.names_in(version, subpath)
        below = f"{subpath}/" if subpath else ""
        return {name: self.stat(below + name) for name in names} if detailed else names

    def disk_usage(self, version: str | None = None) -> int:
        """The total size of the files of a version, or of all versions, in bytes."""
        names = self.versions if version is None else [self._version(version).name]
        return sum(
            os.lstat(self.to_dirpath(path, name)).st_size
            for name in names
            for path in self.paths(name)
        )

    def to_dirpath(
        self, filepath: str | None = None, version: str | None = None, root: bool = False
    ) -> str:
        """The absolute path of a version, of a file in it, or of the record (``root``).

        Args:
            filepath: A file or directory in the version, or below the record's directory.
            version: By default the cursor's.
            root: Start from the record's directory, not the version's.
        """
        path = check_path(filepath) if filepath else ""
        if root:
            return self._place.dirpath + (f"/{path}" if path else "")
        return self._view.path_on_disk(self._version(version).name, path)

    def path_to_item(self) -> str:
        """The record's directory on disk, absolute."""
        return self._place.dirpath

    def differences(self, before: str, after: str) -> Differences:
        """The differences between two versions, with their files as they are on disk now.

        Raises:
            VersionNotFound: There is no such version.
            FileNotInVersion: A file is missing on disk, or is a dangling link.

        Cost: reads every byte of both versions; shared files are read once.
        """
        return self._view.differences(self._version(before).name, self._version(after).name)

    # -- files, changed ---------------------------------------------------------------------

    @takes_note
    def put_stream(
        self,
        filename: str,
        filetostream: Source,
        version: str | bool | None = None,
        metadata: bool | None = None,
        sync: bool = True,
        **note: Unpack[NoteKeywords],
    ) -> dict[str, str] | None:
        """Put a file into a version, completely or not at all.

        Args:
            filename: Path within the version; directories are created.
            filetostream: str (stored as UTF-8), bytes, or an open text or binary file,
                which is read from its start if it can seek.
            version: By default the cursor's; a bool here is taken as ``metadata``.
            metadata: Whether the file is metadata; by default a replaced file keeps its
                kind.
            sync: False only stages the file; `sync` puts all staged files into their
                versions.

        Returns:
            None; if the Silo's state has ``hashing_type``, a dict of checksum and type.

        Raises:
            SourceFailed: The source could not be read; the old content is kept.
            MetadataMalformed: It is metadata, and neither XML nor named by an extension of
                another kind, such as ``.json`` or ``.txt``; nothing is written.
            PathNameError, VersionNotFound, VersionFrozen, FileInTheWay: Nothing is written.
            SiloNotWritable, OSError: A disk operation failed; the record is unchanged.
        """
        if isinstance(version, bool):
            version, metadata = None, version
        noted, name = self._note(note), self._version(version).name
        if not sync and is_frozen(self._manifest, name):
            raise VersionFrozen(self.item_id, name)
        if self._is_metadata(name, filename, metadata):
            filetostream = read_metadata(check_path(filename), filetostream)
        staged, checksum = self._stage(check_path(filename), filetostream)
        line = noted.line(f"Added or updated file {filename}")
        file = QueuedFile(filename, name, staged, metadata, line)
        if sync:
            self._put(file, noted)
        else:
            self._changes.queued.append(file)
        return checksum

    def _is_metadata(self, version: str, path: str, given: bool | None = None) -> bool:
        """Whether a file that is put into a version is metadata, which has to be readable."""
        if is_frozen(self._manifest, version):  # it is refused for that
            return False
        return path in self._version(version).metadata_files if given is None else given

    def _put(self, file: QueuedFile, note: Note) -> None:
        def act(edit: RecordEdit) -> None:
            edit.put(file.version, file.path, file.staged, metadata=file.metadata)
            edit.log(file.version, file.log)

        try:
            self._change(act, note)
        except BaseException:
            self._silo.staging.discard(file.staged.path)
            raise

    def _stage(self, filename: str, source: Source) -> tuple[Staged, dict[str, str] | None]:
        kind = self._silo.state.get("hashing_type")
        hasher = hashlib.new(kind) if kind else None
        content = chunks(filename, source, hasher.update if hasher else None)
        with self._silo.writing():
            path = self._silo.staging.new_path()
            digest = atomic_file.write_new(path, content, StrictBarrier())
        checksum = {"checksum": hasher.hexdigest(), "type": str(kind)} if hasher else None
        return Staged(path, digest), checksum

    def _writeable_copy(self, filename: str, version: str) -> WriteableStream:
        with self._silo.editing(self.item_id) as edit:
            edit.check_writable(version)
        with self._silo.writing(), self._view.open(version, filename) as source:
            path = self._silo.staging.new_path()
            atomic_file.copy_new(source, path, atomic_file.group_barrier(self._place.root))

        def store() -> None:
            with open(path, "rb") as file:
                if self._is_metadata(version, filename):
                    read_metadata(filename, file)
                    file.seek(0)
                atomic_file.flush_fd(file.fileno())
                staged = Staged(path, atomic_file.digest_of(file))
            line = f"Added or updated file {filename}"
            self._put(QueuedFile(filename, version, staged, None, line), self._note({}))

        return WriteableStream(path, store, lambda: self._silo.staging.discard(path))

    @takes_note
    def accept(
        self,
        filenames: str | Sequence[str],
        version: str | None = None,
        **note: Unpack[NoteKeywords],
    ) -> None:
        """Record files of a curated version that were edited or added on disk by other means.

        Their digests are computed from what is on disk now.

        Raises:
            VersionFrozen: The version is a harvested one, which must not change.
            FileNotInVersion: One of the files is not on disk; nothing is recorded.
            MetadataMalformed: One is metadata and not XML, as for `put_stream`.
        """
        noted, name = self._note(note), self._version(version).name
        paths = [filenames] if isinstance(filenames, str) else list(filenames)
        for path in paths:
            if self._is_metadata(name, path):
                with self._view.open(name, path) as file:
                    read_metadata(path, file)

        def act(edit: RecordEdit) -> None:
            for path in paths:
                edit.accept(name, path)
                edit.log(name, noted.line(f"Accepted file {path} as edited outside", signed=True))

        self._change(act, noted)

    @takes_note
    def del_stream(
        self,
        filename: str,
        versions: str | Sequence[str] = (),
        **note: Unpack[NoteKeywords],
    ) -> None:
        """Delete a file, or an empty directory, from the cursor's version or from ``versions``.

        Raises:
            FileNotInVersion: One of the versions has no such file; nothing is deleted.
            DirectoryNotEmpty: It is a directory with files.
            VersionFrozen: The version is kept as harvested.
        """
        noted, asked = self._note(note), [versions] if isinstance(versions, str) else list(versions)
        names = [self._version(name).name for name in asked or [self.currentversion]]

        def act(edit: RecordEdit) -> None:
            for name in names:
                edit.delete(name, filename)
                edit.log(name, noted.line(f"Deleted file {filename}"))

        self._change(act, noted)

    @takes_note
    def rename_stream(
        self,
        filename: str,
        new_filename: str,
        version: str | None = None,
        **note: Unpack[NoteKeywords],
    ) -> None:
        """Rename a file of a version.

        Args:
            filename: Path of the file within the version.
            new_filename: Its new path; directories are created.
            version: By default the cursor's.

        Raises:
            FileInTheWay: The new path is taken.
            FileNotInVersion, PathNameError, VersionFrozen: Nothing is changed.
            MetadataMalformed: It is metadata that the new name makes XML; nothing is changed.
        """
        check_path(new_filename)
        noted, name = self._note(note), self._version(version).name
        if self._is_metadata(name, filename):
            with self._view.open(name, filename) as file:
                read_metadata(new_filename, file)

        def act(edit: RecordEdit) -> None:
            edit.rename(name, filename, new_filename)
            edit.log(name, noted.line(f"Renamed file {filename} to {new_filename}"))

        self._change(act, noted)

    @takes_note
    def copy_file_between_versions(
        self, filename: str, from_version: str, to_version: str, **note: Unpack[NoteKeywords]
    ) -> None:
        """Copy a file from one version into another, replacing any of that name.

        Args:
            filename: Path within both versions.
            from_version: The version that has the file.
            to_version: The version that gets the copy.

        Raises:
            FileNotInVersion, VersionNotFound, VersionFrozen: Nothing is changed.
        """
        source, target = self._version(from_version).name, self._version(to_version).name
        noted = self._note(note)

        def act(edit: RecordEdit) -> None:
            edit.copy(source, filename, target)
            edit.log(target, noted.line(f"Copied file {filename} from version {source}"))

        self._change(act, noted)


def _handled_again(
    silo: RecordKeeper, seen: Manifest, cursor: str | None, metadata: dict[str, Any] | None
) -> HarvestedRecord:
    """A handle on the record that was pickled or copied."""
    record: HarvestedRecord = silo.handle(seen)
    record._changes.set_kept(cursor, metadata)
    return record


def _copy_all(source: str, paths: Sequence[str], target: str) -> None:
    for path in paths:
        atomic_file.make_parents(f"{target}/{path}")
        with open(f"{source}/{path}", "rb") as file:
            atomic_file.copy_new(file, f"{target}/{path}", StrictBarrier())
