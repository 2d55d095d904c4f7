"""Send the requests of a probe: a few dozen, one after the other.

Later requests depend on earlier responses; the ``*_checks`` modules judge them afterwards.

Source: OAI-PMH 2.0, sections 3.1, 3.5, 3.6 and 4.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta

from oaipmhclient.errors import PageUnreadable
from oaipmhclient.probe.list_checks import header_of
from oaipmhclient.probe.reading import read_asked
from oaipmhclient.probe.values import Evidence, ProbeExchange
from oaipmhclient.transport.http_rules import begins_as_oai, with_query
from oaipmhclient.transport.http_transport import Transport
from oaipmhprotocol import DatestampError, Granularity, Header, Verb
from oaipmhprotocol.datestamps import format_datestamp, parse_datestamp
from oaipmhprotocol.queries import Verbatim, query_string
from oaipmhprotocol.words import Argument
from politeweb.answers import Exchange
from politeweb.errors import EndpointError, HTTPStatusError, RetryLater

_MOST_PAGES = 4
MOST_REQUESTS = 31
"""Most requests of one probe, without retries and redirects."""

_IDENTIFIER, _SET = Argument.IDENTIFIER.value, Argument.SET.value
_PREFIX, _TOKEN = Argument.METADATA_PREFIX.value, Argument.RESUMPTION_TOKEN.value
_FROM, _UNTIL = Argument.FROM.value, Argument.UNTIL.value


class Probe:
    """One probe of a repository.

    Args:
        transport: Sends the requests, with retries and pauses.
        base_url: Without credentials; for the requests in the report.
        budget: Seconds after which no more requests are sent.
        by_post: A transport that sends POST; None to skip that check.
        exchanges: The list to which the transport appends its attempts, for times without
            waits; if not given, times include waits.
        progress: Called with a description of each request before it is sent.
        now: A clock, aware UTC.
        monotonic: A clock in seconds that never goes back.
    """

    def __init__(
        self,
        transport: Transport,
        base_url: str,
        *,
        budget: float = 300.0,
        by_post: Transport | None = None,
        exchanges: Sequence[Exchange] = (),
        progress: Callable[[str], None] = lambda _: None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transport = transport
        self._by_post = by_post
        self._base_url = base_url
        self._budget = budget
        self._exchanges = exchanges
        self._progress = progress
        self._now = now
        self._monotonic = monotonic
        self._asked: dict[str, ProbeExchange] = {}
        self._stopped = ""
        self._prefix = "oai_dc"
        self._ends = 0.0

    def run(self) -> Evidence:
        """Send the requests; return everything received, also if the budget ends the probe.

        Raises:
            EndpointError: There is no response, or no OAI-PMH response.
        """
        began = self._now()
        self._ends = self._monotonic() + self._budget
        self._what_it_says_of_itself()
        self._lists()
        self._single_records()
        self._windows()
        self._errors()
        if self._by_post is not None:
            self._ask("post", Verb.IDENTIFY, transport=self._by_post)
        return Evidence(
            self._base_url,
            self._prefix,
            dict(self._asked),
            began,
            self._now(),
            str(getattr(self._transport, "moved_to", "")),
            int(getattr(getattr(self._transport, "traffic", None), "retried", 0)),
            self._stopped,
        )

    # ------------------------------------------------------------------ the requests

    def _what_it_says_of_itself(self) -> None:
        identify = self._ask("identify", Verb.IDENTIFY)
        formats = self._ask("formats", Verb.LIST_METADATA_FORMATS)
        found = [one for one in (identify, formats) if one is not None]
        if not any(one.answer and begins_as_oai(one.answer.body) for one in found):
            raise _unusable(self._base_url, found, self._stopped)
        self._ask("sets", Verb.LIST_SETS)
        prefixes = [one.prefix for one in formats.items] if formats is not None else []
        self._prefix = "oai_dc" if "oai_dc" in prefixes or not prefixes else prefixes[0]

    def _lists(self) -> None:
        asked = self._ask("page/1", Verb.LIST_RECORDS, {_PREFIX: self._prefix})
        token = sent = _next_token(asked)
        number = 1
        while token is not None and number < _MOST_PAGES:
            number, sent = number + 1, token
            asked = self._ask(f"page/{number}", Verb.LIST_RECORDS, {_TOKEN: token})
            if asked is not None and not asked.is_list:
                self._other_ways(token)
                break
            token = _next_token(asked)
        if sent is not None and asked is not None and asked.is_list:
            self._ask("token/again", Verb.LIST_RECORDS, {_TOKEN: sent})
        self._ask("identifiers", Verb.LIST_IDENTIFIERS, {_PREFIX: self._prefix})

    def _other_ways(self, token: str) -> None:
        """Send a refused token in the forms that some servers need."""
        self._ask("token/verbatim", Verb.LIST_RECORDS, {_TOKEN: Verbatim(token)})
        both = {_TOKEN: token, _PREFIX: self._prefix}
        self._ask("token/with prefix", Verb.LIST_RECORDS, both)

    def _single_records(self) -> None:
        headers = self._headers()
        live = next((one for one in self._first_page() if not one.deleted), None)
        if live is not None:
            self._get("record", live.identifier)
            self._ask("formats/item", Verb.LIST_METADATA_FORMATS, {_IDENTIFIER: live.identifier})
        deleted = next((one for one in headers if one.deleted), None)
        if deleted is not None:
            self._get("record/deleted", deleted.identifier)
        member = next((one for one in headers if any(one.set_specs)), None)
        if member is not None:
            self._list("set", {_SET: member.set_specs[0]})

    def _windows(self) -> None:
        """Request windows around a record from the middle of the first page.

        So the first page of the response shows whether a bound is ignored, in any order of
        records.
        """
        found = _middle(self._first_page() or self._headers())
        if found is None:
            self._short_window()
            return
        identify = self._asked["identify"].identify if "identify" in self._asked else None
        claimed = identify.granularity if identify is not None else None
        granularity = min(claimed or Granularity.DAY, Granularity.of(found), key=len)
        moment = parse_datestamp(found)
        stamp, day = format_datestamp(moment, granularity), moment.date()
        ahead = date(min(self._now().year + 1, 9998), 1, 1).isoformat()
        second = f"{day}T12:00:00Z"
        self._list("window/exact", {_FROM: stamp, _UNTIL: stamp})
        self._list("window/since", {_FROM: stamp})
        self._list("window/before", {_UNTIL: stamp})
        self._list("window/empty", {_FROM: ahead, _UNTIL: ahead})
        self._list("window/reversed", {_FROM: _day_after(day), _UNTIL: day.isoformat()})
        self._list("window/mixed", {_FROM: day.isoformat(), _UNTIL: second})
        if claimed is Granularity.SECOND:
            self._list("window/day", {_FROM: day.isoformat()})
        elif claimed is Granularity.DAY:
            self._list("window/seconds", {_FROM: second})
        self._pages_of_a_window()

    def _short_window(self) -> None:
        """Request the earliest day alone, if the repository says that it has no records."""
        first = self._asked.get("page/1")
        identify = self._asked["identify"].identify if "identify" in self._asked else None
        if first is None or "noRecordsMatch" not in first.codes or identify is None:
            return
        with suppress(DatestampError):
            day = parse_datestamp(identify.earliest_datestamp).date().isoformat()
            self._list("window/short", {_FROM: day, _UNTIL: day})

    def _pages_of_a_window(self) -> None:
        """Request a window of several pages, and its second page by the token alone.

        It is twice as long as the dates on the first page. So many later records, if there are
        any, are outside.
        """
        moments = sorted(filter(None, map(_moment_of, self._first_page())))
        if _next_token(self._asked.get("page/1")) is None or not moments:
            return
        first, last = moments[0].date(), moments[-1].date()
        length = min(2 * (last - first) + timedelta(days=1), date.max - first)
        window = {_FROM: first.isoformat(), _UNTIL: (first + length).isoformat()}
        opening = {_PREFIX: self._prefix, **window}
        token = _next_token(self._ask("window/pages", Verb.LIST_RECORDS, opening))
        if token is not None:
            self._ask("window/pages/2", Verb.LIST_RECORDS, {_TOKEN: token})

    def _errors(self) -> None:
        self._ask("error/verb", "Probe")
        self._ask("error/missing", Verb.LIST_RECORDS)
        self._ask("error/argument", Verb.IDENTIFY, {"probe": "1"})
        self._ask("error/format", Verb.LIST_RECORDS, {_PREFIX: "no_such_format"})
        self._get("error/identifier", "oai:probe.invalid:no-such-record")
        self._ask("error/token", Verb.LIST_RECORDS, {_TOKEN: "no-such-token"})

    # ------------------------------------------------------------------ sending

    def _list(self, role: str, arguments: Mapping[str, str]) -> None:
        self._ask(role, Verb.LIST_IDENTIFIERS, {_PREFIX: self._prefix, **arguments})

    def _get(self, role: str, identifier: str) -> None:
        arguments = {_IDENTIFIER: identifier, _PREFIX: self._prefix}
        self._ask(role, Verb.GET_RECORD, arguments)

    def _ask(
        self,
        role: str,
        verb: str,
        arguments: Mapping[str, str] | None = None,
        transport: Transport | None = None,
    ) -> ProbeExchange | None:
        """Send a request, unless the probe has ended; store and return the exchange."""
        if not self._stopped and self._monotonic() >= self._ends:
            self._stopped = f"The time limit of {self._budget:g} seconds was reached."
        if self._stopped:
            return None
        self._progress(role)
        params = {Argument.VERB.value: str(verb), **(arguments or {})}
        asked = self._exchange(role, params, transport or self._transport)
        self._asked[role] = asked
        return asked

    def _exchange(
        self, role: str, params: Mapping[str, str], transport: Transport
    ) -> ProbeExchange:
        url = with_query(self._base_url, params)
        if transport is self._by_post:
            url = f"curl --data '{query_string(params)}' '{self._base_url}'"
        before, began = len(self._exchanges), self._monotonic()
        try:
            answer = transport.fetch(params)
        except EndpointError as error:
            if isinstance(error, RetryLater):
                self._stopped = f"The probe ended early: {error}."
            if isinstance(error, HTTPStatusError):
                failure = f"HTTP status {error.status} without an OAI-PMH answer"
                return ProbeExchange(role, params, url, failure=failure, status=error.status)
            return ProbeExchange(role, params, url, failure=str(error))
        seconds = self._monotonic() - began
        if len(self._exchanges) > before:
            seconds = self._exchanges[-1].seconds
        return read_asked(role, params, url, answer, seconds)

    # ------------------------------------------------------------------ responses

    def _first_page(self) -> list[Header]:
        asked = self._asked.get("page/1")
        return [header_of(item) for item in asked.items] if asked is not None else []

    def _headers(self) -> list[Header]:
        """Return the headers of all pages of records, else of the list of identifiers."""
        pages = [one for role, one in self._asked.items() if role.startswith("page/")]
        found = [header_of(item) for asked in pages for item in asked.items]
        identifiers = self._asked.get("identifiers")
        return found or [*(identifiers.items if identifiers is not None else ())]


def _next_token(asked: ProbeExchange | None) -> str | None:
    return asked.page.next_token if asked is not None and asked.page is not None else None


def _moment_of(header: Header) -> datetime | None:
    try:
        return parse_datestamp(header.datestamp)
    except DatestampError:
        return None


def _middle(headers: Sequence[Header]) -> str | None:
    """Return the middle one of the well-formed datestamps."""
    stamps = []
    for header in headers:
        try:
            stamps.append((parse_datestamp(header.datestamp), header.datestamp))
        except DatestampError:
            continue
    return sorted(stamps)[len(stamps) // 2][1] if stamps else None


def _day_after(day: date) -> str:
    return (day + timedelta(days=1)).isoformat() if day < date.max else day.isoformat()


def _unusable(base_url: str, found: Sequence[ProbeExchange], stopped: str) -> EndpointError:
    """Return the error if the repository cannot be probed."""
    for asked in found:
        if asked.answer is not None:
            return PageUnreadable(asked.unreadable or "is not an answer", asked.url)
    first = next((asked for asked in found if asked.failure), None)
    if first is not None and first.status is None:
        return EndpointError(first.url, first.failure)
    reason = first.failure if first is not None else stopped or "no answer"
    return EndpointError(base_url, f"{base_url} returns {reason}")
