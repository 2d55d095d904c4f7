"""Read a record as it was: its manifest of then, and its files, wherever they are now."""

from collections.abc import Callable
from typing import BinaryIO

from recordsilo.disk.digest import Digest
from recordsilo.disk.names import MANIFEST_NAME
from recordsilo.disk.stamps import modified
from recordsilo.errors import FileNotInVersion, FileNotKept, ReadOnlyMoment
from recordsilo.records.history import Then, as_of
from recordsilo.records.manifest import Manifest
from recordsilo.records.place import RecordPlace

NoteDoubt = Callable[[str, str, bool], None]
Known = tuple[str, str]
"""A version and a path."""


class PlaceThen(RecordPlace):
    """A record's place as it was at a moment. Nothing can be changed through it.

    Args:
        place: Where the record is.
        moment: In the 2010 form.
        unsure: Called with the identifier, the reason, and whether the record is known to have
            been there, each time that it is read and what it was is not certain.
    """

    __slots__ = ("_moment", "_unsure")

    def __init__(self, place: RecordPlace, moment: str, unsure: NoteDoubt) -> None:
        super().__init__(place.identifier, place.dirpath, place.root)
        self._moment, self._unsure = moment, unsure

    @property
    def key(self) -> tuple[str, ...]:
        return *super().key, self._moment

    def exists(self) -> bool:
        return self.read_manifest() is not None

    def read_manifest(self, *, to_change: bool = False) -> Manifest | None:
        """The manifest as it was; None if there was no such record, as far as is known.

        Args:
            to_change: Raises `ReadOnlyMoment` if true.

        Raises:
            ManifestUnreadable: See `RecordPlace.read_manifest`.
            HistoryUnreadable: See `recordsilo.records.history.as_of`.
        """
        if to_change:
            raise ReadOnlyMoment(self._moment)
        now = super().read_manifest()
        return None if now is None else self._then(now).manifest

    def _then(self, now: Manifest) -> Then:
        written = "" if now.changed else modified(f"{self.dirpath}/{MANIFEST_NAME}")
        found = as_of(now, self._moment, written)
        if found.unsure:
            self._unsure(self.identifier, found.unsure, found.manifest is not None)
        return found

    def open(self, manifest: Manifest, version: str, path: str) -> BinaryIO:
        """Open a file as it was then; see `RecordPlace.open`.

        Args:
            manifest: From `read_manifest`.
            version: The version's name then.
            path: The file's path then.

        Raises:
            FileNotKept: It was changed or removed since, and its content is nowhere in the record.
        """
        return super().open(*self._now(manifest, version, path))

    def content(self, manifest: Manifest, version: str, path: str) -> bytes:
        """The content of a file as it was then; raises the errors of `open`.

        Args:
            manifest: From `read_manifest`.
            version: The version's name then.
            path: The file's path then.
        """
        return super().content(*self._now(manifest, version, path))

    def path_on_disk(self, manifest: Manifest, version: str, path: str = "") -> str:
        """The path where a version or a file of it is now.

        Args:
            manifest: From `read_manifest`.
            version: The version's name then.
            path: A file in it; by default the version's directory.
        """
        if not path or path not in manifest.version(version).paths:
            return super().path_on_disk(manifest, version, path)
        return super().path_on_disk(*self._now(manifest, version, path))

    def _now(self, then: Manifest, version: str, path: str) -> tuple[Manifest, str, str]:
        """The present manifest, and the version and the path that have a file of then."""
        listed = then.version(version).digests or {}
        if path not in listed:
            raise FileNotInVersion(self.identifier, version, path, has=tuple(listed))
        now = super().read_manifest()
        if now is None:
            raise FileNotKept(self.identifier, version, path, self._moment)
        wanted, first = listed[path], (version, path)
        files = files_of(now)
        if first in files and wanted in (None, files[first]):  # 2010 noted no digests
            return now, version, path
        for (name, where), digest in files.items() if wanted else ():
            if digest == wanted:
                return now, name, where
        error = FileNotKept(self.identifier, version, path, self._moment)
        self._unsure(self.identifier, str(error), True)
        raise error


def files_of(manifest: Manifest) -> dict[Known, Digest | None]:
    """The files of all versions with their digests."""
    return {
        (version.name, path): digest
        for version in manifest.versions
        for path, digest in (version.digests or {}).items()
    }
