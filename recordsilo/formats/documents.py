"""The bytes of a metadata file → its document; the one place where metadata is parsed.

Entities are never expanded, nothing is fetched, and a document type, which metadata has
no use for, is refused: so no document grows when it is read.

Source: OAI-PMH 2.0, section 2.5, "Record": metadata has one child, in the format's own
namespace.
"""

import threading
from typing import Any

from lxml import etree

from recordsilo.formats.collect import local_name, namespace_of

MAX_BYTES = 64 << 20
"""Larger files are not read as metadata."""
MEMORY_FACTOR = 8
"""Nor are files whose document would take more than this many times as much memory."""
_NODE_BYTES = 520
"""For each ``<`` and ``=``: libxml2 2.14 takes 120 bytes for ``<a/>``, 240 for ``<a/>x``, 250
for an attribute; with what Python makes of them, a harvest was measured to take up to 520."""
OAI_NAMESPACES = "http://www.openarchives.org/OAI/"
"""What the namespaces of OAI-PMH begin with."""


def new_parser(**settings: Any) -> etree.XMLParser:
    """A parser with the settings that every one here has, and others.

    Args:
        settings: Of `lxml.etree.XMLParser`, such as ``remove_blank_text``.
    """
    return etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, **settings)


class _Parsers(threading.local):
    """Two parsers for each thread: making one costs as much as reading a record."""

    whole: etree.XMLParser | None = None
    plain: etree.XMLParser | None = None


_parsers = _Parsers()


def memory_to_read(content: bytes) -> int:
    """The most memory, in bytes, that reading a document takes, estimated without parsing it.

    What is not well-formed is counted as mended, with five letters for each bare ``&``.

    Cost: three passes at the speed of memory.
    """
    nodes = content.count(b"<") + content.count(b"=")
    return 4 * len(content) + 20 * content.count(b"&") + _NODE_BYTES * nodes


class NoDocument(Exception):
    """Bytes that are no metadata document; ``reason`` says what they are."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def parsed(content: bytes) -> etree._Element | None:
    """The outermost element of a metadata file, without comments and instructions.

    Returns:
        None for bytes that are no well-formed XML, hold a document type, are beyond
        64 MiB, or would take more than 512 MiB of memory.
    """
    if (parser := _parsers.plain) is None:
        parser = new_parser(huge_tree=True, remove_comments=True, remove_pis=True)
        _parsers.plain = parser
    try:
        return _root(content, parser)
    except NoDocument:
        return None


def parsed_whole(content: bytes) -> etree._Element:
    """The same with everything in it, so that it can be written again.

    Raises:
        NoDocument: It is not an XML document.
    """
    if (parser := _parsers.whole) is None:
        parser = _parsers.whole = new_parser(huge_tree=True)
    return _root(content, parser)


def _root(content: bytes, parser: etree.XMLParser) -> etree._Element:
    if len(content) > MAX_BYTES:
        raise NoDocument("is larger than 64 MiB")
    if memory_to_read(content) > MEMORY_FACTOR * MAX_BYTES:
        raise NoDocument("has too many elements and attributes to be read")
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError):
        raise NoDocument("is no well-formed XML") from None
    if has_document_type(root):
        raise NoDocument("has a document type")
    return root


def has_document_type(root: etree._Element) -> bool:
    """Whether a document type stands before an outermost element."""
    return root.getroottree().docinfo.internalDTD is not None


def unwrapped(root: etree._Element) -> etree._Element:
    """The document's own root, out of the ``<metadata>`` element that OAI-PMH puts around it.

    One in another namespace, or in none, counts if exactly one element is in it: an
    element of that name is the root of some formats (FGDC) too.
    """
    while len(root) and local_name(root) == "metadata":
        children = root.iterchildren(etree.Element)
        first = next(children, None)
        is_only = next(children, None) is None
        if first is None or not (is_only or namespace_of(root).startswith(OAI_NAMESPACES)):
            break
        root = first
    return root


def unwrap(content: bytes) -> bytes | None:
    """The document within a ``<metadata>`` element, with all namespaces in scope declared.

    Returns:
        UTF-8 with an XML declaration; None for bytes that are no such wrapper around
        exactly one element, not well-formed, or with a document type.
    """
    try:
        root = parsed_whole(content)
    except NoDocument:
        return None
    inner, namespace = unwrapped(root), namespace_of(root)
    if inner is root or len(list(root.iterchildren(etree.Element))) != 1:
        return None
    if namespace and not namespace.startswith(OAI_NAMESPACES):
        return None  # read as a wrapper, but what is sent elsewhere is changed only for sure
    # Written and read again: moved out of the wrapper, lxml would drop declarations.
    # As UTF-8: in ASCII, names would hold character references, which no parser takes.
    written = etree.tostring(inner, encoding="UTF-8", with_tail=False)
    document = etree.fromstring(written, new_parser(huge_tree=True))
    # The wrapper's own default namespace goes unless it is used; a prefix may be used in
    # a value (xsi:type="dcterms:W3CDTF"), where no parser sees it, so all of them stay.
    prefixes = {prefix for element in document.iter("*") for prefix in element.nsmap if prefix}
    etree.cleanup_namespaces(document, keep_ns_prefixes=sorted(prefixes))
    return etree.tostring(document, xml_declaration=True, encoding="UTF-8") + b"\n"
