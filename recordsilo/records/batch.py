"""Several records that change as one group: their edits, and records made in one step."""

from collections.abc import Callable, Iterable, Mapping

from recordsilo.disk.atomic_file import Barrier, Staging
from recordsilo.records.edit import RecordEdit
from recordsilo.records.manifest import Manifest
from recordsilo.records.place import RecordPlace

NewRecord = tuple[Manifest, Mapping[str, bytes]]
"""A record's first manifest, and the path of each file → its content."""


class Batch:
    """The records of one `Silo.batch`.

    Attributes:
        agent: Who makes the changes.
        edits: The edits requested so far.

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
        self._edits: dict[str, RecordEdit] = {}
        self.agent = agent

    @property
    def edits(self) -> list[RecordEdit]:
        """The edits, in the order requested."""
        return list(self._edits.values())

    def edit(self, identifier: str) -> RecordEdit:
        """The edit of a record of this batch; repeated calls return the same one.

        Raises:
            KeyError: The batch was not opened for this record.
            ManifestUnreadable: The record is damaged.
        """
        if (known := self._edits.get(identifier)) is None:
            place = self._own_place(identifier)
            known = self._edits[identifier] = begun(place, self._staging, self._barrier)
        return known

    def create(self, identifier: str, make: Callable[[], NewRecord]) -> bool:
        """Create a record in one step, if nothing exists at its place and it has no edit yet.

        Args:
            identifier: The record's.
            make: Returns its manifest, with one version, and the contents of its files.

        Returns:
            Whether it was created; if not, ``make`` was not called, and `edit` finds out more.

        Raises:
            KeyError: The batch was not opened for this record.
        """
        place = self._own_place(identifier)
        if identifier in self._edits or not place.is_vacant():
            return False
        edit = RecordEdit.of_new(place, *make(), self._staging, self._barrier)
        self._edits[identifier] = edit
        return True

    def _own_place(self, identifier: str) -> RecordPlace:
        if identifier not in self._identifiers:
            raise KeyError(f"{identifier} is not among the identifiers of this batch")
        return self._place_of(identifier)

    def drop(self, identifier: str) -> None:
        """Discard a record's edit, so that it is not committed."""
        if edit := self._edits.pop(identifier, None):
            edit.discard()


def begun(place: RecordPlace, staging: Staging, barrier: Barrier) -> RecordEdit:
    return RecordEdit(place, place.read_manifest(to_change=True), staging, barrier)
