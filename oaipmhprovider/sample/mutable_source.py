"""Changes published over a source that does not change itself."""

import heapq
import threading
from bisect import bisect_right, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from oaipmhprotocol import (
    CannotDisseminateFormat,
    Granularity,
    Header,
    IdDoesNotExist,
    Identify,
    MetadataFormat,
    Record,
    Set,
)
from oaipmhprotocol.datestamps import format_datestamp
from oaipmhprovider.source import Position, RecordSource, Selection


@dataclass(frozen=True, slots=True)
class _Item:
    """An item as published here: one header, one document for each format."""

    header: Header
    documents: Mapping[str, bytes | None]
    about: tuple[bytes, ...] = ()

    def record(self, prefix: str) -> Record:
        if self.header.deleted:
            return Record(self.header)
        return Record(self.header, self.documents[prefix], self.about)


class MutableSource:
    """A `RecordSource` over another one, in which items are published, deleted and brought back.

    What is changed is held in memory; the rest is the other source's, which must not
    change itself. An item changed here keeps its place in the order of lists by its
    new datestamp, so a harvester that pages through a list meets it at the end.

    Every change takes the moment it is published at; the datestamp is that moment in
    the source's granularity.
    """

    def __init__(self, base: RecordSource) -> None:
        self._base = base
        self._lock = threading.RLock()
        self._items: dict[str, _Item] = {}
        self._order: list[Position] = []
        self._shadowed: list[tuple[Header, frozenset[str]]] = []
        self._sets: dict[str, Set] = {one.spec: one for one in base.sets()}

    # --- publishing

    def publish(
        self,
        identifier: str,
        documents: Mapping[str, bytes],
        moment: datetime,
        *,
        set_specs: Sequence[str] | None = None,
        about: Sequence[bytes] = (),
    ) -> Header:
        """Publish an item, new, changed or brought back, in exactly the formats given.

        Args:
            identifier: New or known.
            documents: The metadata document of each prefix; none: an item without formats.
            moment: When.
            set_specs: None keeps the sets of a known item.
            about: About containers, given out with every format.

        Returns:
            The header as it is listed from now on.
        """
        with self._lock:
            if set_specs is None:
                set_specs = self._set_specs(identifier)
            header = Header(identifier, "", tuple(set_specs))
            return self._put(_Item(header, dict(documents), tuple(about)), moment)

    def revise(
        self, identifier: str, moment: datetime, edit: Callable[[bytes], bytes] = bytes
    ) -> Header:
        """Publish an item again, each of its documents as ``edit`` returns it.

        Without ``edit`` only the datestamp is new.

        Raises:
            IdDoesNotExist: No such item, or it is deleted.
        """
        with self._lock:
            item = self._live(identifier)
            documents = {prefix: edit(text) for prefix, text in item.documents.items() if text}
            return self._put(replace(item, documents=documents), moment)

    def delete(self, identifier: str, moment: datetime) -> Header:
        """Delete an item: from now on its header, marked so, is all there is of it.

        Raises:
            IdDoesNotExist: No such item.
        """
        with self._lock:
            item = self._item(identifier)
            gone = replace(item, header=replace(item.header, deleted=True))
            return self._put(gone, moment)

    def restore(self, identifier: str, moment: datetime) -> Header:
        """Bring an item that was deleted here back as it last was.

        Raises:
            IdDoesNotExist: No such item, or the source underneath has it deleted.
        """
        with self._lock:
            item = self._item(identifier)
            back = replace(item, header=replace(item.header, deleted=False))
            if None in back.documents.values():
                raise IdDoesNotExist(f"there is nothing to bring {identifier} back with")
            return self._put(back, moment)

    def add_set(self, new: Set) -> None:
        """Add a set, or rename one; items join it when they are published with it."""
        with self._lock:
            self._sets[new.spec] = new

    # --- the source

    def identify(self) -> Identify:
        """The source underneath, with an earliest datestamp that is true of both."""
        identity = self._base.identify()
        with self._lock:
            if self._order and self._order[0].datestamp < identity.earliest_datestamp:
                return replace(identity, earliest_datestamp=self._order[0].datestamp)
        return identity

    def formats(self) -> Sequence[MetadataFormat]:
        """The formats of the source underneath."""
        return self._base.formats()

    def formats_of(self, identifier: str) -> Sequence[MetadataFormat]:
        with self._lock:
            item = self._items.get(identifier)
        if item is None:
            return self._base.formats_of(identifier)
        return [one for one in self.formats() if one.prefix in item.documents]

    def sets(self) -> Sequence[Set]:
        """The sets of the source underneath, then those added."""
        with self._lock:
            return list(self._sets.values())

    def record(self, identifier: str, prefix: str) -> Record:
        with self._lock:
            item = self._items.get(identifier)
        if item is None:
            return self._base.record(identifier, prefix)
        if prefix not in item.documents:
            raise CannotDisseminateFormat("the item is not to be had in this metadata format")
        return item.record(prefix)

    def headers(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Header]:
        with self._lock:
            changed = [item.header for item in self._changed(selection, after, limit)]
            kept = self._unchanged(selection, after, limit)
        return [*heapq.merge(kept, changed, key=Position.of)][:limit]

    def records(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Record]:
        with self._lock:
            headers = self.headers(selection, after, limit)
            return [self.record(header.identifier, selection.prefix) for header in headers]

    def count(self, selection: Selection) -> int:
        with self._lock:
            hidden = sum(
                selection.prefix in prefixes and selection.matches(header)
                for header, prefixes in self._shadowed
            )
            added = sum(1 for _ in self._changed(selection, None, len(self._order)))
        return self._base.count(selection) - hidden + added

    # --- within

    def _datestamp(self, moment: datetime) -> str:
        return format_datestamp(moment, self._base.identify().granularity or Granularity.SECOND)

    def _put(self, item: _Item, moment: datetime) -> Header:
        identifier = item.header.identifier
        before = self._items.get(identifier)
        if before is not None:
            self._order.remove(Position.of(before.header))
        elif (below := self._item_below(identifier)) is not None:
            self._shadowed.append((below.header, frozenset(below.documents)))
        header = replace(item.header, datestamp=self._datestamp(moment))
        self._items[identifier] = replace(item, header=header)
        insort(self._order, Position.of(header))
        return header

    def _item(self, identifier: str) -> _Item:
        item = self._items.get(identifier) or self._item_below(identifier)
        if item is None:
            raise IdDoesNotExist(f"there is no item {identifier}")
        return item

    def _live(self, identifier: str) -> _Item:
        item = self._item(identifier)
        if item.header.deleted:
            raise IdDoesNotExist(f"the item {identifier} is deleted")
        return item

    def _item_below(self, identifier: str) -> _Item | None:
        """What the source underneath has of an item; None for no item or no formats."""
        try:
            formats = self._base.formats_of(identifier)
        except IdDoesNotExist:
            return None
        records = {one.prefix: self._base.record(identifier, one.prefix) for one in formats}
        if not records:
            return None
        first = next(iter(records.values()))
        documents = {prefix: record.metadata for prefix, record in records.items()}
        return _Item(first.header, documents, first.about)

    def _set_specs(self, identifier: str) -> tuple[str, ...]:
        item = self._items.get(identifier) or self._item_below(identifier)
        return item.header.set_specs if item else ()

    def _changed(self, selection: Selection, after: Position | None, limit: int) -> Iterator[_Item]:
        begin = bisect_right(self._order, after) if after is not None else 0
        found = 0
        for position in self._order[begin:]:
            item = self._items[position.identifier]
            if selection.prefix in item.documents and selection.matches(item.header):
                yield item
                found += 1
                if found == limit:
                    return

    def _unchanged(self, selection: Selection, after: Position | None, limit: int) -> list[Header]:
        kept: list[Header] = []
        while len(kept) < limit:
            headers = self._base.headers(selection, after, limit)
            kept += [header for header in headers if header.identifier not in self._items]
            if len(headers) < limit:
                break
            after = Position.of(headers[-1])
        return kept
