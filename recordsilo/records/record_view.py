"""Read the files that a manifest lists."""

import contextlib
import os
from dataclasses import dataclass
from typing import BinaryIO

from recordsilo.disk.atomic_file import digest_of
from recordsilo.disk.digest import Digest
from recordsilo.errors import FileNotInVersion, RecordGone
from recordsilo.records.differences import Differences, compare
from recordsilo.records.manifest import Manifest
from recordsilo.records.place import RecordPlace


@dataclass(frozen=True, slots=True)
class FileInfo:
    """A file of a version.

    Attributes:
        size: In bytes, as on disk now.
        sha256: As recorded when the file was put; None if it was not recorded, as in 2010.
        is_metadata: Whether the file was put as metadata.
    """

    path: str
    size: int
    sha256: str | None
    is_metadata: bool


class RecordView:
    """Reads the files that a manifest lists, wherever they are on disk now."""

    __slots__ = ("manifest", "place")

    def __init__(self, place: RecordPlace, manifest: Manifest) -> None:
        self.place, self.manifest = place, manifest

    def open(self, version: str, path: str) -> BinaryIO:
        """Open a file for reading, even if another process has moved it since.

        Raises:
            FileNotInVersion: The version has no such file, or it is missing on disk.
            RecordGone: The record was deleted meanwhile.
        """
        try:
            return self.place.open(self.manifest, version, path)
        except FileNotInVersion:
            newer = self.place.read_manifest()
            if newer is None and self.manifest.is_stored:
                silo = os.path.dirname(self.place.root)
                raise RecordGone(self.place.identifier, silo) from None
            if newer is None or newer == self.manifest or not newer.has(version):
                raise
            return self.place.open(newer, version, path)

    def read(self, version: str, path: str) -> bytes:
        """The content of a file; see `open`."""
        with contextlib.suppress(FileNotInVersion):
            return self.place.content(self.manifest, version, path)
        with self.open(version, path) as file:
            return file.read()

    def info(self, version: str, path: str) -> FileInfo:
        """Size, digest and kind of a file."""
        listed = self.manifest.version(version)
        size = self.stat(version, path).st_size
        digest = (listed.digests or {}).get(path)
        sha256 = None if digest is None else digest.sha256
        return FileInfo(path, size, sha256, path in listed.metadata_files)

    def stat(self, version: str, path: str) -> os.stat_result:
        """``os.stat`` of a file."""
        with self.open(version, path) as file:
            return os.fstat(file.fileno())

    def path_on_disk(self, version: str, path: str = "") -> str:
        """The absolute path of a version's directory, or of a file or directory in it."""
        return self.place.path_on_disk(self.manifest, version, path)

    def names_in(self, version: str, directory: str) -> list[str]:
        """The names in a directory of a version, in the order put; ``""`` is the top one."""
        listed = self.manifest.version(version)
        if not directory:
            return list(listed.files)
        below = f"{directory}/"
        inside = (path.removeprefix(below) for path in listed.paths if path.startswith(below))
        return list(dict.fromkeys(path.split("/")[0] for path in inside))

    def differences(self, before: str, after: str) -> Differences:
        """Compare the files of two versions; a shared file is read once."""
        seen: dict[tuple[int, int], Digest] = {}
        old, new = (
            {path: self._digest(name, path, seen) for path in self.manifest.version(name).paths}
            for name in (before, after)
        )
        return compare(before, after, (old, new), self.read)

    def _digest(self, version: str, path: str, seen: dict[tuple[int, int], Digest]) -> Digest:
        with self.open(version, path) as file:
            found = os.fstat(file.fileno())
            key = (found.st_dev, found.st_ino)
            if key not in seen:
                seen[key] = digest_of(file)
            return seen[key]
