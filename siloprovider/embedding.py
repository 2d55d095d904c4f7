"""The document in a metadata file, in the form in which a response takes it (pure).

The bytes stay as they were stored, but for the wrapper around them, with one parse to see that
they are well-formed. Only what needs it is written anew: another encoding, comments around the root
element, a wrapper of another kind.

Source: OAI-PMH 2.0, section 2.5, *Record*; Namespaces in XML 1.0, section 6.
"""

import re
from dataclasses import dataclass

from lxml import etree

from oaipmhprotocol.words import OAI_NAMESPACE, XSI_NAMESPACE
from recordsilo.formats.collect import local_name, namespace_of
from recordsilo.formats.documents import parsed_whole, unwrap

_METADATA = f"{{{OAI_NAMESPACE}}}metadata"
_UTF_8 = frozenset({"UTF-8", "ASCII", "US-ASCII"})
_DECLARATION = re.compile(rb"\s*(?:<\?xml\s[^<>]*\?>\s*)?")
_MOST_DECLARATIONS = 40
_NAMESPACES = (
    rb"""(?:\s+xmlns(?::[^\s=:"'<>]+)?\s*=\s*(?:"[^"<>]*"|'[^'<>]*')){0,%d}\s*"""
    % _MOST_DECLARATIONS
)
_WRAPPER = re.compile(rb"<(?:[^\s:<>/]+:)?metadata(" + _NAMESPACES + rb")>\s*(?=<)")
_START = re.compile(rb"""<[^\s/>!?]+((?:\s+[^\s=]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*/?>""")
_NAMESPACE = re.compile(rb"""\sxmlns(?::([^\s=]+))?\s*=\s*("[^"]*"|'[^']*')""")
_UNPREFIXED = re.compile(rb"<[^\s<>/!?:]+[\s/>]")


@dataclass(frozen=True, slots=True)
class Embedded:
    """A document for a response.

    Attributes:
        content: UTF-8 that begins with the root element; it declares each namespace that it uses.
        namespace: Of the root element; empty if none.
        schema: The address of the schema that the root element names for it; empty if none.
    """

    content: bytes
    namespace: str
    schema: str


def embedded(content: bytes) -> Embedded:
    """The document in a metadata file.

    Args:
        content: A document, or one in the ``metadata`` element of OAI-PMH.

    Raises:
        NoDocument: It is not well-formed, has a document type, or takes too much memory.

    Cost: one parse for what harvests store; else up to four, and two serialisations.
    """
    root = parsed_whole(content)
    document = _as_stored(content, root)
    if document is None:
        document = _written_anew(content, root)
        root = parsed_whole(document)
    elif root.tag == _METADATA:
        root = root[0]
    namespace = namespace_of(root)
    pairs = (root.get(f"{{{XSI_NAMESPACE}}}schemaLocation") or "").split()
    schema = dict(zip(pairs[::2], pairs[1::2], strict=False)).get(namespace, "")
    return Embedded(document, namespace, schema)


def located(one: Embedded, schema: str) -> Embedded:
    """A document that says where its schema is, as OAI-PMH wants it of each (section 2.5).

    Args:
        schema: Of its namespace; a document that names schemas itself stays as it is.
    """
    start = _START.match(one.content)
    if start is None or b"schemaLocation" in start[1]:
        return one
    declared = dict(_NAMESPACE.findall(start[1])).get(b"xsi")
    if declared is not None and declared[1:-1] != XSI_NAMESPACE.encode():
        return one
    added = f' xsi:schemaLocation="{one.namespace} {schema}"'
    if declared is None:
        added = f' xmlns:xsi="{XSI_NAMESPACE}"{added}'
    end = start.end(1)
    content = one.content[:end] + added.encode() + one.content[end:]
    return Embedded(content, one.namespace, schema)


def _as_stored(content: bytes, root: etree._Element) -> bytes | None:
    """The bytes of the document, with the namespaces that the wrapper declared; None in doubt."""
    if not _is_in_utf_8(root) or root.getnext() is not None:
        return None
    declaration = _DECLARATION.match(content)
    assert declaration is not None
    document, outer = content[declaration.end() :].rstrip(), b""
    if root.tag == _METADATA:
        wrapper = _WRAPPER.match(document)
        if wrapper is None or not _has_one_document(root):
            return None
        document = document[wrapper.end() : document.rindex(b"</")].rstrip()
        outer = wrapper[1]
    elif local_name(root) == "metadata":
        return None  # may be a wrapper, too: whoever reads the format decides
    start = _START.match(document)
    if start is None or not document.endswith(b">") or document.endswith(b"]]>"):
        return None
    return _declared(document, start, outer)


def _has_one_document(wrapper: etree._Element) -> bool:
    if len(wrapper) != 1 or not isinstance(wrapper[0].tag, str):
        return False
    return local_name(wrapper[0]) != "metadata" and not (wrapper[0].tail or "").strip()


def _is_in_utf_8(root: etree._Element) -> bool:
    return (root.getroottree().docinfo.encoding or "UTF-8").upper() in _UTF_8


def _declared(document: bytes, start: re.Match[bytes], outer: bytes) -> bytes:
    """A document with the declarations that it needs and its root element lacks.

    Args:
        start: The start tag of the root element; its attributes are the first group.
        outer: The declarations of the wrapper.
    """
    own = {name for name, _ in _NAMESPACE.findall(start[1])}
    more = dict(_NAMESPACE.findall(outer))
    if b"" in own or _UNPREFIXED.search(document) is None:
        more.pop(b"", None)
    else:
        more.setdefault(b"", b'""')  # it would get the namespace of the response
    added = [
        b" xmlns%b%b=%b" % (b":" if name else b"", name, address)
        for name, address in more.items()
        if name not in own and (not name or name + b":" in document)
    ]
    if not added:
        return document
    name_end = start.start(1)
    return document[:name_end] + b"".join(added) + document[name_end:]


def _written_anew(content: bytes, root: etree._Element) -> bytes:
    """The document written by the parser, with the declarations that it needs."""
    inner = unwrap(content)
    root = root if inner is None else parsed_whole(inner)
    written = etree.tostring(root, encoding="UTF-8", xml_declaration=False, with_tail=False)
    start = _START.match(written)
    assert start is not None
    return _declared(written, start, b"")
