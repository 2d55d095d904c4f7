"""What a landing page says of its document: which one it is, its DOI, title, date (pure).

Source: Signposting, signposting.org (``item``, ``cite-as``); the names of meta elements are those
that Google Scholar reads, those of EPrints, bepress and Dublin Core; OJS for ``a.download``.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import requests

from silocrawl.found_links import DOCUMENT_NAMES, MOST_LINKS, Enough, joined, read_html
from silocrawl.json_ld import DescribedWork, works_of
from silocrawl.scope import without_session

MOST_OF_A_RULE = 20
"""Addresses that a rule names; a page that names more is a list of documents."""
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>]+")
_LEFT_OUT = re.compile(
    r"licen[cs]e|polic(?:y|ies)|privacy|terms|copyright|creative[ _-]?commons|guide(?:line)?s?\b"
    r"|declaration|disclaimer|impressum|cookie|deposit[ _-]?agreement|template|flyer",
    re.IGNORECASE,
)
_DATE = re.compile(r"\s*(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?!\d)")
_MOST_TEXT = 2_000


class TieRule(StrEnum):
    """How a document is tied to a record, the surest first."""

    DIRECT = "direct"
    """The record's link leads to it."""
    LINK_HEADER = "link-header"
    LINK_ITEM = "link-item"
    META = "meta"
    JSON_LD = "json-ld"
    DOWNLOAD = "download"
    ONLY_PDF = "only-pdf"
    """It is the only PDF that the page links to, licences and policies left out."""
    LISTED = "listed"
    """The page links to it, among others."""


_TITLES = ("citation_title", "dc.title", "dcterms.title", "eprints.title", "og:title")
_DATES = ("citation_publication_date", "citation_date", "citation_online_date", "dc.date.issued",
          "dcterms.issued", "dc.issued", "dc.date", "dcterms.date", "eprints.date",
          "article:published_time")  # fmt: skip
_PUBLISHERS = ("citation_publisher", "dc.publisher", "dcterms.publisher",
               "citation_dissertation_institution", "citation_technical_report_institution",
               "eprints.publisher", "eprints.institution", "og:site_name")  # fmt: skip
_CREATORS = ("citation_author", "dc.creator", "dcterms.creator", "eprints.creators_name")
_IDENTIFIERS = ("citation_doi", "dc.identifier", "dc.identifier.doi", "dcterms.identifier",
                "prism.doi", "eprints.id_number", "bepress_citation_doi", "doi")  # fmt: skip


@dataclass(frozen=True)
class Landing:
    """A landing page, as far as its documents are concerned.

    Attributes:
        url: Its address.
        named: Rule → the addresses that it names; each is absolute, in its fetched form.
        texts: Name of a meta element, in lower case → its contents.
        works: What its JSON-LD says.
        anchors: Address → text of the link.
        cited_as: Address by which it wants to be cited; empty if it does not say.
        heading: Of its ``title`` element.
    """

    url: str
    named: Mapping[TieRule, tuple[str, ...]]
    texts: Mapping[str, tuple[str, ...]]
    works: tuple[DescribedWork, ...]
    anchors: Mapping[str, str]
    cited_as: str
    heading: str

    @cached_property
    def dois(self) -> frozenset[str]:
        """The DOIs that it says are its own, in lower case."""
        said = [text for name in _IDENTIFIERS for text in self.texts.get(name, ())]
        said += [text for work in self.works for text in work.identifiers]
        return frozenset(doi for text in (*said, self.cited_as) for doi in dois_in(text))

    @property
    def title(self) -> str:
        """Its title, or that of the page; empty if it has none."""
        return next(iter(self._said(_TITLES, "titles")), self.heading)

    @property
    def date(self) -> str:
        """When its document was published, as precisely as it says: 2016, 2016-05, 2016-05-02."""
        return next(filter(None, map(iso_date, self._said(_DATES, "dates"))), "")

    @property
    def publisher(self) -> str:
        """Who published it; empty if it does not say."""
        return next(iter(self._said(_PUBLISHERS, "publishers")), "")

    @property
    def creators(self) -> tuple[str, ...]:
        """Who made it."""
        for name in _CREATORS:
            if found := self.texts.get(name):
                return found
        return next((work.creators for work in self.works if work.creators), ())

    def _said(self, names: tuple[str, ...], of_work: str) -> list[str]:
        said = [text for name in names for text in self.texts.get(name, ())]
        return said + [text for work in self.works for text in getattr(work, of_work)]


def landing_of(url: str, content: bytes, link: str = "", charset: str = "") -> Landing:
    """Read a landing page.

    Args:
        content: The page, without its content coding.
        link: Its ``Link`` headers, joined by commas.
        charset: As the server said it; empty to find it out.
    """
    page = _LandingPage()
    read_html(page, content, charset)
    base = joined(page.base, url) or url
    works = tuple(work for text in page.scripts for work in works_of(text))
    headers = list(_link_headers(link, url))
    raw: dict[TieRule, list[str]] = {
        TieRule.LINK_HEADER: _documents([(place, kind) for rel, place, kind in headers
                                      if rel == "item"]),
        TieRule.LINK_ITEM: _documents(page.items),
        TieRule.META: [text for name in DOCUMENT_NAMES for text in page.metas.get(name, [])],
        TieRule.JSON_LD: [place for work in works for place in work.documents],
        TieRule.DOWNLOAD: page.downloads,
        TieRule.ONLY_PDF: [place for place, text in page.anchors.items() if _is_paper(place, text)],
    }  # fmt: skip
    named = {rule: _joined(places, base) for rule, places in raw.items()}
    if len(named[TieRule.ONLY_PDF]) > 1:
        named[TieRule.ONLY_PDF] = ()
    anchors = {joined(place, base): text for place, text in page.anchors.items()}
    cited = [place for rel, place, _ in headers if rel == "cite-as"] + page.cited
    return Landing(
        url, {rule: places for rule, places in named.items() if places},
        {name: tuple(texts) for name, texts in page.metas.items()}, works, anchors,
        next(iter(cited), ""), page.heading.strip(),
    )  # fmt: skip


def dois_in(text: str) -> Iterator[str]:
    """Yield the DOIs in a text, in lower case, without the punctuation after them."""
    for found in _DOI.finditer(text):
        doi = found[0].rstrip(".,;:'*")
        while doi[-1:] in ")]}" and doi.count(doi[-1]) > doi.count("([{"[")]}".index(doi[-1])]):
            doi = doi[:-1].rstrip(".,;:'*")
        yield doi.lower()


def iso_date(text: str) -> str:
    """The date that a text begins with, with its precision; empty if it is none."""
    found = _DATE.match(text)
    if found is None:
        return ""
    year, month, day = (int(one or 0) for one in found.groups())
    if not (1000 <= year <= 2999 and month <= 12 and day <= 31):
        return ""
    return f"{year}" + (f"-{month:02}" if month else "") + (f"-{day:02}" if month and day else "")


def _link_headers(value: str, base: str) -> Iterator[tuple[str, str, str]]:
    """Relation, absolute address and media type of each link."""
    for one in requests.utils.parse_header_links(value):
        for rel in str(one.get("rel", "")).lower().split():
            yield rel, joined(str(one.get("url", "")), base), str(one.get("type", ""))


def _documents(items: list[tuple[str, str]]) -> list[str]:
    """Of items with media types, those that are documents: PDFs, if there are any."""
    kinds = [(place, kind.lower()) for place, kind in items]
    if pdfs := [place for place, kind in kinds if kind.startswith("application/pdf")]:
        return pdfs
    return [place for place, kind in kinds if not kind or kind.startswith("application/")]


def _is_paper(place: str, text: str) -> bool:
    is_pdf = without_session(place).partition("?")[0].lower().endswith(".pdf")
    return is_pdf and not _LEFT_OUT.search(place.rpartition("/")[2]) and not _LEFT_OUT.search(text)


def _joined(places: list[str], base: str) -> tuple[str, ...]:
    known = dict.fromkeys(filter(None, (joined(place, base) for place in places)))
    return tuple(known)[: MOST_OF_A_RULE + 1]


class _LandingPage:
    """Gets the elements of a landing page from the parser."""

    def __init__(self) -> None:
        self.base = self.heading = ""
        self.metas: dict[str, list[str]] = {}
        self.items: list[tuple[str, str]] = []
        self.cited: list[str] = []
        self.downloads: list[str] = []
        self.anchors: dict[str, str] = {}
        self.scripts: list[str] = []
        self._text: list[str] | None = None
        self._place = ""

    def start(self, name: str, said: Mapping[str, str]) -> None:
        """An element begins.

        Raises:
            Enough: The page has too many links.
        """
        if name == "base":
            self.base = self.base or said.get("href", "")
        elif name == "meta":
            known = (said.get("name") or said.get("property") or "").lower()
            if known and (content := said.get("content", "").strip()[:_MOST_TEXT]):
                self.metas.setdefault(known, []).append(content)
        elif name == "link":
            self._link(said.get("rel", "").lower().split(), said.get("href", ""), said)
        elif name == "a" and (place := said.get("href", "").strip()):
            if len(self.anchors) >= MOST_LINKS:
                raise Enough
            self._place, self._text = place, []
            self.anchors.setdefault(place, "")
            if "download" in said and "download" in said.get("class", "").split():
                self.downloads.append(place)
        elif name == "title" or (name, said.get("type")) == ("script", "application/ld+json"):
            self._text = []

    def _link(self, rels: list[str], place: str, said: Mapping[str, str]) -> None:
        if "item" in rels:
            self.items.append((place, said.get("type", "")))
        if "cite-as" in rels:
            self.cited.append(place)

    def data(self, text: str) -> None:
        """Text of an element."""
        if self._text is not None:
            self._text.append(text)

    def end(self, name: str) -> None:
        """An element ends."""
        if self._text is None or name not in ("a", "title", "script"):
            return
        text, self._text = "".join(self._text), None
        if name == "a":
            self.anchors[self._place] = self.anchors[self._place] or " ".join(text.split())[:300]
        elif name == "title":
            self.heading = self.heading or " ".join(text.split())[:_MOST_TEXT]
        else:
            self.scripts.append(text)

    def close(self) -> None:
        """The page ends."""
