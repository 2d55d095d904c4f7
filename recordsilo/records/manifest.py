"""The state of a record as frozen values, and decisions that depend only on them.

Their bytes are in `manifest_json`; docs/format-manifest.md says what each key means. Pure.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal, TypeVar

from recordsilo.disk.digest import Digest
from recordsilo.errors import VersionNotFound

FORMAT = 1
"""The format this release writes; manifests of 2010 have no number, which is read as 0."""

Json = Any  # what json.loads gives
T = TypeVar("T")
OriginKind = Literal["harvest", "import", "clone", "local"]
SOURCES = ("harvest", "import")
"""Kinds of versions that came from elsewhere; the others are curated."""
STATES = ("in work", "ready", "withheld")
"""The states that a curator can give a version."""
SETTLED = "upstream_settled"
"""Key of a record's metadata: the newest harvested version that a curator decided about."""


def altered(value: T, **changes: Any) -> T:
    """A frozen value of this module with some fields changed.

    The same as ``dataclasses.replace``, in half the time; a page of records needs about a
    thousand calls.

    Raises:
        TypeError: The value has no field of that name.
    """
    new = object.__new__(type(value))
    for name in type(value).__slots__:  # type: ignore[attr-defined]  # of slotted dataclasses only
        object.__setattr__(
            new, name, changes.pop(name) if name in changes else getattr(value, name)
        )
    if changes:
        raise TypeError(f"{type(value).__name__} has no field {next(iter(changes))!r}")
    return new


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a version came from.

    Attributes:
        kind: ``harvest`` (from a repository), ``import`` (from an archive or files of
            others), ``clone`` (derived from another version here) or ``local`` (made
            here). *Curated* means: one of the last two.
        of: The version it was derived from, for a clone.
        prefixes: For a harvest: metadata prefix → datestamp under which the
            repository last listed this content, in the 2010 form.
        agent: The person or program that made it.
        message: Why it was made.
        date: When it was made here, in the 2010 form; empty for versions of 2010.
    """

    kind: OriginKind
    of: str | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict)
    agent: str = ""
    message: str = ""
    date: str = ""


_FILES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a record.

    Attributes:
        files: Top-level names, including directories, in the order put.
        subdir: The directories in ``files``.
        metadata_files: Names put as metadata, in the order put.
        digests: Every file's path → digest, in the order put; the digest is None if a
            file of 2010 could not be read. None instead of a mapping for versions of
            2010, whose files are listed from the disk (`with_listing`).
        state: One of `STATES`, as a curator set it, or None. It describes the
            version and is not part of it, so a frozen version can have one.
    """

    name: str
    date: str
    origin: Origin
    files: tuple[str, ...] = ()
    subdir: tuple[str, ...] = ()
    metadata_files: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    digests: Mapping[str, Digest | None] | None = field(default_factory=dict)
    state: str | None = None

    def __repr__(self) -> str:
        """What it is; digests and the log are left out."""
        of = f" of {self.origin.of}" if self.origin.of else ""
        said = [f"{self.origin.kind}{of}", self.date, *([self.state] if self.state else [])]
        files = ", ".join(self.files[:_FILES_SHOWN])
        more = f" and {len(self.files) - _FILES_SHOWN:,} more" * (len(self.files) > _FILES_SHOWN)
        return f"<Version {self.name!r}: {', '.join(said)}; files: {files or 'none'}{more}>"

    @property
    def paths(self) -> tuple[str, ...]:
        """Every file's path, in the order put."""
        return tuple(self.digests or ())

    @property
    def is_curated(self) -> bool:
        """Whether it was made by people here, not by a harvest or an import."""
        return self.origin.kind not in SOURCES

    def has_room_for(self, path: str) -> bool:
        """Whether a file can be put there: it is not a directory, and no parent is a file."""
        if path in self.subdir:
            return False
        if not self.subdir and "/" not in path:
            return True
        parents = path.split("/")[:-1]
        above = {"/".join(parents[: n + 1]) for n in range(len(parents))}
        return above.isdisjoint(self.paths) and not any(
            one.startswith(path + "/") for one in self.paths
        )

    def with_file(self, path: str, digest: Digest | None, *, metadata: bool | None) -> "Version":
        """The version with a file added or replaced.

        Args:
            path: The file's path within the version.
            digest: The digest of its content.
            metadata: Whether it is metadata; None keeps what it was.
        """
        top, _, below = path.partition("/")
        marked = self.metadata_files
        if metadata and path not in marked:
            marked = (*marked, path)
        elif metadata is False:
            marked = tuple(name for name in marked if name != path)
        return Version(
            self.name,
            self.date,
            self.origin,
            files=self.files if top in self.files else (*self.files, top),
            subdir=(*self.subdir, top) if below and top not in self.subdir else self.subdir,
            metadata_files=marked,
            log=self.log,
            digests={**(self.digests or {}), path: digest},
            state=self.state,
        )

    def without_file(self, path: str) -> "Version":
        """The version without a file, or without an empty top-level directory."""
        return replace(
            self,
            files=tuple(name for name in self.files if name != path),
            subdir=tuple(name for name in self.subdir if name != path),
            metadata_files=tuple(name for name in self.metadata_files if name != path),
            digests={p: d for p, d in (self.digests or {}).items() if p != path},
        )

    def with_log(self, text: str) -> "Version":
        """The version with one more line in its log."""
        return altered(self, log=(*self.log, text))


@dataclass(frozen=True, slots=True)
class Pending:
    """Work that a commit left to be done; readers see the record as if it were done.

    Attributes:
        renames: (from, to) pairs, relative to the record's directory, in order.
        unlinks: (path, size, mtime in ns) of files to be removed, unless
            they were replaced since and differ in size or time. A version's directory
            has -1 for both.
    """

    renames: tuple[tuple[str, str], ...] = ()
    unlinks: tuple[tuple[str, int, int], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.renames or self.unlinks)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The state of a record.

    Attributes:
        date: The date of the record: that of the current version.
        current_version: The version the cursor is on; empty only if there is no version.
        versions: In the order they were made.
        metadata: Notes of people and programs about the record; JSON values.
        revision: Counts up with each write; 0 in manifests of 2010.
        format: See `FORMAT`.
        extra: Unknown keys, kept unchanged.
        changed: When it was written here, in the 2010 form; empty in manifests of 2010 and of
            early releases. Then the time of the file counts.
        history: What earlier writes replaced; `recordsilo.records.history` reads it.
    """

    item_id: str
    date: str
    current_version: str = ""
    versions: tuple[Version, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    revision: int = 0
    format: int = FORMAT
    pending: Pending = Pending()
    extra: Mapping[str, Json] = field(default_factory=dict)
    changed: str = ""
    history: Mapping[str, Json] = field(default_factory=dict)

    @property
    def is_stored(self) -> bool:
        """Whether it was read from disk or written there."""
        return self.revision > 0 or self.format == 0

    @property
    def version_names(self) -> tuple[str, ...]:
        """The names of the versions, in the order made."""
        return tuple(version.name for version in self.versions)

    def has(self, name: str) -> bool:
        """Whether there is such a version."""
        return name in [version.name for version in self.versions]

    def version(self, name: str) -> Version:
        """The version of that name.

        Raises:
            VersionNotFound: There is no such version.
        """
        for version in self.versions:
            if version.name == name:
                return version
        raise VersionNotFound(self.item_id, name, self.version_names)

    @property
    def current(self) -> Version:
        """The version the cursor is on."""
        return self.version(self.current_version)

    def with_version(self, version: Version, *, to_be_current: bool = False) -> "Manifest":
        """The manifest with a version replaced, or added at the end.

        Args:
            to_be_current: Whether to move the cursor to it.
        """
        if self.has(version.name):
            versions = tuple([version if v.name == version.name else v for v in self.versions])
        else:
            versions = (*self.versions, version)
        return Manifest(
            self.item_id,
            version.date if to_be_current else self.date,
            version.name if to_be_current else self.current_version,
            versions,
            self.metadata,
            self.revision,
            self.format,
            self.pending,
            self.extra,
            self.changed,
            self.history,
        )

    def with_cursor(self, name: str) -> "Manifest":
        """The manifest with the cursor, and the record's date, on a version."""
        return altered(self, current_version=name, date=self.version(name).date)


def is_frozen(manifest: Manifest, name: str) -> bool:
    """Whether a version is kept as harvested, or as imported.

    One whose origin a harvest or an import noted is, from its first day. A version of 2010,
    whose origin is only inferred, is once a clone or a newer version exists.
    """
    origin = manifest.version(name).origin
    if origin.kind not in SOURCES:
        return False
    return bool(origin.prefixes or origin.date) or manifest.versions[-1].name != name


def next_version_number(manifest: Manifest) -> str:
    """The highest version number plus one, wherever the cursor is; ``"1"`` if there is none."""
    numbers = [int(n) for n in manifest.version_names if n.isascii() and n.isdigit()]
    return str(max(numbers, default=0) + 1)


def base_of(manifest: Manifest, name: str) -> str | None:
    """The harvested or imported version that a version descends from, through all clones."""
    seen: set[str] = set()
    while name not in seen and manifest.has(name):
        seen.add(name)
        origin = manifest.version(name).origin
        if origin.kind in SOURCES:
            return name
        if origin.of is None:
            return None
        name = origin.of
    return None


def source_datestamp(manifest: Manifest, name: str) -> str:
    """The date at the source of the version that a version is based on (`base_of`), or ``""``.

    The time at which a version was made here is its origin's date.
    """
    base = base_of(manifest, name)
    return manifest.version(base).date if base else ""


def upstream_newer(manifest: Manifest) -> bool:
    """Whether the cursor's version is curated and its base has a newer harvested version.

    A curated version without a harvested base (made here) is behind if a harvested version
    was added after it. None is behind a version that a curator decided about.
    """
    if not manifest.current_version or not manifest.current.is_curated:
        return False
    harvested = [version.name for version in manifest.versions if version.origin.kind == "harvest"]
    if not harvested or harvested[-1] == manifest.metadata.get(SETTLED):
        return False
    names = manifest.version_names
    start = base_of(manifest, manifest.current_version) or manifest.current_version
    return names.index(harvested[-1]) > names.index(start)


def located(manifest: Manifest, path: str) -> tuple[str, ...]:
    """The possible places of a file of the record on disk, the most likely first.

    There are two while a rename of the last commit may be pending; open the first that
    exists.
    """
    for source, target in manifest.pending.renames:
        if path == target:
            return (source, path)
        if path.startswith(target + "/"):
            return (source + path.removeprefix(target), path)
    return (path,)


# -- dates ------------------------------------------------------------------------------


def date_text(moment: datetime | str) -> str:
    """A time in the 2010 form: ISO 8601, UTC, without a zone (``2004-06-24T00:00:00``).

    Args:
        moment: A datetime (UTC if it has no zone) or its ISO 8601 text; a day without a
            time means its first second.

    Raises:
        ValueError: The text is not a date.
    """
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return moment.isoformat()


def now_text() -> str:
    """The current time in the 2010 form, always with microseconds."""
    second, rest = divmod(time.time_ns() // 1000, 1_000_000)
    return f"{_second_text(second)}.{rest:06}"


@lru_cache(maxsize=2)  # a page of records is written within a second or two
def _second_text(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).replace(tzinfo=None).isoformat()


def with_listing(manifest: Manifest, walk: Callable[[str], Iterable[str]]) -> Manifest:
    """A manifest of 2010 with the paths of its files, taken from the disk.

    2010 listed top-level names only, and no names of one or two letters. Files in
    directories, and such names, are taken from the disk. Digests stay unknown until the
    record is written.

    Args:
        manifest: As read; a version that has its paths is left unchanged.
        walk: Version name → the paths of all its files, without tags.
    """
    versions = tuple(
        v if v.digests is not None else _listed(v, tuple(walk(v.name))) for v in manifest.versions
    )
    return replace(manifest, versions=versions)


def _listed(version: Version, found: tuple[str, ...]) -> Version:
    order = {name: place for place, name in enumerate(version.files)}
    wanted = [path for path in found if path.split("/")[0] in order or len(path) <= 2]
    known = {*version.subdir, *wanted, *(path.split("/")[0] for path in wanted)}
    wanted += [name for name in version.files if name not in known]
    wanted.sort(key=lambda path: (order.get(path.split("/")[0], len(order)), path))
    listed = replace(version, digests={})
    for path in wanted:
        listed = listed.with_file(path, None, metadata=None)
    return listed
