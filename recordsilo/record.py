"""HarvestedRecord: the versions and files of one identifier (the 2010 class of that name)."""

import hashlib
import json
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from recordsilo import atomic_file
from recordsilo.atomic_file import Staged, StrictBarrier
from recordsilo.edit import RecordEdit, new_origin
from recordsilo.errors import (
    LastVersion,
    MetadataConflict,
    PathNameError,
    RecordGone,
    VersionExists,
)
from recordsilo.manifest import Manifest, Pending, date_text, now_text
from recordsilo.names import check_path, check_version_name
from recordsilo.place import RecordPlace
from recordsilo.record_view import RecordView
from recordsilo.streams import Source, WriteableStream, chunks, plain_files

if TYPE_CHECKING:
    from recordsilo.silo import Silo

T = TypeVar("T")
_ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class _Note:
    """Who, why, and at which revision: what every change is told by keyword."""

    agent: str = ""
    message: str = ""
    if_revision: int | None = None


class HarvestedRecord(RecordView):
    """A record of a Silo: named versions, each with files, and a cursor on one of them.

    A handle shows the record as it was when the handle was made, last wrote or
    `revert`\\ ed; it takes no lock to read. Each method that changes something reads
    the record again under its lock, applies the change to that, and commits it
    durably or not at all; two handles that change different things lose nothing.

    Every such method takes, by keyword:

    * ``agent``: who, or which program; by default the operating system's user;
    * ``message``: why; both are kept in the version's log, or its origin;
    * ``if_revision``: write only if the record is at this `revision`, else
      `RevisionConflict` and nothing is written.

    Made by `Silo.get_item` and ``silo[identifier]``. A record that does not exist yet
    exists from the first change, or `sync`, on.

    Source: docs/format.md; the interface of RecordSilo 0.4.16 (2010).
    """

    def __init__(
        self,
        silo: "Silo",
        place: RecordPlace,
        found: Manifest | None,
        *,
        date: datetime | str | None = None,
        startversion: str = "1",
    ) -> None:
        super().__init__(silo, place, found, date=date, startversion=startversion)
        self._queued: list[tuple[str, str, Staged, bool | None, str]] = []

    # -- changing ---------------------------------------------------------------------------

    def _change(self, act: Callable[[RecordEdit], T], if_revision: int | None) -> T:
        """Apply pending changes of this handle, then ``act``, to the record as it is now."""
        with self._silo.editing(self.item_id, if_revision=if_revision) as edit:
            self._begin(edit)
            for path, version, staged, metadata, log in self._queued:
                # The edit gets a second name of the file: should it fail, the queue is as it was.
                again = self._silo.staging.new_path()
                atomic_file.duplicate(staged.path, again)
                edit.put(version, path, Staged(again, staged.digest), metadata=metadata)
                edit.log(version, log)
            result = act(edit)
        self._forget_queue()
        self._cursor = None
        self._show(replace(edit.manifest, pending=Pending()))
        return result

    def _forget_queue(self) -> None:
        while self._queued:
            self._silo.staging.discard(self._queued.pop()[2].path)

    def _begin(self, edit: RecordEdit) -> None:
        if not edit.exists:
            if self.exists:
                raise RecordGone(self.item_id, self._silo.path)
            name, date = self._start()
            edit.add_version(name, date=date, origin=new_origin("local"),
                             log="Created new data package")  # fmt: skip
        for key, value in self._merged_metadata(edit.manifest.metadata).items():
            if value is _ABSENT:
                edit.del_metadata(key)
            else:
                edit.set_metadata(key, value)
        if self._cursor is not None:
            edit.move_cursor(self._cursor)

    def _merged_metadata(self, theirs: Any) -> dict[str, Any]:
        """The keys this handle changed, merged with what is stored now (three ways, by key)."""
        if "_metadata" not in vars(self):  # nobody asked for it
            return {}
        changed = {}
        own = json.loads(json.dumps(self._metadata, allow_nan=False))  # as JSON will keep it
        for key in dict.fromkeys([*self._base, *own]):
            ours, base, now = (part.get(key, _ABSENT) for part in (own, self._base, theirs))
            if _same(ours, base) or _same(ours, now):
                continue
            if not _same(now, base):
                shown = [None if value is _ABSENT else value for value in (ours, now)]
                raise MetadataConflict(self.item_id, key, *shown)
            changed[key] = ours
        return changed

    def sync(self, *, agent: str = "", message: str = "", if_revision: int | None = None) -> None:
        """Store the metadata, the cursor, and what was put with ``sync=False``.

        Raises:
            MetadataConflict: A key of metadata was changed here, and meanwhile by
                somebody else, to another value; nothing is stored.
        """

        def act(edit: RecordEdit) -> None:
            if edit.changed and (agent or message):
                edit.log(edit.manifest.current_version, self._line("Synced", agent, message))

        self._change(act, if_revision)

    def revert(self) -> None:
        """Read the record again; what was not synced is gone.

        Raises:
            RecordGone: It was deleted meanwhile.
        """
        self._forget_queue()
        self._cursor = None
        found = self._place.read_manifest()
        if found is None and self.exists:
            raise RecordGone(self.item_id, self._silo.path)
        self._show(found or self._unwritten())

    revert_manifest = revert

    def get_stream(
        self, filename: str, version: str | None = None, writeable: bool = False
    ) -> BinaryIO:
        """Open a file of a version: binary, a context manager.

        Args:
            filename: Path within the version.
            version: By default the cursor's.
            writeable: Gives a staged copy instead: it reads from the start and what is
                written is appended (``seek`` and ``truncate`` to write it anew);
                closing it puts it into the version, as `put_stream` does, and leaving
                its ``with`` block by an exception discards it.

        Raises:
            FileNotInVersion: The version has no such file, or it is gone from the disk.
            DanglingLink: It is a link that leads nowhere.
            VersionFrozen: Writeable, and the version is kept as harvested.
        """
        name = self._version(version).name
        if writeable:
            return self._writeable_copy(filename, name)
        return self._open(filename, name)

    def _writeable_copy(self, filename: str, version: str) -> WriteableStream:
        with self._silo.editing(self.item_id) as edit:
            edit.check_writable(version)
        staged = self._silo.staging.new_path()
        with self.get_stream(filename, version) as source:
            atomic_file.copy_new(source, staged, atomic_file.group_barrier(self._place.root))

        def store() -> None:
            with open(staged, "rb") as file:
                atomic_file.flush_fd(file.fileno())
                digest = atomic_file.digest_of(file)
            self._put_staged(filename, version, Staged(staged, digest), None, _Note())

        return WriteableStream(staged, store, lambda: self._silo.staging.discard(staged))

    def put_stream(
        self,
        filename: str,
        filetostream: Source,
        version: str | bool | None = None,
        metadata: bool | None = None,
        sync: bool = True,
        *,
        agent: str = "",
        message: str = "",
        if_revision: int | None = None,
    ) -> dict[str, str] | None:
        """Put a file into a version, whole or not at all.

        Args:
            filename: Path within the version; directories are made.
            filetostream: str (stored as UTF-8), bytes, or an open text or binary file,
                which is read from its start if it can seek.
            version: By default the cursor's; a bool here is taken for ``metadata``.
            metadata: Whether the file is metadata; a file put again without saying
                stays what it was.
            sync: False stages the file only; it is in the version after `sync`,
                together with all others staged so.

        Returns:
            None; with ``hashing_type`` in the Silo's state, checksum and type.

        Raises:
            SourceFailed: The source could not be read; the old content stays.
            PathNameError, VersionNotFound, VersionFrozen, FileInTheWay: Nothing is written.
            OSError: The disk refused; the record is as it was.
        """
        if isinstance(version, bool):
            version, metadata = None, version
        check_path(filename)
        name = self._version(version).name
        staged, checksum = self._stage(filename, filetostream)
        if sync:
            note = _Note(agent, message, if_revision)
            self._put_staged(filename, name, staged, metadata, note)
        else:
            line = self._line(f"Added or updated file {filename}", agent, message)
            self._queued.append((filename, name, staged, metadata, line))
        return checksum

    def _put_staged(
        self, path: str, version: str, staged: Staged, metadata: bool | None, note: _Note
    ) -> None:
        def act(edit: RecordEdit) -> None:
            edit.put(version, path, staged, metadata=metadata)
            line = self._line(f"Added or updated file {path}", note.agent, note.message)
            edit.log(version, line)

        try:
            self._change(act, note.if_revision)
        except BaseException:
            self._silo.staging.discard(staged.path)
            raise

    def _stage(self, filename: str, source: Source) -> tuple[Staged, dict[str, str] | None]:
        kind = self._silo.state.get("hashing_type")
        hasher = hashlib.new(kind) if kind else None
        path = self._silo.staging.new_path()
        content = chunks(filename, source, hasher.update if hasher else None)
        digest = atomic_file.write_new(path, content, StrictBarrier())
        checksum = {"checksum": hasher.hexdigest(), "type": str(kind)} if hasher else None
        return Staged(path, digest), checksum

    def _line(self, text: str, agent: str, message: str) -> str:
        """A line of the version log: the words of 2010, then when, who and why if told."""
        if not agent and not message:
            return text
        why = f": {message}" if message else ""
        return f"{text} [{now_text()} {agent or self._silo.agent}{why}]"

    def accept(
        self,
        filenames: str | Sequence[str],
        version: str | None = None,
        *,
        agent: str = "",
        message: str = "",
        if_revision: int | None = None,
    ) -> None:
        """Take files of a curated version as they lie on disk, edited or added by other means.

        Their new digests are recorded; the content is whatever is there now.

        Raises:
            VersionFrozen: The version is a harvested one: that stays as it was harvested.
            FileNotInVersion: One of the files is not on disk; nothing is recorded.
        """
        name = self._version(version).name
        paths = [filenames] if isinstance(filenames, str) else list(filenames)

        def act(edit: RecordEdit) -> None:
            for path in paths:
                edit.accept(name, path)
                line = f"Accepted file {path} as edited outside"
                edit.log(name, self._line(line, agent or self._silo.agent, message))

        self._change(act, if_revision)

    def del_stream(
        self,
        filename: str,
        versions: str | Sequence[str] = (),
        *,
        agent: str = "",
        message: str = "",
        if_revision: int | None = None,
    ) -> None:
        """Delete a file, or an empty directory, from the cursor's version or from ``versions``.

        Raises:
            FileNotInVersion: One of the versions has none of that name; nothing is deleted.
            DirectoryNotEmpty: It is a directory with files.
            VersionFrozen: The version is kept as harvested.
        """
        names = [versions] if isinstance(versions, str) else list(versions)
        names = [self._version(name).name for name in names or [self.currentversion]]

        def act(edit: RecordEdit) -> None:
            for name in names:
                edit.delete(name, filename)
                edit.log(name, self._line(f"Deleted file {filename}", agent, message))

        self._change(act, if_revision)

    def rename_stream(
        self,
        filename: str,
        new_filename: str,
        version: str | None = None,
        *,
        agent: str = "",
        message: str = "",
        if_revision: int | None = None,
    ) -> None:
        """Give a file of a version another path.

        Raises:
            FileInTheWay: There is one of that path already.
            FileNotInVersion, PathNameError, VersionFrozen: Nothing is changed.
        """
        check_path(new_filename)
        name = self._version(version).name

        def act(edit: RecordEdit) -> None:
            edit.rename(name, filename, new_filename)
            line = f"Renamed file {filename} to {new_filename}"
            edit.log(name, self._line(line, agent, message))

        self._change(act, if_revision)

    def copy_file_between_versions(
        self,
        filename: str,
        from_version: str,
        to_version: str,
        *,
        agent: str = "",
        message: str = "",
        if_revision: int | None = None,
    ) -> None:
        """Copy a file from one version into another, over one of that name.

        Raises:
            FileNotInVersion, VersionNotFound, VersionFrozen: Nothing is changed.
        """
        source, target = self._version(from_version), self._version(to_version)
        line = self._line(f"Copied file {filename} from version {source.name}", agent, message)

        def act(edit: RecordEdit) -> None:
            edit.copy(source.name, filename, target.name)
            edit.log(target.name, line)

        self._change(act, if_revision)

    # -- versions, made and unmade ------------------------------------------------------------

    def create_new_version(
        self,
        version: str,
        date: datetime | str | None = None,
        *,
        agent: str = "",
        message: str = "",
        if_revision: int | None = None,
    ) -> None:
        """Add an empty version; the cursor moves to it.

        Args:
            date: By default the record's date.

        Raises:
            VersionExists, VersionNameError: Nothing is written.
        """
        name = check_version_name(version)
        origin = new_origin("local", agent=agent or self._silo.agent, message=message)

        def act(edit: RecordEdit) -> None:
            when = date_text(date) if date is not None else edit.manifest.date
            edit.add_version(name, date=when, origin=origin, log="Created new version")

        self._change(act, if_revision)

    def increment_version(
        self,
        date: datetime | str | None = None,
        clone_previous_version: bool = False,
        *,
        agent: str = "",
        message: str = "",
        if_revision: int | None = None,
    ) -> str:
        """Add the version after the cursor's, empty or as a copy of it; the cursor moves there.

        Args:
            date: By default now.

        Returns:
            Its name: the cursor's number and one, or the next that is free; for a
            version that is no number, its name and ``_new``.
        """
        note = _Note(agent, message, if_revision)
        return self._increment(date, clone_previous_version, (), note)

    def increment_version_delta(
        self,
        date: datetime | str | None = None,
        clone_previous_version: bool = False,
        copy_filenames: Collection[str] = (),
        copy_extensions: Collection[str] = (),
        *,
        agent: str = "",
        message: str = "",
        if_revision: int | None = None,
    ) -> str:
        """As `increment_version`, files hard-linked as `clone_version_delta` does."""
        linked = self._linked(self.currentversion, copy_filenames, copy_extensions)
        note = _Note(agent, message, if_revision)
        return self._increment(date, clone_previous_version, linked, note)

    def _increment(
        self, date: datetime | str | None, clone: bool, linked: Collection[str], note: _Note
    ) -> str:
        when = date_text(date) if date is not None else now_text()
        agent = note.agent or self._silo.agent

        def act(edit: RecordEdit) -> str:
            previous = edit.manifest.current_version
            name = _name_after(previous, edit.manifest.version_names)
            log = f"Version number incremented from {previous} to {name}"
            if clone:
                origin = new_origin("clone", of=previous, agent=agent, message=note.message)
                edit.derive_version(
                    previous, name, date=when, origin=origin, log=log, linked=linked
                )
            else:
                origin = new_origin("local", agent=agent, message=note.message)
                edit.add_version(name, date=when, origin=origin, log=log)
            return name

        return self._change(act, note.if_revision)

    def clone_version(
        self,
        original_version: str,
        new_version: str,
        exclude_filenames: Collection[str] = (),
        *,
        agent: str = "",
        message: str = "",
        if_revision: int | None = None,
    ) -> str:
        """Copy a version byte for byte under a new name; move the cursor to it.

        The copy is the curator's own: its files may be changed through this interface
        or with any editor, and the original stays as it is. Built in a staging
        directory and renamed into place before the manifest is replaced: after a crash
        the manifest lists no new version, or a whole one.

        Args:
            original_version: Existing name, e.g. ``"1"``; its date is the clone's too.
            new_version: Unused name; becomes the directory ``__<new_version>``.
            exclude_filenames: Paths within the version, or top-level directories.

        Returns:
            ``new_version``.

        Raises:
            VersionNotFound: No such original; nothing written.
            VersionExists: Name taken; nothing written.
            FileNotInVersion: A file of the original is gone, or a link that leads
                nowhere (`DanglingLink`); nothing written.
            OSError: The disk refused; the record is unchanged.

        Cost: reads and writes every byte, or a reflink where the file system has them;
            `clone_version_delta` links instead.
        Source: docs/format.md, "Versions".
        """
        note = _Note(agent, message, if_revision)
        return self._clone(original_version, new_version, exclude_filenames, (), note)

    def clone_version_delta(
        self,
        original_version: str,
        new_version: str,
        copy_filenames: Collection[str] = (),
        copy_extensions: Collection[str] = (),
        *,
        agent: str = "",
        message: str = "",
        if_revision: int | None = None,
    ) -> str:
        """As `clone_version`, with hard links instead of copies, for large files.

        A write through this interface never reaches the other version; an editor that
        writes in place does. Copies are made where the file system has no hard links.

        Args:
            copy_filenames: Paths to copy all the same.
            copy_extensions: File name endings (``".xml"``, ``"xml"``) to copy all the same.
        """
        linked = self._linked(original_version, copy_filenames, copy_extensions)
        note = _Note(agent, message, if_revision)
        return self._clone(original_version, new_version, (), linked, note)

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
        self,
        original: str,
        new: str,
        exclude: Collection[str],
        linked: Collection[str],
        note: _Note,
    ) -> str:
        original, new = str(original), check_version_name(new)
        origin = new_origin(
            "clone", of=original, agent=note.agent or self._silo.agent, message=note.message
        )

        def act(edit: RecordEdit) -> str:
            edit.derive_version(
                original,
                new,
                date=edit.manifest.version(original).date,
                origin=origin,
                log=f"Version {new} cloned from {original}",
                exclude=exclude,
                linked=linked,
            )
            return new

        return self._change(act, note.if_revision)

    def rename_version(
        self,
        original_version: str,
        new_version: str,
        *,
        agent: str = "",
        message: str = "",
        if_revision: int | None = None,
    ) -> str:
        """Give a version another name; its place in the order stays, the cursor moves to it.

        Returns:
            The new name.

        Raises:
            VersionNotFound, VersionExists, VersionNameError: Nothing is changed.
            VersionFrozen: The version is kept as harvested.
        """
        original, new = str(original_version), check_version_name(new_version)
        if self._manifest.has(new):
            raise VersionExists(self.item_id, new)
        self.sync(if_revision=if_revision)
        expected = None if if_revision is None else self.revision
        line = self._line(f"Version {original} renamed to {new}", agent, message)

        def act(edit: RecordEdit) -> str:
            edit.rename_version(original, new)
            edit.move_cursor(new)
            edit.log(new, line)
            return new

        return self._change(act, expected)

    def del_version(
        self,
        version: str,
        *,
        agent: str = "",
        message: str = "",
        if_revision: int | None = None,
    ) -> None:
        """Delete a version with its files; the cursor, if it was there, moves to the last one.

        Raises:
            VersionNotFound: There is none of that name.
            VersionFrozen: The version is kept as harvested.
            LastVersion: A record keeps at least one; delete the record instead.
        """
        self.del_versions([version], agent=agent, message=message, if_revision=if_revision)

    def del_versions(
        self,
        versions: Sequence[str],
        *,
        agent: str = "",
        message: str = "",
        if_revision: int | None = None,
    ) -> list[None]:
        """Delete some versions, all or none; see `del_version`."""
        names = [self._version(name).name for name in versions]

        def act(edit: RecordEdit) -> None:
            for name in names:
                if edit.manifest.version_names == (name,):
                    raise LastVersion(self.item_id, name)
                edit.remove_version(name)
                line = self._line(f"Deleted version {name}", agent, message)
                edit.log(edit.manifest.current_version, line)

        self._change(act, if_revision)
        return [None] * len(names)

    def set_version_date(
        self,
        version: str,
        date: datetime | str,
        *,
        agent: str = "",
        message: str = "",
        if_revision: int | None = None,
    ) -> bool:
        """Date a version.

        Returns:
            True.

        Raises:
            VersionNotFound, VersionFrozen: Nothing is changed.
        """
        name, when = self._version(version).name, date_text(date)

        def act(edit: RecordEdit) -> bool:
            edit.set_date(name, when)
            edit.log(name, self._line(f"Dated {when}", agent, message))
            return True

        return self._change(act, if_revision)

    def set_version_state(
        self,
        version: str,
        state: str | None,
        *,
        agent: str = "",
        message: str = "",
        if_revision: int | None = None,
    ) -> None:
        """Say what curation of a version has come to; also of one that is frozen.

        Args:
            state: ``"in work"``, ``"ready"``, ``"withheld"``, or None for nothing.

        Raises:
            VersionNotFound: There is none of that name.
            VersionStateError: It is no state; nothing is changed.
        """
        name = self._version(version).name

        def act(edit: RecordEdit) -> None:
            if edit.manifest.version(name).state == state:
                return
            edit.set_state(name, state)
            line = self._line(f"State set to {state or 'none'}", agent or self._silo.agent, message)
            edit.log(name, line)

        self._change(act, if_revision)

    def move_directory_as_new_version(
        self,
        src: str,
        version: str | None = None,
        force: bool = False,
        date: datetime | str | None = None,
        log: str = "Directory contents",
        *,
        agent: str = "",
        message: str = "",
        if_revision: int | None = None,
    ) -> str:
        """Make a directory's content a new version, and remove the directory.

        Args:
            src: A directory of plain files and directories; links and special files are
                refused.
            version: Its name; by default the next number, as `increment_version` gives.
            force: Take the place of a version of that name, in the same step.
            date: By default now.
            log: The version's first log line.

        Returns:
            The version's name; the cursor stands on it.

        Raises:
            PathNameError, SourceFailed: The directory holds what a version cannot, or is
                part of this Silo; nothing is moved.
            VersionFrozen: The version of that name is kept as harvested.
            FileNotFoundError, NotADirectoryError: ``src`` is none.
            VersionExists: The name is taken, and not ``force``.
        """
        paths = plain_files(src)
        if f"{os.path.realpath(src)}/".startswith(f"{os.path.realpath(self._silo.path)}/"):
            raise PathNameError(src, "it is the Silo's own directory, and it would be removed")
        given = None if version is None else check_version_name(version)
        when = date_text(date) if date is not None else now_text()
        origin = new_origin("local", agent=agent or self._silo.agent, message=message)

        def act(edit: RecordEdit) -> str:
            names = edit.manifest.version_names
            new = given or _name_after(edit.manifest.current_version, names)
            if force and new in names:
                edit.check_writable(new)
            edit.adopt_version(new, staged, paths, date=when, origin=origin, log=log, force=force)
            return new

        staged = self._silo.staging.new_directory()
        try:
            for path in paths:
                atomic_file.make_parents(f"{staged}/{path}")
                with open(f"{src}/{path}", "rb") as file:
                    atomic_file.copy_new(file, f"{staged}/{path}", StrictBarrier())
            new = self._change(act, if_revision)
        except BaseException:
            self._silo.staging.discard(staged)
            raise
        atomic_file.remove_tree(os.path.abspath(src))
        return new


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; 1, 1.0 and true are not."""
    if one is _ABSENT or other is _ABSENT:
        return one is other
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _name_after(version: str, taken: Collection[str]) -> str:
    if version.isascii() and version.isdigit():
        number = int(version) + 1
        while str(number) in taken:
            number += 1
        return str(number)
    name = f"{version}_new"
    while name in taken:
        name += "_new"
    return name
