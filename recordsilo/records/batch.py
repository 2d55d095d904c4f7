"""Several records that change as one group: their edits, and records made in one step."""

from collections.abc import Callable, Iterable, Mapping

from recordsilo.disk.atomic_file import Barrier, Staging
from recordsilo.records.creation import Creation, FirstState
from recordsilo.records.edit import RecordEdit
from recordsilo.records.manifest import Manifest
from recordsilo.records.place import RecordPlace

NewRecord = FirstState | tuple[Manifest, Mapping[str, bytes]]
"""All that is written of a new record; or its first manifest, and the path of each file → its
content."""


class Batch:
    """The records of one `Silo.batch`.

    Attributes:
        agent: Who makes the changes.

    Args:
        identifiers: The records that can be edited.
        place_of: Identifier → the record's place.
        staging: Where their files are staged.
        barrier: Makes all changes durable.
        agent: See the attribute.
    """

    def __init__(
        self,
        identifiers: Iterable[str],
        place_of: Callable[[str], RecordPlace],
        staging: Staging,
        barrier: Barrier,
        agent: str,
    ) -> None:
        self._identifiers = frozenset(identifiers)
        self._place_of = place_of
        self._staging, self._barrier = staging, barrier
        self._changes: dict[str, RecordEdit | Creation] = {}
        self.agent = agent

    @property
    def changes(self) -> list[RecordEdit | Creation]:
        """What was requested so far, in order: edits, and records that were made in one step."""
        return list(self._changes.values())

    @property
    def edits(self) -> list[RecordEdit]:
        """The edits, in the order requested."""
        return [one for one in self._changes.values() if isinstance(one, RecordEdit)]

    def edit(self, identifier: str) -> RecordEdit:
        """The edit of a record of this batch; repeated calls return the same one.

        Raises:
            KeyError: The batch was not opened for this record.
            ManifestUnreadable: The record is damaged.
        """
        known = self._changes.get(identifier)
        if known is None:
            known = begun(self._own_place(identifier), self._staging, self._barrier)
        edit = self._changes[identifier] = known.as_edit()
        return edit

    def create(self, identifier: str, make: Callable[[], NewRecord]) -> bool:
        """Create a record in one step, if nothing exists at its place and it has no edit yet.

        Args:
            make: Returns its manifest, with one version, and the contents of its files; or all
                that is written of it.

        Returns:
            Whether it was created; if not, ``make`` was not called, and `edit` finds out more.

        Raises:
            KeyError: The batch was not opened for this record.
        """
        place = self._own_place(identifier)
        if identifier in self._changes or not place.is_vacant():
            return False
        made = make()
        self._changes[identifier] = (
            Creation(place, made, self._staging, self._barrier)
            if isinstance(made, FirstState)
            else RecordEdit.of_new(place, *made, self._staging, self._barrier)
        )
        return True

    def _own_place(self, identifier: str) -> RecordPlace:
        if identifier not in self._identifiers:
            raise KeyError(f"{identifier} is not among the identifiers of this batch")
        return self._place_of(identifier)

    def drop(self, identifier: str) -> None:
        """Discard a record's edit, so that it is not committed."""
        if change := self._changes.pop(identifier, None):
            change.discard()


def begun(place: RecordPlace, staging: Staging, barrier: Barrier) -> RecordEdit:
    return RecordEdit(place, place.read_manifest(to_change=True), staging, barrier)
