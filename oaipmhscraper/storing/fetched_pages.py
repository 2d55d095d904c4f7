"""Store pages that are in WARC files, in this process or in a second one.

The harvesting process fetches, writes the WARC files and the journal. The second process reads
the pages from the files, stores them in the Silo, one after the other, and answers what became of
each. It has no state of its own: pages that it did not answer are still in the journal, and storing
a page twice changes nothing. It ends when its input ends, so also if the harvest is killed.
"""

import contextlib
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import IO, Any

from oaipmhclient.errors import PageUnreadable
from oaipmhclient.light_pages import read_lightly
from oaipmhclient.mending.repair import read_records_to_store
from oaipmhclient.mending.undated import dated
from oaipmhclient.pages.requests_and_pages import ListPage, SetAside
from oaipmhclient.transport.http_rules import unpack_page
from oaipmhprotocol import Record
from oaipmhscraper.errors import FetchedPageUnreadable, StoringEnded
from oaipmhscraper.storing.silo_writer import PageOutcome, PageStore, SiloWriter
from oaipmhscraper.storing.storing_rules import Listing
from politeweb.errors import WarcUnreadable
from politeweb.settings import MAX_RESPONSE
from politeweb.warc.reading import read_exchange_at
from recordsilo import Silo
from recordsilo.errors import RecordSiloError

AHEAD = 2
"""Pages that are given to the second process before it answers: one to store, one to come."""
_PACKAGES = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
_NO_FACTS: Mapping[str, Any] = MappingProxyType({})
_PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from oaipmhscraper.storing.fetched_pages import main; main()"
)


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page of ListRecords that is in a WARC file, and not in the Silo yet.

    Attributes:
        window: The id of its window.
        request: The request, as a URL's query.
        file: The name of the file, below ``harvests/``.
        place: Where the exchange begins in the file.
        items: Number of its records.
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
        silo_path: The Silo.
        warc_directory: Where the WARC files are.
        listing: As for `SiloWriter`.
        restore_removed: Likewise.
        limit: Most bytes of a response.
    """

    silo_path: str
    warc_directory: str
    listing: Listing
    restore_removed: bool = False
    limit: int = MAX_RESPONSE


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored page.

    Attributes:
        page: As read in order to store it, without its records.
        outcome: What became of them.
        received: When the page was received.
    """

    page: ListPage[Record]
    outcome: PageOutcome
    received: datetime | None


@dataclass(frozen=True, slots=True)
class Failed:
    """The second process cannot store a page, or has ended (see `StoringEnded`)."""

    error: Exception

    def __reduce__(self) -> tuple[Any, ...]:
        return _failed, self.error.__reduce__()[:3]


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
        fetched: The page.
        store: Stores it.

    Raises:
        FetchedPageUnreadable: The WARC file is missing or damaged.
        RecordSiloError, OSError: The store failed; nothing of the page is stored.
    """
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


class StoringProcess:
    """The second process.

    Args:
        how: How it stores.
        tell: Called with each answer, in order, in a thread of this object; the last one is
            `Failed` with `StoringEnded`.
    """

    def __init__(self, how: Storing, tell: Callable[[Answered], object]) -> None:
        self._tell = tell
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter and this module
            [sys.executable, "-P", "-c", _PROGRAM, _PACKAGES],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._thread = threading.Thread(target=self._receive, name="stored pages", daemon=True)
        self._thread.start()
        self._send(how)

    def store(self, page: FetchedPage) -> None:
        """Give it a page to store; at most `AHEAD` may be unanswered."""
        self._send(page)

    def no_more(self) -> None:
        """Let it end after the pages that it was given."""
        with contextlib.suppress(OSError):
            self._stdin.close()

    def close(self) -> None:
        """End it at once, if it has not ended."""
        self._process.kill()
        self._process.wait()
        self._thread.join()
        self.no_more()
        assert self._process.stdout is not None
        self._process.stdout.close()

    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _send(self, value: Storing | FetchedPage) -> None:
        with contextlib.suppress(BrokenPipeError):  # its end is told by `_receive`
            pickle.dump(value, self._stdin)
            self._stdin.flush()

    def _receive(self) -> None:
        assert self._process.stdout is not None
        try:
            while True:
                self._tell(pickle.load(self._process.stdout))  # noqa: S301 - a process of ours
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            self._tell(Failed(StoringEnded(self._process.wait())))


def serve(questions: IO[bytes], answers: IO[bytes]) -> None:
    """Store the pages of one list until the input ends or one cannot be stored.

    Args:
        questions: A `Storing`, then pages, pickled.
        answers: An `Answered` for each page, pickled.
    """
    with contextlib.suppress(EOFError, BrokenPipeError):
        how: Storing = pickle.load(questions)  # noqa: S301 - our parent
        with Silo(how.silo_path, create=False) as silo:
            writer = SiloWriter(silo, how.listing, restore_removed=how.restore_removed)
            while True:
                page: FetchedPage = pickle.load(questions)  # noqa: S301 - our parent
                try:
                    answer: Answered = store_fetched(how, page, writer)
                except Exception as error:  # noqa: BLE001 - the parent raises it
                    answer = _portable(Failed(error))
                pickle.dump(answer, answers)
                answers.flush()
                if isinstance(answer, Failed):
                    return


def _portable(failed: Failed) -> Failed:
    """Return the failure, or one with the same sentence if it cannot be pickled."""
    try:
        return pickle.loads(pickle.dumps(failed))  # type: ignore[no-any-return]  # noqa: S301 - ours
    except Exception:  # noqa: BLE001 - anything may refuse
        kind = OSError if isinstance(failed.error, OSError) else RecordSiloError
        return Failed(kind(str(failed.error)))


def main() -> None:
    """Run the second process; Ctrl-C and SIGTERM are for the first one."""
    gc.freeze()
    gc.set_threshold(50_000)  # the values have no cycles
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    serve(sys.stdin.buffer, sys.stdout.buffer)
