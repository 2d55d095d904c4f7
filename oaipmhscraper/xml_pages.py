"""Bytes from the network ↔ XML: read strictly and safely, written whole, compared (pure).

The parser loads no DTD, resolves no entity and opens no network. How many bytes
it is given is bounded by the transport, so libxml2's own limits on size
(10 MB of text) are off.

Source: OAI-PMH 2.0, section 3.2, "XML Response Format"; Canonical XML 1.0.
"""

import re
from collections.abc import Iterable, Iterator

from lxml import etree

from oaipmhscraper.errors import EntitiesRefused, PageUnreadable

# Atomic groups: a body without DOCTYPE must not be searched to its end for another "?>".
_DOCTYPE = re.compile(
    rb"(?>\s+|<\?.*?\?>|<!--.*?-->)*+<!DOCTYPE\s+(?P<root>[^\s\[>]+)"
    rb"(?:[^\[\"'>]|\"[^\"]*\"|'[^']*')*+(?P<subset>\[)?",
    re.DOTALL,
)
_DECLARED = re.compile(rb"<\?xml\s[^>]*?encoding\s*=\s*[\"']([^\"']*)[\"']")
_ASCII_COMPATIBLE = re.compile(
    rb"utf-?8|us-ascii|ascii|iso-?8859-?\d+|latin-?\d|windows-125\d|cp125\d", re.IGNORECASE
)
_HTML = re.compile(rb"<(?:!DOCTYPE\s+html|html|head|body)\b", re.IGNORECASE)


def _parser() -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        dtd_validation=False,
        huge_tree=True,
        remove_blank_text=False,
    )


def parse_page(body: bytes) -> etree._Element:
    """Parse an answer strictly; return its root, an ``OAI-PMH`` element of any namespace.

    What stands before the root element is looked at first, byte for byte: an
    encoding that hides ASCII, and a DOCTYPE with entities, never reach the parser.

    Raises:
        PageUnreadable: Empty, HTML, cut short, ill-formed, or another root.
        EntitiesRefused: A DOCTYPE declares entities.
    """
    body = body.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not body:
        raise PageUnreadable("is empty")
    _check_prolog(body)
    try:
        root = etree.fromstring(body, _parser())
    except etree.XMLSyntaxError as error:
        raise PageUnreadable(_syntax_sentence(body, error)) from error
    if root.tag.rpartition("}")[2] != "OAI-PMH":
        raise PageUnreadable(f"is XML with the root element {root.tag}, not OAI-PMH")
    return root


def _check_prolog(body: bytes) -> None:
    if not body.startswith(b"<") or body[1:2] == b"\0":
        raise PageUnreadable(f"is not XML: it begins with {body[:40]!r}")
    declared = _DECLARED.match(body)
    if declared and not _ASCII_COMPATIBLE.fullmatch(declared[1]):
        raise PageUnreadable(f"declares the encoding {declared[1].decode('latin-1')}, not UTF-8")
    doctype = _DOCTYPE.match(body)
    if doctype and doctype["root"].lower() == b"html":
        raise PageUnreadable("is an HTML page, not OAI-PMH")
    if doctype and doctype["subset"] and b"<!ENTITY" in body[doctype.end() :]:
        raise EntitiesRefused("declares XML entities of its own, which are never resolved")


def _syntax_sentence(body: bytes, error: etree.XMLSyntaxError) -> str:
    if _HTML.match(body):
        return "is an HTML page, not OAI-PMH"
    if b"OAI-PMH>" not in body[-1024:] and b"OAI-PMH" in body[:4096]:
        return f"is cut short after {len(body):,} bytes"
    return f"is not well-formed XML: {error.msg}"


def serialise(element: etree._Element) -> bytes:
    """The element on its own; lxml declares on it every namespace in scope."""
    return etree.tostring(element, encoding="UTF-8", xml_declaration=False, with_tail=False)


def text_of(element: etree._Element | None) -> str:
    """The element's text without surrounding white space and without comments; "" for None."""
    if element is None:
        return ""
    if len(element):
        return etree.tostring(element, method="text", encoding="unicode", with_tail=False).strip()
    return (element.text or "").strip()


def elements_of(parent: etree._Element) -> Iterator[etree._Element]:
    children: Iterable[etree._Element] = parent.iterchildren(tag=etree.Element)
    yield from children


def parse_fragment(content: bytes) -> etree._Element | None:
    """Parse an element that was serialised; None for bytes that are no XML."""
    try:
        return etree.fromstring(content, _parser())
    except etree.XMLSyntaxError:
        return None


def same_content(one: bytes, other: bytes) -> bool:
    """Whether two serialised elements say the same, whatever way they are written.

    Equal bytes, else equal after exclusive canonicalisation with comments: the
    order and quotes of attributes, entities, and declarations that nothing uses
    do not count. The latter matter, since what the envelope declares is in scope
    in every record, and repositories declare more on a first page than on the
    following ones (OPUS 4 leaves out ``xsi`` there).
    """
    return one == other or _canonical(one) == _canonical(other)


def _canonical(content: bytes) -> bytes:
    """The canonical form; bytes that are no XML are their own."""
    root = parse_fragment(content)
    if root is None:
        return content
    return etree.tostring(root, method="c14n", exclusive=True, with_comments=True)
