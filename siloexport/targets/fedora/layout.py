"""How a record is laid out: the description of its object, and of its files. Pure.

In the plain layout files have no descriptions of their own. In the PCDM layout a record is a
``pcdm:Object``, its files are ``pcdm:File``, and its sets are ``pcdm:Collection``, of which it
says that it is a member, as Hyrax (from 2) and Islandora (2) do.

Source: Portland Common Data Model, https://pcdm.org/models; PCDM Use Extension.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rdflib import Literal, Namespace, URIRef
from rdflib.namespace import DCTERMS, RDF

from siloexport.crosswalk import Crosswalk, ntriples, text
from siloexport.targets.fedora.client import joined
from siloexport.targets.fedora.description import (
    DESCRIBED,
    RECORD,
    description,
    digest_of,
    sealed,
)
from siloexport.targets.fedora.names import object_segment
from siloexport.targets.fedora.sending import file_uri
from siloexport.values import Deposit, ExportedFile

PCDM = Namespace("http://pcdm.org/models#")
USE = Namespace("http://pcdm.org/use#")
ORIGINAL_NAME = URIRef("http://www.loc.gov/premis/rdf/v3/originalName")
COLLECTIONS = "pcdm.collections"
"""The container of the collections; no segment of a record has a dot."""
_VERSION = 1
"""Incremented when the same record is described in another way; part of every key."""


class Layout(StrEnum):
    """How records are laid out."""

    PLAIN = "plain"
    PCDM = "pcdm"


@dataclass(frozen=True, slots=True)
class Laid:
    """The descriptions of a version.

    Attributes:
        own: That of the object, in N-Triples.
        files: Path of a file → its description; empty in the plain layout.
    """

    own: bytes
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LayingOut:
    """Lays out records.

    Attributes:
        container: Address of the container of the export.
        set_names: setSpec → the set's name, where it has one.
    """

    container: str
    crosswalk: Crosswalk
    layout: Layout = Layout.PLAIN
    set_names: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Changes when descriptions do; part of every key."""
        is_plain = self.layout is Layout.PLAIN
        return self.crosswalk.id if is_plain else f"{self.crosswalk.id} {self.layout} {_VERSION}"

    def of(self, deposit: Deposit, uri: str, sums: Mapping[str, str]) -> Laid:
        """Return the descriptions of a version.

        Args:
            deposit: The version.
            uri: Address of its object.
            sums: Path → SHA-512 of every file; empty for a preview.

        Raises:
            CrosswalkError: An XPath of the crosswalk cannot be evaluated.
        """
        if self.layout is Layout.PLAIN:
            return Laid(description(deposit, URIRef(uri), self.crosswalk, sums))
        files = {one.path: self.file(one, uri) for one in deposit.version.files}
        own = description(
            deposit, URIRef(uri), self.crosswalk, sums, [*self.object(deposit, uri, files)]
        )
        return Laid(own, files)

    def object(
        self, deposit: Deposit, uri: str, files: Mapping[str, bytes]
    ) -> Iterator[tuple[URIRef, URIRef | Literal]]:
        """Yield what an object says of itself, its sets and its files."""
        yield RDF.type, PCDM.Object
        for spec in deposit.sets:
            yield PCDM.memberOf, URIRef(self.collection_uri(spec))
        for path, content in files.items():
            yield PCDM.hasFile, URIRef(file_uri(uri, path))
            yield DESCRIBED, Literal(f"{digest_of(content)}  {path}")

    def file(self, file: ExportedFile, uri: str) -> bytes:
        """Return the description of a file, in N-Triples.

        Args:
            file: Of the object.
            uri: Address of the object.
        """
        rule, subject = self.crosswalk.file_rule(file.path), URIRef(file_uri(uri, file.path))
        is_original = not (file.is_metadata or file.document_of)
        uses = rule.uses or ((USE.OriginalFile,) if is_original else ())
        title = text(rule.title or file.path.rpartition("/")[2], rule.language)
        return ntriples(
            [
                (subject, RDF.type, PCDM.File),
                *((subject, RDF.type, one) for one in uses),
                (subject, PCDM.fileOf, URIRef(uri)),
                (subject, DCTERMS.title, title),
                (subject, ORIGINAL_NAME, Literal(file.path)),
            ]
        )

    # -- collections --------------------------------------------------------------------------

    @property
    def collections_uri(self) -> str:
        """Address of the container of the collections."""
        return joined(self.container, COLLECTIONS)

    def collection_uri(self, spec: str) -> str:
        """Return the address of the collection of a set."""
        return joined(self.collections_uri, object_segment(spec))

    def collection(self, spec: str) -> bytes:
        """Return the description of a collection; ``a:b`` is a member of ``a``."""
        subject = URIRef(self.collection_uri(spec))
        above = spec.rpartition(":")[0]
        return sealed(
            [
                (subject, RDF.type, PCDM.Collection),
                (subject, DCTERMS.title, Literal(self.set_names.get(spec) or spec)),
                (subject, DCTERMS.identifier, Literal(spec)),
                (subject, RECORD, Literal(f"set {spec}")),
                *([(subject, PCDM.memberOf, URIRef(self.collection_uri(above)))] if above else []),
            ],
            subject,
        )


def sets_with_those_above(specs: tuple[str, ...]) -> list[str]:
    """Return setSpecs and those above them in the hierarchy, each once, those above first."""
    found: dict[str, None] = {}
    for spec in specs:
        parts = spec.split(":")
        found |= dict.fromkeys(":".join(parts[: end + 1]) for end in range(len(parts)))
    return list(found)
