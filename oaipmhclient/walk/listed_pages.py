"""Lists of records and of headers, and what is wrong with them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

from oaipmhclient.mending.repair import read_headers_mended, read_records_mended
from oaipmhclient.pages.requests_and_pages import ListPage
from oaipmhclient.walk.values import Item
from oaipmhprotocol import Header, Record, Verb
from politeweb.errors import FetchError


class ListCutShort(FetchError):
    """A list ended with fewer records than the repository promised."""

    def __init__(self, promised: int, listed: int) -> None:
        super().__init__(
            f"the list ended after {listed:,} records, and the repository promised {promised:,}"
        )


class ListBarren(FetchError):
    """A list issues new tokens without records."""

    def __init__(self, pages: int, lack: str) -> None:
        super().__init__(f"the list gave {lack} on {pages:,} pages in a row")


class AskedInVain(FetchError):
    """A list breaks off again and again."""

    def __init__(self, broken: int, left: int, cause: Exception) -> None:
        super().__init__(
            f"the list broke off {broken:,} times, and {left:,} windows of dates are left;"
            f" the last time: {cause}"
        )


class OneIdentifier(FetchError):
    """All records of a page have the same identifier but differ."""


class OutsideWindow(FetchError):
    """Most records of a page have datestamps outside the requested window."""


@dataclass(frozen=True, slots=True)
class ListKind(Generic[Item]):
    """The kind of list: of records or of headers.

    Attributes:
        verb: ListRecords or ListIdentifiers.
        read: Bytes → page.
    """

    verb: Verb
    read: Callable[[bytes], ListPage[Item]]


RECORDS: ListKind[Record] = ListKind(Verb.LIST_RECORDS, read_records_mended)
HEADERS: ListKind[Header] = ListKind(Verb.LIST_IDENTIFIERS, read_headers_mended)
