"""What the metadata of a version says about the work, for targets with fields of their own.

`bibliography_of` reads one version as it is exported; `of_document` reads one document, and
`merged` puts several together (`merging.RICHEST_FIRST`). Everything that a format has no
structure for comes from its description (`recordsilo.formats`).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from lxml import etree

from recordsilo.formats import Description, Value, is_metadata
from recordsilo.formats.documents import parsed, unwrapped
from recordsilo.formats.table import described_part, main_first
from recordsilo.value_identifiers import IdentifiersOfValues
from siloexport.bibliography import datacite, dublin_core, jats, marc21, mods
from siloexport.bibliography.meanings import with_meanings, with_orcids
from siloexport.bibliography.merging import merged
from siloexport.bibliography.texts import (
    abstracts_and_notes,
    identifier_of,
    name_of,
    relation_of,
    rights_of,
    split_name,
)
from siloexport.bibliography.values import (
    Bibliography,
    Dated,
    Degree,
    HostItem,
    Identifier,
    Name,
    Relation,
    Rights,
    language_tag,
    w3c_date,
)
from siloexport.content import checked_chunks
from siloexport.values import ExportedVersion

__all__ = [
    "Bibliography",
    "Dated",
    "Degree",
    "HostItem",
    "Identifier",
    "Name",
    "Relation",
    "Rights",
    "Value",
    "bibliography_of",
    "language_tag",
    "merged",
    "of_document",
    "of_documents",
    "split_name",
    "w3c_date",
]  # fmt: skip

_NOTHING_KNOWN: IdentifiersOfValues = {}
_Reader = Callable[[etree._Element, Description], Mapping[str, Any]]


def _alone(read: Callable[[etree._Element], Mapping[str, Any]]) -> _Reader:
    return lambda root, _described: read(root)


_as_dublin_core = _alone(dublin_core.read)
_READERS: Mapping[str, _Reader] = {
    "DataCite": _alone(datacite.read),
    "ETD-MS": _alone(dublin_core.read_thesis),
    "JATS": _alone(jats.read),
    "MARC 21": marc21.read,
    "MODS": mods.read,
}
"""Name of a format → its reader; all others are read as Dublin Core."""


def bibliography_of(version: ExportedVersion, identifier: str = "") -> Bibliography:
    """Return what the metadata files of a version say.

    Args:
        version: As it is exported.
        identifier: Of its record, for errors.

    Raises:
        FileNotInVersion, SourceChanged: A metadata file is missing on the disk, or damaged.

    Cost: reads all metadata files of the version.
    """

    files = {one.path: one for one in version.files if one.is_metadata}

    def read(path: str) -> bytes:
        with checked_chunks(identifier, version, files[path]) as chunks:
            return b"".join(chunks)

    return of_documents(files, read, version.identifiers)


def of_documents(
    paths: Iterable[str],
    read: Callable[[str], bytes | None],
    known: IdentifiersOfValues = _NOTHING_KNOWN,
) -> Bibliography:
    """Return what several metadata files of one version say together.

    Args:
        paths: Of files that were put as metadata, in the order put.
        read: Path → content; None for a file that cannot be read, which is skipped.
        known: The identifiers of values that are not in the metadata.
    """
    found = []
    for path in main_first(paths):
        content = read(path)
        one = None if content is None else of_document(path, content)
        if one is not None:
            found.append(with_meanings(one, known))
    return with_orcids(merged(found))


def of_document(name: str, content: bytes) -> Bibliography | None:
    """Return what a metadata file says; None for what `recordsilo.formats.describe` cannot read.

    Args:
        name: The file's name, a metadata prefix.
    """
    root = parsed(content) if is_metadata(name) else None
    if root is None:
        return None
    part, found = described_part(unwrapped(root))
    described = found.read(part)
    reader = _READERS.get(found.name, _as_dublin_core)
    base = _of_description(described, found.name)
    said = {field: value for field, value in reader(part, described).items() if value}
    return merged([replace(base, **said)])


def _of_description(described: Description, name: str) -> Bibliography:
    abstracts, notes = abstracts_and_notes(described.descriptions)

    def each(make: Callable[[str], Any], values: Iterable[Value]) -> tuple[Any, ...]:
        return tuple(found for one in values if (found := make(one.text)) is not None)

    return Bibliography(
        title=described.titles[0] if described.titles else Value(""),
        alternatives=described.titles[1:],
        creators=each(name_of, described.creators),
        contributors=each(name_of, described.contributors),
        publishers=described.publishers,
        dates=tuple(Dated("", one.text) for one in described.dates),
        types=described.types,
        subjects=described.subjects,
        languages=tuple(one.text for one in described.languages),
        identifiers=each(identifier_of, described.identifiers),
        rights=each(rights_of, described.rights),
        abstracts=abstracts,
        notes=notes,
        relations=each(relation_of, described.relations),
        sources=described.sources,
        formats=described.formats,
        coverages=described.coverages,
        source_formats=(name,),
    )
