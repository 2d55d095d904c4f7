"""Find out whether a repository denies the records of long windows.

Some servers answer noRecordsMatch for a window that has records, because it is too long for them
(PubMed Central, PMC-OAI). So an empty window is believed if one as long was answered with records.
Otherwise shorter ones are requested, at the date of a known record or, without one, at both ends of
the list; the longest that is answered then is the length of all windows.

Source: OAI-PMH 2.0, sections 2.7.1 and 3.6, noRecordsMatch.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from oaipmhclient.endpoint import Endpoint
from oaipmhclient.mending.repair import read_records_mended
from oaipmhclient.pages.requests_and_pages import ListPage, VerbRequest, list_request
from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhclient.walk.values import ListJob, WalkPage, WindowPosition
from oaipmhclient.walk.windows import Window
from oaipmhclient.walk.wire_windows import as_sent
from oaipmhprotocol import Granularity, NoRecordsMatch, OAIError, Record, Verb
from oaipmhprotocol.datestamps import format_datestamp, read_datestamp
from politeweb.answers import Answer
from politeweb.errors import EndpointError, RetryLater

logger = logging.getLogger("OAIPMH Harvester")

ANY_LENGTH = 1_000_000
"""Days of a window without bounds."""
SHORTENED = "long windows denied, shorter ones requested"
"""The step of a list whose long windows were denied."""


@dataclass(frozen=True, slots=True)
class Doubted:
    """Windows that were answered with noRecordsMatch, and are longer than any with records.

    Attributes:
        days: The length of the longest.
        granularity: Of its windows.
        first: Where the records of the list begin, as far as known.
        last: Where they end.
        known: The datestamp of a record of the list; None if none was received.
    """

    days: int
    granularity: Granularity
    first: datetime
    last: datetime
    known: datetime | None = None

    @property
    def lengths(self) -> tuple[int, ...]:
        """Return the lengths to try, in days, the longest first.

        With a known record, the first one is that of the doubted windows.
        """
        roots = (round(self.days ** (2 / 3)), round(self.days ** (1 / 3)), 1)
        tried = roots if self.known is None else (self.days, *roots)
        return tuple(sorted({max(1, one) for one in tried}, reverse=True))

    def windows(self, days: int) -> tuple[Window, ...]:
        """Return windows of a length that have records if the list has any."""
        if self.known is not None:
            return (self._window(self.known, days),)
        return (self._window(self.first, days), self._window(self.last, days))

    def _window(self, moment: datetime, days: int) -> Window:
        """Return a window that begins with the day of a moment, or ends with the last day."""
        length = timedelta(days=days)
        latest = _midnight(self.last) + timedelta(days=1)
        begin = min(_midnight(moment), latest - length)
        bounds = (begin, begin + length - self.granularity.step)
        return Window(*(format_datestamp(bound, self.granularity) for bound in bounds))


def _midnight(moment: datetime) -> datetime:
    return datetime.combine(moment.astimezone(UTC).date(), time(), UTC)


def days_of(window: Window, first: datetime, last: datetime) -> int:
    """Return the length of a window in days, rounded up; none before the first record.

    Args:
        window: Its bounds.
        first: Where records begin, for an open bound.
        last: Where they end.
    """
    if window == Window():
        return ANY_LENGTH
    begin = read_datestamp(window.from_) if window.from_ else first
    end = read_datestamp(window.until) if window.until else last
    return max(0, (end - begin).days + 1)


def find_length(
    client: Endpoint, job: ListJob, quirks: EndpointMemory, doubted: Doubted
) -> Iterator[WalkPage[Record]]:
    """Find the longest windows that are answered with records; note it in the memory.

    Yields:
        One page without records. Its step is `SHORTENED` if long windows are denied.

    Raises:
        EndpointError: The endpoint requires a long pause.
    """
    search = _Search(client, job, quirks, doubted)
    steps = (SHORTENED,) if search.run() else ()
    answer, position = Answer(b"", client.base_url), WindowPosition(ended=True)
    yield WalkPage(ListPage(()), search.last_request, answer, position, steps)


class _Search:
    """The requests for windows of several lengths."""

    def __init__(
        self, client: Endpoint, job: ListJob, quirks: EndpointMemory, doubted: Doubted
    ) -> None:
        self._client = client
        self._job = job
        self._quirks = quirks
        self._doubted = doubted
        self.last_request = self._request(Window())

    def run(self) -> bool:
        """Return whether long windows are denied."""
        denied = self._doubted.days
        for days in self._doubted.lengths:
            if self._is_answered(days):
                break
            denied = days
        else:
            return False
        if days < self._doubted.days:
            days = self._longest(days, denied)
            self._quirks.window_days = days
            logger.warning(
                "%s denies the records of windows of more than %s days", self._client.base_url, days
            )
        self._quirks.answered_days = max(days, self._quirks.answered_days)
        return days < self._doubted.days

    def _longest(self, answered: int, denied: int) -> int:
        """Return about the longest length that is answered, between two known ones."""
        while denied - answered > max(1, answered // 2):
            middle = (answered + denied) // 2
            if self._is_answered(middle):
                answered = middle
            else:
                denied = middle
        return answered

    def _is_answered(self, days: int) -> bool:
        return any(self._has_records(one) for one in self._doubted.windows(days))

    def _has_records(self, window: Window) -> bool:
        self.last_request = self._request(window)
        try:
            page, _ = self._client.exchange(self.last_request, read_records_mended)
            page.raise_errors()
        except NoRecordsMatch:
            return False
        except RetryLater:
            raise
        except (EndpointError, OAIError) as error:
            logger.info("%s: %s", self.last_request, error)
            return False
        return bool(page.items)

    def _request(self, window: Window) -> VerbRequest:
        job, bounds = self._job, as_sent(window, self._quirks, None)
        spec = job.set_spec
        return list_request(Verb.LIST_RECORDS, job.metadata_prefix, **bounds, set_spec=spec)
