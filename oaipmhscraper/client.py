"""The six verbs over a transport (OAI-PMH 2.0, section 4). Needs no Silo.

>>> for record in Client("https://eprints.example.org/cgi/oai2").list_records("oai_dc"):
...     print(record.header.identifier)
"""

import logging
from collections.abc import Callable, Container, Iterator
from datetime import date, datetime
from functools import cached_property
from typing import Generic, TypeVar

from oaipmhprotocol import (
    DatestampError,
    Granularity,
    Header,
    Identify,
    MetadataFormat,
    NoRecordsMatch,
    Record,
    Set,
    Verb,
)
from oaipmhprotocol.datestamps import format_datestamp, read_datestamp
from oaipmhscraper.by_identifier import pages_by_identifier
from oaipmhscraper.errors import PageUnreadable, RequestRefused, TokenLoopError
from oaipmhscraper.http_rules import Answer, Traffic
from oaipmhscraper.http_transport import HttpSettings, HttpTransport, Transport
from oaipmhscraper.listed_pages import HEADERS, RECORDS, ListedPage, Reading
from oaipmhscraper.listed_pages import Item as ListedItem
from oaipmhscraper.marks import ListJob
from oaipmhscraper.quirks import Quirks
from oaipmhscraper.requests_and_pages import (
    ListPage,
    Request,
    checked_prefix,
    get_record_request,
    identify_request,
    list_metadata_formats_request,
    list_request,
    list_sets_request,
    read_headers,
    read_identify,
    read_metadata_formats,
    read_record,
    read_records,
    read_sets,
    resume_request,
)
from oaipmhscraper.walk_values import WindowBroken
from oaipmhscraper.whole_lists import OneByOne, whole_list
from oaipmhscraper.windows import Window

logger = logging.getLogger("OAIPMH Harvester")

Item = TypeVar("Item")
Value = TypeVar("Value")
Moment = str | date | None
"""A bound of a selective harvest: a datestamp's text, a day, an aware datetime, or none."""


class ListWalk(Generic[Item]):
    """The pages of one list, fetched one by one as they are asked for (section 3.5).

    Store a page before asking for the next: whatever fails, the pages yielded are
    sound. The first page may hold nothing but ``noRecordsMatch`` (in its
    ``errors``): an empty list. The same condition in answer to a resumption token
    ends the list, as some repositories end theirs (metha, harvest.go).

    Attributes:
        request: The request sent last; after a failure, the one that failed.

    Raises:
        TokenLoopError: A token came back, or a token gave the page before again.
            The list is not complete.
        OAIError: The repository's error.
        EndpointError: No page came, or none that can be read.
    """

    def __init__(self, first: Request, fetch_page: Callable[[Request], ListPage[Item]]) -> None:
        self.request = first
        self._fetch_page = fetch_page
        self._next: Request | None = first
        self._before: ListPage[Item] | None = None
        self._seen: set[str] = set()

    def __iter__(self) -> Iterator[ListPage[Item]]:
        return self

    def __next__(self) -> ListPage[Item]:
        if self._next is None:
            raise StopIteration
        self.request = self._next
        page = self._fetch_page(self.request)
        if not (page.errors and all(isinstance(e, NoRecordsMatch) for e in page.errors)):
            page.raise_errors()
        elif not page.items and self.request.resumes:
            self._next = None
            raise StopIteration
        self._go_on(page)
        return page

    def _go_on(self, page: ListPage[Item]) -> None:
        if page.items and self._before is not None and page.items == self._before.items:
            raise TokenLoopError(
                self.request.params["resumptionToken"], "gives the same page again"
            )
        self._before = page
        token = page.next_token
        if token is None:
            self._next = None
            return
        if token in self._seen:
            raise TokenLoopError(token)
        self._seen.add(token)
        self._next = resume_request(self.request.verb, token)


class Client:
    """A repository's six verbs.

    Args:
        repository: Its base URL, or a transport (any object with ``fetch(params)``).
        settings: How to send, where a base URL is given.
    """

    def __init__(self, repository: str | Transport, settings: HttpSettings | None = None) -> None:
        if isinstance(repository, str):
            repository = HttpTransport(repository, settings)
        self._transport = repository
        self._quirks = Quirks()

    @property
    def base_url(self) -> str:
        """Where the transport leads, without credentials; empty if it does not say."""
        return str(getattr(self._transport, "base_url", ""))

    @property
    def traffic(self) -> Traffic:
        """What was sent and received so far, as far as the transport counts it."""
        found = getattr(self._transport, "traffic", None)
        return found if isinstance(found, Traffic) else Traffic()

    def close(self) -> None:
        """Close the transport's connections, if it keeps any."""
        close = getattr(self._transport, "close", None)
        if close is not None:
            close()

    def abort(self) -> None:
        """Cut off a request that another thread waits for, if the transport can do so."""
        abort = getattr(self._transport, "abort", None)
        if abort is not None:
            abort()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def identify(self) -> Identify:
        """What the repository says of itself (section 4.2)."""
        return self._ask(identify_request(), read_identify)

    def list_metadata_formats(self, identifier: str | None = None) -> tuple[MetadataFormat, ...]:
        """The formats of the repository, or of one item (section 4.4).

        Raises:
            IdDoesNotExist, NoMetadataFormats
        """
        page = self._ask(list_metadata_formats_request(identifier), read_metadata_formats)
        page.raise_errors()
        return page.items

    def list_sets(self) -> Iterator[Set]:
        """The sets, page by page as they are asked for (section 4.6).

        Raises:
            NoSetHierarchy: The repository has none.
        """
        for page in ListWalk(list_sets_request(), lambda request: self._ask(request, read_sets)):
            yield from page.items

    def list_identifiers(
        self,
        metadata_prefix: str = "oai_dc",
        *,
        from_: Moment = None,
        until: Moment = None,
        set_spec: str | None = None,
    ) -> Iterator[Header]:
        """The headers of a selection, page by page as they are asked for (section 4.3).

        Args:
            metadata_prefix: Only items that can be had in this format.
            from_: Earliest datestamp, inclusive.
            until: Latest datestamp, inclusive.
            set_spec: Only members of this set.

        Answers that are not well-formed are mended, tokens re-issued, windows
        restarted or split; every identifier comes once. What stays unreadable of a
        page is left out with a warning in the log.

        Raises:
            NoRecordsMatch: There are none.
            RequestRefused: Arguments that make no request.
            TokenLoopError: The list runs in a circle, and may be longer than what came.
            OAIError, EndpointError: What ended the list, when nothing helped.
        """
        job = self._job(metadata_prefix, from_, until, set_spec)
        yield from self._items(HEADERS, job)

    def list_records(
        self,
        metadata_prefix: str = "oai_dc",
        *,
        from_: Moment = None,
        until: Moment = None,
        set_spec: str | None = None,
    ) -> Iterator[Record]:
        """The records of a selection, page by page as they are asked for (section 4.5).

        Arguments and errors are those of `list_identifiers`.
        """
        job = self._job(metadata_prefix, from_, until, set_spec)
        yield from self._items(RECORDS, job, lambda *part: self._one_by_one(job, *part))

    def get_record(self, identifier: str, metadata_prefix: str = "oai_dc") -> Record:
        """One record (section 4.1).

        Raises:
            IdDoesNotExist, CannotDisseminateFormat
        """
        return self._ask(get_record_request(identifier, metadata_prefix), read_record)

    def _job(self, prefix: str, from_: Moment, until: Moment, set_spec: str | None) -> ListJob:
        first, last = self.datestamp(from_), self.datestamp(until)
        return ListJob(checked_prefix(prefix), set_spec or None, first, last)

    def _one_by_one(
        self, job: ListJob, window: Window, known: Container[str]
    ) -> Iterator[ListedPage[Record]]:
        for one in pages_by_identifier(self, job, window, known, self._quirks):
            for lost in one.unreachable:
                logger.warning("%s is left out", lost)
            yield ListedPage(one.page, one.request, one.answer, one.position)

    def _items(
        self,
        reading: Reading[ListedItem],
        job: ListJob,
        one_by_one: OneByOne[ListedItem] | None = None,
    ) -> Iterator[ListedItem]:
        """A list without its pages; a doubtful end that no promise covers is an error."""
        pages = whole_list(self, reading, job, self._quirks, one_by_one=one_by_one)
        try:
            for listed in pages:
                listed.page.raise_errors()
                for one in listed.page.set_aside:
                    logger.warning("%s is left out", one)
                yield from listed.page.items
                if isinstance(listed.doubt, TokenLoopError):
                    raise listed.doubt
        except WindowBroken as broken:
            raise broken.cause from None

    def header_pages(
        self,
        metadata_prefix: str,
        *,
        from_: Moment = None,
        until: Moment = None,
        set_spec: str | None = None,
    ) -> ListWalk[Header]:
        """`list_identifiers`, by pages."""
        request = self._list_request(Verb.LIST_IDENTIFIERS, metadata_prefix, from_, until, set_spec)
        return ListWalk(request, lambda request: self._ask(request, read_headers))

    def record_pages(
        self,
        metadata_prefix: str,
        *,
        from_: Moment = None,
        until: Moment = None,
        set_spec: str | None = None,
    ) -> ListWalk[Record]:
        """`list_records`, by pages."""
        request = self._list_request(Verb.LIST_RECORDS, metadata_prefix, from_, until, set_spec)
        return ListWalk(request, lambda request: self._ask(request, read_records))

    @cached_property
    def granularity(self) -> Granularity:
        """The finest datestamps the repository understands; days where it names nothing known."""
        return self.identify().granularity or Granularity.DAY

    def _list_request(
        self, verb: Verb, prefix: str, from_: Moment, until: Moment, set_spec: str | None
    ) -> Request:
        return list_request(
            verb,
            prefix,
            from_=self.datestamp(from_),
            until=self.datestamp(until),
            set_spec=set_spec,
        )

    def datestamp(self, moment: Moment) -> str | None:
        """A bound as sent: a well-formed text as it is, anything else in the granularity."""
        if moment is None:
            return None
        if isinstance(moment, str):
            try:
                Granularity.of(moment)
                return moment
            except DatestampError:
                return format_datestamp(_read(moment), self.granularity)
        if isinstance(moment, datetime):
            if moment.tzinfo is None:
                raise RequestRefused(f"{moment.isoformat()} has no time zone")
            return format_datestamp(moment, self.granularity)
        return moment.isoformat()

    def exchange(self, request: Request, read: Callable[[bytes], Value]) -> tuple[Value, Answer]:
        """Send a request; return what was read from the answer, and the answer.

        Args:
            request: What to send.
            read: A reader of `requests_and_pages` or of `repair`.

        Raises:
            EndpointError: No answer came, or none that can be read.
            OAIError: The reader raises the repository's error.
        """
        answer = self._transport.fetch(request.params)
        try:
            return read(answer.body), answer
        except PageUnreadable as error:
            if error.url:
                raise
            raise error.at(answer.url) from error

    def _ask(self, request: Request, read: Callable[[bytes], Value]) -> Value:
        return self.exchange(request, read)[0]


def _read(text: str) -> datetime:
    try:
        return read_datestamp(text)
    except DatestampError as error:
        raise RequestRefused(str(error)) from None
