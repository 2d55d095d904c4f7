"""The interface of 2010: ``/<percent-encoded identifier>/<version>/<path>``.

The answers of SiloServer in 2010, by the present rules: harvested versions cannot be
changed, If-Match is honoured, errors have the common form. `webui.pages.files` sends files;
other pages create and delete records.
"""

from http import HTTPStatus

from recordsilo import HarvestedRecord
from recordsilo.errors import RecordNotFound, RecordRemoved
from webui import urls
from webui.editing import changes
from webui.http.errors import NotFound
from webui.http.messages import Response, redirect, revision_tag
from webui.record.view import record_view, version_as_json
from webui.rendering import json_answer
from webui.site import Call


def show_record(call: Call) -> Response:
    """GET ``/<id>``: its page, or its manifest with the keys of 2010.

    Raises:
        NotFound: To people, as the address may not be meant for a record.
    """
    record = _record(call)
    if not call.wants_json:
        return redirect(urls.record(record.item_id), HTTPStatus.FOUND)
    return json_answer(record.manifest, headers={"ETag": revision_tag(record.revision)})


def _record(call: Call) -> HarvestedRecord:
    try:
        return call.record
    except RecordNotFound as error:
        if call.wants_json or isinstance(error, RecordRemoved):
            raise
        raise NotFound("There is no page at this address, and no record of this name.") from None


def show_version(call: Call) -> Response:
    """GET ``/<id>/<version>``: its page, or what is in it; see `show_record`."""
    record = _record(call)
    view = record_view(call.site, record, call.version)
    if not call.wants_json:
        return redirect(view.shown.url, HTTPStatus.FOUND)
    headers = {"ETag": revision_tag(record.revision)}
    return json_answer(version_as_json(record, view), headers=headers)


def make_version(call: Call) -> Response:
    """POST ``/<id>``: a clone (``old_version`` and ``version``), or a version (``version``)."""
    return changes.make_version(call, call.field("version"), call.field("old_version"))


def upload(call: Call) -> Response:
    """POST ``/<id>/<version>``: the file, or text, ``part`` under ``path``; replaces."""
    sent = changes.uploaded(call)
    return changes.put_upload(call, sent, changes.path_of(call, sent))
