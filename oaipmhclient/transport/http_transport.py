"""Send a request over HTTP and receive the complete response (OAI-PMH 2.0, section 3.1).

Waits for busy servers, and limits everything that a server decides: bytes, seconds, redirects,
pauses. TLS is verified unless that is switched off; messages never have credentials.
"""

import logging
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from http.client import responses as status_phrases
from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

from oaipmhclient.transport.http_rules import BaseURL, Verdict, begins_as_oai, judge, unpack_page
from oaipmhprotocol.queries import query_string
from politeweb.answers import BUSY, Answer, AttemptOutcome, Exchange, Traffic
from politeweb.attempts import Passing, attempted
from politeweb.closing import Closing
from politeweb.codings import CodingBroken
from politeweb.connections import PrivateAddress
from politeweb.errors import (
    EndpointError,
    EndpointUnreachable,
    HTTPStatusError,
    MovedElsewhere,
    RedirectRefused,
    RequestRefused,
    ResponseTooLarge,
    ResponseTooSlow,
)
from politeweb.exchange import Exchanges, Incoming
from politeweb.failures import BROKEN, is_final, is_timeout, reason_of
from politeweb.logins import login_for, secrets_for
from politeweb.pace import Pace, Turns
from politeweb.public_hosts import is_public
from politeweb.response_head import ResponseHead
from politeweb.settings import HttpSettings

logger = logging.getLogger("OAIPMH Harvester.requests")
_OF_FORMS = {"Content-Type": "application/x-www-form-urlencoded"}


class Transport(Protocol):
    """Interface of a transport: one method, so that tests can replace it."""

    def fetch(self, params: Mapping[str, str]) -> Answer:
        """Send a request, given as wire parameters; return the complete response.

        Raises:
            EndpointError: There was no response.
        """


class Outage:
    """Whether a repository gives no answer; shared by its transports, so that one line says so.

    Attributes:
        number: How many there have been.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_on = False
        self.number = 0

    def begins(self) -> bool:
        """Note a request without an answer; return whether it is the first since an answer."""
        with self._lock:
            is_first, self._is_on = not self._is_on, True
            self.number += is_first
            return is_first

    def ends(self, number: int) -> None:
        """Note an answer; one to a request that was sent before the outage does not end it.

        Args:
            number: `number` when the request was sent.
        """
        with self._lock:
            self._is_on = self._is_on and number != self.number


class HttpTransport(Closing):
    """Requests to a repository's base URL over connections that it keeps.

    Threads must not share it, but may share a pace. Nothing is sent before the first `fetch`.

    Args:
        base_url: As a user gave it; credentials and OAI-PMH arguments are removed.
        settings: How to send requests.
        pace: Shared with other transports to the same host; one of its own by default.
        on_exchange: Called with every attempt, in the thread that makes it.
        has_answered: Whether the repository has answered another transport before; then a
            response that is not OAI-PMH counts as a temporary failure, and
            `HttpSettings.first_attempts` is not used.
        outage: Shared by the transports of a repository; one line tells that it does not answer.
        beside: Another transport of the repository, with the same settings, whose connections this
            one uses too, and which is closed after it.

    Attributes:
        base_url: Without credentials and OAI-PMH arguments.
        moved_to: The base URL that redirects lead to; empty without redirects.
        traffic: What was sent and received so far.

    Raises:
        RequestRefused: It is not an http or https URL, or the certificate file does not exist.
    """

    def __init__(
        self,
        base_url: str,
        settings: HttpSettings | None = None,
        *,
        pace: Turns | None = None,
        on_exchange: Callable[[Exchange], None] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = random.random,
        has_answered: bool = False,
        outage: Outage | None = None,
        beside: "HttpTransport | None" = None,
    ) -> None:
        self._base = self._target = BaseURL.parse(base_url)
        self._settings = settings or HttpSettings()
        self._pace: Turns = pace or Pace(self._settings.delay, monotonic=monotonic)
        self._on_exchange = on_exchange
        self._beside = beside
        if beside is None:
            self._own_host = _OwnHost(self._base.url, self._settings)
            allowed = self._own_host.is_allowed
            self._exchanges = Exchanges(self._settings, is_allowed=allowed, resends=False)
            self._cookies = _Cookies()
        else:
            self._own_host = beside._own_host
            self._exchanges, self._cookies = beside._exchanges, beside._cookies
        self._secrets: dict[str, Mapping[str, str]] = {}
        self._now = now
        self._monotonic = monotonic
        self._sleep = sleep
        self._random = random
        self._has_answered = has_answered
        self._outage = outage or Outage()
        self._started = float("-inf")
        self.base_url = self._base.url
        self.moved_to = ""
        self.traffic = Traffic()

    def close(self) -> None:
        """Close the connections, unless they are of another transport."""
        if self._beside is None:
            self._exchanges.close()

    def abort(self) -> None:
        """Abort the request that another thread waits for, and those over the same connections."""
        self._exchanges.abort()

    def fetch(self, params: Mapping[str, str]) -> Answer:
        """Send a request, with retries, and return a complete response.

        After a busy server (429, 5xx), a timeout, a reset or a truncated response, the request is
        sent again after a pause: that of ``Retry-After``, else doubling. If the last response is
        not OAI-PMH, or only its beginning, it is returned as it is.

        Raises:
            RetryLater: ``Retry-After`` is longer than `HttpSettings.longest_pause`.
            HTTPStatusError: An error status without an OAI-PMH response.
            EndpointUnreachable, ResponseTooLarge, ResponseTooSlow, RedirectRefused
        """
        settings = self._settings
        most = settings.attempts if self._has_answered else settings.attempts_before_answer
        return attempted(
            lambda number: self._attempt(params, number, most),
            self._pause,
            settings,
            now=self._now,
            random=self._random,
            attempts=most,
        )

    # ------------------------------------------------------------------ attempts

    def _attempt(self, params: Mapping[str, str], attempt: int, most: int) -> Answer:
        if attempt > 1:
            self.traffic = replace(self.traffic, retried=self.traffic.retried + 1)
        before, outage = self.traffic.received, self._outage.number
        outcome, status = AttemptOutcome.FAILED, None
        try:
            answer = self._send(params, attempt)
            status = answer.status
            outcome = self._judged(answer, attempt)
        except _Disturbed as failure:
            outcome = AttemptOutcome.REFUSED if status in BUSY else outcome
            if attempt < most or not failure.is_usable:
                raise
            return failure.answer
        except (Passing, ResponseTooSlow) as failure:
            is_slow = isinstance(failure, ResponseTooSlow) or is_timeout(
                failure.__cause__ or failure
            )
            outcome = AttemptOutcome.TIMED_OUT if is_slow else outcome
            raise
        finally:
            self._tell(outcome, self.traffic.received - before, status)
        self._has_answered = self._has_answered or begins_as_oai(answer.body)
        self._outage.ends(outage)
        return answer

    def _judged(self, answer: Answer, attempt: int) -> AttemptOutcome:
        verdict, reason = judge(answer, has_answered=self._has_answered)
        if verdict is Verdict.TAKE:
            return AttemptOutcome.ANSWERED
        phrase = status_phrases.get(answer.status, "") if answer.status >= 300 else ""
        if answer.status >= 300:
            error: EndpointError = HTTPStatusError(answer.url, answer.status, phrase, attempt)
        else:
            error = EndpointUnreachable(answer.url, reason, attempt)
        if verdict is Verdict.FAIL:
            raise error
        raise _Disturbed(error, f"{reason} {phrase}".strip(), answer)

    def _tell(self, outcome: AttemptOutcome, received: int, status: int | None) -> None:
        if self._on_exchange is not None:
            seconds = self._monotonic() - self._started
            self._on_exchange(Exchange(outcome, seconds, received, status))

    def _pause(self, failure: Passing, seconds: float) -> None:
        if self._outage.begins():
            logger.warning("%s: %s; trying again in %.0f s", self.base_url, failure.reason, seconds)
        logger.info("%s: %s; trying again in %.0f s", failure.url, failure.reason, seconds)
        if failure.status in BUSY:
            self._pace.hold(seconds)
        else:
            self._sleep(seconds)

    # ------------------------------------------------------------------ one exchange

    def _send(self, params: Mapping[str, str], attempt: int) -> Answer:
        target, lasting, before = self._target, True, self._base.url
        for _ in range(self._settings.max_redirects + 1):
            self._await_turn()
            deadline = self._started + self._settings.total_timeout
            url = target.url if self._settings.post else target.request_url(params)
            try:
                with self._exchange(url, params if self._settings.post else None) as incoming:
                    assert incoming.head is not None
                    head = incoming.head
                    if not head.location:
                        answer = self._answer(incoming, head, url, deadline)
                        self._note_move(target, answer, lasting=lasting)
                        return answer
            except RequestRefused as error:
                if target is self._target:
                    raise
                raise RedirectRefused(before, "to an address that is not HTTP") from error
            except PrivateAddress as error:
                if target is self._base:
                    reason = f"{error}, and had another before; --private-redirects allows it"
                    raise EndpointUnreachable(url, reason) from error
                reason = f"to {error}; --private-redirects follows it"
                raise RedirectRefused(before, reason) from error
            except BROKEN as error:
                if self._monotonic() > deadline:
                    raise ResponseTooSlow(url, self._settings.total_timeout) from error
                raise self._failure(url, error, attempt) from error
            lasting = lasting and head.status in {301, 308}
            target, before = _next_target(url, head.location), url
            if self._settings.stays and _host(target.url) != _host(self._base.url):
                raise MovedElsewhere(url, target.url)
        raise RedirectRefused(url, f"more than {self._settings.max_redirects} times")

    def _await_turn(self) -> None:
        """Wait for the turn, and after a request that began late also for the interval."""
        begun, interval = self._started, self._pace.interval
        wait = max(self._pace.reserve(), begun + interval - self._monotonic())
        if wait > 0:
            self._sleep(wait)
        self._started = self._monotonic()

    def _note_move(self, target: BaseURL, answer: Answer, *, lasting: bool) -> None:
        """Use the target of a permanent redirect from now on, if it answered with OAI-PMH."""
        if target.url == self._target.url or not begins_as_oai(answer.body):
            return
        self.moved_to = target.url
        if lasting:
            self._target = target

    def _exchange(self, url: str, form: Mapping[str, str] | None) -> Incoming:
        """Send a request; return its answer, which has a head.

        Raises:
            RequestRefused, FetchError, OSError, …: There is none; see `failures.BROKEN`.
        """
        self.traffic = replace(self.traffic, sent=self.traffic.sent + 1)
        secrets = {**self._secrets_for(url), **self._cookies.header(url)}
        if form is None:
            incoming = self._exchanges.open(url, secrets=secrets)
        else:
            incoming = self._exchanges.open(
                url, _OF_FORMS, method="POST", secrets=secrets, body=query_string(form).encode()
            )
        if incoming.error is not None:
            raise incoming.error
        if incoming.head is not None:
            self._own_host.has_answered = True
            self._cookies.take(url, incoming.head)
        return incoming

    def _secrets_for(self, url: str) -> Mapping[str, str]:
        """Return the secret headers of a request; they are looked up once for each host."""
        parts = urlsplit(url)
        place = f"{parts.scheme}://{parts.netloc}"
        if place not in self._secrets:
            settings = self._settings
            self._secrets[place] = secrets_for(url, self._base, settings) or login_for(
                url, settings
            )
        return self._secrets[place]

    def _answer(self, incoming: Incoming, head: ResponseHead, url: str, deadline: float) -> Answer:
        raw, cut = self._read(incoming, url, deadline)
        limit = self._settings.max_response
        try:
            body = unpack_page(raw, head.get("content-encoding"), limit, url)
        except CodingBroken as error:
            body, cut = error.got, cut or str(error)
        packed = None if body is raw else raw
        return Answer(body, url, head.status, head.values, packed, self._now(), cut)

    def _read(self, incoming: Incoming, url: str, deadline: float) -> tuple[bytes, str]:
        """Read the body as sent, within the limits.

        Returns:
            The bytes, and why they are incomplete (empty if they are complete).
        """
        raw = incoming.whole(self._settings.max_response)
        if incoming.truncated == "length":
            raise ResponseTooLarge(url, self._settings.max_response)
        if self._monotonic() > deadline:
            raise ResponseTooSlow(url, self._settings.total_timeout)
        is_usable = begins_as_oai(raw) or raw.startswith(b"\x1f\x8b")
        if incoming.error is not None and not is_usable:
            raise incoming.error
        self.traffic = replace(self.traffic, received=self.traffic.received + len(raw))
        return raw, incoming.reason

    def _failure(self, url: str, error: Exception, attempt: int) -> Exception:
        """Return the error of a failed exchange: temporary or final."""
        reason = reason_of(error, self._settings)
        failure = EndpointUnreachable(url, reason, attempt)
        if is_final(error, has_answered=self._has_answered):
            return failure
        return Passing(failure, reason, url=url)


class _OwnHost:
    """The host of a repository: if it had a private address when it first answered, all may.

    What its name resolves to later does not count: a name server may answer a second time with an
    address of the network that the harvest runs in.

    Attributes:
        has_answered: Whether it has.
    """

    def __init__(self, base_url: str, settings: HttpSettings) -> None:
        self._host = urlsplit(base_url).hostname
        self._is_inside = settings.private_redirects
        self.has_answered = False

    def is_allowed(self, host: str, _port: int, address: str) -> bool:
        """Whether a connection is allowed: to a private address only from a private one."""
        if self._is_inside or is_public(address):
            return True
        self._is_inside = not self.has_answered and host.lower() == self._host
        return self._is_inside


class _Cookies:
    """The cookies of a repository. Most set none; what reads them is loaded for the first."""

    def __init__(self) -> None:
        self._held: Any = None

    def header(self, url: str) -> Mapping[str, str]:
        return {} if self._held is None else self._held.header(url)

    def take(self, url: str, head: ResponseHead) -> None:
        if head.get("set-cookie"):
            if self._held is None:
                from politeweb.cookies import Cookies  # noqa: PLC0415 - see above

                self._held = Cookies()
            self._held.take(url, head)


class _Disturbed(Passing):
    """A response that may be better in another attempt.

    Attributes:
        answer: As received.
    """

    def __init__(self, error: EndpointError, reason: str, answer: Answer) -> None:
        self.answer = answer
        after = answer.headers.get("retry-after") if answer.status >= 300 else None
        super().__init__(error, reason, url=answer.url, status=answer.status, retry_after=after)

    @property
    def is_usable(self) -> bool:
        """Whether it is returned if there is no better one: a page or its beginning, no error."""
        return self.answer.status < 300 and (not self.answer.cut or begins_as_oai(self.answer.body))


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").lower().removeprefix("www.")


def _next_target(url: str, location: str) -> BaseURL:
    """Return the target of a redirect, without its own credentials and OAI-PMH arguments.

    The arguments are added again: servers often redirect ``/oai`` to ``/oai/`` without them.
    """
    try:
        target = BaseURL.parse(urljoin(url, location.strip()))
    except ValueError as error:
        raise RedirectRefused(url, "to an address that is not HTTP") from error
    return replace(target, auth=None)
