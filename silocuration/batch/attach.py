"""Attach a file to the working copy of each of many records (pure)."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recordsilo.disk.names import check_path
from recordsilo.errors import RecordSiloError
from recordsilo.records.manifest import Manifest
from silocuration.batch.premis import premis_of
from silocuration.editing.changes import (
    CannotChange,
    FileChange,
    ReadFile,
    RecordChange,
    editable_version,
    is_deleted,
)
from silocuration.errors import RuleRefused

MAX_BYTES = 16 << 20
"""Maximum size of an attached file, such as a licence or a note."""
PREMIS = "premis.xml"


@dataclass(frozen=True, slots=True)
class Attachment:
    """The file to attach.

    Attributes:
        path: Path in the version, with ``/`` between directories.
        content: The same bytes for every record; None for a PREMIS record made from the
            record's own version history.
    """

    path: str
    content: bytes | None

    def __post_init__(self) -> None:
        """Refuse an invalid path, and a file that is too large.

        Raises:
            RuleRefused: The path is invalid, or the file too large.
        """
        try:
            check_path(self.path)
        except RecordSiloError as error:
            raise RuleRefused(str(error)) from None
        if self.content is not None and len(self.content) > MAX_BYTES:
            raise RuleRefused(f"{self.path} is larger than the {MAX_BYTES >> 20} MiB allowed here")

    def to_json(self) -> dict[str, Any]:
        """Return the attachment as JSON values."""
        content = None if self.content is None else base64.b64encode(self.content).decode()
        return {"path": self.path, "content": content}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Attachment":
        """Return the attachment of the values that `to_json` returned."""
        content = values["content"]
        return cls(values["path"], None if content is None else base64.b64decode(content))


def plan_attachment(
    manifest: Manifest, read: ReadFile, attachment: Attachment
) -> RecordChange | None:
    """Decide what attaching a file does to a record.

    Returns:
        None if the version already has this file, or the source deleted the record.

    Raises:
        CannotChange: It has no version that can be changed, or metadata or a directory has the
            path.
    """
    if is_deleted(manifest):
        return None
    source, target = editable_version(manifest)
    content = attachment.content
    if content is None:
        content = premis_of(manifest, source)
    version = manifest.version(source)
    if attachment.path in version.metadata_files:
        raise CannotChange(
            f"has metadata named {attachment.path}, which an attached file cannot replace"
        )
    if not version.has_room_for(attachment.path):
        raise CannotChange(
            f"has no room for {attachment.path}: a file or a directory is in the way"
        )
    before = read(source, attachment.path) if attachment.path in version.paths else None
    if before == content:
        return None
    change = FileChange(attachment.path, before, content, metadata=False)
    return RecordChange(source, target, (), (), (change,))
