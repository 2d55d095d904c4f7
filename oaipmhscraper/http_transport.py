"""Send one request over HTTP and bring one whole answer back (OAI-PMH 2.0, section 3.1).

Patient with servers that are busy, and bounded in everything a server decides:
bytes, seconds, redirects, pauses. TLS is verified; user and password come from
the URL or from ``~/.netrc`` and appear in no message.
"""

import logging
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from http.client import responses as status_phrases
from importlib.metadata import version
from typing import Protocol
from urllib.parse import urljoin

import requests
import urllib3

from oaipmhscraper.errors import (
    EndpointError,
    EndpointUnreachable,
    HTTPStatusError,
    RedirectRefused,
    RequestRefused,
    ResponseTooLarge,
    ResponseTooSlow,
    RetryLater,
)
from oaipmhscraper.http_rules import (
    Answer,
    BaseURL,
    CodingBroken,
    Traffic,
    Verdict,
    backoff,
    judge,
    retry_after,
    unpack,
)
from oaipmhscraper.requests_and_pages import query_string

logger = logging.getLogger("OAIPMH Harvester")


class Transport(Protocol):
    """The way to a repository: one method, so that a function can stand in for it."""

    def fetch(self, params: Mapping[str, str]) -> Answer:
        """Send one request, given as wire parameters; return the whole answer.

        Raises:
            EndpointError: None came.
        """


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """How requests are sent, and what a server may ask of us.

    Attributes:
        contact: A mail address or URL; told in User-Agent, a mail address also in From.
        post: Send POST instead of GET.
        connect_timeout: Seconds to be connected.
        read_timeout: Seconds without a byte. 1 % of 6,778 endpoints needed 180 s (2023).
        total_timeout: Seconds for one answer.
        max_response: Bytes of one answer, packed or unpacked.
        max_redirects: Redirects followed for one request.
        attempts: How often one request is sent at most.
        first_pause: Seconds before the second attempt; doubled before each further one.
        longest_pause: Seconds; a longer ``Retry-After`` raises `RetryLater`.
    """

    contact: str | None = None
    post: bool = False
    connect_timeout: float = 20.0
    read_timeout: float = 180.0
    total_timeout: float = 900.0
    max_response: int = 256 * 1024 * 1024
    max_redirects: int = 5
    attempts: int = 5
    first_pause: float = 1.0
    longest_pause: float = 300.0

    @property
    def headers(self) -> dict[str, str]:
        """What every request says of its sender.

        Raises:
            RequestRefused: The contact cannot stand in a header.
        """
        agent = f"recordsilo/{version('recordsilo')}"
        headers = {"Accept-Encoding": "gzip, deflate", "Accept": "text/xml, application/xml, */*"}
        if not self.contact:
            return {"User-Agent": agent, **headers}
        if not (self.contact.isascii() and self.contact.isprintable()):
            raise RequestRefused(f"{self.contact!r} cannot be sent as a contact")
        if "@" in self.contact and ":" not in self.contact:
            headers["From"] = self.contact
        return {"User-Agent": f"{agent} (+{self.contact})", **headers}


class _Transient(Exception):
    """An attempt failed in a way that may pass."""

    def __init__(self, error: EndpointError, reason: str, answer: Answer | None = None) -> None:
        self.error = error
        self.reason = reason
        self.answer = answer
        super().__init__(reason)


class _Session(requests.Session):
    """A session that never looks at redirects.

    Even where it is not to follow them, requests would read a redirect's whole body,
    however large, and stumble over a malformed address.
    """

    def get_redirect_target(self, resp: requests.Response) -> None:
        """None."""
        del resp


class HttpTransport:
    """A repository's base URL over one keep-alive session.

    Not to be shared by threads. Nothing is sent before the first `fetch`.

    Attributes:
        base_url: Without credentials and OAI-PMH arguments.
        traffic: What was sent and received so far.
    """

    def __init__(
        self,
        base_url: str,
        settings: HttpSettings | None = None,
        *,
        session: requests.Session | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        self._base = BaseURL.parse(base_url)
        self._settings = settings or HttpSettings()
        self._headers = self._settings.headers
        self._session = session or _Session()
        self._now = now
        self._monotonic = monotonic
        self._sleep = sleep
        self._random = random
        self._has_answered = False
        self.base_url = self._base.url
        self.traffic = Traffic()

    def close(self) -> None:
        """Close the kept connections."""
        self._session.close()

    def __enter__(self) -> "HttpTransport":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def fetch(self, params: Mapping[str, str]) -> Answer:
        """Send one request until a whole answer came, or nothing helps.

        Busy servers (429, 5xx), timeouts, resets and answers cut short are asked
        again after a pause: as long as ``Retry-After`` says, else doubling. An
        answer that is no OAI-PMH is returned as it is after the last attempt.

        Raises:
            RetryLater: ``Retry-After`` is longer than `HttpSettings.longest_pause`.
            HTTPStatusError: An error status without an OAI-PMH answer.
            EndpointUnreachable, ResponseTooLarge, ResponseTooSlow, RedirectRefused
        """
        for attempt in range(1, self._settings.attempts + 1):
            try:
                answer = self._attempt(params, attempt)
            except _Transient as failure:
                if attempt == self._settings.attempts:
                    return self._give_up(failure)
                self._pause(failure, attempt)
            else:
                self._has_answered = True
                return answer
        raise AssertionError("HttpSettings.attempts is at least 1")

    # ------------------------------------------------------------------ attempts

    def _attempt(self, params: Mapping[str, str], attempt: int) -> Answer:
        if attempt > 1:
            self.traffic = replace(self.traffic, retried=self.traffic.retried + 1)
        answer = self._send(params, attempt)
        verdict, reason = judge(answer, has_answered=self._has_answered)
        if verdict is Verdict.TAKE:
            return answer
        phrase = status_phrases.get(answer.status, "")
        if answer.status >= 300:
            error: EndpointError = HTTPStatusError(answer.url, answer.status, phrase, attempt)
        else:
            error = EndpointUnreachable(answer.url, reason, attempt)
        if verdict is Verdict.FAIL:
            raise error
        raise _Transient(error, f"{reason} {phrase}".strip(), answer)

    def _give_up(self, failure: _Transient) -> Answer:
        if failure.answer is not None and failure.answer.status < 300:
            return failure.answer
        asked = self._asked_pause(failure)
        if asked is not None and failure.answer is not None:
            raise self._later(failure.answer, asked)
        raise failure.error

    def _pause(self, failure: _Transient, attempt: int) -> None:
        settings = self._settings
        asked = self._asked_pause(failure)
        if asked is not None and failure.answer and asked > settings.longest_pause:
            raise self._later(failure.answer, asked)
        pause = backoff(attempt, settings.first_pause, settings.longest_pause, self._random)
        pause = asked if asked is not None else pause
        logger.warning("%s: %s; trying again in %.0f s", failure.error.url, failure.reason, pause)
        self._sleep(pause)

    def _asked_pause(self, failure: _Transient) -> float | None:
        if failure.answer is None or failure.answer.status < 300:
            return None
        return retry_after(failure.answer.headers.get("retry-after"), self._now())

    def _later(self, answer: Answer, seconds: float) -> RetryLater:
        try:
            deadline = self._now() + timedelta(seconds=seconds)
        except OverflowError:
            deadline = datetime.max.replace(tzinfo=UTC)
        return RetryLater(answer.url, answer.status, deadline)

    # ------------------------------------------------------------------ one exchange

    def _send(self, params: Mapping[str, str], attempt: int) -> Answer:
        deadline = self._monotonic() + self._settings.total_timeout
        post = self._settings.post
        url = self._base.url if post else self._base.request_url(params)
        for _ in range(self._settings.max_redirects + 1):
            try:
                with self._exchange(url, params if post else None) as response:
                    location = _location(response)
                    if location is None:
                        return self._answer(response, url, deadline)
            except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
                raise self._failure(url, error, attempt) from error
            url = _next_url(url, location, None if post else params)
        raise RedirectRefused(url, f"more than {self._settings.max_redirects} times")

    def _exchange(self, url: str, form: Mapping[str, str] | None) -> requests.Response:
        self.traffic = replace(self.traffic, sent=self.traffic.sent + 1)
        headers = dict(self._headers)
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        return self._session.request(
            "GET" if form is None else "POST",
            url,
            data=None if form is None else query_string(form),
            headers=headers,
            auth=self._base.auth if self._base.shares_credentials_with(url) else None,
            timeout=(self._settings.connect_timeout, self._settings.read_timeout),
            allow_redirects=False,
            stream=True,
        )

    def _answer(self, response: requests.Response, url: str, deadline: float) -> Answer:
        raw = self._read(response, url, deadline)
        headers = {name.lower(): value for name, value in response.headers.items()}
        limit = self._settings.max_response
        try:
            body = unpack(raw, headers.get("content-encoding", ""), limit, url)
        except CodingBroken as error:
            raise _Transient(EndpointUnreachable(url, str(error)), str(error)) from error
        packed = None if body is raw else raw
        return Answer(body, url, response.status_code, headers, packed, self._now())

    def _read(self, response: requests.Response, url: str, deadline: float) -> bytes:
        """Read the body as sent, piece by piece as pieces come, so that bounds hold."""
        raw = bytearray()
        while piece := response.raw.read1(65536, decode_content=False):
            raw += piece
            if len(raw) > self._settings.max_response:
                raise ResponseTooLarge(url, self._settings.max_response)
            if self._monotonic() > deadline:
                raise ResponseTooSlow(url, self._settings.total_timeout)
        self.traffic = replace(self.traffic, received=self.traffic.received + len(raw))
        return bytes(raw)

    def _failure(self, url: str, error: Exception, attempt: int) -> Exception:
        """What a failed exchange means: worth another attempt, or final.

        A host that refuses, or does not exist, and never answered is most likely
        a wrong address; a certificate does not become sound by waiting.
        """
        reason = _reason(error, self._settings)
        failure = EndpointUnreachable(url, reason, attempt)
        if isinstance(error, requests.exceptions.SSLError):
            return failure
        if isinstance(error, ValueError) and not isinstance(error, OSError):
            return failure
        unconnected = isinstance(error, requests.exceptions.ConnectionError) and not isinstance(
            error, requests.exceptions.Timeout
        )
        if unconnected and not self._has_answered and _never_connected(error):
            return failure
        return _Transient(failure, reason)


def _location(response: requests.Response) -> str | None:
    if response.status_code not in {301, 302, 303, 307, 308}:
        return None
    return response.headers.get("location") or None


def _next_url(url: str, location: str, params: Mapping[str, str] | None) -> str:
    """The next address of a redirected request, without credentials of its own.

    The arguments are put on anew: ``/oai`` → ``/oai/`` is often answered without them.
    """
    try:
        target = urljoin(url, location.strip())
        clean = BaseURL.parse(target)
    except ValueError as error:
        raise RedirectRefused(url, "to an address that is not HTTP") from error
    return clean.url if params is None else clean.request_url(params)


def _causes(error: BaseException) -> list[BaseException]:
    """The error and what lies under it, outermost first."""
    found: list[BaseException] = []
    queue: list[object] = [error]
    while queue:
        one = queue.pop(0)
        if isinstance(one, BaseException) and one not in found:
            found.append(one)
            queue += [*one.args, getattr(one, "reason", None), one.__cause__, one.__context__]
    return found


def _never_connected(error: BaseException) -> bool:
    refused = (ConnectionRefusedError, urllib3.exceptions.NewConnectionError)
    return any(isinstance(cause, refused) for cause in _causes(error))


def _reason(error: BaseException, settings: HttpSettings) -> str:
    """A transport's exception in words that carry no URL."""
    causes = _causes(error)
    kinds: list[tuple[type[BaseException], str]] = [
        (requests.exceptions.ConnectTimeout, f"no connection in {settings.connect_timeout:g} s"),
        (urllib3.exceptions.NameResolutionError, "the host's name is not known"),
        (ConnectionRefusedError, "the connection was refused"),
        (requests.exceptions.ProxyError, "the proxy failed"),
        (requests.exceptions.ReadTimeout, "the server kept silent too long"),
        (urllib3.exceptions.ReadTimeoutError, "the server kept silent too long"),
        (TimeoutError, "the server kept silent too long"),
        (urllib3.exceptions.IncompleteRead, "the answer was cut short"),
        (requests.exceptions.SSLError, f"TLS failed ({_innermost(causes)})"),
    ]
    for kind, words in kinds:
        if any(isinstance(cause, kind) for cause in causes):
            return words
    return f"the connection broke ({_innermost(causes)})"


def _innermost(causes: list[BaseException]) -> str:
    last = next((cause for cause in reversed(causes) if isinstance(cause, OSError)), causes[-1])
    strerror = getattr(last, "strerror", None)
    return str(strerror) if strerror else type(last).__name__
