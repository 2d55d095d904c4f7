"""HarvestedRecord: the versions and files of one identifier (the 2010 class of that name)."""

import hashlib
from collections.abc import Sequence
from typing import BinaryIO

from recordsilo.disk import atomic_file
from recordsilo.disk.atomic_file import Staged, StrictBarrier
from recordsilo.disk.names import check_path
from recordsilo.records.edit import RecordEdit
from recordsilo.records.record_changes import Note
from recordsilo.records.record_versions import VersionChanges
from recordsilo.records.streams import Source, WriteableStream, chunks


class HarvestedRecord(VersionChanges):
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
            self._put_staged(filename, version, Staged(staged, digest), None, Note())

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
            note = Note(agent, message, if_revision)
            self._put_staged(filename, name, staged, metadata, note)
        else:
            line = self._line(f"Added or updated file {filename}", agent, message)
            self._queued.append((filename, name, staged, metadata, line))
        return checksum

    def _put_staged(
        self, path: str, version: str, staged: Staged, metadata: bool | None, note: Note
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
