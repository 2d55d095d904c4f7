"""A Silo as the record source of `oaipmhprovider` (OAI-PMH 2.0, sections 2.2 to 2.7)."""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from lxml import etree

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
from oaipmhprotocol.words import PROTOCOL_VERSION, XSI_NAMESPACE, DeletedRecord
from oaipmhprovider.arguments import SET_SPEC
from oaipmhprovider.source import Position, Selection, SourceUnavailable
from recordsilo import HarvestedRecord, Silo
from recordsilo.errors import IndexProblem, RecordSiloError
from recordsilo.formats import Description, describe_main
from recordsilo.formats.documents import NoDocument, parsed_whole, unwrap
from recordsilo.repository import Repository
from siloprovider.choosing import DUBLIN_CORE, prefixes_of
from siloprovider.descriptions import rights_in
from siloprovider.dublin_core import OAI_DC, SCHEMA, oai_dc_of
from siloprovider.errors import ItemsUnreadable
from siloprovider.items import Item, Items, Wanted, items_file, with_parents
from siloprovider.provenance import Harvested, provenance_of

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
        with _available():
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
        with _available():
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
            record = self._read(item, _header(item), prefix)
            if record is not None and record.metadata is not None:
                self._seen[prefix] = named_in(record.metadata)
                break
        return self._seen.get(prefix, ("", ""))

    # ------------------------------------------------------------------ records

    def record(self, identifier: str, prefix: str) -> Record:
        item = self._item(identifier)
        header = _header(item)
        if prefix not in self.items.prefixes_of(item):
            raise CannotDisseminateFormat(f"this item is not available as {prefix}")
        if header.deleted:
            return Record(header)
        found = self._read(item, header, prefix)
        if found is None:
            raise CannotDisseminateFormat("this item cannot be read at the moment")
        return found

    def headers(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Header]:
        return [_header(item) for item in self._after(selection, after, limit)]

    def records(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Record]:
        found: list[Record] = []
        while len(found) < limit:
            items = self._after(selection, after, limit - len(found))
            for item in items:
                header = _header(item)
                read = (
                    Record(header) if header.deleted else self._read(item, header, selection.prefix)
                )
                if read is not None:
                    found.append(read)
            if not items:
                break
            after = Position(items[-1].datestamp, items[-1].identifier)
        return found

    def count(self, selection: Selection) -> int:
        with _available():
            self.items.catch_up()
            return self.items.count(_wanted(selection))

    def _after(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Item]:
        place = None if after is None else (after.datestamp, after.identifier)
        with _available():
            return self.items.after(_wanted(selection), place, limit)

    def _item(self, identifier: str) -> Item:
        with _available():
            self.items.catch_up()
            item = self.items.item(identifier)
        if item is None:
            raise IdDoesNotExist("this repository has no item with this identifier")
        return item

    def _read(self, item: Item, header: Header, prefix: str) -> Record | None:
        """A record; None, and a line in the log, if it cannot be read."""
        try:
            record = self._silo.get_item(item.identifier)
            version = record.state.version(item.version)
            held = prefixes_of(version)
            if prefix in held:
                with record.get_stream(prefix, version.name) as stream:
                    content = stream.read()
                metadata = unwrap(content) or _checked(content)
            else:
                metadata = oai_dc_of(_description(record, version.name, held))
            namespace = named_in(metadata)[1]
            metadata = metadata if namespace else in_no_namespace(metadata)
            about = self._about(record, item, prefix, namespace)
        except (RecordSiloError, OSError, NoDocument) as error:
            logger.warning("%s is left out: %s", item.identifier, error)
            return None
        return Record(header, metadata, about)

    def _about(
        self, record: HarvestedRecord, item: Item, prefix: str, namespace: str
    ) -> tuple[bytes, ...]:
        """Where the record was harvested; nothing for a record that was made here."""
        manifest = record.state
        harvested = [one for one in manifest.versions if one.origin.kind == "harvest"]
        base_url = self._silo.state.get("base_oai_url")
        if not harvested or not base_url:
            return ()
        newest = harvested[-1]
        earlier = []
        if f"{prefix}.about" in newest.paths:
            with record.get_stream(f"{prefix}.about", newest.name) as stream:
                earlier.append(stream.read())
        told = Harvested(
            base_url=str(base_url),
            identifier=str(manifest.metadata.get("identifier") or manifest.item_id),
            datestamp=_dated(newest.origin.prefixes.get(prefix) or newest.date),
            namespace=namespace,
            date=_dated(newest.origin.date or newest.date),
            is_altered=item.version != newest.name or prefix not in newest.metadata_files,
        )
        return (provenance_of(told, earlier), *rights_in(earlier))


def _description(record: HarvestedRecord, version: str, held: Sequence[str]) -> Description:
    def read(path: str) -> bytes | None:
        with record.get_stream(path, version) as stream:
            return stream.read()

    return describe_main(held, read)


def _dated(text: str) -> str:
    """A date in the form of 2010 as a datestamp."""
    return f"{text[:19]}Z" if "T" in text else text


def _checked(content: bytes) -> bytes:
    """A document that is not in an element of OAI-PMH, in UTF-8 whatever it was in.

    Raises:
        NoDocument: It cannot be embedded in a response.
    """
    root = parsed_whole(content)
    if (root.getroottree().docinfo.encoding or "UTF-8").upper() in {"UTF-8", "ASCII", "US-ASCII"}:
        return content
    return etree.tostring(root, encoding="UTF-8")


@contextmanager
def _available() -> Iterator[None]:
    """What may be well again soon: the disk is full, or the index is made anew."""
    try:
        yield
    except (IndexProblem, ItemsUnreadable, OSError) as error:
        raise SourceUnavailable(str(error)) from error


def in_no_namespace(document: bytes) -> bytes:
    """A document without a namespace, which would get that of the response it is embedded in."""
    written = etree.tostring(parsed_whole(document), encoding="UTF-8", xml_declaration=False)
    name = re.match(rb"<[^\s/>]+", written)
    assert name is not None
    return name[0] + b' xmlns=""' + written[name.end() :]


def named_in(document: bytes) -> tuple[str, str]:
    """The schema and the namespace that a document names for its root; empty if none."""
    root = parsed_whole(document)
    namespace = etree.QName(root).namespace or ""
    pairs = (root.get(f"{{{XSI_NAMESPACE}}}schemaLocation") or "").split()
    return dict(zip(pairs[::2], pairs[1::2], strict=False)).get(namespace, ""), namespace


def _header(item: Item) -> Header:
    return Header(item.identifier, item.datestamp, item.sets, deleted=not item.version)


def _wanted(selection: Selection) -> Wanted:
    return Wanted(selection.prefix, selection.from_, selection.until, selection.set_spec)
