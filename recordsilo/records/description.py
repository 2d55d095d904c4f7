"""What a version says: its description, and the sets and datestamps of its record.

Pure except for reading. The index, the records and the exports use the same functions, so
that a record has the same title and year everywhere.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from recordsilo.errors import RecordSiloError
from recordsilo.formats import (
    Description,
    Value,
    describe_main,
    links_of,
    main_first,
    texts_of_main,
    title_of_main,
)
from recordsilo.formats.values import doi_of
from recordsilo.records.manifest import Manifest, Version

Values = tuple[Value, ...]
Read = Callable[[str, str], bytes]
"""(version, path) → content."""
_YEAR = re.compile(r"(?<!\d)(1\d{3}|20\d{2})(?!\d)", re.ASCII)


def description_of(version: Version, read: Read) -> Description:
    """The description in a version's metadata files; see `describe_main`."""
    return describe_main(metadata_paths(version), _content_of(version, read))


def texts_in(version: Version, read: Read) -> Mapping[str, Sequence[str]]:
    """The texts of `description_of`; see `texts_of_main`."""
    return texts_of_main(metadata_paths(version), _content_of(version, read))


def title_of(version: Version, read: Read) -> str:
    """The title of `description_of`; ``""`` if it has none."""
    return title_of_main(metadata_paths(version), _content_of(version, read))


def links_in(version: Version, read: Read) -> tuple[str, ...]:
    """The addresses in a version's metadata files, each once, in the order put."""
    content, found = _content_of(version, read), {}
    for path in version.metadata_files:
        if path in version.paths and (document := content(path)) is not None:
            found.update(dict.fromkeys(link.url for link in links_of(path, document)))
    return tuple(found)


def doi_in(identifier: str, description: Description) -> str | None:
    """The first DOI among a record's identifier and those in its description."""
    return doi_of((Value(identifier), *description.identifiers)) or None


def texts(values: Values) -> tuple[str, ...]:
    """The texts of values, each once."""
    return tuple(dict.fromkeys(text for text, _language in values))


def moment_of(text: str) -> datetime | None:
    """A time in the 2010 form as an aware datetime, in UTC; None if it is not a time."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _content_of(version: Version, read: Read) -> Callable[[str], bytes | None]:
    def content(path: str) -> bytes | None:
        try:
            return read(version.name, path)
        except (OSError, RecordSiloError):  # reading the file itself reports what is wrong
            return None

    return content


def metadata_paths(version: Version) -> list[str]:
    """A version's metadata files, the main one first."""
    paths = version.paths
    listed = [path for path in version.metadata_files if path in paths]
    return listed if len(listed) < 2 else main_first(listed)


def years_of(dates: Values) -> tuple[str, ...]:
    """The year of the first date that has one."""
    return year_of(value.text for value in dates)


def year_of(dates: Iterable[str]) -> tuple[str, ...]:
    """The year of the first of these texts that has one."""
    for text in dates:
        if match := _YEAR.search(text):
            return (match[0],)
    return ()


def storable(text: str) -> str:
    """The text without lone surrogates, which SQLite and web pages cannot hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def datestamp_of(manifest: Manifest) -> str:
    """The newest datestamp of the source; for a record made here, its date."""
    stamps = [
        stamp
        for version in manifest.versions
        if version.origin.kind == "harvest"
        for stamp in (version.date, *version.origin.prefixes.values())
    ]
    deleted = manifest.metadata.get("deleted_at_date")
    if isinstance(deleted, str):
        stamps.append(deleted)
    return storable(max(stamps, default=manifest.date))


def sets_of(manifest: Manifest) -> tuple[str, ...]:
    """The record's setSpecs; values under that key that are not text are ignored."""
    found: Any = manifest.metadata.get("setSpec", ())
    if isinstance(found, str):
        found = [found]
    if not isinstance(found, list | tuple):
        return ()
    return tuple(dict.fromkeys(storable(spec) for spec in found if isinstance(spec, str)))


def title_of_others(manifest: Manifest, read: Read) -> str:
    """The title of the newest version that has one, except the current version."""
    for version in reversed(manifest.versions):
        if version.name == manifest.current_version:
            continue
        if title := title_of(version, read):
            return storable(title)
    return ""
