"""What the index holds of a record: manifest (and metadata file) → `Row`. Pure but for reading."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recordsilo.description import describe
from recordsilo.errors import RecordSiloError
from recordsilo.manifest import Manifest, Version, upstream_newer

Read = Callable[[str, str], bytes]
"""(version, path) → content."""

PREFERRED = ("oai_dc", "oai_dc.xml")


@dataclass(frozen=True, slots=True)
class Row:
    """A record in a list.

    Attributes:
        datestamp: The newest datestamp the source is known to have given it, or
            the date of its current version; 2010 form.
        title: Of the current version's description, or of the newest version that
            has one; may be empty.
        sets: setSpecs, in the order of the record's metadata.
        deleted: Whether the source says so.
        curated: Whether the current version is curated.
        upstream_newer: Whether it is curated and the source has something newer.
        versions: How many.
    """

    identifier: str
    datestamp: str
    title: str
    sets: tuple[str, ...]
    deleted: bool
    curated: bool
    upstream_newer: bool
    current_version: str
    versions: int
    revision: int


def project(manifest: Manifest, title: str) -> Row:
    """The row of a record."""
    return Row(
        identifier=manifest.item_id,
        datestamp=_storable(datestamp_of(manifest)),
        title=_storable(title),
        sets=tuple(dict.fromkeys(map(_storable, sets_of(manifest)))),
        deleted="deleted_at_version" in manifest.metadata,
        curated=bool(manifest.versions) and manifest.current.is_curated,
        upstream_newer=upstream_newer(manifest),
        current_version=_storable(manifest.current_version),
        versions=len(manifest.versions),
        revision=manifest.revision,
    )


def _storable(text: str) -> str:
    """The text as SQLite, and a page, can hold it: without halves of surrogate pairs."""
    return text.encode("utf-8", "replace").decode()


def datestamp_of(manifest: Manifest) -> str:
    """The newest datestamp the source gave; for a record made here, its date."""
    stamps = [
        stamp
        for version in manifest.versions
        if version.origin.kind == "harvest"
        for stamp in (version.date, *version.origin.prefixes.values())
    ]
    deleted = manifest.metadata.get("deleted_at_date")
    if isinstance(deleted, str):
        stamps.append(deleted)
    return max(stamps, default=manifest.date)


def sets_of(manifest: Manifest) -> tuple[str, ...]:
    """The record's setSpecs, as far as its metadata holds texts under that key."""
    found: Any = manifest.metadata.get("setSpec", ())
    if isinstance(found, str):
        found = [found]
    if not isinstance(found, list | tuple):
        return ()
    return tuple(dict.fromkeys(spec for spec in found if isinstance(spec, str)))


def title_of(manifest: Manifest, read: Read) -> str:
    """The title of the current version, else of the newest version that has one, else ``""``."""
    if not manifest.versions:
        return ""
    others = [v for v in reversed(manifest.versions) if v.name != manifest.current_version]
    for version in (manifest.current, *others):
        if title := _title_of_version(version, read):
            return title
    return ""


def _title_of_version(version: Version, read: Read) -> str:
    for path in metadata_paths(version):
        try:
            content = read(version.name, path)
        except (OSError, RecordSiloError):  # reading the file itself will say what is wrong
            continue
        described = describe(path, content)
        if described and described.title:
            return described.title
    return ""


def metadata_paths(version: Version) -> list[str]:
    """A version's metadata files, the plainest (Dublin Core) first."""
    listed = [path for path in version.metadata_files if path in version.paths]
    return sorted(listed, key=lambda path: (path not in PREFERRED, path.endswith(".about")))
