"""The interface that a data provider needs of a store (OAI-PMH 2.0, sections 2.2–2.7).

Any store that can list its records in the order of (datestamp, identifier) can be served. The
sample repository is one such source.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from oaipmhprotocol import Header, Identify, MetadataFormat, Record, Set


@dataclass(frozen=True, slots=True)
class Selection:
    """The records that a list request selects (section 2.7).

    Attributes:
        prefix: The metadata format.
        from_: Earliest datestamp, as text in the source's granularity; None for no bound.
        until: Latest datestamp, likewise; inclusive.
        set_spec: Only records of this set or of one below it.
    """

    prefix: str
    from_: str | None = None
    until: str | None = None
    set_spec: str | None = None

    def matches(self, header: Header) -> bool:
        """Whether a header is within the dates and the set; the format is not checked."""
        if self.from_ is not None and header.datestamp < self.from_:
            return False
        if self.until is not None and header.datestamp > self.until:
            return False
        return self.set_spec is None or any(
            lies_in(spec, self.set_spec) for spec in header.set_specs
        )


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A position in the order of all lists: directly after this record."""

    datestamp: str
    identifier: str

    @classmethod
    def of(cls, header: Header) -> "Position":
        """Return the position of a record."""
        return cls(header.datestamp, header.identifier)


def lies_in(set_spec: str, wanted: str) -> bool:
    """Whether a set is the wanted one or below it (``a:b`` is in ``a``)."""
    return set_spec == wanted or set_spec.startswith(wanted + ":")


class SourceUnavailable(Exception):
    """A source cannot be asked now, and can be later; the text says why, to who runs it."""


class RecordSource(Protocol):
    """Interface of a store; every method may be called from several threads.

    Any of them may raise `SourceUnavailable`.

    Datestamps in headers have the granularity that `identify` returns, so that they sort as text.
    Texts have only characters that XML allows. Metadata, about containers and descriptions are
    well-formed XML documents in UTF-8 that declare every namespace they use (`answers.embeddable`
    says what may come before the root element).
    """

    def identify(self) -> Identify:
        """Return the data of Identify, with one of the two granularities.

        ``protocol_version``, ``response_date`` and ``other`` are not used.
        """

    def formats(self) -> Sequence[MetadataFormat]:
        """Return every format in which some record is available."""

    def formats_of(self, identifier: str) -> Sequence[MetadataFormat]:
        """Return the formats of one item; empty if it has none.

        Raises:
            IdDoesNotExist: No such item.
        """

    def sets(self) -> Sequence[Set]:
        """Return every set, parents before children; empty without a set hierarchy."""

    def record(self, identifier: str, prefix: str) -> Record:
        """Return one record; a deleted one has neither metadata nor about containers.

        Raises:
            IdDoesNotExist: No such item.
            CannotDisseminateFormat: The item is not available in this format.
        """

    def headers(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Header]:
        """Return at most ``limit`` headers of a selection after a position, in order.

        The cost depends on ``limit``, not on how far ``after`` is from the beginning.
        ``after`` need not be the position of an existing record.
        """

    def records(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Record]:
        """Return the records for the same arguments as `headers`."""

    def count(self, selection: Selection) -> int:
        """Return how many records a selection has now."""


class Written(NamedTuple):
    """A record as it is in a response.

    Attributes:
        element: Its ``record`` element, as `answers.record_element` writes it.
    """

    datestamp: str
    identifier: str
    element: bytes

    @property
    def position(self) -> Position:
        """Its position in the order of all lists."""
        return Position(self.datestamp, self.identifier)


@runtime_checkable
class WritingSource(Protocol):
    """A source that keeps records as they are written, beside the interface of `RecordSource`."""

    def written(
        self, selection: Selection, after: Position | None, limit: int
    ) -> Sequence[Written]:
        """Return what `RecordSource.records` returns for the same arguments, written."""
