"""The form for the description of a curated version, and the making of working copies."""

from recordsilo import HarvestedRecord
from recordsilo.errors import RevisionConflict
from silocuration.errors import NoFields
from webui import urls
from webui.editing.changes import changed
from webui.editing.curator import WORKING_COPY, Curator, require_curated
from webui.editing.description_form import OpenedDescription, form_view, submitted
from webui.editing.edit_form import EditForm
from webui.http.messages import Response, redirect
from webui.rendering import View
from webui.site import Call

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
    opened = _opened(call, record)
    try:
        fields = opened.fields()
    except NoFields:
        return redirect(urls.version(record.item_id, call.version, "edit-xml", path=opened.path))
    form = EditForm(fields, fields)
    at = call.request.query.get("at", "")
    return form_view(call, opened, form.at(opened.findings(form), at))


def _opened(call: Call, record: HarvestedRecord) -> OpenedDescription:
    url = urls.version(record.item_id, call.version, "edit")
    return OpenedDescription.of(call, record, call.version, url)


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
    opened = _opened(call, record)
    wanted = submitted(call, opened)
    if isinstance(wanted, View):
        return wanted
    curator = Curator(call)
    curator.write(call.version, opened.path, wanted.content, wanted.state, record.revision)
    way = {"done": "edited", "from": call.field("from")}
    return changed(call, curator.record, urls.version(record.item_id, call.version, **way))
