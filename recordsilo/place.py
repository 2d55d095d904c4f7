"""Where a record lies on disk, and how it is read there; takes no lock and changes nothing."""

import contextlib
import os
from collections.abc import Iterator
from typing import BinaryIO

from recordsilo.errors import DanglingLink, FileNotInVersion, ManifestUnreadable
from recordsilo.manifest import Manifest, located, with_listing
from recordsilo.manifest_json import from_json
from recordsilo.names import (
    DELETED_MANIFEST,
    MANIFEST_NAME,
    STAGED_MANIFEST,
    is_staged,
    is_tag,
    version_dirname,
)


class RecordPlace:
    """Where a record lies, and how its files are read there."""

    __slots__ = ("dirpath", "identifier", "root")

    def __init__(self, identifier: str, dirpath: str, root: str) -> None:
        self.identifier, self.dirpath, self.root = identifier, dirpath, root

    def read_manifest(self) -> Manifest | None:
        """The record's manifest; None where there is no such record.

        Raises:
            ManifestUnreadable: It is damaged, is another record's, or is missing
                beside versions.
        """
        path = f"{self.dirpath}/{MANIFEST_NAME}"
        content = self._read_whole(path)
        while content is None:
            if not self._was_created_meanwhile(path):
                return None
            content = self._read_whole(path)
        manifest = from_json(content, path)
        if manifest.item_id != self.identifier:
            raise ManifestUnreadable(path, f"it is that of {manifest.item_id!r}")
        if any(version.digests is None for version in manifest.versions):
            manifest = with_listing(manifest, self.walk)
        return manifest

    @staticmethod
    def _read_whole(path: str) -> bytes | None:
        try:
            with open(path, "rb") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _was_created_meanwhile(self, path: str) -> bool:
        """Versions without a manifest are damage, unless a writer was or is at work there."""
        try:
            names = os.listdir(self.dirpath)
        except (FileNotFoundError, NotADirectoryError):
            return False
        if MANIFEST_NAME in names:
            return True
        versions = ", ".join(sorted(name for name in names if name.startswith("__")))
        if versions and STAGED_MANIFEST not in names and DELETED_MANIFEST not in names:
            raise ManifestUnreadable(path, f"it is missing, though {versions} is there")
        return False

    def walk(self, version: str) -> Iterator[str]:
        """Paths of the files in a version's directory, tags and staged names left out."""
        base = f"{self.dirpath}/{version_dirname(version)}"
        stack = [""]
        while stack:
            below = stack.pop()
            with contextlib.suppress(FileNotFoundError), os.scandir(base + "/" + below) as entries:
                for entry in sorted(entries, key=lambda e: e.name):
                    path = below + entry.name
                    if entry.is_dir(follow_symlinks=False):
                        stack.append(path + "/")
                    elif not is_tag(path) and not is_staged(entry.name):
                        yield path

    def open(self, manifest: Manifest, version: str, path: str) -> BinaryIO:
        """Open a file of a version for reading.

        Raises:
            FileNotInVersion: Not listed, or gone from the disk.
            DanglingLink: A symbolic link that leads nowhere within the Silo.
        """
        listed = manifest.version(version)
        if path not in (listed.digests or ()):
            raise FileNotInVersion(self.identifier, version, path)
        for place in located(manifest, f"{version_dirname(version)}/{path}"):
            try:
                return self._open_inside(f"{self.dirpath}/{place}", version, path)
            except DanglingLink:
                raise
            except FileNotFoundError:
                continue
        raise FileNotInVersion(
            self.identifier,
            version,
            path,
            f"version {version!r} of record {self.identifier} lists a file {path!r} that is gone "
            f"from {self.dirpath}; restore it from a backup, or delete it from the version",
        )

    def _open_inside(self, place: str, version: str, path: str) -> BinaryIO:
        if "/" not in path:
            try:
                return open(place, "rb", opener=_without_following)
            except FileNotFoundError:
                raise
            except OSError:
                if not os.path.islink(place):
                    raise
        return open(self._real_path(place, version, path), "rb")

    def _real_path(self, place: str, version: str, path: str) -> str:
        """Where links lead: 2010 made delta clones of them; only within the Silo."""
        real = os.path.realpath(place)
        inside = os.path.realpath(self.root) + "/"
        if os.path.lexists(place) and not (real.startswith(inside) and os.path.isfile(real)):
            target = os.readlink(place) if os.path.islink(place) else real
            raise DanglingLink(self.identifier, version, path, target)
        return real

    def path_on_disk(self, manifest: Manifest, version: str, path: str = "") -> str:
        """Where a version, or a file in it, lies now: the absolute path."""
        relative = version_dirname(version) + ("/" + path if path else "")
        places = [f"{self.dirpath}/{place}" for place in located(manifest, relative)]
        return next((place for place in places if os.path.lexists(place)), places[-1])


def _without_following(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW)
