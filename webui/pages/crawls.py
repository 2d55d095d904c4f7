"""The crawls that were matched with the records' links, and the report of each."""

from dataclasses import dataclass

from crawlmatch.errors import CrawlError
from crawlmatch.kept import Crawl, crawl_named, crawl_names
from crawlmatch.outcomes import LinkOutcome
from crawlmatch.report import CrawlReport, report_on
from webui import urls
from webui.charts.pictures import BarFigures, Picture, Series, bars
from webui.http.downloads import saved_as
from webui.http.errors import NotFound, WebError, as_sentence
from webui.http.messages import Response
from webui.http.streams import CSV
from webui.people.roles import Role
from webui.rendering import View
from webui.site import Call
from webui.words.sentences import sentence
from webui.words.texts import capital
from webui.words.texts import text as _

TITLES = {
    "status": "Status of the final page",
    "media_types": "Media type of the final page",
    "breadcrumbs_of_full_texts": "Paths to full texts",
    "initial_domains": "Domains of the links",
    "initial_domains_without_full_text": "Domains of links without full text",
    "final_domains_of_full_texts": "Domains of the full texts",
    "match_rules": "How addresses were found",
}
"""Table of a report → its heading, an English text of the catalogue; the order of the page."""
COLUMNS = {
    "status": "Status",
    "media_types": "Media type",
    "breadcrumbs_of_full_texts": "Path",
    "match_rules": "Rule",
}
"""Table of a report → the head of its first column, where that is not a domain."""
FACETS = {"status": "link_status", "initial_domains": "link_domain"}
"""Table of a report → the facet of its values."""
DRAWN = 20
"""The newest crawls that the list's chart shows."""


@dataclass(frozen=True, slots=True)
class CrawlLine:
    """A crawl in the list."""

    crawl: Crawl
    full_texts: int

    @property
    def share(self) -> float:
        """Percent of the links that have a full text."""
        return _percent(self.full_texts, self.crawl.receipt.seed_rows)


@dataclass(frozen=True, slots=True)
class OutcomeLine:
    """An outcome in the table of a report; `url` lists the records."""

    outcome: LinkOutcome
    meaning: str
    next_step: str
    count: int
    share: float
    url: str


def show(call: Call) -> View:
    """List the crawls, the newest first."""
    lines, faults = [], []
    for name in crawl_names(call.site.silo.path):
        try:
            crawl = crawl_named(call.site.silo.path, name)
        except CrawlError:
            faults.append(_("The crawl {name} cannot be read; match it again.", name=name))
        else:
            lines.append(_line(crawl))
    lines.sort(key=lambda one: one.crawl.matched, reverse=True)
    data = {
        "lines": lines,
        "faults": faults,
        "history": _history(lines) if len(lines) > 1 else None,
        "may_match": call.user.may(Role.MANAGER),
    }
    twin = {
        "crawls": [
            {
                "name": one.crawl.name,
                "matched": one.crawl.matched,
                "links": one.crawl.receipt.seed_rows,
                "full_texts": one.full_texts,
                "url": urls.crawl(one.crawl.name),
            }
            for one in lines
        ],
        "problems": faults,
    }
    return View("crawls.mako", data, twin, urls.crawls())


def show_one(call: Call) -> View:
    """Show the report of a crawl: its outcomes and the figures of its links.

    Raises:
        NotFound: There is no such crawl.
        WebError: Its figures cannot be read.
    """
    report = _report(call)
    total = report.seed_rows
    found = [
        OutcomeLine(
            one,
            capital(_(one.meaning)),
            capital(sentence(one.next_step_in(report.name))),
            count,
            _percent(count, total),
            urls.search([("link_outcome", str(one))]),
        )
        for one, count in report.outcomes.items()
        if count
    ]
    newest = max(_matched(call), default="")
    data = {
        "report": report,
        "dedupe_share": _percent(report.held_before, report.full_texts),
        "outcomes": found,
        "pictures": {"outcomes": _of_outcomes(found)} | _pictures(report),
        "is_newest": report.matched >= newest,
    }
    return View("crawl.mako", data, report.to_json(), urls.crawl(report.name))


def as_csv(call: Call) -> Response:
    """Return the figures of a crawl as CSV: table, value, count."""
    report = _report(call)
    headers = saved_as(call.site.name, "crawl.csv", report.name)
    return Response(200, b"\xef\xbb\xbf" + report.to_csv().encode(), CSV, headers)


def _report(call: Call) -> CrawlReport:
    path, name = call.site.silo.path, call.params["name"]
    if name not in crawl_names(path):
        raise NotFound("There is no crawl of this name.")
    try:
        return report_on(crawl_named(path, name))
    except CrawlError as error:
        told = str(error).replace(path, call.site.name)
        raise WebError(as_sentence(told)) from error


def _matched(call: Call) -> list[str]:
    """When each readable crawl was matched."""
    found = []
    for name in crawl_names(call.site.silo.path):
        try:
            found.append(crawl_named(call.site.silo.path, name).matched)
        except CrawlError:
            continue
    return found


def _line(crawl: Crawl) -> CrawlLine:
    counts = crawl.receipt.outcomes
    return CrawlLine(
        crawl, counts.get(LinkOutcome.FULLTEXT, 0) + counts.get(LinkOutcome.DUPLICATE, 0)
    )


def _history(lines: list[CrawlLine]) -> Picture:
    """The share of links with full text, the newest crawl first."""
    return bars(
        _("Links with full text"),
        _("Crawl"),
        Series(_("Links")),
        [
            BarFigures(one.crawl.name, (one.share,), urls.crawl(one.crawl.name))
            for one in lines[:DRAWN]
        ],
        top=100,
        unit="%",
    )


def _of_outcomes(found: list[OutcomeLine]) -> Picture:
    data = [BarFigures(one.meaning, (one.count,), one.url) for one in found]
    return bars(_("Outcomes of the links"), _("Outcome"), Series(_("Links")), data)


def _pictures(report: CrawlReport) -> dict[str, Picture]:
    """The tables that have rows, drawn."""
    return {
        name: bars(
            _(title),
            _(COLUMNS.get(name, "Domain")),
            Series(_("Links")),
            [
                BarFigures(value or _("(none)"), (count,), _url_of(name, value))
                for value, count in report.tables[name]
            ],
        )
        for name, title in TITLES.items()
        if report.tables[name]
    }


def _url_of(table: str, value: str) -> str:
    """The records with a value of a table; "" if no facet has it."""
    return urls.search([(FACETS[table], value)]) if value and table in FACETS else ""


def _percent(part: int, whole: int) -> float:
    return part * 1000 // whole / 10 if whole else 0.0
