"""Shared parts of changes of a record: uploaded files, new versions, and the answer."""

import io
import re

from recordsilo import HarvestedRecord
from webui import urls
from webui.editing.curator import Curator
from webui.http.errors import BadRequest
from webui.http.messages import Response, redirect, revision_tag
from webui.http.multipart import UploadedFile
from webui.record.view import as_json, record_view
from webui.rendering import json_answer
from webui.site import Call


def changed(call: Call, record: HarvestedRecord, location: str, status: int = 200) -> Response:
    """The answer to a change: a redirect to a page, or the new state of the record.

    Args:
        record: The record that was changed; a program gets its new state.
        location: Where a browser is redirected.
        status: For programs; 201 adds ``Location``.
    """
    if not call.wants_json:
        return redirect(location)
    now = call.site.silo[record.item_id]
    view = record_view(call.site, now)
    headers = {"ETag": revision_tag(view.revision)}
    if status == 201:
        headers["Location"] = location.partition("?")[0]
    return json_answer(as_json(now, view), status, headers)


def uploaded(call: Call) -> UploadedFile:
    """The file in the form's field ``part``, or that field's text in UTF-8.

    Raises:
        BadRequest: No file was chosen.
    """
    if (text := call.form.fields.get("part")) is not None:
        return UploadedFile("", io.BytesIO(text.encode()))
    upload = call.form.files.get("part")
    # A form sent without a choice of file has an empty part without a name.
    if upload is None or (not upload.filename and not upload.content.read(1)):
        raise BadRequest("Choose a file (field part).")
    return upload


def path_of(call: Call, upload: UploadedFile) -> str:
    """The path for the file: the field ``path``, else the file's own name.

    Raises:
        BadRequest: Neither the field nor the file has a name.
    """
    path = call.field("path") or re.split(r"[/\\]", upload.filename)[-1]
    if not path:
        raise BadRequest("Enter a name for the file (field path).")
    return path


def put_upload(
    call: Call, upload: UploadedFile, path: str, *, metadata: bool | None = None
) -> Response:
    """Store an uploaded file.

    Args:
        upload: The file and its name.
        path: Path within the version.
        metadata: Whether it is a metadata file; None: as before.
    """
    curator = Curator(call)
    curator.put(call.version, path, upload.content, metadata=metadata)
    location = urls.version(curator.record.item_id, call.version, done="file-added") + "#files"
    return changed(call, curator.record, location, 201)


def make_version(call: Call, name: str, original: str = "") -> Response:
    """Create a version; the answer redirects to it.

    Raises:
        BadRequest: The name is empty.
    """
    if not name:
        raise BadRequest("Enter a name for the version (field name).")
    curator = Curator(call)
    if original:
        curator.clone(original, name)
    else:
        curator.make_version(name)
    identifier = curator.record.item_id
    done = "cloned" if original else "made"
    return changed(call, curator.record, urls.version(identifier, name, done=done), 201)
