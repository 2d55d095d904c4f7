"""The six verbs over a transport (OAI-PMH 2.0, section 4). Needs no Silo.

>>> for record in Client("https://eprints.example.org/cgi/oai2").list_records("oai_dc"):
...     print(record.header.identifier)
"""

import logging
from collections.abc import Callable, Container, Iterator
from datetime import date, datetime
from functools import cached_property
from typing import TypeVar

from oaipmhprotocol import (
    DatestampError,
    Granularity,
    Header,
    Identify,
    MetadataFormat,
    OAIError,
    Record,
    Set,
    Verb,
)
from oaipmhprotocol.datestamps import format_datestamp, read_datestamp
from oaipmhscraper.by_identifier import pages_by_identifier
from oaipmhscraper.errors import PageUnreadable, TokenLoopError
from oaipmhscraper.marks import ListJob
from oaipmhscraper.quirks import Quirks
from oaipmhscraper.repair import read_mended
from oaipmhscraper.requests_and_pages import (
    ListPage,
    Request,
    get_record_request,
    identify_request,
    list_metadata_formats_request,
    list_request,
    list_sets_request,
    read_identify,
    read_metadata_formats,
    read_record,
    read_sets,
    resume_request,
)
from oaipmhscraper.transport.http_transport import HttpTransport, Transport
from oaipmhscraper.walk.listed_pages import HEADERS, RECORDS, Item, ListedPage, Reading
from oaipmhscraper.walk.values import WindowBroken
from oaipmhscraper.whole_lists import OneByOne, whole_list
from oaipmhscraper.windows import Window
from politeweb.answers import Answer, Traffic
from politeweb.errors import EndpointError, RequestRefused, without_frames
from politeweb.settings import HttpSettings

logger = logging.getLogger("OAIPMH Harvester")

Value = TypeVar("Value")
Moment = str | date | None
"""A bound of a selective harvest: a datestamp's text, a day, an aware datetime, or none."""


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

    @property
    def moved_to(self) -> str:
        """The base URL that redirects lead to; empty where none were met."""
        return str(getattr(self._transport, "moved_to", ""))

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
        token: str | None = None
        sent: set[str] = set()
        while True:
            page = self._ask(_sets_request(token), read_sets)
            page.raise_errors()
            yield from page.items
            token = page.next_token
            if token is None:
                return
            if token in sent:
                raise TokenLoopError(token)
            sent.add(token)

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
        for page in self.header_pages(metadata_prefix, from_=from_, until=until, set_spec=set_spec):
            page.raise_errors()
            yield from page.items

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
        for page in self.record_pages(metadata_prefix, from_=from_, until=until, set_spec=set_spec):
            page.raise_errors()
            yield from page.items

    def get_record(self, identifier: str, metadata_prefix: str = "oai_dc") -> Record:
        """One record (section 4.1).

        Raises:
            IdDoesNotExist, CannotDisseminateFormat
        """
        return self._ask(get_record_request(identifier, metadata_prefix), read_record)

    def header_pages(
        self,
        metadata_prefix: str,
        *,
        from_: Moment = None,
        until: Moment = None,
        set_spec: str | None = None,
    ) -> Iterator[ListPage[Header]]:
        """`list_identifiers`, by pages: what was set aside, repairs and the token are in them.

        A page may be empty; an empty list is one page with ``noRecordsMatch`` among
        its errors, or none.
        """
        return self._pages(HEADERS, self._job(metadata_prefix, from_, until, set_spec))

    def record_pages(
        self,
        metadata_prefix: str,
        *,
        from_: Moment = None,
        until: Moment = None,
        set_spec: str | None = None,
    ) -> Iterator[ListPage[Record]]:
        """`list_records`, by pages; see `header_pages`."""
        job = self._job(metadata_prefix, from_, until, set_spec)
        return self._pages(RECORDS, job, lambda *part: self._one_by_one(job, *part))

    def _job(self, prefix: str, from_: Moment, until: Moment, set_spec: str | None) -> ListJob:
        first, last = self.datestamp(from_), self.datestamp(until)
        list_request(
            Verb.LIST_RECORDS, prefix, from_=first, until=last
        )  # refused before it is sent
        return ListJob(prefix, set_spec or None, first, last)

    def _one_by_one(
        self, job: ListJob, window: Window, known: Container[str]
    ) -> Iterator[ListedPage[Record]]:
        for one in pages_by_identifier(self, job, window, known, self._quirks):
            for lost in one.unreachable:
                logger.warning("%s is left out", lost)
            yield ListedPage(one.page, one.request, one.answer, one.position)

    def _pages(
        self,
        reading: Reading[Item],
        job: ListJob,
        one_by_one: OneByOne[Item] | None = None,
    ) -> Iterator[ListPage[Item]]:
        """A list's pages; an end in a circle that no promise covers is an error."""
        try:
            for listed in whole_list(self, reading, job, self._quirks, one_by_one=one_by_one):
                for one in listed.page.set_aside:
                    logger.warning("%s is left out", one)
                yield listed.page
                if isinstance(listed.doubt, TokenLoopError):
                    raise listed.doubt
        except WindowBroken as broken:
            raise broken.cause from None

    @cached_property
    def granularity(self) -> Granularity:
        """The finest datestamps the repository understands; days where it names nothing known."""
        return self.identify().granularity or Granularity.DAY

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
        try:
            return self._exchanged(request, read)
        except (EndpointError, OAIError) as error:
            failure = error
        raise without_frames(failure)

    def _exchanged(self, request: Request, read: Callable[[bytes], Value]) -> tuple[Value, Answer]:
        answer = self._transport.fetch(request.params)
        try:
            return read(answer.body), answer
        except PageUnreadable as error:
            if error.url:
                raise
            raise error.at(answer.url) from error

    def _ask(self, request: Request, read: Callable[[bytes], Value]) -> Value:
        """What was read from the answer to a request, mended where it has to be."""
        return self.exchange(request, lambda body: read_mended(body, read)[0])[0]


def _sets_request(token: str | None) -> Request:
    return list_sets_request() if token is None else resume_request(Verb.LIST_SETS, token)


def _read(text: str) -> datetime:
    try:
        return read_datestamp(text)
    except DatestampError as error:
        raise RequestRefused(str(error)) from None
