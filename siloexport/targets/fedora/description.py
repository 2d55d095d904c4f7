"""The RDF description of an object in Fedora: the crosswalk's statements and our own. Pure.

Our own predicates are below ``urn:x-recordsilo:``; docs/fedora-objects.md lists
them. They say, without a ledger, which version of which record an object is.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, unquote

from rdflib import Graph, Literal, Namespace, URIRef
from rdflib.compare import graph_diff, isomorphic, to_isomorphic
from rdflib.namespace import DCTERMS, PROV, XSD
from rdflib.term import Node

from siloexport.crosswalk import Crosswalk, ntriples
from siloexport.crosswalk.terms import link_or_text as term_of
from siloexport.targets.fedora.client import ADDRESS
from siloexport.values import Deposit, ExportedVersion, Withdrawal

SILO = Namespace("urn:x-recordsilo:")
RECORD, VERSION, KEY = SILO.record, SILO.version, SILO.key
CHECKSUM, STATUS, DELETED = SILO.checksum, SILO.status, SILO.deletedAtSource
DESCRIBED = SILO.fileDescription
DELETED_STATUS = Literal("deleted at the source")
_WITHDRAWAL = frozenset({STATUS, DELETED, SILO.withdrawal})
_STATEMENTS = SILO.statements


def description(
    deposit: Deposit,
    subject: URIRef,
    crosswalk: Crosswalk,
    sums: Mapping[str, str],
    more: Iterable[tuple[URIRef, URIRef | Literal]] = (),
) -> bytes:
    """Return the whole description of a version as N-Triples.

    Args:
        subject: Address of the object.
        crosswalk: Maps the metadata.
        sums: Path → SHA-512 of every file in the version.
        more: Predicate and object of statements that a layout adds.
    """
    version = deposit.version
    statements = [
        *crosswalk.statements(metadata_of(version), subject),
        *((subject, predicate, term) for predicate, term in identified(version)),
        *((subject, predicate, term) for predicate, term in about(deposit, crosswalk.version)),
        *((subject, predicate, term) for predicate, term in more),
        *((subject, CHECKSUM, Literal(f"{sums[path]}  {path}")) for path in sums),
    ]
    return sealed(dict.fromkeys(statements), subject)


def sealed(statements: Iterable[tuple[Node, Node, Node]], subject: URIRef) -> bytes:
    """Add a digest of all statements, which shows whether any of them was changed."""
    content = ntriples(statements)
    return ntriples([(subject, _STATEMENTS, Literal(_digest(parsed(content))))]) + content


def _digest(graph: Graph) -> str:
    """Return the digest of parsed statements; parsing normalises dates that servers rewrite."""
    return f"sha256:{hashlib.sha256(ntriples(graph)).hexdigest()}"


def digest_of(content: bytes) -> str:
    """Return the digest of a description in N-Triples, as Fedora returns it or as it was sent.

    Raises:
        ValueError: It is not N-Triples.
    """
    return _digest(parsed(content))


def is_sealed(graph: Graph) -> bool:
    """Whether a description has exactly the statements that an export wrote.

    An export writes no blank nodes, whose names change with each reading.
    """
    others = without(graph, frozenset({_STATEMENTS}))
    return value(graph, _STATEMENTS) == _digest(others)


def undescribed(deposit: Deposit, crosswalk: Crosswalk) -> str:
    """Return why the crosswalk does not map a version's metadata; ``""`` if it does."""
    metadata = metadata_of(deposit.version)
    if not metadata or crosswalk.fits(metadata):
        return ""
    return f"no [[format]] of {crosswalk.path} has the root of {', '.join(metadata)}"


def metadata_of(version: ExportedVersion) -> dict[str, bytes]:
    """Return the contents of the metadata files as harvested."""
    found = {}
    for file in version.files:
        if file.is_metadata and not file.path.endswith(".about"):
            with version.content.open(file.path) as source:
                found[file.path] = source.read()
    return found


_IDENTIFIED = ("creator", "contributor", "publisher", "subject")


def identified(version: ExportedVersion) -> Iterator[tuple[URIRef, URIRef]]:
    """Yield links to the people, institutions and subjects that values of a version mean."""
    for field in _IDENTIFIED:
        addresses = (one.address for one in version.identifiers.get(field, {}).values())
        for term in map(term_of, dict.fromkeys(addresses)):
            if isinstance(term, URIRef):
                yield DCTERMS[field], term


def about(deposit: Deposit, form: int) -> Iterator[tuple[URIRef, URIRef | Literal]]:
    """Yield our own statements about a version.

    Args:
        form: Version of the crosswalk's form; 1 writes the source as a text under
            ``dcterms:provenance``, which DCMI means for things.
    """
    version, origin = deposit.version, deposit.version.origin
    yield DCTERMS.identifier, Literal(deposit.identifier)
    yield RECORD, Literal(deposit.identifier)
    if deposit.source and form < 2:
        yield DCTERMS.provenance, Literal(f"Harvested from {deposit.source}")
    elif deposit.source:
        yield PROV.hadPrimarySource, term_of(deposit.source)
    yield VERSION, Literal(version.name)
    yield KEY, Literal(version.key)
    yield SILO.digest, Literal(f"sha256:{version.digest}")
    yield SILO.kind, Literal(origin.kind)
    if origin.date:
        made = Literal(f"{origin.date}Z", datatype=XSD.dateTime, normalize=False)
        yield DCTERMS.modified, made
        yield PROV.generatedAtTime, made
    for predicate, text in (
        (SILO.sourceDatestamp, version.datestamp and f"{version.datestamp}Z"),
        (SILO.revisionOf, origin.of), (SILO.agent, origin.agent), (SILO.message, origin.message),
    ):  # fmt: skip
        if text:
            yield predicate, Literal(text)


def withdrawn(current: bytes, uri: str, withdrawal: Withdrawal) -> bytes:
    """Return a description with the statement that the source deleted the record.

    Args:
        current: The object's statements in Fedora, without the server's, in N-Triples.
        uri: Address of the object.

    Raises:
        ValueError: ``current`` is not N-Triples.
    """
    subject = URIRef(uri)
    graph = without(parsed(current), _WITHDRAWAL | {_STATEMENTS})
    graph.add((subject, STATUS, DELETED_STATUS))
    graph.add((subject, SILO.withdrawal, Literal(withdrawal.key)))
    if withdrawal.date:
        graph.add((subject, DELETED, Literal(withdrawal.date)))
    return sealed(graph, subject)


def parsed(content: bytes) -> Graph:
    """Parse N-Triples.

    Raises:
        ValueError: The content is not N-Triples.
    """
    graph, found = Graph(), Graph()
    try:
        found.parse(data=content, format="nt")
    except Exception as error:  # rdflib's parsers raise many types, from ParserError to IndexError
        raise ValueError(f"not N-Triples: {error}") from error
    for subject, predicate, term in found:
        graph.add((_encoded(subject), predicate, _encoded(term)))
    return graph


def _encoded(term: Node) -> Node:
    """Percent-encode the letters of an address that servers leave as they are."""
    if not isinstance(term, URIRef) or term.isascii():
        return term
    return URIRef("".join(one if one.isascii() else quote(one) for one in term))


def without(graph: Graph, predicates: frozenset[URIRef]) -> Graph:
    """Return a graph without the statements of some predicates."""
    kept = Graph()
    for one in graph:
        if one[1] not in predicates:
            kept.add(one)
    return kept


def value(graph: Graph, predicate: URIRef) -> str:
    """Return the value of a predicate as text; ``""`` if there is none."""
    return next((str(term) for term in graph.objects(None, predicate)), "")


def checksums(graph: Graph) -> dict[str, str]:
    """Return path → SHA-512 of the files that a description lists."""
    lines = (str(term) for term in graph.objects(None, CHECKSUM))
    return {path: sha512 for sha512, _, path in (line.partition("  ") for line in lines)}


def described(graph: Graph) -> dict[str, str]:
    """Return path → digest of the description of each file that has one."""
    lines = (str(term) for term in graph.objects(None, DESCRIBED))
    return {path: digest for digest, _, path in (line.partition("  ") for line in lines)}


def is_withdrawn(graph: Graph) -> bool:
    """Whether a description says that the source deleted the record."""
    return (None, STATUS, DELETED_STATUS) in graph


def unlike(expected: bytes, found: bytes, *, withdrawal: bool) -> str:
    """Describe how two descriptions differ as graphs; ``""`` if they are equal.

    Names of blank nodes are ignored.

    Args:
        expected: N-Triples.
        found: N-Triples.
        withdrawal: Whether to ignore the statements of a withdrawal.

    Raises:
        ValueError: One is not N-Triples.
    """
    ours = parsed(expected)
    theirs = parsed(found)
    if withdrawal:
        ours = without(ours, frozenset({_STATEMENTS}))
        theirs = without(theirs, _WITHDRAWAL | {_STATEMENTS})
    if isomorphic(ours, theirs):
        return ""
    _, lost, added = graph_diff(to_isomorphic(ours), to_isomorphic(theirs))
    return "; ".join([*_listed("missing", lost), *_listed("not ours", added)])


def _listed(what: str, graph: Graph, limit: int = 3) -> Iterator[str]:
    statements = sorted(f"{p.n3()} {o.n3()}"[:200] for _, p, o in graph)
    for one in statements[:limit]:
        yield f"{what}: {one}"
    if len(statements) > limit:
        yield f"{len(statements) - limit} more {what}"


def contained(graph: Graph) -> set[str]:
    """Return the addresses of the files that an object or a memento of it contains.

    They are encoded as our own: servers may leave non-ASCII letters as they are.
    """
    ldp = URIRef("http://www.w3.org/ns/ldp#contains")
    return {quote(unquote(str(term)), safe=ADDRESS) for term in graph.objects(None, ldp)}
