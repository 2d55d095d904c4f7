"""Pages out of the archive beside what a browser saw of them before: a list, and each."""

from collections.abc import Iterator
from dataclasses import asdict

from recordsilo.panels import Cell, PanelView, Table
from silocrawl.cdxj import minute_of
from silocrawl.comparisons import (
    PICTURES,
    Comparison,
    comparison_named,
    comparisons,
    picture_of,
)
from webui.crawling import opening
from webui.crawling.opening import png, told
from webui.http.errors import NotFound
from webui.http.messages import Response
from webui.record.panels import ShownPanel
from webui.rendering import View
from webui.site import Call
from webui.words.texts import counted, percent
from webui.words.texts import text as _

LISTED = 50
NEARLY = 0.05
"""Up to which share what differs is nearly the same."""


def show(call: Call) -> View:
    """List the pages that were compared, those that miss most first."""
    start = call.request.start
    found, damaged = comparisons(call.site.path)
    shown, end = found[start : start + LISTED], start + LISTED
    columns = (_("Page"), _("Captured"), _("Picture"), _("Text"), _("Requests"))
    note = ""
    if damaged:
        note = counted(
            "{n} comparison cannot be read; compare the page again.",
            "{n} comparisons cannot be read; compare the pages again.",
            len(damaged),
        )
    table = Table(columns, tuple(map(_row, shown))) if shown else None
    following = opening.comparisons(start=end) if found[end:] else ""
    data = {
        "shown": ShownPanel.of("page", _("Compared pages"), PanelView(note, table=table)),
        "target": _("Crawl targets"),
        "back_url": opening.targets(),
        "next_url": following,
    }
    twin = {
        "comparisons": [_object(one) for one in shown],
        "damaged": damaged,
        "next": following or None,
    }
    template = "crawl_list.mako" if found or damaged else "crawl_comparisons_none.mako"
    return View(template, data, twin, opening.comparisons(start=start or None))


def _row(one: Comparison) -> tuple[Cell, ...]:
    page = Cell(one.url, f"/crawling/comparisons/{one.name}")
    return page, *(Cell(said) for said in (minute_of(one.captured), *_said(one)))


def _said(one: Comparison) -> tuple[str, str, str]:
    """Its three numbers, each with a word."""
    missing = counted("{n} missing in the archive", "{n} missing in the archive", len(one.failed))
    return _share(one.tiles), _share(one.text), missing if one.failed else _("none missing")


def _share(share: float) -> str:
    if not share:
        return _("the same")
    word = _("nearly the same") if share <= NEARLY else _("different")
    return _("{word} ({share} differs)", word=word, share=percent(round(100 * share, 1)))


def _object(one: Comparison) -> dict[str, object]:
    return {"name": one.name, **asdict(one)}


def show_one(call: Call) -> View:
    """Show a comparison: its numbers, both pictures, and the requests missing in the archive."""
    name = call.params["name"]
    with told(call):
        one = comparison_named(call.site.path, name)
    if one is None:
        raise NotFound("There is no comparison of this name.")
    missing = Table((_("Address"),), tuple((Cell(url, url),) for url in one.failed))
    shown = ShownPanel.of("missing", _("Missing only in the archive"), PanelView(table=missing))
    data = {
        "one": one,
        "captured": minute_of(one.captured),
        "numbers": tuple(zip((_("Picture"), _("Text"), _("Requests")), _said(one), strict=True)),
        "missing": shown if one.failed else None,
        "pictures": tuple(_pictures(call.site.path, name)),
        "list_url": opening.comparisons(),
    }
    return View("crawl_comparison.mako", data, _object(one), opening.comparison(name))


def _pictures(silo_path: str, name: str) -> Iterator[tuple[str, str, str, str]]:
    """Of each picture its name, heading and description, and its address if there is one."""
    headings = _("When it was crawled"), _("Out of the archive")
    told = _("The page when it was crawled"), _("The page out of the archive")
    for which, heading, text in zip(PICTURES, headings, told, strict=True):
        has_one = bool(picture_of(silo_path, name, which))
        yield which, heading, text, opening.comparison(name, f"/{which}") if has_one else ""


def picture(call: Call) -> Response:
    """Send what the browser showed: ``crawled.png``, or ``archived.png``."""
    name, which = call.params["name"], call.params["picture"]
    return png(picture_of(call.site.path, name, which), "There is no such picture.")
