"""Saved searches and pasted lists of identifiers; each has an address."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from recordsilo.disk.identifier import check_identifier
from recordsilo.errors import IdentifierError, RecordNotFound
from recordsilo.selection import Selection, selection_table
from silocuration.collections import drop_pictures
from silocuration.errors import CurationError, RuleRefused
from silocuration.searches import (
    SavedSearch,
    SearchNotFound,
    SearchUnreadable,
    delete_search,
    load_search,
    name_of,
    replace_search,
    save_search,
    search_names,
)
from webui import urls
from webui.activity import note
from webui.http.errors import BadRequest, ChangeConflict, NotFound, WebError, told_as
from webui.http.messages import Response, redirect, whole_number
from webui.questions import Question, QuestionField, question_view
from webui.record.rows import RowView, row_views, rows_json
from webui.rendering import View, changed_answer, json_answer
from webui.search.chosen_records import selected
from webui.search.request import SearchRequest, page_size, pairs_of_query
from webui.search.selections import ticks
from webui.site import Call, Site
from webui.words.texts import numeral
from webui.words.texts import text as _

LIST_SIZE = 100
MOST_PASTED = 10_000
"""Identifiers in a pasted list: each that no record has takes about a millisecond."""
_REFUSALS = (
    (SearchNotFound, NotFound),
    (RuleRefused, BadRequest),
    (SearchUnreadable, WebError),
)


@dataclass(frozen=True, slots=True)
class SearchLine:
    """A saved search in the list; `fault` says why it cannot be read."""

    name: str
    url: str
    search: SavedSearch | None
    records: int
    fault: str = ""


def show(call: Call) -> View:
    """Show the saved searches, and a form for a list of identifiers."""
    lines = [_line(call.site, name) for name in search_names(call.site.silo.path)]
    twin = {"searches": [_line_json(line) for line in lines]}
    return View("searches.mako", {"lines": lines}, twin, urls.searches())


def _line(site: Site, name: str) -> SearchLine:
    try:
        search = load_search(site.silo.path, name)
    except CurationError as error:
        return SearchLine(name, urls.saved_search(name), None, 0, str(error))
    return SearchLine(name, urls.saved_search(name), search, len(search.select.identifiers))


def _line_json(line: SearchLine) -> dict[str, Any]:
    if line.search is None:
        return {"name": line.name, "url": line.url, "fault": line.fault}
    return _search_json(line.search)


def _search_json(search: SavedSearch) -> dict[str, Any]:
    return {
        "name": search.name,
        "url": urls.saved_search(search.name),
        "title": search.title,
        "agent": search.agent,
        "date": search.date,
        "select": selection_table(search.select),
    }


def create(call: Call) -> View | Response:
    """Save a search (field ``search``: the query of its address) or a list of identifiers.

    A name that another saved search has is refused, unless ``replace`` is given: a person is
    asked. A collection keeps its text and picture.
    """
    now = datetime.now(UTC)
    select = _selection(call)
    given = call.field("title")
    title = given or _default_title(select, now)
    with told_as(*_REFUSALS):
        select.check(call.site.silo)
        search = SavedSearch(
            name_of(title), title, select, call.user.name, f"{now:%Y-%m-%dT%H:%M:%SZ}"
        )
        is_taken = bool(given) and search.name in search_names(call.site.silo.path)
        if is_taken and not call.field("replace"):
            return _ask_replace(call, title)
        before, _title = _kept(call.site, search.name) if is_taken else (None, "")
        name = _replaced(call, search) if is_taken else save_search(call.site.silo.path, search)
    note(call, "keep search", (name, before, _asked(select)), message=title)
    kept = load_search(call.site.silo.path, name)
    done = {} if call.wants_json or select.identifiers else {"done": "saved"}
    return changed_answer(call, urls.saved_search(name, **done), _search_json(kept))


def _ask_replace(call: Call, title: str) -> View:
    said = ChangeConflict("There is already a saved search “{title}”.", title=title)
    if call.wants_json:
        raise said
    kept = {name: call.field(name) for name in ("search", "identifiers")} | {"replace": "yes"}
    back = urls.with_search(urls.search(), kept["search"]) if kept["search"] else urls.searches()
    question = Question(
        title=_("Replace this saved search"),
        text=said.message + " " + _("Replace it, or give yours another name."),
        action=urls.searches(),
        submit=_("Replace"),
        fields=(
            QuestionField("title", "", "hidden", title),
            *(QuestionField(name, "", "hidden", value) for name, value in kept.items() if value),
        ),
        identifier=title,
        revision=0,
        back=back,
    )
    view = question_view(question, urls.searches())
    return replace(view, status=HTTPStatus.CONFLICT)


def _replaced(call: Call, search: SavedSearch) -> str:
    try:
        collection = load_search(call.site.silo.path, search.name).collection
    except SearchUnreadable:
        collection = None
    replace_search(call.site.silo.path, replace(search, collection=collection))
    return search.name


def show_pasted(call: Call) -> View:
    """Show the records of a list of identifiers (field ``identifiers``), from ``start`` on.

    Nothing is saved; the page has a button that does. Only those on the page are looked up.
    """
    given = _pasted(call)
    if not given:
        raise BadRequest(_("Enter search words, filters or a list of identifiers."))
    start = whole_number(call.field("start") or "0", 0, len(given))
    if start is None:
        raise BadRequest("The position in the list (start) must be a number.")
    before, end = given[:start], start + LIST_SIZE
    listed = (*before, *_resolved(call.site, given[start:end]))
    next_start = len(set(listed))
    named = tuple(dict.fromkeys((*listed, *given[end:])))
    rows, missing = _named(call.site, named[start:next_start])
    data = {
        "identifiers": named,
        "rows": rows,
        "missing": missing,
        "next_start": next_start if next_start < len(named) else 0,
    }
    twin = {
        "identifiers": list(named),
        "records": list(rows_json(call.site, rows)),
        "missing": missing,
    }
    return View("pasted.mako", data, twin, urls.searches())


def _selection(call: Call) -> Selection:
    asked = pairs_of_query(call.field("search"))
    if "selection" in dict(asked):
        return selected(call, call.field("search")).select
    request = SearchRequest.of(asked)
    resolved = dict.fromkeys(_resolved(call.site, _pasted(call)))
    named = tuple(filter(_is_identifier, resolved))
    if not named and request.is_everything:
        raise BadRequest(_("Enter search words, filters or a list of identifiers."))
    found = request.selection
    return Selection(found.query, found.filters, named)


def _pasted(call: Call) -> tuple[str, ...]:
    """The identifiers in the form, in their order, each once, as they were written."""
    given = (one.strip(",;\"'<>") or one for one in call.field("identifiers").split())
    found = tuple(dict.fromkeys(given))
    if len(found) > MOST_PASTED:
        raise BadRequest(
            "A pasted list has at most {most} identifiers; divide it into several.",
            most=numeral(MOST_PASTED),
        ).at("identifiers")
    return found


def _resolved(site: Site, given: Iterable[str]) -> Iterator[str]:
    """The full identifiers of records, each once; a text without such a record as it is."""
    for text in dict.fromkeys(given):
        try:
            yield site.identifier(text)
        except (RecordNotFound, IdentifierError):
            yield text


def _default_title(select: Selection, now: datetime) -> str:
    what = _("Identifiers") if select.identifiers else select.query or _("Search")
    return f"{what} {now:%Y-%m-%d %H%M}"


def show_one(call: Call) -> View | Response:
    """Show the results of a saved search: redirect to the search, or list the named records."""
    search = _load(call)
    if not search.select.identifiers and not call.wants_json:
        done = [one for one in call.request.pairs if one == ("done", "saved")]
        request = SearchRequest.of_selection(search.select)
        return redirect(request.url(("saved", search.name), *done))
    start = min(call.request.start, len(search.select.identifiers))
    limit = page_size(call.request.query.get("limit", ""), LIST_SIZE)
    rows, missing = _named(call.site, search.select.identifiers[start : start + limit])
    has_next = start + limit < len(search.select.identifiers)
    size = call.request.query.get("limit", "")
    place = urls.saved_search(search.name, start=start + limit, limit=size)
    next_url = place if has_next else ""
    data = {
        "search": search,
        "rows": rows,
        "missing": missing,
        "total": _total(call.site, search.select.identifiers, len(rows), len(missing)),
        "next_url": next_url,
        "selection": ticks(call, (line.row.identifier for line in rows)),
        "url": urls.saved_search(search.name, start=start or None, limit=size),
    }
    twin = _search_json(search) | {
        "records": list(rows_json(call.site, rows)),
        "missing": missing,
        "next": urls.twin(next_url) if next_url else None,
    }
    return View("selection.mako", data, twin, urls.saved_search(search.name))


def _named(site: Site, identifiers: Sequence[str]) -> tuple[tuple[RowView, ...], list[str]]:
    """The records of some identifiers in order, and the identifiers without a record."""
    rows = site.silo.rows(filter(_is_identifier, identifiers))
    return row_views(site, rows.values()), [one for one in identifiers if one not in rows]


def _is_identifier(text: str) -> bool:
    try:
        return bool(check_identifier(text))
    except IdentifierError:
        return False


def _total(site: Site, identifiers: Sequence[str], rows: int, missing: int) -> int:
    """How many of the listed records exist; looked up unless one page shows them all."""
    if rows + missing == len(identifiers):
        return rows
    return sum(one in site.silo for one in identifiers)


def delete(call: Call) -> Response:
    """Delete a saved search; the records stay as they are."""
    name = call.params["name"]
    with told_as(*_REFUSALS):
        before, title = _kept(call.site, name)
    with told_as((SearchNotFound, NotFound), (SearchUnreadable, ChangeConflict)):
        delete_search(call.site.silo.path, name)
    drop_pictures(call.site.silo.path, name)
    note(call, "delete search", (name, before, None), message=title)
    if call.wants_json:
        return json_answer({"deleted": name})
    return redirect(urls.searches())


def _asked(select: Selection) -> str:
    """The query of a search, for the activity log."""
    return json.dumps(selection_table(select), ensure_ascii=False)


def _kept(site: Site, name: str) -> tuple[str | None, str]:
    """The query and the title of a saved search, for the log.

    None and an empty title if its file cannot be read; it may be deleted all the same.
    """
    try:
        search = load_search(site.silo.path, name)
    except SearchUnreadable:
        return None, ""
    return _asked(search.select), search.title


def _load(call: Call) -> SavedSearch:
    with told_as(*_REFUSALS):
        return load_search(call.site.silo.path, call.params["name"])
