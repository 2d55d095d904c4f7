"""Send one request and read its response: all verbs except the two that list items.

Source: OAI-PMH 2.0, sections 4.1, 4.2, 4.4 and 4.6.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

from oaipmhclient.errors import PageUnreadable, TokenLoopError
from oaipmhclient.mending.repair import read_mended
from oaipmhclient.pages.requests_and_pages import (
    VerbRequest,
    get_record_request,
    identify_request,
    list_metadata_formats_request,
    list_sets_request,
    read_identify,
    read_metadata_formats,
    read_record,
    read_sets,
    resume_request,
)
from oaipmhclient.transport.http_transport import HttpTransport, Transport
from oaipmhprotocol import Identify, MetadataFormat, OAIError, Record, Set, Verb
from politeweb.answers import Answer, Traffic
from politeweb.closing import Closing
from politeweb.errors import EndpointError, without_frames
from politeweb.settings import HttpSettings

Value = TypeVar("Value")


class Endpoint(Closing):
    """A repository, with one request at a time.

    Args:
        repository: Its base URL, or a transport (any object with ``fetch(params)``).
        settings: How to send requests, if a base URL is given.
    """

    def __init__(self, repository: str | Transport, settings: HttpSettings | None = None) -> None:
        if isinstance(repository, str):
            repository = HttpTransport(repository, settings)
        self._transport = repository

    @property
    def base_url(self) -> str:
        """Return the transport's base URL without credentials; empty if it does not have one."""
        return str(getattr(self._transport, "base_url", ""))

    @property
    def traffic(self) -> Traffic:
        """Return what was sent and received so far, if the transport counts it."""
        found = getattr(self._transport, "traffic", None)
        return found if isinstance(found, Traffic) else Traffic()

    @property
    def moved_to(self) -> str:
        """Return the base URL that redirects lead to; empty without redirects."""
        return str(getattr(self._transport, "moved_to", ""))

    def close(self) -> None:
        """Close the transport's connections, if it keeps any."""
        close = getattr(self._transport, "close", None)
        if close is not None:
            close()

    def abort(self) -> None:
        """Abort a request that another thread waits for, if the transport supports it."""
        abort = getattr(self._transport, "abort", None)
        if abort is not None:
            abort()

    def identify(self) -> Identify:
        """Return the repository's description of itself (section 4.2)."""
        return self._ask(identify_request(), read_identify)

    def list_metadata_formats(self, identifier: str | None = None) -> tuple[MetadataFormat, ...]:
        """Return the formats of the repository, or of one item (section 4.4).

        Raises:
            IdDoesNotExist, NoMetadataFormats
        """
        page = self._ask(list_metadata_formats_request(identifier), read_metadata_formats)
        page.raise_errors()
        return tuple(page.items)

    def list_sets(self) -> Iterator[Set]:
        """Yield the sets; pages are requested lazily (section 4.6).

        Raises:
            NoSetHierarchy: The repository has none.
        """
        token: str | None = None
        sent: set[str] = set()
        while True:
            asks = list_sets_request() if token is None else resume_request(Verb.LIST_SETS, token)
            page = self._ask(asks, read_sets)
            page.raise_errors()
            yield from page.items
            token = page.next_token
            if token is None:
                return
            if token in sent:
                raise TokenLoopError(token)
            sent.add(token)

    def get_record(self, identifier: str, metadata_prefix: str = "oai_dc") -> Record:
        """Return one record (section 4.1).

        Raises:
            IdDoesNotExist, CannotDisseminateFormat
        """
        return self._ask(get_record_request(identifier, metadata_prefix), read_record)

    def exchange(
        self, request: VerbRequest, read: Callable[[bytes], Value]
    ) -> tuple[Value, Answer]:
        """Send a request; return the values read from the response, and the response.

        Args:
            read: A reader of `requests_and_pages` or of `repair`.

        Raises:
            EndpointError: There was no response, or it cannot be read.
            OAIError: The reader raises the repository's error.
        """
        try:
            return self._exchanged(request, read)
        except (EndpointError, OAIError) as error:
            failure = error
        raise without_frames(failure)

    def _exchanged(
        self, request: VerbRequest, read: Callable[[bytes], Value]
    ) -> tuple[Value, Answer]:
        """Exchange, in a frame of its own: an error of `exchange` must not keep the answer."""
        answer = self._transport.fetch(request.params)
        try:
            return read(answer.body), answer
        except PageUnreadable as error:
            if error.url:
                raise
            raise error.at(answer.url) from error

    def _ask(self, request: VerbRequest, read: Callable[[bytes], Value]) -> Value:
        """Send a request; return the values read from the response, repaired if necessary."""
        return self.exchange(request, lambda body: read_mended(body, read)[0])[0]
