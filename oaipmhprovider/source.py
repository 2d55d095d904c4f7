"""What a data provider needs of a store (OAI-PMH 2.0, sections 2.2–2.7).

Any store that can list its records in the order of (datestamp, identifier) can be
served: the sample repository is one source, a Silo may be another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from oaipmhprotocol import Header, Identify, MetadataFormat, Record, Set


@dataclass(frozen=True, slots=True)
class Selection:
    """Which records a list request asks for (section 2.7).

    Attributes:
        prefix: The metadata format.
        from_: First datestamp wanted, as text in the source's own granularity; None: no bound.
        until: Last datestamp wanted, likewise; inclusive.
        set_spec: Only records of this set or of a set below it.
    """

    prefix: str
    from_: str | None = None
    until: str | None = None
    set_spec: str | None = None

    def matches(self, header: Header) -> bool:
        """Whether a header lies within the dates and the set; formats are not looked at."""
        if self.from_ is not None and header.datestamp < self.from_:
            return False
        if self.until is not None and header.datestamp > self.until:
            return False
        return self.set_spec is None or any(
            lies_in(spec, self.set_spec) for spec in header.set_specs
        )


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in the order in which every list is sent: right after this record."""

    datestamp: str
    identifier: str

    @classmethod
    def of(cls, header: Header) -> "Position":
        """The position of a record."""
        return cls(header.datestamp, header.identifier)


def lies_in(set_spec: str, wanted: str) -> bool:
    """Whether a set is the wanted one or lies below it (``a:b`` lies in ``a``)."""
    return set_spec == wanted or set_spec.startswith(wanted + ":")


class RecordSource(Protocol):
    """A store as a data provider sees it; every method may be called from several threads.

    Datestamps in headers are written in the granularity that `identify` names, so
    that their order as text is their order in time. Texts hold only characters that
    XML allows. Metadata, about containers and descriptions are well-formed XML
    documents in UTF-8 which declare every namespace they use (see
    `answers.embeddable` for what may stand before the root element).
    """

    def identify(self) -> Identify:
        """What the repository says of itself; ``granularity`` is one of the two.

        ``protocol_version``, ``response_date`` and ``other`` are not used.
        """

    def formats(self) -> Sequence[MetadataFormat]:
        """Every format in which some record can be had."""

    def formats_of(self, identifier: str) -> Sequence[MetadataFormat]:
        """The formats of one item; empty where it has none.

        Raises:
            IdDoesNotExist: No such item.
        """

    def sets(self) -> Sequence[Set]:
        """Every set, parents before children; empty where there is no set hierarchy."""

    def record(self, identifier: str, prefix: str) -> Record:
        """One record; a deleted one has neither metadata nor about containers.

        Raises:
            IdDoesNotExist: No such item.
            CannotDisseminateFormat: The item is not to be had in this format.
        """

    def headers(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Header]:
        """At most ``limit`` headers of a selection, in the order of `Position`, after one.

        The cost depends on ``limit``, not on how far ``after`` is from the beginning.
        ``after`` need not be the position of a record that (still) exists.
        """

    def records(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Record]:
        """The records that belong to the same call of `headers`."""

    def count(self, selection: Selection) -> int:
        """How many records a selection has now."""
