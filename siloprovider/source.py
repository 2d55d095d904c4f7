"""A Silo as the record source of `oaipmhprovider` (OAI-PMH 2.0, sections 2.2 to 2.7)."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import lru_cache

from oaipmhprotocol import MetadataFormat, Record, Set
from oaipmhprovider import answers
from oaipmhprovider.arguments import SET_SPEC
from oaipmhprovider.source import Position, Selection, Written
from recordsilo import Silo
from recordsilo.errors import RecordSiloError
from recordsilo.formats.documents import NoDocument
from recordsilo.repository import Repository
from siloprovider.choosing import DUBLIN_CORE
from siloprovider.dublin_core import OAI_DC, SCHEMA
from siloprovider.errors import NotGiven
from siloprovider.item_table import Item, item_of, specs_in
from siloprovider.items import Items, items_file
from siloprovider.kept import Key, parts_of
from siloprovider.reading import Document, RecordReader
from siloprovider.set_names import with_parents
from siloprovider.table_source import (
    Identity,
    TableSource,
    available,
    header_of,
    utc_now,
    wanted_of,
)
from siloprovider.unread import is_same

logger = logging.getLogger("siloprovider")


class SiloSource(TableSource[Items]):
    """See `oaipmhprovider.source.RecordSource`. Usable as a context manager.

    Every answer shows the Silo as it is then. A record that cannot be read is left out, and
    logged.

    Args:
        silo: The Silo; this does not close it.
        identity: See `Identity`.
        only_ready: Give the newest version with the state ``ready`` of each record, and no record
            that has none; else the current version.
    """

    def __init__(
        self,
        silo: Silo,
        identity: Identity,
        *,
        only_ready: bool = False,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        super().__init__(identity)
        self._silo = silo
        path = items_file(silo.path, only_ready=only_ready)
        self.items = Items(silo, path, only_ready=only_ready, now=now)
        self._reader = RecordReader(silo, only_ready=only_ready)
        self._repository = Repository(silo.path)
        self._seen: dict[str, tuple[str, str]] = {}

    def catch_up(self) -> None:
        """See `Items.catch_up`."""
        self.items.catch_up()

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

    def written(
        self, selection: Selection, after: Position | None, limit: int
    ) -> Sequence[Written]:
        """See `oaipmhprovider.source.WritingSource`: of what is kept, a page is one query."""
        found: list[Written] = []
        wanted, prefix = wanted_of(selection), selection.prefix
        beside = self.items.documents.beside(prefix, self._reader.way)
        place = None if after is None else (after.datestamp, after.identifier)
        while len(found) < limit:
            with available():
                rows = self.items.rows_after(wanted, place, limit - len(found), beside)
            if not rows:
                break
            unkept = [item_of(row[:-2]) for row in rows if row[2] and row[-1] is None]
            read = {one.header.identifier: one for one in self.read(unkept, prefix)}
            for identifier, stamp, version, sets, _, _, metadata, about in rows:
                if identifier in read:
                    found.append(answers.written(read[identifier]))
                elif metadata is not None or not version:
                    head = _header(identifier, stamp, sets, deleted=not version)
                    content = () if metadata is None else (metadata, *parts_of(about))
                    found.append(Written(stamp, identifier, answers.record_of(head, *content)))
            place = rows[-1][1], rows[-1][0]
        return found

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


def _header(identifier: str, stamp: str, sets: str, *, deleted: bool) -> bytes:
    return answers.header_of(answers.escape(identifier), stamp, _specs(sets), deleted=deleted)


@lru_cache(maxsize=1000)
def _specs(sets: str) -> str:
    """The sets of an item as they are written; many items have the same."""
    return answers.set_specs(specs_in(sets))


_NOTHING: tuple[Key | None, Document | None] = (None, None)
