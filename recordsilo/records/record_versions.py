"""The versions of a record, made, renamed, dated and taken away (docs/format.md, "Versions")."""

import os
from collections.abc import Collection, Sequence
from datetime import datetime

from recordsilo.disk import atomic_file
from recordsilo.disk.atomic_file import StrictBarrier
from recordsilo.disk.names import check_version_name
from recordsilo.errors import LastVersion, PathNameError, VersionExists
from recordsilo.records.edit import RecordEdit, new_origin
from recordsilo.records.manifest import date_text, now_text
from recordsilo.records.record_changes import Note, RecordChanges
from recordsilo.records.streams import plain_files


class VersionChanges(RecordChanges):
    """The methods of a record that change versions as wholes."""

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
        note = Note(agent, message, if_revision)
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
        note = Note(agent, message, if_revision)
        return self._increment(date, clone_previous_version, linked, note)

    def _increment(
        self, date: datetime | str | None, clone: bool, linked: Collection[str], note: Note
    ) -> str:
        when = date_text(date) if date is not None else now_text()
        agent = note.agent or self._silo.agent

        def act(edit: RecordEdit) -> str:
            previous = edit.manifest.current_version
            name = name_after(previous, edit.manifest.version_names)
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
        note = Note(agent, message, if_revision)
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
        note = Note(agent, message, if_revision)
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
        note: Note,
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
            new = given or name_after(edit.manifest.current_version, names)
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


def name_after(version: str, taken: Collection[str]) -> str:
    """The name of the version after one: its number and one, or the next that is free."""
    if version.isascii() and version.isdigit():
        number = int(version) + 1
        while str(number) in taken:
            number += 1
        return str(number)
    name = f"{version}_new"
    while name in taken:
        name += "_new"
    return name
