"""Records one after another: the form of each that a search finds, *Save and next*, *Skip*.

A queue goes by identifier, from the one that was shown: a record that is corrected leaves the
results, and the next one is found all the same. A record without a working copy gets one when it
is saved, not when it is looked at.
"""

import time

from recordsilo import HarvestedRecord
from recordsilo.errors import (
    FileNotInVersion,
    ManifestUnreadable,
    RevisionConflict,
    VersionExists,
)
from recordsilo.index import PageRequest, cursor_behind
from silocuration.errors import NoFields
from webui import urls
from webui.editing.changes import changed
from webui.editing.curator import WORKING_COPY, Curator
from webui.editing.description_form import OpenedDescription, form_view, submitted
from webui.editing.edit_form import EditForm
from webui.http.errors import ChangeConflict, as_web_error
from webui.http.messages import Response, parse_pairs, redirect
from webui.queues import ROUND, Before, QueuePlace, Round
from webui.rendering import View
from webui.search.request import SearchRequest
from webui.site import Call
from webui.words.texts import text as _

_OWN = (ROUND, "behind", "last")
_BY = "identifier"


def lead(call: Call) -> View | Response:
    """Lead to the next record that a search finds: the first one, or the next ``behind`` one.

    At the end, show how many were done.

    Raises:
        BadRequest, SearchError: The search is invalid.
    """
    query = call.request.query
    request = SearchRequest.of(call.request.pairs, also=_OWN)
    behind = query.get("behind", "")
    after = cursor_behind(behind) if behind else None
    page = PageRequest(limit=1, after=after, sort=_BY)
    found = call.site.silo.search(request.q, request.filters, page=page)
    now = time.time()
    round_ = Round.of(query.get(ROUND, ""), now)
    if found.rows:
        fields = {"from": _search(request), ROUND: round_.field, "last": query.get("last", "")}
        return redirect(urls.queue_record(found.rows[0].identifier, **fields))
    first = urls.queue(request.asked) if found.total else ""
    data = {
        "said": round_.told(now) if round_.done or round_.passed else "",
        "before": _before(call, request, query.get("last", "")),
        "left": found.total,
        "first": first,
        "back": request.url(),
    }
    twin = {"left": found.total, "done": round_.done, "skipped": round_.passed, "next": None}
    return View("queue_end.mako", data, twin, urls.queue(request.asked))


def show(call: Call) -> View | Response:
    """Show the form of a record of the queue; one that has no form is shown with the reason."""
    identifier = call.identifier
    request = _request(call.request.query.get("from", ""))
    place = _place(call, request, identifier, call.request.query.get(ROUND, ""))
    try:
        opened = _opened(call, call.record, place)
        fields = opened.fields()
    except (NoFields, ChangeConflict, FileNotInVersion, ManifestUnreadable) as error:
        return _without_form(call, identifier, place, as_web_error(error, call.site.path).message)
    form = EditForm(fields, fields)
    found = opened.findings(form)
    for code in _codes(request):
        form = form if form.fresh is not None else form.at(found, code)
    return form_view(call, opened, form)


def save(call: Call) -> View | Response:
    """Store the form of a record, and lead to the next one; a form without changes is skipped.

    Of two people in the same queue, the second one sees what the first one has changed, before
    anything is stored.
    """
    try:
        return _saved(call, call.record)
    except (RevisionConflict, VersionExists):  # since it was read here: look again, and merge
        if call.wants_json:
            raise
        return _saved(call, call.site.silo[call.record.item_id])


def _saved(call: Call, record: HarvestedRecord) -> View | Response:
    request = _request(call.field("from"))
    place = _place(call, request, record.item_id, call.field(ROUND))
    opened = _opened(call, record, place)
    wanted = submitted(call, opened)
    if isinstance(wanted, View):
        return wanted
    round_ = place.round.skipped()
    if wanted.is_change:
        curator, version, revision = Curator(call), opened.version, record.revision
        if not record.version_is_curated(version):
            curator.clone(version, WORKING_COPY)
            version, revision = WORKING_COPY, curator.record.revision
        curator.write(version, opened.path, wanted.content, wanted.state, revision)
        round_ = place.round.decided()
    last = record.item_id if wanted.is_change else ""
    following = urls.queue(request.asked, behind=record.item_id, round=round_.field, last=last)
    return changed(call, record, following)


def _request(query: str) -> SearchRequest:
    return SearchRequest.of(parse_pairs(query))


def _search(request: SearchRequest) -> str:
    return urls.query(request.asked)


def _codes(request: SearchRequest) -> tuple[str, ...]:
    """The findings that the search asks for."""
    return tuple(value for name, value in request.chosen if name == "finding")


def _opened(call: Call, record: HarvestedRecord, place: QueuePlace) -> OpenedDescription:
    return OpenedDescription.of(
        call, record, _edited(record), urls.queue_record(record.item_id), place
    )


def _edited(record: HarvestedRecord) -> str:
    """The version to edit: the curated one, if there is one; else the current one, to be copied."""
    current = str(record.currentversion)
    if record.version_is_curated(current) or WORKING_COPY not in record.versions:
        return current
    return WORKING_COPY


def _place(call: Call, request: SearchRequest, identifier: str, written: str) -> QueuePlace:
    now = time.time()
    round_ = Round.of(written, now)
    skip = urls.queue(request.asked, behind=identifier, round=round_.skipped().field)
    around = call.site.silo.around(identifier, request.q, request.filters, _BY)
    left = around.total - around.place + 1 if around else None
    before = _before(call, request, call.request.query.get("last", ""))
    return QueuePlace.at(round_, now, back=request.url(), skip=skip, left=left, before=before)


def _before(call: Call, request: SearchRequest, identifier: str) -> Before | None:
    """The record that was saved last, and whether the search finds it still."""
    row = call.site.silo.rows([identifier]).get(identifier) if identifier else None
    if row is None:
        return None
    url = urls.queue_record(identifier, **{"from": _search(request)})
    found = call.site.silo.around(identifier, request.q, request.filters, _BY)
    remains = found is not None and bool(_codes(request))
    said = _("Saved, but it still has the finding:") if remains else _("Saved:")
    return Before(said, row.title or identifier, url, remains)


def _without_form(call: Call, identifier: str, place: QueuePlace, reason: str) -> View:
    row = call.site.silo.rows([identifier]).get(identifier)
    data = {
        "identifier": identifier,
        "heading": (row.title if row else "") or identifier,
        "reason": reason,
        "queue": place,
    }
    twin = {"identifier": identifier, "reason": reason, "skip": urls.twin(place.skip)}
    return View("queue_record.mako", data, twin, urls.queue_record(identifier))
