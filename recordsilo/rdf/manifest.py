"""RDFManifest: statements about a record and its files, as RDF (the 2010 class of that name).

Reads and writes graphs, turns texts into terms, and merges two people's changes of a graph.
Does not use the network: formats that refer to documents to fetch are not read, and XML
with a document type declaration is refused.
"""

import os
import re
from collections.abc import Iterable, Mapping, Set
from typing import Any
from urllib.parse import quote
from xml.parsers import expat

from recordsilo.disk import atomic_file
from recordsilo.disk.regular_file import regular_fd
from recordsilo.errors import ManifestUnreadable, RecordSiloError
from recordsilo.extras import install_line

try:
    from rdflib import BNode, Graph, Literal, URIRef
    from rdflib.compare import isomorphic
    from rdflib.term import Node
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"RDFSilo, RDFRecord and RDFManifest need rdflib; install it: {install_line('rdflib')}",
        name=error.name,
    ) from error

Triple = tuple[Node, Node, Node]

NAMESPACES: Mapping[str, str] = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "oxds": "http://vocab.ox.ac.uk/dataset/schema#",
    "ore": "http://www.openarchives.org/ore/terms/",
}
"""The prefixes of 2010, which every manifest knows."""
_XML = "http://www.w3.org/XML/1998/namespace"
AGGREGATES = URIRef(NAMESPACES["ore"] + "aggregates")

_KEPT_AS = {"xml": "xml", "pretty-xml": "xml", "turtle": "turtle", "ttl": "turtle", "nt": "nt"}
"""Format of a manifest → rdflib's name. Without JSON-LD, which may refer to contexts to fetch."""
_SHOWN_AS = {*_KEPT_AS, "n3", "json-ld"}
_EMPTY_OF_2010 = b'<?xml version="1.0" encoding="UTF-8"?>'
"""The content that 2010 stored for an empty graph in any format."""

_URI = re.compile(r"(https?|urn|info|ftp):.")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NO_IRI = re.compile(
    r"[^!#-;=?-\[\]_a-z~\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef\U00010000-\U000efffd]"
)
"""Characters that are invalid in an IRI (RFC 3987, section 2.2), without private use areas."""
_NO_IRI_PATH = re.compile(_NO_IRI.pattern + r"|[%#?\[\]]")
_ANY = (None, "*")


class RDFManifestUnreadable(ManifestUnreadable):
    """An RDF manifest cannot be read in its format; it is not overwritten."""


class RDFTermError(RecordSiloError, ValueError):
    """A statement is not possible in RDF, or in the format of the manifest."""


class RDFFormatError(RecordSiloError, ValueError):
    """A format is not possible for an RDF manifest."""


class RDFConflict(RecordSiloError):
    """Two handles changed statements about the same blank nodes; nothing was written."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            f"the statements about blank nodes in {path} were changed here and, meanwhile, "
            "elsewhere; call revert() and change them again"
        )


# -- names -------------------------------------------------------------------------------


def iri(uri: str) -> str:
    """A record's URI as an absolute IRI that RDF formats can store and return unchanged.

    Characters that are invalid in an IRI, and an empty query or fragment, are percent-encoded
    as UTF-8. A URI without a scheme, from a Silo with an empty uri_base, gets ``info:``.
    """
    encoded = re.sub(r"[?#]\Z", _percent, _NO_IRI.sub(_percent, uri))
    return encoded if _SCHEME.match(encoded) else f"info:{encoded}"


def file_uri(uri: str, path: str) -> URIRef:
    """The URI of a file: the record's URI, ``/``, and the percent-encoded path.

    Different paths have different URIs. 2010 did not encode paths, and so could not
    distinguish the file ``a#b`` from a fragment.
    """
    return URIRef(f"{iri(uri)}/{_NO_IRI_PATH.sub(_percent, path)}")


def _percent(found: re.Match[str]) -> str:
    return quote(found[0], safe="")


# -- bytes -------------------------------------------------------------------------------


def check_format(name: str) -> str:
    """Return the name of the format if it is possible for a manifest.

    Raises:
        RDFFormatError: The format is unknown, or not possible for a manifest.
    """
    if name not in _KEPT_AS:
        raise RDFFormatError(
            f"an RDF manifest cannot be in the format {name!r}; use one of {', '.join(_KEPT_AS)}"
        )
    return name


def read_graph(content: bytes | None, name: str, uri: str, path: str) -> Graph:
    """Read a manifest's statements, with the prefixes that it declares.

    Args:
        content: The file's bytes; None if there is no file.
        name: The format.
        uri: The base of relative URIs.
        path: The file's path, for error messages.

    Raises:
        RDFManifestUnreadable: The content is not RDF in that format.
    """
    graph = Graph(identifier=URIRef(iri(uri)), bind_namespaces="none")
    parser = _KEPT_AS[check_format(name)]
    if content is None or content.strip() == _EMPTY_OF_2010:
        return graph
    try:
        if parser == "xml":
            _refuse_doctype(content)
        graph.parse(data=content, format=parser, publicID=iri(uri))
    except MemoryError:
        raise
    except Exception as error:  # the parsers raise many kinds of exceptions
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise RDFManifestUnreadable(path, f"it is not RDF as {name}: {reason}") from error
    _encode_names(graph, uri)
    return graph


def _encode_names(graph: Graph, uri: str) -> None:
    """Encode the URIs of a record and its files, which 2010 wrote even if they were invalid."""

    def encoded(node: Node) -> Node:
        if not isinstance(node, URIRef) or not f"{node}/".startswith(f"{uri}/"):
            return node
        return URIRef(iri(uri) + _NO_IRI.sub(_percent, node.removeprefix(uri)))

    for s, p, o in list(graph):
        if (named := (encoded(s), p, encoded(o))) != (s, p, o):
            graph.remove((s, p, o))
            graph.add(named)


def _refuse_doctype(content: bytes) -> None:
    """Refuse a document type, so that entities are not expanded and nothing is fetched."""

    def refuse(*_: object) -> None:
        raise ValueError("it has a document type declaration")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.Parse(content, True)


def prefixes_of(graph: Graph) -> dict[str, str]:
    """Prefix → namespace, as the graph's bytes declared them."""
    return {prefix: str(namespace) for prefix, namespace in graph.namespaces()}


def write_graph(
    triples: Iterable[Triple], namespaces: Mapping[str, str], name: str, uri: str
) -> bytes:
    """A manifest's bytes, the same for equal statements, except for names of blank nodes.

    Args:
        triples: The statements, in any order.
        namespaces: Prefix → URI.
        name: The format, one that `check_format` accepts.
        uri: The record's URI.

    Raises:
        RDFTermError: The format cannot express a statement (in XML: a control character,
            or a predicate that is not an XML name); checked by reading it back.
    """
    check_format(name)
    stated = set(triples)
    content = _serialize(stated, namespaces, _KEPT_AS[name])
    try:
        found = set(read_graph(content, name, uri, "what was written"))
    except RDFManifestUnreadable as error:
        raise RDFTermError(f"the statements cannot be stored as {name}: {error.reason}") from error
    if _ground(found) != _ground(stated) or len(found) != len(stated):
        lost = min((_shown(triple) for triple in _ground(stated) - found), default="a blank node")
        raise RDFTermError(f"the statements cannot be stored as {name}: {lost} would be altered")
    return content


def _serialize(triples: Set[Triple], namespaces: Mapping[str, str], name: str) -> bytes:
    graph = Graph(store="SimpleMemory", bind_namespaces="none")  # keeps the order
    for prefix, namespace in {**namespaces, "xml": _XML}.items():
        graph.bind(prefix, namespace, override=True, replace=True)
    for triple in sorted(triples, key=_shown):
        graph.add(triple)
    try:
        return graph.serialize(format=name, encoding="utf-8")
    except Exception as error:  # so do the serializers
        raise RDFTermError(f"the statements cannot be written as {name}: {error}") from error


def _shown(triple: Triple) -> str:
    return " ".join(repr(node) for node in triple)


# -- statements --------------------------------------------------------------------------


def keep_aggregation(graph: Graph, uri: str, paths: Iterable[str]) -> bool:
    """Make a record aggregate exactly these files below its own URI.

    Aggregated resources with other URIs, and statements about files, are kept.

    Args:
        graph: Changed in place.
        uri: The record's URI.
        paths: The files, relative to the record's URI.

    Returns:
        Whether the graph was changed.
    """
    record = URIRef(iri(uri))
    below = f"{record}/"
    stated = {node for node in graph.objects(record, AGGREGATES) if str(node).startswith(below)}
    files = {file_uri(uri, path) for path in paths}
    for node in stated - files:
        graph.remove((record, AGGREGATES, node))
    for node in files - stated:
        graph.add((record, AGGREGATES, node))
    return stated != files


def merged(base: Set[Triple], ours: Set[Triple], theirs: Set[Triple], path: str) -> set[Triple]:
    """Merge the changes made here since ``base`` into the statements stored now.

    Blank nodes of two graphs cannot be matched by name, so the statements about them are taken
    from the side that changed them.

    Args:
        base: The statements as they were read.
        ours: The statements with the changes made here.
        theirs: The statements as they are stored now.
        path: The file's path, for error messages.

    Raises:
        RDFConflict: Both sides changed the statements about blank nodes.
    """
    ground = (_ground(theirs) - (_ground(base) - _ground(ours))) | (_ground(ours) - _ground(base))
    blank, blank_base, blank_theirs = (part - _ground(part) for part in (ours, base, theirs))
    if blank == blank_base:
        return ground | blank_theirs
    if not isomorphic(_graph(blank_base), _graph(blank_theirs)):
        raise RDFConflict(path)
    return ground | blank


def _ground(triples: Set[Triple]) -> set[Triple]:
    return {t for t in triples if not any(isinstance(node, BNode) for node in t)}


def _graph(triples: Set[Triple]) -> Graph:
    graph = Graph()
    for triple in triples:
        graph.add(triple)
    return graph


class RDFManifest:
    """A graph stored in one file.

    Subjects, predicates and objects are rdflib's terms or texts. A text is a URI
    (``http:``, ``https:``, ``urn:``, ``info:``, ``ftp:``, or below the manifest's own URI),
    or a name with a known prefix (``dc:title``). Any other text is a literal, which can
    only be an object. In queries, ``"*"`` and None match anything.

    Args:
        filepath: The file, which is read if it exists.
        format: ``xml``, ``pretty-xml``, ``turtle``, ``ttl`` or ``nt``.
        uri: The subject of the statements, and the base of relative URIs in the file.

    Attributes:
        namespaces: prefix → URI; those of `NAMESPACES`, of the file, and those added.

    Raises:
        RDFManifestUnreadable: The file exists and is not RDF in that format.
    """

    def __init__(
        self,
        filepath: str,
        format: str = "xml",  # noqa: A002 - the name of 2010
        uri: str | None = None,
    ) -> None:
        self.filepath, self.format, self.uri = os.fspath(filepath), check_format(format), uri
        self._graph = Graph(identifier=URIRef(iri(self._base_uri)), bind_namespaces="none")
        self.namespaces: dict[str, str] = {}
        self.revert()

    @property
    def _base_uri(self) -> str:
        return self.uri or f"file://{quote(os.path.abspath(self.filepath))}"

    def _read(self) -> bytes | None:
        try:
            with open(self.filepath, "rb", opener=regular_fd) as file:
                return file.read()
        except FileNotFoundError:
            return None

    def revert(self) -> None:
        """Read the file again, discarding changes that are not stored."""
        self._show(read_graph(self._read(), self.format, self._base_uri, self.filepath))

    def _show(self, found: Graph) -> None:
        """Replace the content of the graph, which callers may hold, by what was read."""
        self._graph.remove((None, None, None))
        for triple in found:
            self._graph.add(triple)
        self.namespaces = {**NAMESPACES, **prefixes_of(found)}
        for prefix, namespace in self.namespaces.items():
            self._graph.bind(prefix, namespace, override=True, replace=True)

    def sync(self) -> None:
        """Store the graph, completely or not at all."""
        content = write_graph(self._graph, self.namespaces, self.format, self._base_uri)
        atomic_file.replace_file(self.filepath, content)

    # -- statements ---------------------------------------------------------------------

    def triple_exists(self, s: Any, p: Any, o: Any) -> bool:
        """Whether the graph has a matching statement.

        Args:
            s, p, o: Subject, predicate, object.
        """
        return self._pattern(s, p, o) in self._graph

    def list_objects(self, s: Any, p: Any) -> list[Node]:
        """The distinct objects of the statements with this subject and predicate."""
        subject, predicate, _ = self._pattern(s, p, None)
        return list(dict.fromkeys(self._graph.objects(subject, predicate)))

    def add_triple(self, s: Any, p: Any, o: Any) -> None:
        """Add a statement.

        Args:
            s, p, o: Subject, predicate, object.

        Raises:
            RDFTermError: The subject or the predicate is neither a URI nor a name with a
                known prefix, or the object is None.
        """
        if o is None:
            raise RDFTermError("None cannot be the object of a statement")
        self._graph.add((self._resource(s), self._resource(p), self._object(o)))

    def del_triple(self, s: Any, p: Any, o: Any = None) -> None:
        """Remove all matching statements, if any.

        Args:
            s, p, o: Subject, predicate, object.
        """
        self._graph.remove(self._pattern(s, p, o))

    def get_graph(self) -> Graph:
        """The graph itself; `sync` stores changes to it."""
        return self._graph

    def to_string(self, format: str = "xml") -> str:  # noqa: A002 - the name of 2010
        """The statements as text.

        Args:
            format: A format of manifests, or ``n3`` or ``json-ld``.

        Raises:
            RDFFormatError: Unknown format.
        """
        if format not in _SHOWN_AS:
            check_format(format)
        return _serialize(set(self._graph), self.namespaces, format).decode()

    # -- prefixes -----------------------------------------------------------------------

    def add_namespace(self, prefix: str, uri: str) -> None:
        """Add a prefix, or change its namespace.

        Raises:
            TypeError: The prefix or the URI is not text.
            RDFTermError: The URI is invalid, or does not end in ``/`` or ``#``.
        """
        if not all(isinstance(text, str) for text in (prefix, uri)):
            raise TypeError("a prefix and its namespace must be text")
        if not _URI.match(uri) or _NO_IRI.search(uri) or not uri.endswith(("/", "#")):
            raise RDFTermError(f"{uri!r} is not a namespace: a URI that ends in '/' or '#'")
        self.namespaces[prefix] = str(uri)
        self._graph.bind(prefix, uri, override=True, replace=True)

    def del_namespace(self, prefix: str) -> None:
        """Remove a prefix, if known; statements are kept."""
        self.namespaces.pop(prefix, None)

    # -- terms --------------------------------------------------------------------------

    def _pattern(self, s: Any, p: Any, o: Any) -> tuple[Node | None, Node | None, Node | None]:
        return (
            None if _is_any(s) else self._resource(s),
            None if _is_any(p) else self._resource(p),
            None if _is_any(o) else self._object(o),
        )

    def _resource(self, term: Any) -> Node:
        if isinstance(term, URIRef | BNode):
            return term
        found = self._as_uri(term) if isinstance(term, str) else None
        if found is None:
            raise RDFTermError(
                f"{term!r} is neither a URI nor a name with one of the prefixes "
                f"{', '.join(sorted(self.namespaces))}"
            )
        return found

    def _object(self, term: Any) -> Node:
        if isinstance(term, Node):
            return term
        found = self._as_uri(str(term))
        return Literal(str(term)) if found is None else found

    def _as_uri(self, text: str) -> URIRef | None:
        bare = text.strip()
        for own in (self.uri, iri(self.uri)) if self.uri else ():
            if bare == own or bare.startswith(own + "/"):
                return URIRef(iri(own) + _NO_IRI.sub(_percent, bare.removeprefix(own)))
        if _NO_IRI.search(bare):
            return None
        if _URI.match(bare):
            return URIRef(bare)
        prefix, _, name = bare.partition(":")
        if name and ":" not in name and prefix in self.namespaces:
            return URIRef(self.namespaces[prefix] + name)
        return None


def _is_any(term: object) -> bool:
    return not isinstance(term, Node) and term in _ANY
