"""Parse XML from the network strictly and safely, serialise it, and compare it (pure).

The parser does not load DTDs, resolve entities or use the network. The transport limits the
size, so libxml2's own limits (10 MB of text) are off.

Source: OAI-PMH 2.0, section 3.2, "XML Response Format"; Canonical XML 1.0.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from lxml import etree

from oaipmhclient.errors import EntitiesRefused, OtherAnswer, PageOverfull, PageUnreadable
from oaipmhprotocol import OAIError, Verb, error_for_code
from oaipmhprotocol.datestamps import datestamp_or_none

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
_REFERENCE = re.compile(rb"&(?!(?:lt|gt|amp|apos|quot);|#)")
_LONGEST_CODE, _LONGEST_MESSAGE = 100, 2000
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_LONGEST_PARSED = 900_000
"""Longer elements may be too large to be described; whoever reads the bytes decides."""
IS_HTML = "is an HTML page, not OAI-PMH"
"""The reason of a `PageUnreadable`."""
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
    """Parse a response strictly; return its root, an ``OAI-PMH`` element in any namespace.

    The bytes before the root element are checked first: a response in an encoding that hides
    ASCII, or with a DOCTYPE that has entities, is not parsed.

    Raises:
        PageUnreadable: It is empty, HTML, cut short, malformed, or has another root.
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
        raise PageUnreadable(IS_HTML)
    if doctype and doctype["subset"] and b"<!ENTITY" in body[doctype.end() :]:
        raise EntitiesRefused("declares XML entities of its own, which are never resolved")
    if doctype and _REFERENCE.search(body):
        raise EntitiesRefused("refers to XML entities of a DTD, which is never loaded")


def _syntax_sentence(body: bytes, error: etree.XMLSyntaxError) -> str:
    if _HTML.match(body):
        return IS_HTML
    if b"OAI-PMH>" not in body[-1024:] and b"OAI-PMH" in body[:4096]:
        return f"is cut short after {len(body):,} bytes"
    return f"is not well-formed XML: {error.msg}"


class ParsedBytes(bytes):
    """An element as bytes, with the element in the tree of its page.

    Who describes the bytes need not parse them again. The tree stays in memory as long as the
    bytes do.

    Attributes:
        root: The element; its ancestors and its tail do not belong to the bytes.
    """

    root: etree._Element

    @classmethod
    def of(cls, content: bytes, root: etree._Element) -> "ParsedBytes":
        """Return the bytes of an element."""
        made = cls(content)
        made.root = root
        return made


class Serialiser:
    """Serialises elements of one response as separate documents.

    Every namespace in scope is declared on each. A megabyte of declarations around a hundred
    thousand records would become a hundred gigabytes, so the total is limited.

    Args:
        size: Of the response, in bytes.
    """

    def __init__(self, size: int) -> None:
        self._left = 2 * size + (64 << 20)

    def __call__(self, element: etree._Element) -> bytes:
        """Serialise an element.

        Raises:
            PageOverfull: The total is far larger than the response.
        """
        made = etree.tostring(element, encoding="UTF-8", xml_declaration=False, with_tail=False)
        self.spend(len(made))
        return made

    def with_root(self, element: etree._Element) -> bytes:
        """Serialise an element to `ParsedBytes` if a parser of the bytes would see the same.

        It would not if comments or instructions divide texts, and a language may be
        inherited from outside. Raises the error of a call.
        """
        made = self(element)
        if len(made) > _LONGEST_PARSED or b"<!--" in made or b"<?" in made:
            return made
        if any(one.get(_LANG) is not None for one in element.iterancestors()):
            return made
        return ParsedBytes.of(made, element)

    def spend(self, size: int) -> None:
        """Count other bytes made from the response; raises the same error."""
        self._left -= size
        if self._left < 0:
            raise PageOverfull(
                "would grow to many times its size: it repeats namespaces, or holds too many"
                " records that cannot be used"
            )


def text_of(element: etree._Element | None) -> str:
    """Return the element's text without outer white space and comments; "" for None."""
    if element is None:
        return ""
    if len(element):
        return etree.tostring(element, method="text", encoding="unicode", with_tail=False).strip()
    return (element.text or "").strip()


def elements_of(parent: etree._Element) -> Iterator[etree._Element]:
    """Return the child elements, without comments and processing instructions."""
    return iter(parent.iterchildren(tag=etree.Element))


def parse_fragment(content: bytes) -> etree._Element | None:
    """Parse a serialised element; None if the bytes are not XML."""
    try:
        return etree.fromstring(content, _parser())
    except etree.XMLSyntaxError:
        return None


def same_content(one: bytes, other: bytes) -> bool:
    """Whether two serialised elements have the same content.

    They have if the bytes are equal, or the results of exclusive canonicalisation with comments,
    which ignores the order and quotes of attributes, entities, and unused declarations. The
    latter differ often: declarations of the envelope are in scope in every record, and some
    repositories declare more on the first page than on later ones (OPUS 4 leaves out ``xsi``).
    """
    return one == other or _canonical(one) == _canonical(other)


def _canonical(content: bytes) -> bytes:
    """Return the canonical form, or the bytes themselves if they have none.

    Bytes that are not XML, or have a relative namespace URI, have none (Canonical XML 1.0,
    section 1.3).
    """
    root = parse_fragment(content)
    if root is None:
        return content
    try:
        return etree.tostring(root, method="c14n", exclusive=True, with_comments=True)
    except etree.C14NError:
        return content


@dataclass(frozen=True, slots=True)
class Envelope:
    """The common parts of all responses (section 3.2).

    Attributes:
        namespace: Of the response's elements, in Clark's notation (``{…}``); empty for none.
        serialise: Serialises its elements.
        verb: The verb requested.
        element: The element named like the verb; None if there are only errors.
        response_date: The server's time, or None if it cannot be read.
        request_url: The text of the ``request`` element.
        errors: Error conditions, in the order sent.
    """

    namespace: str
    serialise: Serialiser
    verb: Verb
    element: etree._Element | None
    response_date: datetime | None
    request_url: str
    errors: tuple[OAIError, ...]

    def raise_errors(self) -> None:
        """Raise the first error condition, unless there is a result too."""
        if self.errors and self.element is None:
            raise self.errors[0]

    def answer(self) -> etree._Element:
        """Return the element named like the verb."""
        if self.element is None:
            raise PageUnreadable(f"has neither {self.verb} nor an error")
        return self.element


def open_answer(body: bytes, verb: Verb) -> Envelope:
    """Parse a response to a verb, and read its common parts.

    Raises:
        PageUnreadable: See `parse_page`; or it has neither a result nor an error.
    """
    root = parse_page(body)
    namespace = root.tag[: -len("OAI-PMH")]
    found: dict[str, etree._Element] = {}
    errors: list[OAIError] = []
    for child in elements_of(root):
        name = child.tag.rpartition("}")[2].lower()
        if name == "error":
            code, message = child.get("code", ""), text_of(child)
            errors.append(error_for_code(code[:_LONGEST_CODE], message[:_LONGEST_MESSAGE]))
        else:
            found.setdefault(name, child)
    if verb.lower() not in found and not errors:
        raise _other_answer(verb, found)
    return Envelope(
        namespace,
        Serialiser(len(body)),
        verb,
        found.get(verb.lower()),
        datestamp_or_none(text_of(found.get("responsedate"))),
        text_of(found.get("request")),
        tuple(errors),
    )


def _other_answer(verb: Verb, found: Mapping[str, object]) -> PageUnreadable:
    others = [other for other in Verb if other.lower() in found]
    if others:
        return OtherAnswer(f"is a response to {others[0]}, not to {verb}")
    return PageUnreadable(f"has neither {verb} nor an error")
