"""The six verbs over a transport (OAI-PMH 2.0, section 4). Needs no Silo.

>>> for record in Client("https://eprints.example.org/cgi/oai2").list_records("oai_dc"):
...     print(record.header.identifier)
"""

import logging
from collections.abc import Container, Iterator
from datetime import date, datetime
from functools import cached_property
from typing import TypeVar

from oaipmhclient.endpoint import Endpoint
from oaipmhclient.errors import TokenLoopError
from oaipmhclient.pages.requests_and_pages import (
    ListPage,
    list_request,
)
from oaipmhclient.transport.http_transport import Transport
from oaipmhclient.walk.by_identifier import pages_by_identifier
from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhclient.walk.listed_pages import HEADERS, RECORDS, ListKind
from oaipmhclient.walk.values import Item, ListJob, WalkPage, WindowBroken
from oaipmhclient.walk.whole_lists import OneByOne, whole_list
from oaipmhclient.walk.windows import Window
from oaipmhprotocol import (
    DatestampError,
    Granularity,
    Header,
    Record,
    Verb,
)
from oaipmhprotocol.datestamps import format_datestamp, read_datestamp
from politeweb.errors import RequestRefused
from politeweb.settings import HttpSettings

logger = logging.getLogger("OAIPMH Harvester")

Value = TypeVar("Value")
Moment = str | date | None
"""A bound of a selective harvest: a datestamp as text, a day, an aware datetime, or None."""


class Client(Endpoint):
    """A repository's six verbs.

    Args:
        repository: Its base URL, or a transport (any object with ``fetch(params)``).
        settings: How to send requests, if a base URL is given.
    """

    def __init__(self, repository: str | Transport, settings: HttpSettings | None = None) -> None:
        super().__init__(repository, settings)
        self._quirks = EndpointMemory()

    def list_identifiers(
        self,
        metadata_prefix: str = "oai_dc",
        *,
        from_: Moment = None,
        until: Moment = None,
        set_spec: str | None = None,
    ) -> Iterator[Header]:
        """Yield the headers of a selection; pages are requested lazily (section 4.3).

        Args:
            metadata_prefix: Only items that are available in this format.
            from_: Earliest datestamp, inclusive.
            until: Latest datestamp, inclusive.
            set_spec: Only members of this set.

        Malformed responses are repaired, tokens sent again, windows restarted or split; every
        identifier is yielded once. Records that stay unreadable are left out, with a warning in
        the log.

        Raises:
            NoRecordsMatch: The selection is empty.
            RequestRefused: The arguments are invalid.
            TokenLoopError: The list loops, and may have more records.
            OAIError, EndpointError: The error that ended the list, if no retry helped.
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
        """Yield the records of a selection; pages are requested lazily (section 4.5).

        See `list_identifiers` for the arguments and errors.
        """
        for page in self.record_pages(metadata_prefix, from_=from_, until=until, set_spec=set_spec):
            page.raise_errors()
            yield from page.items

    def header_pages(
        self,
        metadata_prefix: str,
        *,
        from_: Moment = None,
        until: Moment = None,
        set_spec: str | None = None,
    ) -> Iterator[ListPage[Header]]:
        """Yield the pages of `list_identifiers`, with records set aside, repairs and the token.

        A page may be empty. An empty list is one page, with or without ``noRecordsMatch`` among its
        errors.
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
        """Yield the pages of `list_records`; see `header_pages`."""
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
    ) -> Iterator[WalkPage[Record]]:
        for one in pages_by_identifier(self, job, window, known, self._quirks):
            for lost in one.unreachable:
                logger.warning("%s is left out", lost)
            yield one

    def _pages(
        self,
        reading: ListKind[Item],
        job: ListJob,
        one_by_one: OneByOne[Item] | None = None,
    ) -> Iterator[ListPage[Item]]:
        """Yield a list's pages; a loop is an error unless all promised records were received."""
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
        """Return the finest granularity of the repository; days if Identify has no valid one."""
        return self.identify().granularity or Granularity.DAY

    def datestamp(self, moment: Moment) -> str | None:
        """Return a bound as it is sent: text unchanged, other values in the granularity."""
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


def _read(text: str) -> datetime:
    try:
        return read_datestamp(text)
    except DatestampError as error:
        raise RequestRefused(str(error)) from None
