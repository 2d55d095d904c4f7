"""Which file of a version holds its statements, and how they follow the version's files.

The decisions of docs/adr/0007-rdf-in-a-room-of-its-own.md, on a `RecordEdit`.
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
    """Which file of each version of a record holds its statements, and in which format."""

    name: str = "manifest.rdf"
    format: str = "xml"


def rdf_file_of(manifest: Manifest) -> RDFFile:
    """What a record's manifest says under the keys of 2010, ``rdffilename`` and ``rdffileformat``.

    Raises:
        PathNameError, RDFFormatError: It says what cannot be.
    """
    known = RDFFile()
    name = manifest.extra.get("rdffilename", known.name)
    written = manifest.extra.get("rdffileformat", known.format)
    return RDFFile(check_path(name), check_format(str(written)))


def note_rdf_file(edit: RecordEdit, file: RDFFile) -> None:
    """Keep it in the record's manifest, under the keys of 2010."""
    keys = {"rdffilename": file.name, "rdffileformat": file.format}
    edit.manifest = replace(edit.manifest, extra={**edit.manifest.extra, **keys})


def keep_in_step(edit: RecordEdit, uri: str) -> None:
    """Let each version that an edit changes aggregate the files the edit leaves it with.

    A version kept as harvested is not written, and one that was just harvested gets
    no file that the repository did not give.

    Raises:
        RDFManifestUnreadable: A version's statements cannot be read, so they cannot be
            kept either.
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
    if rdf_name in before.paths and not has_rdf:  # just deleted, and that was meant
        return False
    same_statements = digest_of(before, rdf_name) == digest_of(version, rdf_name)
    return not same_statements or set(before.paths) != set(version.paths)


def digest_of(version: Version, path: str) -> Digest | None:
    """A file's digest, where it is known."""
    return (version.digests or {}).get(path)


def aggregated_in(version: Version, file: RDFFile) -> list[str]:
    """The paths of the files that a version aggregates: all but that of its statements."""
    return [path for path in version.paths if path != file.name]


def content_in(edit: RecordEdit, version: str, file: RDFFile) -> bytes | None:
    """A version's stored statements as an edit leaves them so far; None if it has none.

    Args:
        edit: The edit, and in it the record.
        version: Its name.
        file: Which file has the statements.
    """
    listed = file.name in edit.manifest.version(version).paths
    return edit.read(version, file.name) if listed else None


def graph_in(edit: RecordEdit, version: str, file: RDFFile, uri: str) -> "Graph":
    """A version's statements as an edit leaves them so far.

    Args:
        edit: The edit, and in it the record.
        version: Its name.
        file: Which file has the statements.
        uri: Of the record.

    Raises:
        RDFManifestUnreadable: They are not RDF.
    """
    path = f"{edit.place.dirpath}/{version_dirname(version)}/{file.name}"
    return read_graph(content_in(edit, version, file), file.format, uri, path)
