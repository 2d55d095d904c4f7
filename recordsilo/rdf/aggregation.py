"""Keep the RDF statements of a version in one of its files, in step with its other files.

Implements docs/adr/0007-rdf-in-a-room-of-its-own.md on a `RecordEdit`.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from recordsilo.disk.digest import Digest
from recordsilo.disk.names import check_path, version_dirname
from recordsilo.rdf.manifest import (
    NAMESPACES,
    check_format,
    keep_aggregation,
    prefixes_of,
    read_graph,
    write_graph,
)
from recordsilo.records.edit import RecordEdit
from recordsilo.records.manifest import Manifest, Version, is_frozen

if TYPE_CHECKING:
    from rdflib import Graph


@dataclass(frozen=True, slots=True)
class RDFFile:
    """The name and format of the file that holds the statements of each version of a record."""

    name: str = "manifest.rdf"
    format: str = "xml"


def rdf_file_of(manifest: Manifest) -> RDFFile:
    """The RDF file of a record, from the keys of 2010, ``rdffilename`` and ``rdffileformat``.

    Raises:
        PathNameError, RDFFormatError: A key has an invalid value.
    """
    known = RDFFile()
    name = manifest.extra.get("rdffilename", known.name)
    written = manifest.extra.get("rdffileformat", known.format)
    return RDFFile(check_path(name), check_format(str(written)))


def note_rdf_file(edit: RecordEdit, file: RDFFile) -> None:
    """Store name and format in the record's manifest, under the keys of 2010."""
    keys = {"rdffilename": file.name, "rdffileformat": file.format}
    edit.manifest = replace(edit.manifest, extra={**edit.manifest.extra, **keys})


def keep_in_step(edit: RecordEdit, uri: str) -> None:
    """Make each version that an edit changes aggregate the files that it has afterwards.

    A version kept as harvested is not changed, and one that was just harvested gets no file
    that the repository did not send.

    Raises:
        RDFManifestUnreadable: A version's statements cannot be read, and so not be kept.
    """
    file = rdf_file_of(edit.manifest)
    for version in edit.manifest.versions:
        if not _is_due(edit, version, file.name):
            continue
        graph = graph_in(edit, version.name, file, uri)
        if keep_aggregation(graph, uri, aggregated_in(version, file)):
            namespaces = {**NAMESPACES, **prefixes_of(graph)}
            content = write_graph(graph, namespaces, file.format, uri)
            edit.put(version.name, file.name, content)
            note_rdf_file(edit, file)


def _is_due(edit: RecordEdit, version: Version, rdf_name: str) -> bool:
    has_rdf = rdf_name in version.paths
    is_renamed = any(target == version_dirname(version.name) for _, target in edit.renames)
    is_ours = version.is_curated or has_rdf
    if is_renamed or not is_ours or is_frozen(edit.manifest, version.name):
        return False
    is_new = version.name in edit.new_versions
    if is_new or edit.before is None or not edit.before.has(version.name):
        return True
    before = edit.before.version(version.name)
    if rdf_name in before.paths and not has_rdf:  # deleted on purpose
        return False
    same_statements = digest_of(before, rdf_name) == digest_of(version, rdf_name)
    return not same_statements or set(before.paths) != set(version.paths)


def digest_of(version: Version, path: str) -> Digest | None:
    """A file's digest; None if unknown."""
    return (version.digests or {}).get(path)


def aggregated_in(version: Version, file: RDFFile) -> list[str]:
    """The paths of the files that a version aggregates: all except that of its statements."""
    return [path for path in version.paths if path != file.name]


def content_in(edit: RecordEdit, version: str, file: RDFFile) -> bytes | None:
    """A version's stored statements, with an edit's changes so far; None if it has none."""
    listed = file.name in edit.manifest.version(version).paths
    return edit.read(version, file.name) if listed else None


def graph_in(edit: RecordEdit, version: str, file: RDFFile, uri: str) -> "Graph":
    """A version's statements, with an edit's changes so far.

    Args:
        uri: The record's URI.

    Raises:
        RDFManifestUnreadable: The file is not RDF.
    """
    path = f"{edit.place.dirpath}/{version_dirname(version)}/{file.name}"
    return read_graph(content_in(edit, version, file), file.format, uri, path)
