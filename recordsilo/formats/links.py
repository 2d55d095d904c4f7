"""Find the links in a metadata file: every address in it, with its field.

In all formats, a link is an element whose whole text is an http or https address, or an
attribute with such a value. Fields have their usual names, such as ``dc:identifier``,
whatever prefix a document uses.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from recordsilo.formats.collect import local_name, namespace_of
from recordsilo.formats.known import FORMATS
from recordsilo.formats.table import format_of

_ADDRESS = re.compile(r"https?://[^\s<>\"\\^`{|}]+", re.IGNORECASE)
_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)
_PREFIXES = {
    "http://eprints.org/ep2/data/2.0": "eprints",
    "http://www.lyncode.com/xoai": "xoai",
    "http://www.w3.org/2005/Atom": "atom",
    "urn:mpeg:mpeg21:2002:02-DIDL-NS": "didl",
} | {space: prefix for one in FORMATS for space, prefix in one.link_prefixes.items() if space}
_TARGETS = ("{http://www.w3.org/1999/xlink}href", "href", "ref", "url")
_TYPES = ("content-type", "mimetype", "mime-subtype", "MIMETYPE", "mimeType", "type", "mime_type")


@dataclass(frozen=True, slots=True)
class Link:
    """An address in a metadata file.

    Attributes:
        url: As written, without surrounding white space.
        field: The element, such as ``dc:identifier`` or ``jats:self-uri``; in MARC the tag
            and the subfield, ``marc:856u``; for a file of EPrints ``eprints:file``; in DSpace's
            xoai ``xoai:dc.identifier.uri``, and for a file its bundle, ``xoai:bundle:ORIGINAL``.
        type: The media type that the metadata gives for the address, or ``""``.
    """

    url: str
    field: str
    type: str = ""


def links(root: etree._Element) -> Iterator[Link]:
    """The addresses in a document, in order, each once per field."""
    seen: set[tuple[str, str]] = set()
    usual = format_of(root).link_prefixes.get("")
    for element in root.iter(etree.Element):
        for address in _addresses(element):
            field = _field(element, usual)
            if (address, field) not in seen:
                seen.add((address, field))
                yield Link(address, field, _type(element))


def _addresses(element: etree._Element) -> Iterator[str]:
    text = (element.text or "").strip()
    if not len(element) and _ADDRESS.fullmatch(text):
        yield text
    for name in _TARGETS:
        value = (element.get(name) or "").strip()
        if _ADDRESS.fullmatch(value):
            yield value


def _field(element: etree._Element, usual: str | None) -> str:
    """The field name of an element; ``usual`` is the prefix for unknown namespaces."""
    name = local_name(element)
    parent = element.getparent()
    prefix = _PREFIXES.get(namespace_of(element), usual or element.prefix or "")
    if prefix == "marc" and parent is not None:
        return f"marc:{parent.get('tag', '')}{element.get('code', '')}"
    if prefix == "eprints" and name == "url" and parent is not None:
        return f"eprints:{local_name(parent)}"
    if prefix == "xoai":
        return f"xoai:{_place_in_xoai(element)}"
    if prefix == "atom" and name == "link":
        return f"atom:link:{element.get('rel', 'alternate').rpartition('/')[2]}"
    return f"{prefix}:{name}" if prefix else name


def _place_in_xoai(element: etree._Element) -> str:
    """The field of a value: nested elements have its parts and its language as their names."""
    nested = list(element.iterancestors(f"{{{namespace_of(element)}}}element"))[::-1]
    names = [one.get("name", "") for one in nested]
    if names[:2] == ["bundles", "bundle"]:
        fields = (one for one in nested[1].iterchildren(etree.Element) if not len(one))
        bundle = next((one.text for one in fields if one.get("name") == "name"), None)
        return f"bundle:{(bundle or '').strip()}"
    return ".".join(names[:-1] or names)


def _type(element: etree._Element) -> str:
    """The media type given by the element, its parent, or a sibling."""
    parent = element.getparent()
    for one in (element, *(() if parent is None else (parent,))):
        for name in _TYPES:
            value = (one.get(name) or "").strip()
            if _TYPE.fullmatch(value):
                return value.lower()
    if parent is not None and local_name(parent) == "file":
        for child in parent.iterchildren(etree.Element):
            if local_name(child) == "mime_type":
                return (child.text or "").strip().lower()
    return ""
