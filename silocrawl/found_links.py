"""The links of a page: in HTML, in ``Link`` headers and in sitemaps (pure).

Source: RFC 8288 (Link); Signposting, signposting.org; sitemaps.org 0.9; the names of
``citation_pdf_url`` and its like are those that Google Scholar reads.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urljoin

import requests
from lxml import etree, html

from crawlmatch.errors import BadAddress
from crawlmatch.uris import heritrix_form

MOST_LINKS = 20_000
"""Of a page; those after it are not followed."""
MOST_BYTES = 20_000_000
"""Of a page that is read."""
_DOCUMENT_NAMES = frozenset(
    {"citation_pdf_url", "eprints.document_url", "bepress_citation_pdf_url", "wkhealth_pdf_url"}
)
_EMBEDS = {
    "img": "src", "script": "src", "iframe": "src", "frame": "src", "source": "src",
    "video": "src", "audio": "src", "embed": "src", "object": "data", "track": "src",
}  # fmt: skip
_STYLES = frozenset({"stylesheet", "icon", "shortcut icon", "preload", "manifest"})
_PAGES = frozenset({"a", "area"})


@dataclass(frozen=True, slots=True)
class FoundLink:
    """An address on a page.

    Attributes:
        url: Absolute, in the form in which it is fetched.
        letter: As in crawl logs: L link, E what belongs to the page, M of a sitemap.
        is_document: Whether the page says that it is a document: Signposting, or a name of
            bibliographic metadata.
    """

    url: str
    letter: str
    is_document: bool = False


def links_of_header(value: str, base: str) -> Iterator[FoundLink]:
    """The links of ``Link`` headers: those to documents and to further pages.

    Args:
        value: Of all ``Link`` headers, joined by commas.
        base: The address of the page.
    """
    for one in requests.utils.parse_header_links(value):
        rels = str(one.get("rel", "")).lower().split()
        if "item" in rels or "alternate" in rels or "next" in rels:
            yield from _found(str(one.get("url", "")), base, "L", is_document="item" in rels)


def links_of_html(content: bytes, base: str, charset: str = "") -> Iterator[FoundLink]:
    """The links of an HTML page in its order, each once for each kind.

    Args:
        content: The page, without its content coding.
        base: Its address.
        charset: As the server said it; empty to find it out.
    """
    root = _parsed(content, charset)
    if root is None:
        return
    for one in root.iter("base"):
        base = _joined(one.get("href") or "", base) or base
        break
    seen: set[FoundLink] = set()
    for element in root.iter(etree.Element):
        for found in _of_element(element, base):
            if found not in seen:
                seen.add(found)
                yield found
                if len(seen) >= MOST_LINKS:
                    return


def _of_element(element: etree._Element, base: str) -> Iterator[FoundLink]:
    name = str(element.tag)
    if name in _PAGES:
        yield from _found(element.get("href") or "", base, "L")
    elif name == "meta":
        known = (element.get("name") or element.get("property") or "").lower()
        if known in _DOCUMENT_NAMES:
            yield from _found(element.get("content") or "", base, "L", is_document=True)
        elif (element.get("http-equiv") or "").lower() == "refresh":
            _, _, target = (element.get("content") or "").lower().partition("url=")
            place = (element.get("content") or "")[-len(target) :] if target else ""
            yield from _found(place.strip("'\" "), base, "R")
    elif name == "link":
        rels = (element.get("rel") or "").lower()
        if "item" in rels.split():
            yield from _found(element.get("href") or "", base, "L", is_document=True)
        elif rels in _STYLES:
            yield from _found(element.get("href") or "", base, "E")
    elif name in _EMBEDS:
        yield from _found(element.get(_EMBEDS[name]) or "", base, "E")


def links_of_sitemap(content: bytes, base: str) -> Iterator[FoundLink]:
    """The pages of a sitemap, or the sitemaps of their index, each once.

    Args:
        content: The sitemap, without its content coding; plain text has an address a line.
        base: Its address.
    """
    if content.lstrip()[:1] != b"<":
        texts = content.decode("utf-8", "replace").splitlines()
    else:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
        root = etree.fromstring(content, parser)
        texts = [] if root is None else [one.text or "" for one in root.iter("{*}loc")]
    for text in dict.fromkeys(texts[:MOST_LINKS]):
        yield from _found(text, base, "M")


def is_html(mimetype: str) -> bool:
    """Whether a media type is that of a page with links."""
    return mimetype in {"text/html", "application/xhtml+xml"}


def _parsed(content: bytes, charset: str) -> etree._Element | None:
    for encoding in dict.fromkeys([charset or None, None]):
        try:
            parser = html.HTMLParser(encoding=encoding, no_network=True)
        except LookupError:  # a charset that nobody knows
            continue
        try:
            return etree.fromstring(content, parser)
        except (etree.ParserError, etree.XMLSyntaxError, ValueError):
            return None
    return None


def _found(text: str, base: str, letter: str, *, is_document: bool = False) -> Iterator[FoundLink]:
    url = _joined(text, base)
    if url:
        yield FoundLink(url, letter, is_document)


def _joined(text: str, base: str) -> str:
    """An absolute address of http or https in its fetched form; empty if it is not one."""
    text = text.strip()
    if not text or text.startswith(("#", "javascript:", "mailto:", "data:", "tel:")):
        return ""
    try:
        url = heritrix_form(urljoin(base, text))
    except (BadAddress, ValueError):
        return ""
    return url if url.startswith(("http://", "https://")) else ""
