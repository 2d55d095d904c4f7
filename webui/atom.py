"""A list of records as an Atom feed (pure).

Source: RFC 4287, sections 3 and 4.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote
from xml.etree import ElementTree

MEDIA_TYPE = "application/atom+xml; charset=utf-8"
_NAMESPACE = "http://www.w3.org/2005/Atom"
_NEVER = "1970-01-01T00:00:00Z"
_NO_XML = re.compile("[^\\t\\n\\r -\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.+", re.DOTALL)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SECOND = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?")


@dataclass(frozen=True, slots=True)
class AtomEntry:
    """An entry.

    Attributes:
        identifier: Permanent; one that is no IRI is replaced by the address.
        url: Its page, absolute.
        date: A day or a second, ISO 8601, UTC; of anything else it is unknown.
    """

    identifier: str
    title: str
    url: str
    date: str
    authors: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed without its entries.

    Attributes:
        own_url: Its own address, absolute, which is also its id.
        page_url: The page with the same records, absolute.
        author: Of the entries that name none.
        date: When it was made, for a feed without entries; as in `AtomEntry`.
    """

    title: str
    own_url: str
    page_url: str
    author: str
    subtitle: str = ""
    date: str = ""


def written(feed: Feed, entries: Iterable[AtomEntry]) -> bytes:
    """Return a feed as an XML document in UTF-8."""
    listed = list(entries)
    root = ElementTree.Element("feed", xmlns=_NAMESPACE)
    _add(root, "title", feed.title)
    if feed.subtitle:
        _add(root, "subtitle", feed.subtitle)
    _add(root, "id", feed.own_url)
    _add(root, "updated", max((_moment(one.date) for one in listed), default=_moment(feed.date)))
    _person(root, feed.author)
    _link(root, "self", feed.own_url, MEDIA_TYPE.partition(";")[0])
    _link(root, "alternate", feed.page_url, "text/html")
    for one in listed:
        _entry(ElementTree.SubElement(root, "entry"), one)
    body: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return body


def _entry(into: ElementTree.Element, one: AtomEntry) -> None:
    _add(into, "title", one.title)
    is_iri = _IRI.fullmatch(one.identifier)
    _add(into, "id", quote(one.identifier, safe="%:/?#[]@!$&'()*+,;=~") if is_iri else one.url)
    _add(into, "updated", _moment(one.date))
    for name in one.authors:
        _person(into, name)
    _link(into, "alternate", one.url, "text/html")
    for term in one.terms:
        ElementTree.SubElement(into, "category", term=_NO_XML.sub("", term))


def _add(into: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(into, name).text = _NO_XML.sub("", text)


def _person(into: ElementTree.Element, name: str) -> None:
    _add(ElementTree.SubElement(into, "author"), "name", name)


def _link(into: ElementTree.Element, rel: str, url: str, kind: str) -> None:
    ElementTree.SubElement(into, "link", rel=rel, href=_NO_XML.sub("", url), type=kind)


def _moment(date: str) -> str:
    """A date of RFC 3339; `_NEVER` if it is none."""
    if _DAY.fullmatch(date):
        return f"{date}T00:00:00Z"
    found = _SECOND.fullmatch(date)
    if not found:
        return _NEVER
    return date if found[2] else f"{date}Z"
