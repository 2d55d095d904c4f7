"""How a document that was fetched is tied to the record whose link led to it, by the archive."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from silocrawl.addresses import DOM
from silocrawl.captures import Captures, ReplayedCapture, StagedBody, latest
from silocrawl.found_links import MOST_BYTES, is_html
from silocrawl.landing import Landing, TieRule, landing_of
from silocrawl.messages import FoundDocument
from silocrawl.papers import KnownDocument
from silocrawl.pdf_pages import first_pages
from silocrawl.scope import without_session

PDF = frozenset({"application/pdf", "application/x-pdf"})
_BYTES = frozenset({"application/octet-stream", "binary/octet-stream", "application/force-download",
                    "application/x-download", "application/download"})  # fmt: skip
DOCUMENTS = PDF | _BYTES | {
    "application/postscript", "application/msword", "application/rtf", "text/rtf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.oasis.opendocument.text", "application/epub+zip", "image/vnd.djvu",
}  # fmt: skip
"""Media types of what may be the document of a record."""
MOST_FOLLOWED = 200
"""Links of a page whose redirects are looked up."""
_BEGIN, _END = 64 << 10, 4 << 10


def landing_page(captures: Captures, url: str, until: str) -> Landing | None:
    """Return the page to which an address led, as a browser showed it if one did; None for none.

    Args:
        captures: The archive.
        url, until: See `Captures.where_it_leads`.

    Raises:
        CaptureUnreadable: It is not in the archive as the index says.
    """
    found = captures.where_it_leads(url, until) if url else None
    if found is None or not is_html(found.mimetype) or found.status != "200":
        return None
    page = captures.begin(found, MOST_BYTES)
    link = page.headers.get("link", "")
    if shown := _shown(captures, found, until):
        return landing_of(found.url, shown, link, "utf-8")
    charset = page.headers.get("content-type", "").lower().partition("charset=")[2]
    return landing_of(found.url, page.content, link, charset.split(";")[0].strip("\"' "))


def _shown(captures: Captures, page: ReplayedCapture, until: str) -> bytes:
    """What scripts made of a page; empty if no browser has shown it since it was captured."""
    found = [one for one in captures.of(f"{DOM}{page.url}") if one.timestamp >= page.timestamp]
    one = latest(found, until)
    return captures.begin(one, MOST_BYTES).content if one is not None else b""


def rule_of(captures: Captures, landing: Landing | None, one: FoundDocument) -> TieRule | None:
    """Return how a document is tied to its record; None if it is not.

    The first rule by which the page names a document counts. If what it names could not be
    fetched, the others are uncertain.

    Args:
        captures: The archive.
        landing: The page to which the record's link led; None if it led to no page.
    """
    if landing is None:
        found = captures.where_it_leads(one.seed, one.timestamp)
        return TieRule.DIRECT if found is not None and found.url == one.url else None
    is_first = True
    for rule, places in landing.named.items():
        ends = [captures.where_it_leads(place, one.timestamp) for place in places]
        if any(_is_at(one, place, end) for place, end in zip(places, ends, strict=True)):
            return rule if is_first else TieRule.LISTED
        if any(end is not None and end.mimetype in DOCUMENTS for end in ends):
            return None
        is_first = False
    return TieRule.LISTED if _is_listed(captures, landing, one) else None


def named_documents(captures: Captures, page: FoundDocument) -> Iterator[FoundDocument]:
    """Yield the documents in the archive that a landing page of a record names.

    Raises:
        CaptureUnreadable: The page is not in the archive as the index says.
    """
    landing = landing_page(captures, page.seed, page.timestamp)
    for places in landing.named.values() if landing is not None else ():
        ends = [captures.where_it_leads(place) for place in places]
        if found := [end for end in ends if end is not None and end.mimetype in DOCUMENTS]:
            for end in found:
                yield replace(
                    page, url=end.url, digest=end.digest, timestamp=end.timestamp,
                    mimetype=end.mimetype,
                )  # fmt: skip
            return


def _is_at(one: FoundDocument, place: str, end: ReplayedCapture | None) -> bool:
    """Whether a document is at an address, or where that led; ids of sessions do not count."""
    is_end = end is not None and end.url == one.url
    return is_end or without_session(place) == without_session(one.url)


def _is_listed(captures: Captures, landing: Landing, one: FoundDocument) -> bool:
    """Whether a page links to a document, perhaps over redirects."""
    if any(_is_at(one, place, None) for place in landing.anchors):
        return True
    places = islice(landing.anchors, MOST_FOLLOWED)
    return any(
        _is_at(one, place, captures.where_it_leads(place, one.timestamp)) for place in places
    )


def document_in(body: StagedBody, capture: ReplayedCapture) -> KnownDocument:
    """Read what is needed of a document to decide about it.

    Raises:
        OSError: The disk refused, or no process can be started.
    """
    with open(body.staged.path, "rb") as file:
        begin = file.read(_BEGIN)
        file.seek(max(0, body.staged.digest.size - _END))
        end = file.read(_END)
    is_pdf = capture.mimetype in PDF or b"%PDF-" in begin[:1024]
    pages = first_pages(body.staged.path) if is_pdf else None
    return KnownDocument(begin, end, pages, "warc-truncated" in body.headers)
