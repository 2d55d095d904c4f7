"""Edit a text file of a curated version as text; errors are shown by line."""

import difflib
from dataclasses import dataclass, replace
from typing import Any

from recordsilo import HarvestedRecord
from webui import urls
from webui.editing.changes import changed
from webui.editing.curator import Curator, require_curated
from webui.editing.edit_form import SAVE
from webui.editing.edited_file import STALE, chosen_state, edited_path, read_small
from webui.editing.xml_check import XmlMessage, check_xml
from webui.http.errors import ChangeConflict, PreconditionFailed
from webui.http.messages import Response, revision_tag
from webui.rendering import View
from webui.site import Call

LINES = 400
"""Maximum number of lines of a difference."""


@dataclass(frozen=True, slots=True)
class _Text:
    """A file that is being edited.

    Attributes:
        text: As it is in the form.
        now: As it is in the record.
        was: After a conflicting change, the text the form started with; else None.
    """

    path: str
    text: str
    now: str
    messages: tuple[XmlMessage, ...]
    was: str | None = None

    @property
    def is_refused(self) -> bool:
        """Whether it cannot be stored."""
        return any(one.is_fatal for one in self.messages)


def show(call: Call) -> View:
    """Show the text of a file."""
    record = call.record
    require_curated(record, call.version)
    path = edited_path(call, record, call.version)
    text = _text(record, call.version, path)
    return _view(call, record, _Text(path, text, text, check_xml(text.encode())))


def save(call: Call) -> View | Response:
    """Store the text, unless it is invalid or the file has changed in the meantime.

    Text that is not well-formed is never stored. Text that only violates its schema is stored
    with ``anyway``.

    Raises:
        PreconditionFailed: The file has changed; browsers get the form instead.
        ChangeConflict: The text is invalid; browsers get the form instead.
    """
    record = call.record
    require_curated(record, call.version)
    path = edited_path(call, record, call.version)
    now, text = _text(record, call.version, path), _lines(call, "text")
    edited = _Text(path, text, now, check_xml(text.encode("utf-8", "replace")))
    if "base" in call.form.fields and (base := _lines(call, "base")) != _folded(now):
        if call.wants_json:
            raise PreconditionFailed(STALE)
        return _view(call, record, replace(edited, was=base), status=412)
    if (call.field("do") or SAVE) != SAVE:
        return _view(call, record, edited)
    if edited.is_refused or (edited.messages and not call.field("anyway")):
        if call.wants_json:
            raise ChangeConflict(_sentence(edited.messages))
        return _view(call, record, edited, status=409)
    content = now.encode() if text == _folded(now) else text.encode("utf-8", "replace")
    curator = Curator(call)
    curator.write(
        call.version, path, content, chosen_state(call, record, call.version), record.revision
    )
    return changed(call, curator.record, urls.version(record.item_id, call.version, done="edited"))


def _sentence(messages: tuple[XmlMessage, ...]) -> str:
    first = messages[0]
    return f"Nothing was stored: line {first.line}: {first.text}"


def _text(record: HarvestedRecord, version: str, path: str) -> str:
    content = read_small(record, version, path)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise ChangeConflict(
            "{path} is not UTF-8 text and cannot be edited here."
            " Download it, edit it and upload it again.",
            path=path,
        ) from None


def _lines(call: Call, name: str) -> str:
    """The lines of a text area; browsers send line ends as CRLF."""
    return _folded(call.form.fields.get(name, ""))


def _folded(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _view(call: Call, record: HarvestedRecord, edited: _Text, *, status: int = 200) -> View:
    url = urls.version(record.item_id, call.version, "edit-xml")
    was = edited.was
    about = {"identifier": record.item_id, "version": call.version, "path": edited.path}
    data = about | {
        "url": url,
        "edited": edited,
        "message": call.field("message"),
        "numbered": list(enumerate(edited.text.split("\n"), 1)),
        "theirs": _difference(was, edited.now) if was is not None else (),
        "ours": _difference(was, edited.text) if was is not None else (),
        "heading": call.site.silo.row(record.item_id).title or record.item_id,
        "is_unsaved": edited.text != _folded(edited.now),
        "is_conflict": was is not None,
    }
    twin: dict[str, Any] = about | {
        "revision": record.revision,
        "text": edited.text,
        "messages": [
            {"line": one.line, "column": one.column, "text": one.text, "fatal": one.is_fatal}
            for one in edited.messages
        ],
    }
    page = urls.with_query(url, {"path": edited.path})
    tag = {"ETag": revision_tag(record.revision)}
    return View("edit_xml.mako", data, twin, page, status, tag)


def _difference(before: str, after: str) -> tuple[str, ...]:
    """The lines that differ, as a unified diff without its header."""
    sides = (_folded(before).split("\n"), _folded(after).split("\n"))
    return tuple(difflib.unified_diff(*sides, n=1, lineterm=""))[2 : 2 + LINES]
