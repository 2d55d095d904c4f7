"""How a handle on a record changes it: what every method that does so has in common.

The record is read again under its lock, the change applied to that, and committed.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from recordsilo.disk import atomic_file
from recordsilo.disk.atomic_file import Staged
from recordsilo.errors import MetadataConflict, RecordGone
from recordsilo.records.edit import RecordEdit, new_origin
from recordsilo.records.manifest import Manifest, Pending, altered, now_text
from recordsilo.records.place import RecordPlace
from recordsilo.records.record_view import RecordKeeper, RecordView

T = TypeVar("T")
_ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class Note:
    """Who, why, and at which revision: what every change is told by keyword."""

    agent: str = ""
    message: str = ""
    if_revision: int | None = None


class RecordChanges(RecordView):
    """A handle on a record that merges and stores what was changed through it."""

    def __init__(
        self,
        silo: RecordKeeper,
        place: RecordPlace,
        found: Manifest | None,
        *,
        date: datetime | str | None = None,
        startversion: str = "1",
    ) -> None:
        super().__init__(silo, place, found, date=date, startversion=startversion)
        self._queued: list[tuple[str, str, Staged, bool | None, str]] = []

    def _change(self, act: Callable[[RecordEdit], T], if_revision: int | None) -> T:
        """Apply pending changes of this handle, then ``act``, to the record as it is now."""
        with self._silo.editing(self.item_id, if_revision=if_revision) as edit:
            self._begin(edit)
            for path, version, staged, metadata, log in self._queued:
                # The edit gets a second name of the file: should it fail, the queue is as it was.
                again = self._silo.staging.new_path()
                atomic_file.duplicate(staged.path, again)
                edit.put(version, path, Staged(again, staged.digest), metadata=metadata)
                edit.log(version, log)
            result = act(edit)
        self._forget_queue()
        self._cursor = None
        self._show(altered(edit.manifest, pending=Pending()))
        return result

    def _forget_queue(self) -> None:
        while self._queued:
            self._silo.staging.discard(self._queued.pop()[2].path)

    def _begin(self, edit: RecordEdit) -> None:
        if not edit.exists:
            if self.exists:
                raise RecordGone(self.item_id, self._silo.path)
            name, date = self._start()
            edit.add_version(name, date=date, origin=new_origin("local"),
                             log="Created new data package")  # fmt: skip
        for key, value in self._merged_metadata(edit.manifest.metadata).items():
            if value is _ABSENT:
                edit.del_metadata(key)
            else:
                edit.set_metadata(key, value)
        if self._cursor is not None:
            edit.move_cursor(self._cursor)

    def _merged_metadata(self, theirs: Any) -> dict[str, Any]:
        """The keys this handle changed, merged with what is stored now (three ways, by key)."""
        if "_metadata" not in vars(self):  # nobody asked for it
            return {}
        changed = {}
        own = json.loads(json.dumps(self._metadata, allow_nan=False))  # as JSON will keep it
        for key in dict.fromkeys([*self._base, *own]):
            ours, base, now = (part.get(key, _ABSENT) for part in (own, self._base, theirs))
            if _same(ours, base) or _same(ours, now):
                continue
            if not _same(now, base):
                shown = [None if value is _ABSENT else value for value in (ours, now)]
                raise MetadataConflict(self.item_id, key, *shown)
            changed[key] = ours
        return changed

    def sync(self, *, agent: str = "", message: str = "", if_revision: int | None = None) -> None:
        """Store the metadata, the cursor, and what was put with ``sync=False``.

        Raises:
            MetadataConflict: A key of metadata was changed here, and meanwhile by
                somebody else, to another value; nothing is stored.
        """

        def act(edit: RecordEdit) -> None:
            if edit.changed and (agent or message):
                edit.log(edit.manifest.current_version, self._line("Synced", agent, message))

        self._change(act, if_revision)

    def revert(self) -> None:
        """Read the record again; what was not synced is gone.

        Raises:
            RecordGone: It was deleted meanwhile.
        """
        self._forget_queue()
        self._cursor = None
        found = self._place.read_manifest()
        if found is None and self.exists:
            raise RecordGone(self.item_id, self._silo.path)
        self._show(found or self._unwritten())

    revert_manifest = revert

    def _line(self, text: str, agent: str, message: str) -> str:
        """A line of the version log: the words of 2010, then when, who and why if told."""
        if not agent and not message:
            return text
        why = f": {message}" if message else ""
        return f"{text} [{now_text()} {agent or self._silo.agent}{why}]"


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; 1, 1.0 and true are not."""
    if one is _ABSENT or other is _ABSENT:
        return one is other
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
