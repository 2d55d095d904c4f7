"""Records of which only identifiers, datestamps and deletions were read (pure).

A page of them is three columns: a `Record` and its `Header` are made when somebody looks at one.
Whoever needs one column of many, such as all identifiers, takes it from `BareHeaders`.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Generic, TypeVar, overload

from oaipmhprotocol import Header, Record
from oaipmhprotocol.datestamps import unreadable

T = TypeVar("T")


class _Column(Sequence[T], Generic[T]):
    """Values that are made one by one, whenever they are asked for."""

    def __init__(self, size: int, made: Callable[[int], T]) -> None:
        self._size, self._made = size, made

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        places = range(self._size)[place]
        return self._made(places) if isinstance(places, int) else [*map(self._made, places)]

    def __iter__(self) -> Iterator[T]:
        return map(self._made, range(self._size))


class BareHeaders(_Column[Header]):
    """Headers without their sets.

    Attributes:
        identifiers: In the order sent.
        datestamps: Likewise, as sent.
        deleted: The places of deleted records.
    """

    def __init__(
        self, identifiers: Sequence[str], datestamps: Sequence[str], deleted: frozenset[int]
    ) -> None:
        self.identifiers, self.datestamps, self.deleted = identifiers, datestamps, deleted
        super().__init__(len(identifiers), self._header)

    @cached_property
    def span(self) -> tuple[str, str] | None:
        """Return the earliest and the latest datestamp, as sent.

        None if a datestamp cannot be read, or if they have different forms, whose order as texts
        is not that of their dates.
        """
        texts = self.datestamps
        if len(set(map(len, texts))) != 1 or unreadable(texts):
            return None
        return min(texts), max(texts)

    def _header(self, place: int) -> Header:
        return Header(
            self.identifiers[place], self.datestamps[place], (), deleted=place in self.deleted
        )


class BareRecords(_Column[Record]):
    """Records without metadata.

    Attributes:
        headers: Their headers.
    """

    def __init__(self, headers: BareHeaders) -> None:
        self.headers = headers
        super().__init__(len(headers), lambda place: Record(headers[place]))


def identifiers_of(headers: Sequence[Header]) -> Sequence[str]:
    """Return the identifiers of headers, in their order."""
    if isinstance(headers, BareHeaders):
        return headers.identifiers
    return [one.identifier for one in headers]


def span_of_texts(headers: Sequence[Header]) -> tuple[str, str] | None:
    """Return the earliest and the latest datestamp as sent, if that is known without parsing."""
    return headers.span if isinstance(headers, BareHeaders) else None


def datestamps_of(headers: Sequence[Header]) -> Sequence[str]:
    """Return the datestamps of headers, in their order."""
    if isinstance(headers, BareHeaders):
        return headers.datestamps
    return [one.datestamp for one in headers]
