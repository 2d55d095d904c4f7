"""Files of a version: download, add, replace, rename, delete."""

import os
from typing import Any, BinaryIO
from wsgiref.util import FileWrapper

from recordsilo import HarvestedRecord
from recordsilo.errors import FileNotInVersion, PathNameError
from webui import urls
from webui.editing.changes import changed, path_of, put_upload, uploaded
from webui.editing.curator import Curator, require_curated
from webui.http import downloads
from webui.http.bodies import human_size, open_body
from webui.http.errors import BadRequest, ChangeConflict, NotFound, PreconditionFailed
from webui.http.messages import Response, is_known
from webui.http.streams import BLOCK
from webui.questions import QuestionField, asked_of, message_field
from webui.rendering import View
from webui.site import Call
from webui.words.texts import text as _


def download(call: Call) -> Response:
    """Send the bytes of a file, as it is on the disk now.

    Raises:
        NotFound: There is no such file.
    """
    path = call.params["path"]
    record = call.record
    try:
        stream = record.get_stream(path, call.version)
    except PathNameError as error:
        raise NotFound("There is no such file: {reason}.", reason=error) from None
    return _sent(stream, path, is_metadata=path in record.metadata_files.get(call.version, ()))


def _tag(status: os.stat_result) -> str:
    """Return the ETag of a file, from the disk and not from the recorded digest.

    People change files of a working copy with their own tools."""
    return f'"{status.st_mtime_ns:x}-{status.st_size:x}-{status.st_ino:x}"'


def _tag_of(record: HarvestedRecord, version: str, path: str) -> str:
    """The ETag of a file; empty if it does not exist."""
    try:
        with record.get_stream(path, version) as stream:
            return _tag(os.fstat(stream.fileno()))
    except (FileNotInVersion, PathNameError):
        return ""


def _sent(stream: BinaryIO, path: str, *, is_metadata: bool) -> Response:
    try:
        status = os.fstat(stream.fileno())
        beginning = stream.read(downloads.SNIFFED)
        stream.seek(0)
    except BaseException:
        stream.close()
        raise
    kind = downloads.content_type(path, beginning, metadata=is_metadata)
    headers = downloads.headers(path, kind) | {"ETag": _tag(status)}
    return Response(200, FileWrapper(stream, BLOCK), kind, headers, status.st_size)


def ask_add(call: Call) -> View:
    """Show the form for adding a file to a version."""
    record = call.record
    require_curated(record, call.version)
    most = call.site.settings.max_upload
    limit = human_size(most)
    fields = (
        QuestionField(
            "path",
            _("Name"),
            hint=_("Leave empty to keep the name of the file. Use / for directories."),
        ),
        QuestionField(
            "metadata",
            _("This is a metadata file"),
            "checkbox",
            "yes",
            _("Metadata files describe the record."),
        ),
        QuestionField("replace", _("Replace an existing file of this name"), "checkbox", "yes"),
        message_field(),
        QuestionField(
            "part",
            _("File"),
            "file",
            hint=_("At most {limit}.", limit=limit),
            required=True,
            limit=most,
        ),
    )
    url = urls.files(record.item_id, call.version)
    return _asked(call, title=_("Add a file"), action=url, submit=_("Add file"), fields=fields)


def add(call: Call) -> Response:
    """Add the file of a form; an existing one is only replaced on request.

    Raises:
        ChangeConflict: The version has a file of that path, and ``replace`` is not set.
    """
    upload = uploaded(call)
    path = path_of(call, upload)
    if not call.field("replace") and path in call.record.paths(call.version):
        raise ChangeConflict(
            "Version {name} already has a file {path}. Choose another name, or replace the file.",
            name=call.version,
            path=path,
        )
    metadata = True if call.field("metadata") else None
    return put_upload(call, upload, path, metadata=metadata)


def put(call: Call) -> Response:
    """Store the body as a file, streamed; an existing file of that path is replaced.

    The query may give the reason (``message``), and ``metadata=yes`` for metadata.
    With ``If-None-Match: *``, no file is replaced.

    Raises:
        PreconditionFailed: The file exists, with ``If-None-Match: *``.
    """
    body = open_body(call.request, call.site.settings.max_upload)
    path = call.params["path"]
    tag = _tag_of(call.record, call.version, path)
    if tag and is_known(call.request, tag):
        raise PreconditionFailed("This file already exists; nothing was saved.")
    curator = Curator(call, tag)
    is_new = path not in curator.record.paths(call.version)
    metadata = True if call.request.query.get("metadata") else None
    curator.put(call.version, path, body, metadata=metadata)  # type: ignore[arg-type]  # only read
    location = _done(call, curator.record, "file-added")
    return changed(call, curator.record, location, 201 if is_new else 200)


def ask_rename(call: Call) -> View:
    """Show the form for renaming a file."""
    record = call.record
    path = _asked_path(call, record)
    fields = (
        QuestionField("path", kind="hidden", value=path),
        QuestionField("new_path", _("New name"), value=path, required=True),
        message_field(),
    )
    return _asked(
        call,
        title=_("Rename {path}", path=path),
        action=urls.version(record.item_id, call.version, "rename-file"),
        submit=_("Rename"),
        fields=fields,
        query={"path": path},
    )


def rename(call: Call) -> Response:
    """Rename a file of a curated version.

    Raises:
        BadRequest: The file or its new name is missing.
    """
    path, new_path = call.field("path"), call.field("new_path")
    if not path or not new_path:
        raise BadRequest("Enter the file and its new name (fields path and new_path).")
    curator = Curator(call)
    curator.rename_file(call.version, path, new_path)
    return changed(call, curator.record, _done(call, curator.record, "file-renamed"))


def ask_delete(call: Call) -> View:
    """Ask for confirmation before a file is deleted."""
    record = call.record
    path = _asked_path(call, record)
    fields = (QuestionField("path", kind="hidden", value=path), message_field())
    return _asked(
        call,
        title=_("Delete {path}", path=path),
        action=urls.version(record.item_id, call.version, "delete-file"),
        submit=_("Delete file"),
        fields=fields,
        query={"path": path},
        is_danger=True,
    )


def delete(call: Call) -> Response:
    """Delete a file of a curated version, given by the address or the field ``path``.

    Raises:
        BadRequest: No file is named.
    """
    path = call.params.get("path") or call.field("path")
    if not path:
        raise BadRequest("Name the file (field path).")
    curator = Curator(call, _tag_of(call.record, call.version, path))
    curator.delete_file(call.version, path)
    return changed(call, curator.record, _done(call, curator.record, "file-deleted"))


def _asked_path(call: Call, record: HarvestedRecord) -> str:
    path = call.request.query.get("path", "")
    require_curated(record, call.version)
    if path not in record.paths(call.version):
        raise FileNotInVersion(record.item_id, call.version, path)
    return path


def _done(call: Call, record: HarvestedRecord, code: str) -> str:
    return urls.version(record.item_id, call.version, done=code) + "#files"


def _asked(call: Call, *, is_danger: bool = False, **given: Any) -> View:
    text = _("In version {name} of this record.", name=call.version)
    return asked_of(
        call.record,
        text=text + (" " + _("This cannot be undone.") if is_danger else ""),
        back=urls.version(call.record.item_id, call.version) + "#files",
        is_danger=is_danger,
        **given,
    )
