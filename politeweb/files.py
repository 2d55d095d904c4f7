"""Fetch files over HTTP: streamed, limited, polite, and only from public hosts.

Source: RFC 9110, sections 8.8 (validators), 10.2.3 (Retry-After), 13.1 (conditions) and 15.
"""

import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http.client import responses as status_phrases
from typing import Generic, TypeVar
from urllib.parse import urljoin, urlsplit

from politeweb.addresses import Address, without_credentials
from politeweb.answers import BUSY, media_type, number_of
from politeweb.attempts import Passing, attempted
from politeweb.closing import Closing
from politeweb.errors import FetchError, RetryLater
from politeweb.exchange import Exchanges, FailureKind, Incoming, Known
from politeweb.logins import secrets_for
from politeweb.pace import OpenTurns, Turns, own_turns
from politeweb.public_hosts import is_public
from politeweb.response_head import ResponseHead
from politeweb.robots import Robots
from politeweb.settings import HttpSettings

T = TypeVar("T")
_READ_OF_ROBOTS = 512_000
"""Bytes of a robots.txt that count; RFC 9309, section 2.5, wants no fewer."""
_SECONDS_FOR_A_FILE = 4 * 3600.0
_FINAL = {FailureKind.UNKNOWN_HOST, FailureKind.NO_CONNECTION, FailureKind.TLS}
"""Failures that another attempt would not change."""


class FileRefused(FetchError):
    """A file cannot be fetched; another attempt would fail too.

    Attributes:
        url: Its address, without credentials.
        reason: Why, as a predicate.
    """

    def __init__(self, url: str, reason: str) -> None:
        self.url = without_credentials(url)
        self.reason = reason
        super().__init__(f"{self.url} {reason}")


class FileUnavailable(FileRefused):
    """A file cannot be fetched now, but may be later."""


@dataclass(frozen=True, slots=True)
class FileHead:
    """The headers of a file.

    Attributes:
        url: The address after redirects.
        type: Its media type, in lower case, or ``""``.
        disposition: The Content-Disposition header.
        length: The size announced, if it is that of the decoded content.
        etag: For a later conditional request.
        last_modified: Likewise.
    """

    url: str
    type: str = ""
    disposition: str = ""
    length: int | None = None
    etag: str = ""
    last_modified: str = ""


class NotChanged(Exception):
    """The file has not changed (304); not an error."""


@dataclass(frozen=True, slots=True)
class FileRules:
    """Limits on the files fetched.

    Attributes:
        max_size: Most bytes of one file.
        delay: Least seconds between two requests to one host.
        robots: Whether to obey robots.txt.
        private: Whether to follow links to addresses that are not public; those of the
            repository's own host and port are always followed.
    """

    max_size: int = 2 * 1024**3
    delay: float = 1.0
    robots: bool = True
    private: bool = False


Store = Callable[[FileHead, Iterator[bytes]], T]
"""Called with a file's head and content, in pieces; raises `FileRefused` to skip it."""


@dataclass(frozen=True, slots=True)
class _Order(Generic[T]):
    """A file to fetch."""

    url: str
    store: Store[T]
    max_size: int
    known: Known | None = None
    robots: bool = False


@dataclass(slots=True)
class _Hosts:
    """The turns of each host, by the interval that it wants."""

    least: float
    turns: OpenTurns
    known: dict[tuple[str, float], Turns] = field(default_factory=dict)

    def pace(self, url: str, asked: float = 0.0) -> Turns:
        """Return the turns of a URL's host."""
        place, interval = urlsplit(url).netloc, max(self.least, asked)
        if (place, interval) not in self.known:
            self.known[place, interval] = self.turns(url, interval)
        return self.known[place, interval]

    def hold(self, url: str, seconds: float) -> None:
        """Give a URL's host no turns for some seconds, whatever interval was asked for."""
        for (place, _), turns in self.known.items():
            if place == urlsplit(url).netloc:
                turns.hold(seconds)


class FileTransport(Closing):
    """Fetches files, one at a time. Threads must not share it.

    Args:
        repository_url: The repository's base URL: its host gets the credentials in it, and
            those of ``settings``, and may be at a private address.
        settings: How to send requests; its limit on size and its delay are for OAI-PMH.
        rules: Limits on the files.
        turns: When each host may be requested, for example shared with other processes that
            send requests to it; by default by this transport alone.
    """

    def __init__(
        self,
        repository_url: str = "",
        settings: HttpSettings | None = None,
        rules: FileRules | None = None,
        *,
        turns: OpenTurns | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._base = Address.parse(repository_url) if repository_url else None
        self._settings = settings or HttpSettings()
        self._rules = rules or FileRules()
        self._sleep = sleep
        seconds = max(self._settings.total_timeout, _SECONDS_FOR_A_FILE)
        patient = replace(self._settings, total_timeout=seconds)
        self._exchanges = Exchanges(patient, is_allowed=self._is_allowed)
        self._hosts = _Hosts(self._rules.delay, turns or own_turns())
        self._robots = Robots(self._robots_text)

    def close(self) -> None:
        """Close the connections."""
        self._exchanges.close()

    def fetch(self, url: str, store: Store[T], known: Known | None = None) -> T:
        """Fetch a file, pass it to ``store`` as it arrives, and return the result of that.

        ``store`` may be called again after a broken connection; it must discard earlier content.

        Args:
            url: The file's address.
            store: Gets the head and the content.
            known: The validators of an earlier fetch, if any.

        Raises:
            NotChanged: The file has not changed since ``known``.
            FileRefused: It cannot be fetched.
            FileUnavailable: It cannot be fetched now.
            RetryLater: The host requests a longer pause than the longest allowed.
        """
        rules = self._rules
        return self._ordered(_Order(url, store, rules.max_size, known, rules.robots))

    # ------------------------------------------------------------------ attempts

    def _ordered(self, order: _Order[T]) -> T:
        return attempted(
            lambda _: self._attempt(order),
            self._pause,
            self._settings,
            now=lambda: datetime.now(UTC),
            random=random.random,
        )

    def _pause(self, failure: Passing, seconds: float) -> None:
        if failure.status in BUSY:
            self._hosts.hold(failure.url, seconds)
        self._sleep(seconds)

    def _attempt(self, order: _Order[T]) -> T:
        target = _checked(order.url)
        for _ in range(self._settings.max_redirects + 1):
            if order.robots:
                self._check_robots(target)
            with closing(self._asked(target, order)) as incoming:
                head = self._head(incoming, order)
                if not head.location:
                    return self._taken(incoming, head, target, order)
            target = _checked(head.location, target)
        raise FileRefused(order.url, f"redirects more than {self._settings.max_redirects} times")

    def _check_robots(self, url: str) -> None:
        if not self._robots.answered(url):
            raise FileUnavailable(url, "is not fetched: its host does not answer for robots.txt")
        if not self._robots.allows(url):
            raise FileRefused(url, "is excluded by its host's robots.txt")

    def _asked(self, url: str, order: _Order[T]) -> Incoming:
        self._sleep(self._hosts.pace(url, self._robots.delay(url) if order.robots else 0).reserve())
        return self._exchanges.open(
            url,
            {"Accept": "*/*", "Accept-Encoding": "identity"},
            known=order.known,
            secrets=secrets_for(url, self._base, self._settings),
        )

    def _head(self, incoming: Incoming, order: _Order[T]) -> ResponseHead:
        failure = incoming.failure
        if incoming.head is not None:
            return incoming.head
        assert failure is not None
        if failure.kind is FailureKind.PRIVATE:
            raise FileRefused(incoming.url, f"is not fetched: {failure.reason}")
        if failure.kind in _FINAL:
            raise FileUnavailable(order.url, f"cannot be fetched: {failure.reason}")
        raise self._passing(order, failure.reason, incoming.url)

    def _taken(self, incoming: Incoming, said: ResponseHead, url: str, order: _Order[T]) -> T:
        status = said.status
        if status == 304:
            raise NotChanged
        phrase = f"HTTP {status} {status_phrases.get(status, '')}".rstrip()
        if status in {408, 429} or status >= 500:
            raise self._passing(order, phrase, url, status, said.get("retry-after"))
        if status != 200:
            raise FileRefused(url, f"is answered with {phrase}")
        head = _head_of(said, url)
        if head.length is not None and head.length > order.max_size:
            raise _too_large(url, order.max_size)
        return order.store(head, self._content(incoming, head, order))

    def _content(self, incoming: Incoming, head: FileHead, order: _Order[T]) -> Iterator[bytes]:
        yield from incoming.pieces(order.max_size, decode=True)
        if incoming.truncated == "length":
            raise _too_large(head.url, order.max_size)
        if incoming.truncated:
            raise self._passing(order, incoming.reason, incoming.url)

    def _passing(
        self,
        order: _Order[T],
        reason: str,
        url: str,
        status: int | None = None,
        after: str | None = None,
    ) -> Passing:
        tried = self._settings.attempts
        times = f" after {tried} attempts" if tried > 1 else ""
        error = FileUnavailable(order.url, f"cannot be fetched{times}: {reason}")
        return Passing(error, reason, url=url, status=status, retry_after=after)

    # ------------------------------------------------------------------ hosts

    def _is_allowed(self, host: str, port: int, address: str) -> bool:
        if self._rules.private or is_public(address):
            return True
        return self._base is not None and _place(self._base.url) == (host.lower(), port)

    def _robots_text(self, url: str) -> str | None:
        """Return a host's robots.txt; "" if it has none (RFC 9309, section 2.3.1.3)."""
        try:
            return self._ordered(_Order(url, _rules_in, sys.maxsize))
        except (FileUnavailable, RetryLater):
            return None
        except FileRefused:
            return ""


def _rules_in(head: FileHead, content: Iterator[bytes]) -> str:
    """Return the beginning of a robots.txt; of a longer one, no more is read."""
    del head
    read = bytearray()
    for piece in content:
        read += piece
        if len(read) >= _READ_OF_ROBOTS:
            break
    return read[:_READ_OF_ROBOTS].decode("utf-8", "replace")


def _too_large(url: str, limit: int) -> FileRefused:
    return FileRefused(url, f"is larger than the {limit:,} bytes allowed")


def _checked(url: str, base: str = "") -> str:
    """Resolve an address relative to another one, and remove fragment and credentials.

    Raises:
        FileRefused: It is not an http or https address.
    """
    try:
        return Address.parse(urljoin(base, url.strip())).url
    except ValueError:
        raise FileRefused(url, "is not an http or https address") from None


def _place(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return (parts.hostname or "").lower(), parts.port or (443 if parts.scheme == "https" else 80)


def _head_of(said: ResponseHead, url: str) -> FileHead:
    is_plain = said.get("content-encoding").lower() in {"", "identity"}
    return FileHead(
        url,
        media_type(said.get("content-type")),
        said.get("content-disposition"),
        number_of(said.get("content-length")) if is_plain else None,
        said.get("etag"),
        said.get("last-modified"),
    )
