"""Group records that a harvest got one by one, in the way in which it stored them (pure).

A harvest stores them in groups of `single_records.AT_ONCE`, all with the date of the group's last
response; records that are listed as deleted are made from their headers.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from oaipmhclient.pages.requests_and_pages import ListPage
from oaipmhclient.walk.page_facts import headers_of
from oaipmhclient.walk.single_records import AT_ONCE
from oaipmhprotocol import Header, Record
from oaipmhprotocol.words import Argument
from oaipmhscraper.warc.reading import StoredResponse


@dataclass(slots=True)
class Singles:
    """The responses to GetRecord for one list, and to ListIdentifiers before them.

    Attributes:
        is_known: Whether a record did not have to be requested.
    """

    is_known: Callable[[str], bool]
    _last: StoredResponse | None = None
    _headers: deque[Header] = field(default_factory=deque)
    _pages: list[ListPage[Record]] = field(default_factory=list)
    _count: int = 0

    def listed(
        self, recorded: StoredResponse, headers: Sequence[Header]
    ) -> Iterator["ReplayedRecords"]:
        """Add a page of ListIdentifiers; one that begins a list ends the group before."""
        yield from self._passed(None)
        if Argument.RESUMPTION_TOKEN not in recorded.params:
            yield from self._flushed()
        self._last = recorded
        self._headers.extend(headers)

    def got(self, recorded: StoredResponse, page: ListPage[Record]) -> Iterator["ReplayedRecords"]:
        """Add a response to GetRecord; ignored if it has another record than requested."""
        wanted = recorded.params.get(Argument.IDENTIFIER, "")
        yield from self._passed(wanted)
        self._last = recorded
        self._count += 1
        if all(one.identifier == wanted for one in headers_of(page)):
            self._pages.append(page)
        yield from self._full()

    def rest(self) -> Iterator["ReplayedRecords"]:
        """Return the remaining records at the end."""
        yield from self._passed(None)
        yield from self._flushed()

    def _passed(self, wanted: str | None) -> Iterator["ReplayedRecords"]:
        """Add the deleted records listed before the one wanted; all for None."""
        while self._headers:
            header = self._headers.popleft()
            if header.identifier == wanted:
                return
            if header.deleted and not self.is_known(header.identifier):
                self._count += 1
                self._pages.append(ListPage((Record(header),)))
                yield from self._full()

    def _full(self) -> Iterator["ReplayedRecords"]:
        if self._count >= AT_ONCE:
            yield from self._flushed()

    def _flushed(self) -> Iterator["ReplayedRecords"]:
        if self._last is not None and self._pages:
            yield ReplayedRecords(joined(self._pages), self._last)
        self._pages = []
        self._count = 0


@dataclass(frozen=True, slots=True)
class ReplayedRecords:
    """Records to store together.

    Attributes:
        page: All of them.
        recorded: The response whose date they have.
    """

    page: ListPage[Record]
    recorded: StoredResponse

    @property
    def received(self) -> datetime | None:
        """Return when the last of them was received."""
        return self.recorded.answer.received


def joined(pages: list[ListPage[Record]]) -> ListPage[Record]:
    """Join pages, with their repairs and records set aside."""
    items: list[Record] = []
    mended: dict[int, tuple[str, ...]] = {}
    repairs: dict[str, int] = {}
    for page in pages:
        mended |= {len(items) + place: kinds for place, kinds in page.mended.items()}
        items += page.items
        for kind, count in page.repairs.items():
            repairs[kind] = repairs.get(kind, 0) + count
    set_aside = tuple(one for page in pages for one in page.set_aside)
    return replace(
        pages[-1], items=tuple(items), set_aside=set_aside, repairs=repairs, mended=mended
    )
