"""The links of a page: in HTML, JSON-LD, ``Link`` headers and sitemaps (pure).

Source: RFC 8288 (Link); Signposting, signposting.org; sitemaps.org 0.9; the names of
``citation_pdf_url`` and its like are those that Google Scholar reads.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urljoin

import requests
from lxml import etree

from crawlmatch.errors import BadAddress
from silocrawl.addresses import fetched_form
from silocrawl.json_ld import works_of

MOST_LINKS = 20_000
"""Of a page; those after it are not followed."""
MOST_BYTES, MOST_ELEMENTS = 10_000_000, 500_000
"""Of a page that are read."""
_LONGEST_TEXT = 8_192
DOCUMENT_NAMES = (
    "citation_pdf_url", "eprints.document_url", "bepress_citation_pdf_url", "wkhealth_pdf_url",
)  # fmt: skip
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
        is_document: Whether the page says that it is a document: Signposting, a name of
            bibliographic metadata, JSON-LD, or ``<a download>``.
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

    No tree is built: a page of one megabyte may have a million elements.

    Args:
        content: The page, without its content coding.
        base: Its address.
        charset: As the server said it; empty to find it out.
    """
    page = _Page()
    read_html(page, content, charset)
    base = joined(page.base, base) or base
    seen: set[FoundLink] = set()
    for text, letter, is_document in page.found:
        for found in _found(text, base, letter, is_document=is_document):
            if found not in seen:
                seen.add(found)
                yield found


class Elements(Protocol):
    """What gets the elements of a page from the parser."""

    def start(self, name: str, said: Mapping[str, str]) -> None:
        """An element begins.

        Raises:
            Enough: The rest is not read.
        """

    def end(self, name: str) -> None:
        """An element ends."""

    def data(self, text: str) -> None:
        """Text of an element."""

    def close(self) -> None:
        """The page ends."""


class Enough(Exception):
    """The rest of a page is not read."""


def read_html(page: Elements, content: bytes, charset: str = "") -> None:
    """Tell the elements of an HTML page, without a tree; what is no page has none.

    Args:
        page: Is told.
        content: The page, without its content coding.
        charset: As the server said it; empty to find it out.
    """
    with suppress(Enough, etree.ParserError, etree.XMLSyntaxError, ValueError):
        etree.fromstring(content[:MOST_BYTES], _parser(_Counted(page), charset))


class _Counted:
    """Tells another one the elements of a page, as long as they are not too many."""

    def __init__(self, page: Elements) -> None:
        self._page, self._elements = page, 0
        self.end, self.data, self.close = page.end, page.data, page.close

    def start(self, name: str, said: Mapping[str, str]) -> None:
        self._elements += 1
        if self._elements > MOST_ELEMENTS:
            raise Enough
        self._page.start(name, said)


_Raw = tuple[str, str, bool]
"""An address as it stands on the page, its letter, and whether it is a document."""


class _Page:
    """Gets the elements of a page from the parser."""

    def __init__(self) -> None:
        self.base = ""
        self.found: dict[_Raw, None] = {}
        self._script: list[str] | None = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins.

        Raises:
            Enough: The page has too many links.
        """
        if len(self.found) >= MOST_LINKS:
            raise Enough
        if name == "base":
            self.base = self.base or attributes.get("href", "")
        else:
            self._keep(_of_element(name, attributes))
        if (name, attributes.get("type")) == ("script", "application/ld+json"):
            self._script = []

    def _keep(self, found: "_Raw | None") -> None:
        if found and 0 < len(found[0]) <= _LONGEST_TEXT:
            self.found[found] = None

    def data(self, text: str) -> None:
        """Text of an element; only that of JSON-LD is read."""
        if self._script is not None:
            self._script.append(text)

    def end(self, name: str) -> None:
        """An element ends."""
        if name == "script" and self._script is not None:
            for work in works_of("".join(self._script)):
                for place in work.documents:
                    self._keep((place, "L", True))
            self._script = None

    def close(self) -> None:
        """The page ends."""


def _of_element(name: str, said: Mapping[str, str]) -> _Raw | None:
    if name in _PAGES:
        return said.get("href", ""), "L", "download" in said
    if name == "meta":
        return _of_meta(said)
    if name == "link":
        rels = said.get("rel", "").lower()
        if "item" in rels.split():
            return said.get("href", ""), "L", True
        return (said.get("href", ""), "E", False) if rels in _STYLES else None
    return (said.get(_EMBEDS[name], ""), "E", False) if name in _EMBEDS else None


def _of_meta(said: Mapping[str, str]) -> _Raw | None:
    content = said.get("content", "")
    if (said.get("name") or said.get("property") or "").lower() in DOCUMENT_NAMES:
        return content, "L", True
    if said.get("http-equiv", "").lower() == "refresh":
        _, _, target = content.lower().partition("url=")
        place = content[-len(target) :] if target else ""
        return place.strip("'\" "), "R", False
    return None


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


def _parser(page: _Counted, charset: str) -> etree.HTMLParser:
    """A parser for pages; elements may be nested as deeply as they like."""
    try:
        return _html_parser(page, charset or None)
    except (LookupError, ValueError):  # a charset that nobody knows, or no name of one
        return _html_parser(page, None)


def _html_parser(page: _Counted, charset: str | None) -> etree.HTMLParser:
    return etree.HTMLParser(
        target=page,  # type: ignore[arg-type]  # methods that it lacks are not called
        encoding=charset,
        no_network=True,
        huge_tree=True,
    )


def _found(text: str, base: str, letter: str, *, is_document: bool = False) -> Iterator[FoundLink]:
    url = joined(text, base)
    if url:
        yield FoundLink(url, letter, is_document)


def joined(text: str, base: str) -> str:
    """Return an absolute address of http or https in its fetched form; empty if it is not one."""
    text = text.strip()
    if not text or text.startswith(("#", "javascript:", "mailto:", "data:", "tel:")):
        return ""
    try:
        url = fetched_form(urljoin(base, text))
    except (BadAddress, ValueError):
        return ""
    return url if url.startswith(("http://", "https://")) else ""
