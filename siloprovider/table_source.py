"""What the record source of a Silo and that of a directory share: lists out of a table of items."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar

from oaipmhprotocol import (
    CannotDisseminateFormat,
    Granularity,
    Header,
    IdDoesNotExist,
    Identify,
    MetadataFormat,
    Record,
)
from oaipmhprotocol.words import PROTOCOL_VERSION, DeletedRecord
from oaipmhprovider.source import Position, Selection, SourceUnavailable
from recordsilo.closing import Closing
from recordsilo.errors import IndexProblem
from siloprovider.errors import ItemsUnreadable
from siloprovider.item_table import Item, ItemTable, WantedItems


@dataclass(frozen=True, slots=True)
class Identity:
    """What the repository says of itself.

    Attributes:
        name: For people.
        emails: Addresses of who looks after it.
        base_url: Its address.
    """

    name: str
    emails: tuple[str, ...]
    base_url: str = ""


def utc_now() -> datetime:
    """The current time, aware."""
    return datetime.now(UTC)


T = TypeVar("T", bound=ItemTable)


class TableSource(Closing, Generic[T], ABC):
    """Answers from `items`, which `catch_up` keeps in step; see `oaipmhprovider.source`.

    Args:
        identity: See `Identity`.
    """

    items: T

    def __init__(self, identity: Identity) -> None:
        self._identity = identity

    def close(self) -> None:
        """Close its file."""
        self.items.close()

    @abstractmethod
    def catch_up(self) -> None:
        """Take over into `items` what changed."""

    @abstractmethod
    def read(self, items: Sequence[Item], prefix: str) -> Iterable[Record]:
        """Those of the items that can be read, in their order."""

    @abstractmethod
    def _format(self, prefix: str) -> MetadataFormat: ...

    def identify(self) -> Identify:
        with available():
            self.catch_up()
            earliest = self.items.earliest()
        return Identify(
            repository_name=self._identity.name,
            base_url=self._identity.base_url,
            protocol_version=PROTOCOL_VERSION,
            admin_emails=self._identity.emails,
            earliest_datestamp=earliest,
            deleted_record=DeletedRecord.PERSISTENT,
            granularity=Granularity.SECOND,
        )

    def formats(self) -> Sequence[MetadataFormat]:
        return [self._format(prefix) for prefix in self.items.prefixes()]

    def record(self, identifier: str, prefix: str) -> Record:
        item = self._item(identifier)
        if prefix not in self.items.prefixes_of(item):
            raise CannotDisseminateFormat(f"this item is not available as {prefix}")
        found = [*self.read([item], prefix)]
        if not found:
            raise CannotDisseminateFormat("this item cannot be read at the moment")
        return found[0]

    def headers(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Header]:
        return [header_of(item) for item in self._after(selection, after, limit)]

    def records(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Record]:
        found: list[Record] = []
        while len(found) < limit:
            items = self._after(selection, after, limit - len(found))
            if not items:
                break
            found += self.read(items, selection.prefix)
            after = Position(items[-1].datestamp, items[-1].identifier)
        return found

    def count(self, selection: Selection) -> int:
        with available():
            self.catch_up()
            return self.items.count(wanted_of(selection))

    def _after(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Item]:
        place = None if after is None else (after.datestamp, after.identifier)
        with available():
            return self.items.after(wanted_of(selection), place, limit)

    def _item(self, identifier: str) -> Item:
        with available():
            self.catch_up()
            item = self.items.item(identifier)
        if item is None:
            raise IdDoesNotExist("this repository has no item with this identifier")
        return item


@contextmanager
def available() -> Iterator[None]:
    """What may be well again soon: the disk is full, or the index is made anew."""
    try:
        yield
    except (IndexProblem, ItemsUnreadable, OSError) as error:
        raise SourceUnavailable(str(error)) from error


def header_of(item: Item) -> Header:
    """The header of an item."""
    return Header(item.identifier, item.datestamp, item.sets, deleted=not item.version)


def wanted_of(selection: Selection) -> WantedItems:
    """Which items a selection has."""
    return WantedItems(selection.prefix, selection.from_, selection.until, selection.set_spec)
