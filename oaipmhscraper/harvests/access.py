"""Connect to a Silo's repository: a client, and a transport for each fetching thread."""

import os
from collections.abc import Callable
from datetime import UTC, datetime

from oaipmhclient.client import Client
from oaipmhclient.fetchers import Lane, Lent
from oaipmhclient.identification import ask_identify
from oaipmhclient.transport.http_rules import BaseURL
from oaipmhclient.transport.http_transport import HttpTransport, Outage, Transport
from oaipmhprotocol import Identify
from oaipmhscraper.lists.journal import Journal, journal_path
from politeweb.answers import Answer
from politeweb.errors import RetryLater
from politeweb.pace import Pace, Turns
from politeweb.settings import HttpSettings
from politeweb.shared_pace import turns_beside

Around = Callable[[HttpTransport, Lane], Transport]
"""Returns a transport that another may use, with the lane of its thread."""


class Access:
    """The connection to a repository. All its transports share one pace.

    Args:
        silo_path: The Silo's directory, which may not exist yet.
        settings: How to send requests.
        transport: Replaces HTTP; it is not closed, and one thread uses it at a time.
        pace: When requests may be sent; by default that of a fleet beside the Silo, if there is
            one, and otherwise by the settings alone.
        around: Put around the transport of each fetching thread.
        location: The base URL as given, with any credentials.

    Attributes:
        base_url: Without credentials.
        settings: As given, or the defaults.
        is_lent: Whether a transport replaces HTTP.
        client: For requests in the thread that owns this.
        identified: The response to Identify, after it was requested.
    """

    def __init__(
        self,
        silo_path: str,
        settings: HttpSettings | None,
        transport: Transport | None,
        pace: Turns | None,
        around: Around | None,
        *,
        location: str,
    ) -> None:
        self.base_url = BaseURL.parse(location).url
        self.identified: Answer | None = None
        self._location = location
        self.settings = settings or HttpSettings()
        self.is_lent = transport is not None
        self._transport = transport
        self._around = around
        self._outage = Outage()
        self._own: HttpTransport | None = None
        if transport is None:
            if pace is None and (turns := turns_beside(silo_path)):
                pace = turns(location, self.settings.delay)
            self._pace = pace or Pace(self.settings.delay)
            transport = self._own = HttpTransport(
                location, self.settings, pace=self._pace, outage=self._outage
            )
        self.client = Client(transport)

    def close(self) -> None:
        """Close the client's connections."""
        self.client.close()

    def identify(self, silo_path: str | None = None, *, has_rested: bool = False) -> Identify:
        """Request Identify, unless the repository requested a pause.

        Args:
            silo_path: The Silo where pauses are stored; None if there is no Silo yet.
            has_rested: Whether `await_rest` was just called.

        Raises:
            RetryLater: The repository requests a pause, or did so before.
            EndpointError, OAIError: There is no repository.
        """
        known = None if has_rested else silo_path
        if known is not None and os.path.exists(journal_path(known)):
            with Journal(known) as journal:
                self.await_rest(journal)
        try:
            identify, self.identified = ask_identify(self.client)
        except RetryLater as asked:
            if silo_path is not None:
                with Journal(silo_path) as journal:
                    self.keep_rest(journal, asked)
            raise
        return identify

    def await_rest(self, journal: Journal) -> None:
        """Check that a pause that the repository requested is over.

        Raises:
            RetryLater: It is not over.
        """
        rest = journal.rest_of(self.base_url, datetime.now(UTC))
        if rest is not None:
            until, status = rest
            raise RetryLater(self.base_url, status, until)

    def keep_rest(self, journal: Journal, asked: RetryLater) -> None:
        """Note the pause that the repository requested."""
        with journal.changing():
            now = datetime.now(UTC)
            journal.put_rest(self.base_url, asked.deadline, asked.status, now)

    def open_transport(self, lane: Lane) -> Transport:
        """Open a transport for a thread."""
        if self._transport is not None:
            return Lent(self._transport)
        own = HttpTransport(
            self._location,
            self.settings,
            pace=self._pace,
            outage=self._outage,
            on_exchange=lane.on_exchange,
            sleep=lane.sleep,
            has_answered=True,
            beside=self._own,
        )
        return own if self._around is None else self._around(own, lane)
