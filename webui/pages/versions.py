"""Create, rename and delete versions."""

from webui import urls
from webui.editing.changes import changed, make_version
from webui.editing.curator import Curator, require_curated
from webui.http.errors import BadRequest
from webui.http.messages import Response
from webui.questions import QuestionField, asked_of, message_field
from webui.rendering import View
from webui.site import Call
from webui.words.texts import counted
from webui.words.texts import text as _


def ask_create(call: Call) -> View:
    """Show the form for a new, empty version."""
    record = call.record
    return asked_of(
        record,
        title=_("New version"),
        text=_(
            "Creates an empty version and makes it the current version. To start from the "
            "files of another version, copy that version instead."
        ),
        action=urls.versions(record.item_id),
        submit=_("Create version"),
        fields=(QuestionField("name", _("Name"), required=True), message_field()),
        back=urls.record(record.item_id),
    )


def create(call: Call) -> Response:
    """Create a version: a copy of ``clone_of``, or an empty one."""
    return make_version(call, call.field("name"), call.field("clone_of"))


def ask_rename(call: Call) -> View:
    """Show the form for renaming a version."""
    record = call.record
    require_curated(record, call.version)
    return asked_of(
        record,
        title=_("Rename version {name}", name=call.version),
        text=_("Files, date and order of the versions stay the same."),
        action=urls.version(record.item_id, call.version, "rename"),
        submit=_("Rename"),
        fields=(
            QuestionField("name", _("New name"), value=call.version, required=True),
            message_field(),
        ),
        back=urls.version(record.item_id, call.version),
    )


def rename(call: Call) -> Response:
    """Rename a curated version.

    Raises:
        BadRequest: The new name is empty.
    """
    name = call.field("name")
    if not name:
        raise BadRequest("Enter a name for the version (field name).")
    curator = Curator(call)
    curator.rename_version(call.version, name)
    identifier = curator.record.item_id
    return changed(call, curator.record, urls.version(identifier, name, done="renamed"))


def ask_delete(call: Call) -> View:
    """Ask for confirmation before a version is deleted."""
    record = call.record
    require_curated(record, call.version)
    count = len(record.paths(call.version))
    files = (
        counted("Its file is deleted with it.", "Its {n} files are deleted with it.", count)
        if count
        else _("It has no files.")
    )
    return asked_of(
        record,
        title=_("Delete version {name}", name=call.version),
        text=f"{files} " + _("The record and its other versions stay. This cannot be undone."),
        action=urls.version(record.item_id, call.version, "delete"),
        submit=_("Delete version"),
        fields=(message_field(),),
        back=urls.version(record.item_id, call.version),
        is_danger=True,
    )


def delete(call: Call) -> Response:
    """Delete a curated version."""
    curator = Curator(call)
    curator.delete_version(call.version)
    identifier = curator.record.item_id
    return changed(call, curator.record, urls.record(identifier, done="version-deleted"))
