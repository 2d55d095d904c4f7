"""The form for the description of a curated version, and the making of working copies."""

from collections.abc import Sequence
from typing import Any

from recordsilo import HarvestedRecord
from recordsilo.errors import RevisionConflict
from recordsilo.formats import Description, describe
from recordsilo.formats.quality import CODES, QualityFinding, findings
from recordsilo.index import PageRequest, SearchFilters
from recordsilo.records.manifest import STATES
from silocuration.editing.fields import Fields, read_fields, write_fields
from silocuration.errors import NoFields
from webui import urls
from webui.editing.changes import changed
from webui.editing.curator import WORKING_COPY, Curator, require_curated
from webui.editing.edit_form import SAVE, EditForm, about
from webui.editing.edited_file import STALE, chosen_state, edited_path, read_small
from webui.http.errors import BadRequest, Conflict, PreconditionFailed
from webui.http.messages import Response, redirect, revision_tag
from webui.rendering import View
from webui.site import Call, Site
from webui.words.field_labels import field_label
from webui.words.texts import text as _

HINTED = ("creator", "subject", "type", "publisher", "language")
"""Fields whose values are in the index."""
HINTS = 100
CHECKED = 40
"""Maximum number of values of a form that are looked up in other records."""


# --------------------------------------------------------------------------- the copy


def curate(call: Call) -> Response:
    """Open the working copy of a record; if there is none, clone the current version.

    The field ``at`` is the code of a finding: the form opens at the value concerned.
    ``from`` is the query of the search that the record was reached from.
    """
    record = call.record
    name = _open_copy(record)
    at = {"at": call.field("at"), "from": call.field("from")}
    if name is not None:
        return changed(call, record, urls.version(record.item_id, name, "edit", **at))
    curator = Curator(call)
    curator.clone(record.currentversion, WORKING_COPY)
    location = urls.version(record.item_id, WORKING_COPY, "edit", done="cloned", **at)
    return changed(call, curator.record, location, 201)


def _open_copy(record: HarvestedRecord) -> str | None:
    if record.version_is_curated(record.currentversion):
        return str(record.currentversion)
    return WORKING_COPY if WORKING_COPY in record.versions else None


# --------------------------------------------------------------------------- the form


def show(call: Call) -> View | Response:
    """Show the form; a file without flat fields is edited as XML."""
    record = call.record
    require_curated(record, call.version)
    path = edited_path(call, record)
    try:
        fields = _fields(record, call.version, path)
    except NoFields:
        return redirect(urls.version(record.item_id, call.version, "edit-xml", path=path))
    form = EditForm(fields, fields)
    found = _findings(record, call.version, path, form)
    return _view(call, record, path, form.at(found, call.request.query.get("at", "")))


def save(call: Call) -> View | Response:
    """Store the form, or handle another of its buttons.

    If the record has changed in the meantime, the changes are merged and shown beside the
    form's values, and nothing is stored until they are reviewed; a program gets 412. The only
    title is removed only with ``anyway``.
    """
    try:
        return _saved(call, call.record)
    except RevisionConflict:  # changed after it was read here: look again, and merge
        if call.wants_json:
            raise
        return _saved(call, call.site.silo[call.record.item_id])


def _saved(call: Call, record: HarvestedRecord) -> View | Response:
    require_curated(record, call.version)
    path = edited_path(call, record)
    form = EditForm.of(call.form.fields)
    action = call.field("do") or SAVE
    if action != SAVE:
        return _view(call, record, path, form.after(action, call.form.fields))
    now = _now(record, call.version, path)
    if form.is_stale(now):
        if call.wants_json:
            raise PreconditionFailed(STALE)
        return _view(call, record, path, form.against(now), status=412)
    if wrong := form.wrong_languages:
        if call.wants_json:
            raise BadRequest(
                "{tag!r} is not a language tag; write one such as en or zh-Hant.", tag=wrong[0]
            )
        return _view(call, record, path, form, status=400)
    if form.loses_title and not call.field("anyway"):
        if call.wants_json:
            raise Conflict(
                "The record would have no title, so nothing was saved. Add a title, or send "
                "anyway=yes."
            )
        return _view(call, record, path, form, status=409)
    curator = Curator(call)
    content = write_fields(read_small(record, call.version, path), form.wanted)
    curator.write(call.version, path, content, chosen_state(call), record.revision)
    way = {"done": "edited", "from": call.field("from")}
    return changed(call, curator.record, urls.version(record.item_id, call.version, **way))


def _fields(record: HarvestedRecord, version: str, path: str) -> Fields:
    return read_fields(read_small(record, version, path))


def _findings(
    record: HarvestedRecord, version: str, path: str, form: EditForm
) -> tuple[QualityFinding, ...]:
    """The findings about the description, with the values of the form."""
    try:
        content = write_fields(read_small(record, version, path), form.wanted)
    except NoFields:
        return ()
    return findings(describe(path, content) or Description())


def _now(record: HarvestedRecord, version: str, path: str) -> Fields:
    try:
        return _fields(record, version, path)
    except NoFields as error:
        raise Conflict(
            "This file was changed and now {reason}; nothing was saved.",
            reason=error.reason,
        ) from None


# --------------------------------------------------------------------------- its view


def _view(
    call: Call,
    record: HarvestedRecord,
    path: str,
    form: EditForm,
    *,
    status: int = 200,
) -> View:
    url = urls.version(record.item_id, call.version, "edit")
    found = _findings(record, call.version, path, form)
    state = chosen_state(call) or ""
    stored_state = record.state.version(call.version).state or ""
    said = {
        n: [_(CODES[one.code]).capitalize() for one in about(field, found)]
        for n, field in enumerate(form.fields)
    }
    data = {
        "form": form,
        "identifier": record.item_id,
        "version": call.version,
        "path": path,
        "url": url,
        "came_from": call.field("from") or call.request.query.get("from", ""),
        "revision": record.revision,
        "message": call.field("message"),
        "state": state,
        "heading": form.title or record.item_id,
        "findings": said,
        "missing": [
            (_(CODES[one.code]).capitalize(), name) for one in found if (name := form.lacking(one))
        ],
        "upstream_newer": record.upstream_newer(),
        "states": STATES,
        "field_label": field_label,
        "hints": _hints(call.site, form),
        "others": _others(call.site, form),
        "done": call.request.query.get("done", "") == "cloned",
        "is_conflict": form.was is not None,
        "unsaved": [field_label(name) for name in form.unsaved],
        "is_unsaved": bool(form.unsaved or call.field("message")) or state != stored_state,
        "asks_title": status == 409,
        "wrong_languages": form.wrong_languages if status == 400 else (),
    }
    page = urls.with_query(url, {"path": path})
    twin = _as_json(record, call.version, path, form, found)
    headers = {"ETag": revision_tag(record.revision)}
    return View("edit.mako", data, twin, page, status, headers)


def _as_json(
    record: HarvestedRecord,
    version: str,
    path: str,
    form: EditForm,
    found: Sequence[QualityFinding],
) -> dict[str, Any]:
    return {
        "identifier": record.item_id,
        "version": version,
        "path": path,
        "revision": record.revision,
        "fields": [
            {"name": one.name, "text": one.text, "lang": one.lang, "place": one.place}
            for one in form.fields
        ],
        "base": form.base_json,
        "findings": [{"code": one.code, "field": one.field, "value": one.value} for one in found],
        "unsaved": list(form.unsaved),
        "conflicts": [one.name for one in form.differing()],
    }


def _hints(site: Site, form: EditForm) -> dict[str, list[str]]:
    """The most frequent values of the form's fields that are indexed."""
    names = [name for name in HINTED if name in form.names]
    page = PageRequest(limit=1, facet_limit=HINTS)
    facets = site.silo.search("", None, names, page).facets if names else {}
    return {name: [one.value for one in values] for name, values in facets.items()}


def _others(site: Site, form: EditForm) -> dict[int, int]:
    """Number of a value in the form → how many other records have the same value."""
    asked = [(n, one) for n, one in enumerate(form.fields) if one.name in HINTED and one.folded]
    itself = {one.said()[:2] for one in form.base}
    found = {}
    for number, one in asked[:CHECKED]:
        filters = SearchFilters(values={one.name: [one.folded]})
        total = site.silo.search("", filters, page=PageRequest(limit=1)).total
        found[number] = max(total - (one.said()[:2] in itself), 0)
    return found
