"""The changes a curator may make: the only module of the page that writes to records.

Every change has an author, a reason, and the revision it was made for. Harvested versions
are not changed here: a curator edits a copy.
"""

from typing import BinaryIO, TypedDict

from recordsilo import HarvestedRecord
from recordsilo.records.manifest import now_text
from silocuration.activity import ValueChange, changes_of, log_activity, of_file
from webui.http.errors import PreconditionFailed, ReadOnly
from webui.http.messages import entity_tags, expected_revisions
from webui.site import Call

WORKING_COPY = "workingcopy"


def expected_revision(call: Call, found: int, file_tag: str = "") -> int | None:
    """Return the revision a change is made for: from If-Match, or the form's ``if_match``.

    Args:
        call: The change.
        found: The record's present revision.
        file_tag: The ETag of the changed file, which If-Match may also contain.

    Returns:
        `found`, for the store, which checks it again under its lock; None if the change
        is made at any revision.

    Raises:
        PreconditionFailed: The change was made for another revision.
    """
    header = call.request.headers.get("if-match", "")
    allowed = expected_revisions(header)
    if not header and (noted := call.field("if_match")):
        allowed = expected_revisions(noted if noted.startswith(('"', "W/", "*")) else f'"{noted}"')
    if allowed is None:
        return None
    if found not in allowed and file_tag not in entity_tags(header, weak=False):
        raise PreconditionFailed(
            "This record was changed after you opened it, so nothing was saved. Reload it and"
            " repeat your change."
        )
    return found


def require_curated(record: HarvestedRecord, version: str) -> None:
    """Check that a version is a curated one.

    Raises:
        ReadOnly: It is a harvested version.
        VersionNotFound: The record has no such version.
    """
    if not record.version_is_curated(version):
        raise ReadOnly(
            "Version {name} is a harvested version and cannot be changed. Create a copy and "
            "edit that.",
            name=version,
        )


class Curator:
    """The changes of one request to one record: by one person, for one revision.

    The methods that change a file or a version raise `ReadOnly` for a harvested version;
    all of them raise `RevisionConflict` if the record has changed in the meantime.
    """

    def __init__(self, call: Call, file_tag: str = "") -> None:
        self.record: HarvestedRecord = call.record
        self._silo = call.site.silo
        self._agent = call.user.name
        message = call.field("message") or call.request.query.get("message", "")
        self._message = " ".join(message.split())  # one line of a log
        self._if_revision = expected_revision(call, self.record.revision, file_tag)

    @property
    def _how(self) -> "_How":
        return {
            "agent": self._agent,
            "message": self._message,
            "if_revision": self._if_revision,
        }

    def clone(self, original: str, name: str) -> None:
        """Copy a version under a new name, for curation."""
        self.record.clone_version(original, name, **self._how)
        self._note("copy", name, ("version", original, name))

    def make_version(self, name: str) -> None:
        """Create an empty version."""
        self.record.create_new_version(name, **self._how)
        self._note("new version", name, ("version", None, name))

    def rename_version(self, version: str, name: str) -> None:
        """Rename a curated version."""
        require_curated(self.record, version)
        self.record.rename_version(version, name, **self._how)
        self._note("rename version", name, ("version", version, name))

    def delete_version(self, version: str) -> None:
        """Delete a curated version and its files."""
        require_curated(self.record, version)
        self.record.del_version(version, **self._how)
        self._note("delete version", version, ("version", version, None))

    def put(
        self, version: str, path: str, content: BinaryIO, *, metadata: bool | None = None
    ) -> None:
        """Put a file into a curated version; an existing file of that path is replaced.

        Args:
            path: Path within the version.
            content: The bytes, read to the end.
            metadata: Whether it is a metadata file; None: as before.
        """
        require_curated(self.record, version)
        before = self._digest(version, path)
        self.record.put_stream(path, content, version, metadata, **self._how)
        self._note("put", version, (path, before, self._digest(version, path)))

    def write(
        self, version: str, path: str, content: bytes, state: str | None, revision: int
    ) -> None:
        """Store an edited file and the version's status as one change.

        Args:
            revision: The revision that was edited; any other raises `RevisionConflict`.
        """
        require_curated(self.record, version)
        identifier = self.record.item_id
        with self._silo.editing(identifier, if_revision=revision) as edit:
            listed = edit.manifest.version(version)
            before = edit.read(version, path)
            is_same = before == content
            if is_same and listed.state == state:
                return
            if not is_same:
                edit.put(version, path, content)
            edit.set_state(version, state)
            why = f": {self._message}" if self._message else ""
            edit.log(version, f"Edited {path} [{now_text()} {self._agent}{why}]")
        values = of_file(path, before, content)
        if listed.state != state:
            values.append(("state", listed.state, state))
        self._note("edit", version, *values)

    def rename_file(self, version: str, path: str, new_path: str) -> None:
        """Change the path of a file of a curated version."""
        require_curated(self.record, version)
        self.record.rename_stream(path, new_path, version, **self._how)
        self._note("rename file", version, ("file", path, new_path))

    def delete_file(self, version: str, path: str) -> None:
        """Delete a file of a curated version."""
        require_curated(self.record, version)
        before = self._digest(version, path)
        self.record.del_stream(path, [version], **self._how)
        self._note("delete file", version, (path, before, None))

    def delete_record(self) -> None:
        """Delete the record with all versions; a later harvest does not bring it back."""
        self._silo.del_item(self.record.item_id, remember=True, **self._how)
        self._note("delete record", "", ("record", self.record.item_id, None))

    def _note(self, action: str, version: str, *values: ValueChange) -> None:
        """Log the change in the activity log."""
        lines = changes_of(
            values,
            agent=self._agent,
            action=action,
            identifier=self.record.item_id,
            version=version,
            message=self._message,
        )
        log_activity(self._silo.path, lines)

    def _digest(self, version: str, path: str) -> str | None:
        """The digest of a file; None if it does not exist."""
        known = self._silo[self.record.item_id].state.version(version)
        digest = (known.digests or {}).get(path)
        if digest is None:
            return None if path not in known.paths else ""
        return f"sha256:{digest.sha256}, {digest.size:,} bytes"


class _How(TypedDict):
    agent: str
    message: str
    if_revision: int | None
