"""A Silo as the record source of `oaipmhprovider` (OAI-PMH 2.0, sections 2.2 to 2.7)."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime

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
from oaipmhprotocol.words import PROTOCOL_VERSION, DeletedRecord
from oaipmhprovider.arguments import SET_SPEC
from oaipmhprovider.source import Position, Selection, SourceUnavailable
from recordsilo import Silo
from recordsilo.errors import IndexProblem, RecordSiloError
from recordsilo.formats.documents import NoDocument
from recordsilo.repository import Repository
from siloprovider.choosing import DUBLIN_CORE
from siloprovider.dublin_core import OAI_DC, SCHEMA
from siloprovider.errors import ItemsUnreadable, NotGiven
from siloprovider.item_table import Item, Wanted
from siloprovider.items import Items, items_file
from siloprovider.kept import Key
from siloprovider.reading import Document, RecordReader
from siloprovider.set_names import with_parents
from siloprovider.unread import is_same

logger = logging.getLogger("siloprovider")


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


class SiloSource:
    """See `oaipmhprovider.source.RecordSource`. Usable as a context manager.

    Every answer shows the Silo as it is then. A record that cannot be read is left out, and
    logged.

    Args:
        silo: The Silo; this does not close it.
        identity: See `Identity`.
        only_ready: Give the newest version with the state ``ready`` of each record, and no record
            that has none; else the current version.
        now: The current time.
    """

    def __init__(
        self,
        silo: Silo,
        identity: Identity,
        *,
        only_ready: bool = False,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._silo, self._identity = silo, identity
        path = items_file(silo.path, only_ready=only_ready)
        self.items = Items(silo, path, only_ready=only_ready, now=now)
        self._reader = RecordReader(silo, only_ready=only_ready)
        self._repository = Repository(silo.path)
        self._seen: dict[str, tuple[str, str]] = {}

    def close(self) -> None:
        """Close its file."""
        self.items.close()

    def __enter__(self) -> "SiloSource":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ------------------------------------------------------------------ the repository

    def identify(self) -> Identify:
        with available():
            self.items.catch_up()
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

    def formats_of(self, identifier: str) -> Sequence[MetadataFormat]:
        item = self._item(identifier)
        return [self._format(prefix) for prefix in self.items.prefixes_of(item)]

    def sets(self) -> Sequence[Set]:
        names = self._repository.set_names
        with available():
            counts = self._silo.set_counts()
        valid = filter(SET_SPEC.fullmatch, sorted(with_parents(counts)))
        return [Set(spec, str(names.get(spec) or spec)) for spec in valid]

    def _format(self, prefix: str) -> MetadataFormat:
        if prefix == DUBLIN_CORE:
            return MetadataFormat(prefix, SCHEMA, OAI_DC)
        told = self._repository["formats"].get(prefix)
        if not (isinstance(told, list | tuple) and len(told) == 2):
            told = self._seen.get(prefix) or self._look_at(prefix)
        return MetadataFormat(prefix, str(told[0]), str(told[1]))

    def _look_at(self, prefix: str) -> tuple[str, str]:
        """The schema and the namespace that a document in a format names."""
        for item in self.items.some(prefix):
            with suppress(RecordSiloError, OSError, NoDocument):
                names = self._reader.schema_and_namespace(item.identifier, item.version, prefix)
                self._seen[prefix] = names
                break
        return self._seen.get(prefix, ("", ""))

    # ------------------------------------------------------------------ records

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
            self.items.catch_up()
            return self.items.count(wanted_of(selection))

    def _after(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Item]:
        place = None if after is None else (after.datestamp, after.identifier)
        with available():
            return self.items.after(wanted_of(selection), place, limit)

    def _item(self, identifier: str) -> Item:
        with available():
            self.items.catch_up()
            item = self.items.item(identifier)
        if item is None:
            raise IdDoesNotExist("this repository has no item with this identifier")
        return item

    def read(self, items: Sequence[Item], prefix: str) -> Iterator[Record]:
        """Those of the items that can be read, in their order."""
        way, documents = self._reader.way, self.items.documents
        kept = documents.of([one.identifier for one in items if one.version], prefix)
        read: list[tuple[str, Key, Document]] = []
        for item in items:
            document = None
            if item.version:
                wanted = item.version, item.revision, way
                key, document = kept.get(item.identifier, _NOTHING)
                if key != wanted:
                    seal, document = self._read(item, prefix)
                    if document is None:
                        continue
                    if is_same(seal, item.revision):
                        read.append((item.identifier, wanted, document))
            yield Record(header_of(item), *document or ())
        with available():
            documents.keep(prefix, read)

    def _read(self, item: Item, prefix: str) -> tuple[int, Document | None]:
        """A seal and the document; None, and a line in the log, if it cannot be read."""
        try:
            return self._reader.read(item.identifier, item.version, prefix)
        except (RecordSiloError, OSError, NoDocument, NotGiven) as error:
            logger.warning("%s is left out: %s", item.identifier, error)
            return 0, None


_NOTHING: tuple[Key | None, Document | None] = (None, None)


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


def wanted_of(selection: Selection) -> Wanted:
    """Which items a selection has."""
    return Wanted(selection.prefix, selection.from_, selection.until, selection.set_spec)
