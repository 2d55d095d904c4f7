"""The selection: the records that a user ticked in lists, and the actions on them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice

from recordsilo.records.manifest import STATES
from webui import urls
from webui.http.errors import BadRequest
from webui.http.messages import Response, redirect
from webui.people.authentication import own_path
from webui.record.rows import row_views, rows_json
from webui.rendering import View, json_answer
from webui.search.chosen_records import selected
from webui.search.selections import (
    MOST,
    Selected,
    Selections,
    selected_in,
    size_said,
    ticks,
)
from webui.site import Call

PAGE = 100
Urls = Callable[[str], str]
DOWNLOADS: Mapping[str, Urls] = {
    "csv": lambda query: urls.with_search(urls.search(action="results.csv"), query),
    "files": lambda query: urls.with_search(urls.search(action="files.zip"), query),
    "bags": lambda query: urls.with_search(urls.search(action="bags.zip"), query),
}
CHANGES: Mapping[str, Urls] = {
    "batch": urls.bulk,
    "sheet": lambda query: urls.with_search(urls.sheet(), query),
    "attach": lambda query: urls.with_search(urls.attach(), query),
}


def show(call: Call) -> View:
    """Show the selected records."""
    start = call.request.start
    kept = Selections(call.site.silo.path)
    named = kept.identifiers(call.user.name, start, PAGE + 1)
    found = call.site.silo.rows(named[:PAGE])
    if gone := [one for one in named[:PAGE] if one not in found]:  # deleted since
        kept.change(call.user.name, remove=gone)
    rows = row_views(call.site, found.values())
    shown = ticks(call, (line.row.identifier for line in rows))
    following = urls.selection(start=start + PAGE) if named[PAGE:] else ""
    url = urls.selection(start=start or None)
    data = {
        "rows": rows,
        "selection": shown,
        "missing": [one for one in named[:PAGE] if one not in shown.picked],
        "url": url,
        "following": following,
        "first": urls.selection() if start else "",
    }

    def twin() -> Mapping[str, object]:
        return _told(shown.selected) | {
            "records": list(rows_json(call.site, rows)),
            "next": urls.twin(following) if following else None,
        }

    return View("selection_page.mako", data, twin, url)


def change(call: Call) -> Response:
    """Store the ticks (``row-N``, ``had-N``, ``tick-N``), then handle the button.

    Buttons: ``keep`` the ticks, ``page`` or ``all`` to select more, ``clear``; the others
    redirect to an action.
    """
    kept, person = Selections(call.site.silo.path), call.user.name
    do, _dash, what = call.field("do").partition("-")
    if do == "clear":
        return _led(call, kept.clear(person), call.field("back"))
    add, remove = _ticked(call)
    if do == "all":
        add += _all_found(call)
    elif do == "page":
        rows = (text for name, text in call.form.fields.items() if name.startswith("row-"))
        add = [one for one in rows if one in call.site.silo]
    now = kept.change(person, add, remove)
    if do == "next":
        return _led(call, now, call.field("next"))
    if do in {"", "keep", "page", "all"}:
        return _led(call, now, call.field("back"))
    return redirect(_address(do, what, now))


def _ticked(call: Call) -> tuple[list[str], list[str]]:
    """The records that were ticked, and those that were unticked."""
    fields = call.form.fields
    add, remove = [], []
    for name, identifier in fields.items():
        begin, _dash, number = name.partition("-")
        if begin != "row":
            continue
        is_ticked, was_ticked = f"tick-{number}" in fields, f"had-{number}" in fields
        if is_ticked and not was_ticked:
            add.append(call.site.silo.resolve(identifier))
        elif was_ticked and not is_ticked:
            remove.append(identifier)
    return add, remove


def _all_found(call: Call) -> list[str]:
    """All records of a search or a list (``search``); of a list, those that exist."""
    silo, found = call.site.silo, selected(call, call.field("search")).select
    if found.identifiers:
        there = tuple(one for one in found.identifiers if one in silo)
        if not there:
            return []
        found = replace(found, identifiers=there)
    return [*islice(found.iterate(silo), MOST + 1)]


def _address(do: str, what: str, now: Selected) -> str:
    """The address of an action on the selection."""
    if not now.count:
        raise BadRequest("No record is selected. Tick records in a list first.")
    if do in DOWNLOADS:
        return DOWNLOADS[do](now.search)
    if do in CHANGES:
        return CHANGES[do](now.search)
    if do == "state" and what in STATES:
        return f"{urls.bulk(now.search)}&state-to={what}"
    if do == "export":
        form, _equals, place = what.partition("=")
        return urls.export(form, now.search, place)
    known = ", ".join(("keep", "page", "all", "clear", *DOWNLOADS, *CHANGES, "export-FORM"))
    raise BadRequest("Unknown action; choose one of {known} (field do).", known=known)


def _led(call: Call, now: Selected, back: str) -> Response:
    if call.wants_json:
        return json_answer(_told(now, selected_in(call, call.field("among"))))
    return redirect(own_path(back) if back else urls.selection())


def _told(now: Selected, here: int | None = None) -> dict[str, object]:
    """A selection as JSON values, with its token for addresses."""
    said = size_said(now.count, here)
    return {"count": now.count, "here": here, "said": said, "search": now.search}
