"""Landing pages as the usual software makes them, and documents that may be behind them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from site_of_traps import HTML, Reply, page

from oaipmhprovider.sample.pdf import pdf_of

TITLE = "Seasonal storage of solar heat in abandoned mines: a field study"
DOI = "10.1234/solar.2024.07"
LICENCE = pdf_of(
    "Creative Commons Attribution 4.0 International Public License\nBy exercising the Licensed"
    " Rights, You accept\nand agree to be bound by the terms and conditions of this licence.",
    "Section 1. Definitions",
)
_FILLER = "\n".join(f"Line {number} of a text that goes on and on about something." for number in
                    range(40))  # fmt: skip


def paper(title: str = TITLE, doi: str = DOI, *, pages: int = 3) -> bytes:
    """A document with a title and a DOI on its first page."""
    words = title.split()
    half = len(words) // 2
    head = "\n".join((" ".join(words[:half]), " ".join(words[half:]), "Ada Ng and Bo Lee"))
    first = f"{head}\nhttps://doi.org/{doi}\nAbstract. We dug.\n" if doi else f"{head}\n"
    return pdf_of(first + _FILLER, *[_FILLER] * (pages - 1))


@dataclass(frozen=True)
class Kind:
    """A document, what becomes of it if the page names it, and why."""

    content: bytes
    state: str
    reason: str


KINDS = {
    "right": Kind(paper(), "attached", "right"),
    "citing": Kind(
        pdf_of("Heat pumps in cold seas and other places\nBy C. Other\n" + _FILLER + _FILLER,
               f"References\n1. A. Ng. {TITLE}. doi:{DOI}"), "rejected", "other-paper"),
    "other-doi": Kind(paper(doi="10.1234/solar.2024.070"), "rejected", "other-doi"),
    "licence": Kind(LICENCE, "rejected", "licence"),
    "cover": Kind(
        pdf_of(f"Cover page\n{TITLE}\nhttps://doi.org/{DOI}\nThe full text is not available."),
        "proposed", "cover-sheet"),
    "one-page": Kind(paper(pages=1), "proposed", "one-page"),
    "scan": Kind(pdf_of("", "", ""), "proposed", "no-text"),
    "cut": Kind(paper()[:2_500], "rejected", "cut-short"),
    "html": Kind(b"<html><body>Notice: undefined index</body></html>\n" + paper(), "proposed",
                 "html-first"),
    "similar": Kind(paper(TITLE.replace("Seasonal", "Regional"), ""), "proposed", "similar-title"),
    "title": Kind(paper(doi=""), "proposed", "title-only"),
    "doi": Kind(paper("Something else altogether, in other words"), "proposed", "doi-only"),
    "erratum": Kind(
        pdf_of(f"Correction to: {TITLE}\nhttps://doi.org/10.1234/err.1\nThe original article is at"
               f"\nhttps://doi.org/{DOI}\n" + _FILLER, _FILLER), "proposed", "several-dois"),
}  # fmt: skip


def _meta(**names: str) -> str:
    return "".join(f'<meta name="{name}" content="{escape(value)}">' for name, value in
                   names.items())  # fmt: skip


def _of_citation(pdf: str) -> str:
    return _meta(citation_title=TITLE, citation_author="Ng, Ada", citation_doi=DOI,
                 citation_publication_date="2024/07", citation_pdf_url=pdf)  # fmt: skip


def eprints(pdf: str) -> Reply:
    head = f'<meta name="eprints.title" content="{TITLE}"><meta name="eprints.document_url"'
    head += f' content="{pdf}"><meta name="eprints.date" content="2024">'
    head += '<meta name="eprints.publisher" content="University of Mines">'
    head += '<meta name="eprints.creators_name" content="Ng, Ada">'
    return page(f'<a href="{pdf}">PDF</a> <a href="/policies.pdf">Take-down policy</a>', head)


def dspace_6(pdf: str) -> Reply:
    return page(f'<a href="{pdf}?sequence=1">View/Open</a><a href="/license.pdf">License</a>',
                _of_citation(pdf))  # fmt: skip


def dspace_7(pdf: str) -> Reply:
    links = f'<{pdf}>; rel="item"; type="application/pdf", '
    links += (
        f'</license.txt>; rel="item"; type="text/plain", <https://doi.org/{DOI}>; rel="cite-as"'
    )
    return page("<ds-app></ds-app><script src=main.js></script>", "", Link=links)


def ojs(pdf: str) -> Reply:
    return page('<a class="obj_galley_link pdf" href="/view/1/2">PDF</a>', _of_citation(pdf))


def ojs_galley(pdf: str) -> Reply:
    head = '<header><a href="/view/1" class="return">Return</a>'
    return page(f'{head}<a href="{pdf}" class="download" download>Download</a></header>')


def arxiv(pdf: str) -> Reply:
    return page(f'<a href="{pdf}">View PDF</a><a href="/license.pdf">view license</a>',
                _of_citation(pdf))  # fmt: skip


def schema_org(pdf: str) -> Reply:
    work = {
        "@type": "ScholarlyArticle", "headline": TITLE, "identifier": f"https://doi.org/{DOI}",
        "datePublished": "2024-07-01", "publisher": {"@type": "Organization", "name": "Mines"},
        "author": [{"@type": "Person", "name": "Ada Ng"}],
        "encoding": {"@type": "MediaObject", "contentUrl": pdf,
                     "encodingFormat": "application/pdf"},
    }  # fmt: skip
    graph = json.dumps({"@context": "https://schema.org", "@graph": [work]})
    return page("", f'<script type="application/ld+json">{graph}</script>')


def only_pdf(pdf: str) -> Reply:
    return page(f'<a href="{pdf}">Full text</a><a href="/cc-by-licence.pdf">CC BY</a>'
                '<a href="/x.pdf">Privacy policy</a>')  # fmt: skip


def bare_list(pdf: str) -> Reply:
    return page(
        f'<ul><li><a href="{pdf}">Report of the seventh year</a><li><a href="/other.pdf">x</a>'
    )


LAYOUTS: dict[str, Callable[[str], Reply]] = {
    one.__name__: one for one in (eprints, dspace_6, dspace_7, ojs, ojs_galley, arxiv, schema_org,
                                  only_pdf, bare_list)
}  # fmt: skip


def with_type(content: bytes) -> Reply:
    return Reply(200, content, {"Content-Type": "application/pdf"})


__all__ = ["HTML", "KINDS", "LAYOUTS", "LICENCE", "TITLE", "Kind", "paper", "with_type"]
