"""Where long lists are divided."""

import time
from collections.abc import Callable, Iterator, Sequence
from threading import Lock

from oaipmhprotocol import Header
from oaipmhprovider.resourcesync.addresses import ListPart
from oaipmhprovider.source import Position, RecordSource, Selection

LARGEST = 50_000
"""Entries of a document (Z39.99, section 6.1, after the Sitemap protocol)."""
_TOGETHER = 1000
_SECONDS = 3600.0
"""After which bounds are looked for anew: records that change leave their part for the last one."""


def headers_of(source: RecordSource, prefix: str, part: ListPart) -> Iterator[Header]:
    """The headers of a part, in the order of the list, a thousand in memory."""
    selection, after = Selection(prefix), part.after
    while found := source.headers(selection, after, _TOGETHER):
        for header in found:
            if part.is_before(header):
                return
            yield header
            if Position.of(header) == part.last:
                return
        after = Position.of(found[-1])


class Parts:
    """The bounds of lists, remembered for an hour; any thread may use it.

    Args:
        monotonic: A clock that only goes on.

    Cost: the first time, a look at every header; then at those after the last bound.
    """

    def __init__(
        self, source: RecordSource, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._source, self._monotonic = source, monotonic
        self._known: dict[tuple[str, int], tuple[float, list[Position]]] = {}
        self._looking = Lock()

    def of(self, prefix: str, size: int = LARGEST) -> Sequence[ListPart]:
        """The parts of a list, each of at most so many records; one is the whole list."""
        with self._looking:
            began, bounds = self._known.get((prefix, size), (self._monotonic(), []))
            if self._monotonic() - began > _SECONDS:
                began, bounds = self._monotonic(), []
            bounds = [*bounds, *self._further(prefix, size, bounds[-1] if bounds else None)]
            self._known[prefix, size] = began, bounds
        return [
            ListPart(after, last)
            for after, last in zip([None, *bounds], [*bounds, None], strict=True)
        ]

    def _further(self, prefix: str, size: int, after: Position | None) -> Iterator[Position]:
        """The last positions of full parts that others follow."""
        count, last = 0, None
        for header in headers_of(self._source, prefix, ListPart(after)):
            if count == size and last is not None:
                yield last
                count = 0
            count, last = count + 1, Position.of(header)
