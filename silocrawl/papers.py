"""Whether a document is that of a record, by its first pages (pure).

The title is looked for in the front only: a paper that cites another one has its title, too. The
thresholds are measured: the right paper 100, one with a similar title 94, one that cites it 39.
"""

import re
import unicodedata
from dataclasses import dataclass

from recordsilo.extras import needed
from silocrawl.landing import TieRule, dois_in
from silocrawl.pdf_pages import FirstPages, PdfFault
from silocrawl.proposals import ProposalState, Reason

FRONT = 1_500
"""Characters in which a document has its own title and DOI."""
SAME, SIMILAR = 97.0, 80.0
"""Scores of the title from which on it is the same, and may be."""
SHORTEST_TITLE, LEAST_TEXT = 12, 50
"""Letters and digits of a title that tells documents apart, and of a document that has text."""
_LICENCE = re.compile(
    r"creative\s+commons|attribution(?:\W+\w+){0,2}\W+[0-9]\.[0-9]\s+international"
    r"|(?:deposit|distribution|publication|copyright)\s+(?:licen[cs]e|agreement)"
    r"|licen[cs]e\s+(?:agreement|terms|to\s+publish)|privacy\s+(?:policy|statement|notice)"
    r"|terms\s+(?:and\s+conditions|of\s+(?:use|service))|take-?down\s+policy|open\s+access\s+policy",
    re.IGNORECASE,
)
_COVER = re.compile(
    r"cover\s*(?:sheet|page)|full\s+text\s+(?:is\s+)?(?:not|un)\s*available|downloaded\s+from"
    r"|this\s+(?:item|version|document)\s+was\s+(?:downloaded|deposited)|please\s+cite\s+(?:the|this)"
    r"|document\s+version|embargo(?:ed)?\s+until",
    re.IGNORECASE,
)
_AT_LINE_END = re.compile(r"[-\u00ad\u2010\ufffe\x02][ \t]*\r?\n\s*|[\u00ad\ufffe\x02]")
_NO_WORD = re.compile(r"[^\w]+|_")
_NUMBER = re.compile(r"\b(?:\d+|[ivx]+)\b")
_OPEN_DOI = re.compile(r"(10\.\d{4,9}/\S*)\s*\r?\n\s*(\S+)")


@dataclass(frozen=True, slots=True)
class Expected:
    """What a record says of its document.

    Attributes:
        titles: In all languages.
        dois: In lower case; those of its landing page are among them.
    """

    titles: tuple[str, ...] = ()
    dois: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """What is known of a document before it is compared.

    Attributes:
        begin, end: Of its bytes: 64 KB and 4 KB.
        pages: Its first pages; None if it is no PDF.
        is_cut: Whether the crawl noted that its end is missing.
    """

    begin: bytes
    end: bytes
    pages: FirstPages | None
    is_cut: bool = False

    @property
    def has_end(self) -> bool:
        """Whether a PDF is complete."""
        return not self.is_cut and b"%%EOF" in self.end

    @property
    def is_html_first(self) -> bool:
        """Whether a web page precedes the PDF."""
        before = self.begin.partition(b"%PDF-")[0].lower()
        return b"<html" in before or b"<!doctype" in before or b"<body" in before


@dataclass(frozen=True, slots=True)
class DocumentVerdict:
    """What becomes of a document, and why.

    Attributes:
        score: How much of a title is in the front, 0 to 100.
        dois: Those in the front.
    """

    state: ProposalState
    reason: Reason
    score: float = 0.0
    dois: tuple[str, ...] = ()


def verdict(expected: Expected, document: KnownDocument, rule: TieRule) -> DocumentVerdict:
    """Decide about a document of a record.

    Args:
        expected: What the record says.
        rule: How it is tied to the record.
    """
    if found := broken(document):
        return found
    assert document.pages is not None
    pages, front = document.pages, document.pages.text[:FRONT]
    if len(_NO_WORD.sub("", pages.text)) < LEAST_TEXT:
        return DocumentVerdict(ProposalState.PROPOSED, Reason.NO_TEXT)
    score, dois = title_score(expected.titles, front), _dois_of(front, expected.dois)
    state, reason = _compared(expected, document, rule, score, frozenset(dois))
    return DocumentVerdict(state, reason, round(score, 1), dois)


def broken(document: KnownDocument) -> DocumentVerdict | None:
    """What becomes of a document that has no pages to compare; None if it has."""
    if document.is_cut:
        return DocumentVerdict(ProposalState.REJECTED, Reason.CUT_SHORT)
    if document.pages is None:
        return DocumentVerdict(ProposalState.PROPOSED, Reason.NOT_PDF)
    fault = document.pages.fault
    if fault is PdfFault.DAMAGED:
        is_cut = b"%PDF-" in document.begin and not document.has_end
        return DocumentVerdict(
            ProposalState.REJECTED, Reason.CUT_SHORT if is_cut else Reason.DAMAGED
        )
    if fault is not None:
        is_locked = fault is PdfFault.ENCRYPTED
        return DocumentVerdict(
            ProposalState.PROPOSED, Reason.ENCRYPTED if is_locked else Reason.UNREADABLE
        )
    return None if document.has_end else DocumentVerdict(ProposalState.PROPOSED, Reason.CUT_SHORT)


def _compared(
    expected: Expected, document: KnownDocument, rule: TieRule, score: float, dois: frozenset[str]
) -> tuple[ProposalState, Reason]:
    """Decide by the title and the DOIs in the front."""
    assert document.pages is not None
    text, count = document.pages.text, document.pages.pages
    has_doi, has_title = bool(dois & expected.dois), score >= SAME
    if dois and expected.dois and not has_doi:
        return ProposalState.REJECTED, Reason.OTHER_DOI
    if not has_doi and not has_title:
        return _unlike(expected, text, score)
    is_usable = any(map(_is_usable, expected.titles))
    doubts = (
        (count <= 2 and _COVER.search(text), Reason.COVER_SHEET),
        (count == 1, Reason.ONE_PAGE),
        (document.is_html_first, Reason.HTML_FIRST),
        (rule is TieRule.LISTED, Reason.SEVERAL_DOCUMENTS),
        (not has_doi, Reason.TITLE_ONLY),
        (dois - expected.dois, Reason.SEVERAL_DOIS),
        (not has_title, Reason.DOI_ONLY if is_usable else Reason.NO_TITLE),
    )
    doubt = next((reason for is_so, reason in doubts if is_so), None)
    return (ProposalState.PROPOSED, doubt) if doubt else (ProposalState.ATTACHED, Reason.RIGHT)


def _unlike(expected: Expected, text: str, score: float) -> tuple[ProposalState, Reason]:
    """Decide about a document with neither the DOI nor the title."""
    if score >= SIMILAR:
        return ProposalState.PROPOSED, Reason.SIMILAR_TITLE
    if _LICENCE.search(text[:300]):
        return ProposalState.REJECTED, Reason.LICENCE
    if not any(map(_is_usable, expected.titles)):
        return ProposalState.PROPOSED, Reason.NO_TITLE
    return ProposalState.REJECTED, Reason.OTHER_PAPER


def title_score(titles: tuple[str, ...], front: str) -> float:
    """How much of the best of some titles is in a text, 0 to 100; titles too short do not count.

    A number of the title that the text lacks makes another title: part 2, the report of 2016.

    Raises:
        PackageMissing: rapidfuzz is not installed.
    """
    fuzz = needed("rapidfuzz.fuzz", "comparing titles", "crawl")
    text = comparable(front)
    numbers = set(_NUMBER.findall(text))
    best = 0.0
    for title in filter(_is_usable, titles):
        wanted = comparable(title)
        compare = fuzz.partial_ratio if len(text) >= len(wanted) else fuzz.ratio
        score = float(compare(wanted, text))
        if not set(_NUMBER.findall(wanted)) <= numbers:
            score = min(score, SAME - 1)
        best = max(best, score)
    return best


def comparable(text: str) -> str:
    """A text to be compared: words only, without accents, as if it had no lines."""
    whole = unicodedata.normalize("NFKD", _AT_LINE_END.sub("", text)).casefold()
    bare = "".join(one for one in whole if not unicodedata.combining(one))
    return " ".join(_NO_WORD.sub(" ", bare).split())


def _is_usable(title: str) -> bool:
    return len(_NO_WORD.sub("", title)) >= SHORTEST_TITLE


def _dois_of(front: str, own: frozenset[str]) -> tuple[str, ...]:
    """The DOIs in a text, once each; one of our own may be broken over two lines."""
    found = dict.fromkeys(dois_in(front))
    for begin, rest in _OPEN_DOI.findall(front):
        whole = next(dois_in(begin + rest), "")
        if whole in own and whole not in found:
            found.pop(next(dois_in(begin), ""), None)
            found[whole] = None
    return tuple(found)
