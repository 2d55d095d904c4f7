"""The links of a page: in HTML, JSON-LD, ``Link`` headers and sitemaps (pure).

Source: RFC 8288 (Link); Signposting, signposting.org; sitemaps.org 0.9; the names of
``citation_pdf_url`` and its like are those that Google Scholar reads.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, NamedTuple, Protocol
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
_NO_PAGES = ("#", "javascript:", "mailto:", "data:", "tel:")
_WHOLE = re.compile("https?://[^/?#]", re.IGNORECASE)


class FoundLink(NamedTuple):
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
    may_have_works = b"json" in content or b"\0" in content  # NUL: as in UTF-16
    page = _PageWithWorks() if may_have_works else _LinkedPage()
    read_html(page, content, charset)
    base = joined(page.base, base) or base
    found = (
        FoundLink(url, letter, is_document)
        for text, letter, is_document in page.found
        if (url := joined(text, base))
    )
    yield from dict.fromkeys(found)


class ElementHandler(Protocol):
    """What gets the elements of a page from the parser.

    It may also have ``end(name)``, and ``data(text)`` for text; without them, a page is read in two
    thirds of the time.
    """

    def start(self, name: str, said: Mapping[str, str]) -> None:
        """An element begins.

        Raises:
            Enough: The rest is not read.
        """

    def close(self) -> None:
        """The page ends."""


class Enough(Exception):
    """The rest of a page is not read."""


def read_html(page: ElementHandler, content: bytes, charset: str = "") -> None:
    """Tell the elements of an HTML page, without a tree; what is no page has none.

    Args:
        page: Is told.
        content: The page, without its content coding.
        charset: As the server said it; empty to find it out.
    """
    told = page if content.count(b"<") <= MOST_ELEMENTS else _Counted(page)
    with suppress(Enough, etree.ParserError, etree.XMLSyntaxError, ValueError):
        etree.fromstring(content[:MOST_BYTES], _parser(told, charset))


class _Counted:
    """Tells another one the elements of a page, as long as they are not too many."""

    def __init__(self, page: ElementHandler) -> None:
        self._page, self._elements = page, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._page, name)

    def start(self, name: str, said: Mapping[str, str]) -> None:
        self._elements += 1
        if self._elements > MOST_ELEMENTS:
            raise Enough
        self._page.start(name, said)


_Raw = tuple[str, str, bool]
"""An address as it stands on the page, its letter, and whether it is a document."""


class _LinkedPage:
    """Gets the elements of a page from the parser."""

    def __init__(self) -> None:
        self.base = ""
        self.found: dict[_Raw, None] = {}

    def start(self, name: str, said: Mapping[str, str]) -> None:
        """An element begins.

        Raises:
            Enough: The page has too many links.
        """
        if (read := _READ.get(name)) is not None:
            self.keep(read(said))
        elif name == "base":
            self.base = self.base or said.get("href", "")

    def keep(self, found: _Raw | None) -> None:
        """Note a link."""
        if found and 0 < len(found[0]) <= _LONGEST_TEXT:
            if len(self.found) >= MOST_LINKS:
                raise Enough
            self.found[found] = None

    def close(self) -> None:
        """The page ends."""


class _PageWithWorks(_LinkedPage):
    """Reads JSON-LD, too."""

    _script: list[str] | None = None

    def start(self, name: str, said: Mapping[str, str]) -> None:
        """An element begins; see `_LinkedPage.start`."""
        super().start(name, said)
        if name == "script" and said.get("type") == "application/ld+json":
            self._script = []

    def data(self, text: str) -> None:
        """Text of an element; only that of JSON-LD is read."""
        if self._script is not None:
            self._script.append(text)

    def end(self, name: str) -> None:
        """An element ends."""
        if name == "script" and self._script is not None:
            for work in works_of("".join(self._script)):
                for place in work.documents:
                    self.keep((place, "L", True))
            self._script = None


def _of_anchor(said: Mapping[str, str]) -> _Raw:
    return said.get("href", ""), "L", "download" in said


def _of_embed(attribute: str, said: Mapping[str, str]) -> _Raw:
    return said.get(attribute, ""), "E", False


def _of_link(said: Mapping[str, str]) -> _Raw | None:
    rels = said.get("rel", "").lower()
    if "item" in rels.split():
        return said.get("href", ""), "L", True
    return (said.get("href", ""), "E", False) if rels in _STYLES else None


def _of_meta(said: Mapping[str, str]) -> _Raw | None:
    content = said.get("content", "")
    if (said.get("name") or said.get("property") or "").lower() in DOCUMENT_NAMES:
        return content, "L", True
    if said.get("http-equiv", "").lower() == "refresh":
        _, _, target = content.lower().partition("url=")
        place = content[-len(target) :] if target else ""
        return place.strip("'\" "), "R", False
    return None


_READ: dict[str, Callable[[Mapping[str, str]], _Raw | None]] = {
    "a": _of_anchor, "area": _of_anchor, "meta": _of_meta, "link": _of_link,
    **{name: partial(_of_embed, attribute) for name, attribute in _EMBEDS.items()},
}  # fmt: skip
"""The name of an element → what reads its link."""


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


def _parser(page: ElementHandler, charset: str) -> etree.HTMLParser:
    """A parser for pages; elements may be nested as deeply as they like."""
    try:
        return _html_parser(page, charset or None)
    except (LookupError, ValueError):  # a charset that nobody knows, or no name of one
        return _html_parser(page, None)


def _html_parser(page: ElementHandler, charset: str | None) -> etree.HTMLParser:
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
    if not text or text.startswith(_NO_PAGES):
        return ""
    return _joined(text, _needed_of(base, text))


def _needed_of(base: str, text: str) -> str:
    """What of a base an address needs, which the pages of a site have in common."""
    server = base.find("/", len("https://"))
    if server < 0 or text.startswith(("//", "?")):
        return base
    if text[0] == "/" or _WHOLE.match(text):
        return base[:server]
    if ":" in text:
        return base
    path = base.partition("#")[0].partition("?")[0]
    return path[: path.rfind("/") + 1]


@lru_cache(20_000)  # the pages of a site have most of their links in common
def _joined(text: str, base: str) -> str:
    try:
        url = fetched_form(urljoin(base, text))
    except (BadAddress, ValueError):
        return ""
    return url if url.startswith(("http://", "https://")) else ""
