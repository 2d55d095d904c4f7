"""RDFSilo and RDFRecord: a Silo whose versions have RDF (the 2010 classes of those names).

One file of each version, ``manifest.rdf``, has its statements. They include the record's
ORE aggregation, which lists the version's other files and is written in the commit that
changes them (docs/adr/0007-rdf-in-a-room-of-its-own.md).

Only this subpackage needs rdflib.
"""

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from recordsilo.disk.atomic_file import Barrier
from recordsilo.disk.names import check_path, version_dirname
from recordsilo.errors import FileNotInVersion, VersionFrozen
from recordsilo.rdf.aggregation import (
    RDFFile,
    aggregated_in,
    content_in,
    digest_of,
    graph_in,
    keep_in_step,
    note_rdf_file,
    rdf_file_of,
)
from recordsilo.rdf.manifest import (
    RDFConflict,
    RDFFormatError,
    RDFManifest,
    RDFManifestUnreadable,
    RDFTermError,
    Triple,
    check_format,
    file_uri,
    keep_aggregation,
    merged,
    prefixes_of,
    read_graph,
    write_graph,
)
from recordsilo.records.creation import Creation
from recordsilo.records.edit import RecordEdit
from recordsilo.records.harvested_record import HarvestedRecord
from recordsilo.records.manifest import Manifest, is_frozen
from recordsilo.records.place import RecordPlace
from recordsilo.records.record_changes import Note, NoteKeywords, takes_note
from recordsilo.silo import Silo

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Node

__all__ = [
    "RDFConflict",
    "RDFFile",
    "RDFFormatError",
    "RDFManifest",
    "RDFManifestUnreadable",
    "RDFRecord",
    "RDFSilo",
    "RDFTermError",
]

T = TypeVar("T")


class _VersionManifest(RDFManifest):
    """The statements of one version, with the changes of one handle on its record.

    Attributes:
        seen: `RDFRecord.rdf_mark` of the version when its file was read.
    """

    def __init__(self, record: "RDFRecord", version: str) -> None:
        self._record, self._version = record, version
        self.seen: object = None
        self._base: frozenset[Triple] = frozenset()
        self._base_namespaces: dict[str, str] = {}
        self._stored: bytes | None = None
        super().__init__(self._path(), record.rdf_file.format, record.uri)

    def _path(self) -> str:
        return self._record.to_dirpath(self._record.rdf_file.name, self._version)

    def revert(self) -> None:
        """Read the version's file again, discarding changes that are not stored."""
        self.filepath, self.format = self._path(), self._record.rdf_file.format
        mark = self._record.rdf_mark(self._version)
        content = self._record.rdf_content(self._version)
        found = read_graph(content, self.format, self._base_uri, self.filepath)
        keep_aggregation(found, self._base_uri, self._record.aggregated(self._version))
        self._show(found)
        self.seen = mark
        self._settle(content)

    def sync(self) -> None:
        """Store the record with these statements; see `HarvestedRecord.sync`."""
        self._record.sync()

    def _settle(self, content: bytes | None) -> None:
        self._stored = content
        self._base = frozenset(self._graph)
        self._base_namespaces = dict(self.namespaces)

    @property
    def is_changed(self) -> bool:
        """Whether statements or prefixes differ from what was read."""
        return self._base != set(self._graph) or self._base_namespaces != self.namespaces

    def put_into(self, edit: RecordEdit) -> Callable[[], None] | None:
        """Put the changes made here into the version's file, merged with its current content.

        Returns:
            A function to call once the edit is committed; None if there was nothing to put.

        Raises:
            VersionFrozen: The version is kept as harvested.
            RDFConflict: See `merged`.
        """
        ours, file = set(self._graph), rdf_file_of(edit.manifest)
        frozen = is_frozen(edit.manifest, self._version)
        content = content_in(edit, self._version, file)
        only_prefixes = ours == self._base
        if not (ours or content) or (only_prefixes and (frozen or content is None)):
            return None
        namespaces = self.namespaces
        if content != self._stored:
            found = graph_in(edit, self._version, file, self._base_uri)
            namespaces = {**prefixes_of(found), **namespaces}
            statements = merged(self._base, ours, set(found), self.filepath)
        else:
            statements = ours
        written = write_graph(statements, namespaces, file.format, self._base_uri)
        edit.put(self._version, file.name, written)
        note_rdf_file(edit, file)
        return lambda: self._settle(written)


class RDFRecord(HarvestedRecord):
    """A record whose versions have RDF statements, each in a file of the version.

    The statements include those by which the record's `uri` aggregates
    (``ore:aggregates``) the version's files, each by its `file_uri`. They are updated in
    the commit that changes the files; a graph always shows those of the listed files, even
    if none are stored.

    The methods on statements use the graph of the cursor's version, or of the version last
    given to `load_rdf_manifest`. They change it in memory; `sync`, and every other change
    of the record, stores it. Handles that change different statements lose nothing.
    `RDFTermError` is raised for a statement that RDF cannot express, before anything is
    written.

    Args:
        silo, place, found, date, startversion: See `HarvestedRecord`.

    Cost: each change of a version's list of files reads and writes all its statements.

    Source: the interface of RecordSilo 0.4.16 (2010).
    """

    def __init__(
        self,
        silo: "RDFSilo",
        place: RecordPlace,
        found: Manifest | None,
        *,
        date: datetime | str | None = None,
        startversion: str = "1",
    ) -> None:
        self._graphs: dict[str, _VersionManifest] = {}
        self._named: str | None = None
        self._new_file: RDFFile | None = None
        super().__init__(silo, place, found, date=date, startversion=startversion)

    @property
    def manifest(self) -> dict[str, Any]:
        """The keys of 2010, including ``rdffilename`` and ``rdffileformat``, as a new dict."""
        file = self.rdf_file
        return {**super().manifest, "rdffilename": file.name, "rdffileformat": file.format}

    @property
    def has_unstored_files(self) -> bool:
        """Whether files or statements are not stored yet."""
        changed = any(graph.is_changed for graph in self._graphs.values())
        return changed or self._new_file is not None or super().has_unstored_files

    @property
    def rdf_file(self) -> RDFFile:
        """The name and format of the file that holds the statements of each version."""
        return self._new_file or rdf_file_of(self._manifest)

    def file_uri(self, path: str) -> str:
        """The URI of a file of this record in statements."""
        return str(file_uri(self.uri, path))

    def set_rdf_manifest_filename(
        self,
        filename: str,
        format: str = "xml",  # noqa: A002 - the name of 2010
    ) -> None:
        """Store the statements in another file of each version from the next change on.

        The previous file is kept, as an ordinary file of the version.

        Args:
            filename: The path of the file within each version.
            format: ``xml``, ``pretty-xml``, ``turtle``, ``ttl`` or ``nt``.

        Raises:
            PathNameError: The name is invalid.
            RDFFormatError: The format is invalid, or a version has statements in a file of
                that name in another format; use another name.
        """
        file = RDFFile(check_path(filename), check_format(format))
        known = self.rdf_file
        holders = [v.name for v in self._manifest.versions if filename in v.paths]
        if file != known and file.name == known.name and holders:
            raise RDFFormatError(
                f"{filename!r} in version {holders[0]!r} of record {self.item_id} is stored as "
                f"{known.format}; to store statements as {format}, use another file name"
            )
        self._new_file = file

    def load_rdf_manifest(self, version: str | None = None) -> RDFManifest:
        """Read a version's statements, and use them in the methods on statements.

        Changes of that version's graph that are not stored are discarded.

        Args:
            version: The version to use until the cursor moves. By default the one the
                cursor is on, following the cursor.

        Raises:
            VersionNotFound: There is no such version.
            RDFManifestUnreadable: The version's file is not RDF in its format.
        """
        self._named = None if version is None else self._version(version).name
        name = self._version(version).name
        if name in self._graphs:
            self._graphs[name].revert()
        return self.get_rdf_manifest()

    def get_rdf_manifest(self) -> RDFManifest:
        """The statements in use; read again if they have changed on disk."""
        name = self._version(self._named).name
        found = self._graphs.get(name)
        if found is None:
            found = self._graphs[name] = _VersionManifest(self, name)
        elif found.seen != self.rdf_mark(name) and not found.is_changed:
            found.revert()
        return found

    def rdf_mark(self, version: str) -> object:
        """A value that changes when a version's statements must be read again."""
        listed = self._version(version)
        return self.rdf_file, listed.paths, digest_of(listed, self.rdf_file.name)

    def rdf_content(self, version: str) -> bytes | None:
        """The stored statements of a version; None if it has none."""
        if self.rdf_file.name not in self._version(version).paths:
            return None
        return self._view.read(version, self.rdf_file.name)

    def aggregated(self, version: str | None = None) -> list[str]:
        """The paths of the files that a version aggregates: all except that of its statements."""
        return aggregated_in(self._version(version), self.rdf_file)

    # -- statements -------------------------------------------------------------------------

    def triple_exists(self, s: Any, p: Any, o: Any) -> bool:
        """Whether there is a matching statement; ``"*"`` matches anything.

        Args:
            s, p, o: Subject, predicate, object; see `RDFManifest` for the meaning of texts.
        """
        return self.get_rdf_manifest().triple_exists(s, p, o)

    def list_rdf_objects(self, s: Any, p: Any) -> "list[Node]":
        """The distinct objects of matching statements, as rdflib's terms; ``"*"`` matches all."""
        return self.get_rdf_manifest().list_objects(s, p)

    def add_triple(self, s: Any, p: Any, o: Any) -> None:
        """Add a statement.

        Args:
            s, p, o: Subject, predicate, object; see `RDFManifest` for the meaning of texts.

        Raises:
            RDFTermError: See `RDFManifest.add_triple`.
            VersionFrozen: The cursor's version is kept as harvested.
        """
        self._check_writable()
        self.get_rdf_manifest().add_triple(s, p, o)

    def del_triple(self, s: Any, p: Any, o: Any = None) -> None:
        """Remove matching statements; ``"*"`` and an omitted object match anything.

        Args:
            s, p, o: Subject, predicate, object; see `RDFManifest` for the meaning of texts.

        Raises:
            VersionFrozen: The cursor's version is kept as harvested.
        """
        self._check_writable()
        self.get_rdf_manifest().del_triple(s, p, o)

    def _check_writable(self) -> None:
        """Refuse a statement at once: it would stand in the way of every later change."""
        if self.is_frozen():
            raise VersionFrozen(self.item_id, self.currentversion)

    def add_namespace(self, prefix: str, uri: str) -> None:
        """Add a prefix to the graph in use; see `RDFManifest.add_namespace`."""
        self.get_rdf_manifest().add_namespace(prefix, uri)

    def del_namespace(self, prefix: str) -> None:
        """Remove a prefix from the graph in use; see `RDFManifest.del_namespace`."""
        self.get_rdf_manifest().del_namespace(prefix)

    def get_graph(self) -> "Graph":
        """The graph in use; changes to it are stored like those by `add_triple`.

        It remains the version's graph until the version is renamed.
        """
        return self.get_rdf_manifest().get_graph()

    def rdf_to_string(self, format: str = "xml") -> str:  # noqa: A002 - the name of 2010
        """The statements as text; see `RDFManifest.to_string`."""
        return self.get_rdf_manifest().to_string(format)

    # -- changing ---------------------------------------------------------------------------

    def _change(self, act: Callable[[RecordEdit], T], note: Note) -> T:
        """Store changed statements before ``act``, so that a clone has them."""
        cursor = self.currentversion
        settle: list[Callable[[], None] | None] = []

        def act_on_statements(edit: RecordEdit) -> T:
            if self._new_file is not None:
                note_rdf_file(edit, self._new_file)
            changed = [graph for graph in self._graphs.values() if graph.is_changed]
            settle.extend([graph.put_into(edit) for graph in changed])
            return act(edit)

        result = super()._change(act_on_statements, note)
        self._new_file = None
        for settled in filter(None, settle):
            settled()
        self._drop_gone()
        if self.currentversion != cursor:
            self._named = None
        return result

    def _drop_gone(self) -> None:
        self._graphs = {v: graph for v, graph in self._graphs.items() if self._manifest.has(v)}
        if self._named not in self._graphs:
            self._named = None

    def set_version_cursor(self, version: str) -> bool:
        """Move the cursor, and with it the graph in use; see `HarvestedRecord`."""
        moved = super().set_version_cursor(version)
        if moved:
            self._named = None
        return moved

    def revert(self) -> None:
        """Read the record and its statements again, discarding changes that are not stored."""
        self._new_file = None
        super().revert()
        self._drop_gone()
        for graph in self._graphs.values():
            graph.revert()

    revert_manifest = revert

    @takes_note
    def del_dir(self, dirpath: str, **note: Unpack[NoteKeywords]) -> None:
        """Delete a directory of the cursor's version with its content, as one change.

        Raises:
            FileNotInVersion: The version has no such directory; nothing is deleted.
            VersionFrozen: The version is kept as harvested.
        """
        name, directory = self.currentversion, check_path(dirpath.rstrip("/"))
        noted = self._note(note)

        def act(edit: RecordEdit) -> None:
            listed = edit.manifest.version(name)
            inside = [path for path in listed.paths if path.startswith(directory + "/")]
            if not inside and directory not in listed.subdir:
                raise FileNotInVersion(self.item_id, name, directory)
            for path in inside:
                edit.delete(name, path)
            if directory in listed.subdir:
                edit.delete(name, directory)
            else:
                edit.removals[f"{version_dirname(name)}/{directory}"] = None
            edit.log(name, noted.line(f"Deleted directory {directory}"))

        self._change(act, noted)


class _Place(RecordPlace):
    """A record's place; ignores files of statements that 2010 listed before writing them."""

    __slots__ = ()

    def read_manifest(self, *, to_change: bool = False) -> Manifest | None:
        """Read the manifest without files of statements that were listed and never written."""
        manifest = super().read_manifest(to_change=to_change)
        if manifest is None:
            return None
        name = rdf_file_of(manifest).name
        for version in manifest.versions:
            if name in version.paths and digest_of(version, name) is None:
                place = self.path_on_disk(manifest, version.name, name)
                if not os.path.lexists(place):
                    manifest = manifest.with_version(version.without_file(name))
        return manifest


class RDFSilo(Silo):
    """A Silo whose records are `RDFRecord`\\ s.

    It can also be opened as a plain `Silo`. Changes made through a plain `Silo` are aggregated
    when an RDFSilo next changes the files of that version.
    """

    def __enter__(self) -> "RDFSilo":
        return self

    def _place(self, identifier: str) -> RecordPlace:
        plain = super()._place(identifier)
        return _Place(plain.identifier, plain.dirpath, plain.root)

    def _handle(self, place: RecordPlace, manifest: Manifest | None, **how: Any) -> RDFRecord:
        return RDFRecord(self, place, manifest, **how)

    def __getitem__(self, identifier: str) -> RDFRecord:
        return self._rdf_record(super().__getitem__(identifier))

    def get_item(
        self,
        identifier: str,
        date: datetime | str | None = None,
        force: bool = False,
        startversion: str = "1",
    ) -> RDFRecord:
        """A handle on a record, which need not exist yet.

        Args:
            identifier, date, force, startversion: See `Silo.get_item`.

        Raises:
            IdentifierError, ManifestUnreadable: See `Silo.get_item`.
        """
        return self._rdf_record(super().get_item(identifier, date, force, startversion))

    @staticmethod
    def _rdf_record(record: HarvestedRecord) -> RDFRecord:
        assert isinstance(record, RDFRecord)
        return record

    def _commit(
        self, changes: Sequence[RecordEdit | Creation], barrier: Barrier, *, durable: bool
    ) -> None:
        edits = [one.as_edit() for one in changes]
        try:
            for edit in edits:
                if edit.changed:
                    keep_in_step(edit, f"{self.state.get('uri_base') or ''}{edit.identifier}")
        except BaseException:
            for edit in edits:
                edit.discard()
            raise
        super()._commit(edits, barrier, durable=durable)
