"""Store pages that are in WARC files, in this process or in a second one.

The harvesting process fetches, writes the WARC files and the journal. The second process reads
the pages from the files, stores them in the Silo, one after the other, and answers what became of
each. It has no state of its own: pages that it did not answer are still in the journal, and storing
a page twice changes nothing. It ends when its input ends, so also if the harvest is killed.
"""

import logging
import os
import pickle
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from logging.handlers import QueueHandler
from queue import SimpleQueue
from types import MappingProxyType
from typing import Any

from oaipmhclient.errors import PageUnreadable
from oaipmhclient.light_pages import read_lightly
from oaipmhclient.mending.repair import read_records_to_store
from oaipmhclient.mending.undated import dated
from oaipmhclient.pages.requests_and_pages import ListPage, SetAside
from oaipmhclient.transport.http_rules import unpack_page
from oaipmhprotocol import Record
from oaipmhscraper.errors import FetchedPageUnreadable
from oaipmhscraper.storing.silo_writer import PageOutcome, PageStore, SiloWriter
from oaipmhscraper.storing.storing_rules import Reception
from politeweb.errors import WarcUnreadable
from politeweb.settings import MAX_RESPONSE
from recordsilo import Silo
from recordsilo.errors import RecordSiloError
from recordsilo.second_process import serve

_NO_FACTS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page of ListRecords that is in a WARC file, and not in the Silo yet.

    Attributes:
        window: The id of its window.
        request: The request, as a URL's query.
        file: The name of the file, below ``harvests/``.
        place: Where the exchange begins in the file.
        relists: Whether a part of the window was listed before.
        id: Its number in the journal; pages are stored in this order.
    """

    window: int
    request: str
    file: str
    place: int
    items: int
    relists: bool
    id: int = 0


@dataclass(frozen=True, slots=True)
class Storing:
    """How the pages of a list are stored.

    Attributes:
        warc_directory: Where the WARC files are.
        listing: As for `SiloWriter`.
        restore_removed: Likewise.
        limit: Most bytes of a response.
    """

    silo_path: str
    warc_directory: str
    listing: Reception
    restore_removed: bool = False
    limit: int = MAX_RESPONSE


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored page.

    Attributes:
        page: As read in order to store it, without its records.
        outcome: What became of them.
    """

    page: ListPage[Record]
    outcome: PageOutcome
    received: datetime | None


@dataclass(frozen=True, slots=True)
class Failed:
    """The second process cannot store a page, or has ended (see `StoringEnded`)."""

    error: Exception

    def __reduce__(self) -> tuple[Any, ...]:
        reduced: Any = self.error.__reduce__()
        if reduced[0] is type(self.error):
            return _failed, reduced[:3]
        return Failed, (self.error,)  # it has a way of its own, as errors of the store have


def _failed(
    kind: type[Exception], args: tuple[Any, ...], facts: Mapping[str, Any] = _NO_FACTS
) -> Failed:
    """Make an error again, without its own ``__init__``, whose arguments are not known."""
    error = kind.__new__(kind, *args)
    base: Any = next(one for one in kind.__mro__ if one.__module__ == "builtins")
    base.__init__(error, *args)
    error.__dict__.update(facts)
    return Failed(error)


Answered = Stored | Failed


def store_fetched(how: Storing, fetched: FetchedPage, store: PageStore) -> Stored:
    """Store a page from its WARC file.

    Args:
        how: Where the file is.
        store: Stores it.

    Raises:
        FetchedPageUnreadable: The WARC file is missing or damaged.
        RecordSiloError, OSError: The store failed; nothing of the page is stored.
    """
    from politeweb.warc.reading import read_exchange_at  # noqa: PLC0415 - 40 ms: it loads fsspec

    path = os.path.join(how.warc_directory, fetched.file)
    try:
        answer = read_exchange_at(path, fetched.place, how.limit, unpack_page)
    except WarcUnreadable as error:
        raise FetchedPageUnreadable(str(error)) from error
    page = dated(_read(answer.body), answer.received)
    outcome = store.store(page, answer.received)
    return Stored(replace(page, items=(), mended={}), outcome, answer.received)


def _read(body: bytes) -> ListPage[Record]:
    """Read a page; if only its headers can be read, its records are set aside."""
    try:
        return read_records_to_store(body)
    except PageUnreadable as error:
        page = read_lightly(body)
        named = [
            SetAside(record.header.identifier, error.reason, f"record {number} of the page")
            for number, record in enumerate(page.items, 1)
        ]
        return replace(page, items=(), set_aside=tuple(named))


class Storer:
    """Stores the pages of one list in the second process, until one cannot be stored.

    Args:
        silos: Closes the Silo.
    """

    def __init__(self, silos: ExitStack) -> None:
        self._silos = silos
        self._store: PageStore | None = None
        self._failed: Failed | None = None

    def __call__(self, question: bytes) -> bytes:
        """Answer a `Storing`, a page and a level of logging by an `Answered` and what was logged.

        All are pickled.
        """
        logged: SimpleQueue[logging.LogRecord] = SimpleQueue()
        how, page, level = pickle.loads(question)  # noqa: S301 - our parent
        logging.basicConfig(level=level, handlers=[QueueHandler(logged)], force=True)
        answer = self._failed or self._answer(how, page)
        return pickle.dumps((answer, [logged.get() for _ in range(logged.qsize())]))

    def _answer(self, how: Storing, page: FetchedPage) -> Answered:
        try:
            return store_fetched(how, page, self._opened(how))
        except Exception as error:  # noqa: BLE001 - the parent raises it
            self._failed = _portable(Failed(error))
            return self._failed

    def _opened(self, how: Storing) -> PageStore:
        if self._store is None:
            silo = self._silos.enter_context(Silo(how.silo_path, create=False))
            self._store = SiloWriter(silo, how.listing, restore_removed=how.restore_removed)
        return self._store


def _portable(failed: Failed) -> Failed:
    """Return the failure, or one with the same sentence if it cannot be pickled."""
    try:
        return pickle.loads(pickle.dumps(failed))  # type: ignore[no-any-return]  # noqa: S301 - ours
    except Exception:  # noqa: BLE001 - anything may refuse
        kind = OSError if isinstance(failed.error, OSError) else RecordSiloError
        return Failed(kind(str(failed.error)))


def main() -> None:
    """Run the second process."""
    with ExitStack() as silos:
        serve(Storer(silos))
