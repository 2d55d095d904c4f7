"""Turn a record's manifest and metadata files into its index `Entry`. Pure except for reading."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from recordsilo.errors import HistoryUnreadable, RecordSiloError
from recordsilo.formats import canonical_identifier
from recordsilo.formats.quality import UNREADABLE, codes_of_texts
from recordsilo.index.query_syntax import is_unspaced, spaced
from recordsilo.records.description import (
    Read,
    datestamp_of,
    sets_of,
    storable,
    texts_in,
    title_of,
    title_of_others,
    year_of,
)
from recordsilo.records.history import steps_of
from recordsilo.records.manifest import Manifest, Version, upstream_newer
from recordsilo.records.signatures import signed_in

Texts = Mapping[str, Sequence[str]]
"""Field of a description → its texts; only fields with texts."""

MAX_TEXT = 100_000
"""The number of characters of a field that are indexed for search."""
MAX_FACET = 500
MENDED = " was mended: "
"""Marks, in the message of a version's origin, that the harvester repaired malformed XML."""
DUPLICATE_OF = "duplicate_of"
"""Key of a record's metadata with the identifier of the record that it duplicates."""
_DOI = re.compile(r"(?<!\S)doi:(10\.\S+)")


@dataclass(frozen=True, slots=True)
class Row:
    """A record in a list.

    Attributes:
        datestamp: The newest datestamp of the source, or for a record made here, the date
            of its current version; in the 2010 form.
        title: The title of the current version, or of the newest version that has one;
            may be empty.
        sets: setSpecs, in the order of the record's metadata.
        deleted: Whether the source deleted the record.
        curated: Whether the current version is curated.
        upstream_newer: Whether it is curated and the source has a newer version.
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

    def as_json(self, described: "Described") -> dict[str, Any]:
        """The record as every JSON list has it."""
        return {
            "identifier": self.identifier,
            "datestamp": self.datestamp,
            "title": self.title,
            **described.as_json(),
            "sets": list(self.sets),
            "deleted": self.deleted,
            "curated": self.curated,
            "upstream_newer": self.upstream_newer,
            "current_version": self.current_version,
            "versions": self.versions,
            "revision": self.revision,
            "unreadable": UNREADABLE in described.values.get("finding", ()),
        }


@dataclass(frozen=True, slots=True)
class Described:
    """The description of a record's current version, as lists show it.

    Attributes:
        values: Facet → distinct values in the record's order, without facets that have no
            values. Values are cut at `MAX_FACET` characters.
        doi: The first DOI among its identifiers, without ``doi:``; may be empty.
    """

    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    doi: str = ""

    @property
    def creators(self) -> tuple[str, ...]:
        """The names, in the record's order."""
        return self.values.get("creator", ())

    @property
    def year(self) -> str:
        """The year of the first date that has one; may be empty."""
        return next(iter(self.values.get("year", ())), "")

    def as_json(self) -> dict[str, Any]:
        """The members that every JSON list has in addition to those of `Row`."""
        return {
            "creators": list(self.creators),
            "year": self.year or None,
            "types": list(self.values.get("type", ())),
            "publishers": list(self.values.get("publisher", ())),
            "doi": self.doi or None,
        }


@dataclass(frozen=True, slots=True)
class Text:
    """The texts by which full-text search finds a record, one attribute per column."""

    title: str = ""
    creators: str = ""
    subjects: str = ""
    abstract: str = ""
    identifiers: str = ""
    harvested_title: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The texts, in the order of the columns."""
        return (
            self.title, self.creators, self.subjects, self.abstract, self.identifiers,
            self.harvested_title,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ManifestStamp:
    """Time, size and inode of a manifest; they show whether it was replaced since it was read."""

    mtime_ns: int
    size: int
    inode: int

    @classmethod
    def of(cls, path: str) -> "ManifestStamp":
        """The stamp of a manifest file."""
        found = os.stat(path)
        return cls(found.st_mtime_ns, found.st_size, found.st_ino)


@dataclass(frozen=True, slots=True)
class Entry:
    """All that the index stores of a record.

    Attributes:
        seconds: The datestamp as seconds since 0001-01-01, for ranges and order.
        facets: Field → values, each once; see `recordsilo.index.columns`.
        has_file: Whether the current version has a file that is not metadata.
        changed: When the manifest was written, as seconds since 0001-01-01; 0 if it does not
            say so, then the time of its file counts.
        is_whole: Whether all metadata files that it is made of could be read.
    """

    row: Row
    text: Text
    seconds: int
    facets: Mapping[str, tuple[str, ...]]
    has_file: bool
    changed: int = 0
    is_whole: bool = True

    @property
    def has_doi(self) -> bool:
        """Whether one of the record's identifiers is a DOI."""
        return bool(first_doi(self.text.identifiers))


class Unread(NamedTuple):
    """A record whose manifest cannot be read; plain values only.

    Attributes:
        path: The record's directory.
        state: A text that changes when the manifest may have become whole.
        was_read: Whether the index has what was read of it before.
    """

    identifier: str
    path: str
    sentence: str
    state: str
    was_read: bool = False


def entry_of_unread(identifier: str) -> Entry:
    """The index entry of a record of which nothing was ever read but its identifier."""
    return Entry(
        row=Row(identifier, "", "", (), False, False, False, "", 0, 0),
        text=Text(identifiers=searchable(identifiers_of(identifier, ()))),
        seconds=0,
        facets={"finding": (UNREADABLE,)},
        has_file=False,
    )


def project(manifest: Manifest, read: Read) -> Entry:
    """Make the index entry of a record.

    The description is that of the current version. If that has none (a deletion), the title
    is that of the newest version with one. If the current version is curated, the title of
    the newest harvested version can be searched too.
    """
    unread: list[str] = []

    def noting(version: str, path: str) -> bytes:
        try:
            return read(version, path)
        except (OSError, RecordSiloError):
            unread.append(path)
            raise

    current = manifest.current if manifest.versions else None
    texts: Texts = {} if current is None else texts_in(current, noting)
    titles = texts.get("titles")
    title = storable(titles[0]) if titles else title_of_others(manifest, noting)
    row = project_row(manifest, title)
    harvested = _harvested_title(manifest, noting) if row.curated else ""
    return Entry(
        row=row,
        text=_text(manifest, texts, title, harvested),
        seconds=seconds_of_text(row.datestamp),
        facets=_facets(manifest, current, row, texts),
        has_file=current is not None and _has_file(current),
        changed=seconds_of_text(manifest.changed),
        is_whole=not unread,
    )


def project_row(manifest: Manifest, title: str) -> Row:
    """Make the row that lists show of a record."""
    return Row(
        identifier=manifest.item_id,
        datestamp=datestamp_of(manifest),
        title=title,
        sets=sets_of(manifest),
        deleted="deleted_at_version" in manifest.metadata,
        curated=bool(manifest.versions) and manifest.current.is_curated,
        upstream_newer=upstream_newer(manifest),
        current_version=storable(manifest.current_version),
        versions=len(manifest.versions),
        revision=manifest.revision,
    )


def _text(manifest: Manifest, texts: Texts, title: str, harvested: str) -> Text:
    get = texts.get
    return Text(
        searchable(" ".join(get("titles", ())) or title),
        searchable("; ".join([*get("creators", ()), *get("contributors", ())])),
        searchable("; ".join(get("subjects", ()))),
        searchable(" ".join(get("descriptions", ()))),
        searchable(identifiers_of(manifest.item_id, get("identifiers", ()))),
        searchable(harvested) if harvested != title else "",
    )


def identifiers_of(identifier: str, others: Iterable[str]) -> str:
    """All identifiers of a record, each also in its canonical spelling."""
    texts = [identifier, *others]
    return " ".join(dict.fromkeys([*texts, *map(canonical_identifier, texts)]))


def first_doi(identifiers: str) -> str:
    """The first DOI in a text made by `identifiers_of`, as it is in the index.

    DOIs with characters of an unspaced script are skipped, because the index separates those.
    """
    for match in _DOI.finditer(identifiers):
        after = identifiers[match.end() : match.end() + 2]
        if not (len(after) == 2 and is_unspaced(after[1])):
            return match[1]
    return ""


def searchable(text: str) -> str:
    """A text as it is in the full text."""
    if not text:
        return ""
    return spaced(storable(text[:MAX_TEXT]).replace("\0", " "))


def _facets(
    manifest: Manifest, current: Version | None, row: Row, texts: Texts
) -> Mapping[str, tuple[str, ...]]:
    formats = current.metadata_files if current else ()
    found = {
        "set": row.sets,
        "year": year_of(texts.get("dates", ())),
        "type": _each(texts, "types"),
        "language": _each(texts, "languages"),
        "publisher": _each(texts, "publishers"),
        "format": tuple([storable(f) for f in formats if not f.endswith(".about")]),
        "state": (storable(current.state[:MAX_FACET]),) if current and current.state else (),
        "finding": _findings(manifest, row, texts if formats else None),
        "agent": agents_of(manifest),
        "subject": _each(texts, "subjects"),
        "creator": _each(texts, "creators"),
    }
    return {field: values for field, values in found.items() if values}


def agents_of(manifest: Manifest) -> tuple[str, ...]:
    """Who changed a record here, each once; harvesters, who only stored it, are left out."""
    harvested = {v.name: v.origin.agent for v in manifest.versions if v.origin.kind == "harvest"}
    found = [v.origin.agent for v in manifest.versions if v.name not in harvested]
    for version in manifest.versions:
        signed = (signed_in(line) for line in version.log if line.endswith("]"))
        found += [one.agent for one in signed if one]
    with suppress(HistoryUnreadable):  # the audit reports it
        for step in steps_of(manifest) if manifest.history else ():
            by = str(step.get("by", ""))
            if by not in harvested.values() and harvested.keys().isdisjoint(step.get("added", ())):
                found.append(by)
    return tuple(dict.fromkeys([storable(one[:MAX_FACET]) for one in found if one]))


def _findings(manifest: Manifest, row: Row, texts: Texts | None) -> tuple[str, ...]:
    """The codes of a record's findings; a record that the source deleted has none.

    Args:
        texts: None if the current version has no metadata.
    """
    if row.deleted and not row.curated:
        return ()
    codes = [] if texts is None else [*codes_of_texts(texts)]
    if any(MENDED in version.origin.message for version in manifest.versions):
        codes.append("Q801")
    if DUPLICATE_OF in manifest.metadata:
        codes.append("Q901")
    return tuple(dict.fromkeys(codes))


def _each(texts: Texts, field: str) -> tuple[str, ...]:
    if field not in texts:
        return ()
    return tuple(dict.fromkeys([storable(text[:MAX_FACET]) for text in texts[field]]))


def _has_file(version: Version) -> bool:
    metadata = version.metadata_files
    others = [path for path in version.paths if path not in metadata]
    return any(not path.endswith(".about") for path in others)


EPOCH = 719_162 * 86_400
"""Seconds from 0001-01-01 to 1970-01-01."""


def changed_at(seconds: int, mtime_ns: int) -> int:
    """When a record was changed here, as seconds since 0001-01-01.

    Args:
        seconds: `Entry.changed`.
        mtime_ns: Of the manifest's file.
    """
    return seconds or EPOCH + mtime_ns // 1_000_000_000


def seconds_of_text(datestamp: str) -> int:
    """Seconds since 0001-01-01; 0 for an invalid date."""
    try:
        return seconds_of(datetime.fromisoformat(datestamp))
    except ValueError:
        return 0


def _harvested_title(manifest: Manifest, read: Read) -> str:
    for version in reversed(manifest.versions):
        if version.origin.kind == "harvest" and version.metadata_files:
            return storable(title_of(version, read))
    return ""


def seconds_of(moment: datetime) -> int:
    """Whole seconds from 0001-01-01 to a time, which is taken as UTC whatever its zone."""
    days = moment.toordinal() - 1  # much faster than subtracting datetimes with zones
    return days * 86_400 + moment.hour * 3600 + moment.minute * 60 + moment.second
