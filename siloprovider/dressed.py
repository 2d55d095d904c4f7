"""A record source as its settings wish it: own identifiers, rights, and what it says of itself."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from oaipmhprotocol import (
    BadResumptionToken,
    Header,
    IdDoesNotExist,
    Identify,
    MetadataFormat,
    Record,
    Set,
)
from oaipmhprovider import answers
from oaipmhprovider.source import Position, RecordSource, Selection, Written
from siloprovider import descriptions
from siloprovider.identifiers import mapped, original, shared_prefix
from siloprovider.settings import ProviderSettings
from siloprovider.table_source import available


class DressedSource:
    """See `oaipmhprovider.source.RecordSource`; lists keep the order of the source below.

    A record whose source says which rights it is under keeps that, and gets no others.

    Args:
        source: With the identifiers of the records.
        settings: Whose identifiers, rights, friends and branding count.
        ends: Returns the first and the last identifier of the source, both empty if it has none.
    """

    def __init__(
        self, source: RecordSource, settings: ProviderSettings, ends: Callable[[], tuple[str, str]]
    ) -> None:
        self._source, self._settings, self._ends = source, settings, ends
        self._prefix = settings.identifiers
        self._rights = (descriptions.rights_of(settings.rights),) if settings.rights else ()

    def identify(self) -> Identify:
        found = self._source.identify()
        return replace(found, descriptions=(*found.descriptions, *self._descriptions()))

    def _descriptions(self) -> tuple[bytes, ...]:
        settings, said = self._settings, []
        with available():
            first, last = self._ends()
        if self._prefix:
            given = mapped(self._prefix, first or "1")
            said.append(descriptions.oai_identifier_of(self._prefix, given))
        elif prefix := shared_prefix(first, last):
            said.append(descriptions.oai_identifier_of(prefix, first))
        if settings.rights:
            said.append(descriptions.rights_manifest_of(settings.rights))
        if settings.branding is not None:
            said.append(descriptions.branding_of(settings.branding))
        if settings.friends:
            said.append(descriptions.friends_of(settings.friends))
        return tuple(said)

    def formats(self) -> Sequence[MetadataFormat]:
        return self._source.formats()

    def formats_of(self, identifier: str) -> Sequence[MetadataFormat]:
        return self._source.formats_of(self._original(identifier))

    def sets(self) -> Sequence[Set]:
        return self._source.sets()

    def record(self, identifier: str, prefix: str) -> Record:
        return self._dressed(self._source.record(self._original(identifier), prefix))

    def headers(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Header]:
        found = self._source.headers(selection, self._place(after), limit)
        return [*map(self._header, found)] if self._prefix else found

    def records(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Record]:
        found = self._source.records(selection, self._place(after), limit)
        return [*map(self._dressed, found)] if self._prefix or self._rights else found

    def written(
        self, selection: Selection, after: Position | None, limit: int
    ) -> Sequence[Written]:
        """See `oaipmhprovider.source.WritingSource`."""
        if not self._prefix and not self._rights:
            return answers.written_by(self._source, selection, after, limit)
        return [answers.written(record) for record in self.records(selection, after, limit)]

    def count(self, selection: Selection) -> int:
        return self._source.count(selection)

    def _dressed(self, record: Record) -> Record:
        header, about = self._header(record.header), record.about
        if self._rights and record.metadata is not None:
            about = about if any(map(descriptions.is_rights, about)) else (*about, *self._rights)
        return replace(record, header=header, about=about)

    def _header(self, header: Header) -> Header:
        if not self._prefix:
            return header
        return replace(header, identifier=mapped(self._prefix, header.identifier))

    def _original(self, identifier: str) -> str:
        found = original(self._prefix, identifier)
        if found is None:
            raise IdDoesNotExist(
                f"this repository has no item with this identifier; each begins with {self._prefix}"
            )
        return found

    def _place(self, after: Position | None) -> Position | None:
        if after is None or not self._prefix:
            return after
        found = original(self._prefix, after.identifier)
        if found is None:
            raise BadResumptionToken(
                "this repository had other identifiers when the list began; begin it again"
            )
        return Position(after.datestamp, found)
