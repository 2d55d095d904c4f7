"""The description of a curated version as a form, and the working copy it is edited in."""

from collections.abc import Mapping
from typing import Any

from recordsilo import HarvestedRecord
from recordsilo.errors import FileNotInVersion
from recordsilo.formats import is_metadata
from recordsilo.index import PageRequest, SearchFilters
from recordsilo.index.projection import metadata_paths
from recordsilo.records.manifest import STATES
from silocuration.errors import NoFields
from silocuration.fields import Fields, read_fields, write_fields
from webui import urls
from webui.editing.curator import WORKING_COPY, Curator, require_curated
from webui.editing.edit_form import SAVE, EditForm
from webui.http.errors import Conflict, PreconditionFailed
from webui.http.messages import Response, redirect, revision_tag
from webui.pages.record import changed
from webui.rendering import View
from webui.site import Call, Site
from webui.words.texts import text as _

LARGEST = 1 << 20
"""Bytes of a metadata file that is edited here; larger ones are downloaded and put back."""
HINTED = ("creator", "subject", "type", "publisher", "language")
"""Fields the index has the values of."""
HINTS = 100
STALE = (
    "Somebody changed this file after you opened it, and nothing was written; "
    "get it again, and make the change to what is there now."
)
CHECKED = 40
"""Values of a form that are looked up among other records'."""

FIELD_LABELS: Mapping[str, str] = {
    "title": "Title",
    "creator": "Creator",
    "subject": "Subject",
    "description": "Description",
    "publisher": "Publisher",
    "contributor": "Contributor",
    "date": "Date",
    "type": "Type",
    "format": "Format",
    "identifier": "Identifier",
    "source": "Source",
    "language": "Language",
    "relation": "Relation",
    "coverage": "Coverage",
    "rights": "Rights",
}
"""English texts of the catalogue."""


def field_label(name: str) -> str:
    """A field as people call it."""
    return _(FIELD_LABELS[name]) if name in FIELD_LABELS else name


# --------------------------------------------------------------------------- the copy


def curate(call: Call) -> Response:
    """Open the working copy of a record; make it of the current version if there is none."""
    record = call.record
    name = _open_copy(record)
    if name is not None:
        return changed(call, record, urls.version(record.item_id, name, "edit"))
    curator = Curator(call)
    curator.clone(record.currentversion, WORKING_COPY)
    location = urls.version(record.item_id, WORKING_COPY, "edit", done="cloned")
    return changed(call, curator.record, location, 201)


def _open_copy(record: HarvestedRecord) -> str | None:
    if record.is_curated(record.currentversion):
        return str(record.currentversion)
    return WORKING_COPY if WORKING_COPY in record.versions else None


# --------------------------------------------------------------------------- the form


def show(call: Call) -> View | Response:
    """The form; a file that has no flat fields is edited as XML."""
    record = call.record
    require_curated(record, call.version)
    path = edited_path(call, record)
    try:
        fields = _fields(record, call.version, path)
    except NoFields:
        return redirect(urls.version(record.item_id, call.version, "edit-xml", path=path))
    return _view(call, record, path, EditForm(fields, fields))


def save(call: Call) -> View | Response:
    """Store the form, or do what another of its buttons says.

    What somebody changed meanwhile is merged and shown beside one's own, and nothing is
    stored until it was looked at; a program gets 412.
    """
    record = call.record
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
    curator = Curator(call)
    content = write_fields(read_small(record, call.version, path), form.wanted)
    curator.write(call.version, path, content, chosen_state(call), record.revision)
    return changed(call, curator.record, urls.version(record.item_id, call.version, done="edited"))


def chosen_state(call: Call) -> str | None:
    """The state that a form gives the version; what it has where the form says none."""
    if "state" not in call.form.fields:
        return call.record.state.version(call.version).state
    return call.field("state") or None


def edited_path(call: Call, record: HarvestedRecord) -> str:
    """The metadata file that is edited: the field ``path``, else the main one.

    Raises:
        FileNotInVersion: There is no such file.
        Conflict: The version has no metadata file, or one too large.
    """
    wanted = call.field("path") or call.request.query.get("path", "")
    marked = metadata_paths(record.state.version(call.version))
    path = wanted or next(filter(is_metadata, marked), "")
    if not path:
        raise Conflict(
            "Version {name} has no metadata file to be edited; add one first.", name=call.version
        )
    if path not in record.paths(call.version):
        raise FileNotInVersion(record.item_id, call.version, path)
    return path


def read_small(record: HarvestedRecord, version: str, path: str) -> bytes:
    """A file that is small enough to be edited in a form.

    Raises:
        Conflict: It is not.
    """
    with record.get_stream(path, version) as stream:
        content = bytes(stream.read(LARGEST + 1))
    if len(content) > LARGEST:
        raise Conflict(
            "{path} is too large to be edited here; download it, and put it back.", path=path
        )
    return content


def _fields(record: HarvestedRecord, version: str, path: str) -> Fields:
    return read_fields(read_small(record, version, path))


def _now(record: HarvestedRecord, version: str, path: str) -> Fields:
    try:
        return _fields(record, version, path)
    except NoFields as error:
        raise Conflict(
            "Somebody changed this file, which now {reason}; nothing was stored.",
            reason=error.reason,
        ) from None


# --------------------------------------------------------------------------- its view


def _view(
    call: Call, record: HarvestedRecord, path: str, form: EditForm, *, status: int = 200
) -> View:
    url = urls.version(record.item_id, call.version, "edit")
    data = {
        "form": form,
        "identifier": record.item_id,
        "version": call.version,
        "path": path,
        "url": url,
        "revision": record.revision,
        "message": call.field("message"),
        "state": chosen_state(call) or "",
        "states": STATES,
        "field_label": field_label,
        "hints": _hints(call.site, form),
        "others": _others(call.site, form),
        "done": call.request.query.get("done", "") == "cloned",
        "is_conflict": form.was is not None,
    }
    page = urls.with_query(url, {"path": path})
    twin = _as_json(record, call.version, path, form)
    headers = {"ETag": revision_tag(record.revision)}
    return View("edit.mako", data, twin, page, status, headers)


def _as_json(record: HarvestedRecord, version: str, path: str, form: EditForm) -> dict[str, Any]:
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
        "conflicts": [one.name for one in form.differing()],
    }


def _hints(site: Site, form: EditForm) -> dict[str, list[str]]:
    """The most frequent values of the fields in the form that the index knows."""
    names = [name for name in HINTED if name in form.names]
    page = PageRequest(limit=1, facet_limit=HINTS)
    facets = site.silo.search("", None, names, page).facets if names else {}
    return {name: [one.value for one in values] for name, values in facets.items()}


def _others(site: Site, form: EditForm) -> dict[int, int]:
    """Number of a value in the form → how many other records have the very value."""
    asked = [(n, one) for n, one in enumerate(form.fields) if one.name in HINTED and one.folded]
    itself = {one.said()[:2] for one in form.base}
    found = {}
    for number, one in asked[:CHECKED]:
        filters = SearchFilters(values={one.name: [one.folded]})
        total = site.silo.search("", filters, page=PageRequest(limit=1)).total
        found[number] = max(total - (one.said()[:2] in itself), 0)
    return found
