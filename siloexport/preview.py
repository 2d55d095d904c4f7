"""What a record would become in Fedora: its statements, without asking a server.

Loads rdflib; import it only where RDF is made.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rdflib import Graph, Literal, URIRef

from recordsilo import Silo
from recordsilo.disk.digest import Digest
from recordsilo.repository import Repository
from siloexport.content import Packer, with_digests
from siloexport.crosswalk import Crosswalk, Mapped, Statement, Term, text
from siloexport.identified import found_identifiers
from siloexport.plan import Action, Policy
from siloexport.targets.fedora.client import joined
from siloexport.targets.fedora.description import (
    DESCRIBED,
    SILO,
    about,
    identified,
    metadata_of,
    parsed,
    without,
)
from siloexport.targets.fedora.layout import LayingOut, Layout, sets_with_those_above
from siloexport.targets.fedora.names import object_segment
from siloexport.values import ActionKind, Deposit

ROOT = "info:fedora"
"""The address of a container in a preview that names none."""
PREFIXES = {
    "bibo": "http://purl.org/ontology/bibo/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcmitype": "http://purl.org/dc/dcmitype/",
    "dcterms": "http://purl.org/dc/terms/",
    "pcdm": "http://pcdm.org/models#",
    "pcdmuse": "http://pcdm.org/use#",
    "premis": "http://www.loc.gov/premis/rdf/v3/",
    "prov": "http://www.w3.org/ns/prov#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "schema": "http://schema.org/",
    "silo": "urn:x-recordsilo:",
    "uketdterms": "http://naca.central.cranfield.ac.uk/ethos-oai/terms/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


class _NoCache:
    """A `siloexport.content.Sha512Cache` that stores nothing."""

    def known_sha512(self, _digest: Digest) -> str | None:
        return None

    def note_sha512(self, _digest: Digest, _sha512: str) -> None:
        return None


@dataclass(frozen=True, slots=True)
class DepositPreview:
    """The description that a version of a record would have.

    Attributes:
        subject: Address of the object.
        mapped: Statements from metadata, in order.
        own: The export's own statements about the object.
        others: Those about its files and collections, in the PCDM layout.
        unread: Metadata files that no format of the crosswalk reads.
    """

    subject: URIRef
    version: str
    mapped: tuple[Mapped, ...]
    own: tuple[Statement, ...]
    unread: tuple[str, ...] = ()
    others: tuple[Statement, ...] = ()

    @property
    def statements(self) -> list[Statement]:
        """All statements, each once."""
        of_record = [(self.subject, one.predicate, one.term) for one in self.mapped]
        return list(dict.fromkeys([*of_record, *self.own, *self.others]))

    def turtle(self) -> str:
        """Return all statements as Turtle."""
        graph = Graph(bind_namespaces="none")
        for prefix, namespace in PREFIXES.items():
            graph.bind(prefix, namespace)
        for statement in self.statements:
            graph.add(statement)
        return graph.serialize(format="turtle")

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        files = {(one.predicate, one.term): one.file for one in self.mapped}
        return {
            "subject": str(self.subject),
            "version": self.version,
            "statements": [
                _json(one, files.get(one[1:], "") if one[0] == self.subject else "")
                for one in self.statements
            ],
            "unread": list(self.unread),
        }


def preview(
    silo: Silo,
    identifier: str,
    crosswalk: Crosswalk,
    *,
    version: str = "",
    container: str = ROOT,
    layout: Layout = Layout.PLAIN,
) -> DepositPreview:
    """Find out what a version of a record would become.

    Checksums are left out, because for them every file would have to be read.

    Args:
        version: Its name; ``""`` for the current version.
        container: Address of the container of the export.
        layout: In the PCDM layout, files and collections are described, too.

    Raises:
        CrosswalkError: An XPath of the crosswalk cannot be evaluated.
        RecordNotFound, VersionNotFound: There is none.
        FileNotInVersion: A metadata file is missing on the disk.
    """
    deposit = _deposit(silo, identifier, version, crosswalk)
    subject = URIRef(joined(container, object_segment(deposit.identifier)))
    metadata = metadata_of(deposit.version)
    own = [*identified(deposit.version), *about(deposit, crosswalk.version)]
    others: list[Statement] = []
    if layout is Layout.PCDM:
        names = Repository(silo.path).set_names
        set_names = {spec: str(name) for spec, name in names.items() if name}
        laying_out = LayingOut(container, crosswalk, layout, set_names)
        own += _of_object(laying_out, deposit, str(subject))
        others += _of_others(laying_out, deposit, str(subject))
    return DepositPreview(
        subject,
        deposit.version.name,
        tuple(dict.fromkeys(crosswalk.mapped(metadata))),
        tuple((subject, to, term) for to, term in own),
        _unread(metadata, crosswalk),
        tuple(others),
    )


def _deposit(silo: Silo, identifier: str, version: str, crosswalk: Crosswalk) -> Deposit:
    record = silo[identifier]
    manifest = with_digests(record)
    name = manifest.version(version).name if version else manifest.current.name
    policy = Policy(crosswalk=crosswalk.id, identifiers=found_identifiers(silo))
    packer = Packer.of(silo, policy, _NoCache())
    return packer.deposit(
        record, manifest, Action(manifest.item_id, ActionKind.CREATE, (name,)), None
    )


def _of_object(laying_out: LayingOut, deposit: Deposit, uri: str) -> Iterator[tuple[URIRef, Term]]:
    files = {one.path: b"" for one in deposit.version.files}
    return ((to, term) for to, term in laying_out.object(deposit, uri, files) if to != DESCRIBED)


def _of_others(laying_out: LayingOut, deposit: Deposit, uri: str) -> Iterator[Statement]:
    contents = [laying_out.file(one, uri) for one in deposit.version.files]
    contents += [laying_out.collection(spec) for spec in sets_with_those_above(deposit.sets)]
    for content in contents:
        for subject, to, term in sorted(without(parsed(content), frozenset({SILO.statements}))):
            found = term if isinstance(term, Literal) else URIRef(str(term))
            yield URIRef(str(subject)), URIRef(str(to)), found


def _unread(metadata: Mapping[str, bytes], crosswalk: Crosswalk) -> tuple[str, ...]:
    read = {name for _, name in crosswalk.formats_of(metadata)}
    return tuple(name for name in metadata if name not in read)


def shortened(address: str) -> str:
    """Return a URI with a prefix of `PREFIXES`, or in angle brackets."""
    for prefix, namespace in PREFIXES.items():
        local = address.removeprefix(namespace)
        if local != address and local.replace("-", "").replace("_", "").isalnum():
            return f"{prefix}:{local}"
    return f"<{address}>"


def shown(term: Term) -> str:
    """Return a term as Turtle writes it, with the prefixes of `PREFIXES`."""
    if isinstance(term, URIRef):
        return shortened(str(term))
    quoted = text(str(term)).n3()
    if term.language:
        return f"{quoted}@{term.language}"
    return f"{quoted}^^{shortened(str(term.datatype))}" if term.datatype else quoted


def _json(statement: Statement, file: str) -> dict[str, str]:
    subject, predicate, term = statement
    found = {
        "subject": str(subject),
        "predicate": str(predicate),
        "value": str(term),
        "kind": "uri" if isinstance(term, URIRef) else "literal",
        "language": "" if isinstance(term, URIRef) else term.language or "",
        "datatype": "" if isinstance(term, URIRef) else str(term.datatype or ""),
        "file": file,
    }
    return {name: value for name, value in found.items() if value}
