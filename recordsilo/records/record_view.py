"""What a handle on a record shows: the read side of `HarvestedRecord`, with the names of 2010."""

import copy
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, BinaryIO, Protocol

from recordsilo.disk.atomic_file import Staging, digest_of
from recordsilo.disk.digest import Digest
from recordsilo.disk.names import check_path, check_version_name
from recordsilo.errors import FileNotInVersion, RecordGone
from recordsilo.records.differences import Differences, compare
from recordsilo.records.edit import RecordEdit
from recordsilo.records.manifest import (
    Manifest,
    Origin,
    Version,
    date_text,
    is_frozen,
    now_text,
    upstream_newer,
)
from recordsilo.records.manifest_json import to_2010
from recordsilo.records.place import RecordPlace

logger = logging.getLogger("RecordSilo")


class RecordKeeper(Protocol):
    """What a handle needs of the Silo that its record is in."""

    agent: str

    @property
    def path(self) -> str:
        """The Silo's directory."""

    @property
    def state(self) -> Mapping[str, Any]:
        """The Silo's settings."""

    @property
    def staging(self) -> Staging:
        """Where what is to be put is written first."""

    def editing(
        self, identifier: str, *, if_revision: int | None = None
    ) -> AbstractContextManager[RecordEdit]:
        """See `Silo.editing`."""


@dataclass(frozen=True, slots=True)
class FileInfo:
    """A file of a version.

    Attributes:
        size: In bytes, as on disk now.
        sha256: As recorded when it was put; None where 2010 recorded none.
        is_metadata: Whether it was put as metadata.
    """

    path: str
    size: int
    sha256: str | None
    is_metadata: bool


def _copied(value: Any) -> Any:
    """A copy of a JSON value that shares nothing which can be changed."""
    if isinstance(value, Mapping):
        return {key: _copied(member) for key, member in value.items()}
    return [_copied(member) for member in value] if isinstance(value, list) else value


class RecordView:
    """A record as it was when the handle was made, last wrote or was reverted.

    It is also a read-only mapping of the manifest's keys of 2010.
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
        self._silo, self._place = silo, place
        self._startversion = check_version_name(startversion)
        self._startdate = date_text(date) if date else None
        self._cursor: str | None = None
        self._show(found or self._unwritten())

    def _start(self) -> tuple[str, str]:
        """Name and date of the first version of a record that is to be made."""
        if self._startdate is None:
            self._startdate = now_text()
        return self._startversion, self._startdate

    def _unwritten(self) -> Manifest:
        name, date = self._start()
        version = Version(name, date, Origin("local"), log=("Created new data package",))
        return Manifest(self.item_id, date, name, (version,))

    def _show(self, found: Manifest) -> None:
        self._manifest = found
        self._base = found.metadata
        if "_metadata" in vars(self):
            self._metadata.clear()
            self._metadata.update(_copied(found.metadata))

    @cached_property
    def _metadata(self) -> dict[str, Any]:
        """A copy to be changed, made when first asked for; from then on the same dict."""
        return dict(_copied(self._base))

    # -- what it is -----------------------------------------------------------------------

    @property
    def item_id(self) -> str:
        """The identifier, whole."""
        return self._place.identifier

    @property
    def uri(self) -> str:
        """The Silo's uri_base and the identifier, as in 2010."""
        return f"{self._silo.state.get('uri_base') or ''}{self.item_id}"

    @property
    def exists(self) -> bool:
        """Whether the record was on disk when this handle last looked."""
        return self._manifest.revision > 0 or self._manifest.format == 0

    @property
    def revision(self) -> int:
        """Counts up with each write; 0 for one not written yet, or only in 2010."""
        return self._manifest.revision

    @property
    def manifest(self) -> dict[str, Any]:
        """The keys of 2010 with their meaning, as a new dict; the cursor as this handle has it."""
        return to_2010(replace(self.state, metadata=self._metadata))

    @property
    def state(self) -> Manifest:
        """The manifest as this handle sees it: its cursor, its metadata."""
        shown = self._manifest
        if shown.versions:
            shown = shown.with_cursor(self.currentversion)
        if "_metadata" in vars(self):  # else nobody asked for it, and it is as it was read
            shown = replace(shown, metadata=self._metadata)
        return shown

    @property
    def versions(self) -> list[str]:
        """The versions' names, in the order made."""
        return list(self._manifest.version_names)

    @property
    def currentversion(self) -> str:
        """The version the cursor stands on."""
        return self._cursor or self._manifest.current_version

    @property
    def files(self) -> list[str]:
        """Top-level names in the cursor's version, directories among them, in the order put."""
        return list(self._version().files)

    @property
    def metadata_files(self) -> dict[str, list[str]]:
        """Version → the names that were put as metadata."""
        return {v.name: list(v.metadata_files) for v in self._manifest.versions}

    @property
    def date(self) -> str:
        """The date of the cursor's version, in the 2010 form."""
        return self._version().date

    @property
    def versionlog(self) -> list[str]:
        """The log of the cursor's version."""
        return list(self._version().log)

    @property
    def metadata(self) -> dict[str, Any]:
        """What is noted about the record: a dict of JSON values; `sync` stores what you change."""
        return self._metadata

    @metadata.setter
    def metadata(self, members: dict[str, Any]) -> None:
        replacement = copy.deepcopy(members)
        self._metadata.clear()
        self._metadata.update(replacement)

    def __repr__(self) -> str:
        return repr(self.manifest)

    def __len__(self) -> int:
        return len(self._manifest.versions)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self.manifest)

    def __contains__(self, key: object) -> bool:
        return key in self.manifest

    def __getitem__(self, key: str) -> Any:
        return self.manifest[key]

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

    # -- versions, as they are --------------------------------------------------------------

    def _version(self, name: str | None = None) -> Version:
        return self._manifest.version(self.currentversion if name is None else str(name))

    def get_versions(self) -> list[str]:
        """The versions' names, in the order made."""
        return self.versions

    def get_version_cursor(self) -> str:
        """The version the cursor stands on."""
        return self.currentversion

    def set_version_cursor(self, version: str) -> bool:
        """Move the cursor of this handle; the next change or `sync` stores where it stands.

        Returns:
            True; or False, with an ERROR on the logger ``RecordSilo``, where there is
            no such version.
        """
        if not self._manifest.has(str(version)):
            logger.error("Version %s does not exist", version)
            return False
        self._cursor = str(version)
        return True

    def origin(self, version: str | None = None) -> Origin:
        """Where a version came from."""
        return self._version(version).origin

    def version_state(self, version: str | None = None) -> str | None:
        """What a curator said of a version: ``in work``, ``ready``, ``withheld``, or nothing."""
        return self._version(version).state

    def is_curated(self, version: str | None = None) -> bool:
        """Whether a version was made by people, and not by a harvest."""
        return self._version(version).is_curated

    def is_frozen(self, version: str | None = None) -> bool:
        """Whether a version is kept as harvested and refuses changes."""
        return is_frozen(self._manifest, self._version(version).name)

    def upstream_newer(self) -> bool:
        """Whether a version newer than the base of the cursor's, curated, one was harvested."""
        return upstream_newer(self.state)

    def version_date(self, version: str | None = None) -> str:
        """A version's date, in the 2010 form."""
        return self._version(version).date

    def version_log(self, version: str | None = None) -> list[str]:
        """A version's log."""
        return list(self._version(version).log)

    # -- files, as they are -----------------------------------------------------------------

    def paths(self, version: str | None = None) -> list[str]:
        """Every file in a version, in the order put; those in directories with their path."""
        return list(self._version(version).paths)

    def file_info(self, path: str, version: str | None = None) -> FileInfo:
        """What is known of a file.

        Raises:
            FileNotInVersion: The version has no such file, or it is gone from the disk.
            DanglingLink: It is a link that leads nowhere.
        """
        listed = self._version(version)
        with self._open(path, listed.name) as file:
            size = os.fstat(file.fileno()).st_size
        digest = (listed.digests or {}).get(path)
        sha256 = None if digest is None else digest.sha256
        return FileInfo(path, size, sha256, path in listed.metadata_files)

    def differences(self, before: str, after: str) -> Differences:
        """What differs between two versions, as their files lie on disk now.

        Raises:
            VersionNotFound: There is none of that name.
            FileNotInVersion: A file is gone from the disk, or a link that leads nowhere.

        Cost: reads every byte of both, of shared files once.
        """
        seen: dict[tuple[int, int], Digest] = {}
        names = (self._version(before).name, self._version(after).name)
        old, new = (
            {path: self._digest_on_disk(path, name, seen) for path in self._version(name).paths}
            for name in names
        )
        return compare(*names, (old, new), self._content)

    def _content(self, version: str, path: str) -> bytes:
        with self._open(path, version) as file:
            return file.read()

    def _digest_on_disk(
        self, path: str, version: str, seen: dict[tuple[int, int], Digest]
    ) -> Digest:
        with self._open(path, version) as file:
            found = os.fstat(file.fileno())
            key = (found.st_dev, found.st_ino)
            if key not in seen:
                seen[key] = digest_of(file)
            return seen[key]

    def _open(self, path: str, version: str) -> BinaryIO:
        """Open a file for reading, if need be as another process left it meanwhile."""
        try:
            return self._place.open(self._manifest, version, path)
        except FileNotInVersion:
            newer = self._place.read_manifest()
            if newer is None and self.exists:
                raise RecordGone(self.item_id, self._silo.path) from None
            if newer is None or newer == self._manifest or not newer.has(version):
                raise
            return self._place.open(newer, version, path)

    def to_dirpath(
        self, filepath: str | None = None, version: str | None = None, root: bool = False
    ) -> str:
        """Where a version, or a file in it, or the record (``root``) lies on disk: absolute."""
        if root:
            return self._place.dirpath + (f"/{check_path(filepath)}" if filepath else "")
        name = self._version(version).name
        return self._place.path_on_disk(
            self._manifest, name, check_path(filepath) if filepath else ""
        )

    def path_to_item(self) -> str:
        """The record's directory on disk, absolute."""
        return self._place.dirpath

    def isfile(self, filepath: str, version: str | None = None) -> bool:
        """Whether a version has such a file."""
        return filepath in self._version(version).paths

    def isdir(self, filepath: str, version: str | None = None) -> bool:
        """Whether a version has such a directory."""
        listed = self._version(version)
        return filepath in listed.subdir or any(p.startswith(filepath + "/") for p in listed.paths)

    def stat(self, filepath: str, version: str | None = None) -> os.stat_result:
        """``os.stat`` of a file or directory of a version.

        Raises:
            FileNotInVersion: The version has neither of that name.
        """
        if self.isdir(filepath, version):
            return os.stat(self.to_dirpath(filepath, version))
        with self._open(filepath, self._version(version).name) as file:
            return os.fstat(file.fileno())

    def list_parts(self, subpath: str = "", detailed: bool = False) -> list[str] | dict[str, Any]:
        """The names in a directory of the cursor's version; ``detailed``: with their ``os.stat``.

        Raises:
            FileNotInVersion: There is no such directory.
        """
        listed = self._version()
        if subpath and not self.isdir(subpath):
            raise FileNotInVersion(self.item_id, listed.name, subpath)
        below = f"{subpath}/" if subpath else ""
        inside = (p.removeprefix(below) for p in listed.paths if p.startswith(below))
        names = list(dict.fromkeys(p.split("/")[0] for p in inside))
        if not subpath:
            names = list(listed.files)
        return {name: self.stat(below + name) for name in names} if detailed else names

    def disk_usage(self, version: str | None = None) -> int:
        """Bytes that the files of a version, or of all versions, take as counted by their sizes."""
        names = self.versions if version is None else [self._version(version).name]
        return sum(
            os.lstat(self.to_dirpath(path, name)).st_size
            for name in names
            for path in self.paths(name)
        )
