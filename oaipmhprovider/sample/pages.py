"""The landing pages and documents of sample works, as a crawler meets them.

The works follow each other in six layouts; some of the first have a trap besides. Pages have the
metadata that such systems write, and nothing else that matters to a crawler. Pure.
"""

import html
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum

from oaipmhprovider.sample.compose import SampleWork
from oaipmhprovider.sample.documents import citation
from oaipmhprovider.sample.pdf import pdf_of

HTML, PDF = "text/html; charset=utf-8", "application/pdf"
GONE_SITE = "http://repository.invalid"
"""Where nobody answers (RFC 2606)."""


class PageLayout(StrEnum):
    """The software whose pages a work's page is like."""

    EPRINTS = "EPrints"
    DSPACE_6 = "DSpace 6"
    DSPACE_7 = "DSpace 7"
    """Its page is made by a script; only the headers say where the document is."""
    OJS = "OJS"
    SCHEMA = "schema.org"
    LIST = "a bare list of files"


class Trap(Enum):
    """What is wrong with a work's page or document; the value is the number of the work."""

    MOVED = 3011
    """The page is elsewhere, after two redirects."""
    NOT_FOUND = 3012
    FORBIDDEN = 3013
    """robots.txt forbids the page."""
    GONE_HOST = 3014
    LICENCE_ONLY = 3016
    """The only document is a licence."""
    COVER_ONLY = 3015
    """The document is a cover sheet."""
    WRONG_PAPER = 3017
    """The document is another paper, which cites the work."""
    SESSION = 3018
    """Each visit of the page links to the document with another session."""
    TWICE = 3019
    """The same bytes at two addresses."""
    SCAN = 3020
    """The document has no text."""
    LOGIN = 3021
    """A form to sign in comes instead of the document."""
    BROKEN = 3022
    """The server has an error."""
    LOOP = 3024
    """The page redirects to another one, and that one to it."""


_TRAPS = {one.value: one for one in Trap}
_NOTHING = "text/plain; charset=utf-8"
_REPOSITORY = "Wexcombe Research Repository"
_ROBOTS = f"User-agent: *\nDisallow: /{Trap.FORBIDDEN.value}/\n"
_LICENCE = (
    "Deposit licence\n\nBy depositing this work, you grant the University the right to store and "
    "to distribute it. You keep the copyright of your work.\n\n"
) * 8
_OTHER = "A survey of repositories that do not exist"
_SCRIPT = "document.querySelector('ds-app').textContent = document.title;"


@dataclass(frozen=True, slots=True)
class SiteAnswer:
    """What the site answers to a request."""

    status: str = "200 OK"
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def layout_of(work: SampleWork) -> PageLayout:
    """Return the layout of a work's page."""
    return list(PageLayout)[work.number % len(PageLayout)]


def linked(work: SampleWork, site: str) -> SampleWork:
    """The work as its record has it: all links lead to its page here, or to nobody.

    The addresses of others are left out, because a crawler would ask them: the resolver of DOIs,
    and those of licences.
    """
    trap = _TRAPS.get(work.number)
    is_linked = layout_of(work) is PageLayout.EPRINTS and trap is None
    resolver = f"{site}/doi/{work.doi}" if work.doi and trap is None else ""
    return replace(
        work,
        site=GONE_SITE if trap is Trap.GONE_HOST else site,
        is_file_linked=is_linked,
        further_link=resolver,
        rights="" if "://" in work.rights else work.rights,
        doi=None,
    )


class WorkPages:
    """The pages of a site.

    Args:
        work_of: Returns the work with a number; None if there is none.
    """

    def __init__(self, work_of: Callable[[int], SampleWork | None]) -> None:
        self._work_of = work_of
        self._visits = 0
        self._places: tuple[tuple[re.Pattern[str], Callable[..., SiteAnswer | None]], ...] = (
            (re.compile(r"/robots\.txt"), lambda: _text(_ROBOTS)),
            (re.compile(r"/main\.js"), lambda: _text(_SCRIPT, "text/javascript")),
            (re.compile(r"/events/(\d{4})-(\d\d)"), _calendar),
            (re.compile(r"/doi/10\.5555/wex\.[a-z]*<?(\d+)>?"), lambda n: _redirect(f"/{n}/")),
            (re.compile(r"/(?:files/)?licence\.pdf"), lambda: _document([_LICENCE])),
            (re.compile(r"/(moved/|archive/|)(\d+)/"), self._page),
            (
                re.compile(
                    r"/(?:article/download/|bitstream/handle/1/|server/api/core/bitstreams/)?"
                    r"(\d+)/(1/|)[^/]+"
                ),
                self._file,
            ),
        )

    def answer(self, path: str) -> SiteAnswer | None:
        """Answer a request; None for an address that is not of these pages.

        Args:
            path: Decoded, without its query.
        """
        for pattern, make in self._places:
            if found := pattern.fullmatch(path):
                return make(*found.groups())
        return None

    def _page(self, place: str, digits: str) -> SiteAnswer | None:
        number = int(digits)
        work, trap = self._work_of(number), _TRAPS.get(number)
        if work is None or trap is Trap.NOT_FOUND:
            return SiteAnswer("404 Not Found", b"not found", {"Content-Type": _NOTHING})
        if trap is Trap.LOOP:
            return _redirect(f"/{number}/" if place else f"/moved/{number}/")
        if trap is Trap.BROKEN:
            return SiteAnswer("500 Internal Server Error", b"", {"Content-Type": _NOTHING})
        if trap is Trap.MOVED and place != "archive/":
            return _redirect(f"/archive/{number}/" if place else f"/moved/{number}/")
        self._visits += 1
        return _landing_page(work, trap, self._visits)

    def _file(self, digits: str, _place: str) -> SiteAnswer | None:
        number = int(digits)
        work, trap = self._work_of(number), _TRAPS.get(number)
        if work is None or trap is Trap.NOT_FOUND:
            return None
        if trap is Trap.LOGIN:
            return _html("Sign in", "<form><input name=user><input type=password></form>")
        return _document(_text_of(work, trap), work.titles[0].content)


# --- documents


def _text_of(work: SampleWork, trap: Trap | None) -> list[str]:
    """The pages of a work's document."""
    if trap is Trap.SCAN:
        return ["", "", ""]
    if trap is Trap.COVER_ONLY:
        return [f"{_REPOSITORY}\n\nThis is the cover sheet of:\n\n{citation(work)}"]
    if trap is Trap.WRONG_PAPER:
        body = f"{_OTHER}\n\nOthers, Annie\n\nhttps://doi.org/10.5555/wex.0\n\n"
        return [body + "Much has been written. " * 60, f"References\n\n{citation(work)}"]
    names = ", ".join(f"{one.given} {one.family}" for one in work.creators)
    doi = f"https://doi.org/{work.doi}\n\n" if work.doi else ""
    front = f"{work.titles[0].content}\n\n{names}\n\n{doi}{work.publisher}\n\n"
    body = "\n\n".join(one.content for one in work.abstracts)
    return [front + f"Abstract\n\n{body}", f"1 Introduction\n\n{body}\n\n" * 3, "References"]


def _document(pages: list[str], title: str = "") -> SiteAnswer:
    return SiteAnswer(body=pdf_of(*pages, title=title), headers={"Content-Type": PDF})


# --- pages


def _landing_page(work: SampleWork, trap: Trap | None, visit: int) -> SiteAnswer:
    if trap is Trap.LICENCE_ONLY:
        return _html(work.titles[0].content, _links({"/licence.pdf": "licence.pdf"}))
    if trap is Trap.SESSION:
        places = {f"/{work.number}/paper.pdf;jsessionid={visit:032X}": "paper.pdf"}
        return _html(work.titles[0].content, _links(places), _meta(work, "citation_"))
    if trap is Trap.TWICE:
        places = {f"/{work.number}/{name}.pdf": name for name in ("paper", "paper-copy")}
        return _html(work.titles[0].content, _links(places))
    return _LAYOUTS[layout_of(work)](work)


def _eprints(work: SampleWork) -> SiteAnswer:
    name = f"{work.creators[0].family.replace(' ', '_')}_{work.published.year}.pdf"
    place = f"/{work.number}/1/{name}"
    meta = _meta(work, "eprints.", {"eprints.document_url": place})
    return _html(work.titles[0].content, _links({place: "Text"}, "ep_document_link"), meta)


def _dspace_6(work: SampleWork) -> SiteAnswer:
    place = f"/bitstream/handle/1/{work.number}/paper.pdf?sequence=1"
    meta = _meta(work, "citation_", {"citation_pdf_url": place})
    return _html(work.titles[0].content, _links({place: "View/Open"}), meta)


def _dspace_7(work: SampleWork) -> SiteAnswer:
    place = f"/server/api/core/bitstreams/{work.number}/content"
    links = [f'<{place}>; rel="item"; type="application/pdf"']
    if work.doi:
        links.append(
            f'<https://doi.org/{work.doi.replace("<", "%3C").replace(">", "%3E")}>; rel="cite-as"'
        )
    page = _html(_REPOSITORY, '<ds-app></ds-app><script src="/main.js"></script>')
    return replace(page, headers={**page.headers, "Link": ", ".join(links)})


def _ojs(work: SampleWork) -> SiteAnswer:
    place = f"/article/download/{work.number}/1"
    meta = _meta(work, "citation_", {"citation_pdf_url": place})
    return _html(work.titles[0].content, _links({place: "PDF"}, "obj_galley_link pdf"), meta)


def _schema(work: SampleWork) -> SiteAnswer:
    place = f"/{work.number}/fulltext.pdf"
    said = {
        "@context": "https://schema.org",
        "@type": "ScholarlyArticle",
        "name": work.titles[0].content,
        "author": [{"@type": "Person", "name": str(one)} for one in work.creators],
        "datePublished": work.published.date().isoformat(),
        "publisher": {"@type": "Organization", "name": work.publisher},
        **({"sameAs": f"https://doi.org/{work.doi}"} if work.doi else {}),
        "encoding": {"@type": "MediaObject", "encodingFormat": PDF, "contentUrl": place},
    }
    text = json.dumps(said, ensure_ascii=False).replace("<", "\\u003c")
    script = f'<script type="application/ld+json">{text}</script>'
    return _html(work.titles[0].content, _links({place: "Download"}), script)


def _list(work: SampleWork) -> SiteAnswer:
    places = {f"/{work.number}/paper.pdf": "paper.pdf", "/files/licence.pdf": "licence.pdf"}
    return _html(f"Index of /{work.number}/", _links(places))


_LAYOUTS: Mapping[PageLayout, Callable[[SampleWork], SiteAnswer]] = {
    PageLayout.EPRINTS: _eprints,
    PageLayout.DSPACE_6: _dspace_6,
    PageLayout.DSPACE_7: _dspace_7,
    PageLayout.OJS: _ojs,
    PageLayout.SCHEMA: _schema,
    PageLayout.LIST: _list,
}


def _calendar(year: str, month: str) -> SiteAnswer:
    """A month, with links to those of the year behind it, and so on without end."""
    first = int(year) * 12 + int(month)  # counted from 1
    months = [
        ((one - 1) // 12 % 10_000, (one - 1) % 12 + 1) for one in range(first + 1, first + 13)
    ]
    places = {f"/events/{year:04}-{month:02}": f"{month}/{year}" for year, month in months}
    return _html("Events", _links(places))


def _meta(work: SampleWork, prefix: str, more: Mapping[str, str] | None = None) -> str:
    """What a page says of its work in ``<meta>``, in the names of EPrints or of Google Scholar."""
    names = ("creators_name", "id_number") if prefix == "eprints." else ("author", "doi")
    said = [(f"{prefix}title", work.titles[0].content)]
    said += [(f"{prefix}{names[0]}", str(one)) for one in work.creators]
    said.append((f"{prefix}date", work.published.date().isoformat()))
    said.append((f"{prefix}publisher", work.publisher))
    if work.doi:
        said.append((f"{prefix}{names[1]}", work.doi))
    said += (more or {}).items()
    return "".join(f'<meta name="{name}" content="{html.escape(text)}">\n' for name, text in said)


def _links(places: Mapping[str, str], style: str = "") -> str:
    items = "".join(
        f'<li><a class="{style}" href="{html.escape(place)}">{html.escape(text)}</a></li>\n'
        for place, text in places.items()
    )
    return f"<ul>\n{items}</ul>"


def _html(title: str, body: str, head: str = "") -> SiteAnswer:
    named = html.escape(title)
    text = (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{named}</title>\n'
        f"{head}</head>\n<body>\n<h1>{named}</h1>\n{body}\n</body>\n</html>\n"
    )
    return SiteAnswer(body=text.encode(), headers={"Content-Type": HTML})


def _text(text: str, media_type: str = _NOTHING) -> SiteAnswer:
    return SiteAnswer(body=text.encode(), headers={"Content-Type": media_type})


def _redirect(place: str) -> SiteAnswer:
    return SiteAnswer("302 Found", headers={"Location": place})
