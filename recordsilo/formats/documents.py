"""Parse metadata files; no other module does.

Entities are not expanded, nothing is fetched, and document types, which metadata does not
need, are refused, so a document cannot grow when it is parsed.

Source: OAI-PMH 2.0, section 2.5, "Record": metadata has one child, in the namespace of its
format.
"""

import threading
from typing import Any

from lxml import etree

from recordsilo.formats.collect import local_name, namespace_of

MAX_BYTES = 64 << 20
"""Larger files are not read as metadata."""
MEMORY_FACTOR = 8
"""Files that would take more than this many times as much memory are not read either."""
_NODE_BYTES = 520
"""Bytes of memory per ``<`` and ``=``. libxml2 2.14 takes 120 bytes for ``<a/>``, 240 for
``<a/>x``, 250 for an attribute; with Python's objects, a harvest took up to 520."""
_SMALL = MEMORY_FACTOR * MAX_BYTES // (_NODE_BYTES + 24)
"""Smaller files cannot take too much memory, even if each byte is a ``<`` or a ``&``."""
OAI_NAMESPACES = "http://www.openarchives.org/OAI/"
"""The beginning of the namespaces of OAI-PMH."""


def new_parser(**settings: Any) -> etree.XMLParser:
    """A parser with the settings of all parsers here, and additional ones.

    Args:
        settings: Arguments of `lxml.etree.XMLParser`, such as ``remove_blank_text``.
    """
    return etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, **settings)


class _Parsers(threading.local):
    """Two parsers per thread, because creating one costs as much as parsing a record."""

    whole: etree.XMLParser | None = None
    plain: etree.XMLParser | None = None


_parsers = _Parsers()


def memory_to_read(content: bytes) -> int:
    """An upper estimate of the memory, in bytes, that parsing takes, made without parsing.

    Malformed XML is counted as repaired, with five characters for each bare ``&``.

    Cost: three fast passes over the bytes.
    """
    nodes = content.count(b"<") + content.count(b"=")
    return 4 * len(content) + 20 * content.count(b"&") + _NODE_BYTES * nodes


class DocumentBytes(bytes):
    """The bytes of a document, with what is known of it, so that it need not be parsed again.

    Attributes:
        root: The root element, which nobody changes any more; it keeps the tree in memory. See
            `parsed`. None if it is unknown.
        known_title: The title that `recordsilo.formats.title_of_main` finds; None if it is unknown.
    """

    root: etree._Element | None = None
    known_title: str | None = None

    @classmethod
    def of(cls, content: bytes, root: etree._Element) -> "DocumentBytes":
        """The bytes of an element that was serialised."""
        made = cls(content)
        made.root = root
        return made


class NoDocument(Exception):
    """The bytes are not a metadata document; ``reason`` is a predicate that says why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def parsed(content: bytes) -> etree._Element | None:
    """The root element of a metadata file, without comments and processing instructions.

    Args:
        content: The file's bytes. Bytes that were made from a parsed element and have it as an
            attribute ``root`` are not parsed again. Whoever made them guarantees that parsing
            them would give the same: no comments or instructions, no language inherited from
            the ancestors, and less than 900,000 bytes.

    Returns:
        None for bytes that are not well-formed XML, have a document type, are larger than
        64 MiB, or would take more than 512 MiB of memory.
    """
    root: etree._Element | None = getattr(content, "root", None)
    if root is not None:
        return root
    if (parser := _parsers.plain) is None:
        parser = new_parser(huge_tree=True, remove_comments=True, remove_pis=True)
        _parsers.plain = parser
    try:
        return _root(content, parser)
    except NoDocument:
        return None


def parsed_whole(content: bytes) -> etree._Element:
    """The root element with comments and instructions, so that it can be written back.

    Raises:
        NoDocument: The bytes are not a metadata document.
    """
    if (parser := _parsers.whole) is None:
        parser = _parsers.whole = new_parser(huge_tree=True)
    return _root(content, parser)


def _root(content: bytes, parser: etree.XMLParser) -> etree._Element:
    if len(content) > MAX_BYTES:
        raise NoDocument("is larger than 64 MiB")
    if len(content) > _SMALL and memory_to_read(content) > MEMORY_FACTOR * MAX_BYTES:
        raise NoDocument("has too many elements and attributes to be read")
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise NoDocument(f"is not well-formed XML ({getattr(error, 'msg', error)})") from None
    if has_document_type(root):
        raise NoDocument("has a document type")
    return root


def has_document_type(root: etree._Element) -> bool:
    """Whether the document of a root element has a document type."""
    return root.getroottree().docinfo.internalDTD is not None


def unwrapped(root: etree._Element) -> etree._Element:
    """The root of the document inside the ``<metadata>`` element of OAI-PMH.

    A ``<metadata>`` in another namespace, or without one, is a wrapper only if it has exactly
    one child, because some formats (FGDC) have a root of that name.
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
    """The document in a ``<metadata>`` element, with all namespaces in scope declared.

    Returns:
        UTF-8 with an XML declaration. None for bytes that are not such a wrapper around
        exactly one element, are malformed, or have a document type.
    """
    try:
        root = parsed_whole(content)
    except NoDocument:
        return None
    inner, namespace = unwrapped(root), namespace_of(root)
    if inner is root or len(list(root.iterchildren(etree.Element))) != 1:
        return None
    if namespace and not namespace.startswith(OAI_NAMESPACES):
        return None  # may be a wrapper, but only a certain one is removed
    # Serialised and parsed again, because lxml drops declarations when an element is moved.
    # As UTF-8, because in ASCII names would contain character references, which are invalid.
    written = etree.tostring(inner, encoding="UTF-8", with_tail=False)
    document = etree.fromstring(written, _parsers.whole)
    # An unused default namespace of the wrapper is removed. All prefixes are kept, because
    # values that no parser interprets may use them (xsi:type="dcterms:W3CDTF").
    prefixes = {prefix for prefix in document.nsmap if prefix}
    if written.count(b"xmlns:") > len(prefixes):  # not only the root declares some
        prefixes = {prefix for element in document.iter("*") for prefix in element.nsmap if prefix}
    etree.cleanup_namespaces(document, keep_ns_prefixes=sorted(prefixes))
    return etree.tostring(document, xml_declaration=True, encoding="UTF-8") + b"\n"
