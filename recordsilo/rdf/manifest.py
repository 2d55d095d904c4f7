"""RDFManifest: statements about a record and its files, as RDF (the 2010 class of that name).

Bytes ↔ graph, texts ↔ terms, and what two people changed in one graph. Nothing
here reaches for the network: formats that name documents to fetch are not read, and
XML with a document type declaration is refused.
"""

import os
import re
from collections.abc import Iterable, Mapping, Set
from typing import Any
from urllib.parse import quote
from xml.parsers import expat

from recordsilo.disk import atomic_file
from recordsilo.errors import ManifestUnreadable, RecordSiloError

try:
    from rdflib import BNode, Graph, Literal, URIRef
    from rdflib.compare import isomorphic
    from rdflib.term import Node
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "RDFSilo, RDFRecord and RDFManifest need rdflib; install it with "
        "`pip install recordsilo[rdf]`",
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
"""The prefixes of 2010, known to every manifest."""
_XML = "http://www.w3.org/XML/1998/namespace"
AGGREGATES = URIRef(NAMESPACES["ore"] + "aggregates")

_KEPT_AS = {"xml": "xml", "pretty-xml": "xml", "turtle": "turtle", "ttl": "turtle", "nt": "nt"}
"""Format of a manifest → rdflib's. Not JSON-LD: that may name contexts to fetch."""
_SHOWN_AS = {*_KEPT_AS, "n3", "json-ld"}
_EMPTY_OF_2010 = b'<?xml version="1.0" encoding="UTF-8"?>'
"""What 2010 stored for a graph without statements, in every format."""

_URI = re.compile(r"(https?|urn|info|ftp):.")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NO_IRI = re.compile(
    r"[^!#-;=?-\[\]_a-z~\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef\U00010000-\U000efffd]"
)
"""What no IRI holds (RFC 3987, section 2.2; the private use areas left out)."""
_NO_IRI_PATH = re.compile(_NO_IRI.pattern + r"|[%#?\[\]]")
_ANY = (None, "*")


class RDFManifestUnreadable(ManifestUnreadable):
    """An RDF manifest is not RDF in its format; nothing is written over it."""


class RDFTermError(RecordSiloError, ValueError):
    """Something cannot be said in RDF, or not in the format of the manifest."""


class RDFFormatError(RecordSiloError, ValueError):
    """A format in which no RDF manifest can be."""


class RDFConflict(RecordSiloError):
    """Two handles changed statements about the same blank nodes; nothing was written."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            f"what {path} says of nodes without a name was changed here and, meanwhile, by "
            "somebody else; revert() and change it again"
        )


# -- names -------------------------------------------------------------------------------


def iri(uri: str) -> str:
    """A record's URI as an absolute IRI that RDF can hold and gives back.

    What no IRI may hold, and an empty query or fragment, is percent-encoded as UTF-8;
    one without a scheme, from a Silo with an empty uri_base, becomes one of ``info:``.
    """
    encoded = re.sub(r"[?#]\Z", _percent, _NO_IRI.sub(_percent, uri))
    return encoded if _SCHEME.match(encoded) else f"info:{encoded}"


def file_uri(uri: str, path: str) -> URIRef:
    """The URI of a file of a record: the record's, ``/`` and the path, percent-encoded.

    Two paths never have the same; 2010 did not encode, and could not tell ``a#b``
    from a fragment.
    """
    return URIRef(f"{iri(uri)}/{_NO_IRI_PATH.sub(_percent, path)}")


def _percent(found: re.Match[str]) -> str:
    return quote(found[0], safe="")


# -- bytes -------------------------------------------------------------------------------


def check_format(name: str) -> str:
    """Return the name of a format a manifest can be in.

    Raises:
        RDFFormatError: It cannot be, or is unknown.
    """
    if name not in _KEPT_AS:
        raise RDFFormatError(
            f"an RDF manifest cannot be in the format {name!r}; take one of {', '.join(_KEPT_AS)}"
        )
    return name


def read_graph(content: bytes | None, name: str, uri: str, path: str) -> Graph:
    """The statements in a manifest's bytes, with the prefixes it declares.

    Args:
        content: None for a manifest that is not there.
        name: The format.
        uri: What relative URIs are relative to.
        path: Where it lies, for the error's text.

    Raises:
        RDFManifestUnreadable: It is not RDF in that format.
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
    except Exception as error:  # the parsers raise whatever they stumble over
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise RDFManifestUnreadable(path, f"it is not RDF as {name}: {reason}") from error
    _encode_names(graph, uri)
    return graph


def _encode_names(graph: Graph, uri: str) -> None:
    """2010 wrote the URIs of a record and its files as they were, even where they are no URIs."""

    def encoded(node: Node) -> Node:
        if not isinstance(node, URIRef) or not f"{node}/".startswith(f"{uri}/"):
            return node
        return URIRef(iri(uri) + _NO_IRI.sub(_percent, node.removeprefix(uri)))

    for s, p, o in list(graph):
        if (named := (encoded(s), p, encoded(o))) != (s, p, o):
            graph.remove((s, p, o))
            graph.add(named)


def _refuse_doctype(content: bytes) -> None:
    """Entities, and declarations kept elsewhere, are neither expanded nor fetched."""

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
    """A manifest's bytes: the same for the same statements, blank nodes' names aside.

    Args:
        triples: In any order.
        namespaces: Prefix → URI.
        name: The format, as `check_format` takes it.
        uri: Of the record.

    Raises:
        RDFTermError: The format cannot hold a statement (XML: a control character, or
            a predicate that is no XML name), as reading it back shows.
    """
    check_format(name)
    stated = set(triples)
    content = _serialize(stated, namespaces, _KEPT_AS[name])
    try:
        found = set(read_graph(content, name, uri, "what was written"))
    except RDFManifestUnreadable as error:
        raise RDFTermError(f"the statements cannot be kept as {name}: {error.reason}") from error
    if _ground(found) != _ground(stated) or len(found) != len(stated):
        lost = min((_shown(triple) for triple in _ground(stated) - found), default="a blank node")
        raise RDFTermError(f"the statements cannot be kept as {name}: {lost} would be altered")
    return content


def _serialize(triples: Set[Triple], namespaces: Mapping[str, str], name: str) -> bytes:
    graph = Graph(store="SimpleMemory", bind_namespaces="none")  # it keeps the order
    for prefix, namespace in {**namespaces, "xml": _XML}.items():
        graph.bind(prefix, namespace, override=True, replace=True)
    for triple in sorted(triples, key=_shown):
        graph.add(triple)
    try:
        return graph.serialize(format=name, encoding="utf-8")
    except Exception as error:  # what the serializers raise is as manifold
        raise RDFTermError(f"the statements cannot be written as {name}: {error}") from error


def _shown(triple: Triple) -> str:
    return " ".join(repr(node) for node in triple)


# -- statements --------------------------------------------------------------------------


def keep_aggregation(graph: Graph, uri: str, paths: Iterable[str]) -> bool:
    """Make a record aggregate these files, and nothing else below its own URI.

    What it aggregates elsewhere, and statements about files, stay.

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
    """What is stored now, with the statements added and withdrawn here since ``base``.

    Blank nodes have no name by which those of two graphs could be distinguished: the
    statements about them are taken from the side that changed them.

    Args:
        base: The statements as they were read.
        ours: The same, changed here.
        theirs: As they are stored now.
        path: Of the file, for the message.

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
    """A graph kept in one file.

    Subjects, predicates and objects are rdflib's terms, or texts: a URI
    (``http:``, ``https:``, ``urn:``, ``info:``, ``ftp:``), one below the manifest's own,
    or a name with a known prefix (``dc:title``). Any other text is a literal, which only
    an object can be. ``"*"`` and None ask for any.

    Args:
        filepath: Read if it is there.
        format: ``xml``, ``pretty-xml``, ``turtle``, ``ttl`` or ``nt``.
        uri: What the statements are about; what relative URIs in the file relate to.

    Attributes:
        namespaces: prefix → URI: those of `NAMESPACES`, of the file, and those added.

    Raises:
        RDFManifestUnreadable: The file is there and is not RDF in that format.
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
            with open(self.filepath, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def revert(self) -> None:
        """Read the file again; what was not stored is gone."""
        self._show(read_graph(self._read(), self.format, self._base_uri, self.filepath))

    def _show(self, found: Graph) -> None:
        """Put what was read into the graph that callers may hold."""
        self._graph.remove((None, None, None))
        for triple in found:
            self._graph.add(triple)
        self.namespaces = {**NAMESPACES, **prefixes_of(found)}
        for prefix, namespace in self.namespaces.items():
            self._graph.bind(prefix, namespace, override=True, replace=True)

    def sync(self) -> None:
        """Store the graph, whole or not at all."""
        content = write_graph(self._graph, self.namespaces, self.format, self._base_uri)
        atomic_file.replace_file(self.filepath, content)

    # -- statements ---------------------------------------------------------------------

    def triple_exists(self, s: Any, p: Any, o: Any) -> bool:
        """Whether there is such a statement.

        Args:
            s, p, o: Subject, predicate, object.
        """
        return self._pattern(s, p, o) in self._graph

    def list_objects(self, s: Any, p: Any) -> list[Node]:
        """The objects of such statements, each once."""
        subject, predicate, _ = self._pattern(s, p, None)
        return list(dict.fromkeys(self._graph.objects(subject, predicate)))

    def add_triple(self, s: Any, p: Any, o: Any) -> None:
        """State something.

        Args:
            s, p, o: Subject, predicate, object.

        Raises:
            RDFTermError: The subject or the predicate is no URI, and no name with a known
                prefix, or the object is None.
        """
        if o is None:
            raise RDFTermError("None cannot be the object of a statement")
        self._graph.add((self._resource(s), self._resource(p), self._object(o)))

    def del_triple(self, s: Any, p: Any, o: Any = None) -> None:
        """Withdraw such statements; none is no error.

        Args:
            s, p, o: Subject, predicate, object.
        """
        self._graph.remove(self._pattern(s, p, o))

    def get_graph(self) -> Graph:
        """The graph itself: what is changed in it is stored by `sync`."""
        return self._graph

    def to_string(self, format: str = "xml") -> str:  # noqa: A002 - the name of 2010
        """The statements as text.

        Args:
            format: One a manifest can be in, or ``n3`` or ``json-ld``.

        Raises:
            RDFFormatError: It is another.
        """
        if format not in _SHOWN_AS:
            check_format(format)
        return _serialize(set(self._graph), self.namespaces, format).decode()

    # -- prefixes -----------------------------------------------------------------------

    def add_namespace(self, prefix: str, uri: str) -> None:
        """Make a prefix known, or mean something else.

        Raises:
            TypeError: One of them is not text.
            RDFTermError: The URI is invalid, or does not end in ``/`` or ``#``.
        """
        if not all(isinstance(text, str) for text in (prefix, uri)):
            raise TypeError("a prefix and its namespace are texts")
        if not _URI.match(uri) or _NO_IRI.search(uri) or not uri.endswith(("/", "#")):
            raise RDFTermError(f"{uri!r} is no namespace: a URI that ends in '/' or '#'")
        self.namespaces[prefix] = str(uri)
        self._graph.bind(prefix, uri, override=True, replace=True)

    def del_namespace(self, prefix: str) -> None:
        """Forget a prefix; statements stay. One that is not known is no error."""
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
