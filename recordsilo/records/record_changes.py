"""How a handle changes its record: read it again under its lock, merge, commit."""

import copy
import inspect
import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol, TypedDict, TypeVar

from recordsilo.disk import atomic_file
from recordsilo.disk.atomic_file import Staged, Staging
from recordsilo.errors import MetadataConflict, RecordGone
from recordsilo.records.edit import RecordEdit, new_origin
from recordsilo.records.manifest import Manifest, Origin, Pending, altered, now_text
from recordsilo.records.place import RecordPlace

T = TypeVar("T")
Method = TypeVar("Method", bound=Callable[..., Any])
_ABSENT: Any = object()
FIRST_LOG = "Created new data package"


class RecordKeeper(Protocol):
    """What a handle needs from its record's Silo."""

    agent: str

    @property
    def path(self) -> str:
        """The Silo's directory."""

    @property
    def state(self) -> Mapping[str, Any]:
        """The Silo's settings."""

    @property
    def staging(self) -> Staging:
        """Where files are written before they are put into a version."""

    def handle(self, manifest: Manifest) -> Any:
        """See `Silo.handle`."""

    def writing(self) -> AbstractContextManager[None]:
        """See `Silo.writing`."""

    def editing(
        self, identifier: str, *, if_revision: int | None = None
    ) -> AbstractContextManager[RecordEdit]:
        """See `Silo.editing`."""


class NoteKeywords(TypedDict, total=False):
    """The keyword arguments of every method that changes a record."""

    agent: str
    message: str
    if_revision: int | None


@dataclass(frozen=True, slots=True)
class Note:
    """Who makes a change and why, and the revision that the record must be at.

    Attributes:
        default_agent: The Silo's agent, written in origins and in signed log lines if
            ``agent`` is empty.
    """

    default_agent: str
    agent: str = ""
    message: str = ""
    if_revision: int | None = None

    def line(self, text: str, *, signed: bool = False) -> str:
        """A line of the version log: the text of 2010, then when, who and why.

        Args:
            signed: Add who and when even if neither agent nor message was given.
        """
        if not (signed or self.agent or self.message):
            return text
        why = f": {self.message}" if self.message else ""
        return f"{text} [{now_text()} {self.agent or self.default_agent}{why}]"

    def origin(self, kind: str, of: str | None = None) -> Origin:
        """The origin of a version created now: ``local``, or a ``clone`` of another."""
        agent = self.agent or self.default_agent
        return new_origin(kind, of=of, agent=agent, message=self.message)


def takes_note(method: Method) -> Method:
    """Show ``**note`` as the keywords of `NoteKeywords` in a method's signature and help."""
    own = inspect.signature(method)
    named = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
    vars(method)["__signature__"] = own.replace(parameters=named + _NOTE_PARAMETERS)
    return method


_NOTE_PARAMETERS = [
    inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=f.type)
    for f in fields(Note)
    if f.name in NoteKeywords.__annotations__
]


class QueuedFile(NamedTuple):
    """A staged file that `RecordChanges.commit` puts into a version."""

    path: str
    version: str
    staged: Staged
    metadata: bool | None
    log: str


class RecordChanges:
    """The unstored changes of one handle; stores them.

    Attributes:
        seen: The manifest when the handle was created, last wrote or was reverted.
        cursor: The version the cursor was moved to since then, or None.
        queued: Files put since then with ``sync=False``.

    Args:
        found: The manifest that the handle shows.
    """

    def __init__(self, silo: RecordKeeper, place: RecordPlace, found: Manifest) -> None:
        self._silo, self._place = silo, place
        self._metadata: dict[str, Any] | None = None
        self.queued: list[QueuedFile] = []
        self._see(found)

    def _see(self, manifest: Manifest) -> None:
        self.seen = manifest
        self.cursor: str | None = None
        if self._metadata is not None:
            self._metadata.clear()
            self._metadata.update(_copied(manifest.metadata))

    @property
    def metadata(self) -> dict[str, Any]:
        """The record's metadata, which the caller may change; always the same dict."""
        if self._metadata is None:
            self._metadata = _copied(self.seen.metadata)
        return self._metadata

    @metadata.setter
    def metadata(self, members: Mapping[str, Any]) -> None:
        replacement = copy.deepcopy(members)
        self.metadata.clear()
        self.metadata.update(replacement)

    @property
    def kept(self) -> tuple[Manifest, str | None, dict[str, Any] | None]:
        """What `set_kept` needs to give another handle this state; not the queued files."""
        return self.seen, self.cursor, self._metadata

    def set_kept(self, cursor: str | None, metadata: dict[str, Any] | None) -> None:
        """Take over the cursor and the unstored metadata of another handle.

        Args:
            cursor: `cursor`.
            metadata: Its metadata, or None if nobody has looked at it.
        """
        self.cursor = cursor
        self._metadata = None if metadata is None else _copied(metadata)

    @property
    def state(self) -> Manifest:
        """The manifest with this handle's cursor and metadata."""
        shown = self.seen
        if shown.versions:
            shown = shown.with_cursor(self.cursor or shown.current_version)
        if self._metadata is not None:
            shown = altered(shown, metadata=self._metadata)
        return shown

    def commit(self, act: Callable[[RecordEdit], T], if_revision: int | None) -> T:
        """Apply the unstored changes, then ``act``, to the record as it is now.

        Raises:
            RecordGone: The record was deleted meanwhile.
            MetadataConflict: Another process has meanwhile set the same key of metadata to
                a different value; nothing is stored.
            RevisionConflict: See `Silo.editing`.
        """
        with self._silo.editing(self._place.identifier, if_revision=if_revision) as edit:
            self._begin(edit)
            for file in self.queued:
                # The edit gets a second link to the file, so a failure leaves the queue intact.
                again = self._silo.staging.new_path()
                atomic_file.duplicate(file.staged.path, again)
                staged = Staged(again, file.staged.digest)
                edit.put(file.version, file.path, staged, metadata=file.metadata)
                edit.log(file.version, file.log)
            result = act(edit)
        self._discard_queue()
        self._see(altered(edit.manifest, pending=Pending()))
        return result

    def revert(self) -> None:
        """Read the record again, discarding changes that are not stored.

        Raises:
            RecordGone: It was deleted meanwhile.
        """
        self._discard_queue()
        found = self._place.read_manifest()
        if found is None and self.seen.is_stored:
            raise self._gone()
        self._see(found or self.seen)

    def _discard_queue(self) -> None:
        while self.queued:
            self._silo.staging.discard(self.queued.pop().staged.path)

    def _gone(self) -> RecordGone:
        return RecordGone(self._place.identifier, self._silo.path)

    def _begin(self, edit: RecordEdit) -> None:
        if not edit.exists:
            if self.seen.is_stored:
                raise self._gone()
            first = self.seen.versions[0]
            origin = new_origin("local")
            edit.add_version(first.name, date=first.date, origin=origin, log=FIRST_LOG)
        for key, value in self._merged_metadata(edit.manifest.metadata).items():
            if value is _ABSENT:
                edit.del_metadata(key)
            else:
                edit.set_metadata(key, value)
        if self.cursor is not None:
            edit.move_cursor(self.cursor)

    def _merged_metadata(self, theirs: Mapping[str, Any]) -> dict[str, Any]:
        """A three-way merge, by key, of the metadata changed here with what is stored now."""
        if self._metadata is None:
            return {}
        changed = {}
        own = json.loads(json.dumps(self._metadata, allow_nan=False))  # as JSON stores it
        for key in dict.fromkeys([*self.seen.metadata, *own]):
            ours, base, now = (part.get(key, _ABSENT) for part in (own, self.seen.metadata, theirs))
            if _same(ours, base) or _same(ours, now):
                continue
            if not _same(now, base):
                shown = [None if value is _ABSENT else value for value in (ours, now)]
                raise MetadataConflict(self._place.identifier, key, *shown)
            changed[key] = ours
        return changed


def _copied(value: Any) -> Any:
    """A deep copy of a JSON value."""
    if isinstance(value, Mapping):
        return {key: _copied(member) for key, member in value.items()}
    return [_copied(member) for member in value] if isinstance(value, list) else value


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; 1, 1.0 and true all differ."""
    if one is _ABSENT or other is _ABSENT:
        return one is other
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
