"""The seeds of a target, and what was not fetched in a launch, page by page."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from crawlmatch.outcomes import LinkOutcome
from crawlmatch.record_links import links_of_records
from recordsilo.disk.identifier import url_segment
from recordsilo.errors import RecordNotFound
from recordsilo.index import PageRequest
from recordsilo.panels import Cell, PanelView, Table
from recordsilo.selection import Selection
from silocrawl.history import REASONS, STATUSES, FailedAddress, failures_in, outcomes_of_seeds
from silocrawl.launching import launch_name
from silocrawl.messages import moment_of_launch
from silocrawl.targets import CrawlTarget
from webui.crawling import opening
from webui.crawling.opening import target_of, told
from webui.http.errors import BadRequest
from webui.http.messages import whole_number
from webui.record.panels import ShownPanel
from webui.rendering import View
from webui.site import Call
from webui.words.dates import for_people
from webui.words.texts import capital
from webui.words.texts import text as _

RECORDS, FAILURES = 50, 100
"""On a page: records whose links are seeds, and addresses that were not fetched."""
HEADINGS = {"seeds": "Seeds", "failures": "Failed and skipped"}
MEANINGS = (*REASONS.values(), *STATUSES.values())
"""English texts of the catalogue."""


def show_seeds(call: Call) -> View:
    """List the seeds of a target: the links of its records, with their outcomes."""
    one, after = target_of(call), call.request.query.get("after", "")
    rows: tuple[tuple[Cell, ...], ...] = ((Cell(one.url, one.url), Cell(""), Cell("")),)
    following = ""
    if not one.url:
        identifiers, following = _page(call, one, after)
        rows = _seeds(call, identifiers)
    table = Table((_("Link"), _("Record"), _("Outcome")), rows)
    note = "" if rows else _("No links in these records.")
    here, then = {"after": after}, {"after": following} if following else {}
    return _list(one, "seeds", PanelView(note, table=table), here, then)


def _page(call: Call, one: CrawlTarget, after: str) -> tuple[list[str], str]:
    """Some records of a target, and the cursor of the next ones; empty at the end."""
    select, silo = one.select, call.site.silo
    if not select.identifiers:
        page = PageRequest(limit=RECORDS, after=after or None, sort="identifier")
        found = silo.search(select.query, select.filters, page=page)
        return [row.identifier for row in found.rows], found.next_page or ""
    start = whole_number(after or "0", 0, len(select.identifiers))
    if start is None:
        raise BadRequest("Unknown place in the list (after).")
    end = start + RECORDS
    some = []
    for name in select.identifiers[start:end]:
        with suppress(RecordNotFound):
            some.append(silo.resolve(name))
    return some, str(end) if end < len(select.identifiers) else ""


def _seeds(call: Call, identifiers: list[str]) -> tuple[tuple[Cell, ...], ...]:
    known = outcomes_of_seeds(call.site.path, identifiers)
    select = Selection(identifiers=tuple(identifiers))
    links = links_of_records(call.site.silo, select) if identifiers else ()
    return tuple(
        (
            Cell(link.url, link.url),
            Cell(link.identifier, f"/records/{url_segment(link.identifier)}"),
            Cell(_said(known.get((link.identifier, link.url)))),
        )
        for link in links
    )


def _said(outcome: LinkOutcome | None) -> str:
    return capital(_(outcome.meaning)) if outcome else _("Not known yet")


def show_failures(call: Call) -> View:
    """List what was not fetched in a launch of a target, or not completely, with the reasons."""
    one, query = target_of(call), call.request.query
    place = whole_number(query.get("from", "") or "0", 0, 10**15)
    if place is None:
        raise BadRequest("Unknown place in the list (from).")
    launch = launch_name(one.name, _moment(query.get("launch", "")))
    with told(call):
        found = failures_in(call.site.path, launch, place, FAILURES)
    columns = (_("Address"), _("Reason"), _("Found on"), _("When"))
    table = Table(columns, tuple(map(_row, found.failures)))
    own, following = {"launch": query["launch"]}, found.following
    note = "" if found.failures else _("None in this part of the log.") if following else _("None.")
    here, then = own | {"from": place or ""}, own | {"from": following} if following else {}
    content = PanelView(note, table=table)
    return _list(one, "failures", content, here, then)


def _list(
    one: CrawlTarget,
    part: str,
    content: PanelView,
    here: Mapping[str, object],
    then: Mapping[str, object],
) -> View:
    """A page of a list; `then` are the fields of the next one, without any at the end."""
    table = content.table or Table((), ())
    shown = content if table.rows else replace(content, table=None)
    following = opening.target(one.name, f"/{part}", **then) if then else ""
    data = {
        "shown": ShownPanel.of("page", _(HEADINGS[part]), shown),
        "target": one.title or one.name,
        "back_url": opening.target(one.name),
        "next_url": following,
    }
    rows = [[cell.text for cell in row] for row in table.rows]
    twin = {"columns": list(table.columns), "rows": rows, "next": following or None}
    return View("crawl_list.mako", data, twin, opening.target(one.name, f"/{part}", **here))


def _moment(text: str) -> datetime:
    try:
        return moment_of_launch(text)
    except ValueError:
        said = "Name a launch by its time, such as 20261201T020000Z (launch)."
        raise BadRequest(said) from None


def _row(one: FailedAddress) -> tuple[Cell, ...]:
    number = f" ({one.status})" if not 200 <= one.status < 400 else ""
    reason = f"{_(one.meaning)}{number}" if one.meaning else str(one.status)
    is_said = one.detail in one.meaning
    said = reason if is_said else f"{reason}: {one.detail}"
    when = for_people(one.when[:16])
    return Cell(one.url, one.url), Cell(said), Cell(one.via, one.via), Cell(when)
