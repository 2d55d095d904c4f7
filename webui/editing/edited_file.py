"""The metadata file that a form edits."""

from recordsilo import HarvestedRecord
from recordsilo.errors import FileNotInVersion
from recordsilo.formats import is_metadata
from recordsilo.records.description import metadata_paths
from webui.http.errors import ChangeConflict
from webui.site import Call

LARGEST = 1 << 20
"""Maximum size in bytes for editing here; larger files are downloaded and put back."""
STALE = (
    "This file was changed after you opened it, so nothing was saved. Open it again and "
    "repeat your change."
)


def chosen_state(call: Call, record: HarvestedRecord, version: str) -> str | None:
    """The status that a form sets; the present one if the form does not set it."""
    if "state" not in call.form.fields:
        return record.state.version(version).state
    return call.field("state") or None


def edited_path(call: Call, record: HarvestedRecord, version: str) -> str:
    """Return the metadata file to edit: the field ``path``, else the main one.

    Raises:
        FileNotInVersion: There is no such file.
        ChangeConflict: The version has no metadata file, or one too large.
    """
    wanted = call.field("path") or call.request.query.get("path", "")
    marked = metadata_paths(record.state.version(version))
    path = wanted or next(filter(is_metadata, marked), "")
    if not path:
        raise ChangeConflict(
            "Version {name} has no metadata file to edit. Add one first.", name=version
        )
    if path not in record.paths(version):
        raise FileNotInVersion(record.item_id, version, path)
    return path


def read_small(record: HarvestedRecord, version: str, path: str) -> bytes:
    """Read a file that is small enough to be edited in a form.

    Raises:
        ChangeConflict: It is too large.
    """
    with record.get_stream(path, version) as stream:
        content = bytes(stream.read(LARGEST + 1))
    if len(content) > LARGEST:
        raise ChangeConflict(
            "{path} is too large to edit here. Download it, edit it and upload it again.", path=path
        )
    return content
